"""The driver: what proofs prove together, which engine proved what, what is asked at all, and how often."""

import math
from array import array
from fractions import Fraction

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.engines import compiled, driver, registry
from hockeystick.loss.engines.driver import (
    Contradiction,
    ContradictionWarning,
    epsilon_proof,
    largest_of,
    log_delta_proof,
    meet,
)
from hockeystick.loss.engines.engine import Engine, Proof
from hockeystick.native import core
from hockeystick.report.methods import engine as in_words
from samples import LOOSE

DPSGD = hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000
MIXED = DPSGD + hs.Laplace(scale=5.0) * 20
A, B = ("a",), ("b",)


# what two proofs prove together


def test_the_larger_lower_and_the_smaller_upper_end_are_kept_with_their_engines():
    assert meet(Proof(0.0, 2.0, A, A), Proof(1.0, 3.0, B, B)) == Proof(1.0, 2.0, B, A)
    assert meet(Proof(1.0, 3.0, A, A), Proof(0.0, 2.0, B, B)) == Proof(1.0, 2.0, A, B)


def test_of_equal_ends_the_first_proof_is_named():
    assert meet(Proof(1.0, 2.0, A, A), Proof(1.0, 2.0, B, B)) == Proof(1.0, 2.0, A, A)


@pytest.mark.parametrize("low", [2.5, math.nextafter(2.0, 3.0)])
def test_contradicting_proofs_raise_under_test(low):
    """By however little: proofs count their rounding."""
    with pytest.raises(Contradiction, match="cannot hold beside"):
        meet(Proof(1.0, 2.0, A, A), Proof(low, 3.0, B, B))
    assert meet(Proof(1.0, 2.0, A, A), Proof(2.0, 3.0, B, B)) == Proof(2.0, 2.0, B, A)


@pytest.fixture
def in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    """As outside of tests."""
    monkeypatch.setattr(driver, "STRICT", False)


@pytest.mark.usefixtures("in_use")
def test_in_use_contradicting_proofs_fall_to_the_safe_side_and_stay_there():
    with pytest.warns(ContradictionWarning, match="please report"):
        broken = meet(Proof(1.0, 2.0, A, A), Proof(2.5, 3.0, B, B))
    assert broken == Proof(-math.inf, 3.0, (), B, sound=False)
    assert meet(broken, Proof(1.9, 1.95, A, A)).high == 3.0
    assert meet(Proof(1.9, 1.95, A, A), broken) == Proof(-math.inf, 3.0, (), B, sound=False)
    assert meet(broken, Proof(1.0, 4.0, A, A)).high == 4.0
    assert not largest_of([broken, Proof(0.0, 1.0)]).sound


@pytest.mark.usefixtures("in_use")
@pytest.mark.filterwarnings("ignore::hockeystick.loss.engines.driver.ContradictionWarning")
def test_no_end_that_was_proved_lies_above_what_is_kept():
    """Whichever of the two is right, and though one of them proves one end only, or contradicts itself."""
    assert meet(Proof(0.0, 2.0), Proof(3.0, math.inf)).high == math.inf
    assert meet(Proof(3.0, math.inf), Proof(0.0, 2.0)).high == math.inf
    assert meet(Proof(0.0, 9.0), Proof(5.0, 3.0)).high == 9.0
    assert meet(Proof(0.0, 4.0), Proof(5.0, 3.0)).high == 5.0
    assert meet(Proof(0.0, 4.0), Proof(5.0, math.nan)).high == 5.0


@pytest.mark.usefixtures("in_use")
@pytest.mark.filterwarnings("ignore::hockeystick.loss.engines.driver.ContradictionWarning")
def test_an_engine_that_proves_a_lower_end_only_takes_no_upper_end_away():
    broken = meet(Proof(1.0, 2.0, A, A), Proof(2.5, 3.0, B, B))
    assert meet(broken, Proof(1.0, math.inf, A, A)) == broken
    assert meet(broken, Proof(3.5, math.inf, A, A)).high == math.inf


def test_what_is_no_number_proves_nothing():
    assert meet(Proof(0.0, 4.0, A, A), Proof(math.nan, math.nan, B, B)) == Proof(0.0, 4.0, A, A)


@pytest.mark.usefixtures("in_use")
def test_delta_is_at_most_one_though_proofs_contradicted_each_other(monkeypatch: pytest.MonkeyPatch):
    class Wrong(Engine):
        name, method, joint = "wrong", "wrong", True

        def log_delta(self, run, question, known, ask):
            return 0.5, 0.7

    plain = hs.Laplace(scale=1.0) * 5 + hs.GDP(mu=0.5)
    for release in (plain, plain + hs.ApproxDP(epsilon=0.1, delta=1e-9)):
        monkeypatch.setitem(registry.FIRST, "log delta", (registry.Step((Wrong(),)),))
        with pytest.warns(ContradictionWarning):
            found = release.log_delta_bounds(1.0)
        assert tuple(found) == (-math.inf, 0.0)


@pytest.mark.parametrize("known", [(1.0, 2.0), (-3.0, -3.0), (-math.inf, -1.0)])
def test_no_order_of_two_sound_proofs_matters_for_the_ends(known):
    for found in ((0.5, 1.5), (-5.0, 2.5), (-3.0, math.inf)):
        one, two = Proof(*known, A, A), Proof(*found, B, B)
        if max(known[0], found[0]) <= min(known[1], found[1]):
            assert meet(one, two).ends == meet(two, one).ends


def test_a_wrong_engine_is_found_under_test_and_survived_in_use(monkeypatch: pytest.MonkeyPatch):
    class Wrong(Engine):
        name, method, joint = "wrong", "wrong", True

        def epsilon(self, run, question, known, ask):
            return 0.1, 0.2

    release = hs.Laplace(scale=1.0) * 5 + hs.GDP(mu=0.5)
    truth = release.epsilon(1e-6)
    steps = (registry.Step((Wrong(),)), *registry.FIRST["epsilon"])
    monkeypatch.setitem(registry.FIRST, "epsilon", steps)
    with pytest.raises(Contradiction):
        release.epsilon(1e-6)
    monkeypatch.setattr(driver, "STRICT", False)
    with pytest.warns(ContradictionWarning):
        found = release.epsilon_bounds(1e-6)
    assert found.lower == 0.0
    assert truth <= found.upper < math.inf


@pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")
def test_a_wrong_core_is_found_under_test_and_survived_in_use(monkeypatch: pytest.MonkeyPatch):
    """Its ends contradict each other: they are no answer by the fast path either."""

    class Wrong:
        def epsilon(self, *given):
            return 1.52, 1.51, 1

        def sampled_deltas(self, *given):
            given[-2][:], given[-1][:] = array("d", [-1.0] * len(given[-2])), array("d", [-2.0] * len(given[-1]))
            return True

    truth, log_delta = DPSGD.epsilon(1e-5), DPSGD.log_delta_bounds(1.0)
    monkeypatch.setattr(compiled, "core", Wrong())
    with pytest.raises(Contradiction):
        DPSGD.epsilon(1e-5)
    for epsilon in (1.0, np.array([0.5, 1.0])):
        with pytest.raises(Contradiction):
            DPSGD.log_delta_bounds(epsilon)
    monkeypatch.setattr(driver, "STRICT", False)
    with pytest.warns(ContradictionWarning):
        found = DPSGD.epsilon_bounds(1e-5)
    assert found.lower == 0.0
    assert found.upper >= truth
    for epsilon in (1.0, np.array([0.5, 1.0])):
        with pytest.warns(ContradictionWarning):
            deltas = DPSGD.log_delta_bounds(epsilon)
        assert np.all(deltas.lower == -math.inf)
        assert np.atleast_1d(deltas.upper)[-1] >= log_delta.upper


# who proved it


@pytest.mark.parametrize(
    ("release", "low_by", "high_by"),
    [
        (hs.Gaussian(sigma=1.0) * 3, "closed form", "closed form"),
        (hs.Laplace(scale=1.0), "closed form", "closed form"),
        (MIXED, "contour", "contour"),
        (hs.RandomizedResponse(epsilon=0.8, categories=5) * 12, "meet in the middle", "meet in the middle"),
        (hs.DiscreteGaussian(sigma=3.0, sensitivity=2) * 100, "lattice", "lattice"),
        (hs.Gaussian(sigma=0.8).poisson(rate=1e-4) * 10_000 + hs.Laplace(scale=50.0), "big jump", "big jump"),
        (hs.ZCDP(rho=0.1) * 3, "attained pair", "Rényi curve"),
        (hs.Exponential(epsilon=1.0) * 10, "attained pair", "Rényi curve"),
    ],
    ids=repr,
)
def test_the_engine_that_proved_an_end_is_named(release, low_by, high_by):
    proof = epsilon_proof(release._run("add-or-remove"), 1e-6)
    assert proof.low_by[-1:] == (low_by,)
    assert proof.high_by[-1:] == (high_by,)


@pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")
def test_of_the_compiled_core_the_engine_that_it_stands_in_for_is_named():
    dense, sparse = hs.Gaussian(sigma=5.0).poisson(rate=0.3) * 1000, hs.Gaussian(sigma=0.8).poisson(rate=1e-4) * 100_000
    assert epsilon_proof(dense._run("add-or-remove"), 1e-6).high_by == ("compiled core", "contour")
    assert epsilon_proof(sparse._run("add-or-remove"), 1e-6).high_by == ("compiled core", "big jump")
    assert log_delta_proof(dense._run("add-or-remove"), 1.0).high_by == ("compiled core",)


def test_an_infinite_loss_is_named():
    assert epsilon_proof(hs.ApproxDP(epsilon=1.0, delta=1e-3)._run("add"), 1e-6) == Proof(
        math.inf, math.inf, ("infinite loss",), ("infinite loss",)
    )


@pytest.mark.parametrize("release", [DPSGD, MIXED, hs.PureDP(epsilon=0.1) * 1000, hs.ZCDP(rho=0.1)], ids=repr)
def test_a_report_names_the_engine_of_its_own_number(release):
    bounds, proof = release._epsilon_proof(1e-6, "add-or-remove")
    assert tuple(bounds) == tuple(release.epsilon_bounds(1e-6)) == proof.ends
    words = release.report(delta=1e-6).methods["epsilon"]
    assert words == in_words(release, "add-or-remove", proof)
    named = [engine for engine in registry.ENGINES.values() if engine.method in words]
    assert {engine.name for engine in named} >= {name for name in proof.high_by if name in registry.ENGINES}


# only what is asked for


@pytest.mark.parametrize("name", LOOSE)
@pytest.mark.parametrize("delta", [0.1, 1e-6])
def test_the_upper_end_alone_is_that_of_both(name, delta):
    for relation in ("add-or-remove", "add", "remove"):
        try:
            bounds = LOOSE[name].epsilon_bounds(delta, relation)
        except hs.Unsupported:
            continue
        assert LOOSE[name].epsilon(delta, relation) == bounds.upper
        assert LOOSE[name].delta(0.3, relation) == LOOSE[name].delta_bounds(0.3, relation).upper


def test_no_lower_end_is_looked_for_where_it_is_not_asked_for(monkeypatch: pytest.MonkeyPatch):
    release = hs.Laplace(scale=2.0) * 70 + hs.Exponential(epsilon=1.0) * 3
    monkeypatch.setattr(driver, "best_member", lambda *given: pytest.fail("a lower end was looked for"))
    assert release.epsilon(1e-6) > 0.0
    assert release.delta(1.0) > 0.0
    assert release.epsilon(np.array([1e-3, 1e-6])).shape == (2,)
    assert release.gdp_transform(1.0) > 0.0
    assert release.tpr(0.01) < 1.0
    assert release.tradeoff(0.01) > 0.0
    assert release.bayes_risk(0.5) > 0.0
    assert release.posterior(0.5, 0.01) < 1.0
    with pytest.raises(pytest.fail.Exception, match="lower end"):
        release.epsilon_bounds(1e-6)


def test_mu_of_a_run_known_by_bounds_looks_for_one_lower_end_of_delta(monkeypatch: pytest.MonkeyPatch):
    release, looked = hs.Laplace(scale=2.0) * 70 + hs.Exponential(epsilon=1.0) * 3, []
    monkeypatch.setattr(driver, "best_member", lambda *given: looked.append(given) or -math.inf)
    assert release.mu(delta=1e-5) > 0.0
    assert len(looked) <= 2  # and one of the epsilon at which delta is reached


# once


class Counted:
    """The core, with what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple] = []

    def __getattr__(self, name: str):
        function = getattr(core, name)

        def call(*given):
            self.asked.append((name, *(one.tobytes() if hasattr(one, "tobytes") else one for one in given)))
            return function(*given)

        return call


@pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")
@pytest.mark.parametrize(
    ("release", "delta"),
    [
        (hs.Gaussian(sigma=0.4).poisson(rate=1e-4) * 100_000, 1e-30),
        (hs.Gaussian(sigma=5.0).poisson(rate=0.3) * 5, 1e-9),
        (DPSGD, 1e-5),
        (hs.Laplace(scale=10.0) * 65, 1e-6),
        (hs.Gaussian(sigma=2.0), 1e-6),
    ],
    ids=repr,
)
def test_the_core_is_asked_once(monkeypatch: pytest.MonkeyPatch, release, delta):
    """No question twice; of both orders together once, and of one alone only where that left it open."""
    counted = Counted()
    monkeypatch.setattr(compiled, "core", counted)
    release.epsilon(delta)
    release.delta(1.0)
    assert len(set(counted.asked)) == len(counted.asked)
    whole = [one for one in counted.asked if one[0] in ("epsilon", "gaussian", "laplace", "response", "once")]
    assert len(whole) <= 2


@pytest.mark.parametrize(
    ("rate", "delta", "asked"),
    [(0.1, 1e-6, 1e-7), (0.3, 1e-6, 3e-7), (0.7, 1e-5, 7e-6), (0.01, 3e-7, 3e-9), (0.1, 1e-300, 1e-301)],
)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_delta_of_a_theorem_gives_its_epsilon(rate, delta, asked, epsilon):
    """0.1 * 1e-6 as doubles exceeds 1e-7 as a double by 1e-22, so epsilon was infinite there."""
    run = hs.ApproxDP(epsilon=epsilon, delta=delta).poisson(rate=rate)
    theorem = hs.conversion.amplify_approx(epsilon, delta, rate)[0]
    bounds = run.epsilon_bounds(asked)
    assert bounds.lower <= theorem * (1.0 + 1e-14)
    assert theorem * (1.0 - 1e-14) <= bounds.upper <= theorem * (1.0 + 1e-12)
    assert run.epsilon([asked])[0] == bounds.upper
    assert run.epsilon(asked * (1.0 - 1e-12)) == math.inf  # more than the rounding of three decimals


def test_a_report_says_which_delta_was_rounded():
    run = hs.ApproxDP(epsilon=1.0, delta=1e-6).poisson(rate=0.1)
    assert Fraction(0.1) * Fraction(1e-6) > Fraction(1e-7)
    assert "delta is read as the probability of an infinite loss" in run.report(1e-7).methods["epsilon"]
    assert "is read as" not in run.report(2e-7).methods["epsilon"]
