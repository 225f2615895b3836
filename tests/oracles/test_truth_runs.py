"""A fixed hundred of random runs against truths found in ball arithmetic (`scripts/truth.py --store` makes them)."""

import json

import pytest
from flint import arb

import hockeystick as hs
import oracle
from cases import built
from hockeystick.loss.contour.contour import Saddle
from places import DATA

pytestmark = pytest.mark.usefixtures("arithmetic")

STORED = json.loads((DATA / "truth.json").read_text())


def holds(order, sigma, rate, steps, delta):
    """Whether the interval contains the truth, and is narrow."""
    run = hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps
    bounds = run.epsilon_bounds(delta, neighbours=order)
    hint = Saddle.of_epsilon(run._run(order), bounds.upper)
    contour = oracle.Contour([oracle.Part(order, sigma, rate, steps)], bounds.upper, hint.c, hint.width, hint.log_delta)
    assert contour.log_delta(bounds.upper) <= arb(delta).log() <= contour.log_delta(bounds.lower)
    assert bounds.width <= 1e-9 * bounds.upper


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [(0.5, 0.5, 10**5, 1e-5), (0.5, 0.9, 10**6, 1e-9), (1.0, 0.3, 1000, 1e-3), (3.0, 0.7, 10**4, 1e-12)],
)
def test_adding_a_record_with_a_small_exponent(sigma, rate, steps, delta):
    """|k| < 1 here: the series in L itself, not only the one in k L, must converge at every node that is summed by it."""
    holds("add", sigma, rate, steps, delta)


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [(0.44, 0.48, 686_218_452, 7e-6), (0.36, 0.16, 633_660_816, 1.3e-3), (1.1, 0.01, 10**9, 1e-5)],
)
def test_removing_a_record_with_a_tiny_saddle_point(sigma, rate, steps, delta):
    """Very many steps of much noise each or little: K(w) is told relative to w."""
    holds("remove", sigma, rate, steps, delta)


def test_there_are_a_hundred():
    assert len(STORED) == 100


@pytest.mark.parametrize("case", STORED, ids=[f"{n:03d}" for n in range(len(STORED))])
def test_the_interval_holds_the_truth(case):
    bounds = built(case).epsilon_bounds(delta=case["delta"])
    truth = arb(case["epsilon"])
    assert arb(bounds.lower) <= truth <= arb(bounds.upper)
    assert bounds.width <= 1e-6 * bounds.upper


@pytest.mark.parametrize("case", STORED[::5], ids=[f"{n:03d}" for n in range(0, len(STORED), 5)])
def test_the_claimed_error_is_not_below_the_observed(case):
    """The ends are proved: the truth may lie anywhere between, so half the width is at least the distance from the middle."""
    bounds = built(case).epsilon_bounds(delta=case["delta"])
    middle = 0.5 * (arb(bounds.lower) + arb(bounds.upper))
    assert abs(middle - arb(case["epsilon"])) <= 0.5 * (arb(bounds.upper) - arb(bounds.lower)) * (1 + arb(1e-12))


@pytest.mark.parametrize(
    ("scale", "share"), [(1e16, 0.0), (1e14, 0.95), (1e11, 1 - 1e-4), (100.0, 1 - 3e-14), (100.0, 1 - 1e-13), (3.0, 1 - 3e-15)]
)
def test_two_laplace_steps_near_the_largest_loss(scale, share):
    """Saddle points out to 1e15: nothing in the bounds from the real axis may cancel."""
    epsilon = 2.0 / scale * share
    bounds = (hs.Laplace(scale=scale) * 2).log_delta_bounds(epsilon)
    truth = oracle.laplace_delta(1.0 / scale, 2, epsilon).log()
    assert arb(bounds.lower) <= truth <= arb(bounds.upper)


def test_one_plus_c_is_exact():
    """A run so long that the rounding of 1 + c would show: the truth is by balls of 260 bits."""
    bounds = (hs.Gaussian(sigma=2.0).poisson(rate=0.1) * 10**12).epsilon_bounds(1e-5, neighbours="remove")
    hint = Saddle.of_epsilon((hs.Gaussian(sigma=2.0).poisson(rate=0.1) * 10**12)._run("remove"), bounds.upper)
    contour = oracle.Contour([oracle.Part("remove", 2.0, 0.1, 10**12)], bounds.upper, hint.c, hint.width, hint.log_delta)
    assert contour.log_delta(bounds.upper) <= arb(1e-5).log() <= contour.log_delta(bounds.lower)


def test_logarithms_of_tiny_deltas_below_zero():
    bounds = hs.compose([]).log_delta_bounds(-1e-50)
    assert bounds.lower <= -115.12925464970229 <= bounds.upper
    assert hs.GDP(mu=1e-100).log_delta_bounds(1e52).upper >= -5.0000001e303
    assert hs.Gaussian(sigma=1.0).poisson(rate=1e-305).delta_bounds(-1e-300, "remove").lower <= 1e-300
    assert hs.Gaussian(sigma=1.2850391335249606e-17).log_delta_bounds(3.0278705039355305e33).lower <= -2.94
