import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hockeystick.loss.allocated_steps.finite import TUNING, finite_epoch, power
from hockeystick.loss.pairs.discrete import DiscreteGaussianLoss, DiscreteLaplaceLoss, ResponseLoss


@pytest.mark.parametrize(
    ("loss", "steps", "kept"),
    [
        (ResponseLoss(1.0), 30, 1),
        (ResponseLoss(1e-30), 9, 2),
        (ResponseLoss(0.2, 4, 1e-5), 7, 1),
        (DiscreteLaplaceLoss(0.7, 3), 4, 2),
    ],
    ids=str,
)
def test_both_laws_are_probabilities_whose_ratio_is_z(loss, steps, kept):
    for removal in (True, False):
        epoch = finite_epoch(loss, steps, kept, removal)
        atoms = epoch.atoms
        assert (np.diff(atoms.z) >= 0.0).all()
        for log_mass, alone in ((atoms.log_p, epoch.infinite_mass), (atoms.log_q, epoch.infinite_mass_under_q)):
            assert math.isclose(float(np.exp(log_mass).sum()) + float(alone), 1.0, rel_tol=1e-13)
        assert np.abs(atoms.log_p - atoms.log_q - atoms.z).max() <= 2.0 * atoms.error
        assert atoms.z[-1] <= epoch.ceiling * (1.0 + 4.0 * atoms.z_error)


def test_values_near_zero_keep_their_digits():
    """Where the terms of first order cancel, log L is about epsilon^2 / 2."""
    epsilon = 1e-30
    z = finite_epoch(ResponseLoss(epsilon), 2, 1, True).atoms.z
    with mpmath.workdps(100):
        truth = mpmath.log((mpmath.exp(epsilon) + mpmath.exp(-epsilon)) / 2)
    assert z[1] == pytest.approx(float(truth), rel=1e-12)
    assert z[0] == pytest.approx(-epsilon, rel=1e-12)


def test_too_many_values_are_none():
    assert finite_epoch(DiscreteGaussianLoss(2.0, 1), 10, 1, True) is None
    assert finite_epoch(ResponseLoss(1.0), TUNING.most_values, 1, True) is None


def test_powers_of_masses():
    assert power(Fraction(1, 3), 5) == Fraction(1, 243)
    near = power(Fraction(2**200 - 1, 2**200), 1000)
    assert abs(near - Fraction(2**200 - 1, 2**200) ** 1000) < Fraction(1, 10**55)
