"""Calibration: the answer meets its target, and a little less does not."""

import math
import random

import pytest

import hockeystick as hs
from hockeystick.planning.target import Target
from targets import TARGETS, dpsgd


class Counted:
    """Counts how often a question is asked."""

    def __init__(self, make):
        self.make, self.count = make, 0

    def __call__(self, value):
        self.count += 1
        return self.make(value)


def meets(make, value, **target):
    try:
        return Target.of(**target).holds(make(value))
    except hs.BadValue:  # beyond what make takes
        return False


def check(make, start=None, **target):
    """Meets the target; one part in 1e8 (or one) to the side of more loss does not."""
    value = hs.calibrate(make, start, **target)
    assert meets(make, value, **target)
    if isinstance(value, int):
        neighbours = [value + 1, value - 1] if value > 1 else [value + 1]
        assert any(not meets(make, one, **target) for one in neighbours)
    else:
        assert not (meets(make, value * (1 - 1e-8), **target) and meets(make, value * (1 + 1e-8), **target))
    return value


@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize(
    "make",
    [lambda s: hs.Gaussian(sigma=s) * 7, lambda s: dpsgd(s), lambda s: hs.Gaussian(sigma=3.0, sensitivity=s)],
    ids=["sigma", "sampled", "sensitivity"],
)
def test_every_target(make, target):
    check(make, **target)


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_whole_numbers(target):
    step = hs.Gaussian(sigma=300.0)
    value = check(lambda n: step * n, 100, **target)
    assert type(value) is int
    if "mu" not in target or "delta" not in target:  # slow
        assert value == hs.rounds(step, **target)
        assert hs.calibrate(lambda n: step * n, 10**6, **target) == value  # from above


@pytest.mark.parametrize("target", [{"epsilon": 1.0, "delta": 1e-5}, {"rho": 0.1}, {"advantage": 0.1}], ids=str)
@pytest.mark.parametrize(
    "make",
    [
        lambda b: hs.Laplace(scale=b) * 3,
        lambda e: hs.PureDP(epsilon=e) * 3,
        lambda e: hs.RandomizedResponse(epsilon=e, categories=4),
        lambda s: hs.Gaussian(sigma=s) + hs.Laplace(scale=100.0),
    ],
    ids=["Laplace", "PureDP", "response", "mixed"],
)
def test_other_mechanisms(make, target):
    check(make, **target)


def test_closed_forms():
    assert hs.calibrate(lambda s: hs.Gaussian(sigma=s) * 8, rho=1.0) == pytest.approx(2.0, rel=1e-9)
    assert hs.calibrate(lambda s: hs.Gaussian(sigma=s) * 9, mu=1.5) == pytest.approx(2.0, rel=1e-9)
    assert hs.calibrate(lambda e: hs.PureDP(epsilon=e) * 4, epsilon=1.0, delta=0.0) == pytest.approx(0.25, rel=1e-9)
    for epsilon in (1e-4, 0.01, 1.0, 100.0, 1e4):
        sigma = hs.calibrate(lambda s: hs.Gaussian(sigma=s), epsilon=epsilon, delta=1e-6)
        assert sigma == pytest.approx(1.0 / hs.conversion.gdp_mu(epsilon, 1e-6), rel=1e-9)


def test_random_calibrations():
    generator = random.Random(7)
    for _ in range(25):
        rate, steps = 10 ** generator.uniform(-3, -0.5), round(10 ** generator.uniform(2.5, 4.5))
        epsilon, delta = 10 ** generator.uniform(-1, 1), 10 ** generator.uniform(-9, -4)
        check(lambda s: dpsgd(s, rate, steps), epsilon=epsilon, delta=delta)  # noqa: B023
        sigma = 10 ** generator.uniform(0.3, 1.5)
        check(lambda q: dpsgd(sigma, q, steps), epsilon=epsilon, delta=delta)  # noqa: B023


def test_few_evaluations():
    for epsilon in (0.1, 1.0, 8.0, 100.0):
        make = Counted(lambda s: dpsgd(s))
        hs.calibrate(make, epsilon=epsilon, delta=1e-6)
        assert make.count <= 16
    make = Counted(lambda s: dpsgd(s, 256 / 60000, 3510))
    assert hs.calibrate(make, epsilon=1.0, delta=1e-5) == pytest.approx(1.18445392945, rel=1e-9)
    assert make.count <= 10


def test_start_does_not_matter():
    found = [hs.calibrate(lambda s: dpsgd(s), start, epsilon=1.0, delta=1e-6) for start in (None, 1e-3, 0.5, 100.0, 1e6)]
    assert max(found) <= min(found) * (1 + 2e-9)


def test_the_edge_of_what_is_allowed_is_an_answer():
    make = lambda q: hs.Gaussian(sigma=100.0).poisson(rate=q) * 100  # noqa: E731
    assert hs.calibrate(make, epsilon=5.0, delta=1e-5) == 1.0
    assert hs.calibrate(make, 0.001, epsilon=5.0, delta=1e-5) == 1.0


def test_unreachable():
    with pytest.raises(hs.Unreachable, match=r"no value reaches epsilon <= 1 .*epsilon is 1\.99999"):
        hs.calibrate(lambda s: hs.Gaussian(sigma=s) + hs.PureDP(epsilon=2.0), epsilon=1.0, delta=1e-6)
    with pytest.raises(hs.Unreachable, match="every value meets"):
        hs.calibrate(lambda s: hs.Gaussian(sigma=s).poisson(rate=1e-9), epsilon=1.0, delta=1e-6)
    with pytest.raises(hs.Unreachable, match="every value meets"):
        hs.calibrate(lambda s: hs.PureDP(epsilon=0.5), epsilon=1.0, delta=1e-6)
    with pytest.raises(hs.Unreachable, match="no value reaches"):
        hs.calibrate(lambda s: hs.PureDP(epsilon=0.5), epsilon=0.1, delta=1e-6)
    with pytest.raises(hs.Unreachable, match="no value reaches"):
        hs.calibrate(lambda n: hs.Gaussian(sigma=0.1) * n, 1, epsilon=1.0, delta=1e-5)


def test_nothing_is_said_of_values_that_were_never_made():
    """A size is a whole number: every other value was refused, and the answer was "every value meets epsilon <= 20"."""
    with pytest.raises(hs.Unreachable, match=r"make takes 1 alone.*start=1.*group\(size=\?\)"):
        hs.calibrate(lambda size: hs.Gaussian(sigma=1.0).group(size), epsilon=20.0, delta=1e-5)
    assert hs.calibrate(lambda size: hs.Gaussian(sigma=1.0).group(size), 1, epsilon=20.0, delta=1e-5) == 3


def test_a_jump_is_found_too():
    def make(value):
        return hs.PureDP(epsilon=5.0 if value < 3.0 else 0.5)

    assert hs.calibrate(make, 2.0, epsilon=1.0, delta=1e-6) == pytest.approx(3.0, rel=1e-9)


def test_bad_input():
    make = lambda s: hs.Gaussian(sigma=s)  # noqa: E731
    with pytest.raises(hs.BadType, match="make is 3"):
        hs.calibrate(3, epsilon=1.0, delta=1e-5)
    with pytest.raises(hs.BadType, match="allowed: a release"):
        hs.calibrate(lambda s: s, epsilon=1.0, delta=1e-5)
    for words, given in (
        ("no target is given", {}),
        ("both epsilon and mu", {"epsilon": 1.0, "mu": 1.0}),
        ("without delta", {"epsilon": 1.0}),
        ("does not go with rho", {"rho": 1.0, "delta": 1e-5}),
        ("is no part of a target", {"sigma": 1.0}),
        ("tpr is 0.001, below fpr", {"tpr": 0.001, "fpr": 0.1}),
        ("allowed: at most 0.3", {"bayes_risk": 0.4, "prior": 0.3}),
        ("epsilon is -1", {"epsilon": -1.0, "delta": 1e-5}),
        ("delta is 2", {"epsilon": 1.0, "delta": 2.0}),
        ("neighbours is", {"epsilon": 1.0, "delta": 1e-5, "neighbours": "friends"}),
    ):
        with pytest.raises(hs.BadValue, match=words):
            hs.calibrate(make, **given)
    for start in (0, -1.0, math.nan, math.inf):
        with pytest.raises(hs.BadValue, match="start is"):
            hs.calibrate(make, start, epsilon=1.0, delta=1e-5)
    with pytest.raises(hs.BadValue, match="sigma is"):  # make refuses every value: its own words
        hs.calibrate(lambda s: hs.Gaussian(sigma=-s), epsilon=1.0, delta=1e-5)


def test_the_relation_counts():
    make = lambda s: hs.Gaussian(sigma=s)  # noqa: E731
    one = hs.calibrate(make, epsilon=1.0, delta=1e-5)
    two = hs.calibrate(make, epsilon=1.0, delta=1e-5, neighbours="replace")
    assert two == pytest.approx(2 * one, rel=1e-8)
    stated = hs.calibrate(
        lambda s: hs.dpsgd(rate=1.0, steps=1, sigma=s, sampler="poisson", neighbours="replace"), epsilon=1.0, delta=1e-5
    )
    assert stated == pytest.approx(two, rel=1e-8)


def test_attacks_are_answered_for_the_stated_relation():
    run = hs.dpsgd(rate=1.0, steps=4, sigma=4.0, sampler="poisson", neighbours="replace")
    assert run.mu() == run.mu(neighbours="replace") == pytest.approx(1.0)
    assert run.tpr(0.01) == run.tpr(0.01, "replace") > run.tpr(0.01, "add-or-remove")
    assert run.regret() == run.regret(neighbours="replace")
    assert run.bayes_risk(0.5) == run.bayes_risk(0.5, "replace")


def test_remaining():
    step = hs.Gaussian(sigma=20.0)
    assert hs.remaining(step * 600, step, epsilon=6.0, delta=1e-5) == 85
    assert hs.remaining(step * 685, step, epsilon=6.0, delta=1e-5) == 0
    with pytest.raises(hs.Unreachable, match="by itself, beyond epsilon <= 6"):
        hs.remaining(step * 686, step, epsilon=6.0, delta=1e-5)
    run, other = hs.Laplace(scale=10.0) * 5, dpsgd(1.0, 0.001, 1)
    count = hs.remaining(run, other, advantage=0.3)
    assert (run + other * count).advantage() <= 0.3 < (run + other * (count + 1)).advantage()
    with pytest.raises(hs.BadType, match="run is"):
        hs.remaining(3, step, epsilon=6.0, delta=1e-5)
