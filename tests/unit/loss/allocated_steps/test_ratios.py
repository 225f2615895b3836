import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from hockeystick.loss.allocated_steps.ratios import is_listed, kept_for, step_of, whole_ratios
from hockeystick.loss.own.finite import finite_loss
from hockeystick.loss.pairs.discrete import DiscreteGaussianLoss, DiscreteLaplaceLoss, ResponseLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss

LOSSES = [
    ResponseLoss(0.3),
    ResponseLoss(1e-40),
    ResponseLoss(500.0, 5),
    DiscreteLaplaceLoss(2.5, 3),
    DiscreteGaussianLoss(1.5, 2),
]


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_ratios_are_exponentials_to_many_digits(loss):
    step = step_of(loss)
    kept = np.maximum(loss.atoms.log_p, loss.atoms.log_q) > -720.0
    assert np.allclose([float(one) for one in step.values], loss.atoms.z[kept], rtol=1e-14, atol=0.0)
    numerators, scale, exact = whole_ratios(step)
    assert not exact
    with mpmath.workdps(900):
        for value, numerator in zip(step.values, numerators, strict=True):
            truth = mpmath.exp(mpmath.mpf(value.numerator) / value.denominator)
            assert abs(truth * scale - numerator) <= 1
            if value:
                assert abs(truth - 1) * abs(truth - 1) * scale > 1 << 100
            assert numerator > 1 << 100


def test_finite_pairs_are_exact():
    loss = finite_loss([(Fraction(1, 2), Fraction(1, 3)), (Fraction(1, 2), Fraction(1, 3)), (Fraction(0), Fraction(1, 3))])
    step = step_of(loss)
    assert step.zero == Fraction(1, 3)
    assert whole_ratios(step) == ([3], 2, True)


def test_a_step_with_itself():
    loss = finite_loss([(Fraction(2, 3), Fraction(1, 2)), (Fraction(1, 3), Fraction(1, 4)), (Fraction(0), Fraction(1, 4))])
    twice = kept_for(step_of(loss), 2, 100)
    assert twice.values == (Fraction(16, 9),)
    assert twice.zero == Fraction(7, 16)
    assert math.isclose(math.exp(twice.log_q[0]), 9 / 16, rel_tol=1e-14)
    response = kept_for(step_of(ResponseLoss(0.5, 3, 0.125)), 4, 100)
    assert [float(one) for one in response.values] == [0.5 * i for i in range(-4, 5)]
    assert response.infinite == response.zero == 1 - Fraction(7, 8) ** 4
    assert math.isclose(np.exp(response.log_q).sum(), (7 / 8) ** 4, rel_tol=1e-13)
    assert kept_for(step_of(ResponseLoss(0.5, 3)), 1000, 100) is None


def test_only_exactly_known_values_are_listed():
    assert is_listed(ResponseLoss(1.0))
    assert not is_listed(LaplaceLoss(1.0))
