"""Runs at the ends of the doubles: an answer or a refusal, never a bare traceback, and no end on the wrong side."""

import math

import pytest

import hockeystick as hs
from twins import pure


def test_total_variation_below_the_smallest_double_is_rounded_up():
    """delta(0) of two steps is at least that of one: q erf(mu / sqrt 8), here q mu / sqrt(2 pi)."""
    sigma, rate = 1e100, 1.82e-223
    truth = math.log(rate) - math.log(sigma) - 0.5 * math.log(2.0 * math.pi)
    run = hs.Gaussian(sigma=sigma).poisson(rate=rate) * 2
    assert run.log_delta_bounds(epsilon=0.0).upper >= truth


@pytest.mark.parametrize("epsilon", [1e4, 1e12])
def test_truncated_atoms_are_no_largest_loss(epsilon):
    """Discrete Gaussian noise has losses of every size: far out delta falls below any mass that is kept."""
    run = hs.DiscreteGaussian(sigma=1.0).poisson(rate=0.02) * 40
    low, high = run.log_delta_bounds(epsilon=epsilon)
    assert low <= high
    assert low < -0.01 * epsilon * epsilon


def test_infinite_masses_next_to_one_and_below_the_doubles():
    near_one = hs.ZCDP(rho=0.1) + hs.ApproxDP(epsilon=1.0, delta=0.5) * 54
    assert near_one.epsilon(0.5) == math.inf
    assert near_one.delta(1.0) == 1.0
    tiny = hs.ApproxDP(epsilon=1.0, delta=1e-200).poisson(rate=1e-200) * 100
    assert 0.0 <= tiny.epsilon(1e-5) < 1e-6


def test_what_the_core_leaves_open_is_not_infinite():
    run = hs.Gaussian(sigma=1e-99).poisson(rate=1e-4) * 1000
    with_core = run.epsilon(1e-5)
    with pure():
        assert run.epsilon(1e-5) < math.inf
    assert with_core < math.inf


def test_ends_that_are_no_numbers_prove_nothing():
    from hockeystick.loss.protocol import largest

    assert largest([(math.nan, math.nan)]) == (-math.inf, math.inf)
    assert largest([(-3.0, -2.0), (-5.0, math.nan)]) == (-math.inf, math.inf)
    assert largest([(-3.0, -2.0), (-5.0, -1.0)]) == (-3.0, -1.0)
