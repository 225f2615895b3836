"""Gaussian DP of runs: mu, mu up to a delta, the regret, the tail."""

import json
import math
import random

import numpy as np
import pytest
from flint import arb, ctx

import hockeystick as hs
import truth_mu
from hockeystick import conversion
from hockeystick.loss.answers.gdp import kinks, mu_ends
from hockeystick.loss.pairs.gaussian import gaussian_log_delta

DPSGD = hs.Gaussian(sigma=9.4).poisson(rate=0.328) * 2000


# values


def test_dp_sgd():
    bounds = DPSGD.mu_bounds()
    assert bounds.lower <= math.sqrt(2000) / 9.4 <= bounds.upper
    assert bounds.width < 1e-12
    assert round(DPSGD.mu(), 8) == 4.75759144
    assert round(DPSGD.mu(delta=1e-5), 8) == 1.56742736
    assert round(DPSGD.mu(delta=1e-10), 8) == 1.57011776
    assert DPSGD.mu_bounds(delta=1e-10).width < 1e-9


def test_sampling_does_not_count_without_a_delta_and_the_answer_says_so():
    answer = DPSGD.gdp()
    assert answer.epsilon == math.inf
    assert "without sampling" in answer.reason
    assert "mu(delta=...)" in answer.reason
    for rate in (1e-6, 0.5, 1.0):
        assert (hs.Gaussian(sigma=9.4).poisson(rate=rate) * 2000).mu() == pytest.approx(DPSGD.mu(), rel=1e-13)


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0, 2.0, 10.0])
def test_laplace_in_closed_form(ratio):
    bounds = hs.Laplace(scale=1.0 / ratio).mu_bounds()
    ctx.prec = 200
    truth = 2 * (2 * (1 - (-arb(ratio) / 2).exp() / 2) - 1).erfinv() * arb(2).sqrt()  # -2 Phi^-1(e^{-ratio/2} / 2)
    assert arb(bounds.lower) <= truth * (1 + arb(1e-15))
    assert arb(bounds.upper) >= truth * (1 - arb(1e-15))
    assert bounds.width < 1e-12 * bounds.upper


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 3.0])
def test_pure_dp_is_theorem_5_1(epsilon):
    bounds = hs.PureDP(epsilon=epsilon).mu_bounds()
    assert bounds.upper == pytest.approx(conversion.pure_to_gdp(epsilon), rel=2e-13)
    assert bounds.width < 1e-12


def test_gaussian_noise_is_exact():
    assert hs.Gaussian(sigma=2.0).mu() == pytest.approx(0.5, rel=1e-14)
    assert (hs.Gaussian(sigma=2.0) * 9 + hs.GDP(mu=2.0)).mu() == pytest.approx(2.5, rel=1e-14)
    assert hs.Gaussian(sigma=2.0).mu(neighbours="replace") == pytest.approx(1.0, rel=1e-14)
    assert hs.compose([]).mu() == hs.GDP(mu=0.0).mu() == 0.0


def test_the_tail_above_the_head():
    """Mixed with a little Laplace noise a sampled run still has the mu of its tail."""
    run = DPSGD + hs.Laplace(scale=5.0) * 10
    bounds = run.mu_bounds()
    assert bounds.lower <= math.sqrt(2000) / 9.4 <= bounds.upper
    assert bounds.width < 1e-9
    assert run.gdp().epsilon == math.inf


def test_the_head_above_the_tail():
    bounds = (hs.Gaussian(sigma=1.0) + hs.Laplace(scale=5.0)).mu_bounds(tolerance=1e-6)
    assert 1.018697960 < bounds.upper < 1.018698961
    assert bounds.width <= 1e-6


def test_discrete_gaussian_noise_is_not_the_continuous_one():
    """The profile of atoms lies above that of Gaussian noise somewhere."""
    bounds = hs.DiscreteGaussian(sigma=4.0).mu_bounds()
    assert bounds.lower > 0.25
    assert bounds.width < 1e-9


def test_what_has_no_mu_says_why():
    failing = hs.ApproxDP(epsilon=1.0, delta=1e-6).gdp()
    assert failing.mu.lower == failing.mu.upper == math.inf
    assert "infinite" in failing.reason
    listed = hs.RDP(orders=(2.0, 8.0), values=(0.1, 0.4)).gdp()
    assert listed.mu.upper == math.inf
    assert "Rényi" in listed.reason
    icea = hs.Profile(lambda e: min(1.0, 4 * math.exp(-2) / e) if e else 1.0, tail=(1.0, math.inf))
    assert icea.mu() == math.inf
    assert "Theorem 4.3" in icea.gdp().reason
    unknown = hs.Profile(lambda e: 0.1 * math.exp(-e)).gdp()
    assert unknown.mu.upper == math.inf
    assert "cannot be inferred" in unknown.reason
    underflow = hs.Profile(lambda e: 0.1 * math.exp(-20.0 * e)).gdp()  # 0 in doubles at 64, and no proof of anything
    assert underflow.mu.upper == math.inf


def test_zcdp_has_a_mu():
    """Its tail is that of Gaussian noise (Theorem 4.3), so a mu follows, above the sqrt(2 rho) of Gaussian noise itself."""
    bounds = hs.ZCDP(rho=0.5).mu_bounds(tolerance=1e-4)
    assert bounds.lower == pytest.approx(1.0, rel=1e-12)
    assert 1.3 < bounds.upper < 1.31
    for epsilon in (0.0, 0.5, 2.0, 8.0, 40.0):
        assert conversion.zcdp_to_delta(0.5, epsilon) <= conversion.gdp_to_delta(bounds.upper, epsilon) * (1 + 1e-9)


def test_parts_that_have_a_mu():
    sgd = hs.Profile(conversion.refined_profile(lambda e: math.exp(-e * e)), tail=(5.0, 1.0))
    assert sgd.mu() == pytest.approx(1.8563572885, abs=1e-9)
    assert (sgd * 4).mu() == pytest.approx(2 * 1.8563572885, abs=1e-8)  # by composition of GDP: the tail is known no better
    assert "squares add" in (sgd * 4).gdp().reason


def test_the_head_alone():
    head = hs.ApproxDP(epsilon=1.0, delta=1e-6).head_mu(epsilon=3.0)
    assert head.mu.upper < 1.24
    assert head.residual == pytest.approx(1e-6, rel=1e-12)
    whole = hs.Gaussian(sigma=2.0).head_mu(epsilon=3.0, tolerance=1e-6)
    assert whole.mu.lower <= 0.5 <= whole.mu.upper


def test_one_mu_for_both_directions():
    for relation in ("add", "remove", "add-or-remove"):
        assert DPSGD.mu(delta=1e-6, neighbours=relation) == DPSGD.mu(delta=1e-6)
        assert DPSGD.mu(neighbours=relation) == DPSGD.mu()


def test_mu_up_to_a_delta():
    deltas = np.array([1e-12, 1e-6, 1e-3, 0.1])
    values = DPSGD.mu(delta=deltas)
    assert (np.diff(values) <= 0.0).all()
    assert DPSGD.mu(delta=0.9) == 0.0  # delta(0) is below
    assert hs.ApproxDP(epsilon=1.0, delta=1e-6).mu(delta=1e-7) == math.inf
    assert hs.ApproxDP(epsilon=1.0, delta=1e-6).mu(delta=1e-5) < 1.24
    gaussian = hs.Gaussian(sigma=1.0)
    assert gaussian.mu(delta=1e-9) == pytest.approx(1.0, abs=1e-9)


def test_the_curve_up_to_delta_never_crosses():
    level, mu = 1e-7, DPSGD.mu(delta=1e-7)
    for epsilon in np.linspace(0.0, 12.0, 40):
        delta = DPSGD.delta_bounds(float(epsilon)).lower
        assert delta <= max(conversion.gdp_to_delta(mu, float(epsilon)), level)


# the regret


def test_regret():
    bounds = DPSGD.regret_bounds(delta=1e-10)
    assert bounds.lower <= bounds.upper <= bounds.lower + 1e-8
    assert 0.0012 < bounds.lower < 0.0013
    mu = DPSGD.mu(delta=1e-10)
    quotients = [
        (conversion.gdp_to_delta(mu, e) - DPSGD.delta(e)) / (1.0 + math.exp(e)) for e in np.linspace(0.0, 6.0, 61).tolist()
    ]
    assert max(quotients) <= bounds.upper
    assert max(quotients) >= bounds.lower - 1e-5


def test_regret_is_the_shift_of_the_curve():
    k, mu = DPSGD.regret(delta=1e-6), DPSGD.mu(delta=1e-6)
    alphas = np.linspace(0.0, 1.0 - k, 30)
    moved = DPSGD.tradeoff(alphas + k) - k
    assert (moved <= conversion.gdp_tradeoff(mu, alphas) + 1e-9).all()
    less = 0.97 * k
    moved = DPSGD.tradeoff(np.linspace(0.0, 0.5, 60) + less) - less
    assert (moved > conversion.gdp_tradeoff(mu, np.linspace(0.0, 0.5, 60))).any()


def test_gaussian_noise_has_no_regret():
    assert hs.Gaussian(sigma=1.0).regret() < 1e-4


# the transform, and the tail


def test_the_transform():
    assert hs.Gaussian(sigma=2.0).gdp_transform([0.0, 1.0, 40.0]) == pytest.approx([0.5] * 3, rel=1e-12)
    run = hs.Gaussian(sigma=1.0).poisson(rate=0.1)
    paper = conversion.gdp_transform(conversion.amplify_profile(lambda e: conversion.gdp_to_delta(1.0, e), 0.1))
    assert run.gdp_transform([0.0, 1.0, 5.0, 20.0]) == pytest.approx(paper([0.0, 1.0, 5.0, 20.0]), rel=1e-9)
    far = hs.Gaussian(sigma=1.0).poisson(rate=0.1).gdp_transform(400.0)
    assert far == pytest.approx(0.994, abs=5e-4)  # Liu et al. 2021, 5.3


# the search


def test_a_hundred_times_fewer_evaluations_than_the_grid():
    """At a certified width of 1e-6; the grid with a hundred times as many is still far wider."""
    asked = []

    def profile(epsilon):
        asked.append(epsilon)
        return max(0.0, -math.expm1((epsilon - 2.0) / 2.0))

    bounds = conversion.head_mu(profile, 2.0, 1e-6)
    assert bounds.width <= 1e-6
    grid = conversion.head_mu_grid(profile, 2.0, 100 * len(asked))
    assert grid.width > 100 * 1e-6
    answer = hs.Laplace(scale=0.5).gdp(tolerance=1e-6)
    assert answer.evaluations <= 64


def test_the_tolerance_is_kept():
    for tolerance in (1e-3, 1e-6, 1e-9):
        assert DPSGD.mu_bounds(delta=1e-8, tolerance=tolerance).width <= tolerance
        assert (hs.RandomizedResponse(epsilon=0.1) * 100).mu_bounds(tolerance=tolerance).width <= tolerance


@pytest.mark.parametrize("seed", [101, 103, 104])
def test_truths_in_balls(seed):
    rng = random.Random(seed)
    case = truth_mu.random_case(rng)
    bad, counts = truth_mu.judged(case, rng, points=6)
    assert not bad, (bad, json.dumps(case))
    assert counts[0] > 10


# bad input


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: DPSGD.mu(delta=1.0), ValueError, "delta is 1.0"),
        (lambda: DPSGD.mu(delta=-1e-9), ValueError, "delta"),
        (lambda: DPSGD.mu(delta=math.nan), ValueError, "delta"),
        (lambda: DPSGD.mu(delta="x"), TypeError, "delta"),
        (lambda: DPSGD.mu(delta=[["x"]]), TypeError, "delta"),
        (lambda: DPSGD.mu_bounds(tolerance=0.0), ValueError, "tolerance"),
        (lambda: DPSGD.mu(neighbours="swap"), hs.BadValue, "swap"),
        (lambda: hs.Gaussian(sigma=1.0).full_pass(by="position").mu(), hs.Unsupported, "add or remove"),
        (lambda: hs.PureDP(epsilon=1.0, neighbours="replace").mu(neighbours="add"), hs.Unsupported, "replace"),
        (lambda: DPSGD.head_mu(epsilon=0.0), ValueError, "epsilon"),
        (lambda: DPSGD.gdp_transform(-1.0), ValueError, "epsilon"),
        (lambda: DPSGD.regret(delta=2.0), ValueError, "delta"),
    ],
)
def test_bad_questions(ask, error, words):
    with pytest.raises(error, match=words):
        ask()


def test_mu_of_other_relations():
    assert DPSGD.mu_bounds(neighbours="zero-out") == DPSGD.mu_bounds()
    assert DPSGD.mu(neighbours="replace") == pytest.approx(math.sqrt(2000.0) / 9.4, rel=1e-12)  # the tail of one moved part
    assert hs.Gaussian(sigma=2.0).mu(neighbours="replace") == pytest.approx(1.0, rel=1e-12)


def test_gaussian_noise_up_to_a_delta_is_its_own_mu():
    assert hs.Gaussian(sigma=2.0).mu(1e-6) == hs.Gaussian(sigma=2.0).mu()
    assert hs.Gaussian(sigma=50.0).mu(0.5) == 0.0  # delta(0) is below it
    assert (hs.Gaussian(sigma=5.0).full_pass(by="shuffle") * 25).mu(neighbours="replace") == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize("name", ["listed", "pass"])
def test_regret_where_the_ends_stay_apart(name):
    run = hs.RDP(orders=[2.0, 4.0, 8.0], values=[0.1, 0.2, 0.5])
    if name == "pass":
        run = hs.Gaussian(sigma=5.0).full_pass(by="shuffle") * 3
    found = run.regret(1e-6, neighbours="replace" if name == "pass" else "add-or-remove")
    assert 0.0 <= found < 1.0


def test_mu_of_sampled_noise_for_replaced_records():
    poisson = hs.Gaussian(sigma=2.0).poisson(rate=0.2) * 30
    assert poisson.mu(neighbours="replace") == pytest.approx(math.sqrt(30.0) / 2.0, rel=1e-12)  # the tail of one moved part
    assert (poisson.gdp_transform([0.0, 5.0, 50.0], neighbours="replace") < math.sqrt(30.0) / 2.0).all()
    fixed = hs.Gaussian(sigma=2.0).without_replacement(batch=10, examples=1000) * 100
    assert fixed.mu(neighbours="replace") == pytest.approx(10.0, rel=1e-12)


def test_mu_of_mixtures_is_that_of_the_farthest_part():
    assert hs.GaussianMixture(sigma=1.0, moves=(0, 1, 2), weights=(0.2, 0.6, 0.2)).mu() == pytest.approx(2.0, rel=1e-12)
    assert hs.GaussianMixture(sigma=1.0, moves=(0, 3), weights=(1e-17, 1.0)).mu() == pytest.approx(3.0, rel=1e-12)
    assert hs.Gaussian(sigma=2.0).poisson(rate=0.2).group(3).mu() == pytest.approx(1.5, rel=1e-12)


@pytest.mark.parametrize("mu", [1e-3, 0.4, 3.0])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 6.0])
def test_both_ends_of_the_mu_of_a_delta(mu, epsilon):
    low, high = mu_ends(epsilon, gaussian_log_delta(mu, epsilon).value)
    assert low <= mu * (1.0 + 1e-12)
    assert mu * (1.0 - 1e-12) <= high
    assert high - low < 1e-9 * mu


def test_mu_of_all_and_of_nothing():
    assert mu_ends(1.0, -math.inf) == (0.0, 0.0)
    assert mu_ends(1.0, 0.0) == (0.0, math.inf)


def test_the_kinks_of_atoms_are_their_sums():
    """One step: its positive values.  Many on a lattice: every second multiple, as many answers true as false or two more."""
    response = hs.RandomizedResponse(epsilon=0.4)
    assert kinks(response._run("remove")).tolist() == [0.4]
    assert kinks((response * 4)._run("remove")) == pytest.approx([0.0, 0.8], abs=1e-15)
    assert kinks((hs.RandomizedResponse(epsilon=0.4, categories=3) * 2)._run("remove")) == pytest.approx([0.0, 0.4])
    assert kinks((hs.Laplace(scale=1.0) * 3)._run("remove")).size == 0
