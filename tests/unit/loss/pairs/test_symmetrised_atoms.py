"""Symmetrised pairs of finitely many values: symmetric, whole, and of the same delta from 0 up."""

import math

import numpy as np
import pytest

from hockeystick.loss.pairs.discrete import ResponseLoss, SampledAtoms
from hockeystick.loss.pairs.gaussian import gaussian_log_delta
from hockeystick.loss.pairs.symmetrised_atoms import SymmetrisedAtoms, closed_by_symmetry

CASES = [(ResponseLoss(0.7), 0.1), (ResponseLoss(2.0, 5), 0.6), (ResponseLoss(0.3, 2, 1e-4), 0.02)]


def pair(base: ResponseLoss, rate: float) -> tuple[SampledAtoms, SymmetrisedAtoms]:
    removal = SampledAtoms(base, rate, True)
    return removal, SymmetrisedAtoms(removal, rate)


@pytest.mark.parametrize(("base", "rate"), CASES, ids=str)
def test_both_orders_have_the_same_loss(base, rate):
    """z with mass p under P lies at -z with mass p under Q; each law is whole, the infinite mass included."""
    _, symmetrised = pair(base, rate)
    z, log_p, log_q, error, _ = symmetrised.atoms
    assert np.array_equal(z, -z[::-1])
    assert np.array_equal(log_p, log_q[::-1])
    assert symmetrised.infinite_mass == symmetrised.infinite_mass_under_q
    total = math.fsum(np.exp(log_p).tolist()) + float(symmetrised.infinite_mass)
    assert total == pytest.approx(1.0, abs=1e-12 + 2.0 * error)
    assert (log_p - log_q) == pytest.approx(z, abs=4.0 * error + 1e-12)


@pytest.mark.parametrize(("base", "rate"), CASES, ids=str)
def test_from_zero_up_delta_is_that_of_the_removal(base, rate):
    removal, symmetrised = pair(base, rate)
    for share in (0.0, 0.2, 0.9, 0.999):
        epsilon = share * removal.ceiling
        assert symmetrised.closed(epsilon).value == pytest.approx(removal.closed(epsilon).value, abs=1e-9)
    assert symmetrised.ceiling == removal.ceiling


@pytest.mark.parametrize(("base", "rate"), CASES[:2], ids=str)
def test_below_zero_delta_is_mirrored(base, rate):
    """delta(-x) = 1 - e^-x + e^-x delta(x)."""
    _, symmetrised = pair(base, rate)
    for epsilon in (0.05, 0.4, 3.0):
        ahead = math.exp(symmetrised.closed(epsilon).value)
        truth = -math.expm1(-epsilon) + math.exp(-epsilon) * ahead
        assert math.exp(symmetrised.closed(-epsilon).value) == pytest.approx(truth, rel=1e-11)


@pytest.mark.parametrize(("base", "rate"), CASES, ids=str)
def test_cumulants_are_bounded(base, rate):
    """Of the finite part; K of the symmetrised pair is symmetric about c = -1/2."""
    _, symmetrised = pair(base, rate)
    z, log_p, *_ = symmetrised.atoms
    for c in (0.4, 2.0, 11.0):
        truth = float(np.logaddexp.reduce(log_p + c * z))
        assert symmetrised.cumulant_bound(c) >= truth - 1e-13
        assert float(np.logaddexp.reduce(log_p - (1.0 + c) * z)) == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("epsilon", [-1e-9, -0.3, -5.0, -90.0])
def test_the_profile_of_a_symmetric_pair_is_known_by_half(epsilon):
    """Gaussian noise is symmetric: what is told at -epsilon is what its closed form says there."""
    found = closed_by_symmetry(lambda at: gaussian_log_delta(1.3, at), epsilon)
    truth = gaussian_log_delta(1.3, epsilon)
    assert found.low <= truth.high
    assert truth.low <= found.high
    assert found.high - found.low < 1e-12
    assert found.slope == pytest.approx(truth.slope, rel=1e-6, abs=1e-30)


def test_nothing_is_told_of_what_is_not_told():
    assert closed_by_symmetry(lambda _: None, -1.0) is None
    assert closed_by_symmetry(lambda at: gaussian_log_delta(1.3, at), -800.0).value == 0.0
