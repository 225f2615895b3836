"""Runs known by their Rényi curves: the curves add, and what they prove is never below the truth."""

import math

import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick import conversion
from hockeystick.loss.bounds.renyi import cumulant_above, renyi_epsilon, renyi_log_delta
from hockeystick.loss.composed import composed
from hockeystick.loss.pairs.discrete import ResponseLoss
from hockeystick.loss.pairs.gaussian import GaussianLoss, gaussian_log_delta
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.pairs.renyi import RenyiLoss

ZCDP = RenyiLoss("zcdp", (0.05,))


@pytest.mark.parametrize("c", [1e-3, 0.7, 4.0, 60.0])
def test_cumulants_of_noise_and_claims_add(c):
    """Gaussian noise: mu^2/2 c (c + 1); a zCDP claim: rho c (c + 1); Laplace noise and responses by their moments."""
    with mp.workdps(40):
        w, a = mpf(c), mpf(0.4)
        laplace = mp.log((mp.exp(a * w) * (1 + w) + mp.exp(-a * (1 + w)) * w) / (2 * w + 1))
        e = mp.exp(mpf(0.3))
        response = mp.log((e * mp.exp(w * mpf(0.3)) + mp.exp(-w * mpf(0.3))) / (1 + e))
        truth = (3 * mpf(0.04) / 2 + 2 * mpf(0.05)) * w * (w + 1) + 5 * laplace + 4 * response
        run = composed([(GaussianLoss(0.04), 3), (ZCDP, 2), (LaplaceLoss(0.4), 5), (ResponseLoss(0.3), 4)])
        assert truth <= cumulant_above(run, c) <= truth * (1 + mpf(1e-10)) + mpf(1e-14)


@pytest.mark.parametrize("delta", [1e-2, 1e-6, 1e-30])
def test_a_concentrated_run_is_converted_optimally(delta):
    run = composed([(ZCDP, 4)])
    assert renyi_epsilon(run, delta) == pytest.approx(conversion.zcdp_to_epsilon(0.2, delta), rel=1e-9)
    assert renyi_epsilon(run, delta) >= hs.Gaussian(sigma=math.sqrt(1 / 0.4)).epsilon_bounds(delta).lower


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 6.0])
def test_delta_of_noise_lies_below_what_its_curve_proves(epsilon):
    """Gaussian noise by its Rényi curve alone; the curve loses a factor, not the exponent."""
    found = renyi_log_delta(composed([(GaussianLoss(0.09), 4)]), epsilon)
    truth = gaussian_log_delta(0.6, epsilon)
    assert truth.high <= found <= truth.low + 4.0


def test_both_directions_undo_each_other():
    run = composed([(GaussianLoss(0.3), 1), (RenyiLoss("listed", (2.0, 8.0, 32.0, 0.01, 0.05, 0.3)), 3)])
    for delta in (1e-3, 1e-9):
        epsilon = renyi_epsilon(run, delta)
        assert renyi_log_delta(run, epsilon) == pytest.approx(math.log(delta), rel=1e-6)


def test_listed_orders_are_looked_at():
    """One order only: Theorem 3 at that order."""
    run = composed([(RenyiLoss("listed", (8.0, 0.1)), 1)])
    assert renyi_epsilon(run, 1e-5) <= conversion.rdp_to_epsilon(8.0, 0.1, 1e-5) * (1.0 + 1e-12)


def test_infinite_losses_are_conditioned_away():
    """An (epsilon, p)-claim beside a concentrated one: below 1 - (1 - p)^2 there is no epsilon; above it there is one."""
    run = composed([(ResponseLoss(0.1, 2, 1e-4), 2), (ZCDP, 1)])
    infinite = 1e-4 * (2.0 - 1e-4)
    assert renyi_epsilon(run, infinite * (1.0 - 1e-9)) == math.inf
    found = renyi_epsilon(run, infinite + 1e-6)
    pure = renyi_epsilon(composed([(ResponseLoss(0.1), 2), (ZCDP, 1)]), 1e-6)
    assert found == pytest.approx(pure, rel=1e-3)
    assert found >= (hs.ApproxDP(0.1, 1e-4) * 2).epsilon_bounds(infinite + 1e-6).lower
