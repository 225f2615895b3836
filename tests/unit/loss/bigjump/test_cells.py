"""Bounds by cells of the noise, on the real axis and off it, against quadrature."""

import math

import numpy as np
import pytest

from hockeystick.loss.bigjump.cells import ThresholdedCells, Thresholds, log_cdf, place
from hockeystick.loss.bigjump.transform import ThresholdedStep
from hockeystick.loss.protocol import Inconclusive
from hockeystick.numerics.trapezoid import Cells
from threshold_cases import SHAPE, THRESHOLDS, WEIGHT, X, integral, kept, middle, nu, power


@pytest.fixture(scope="module")
def step():
    return ThresholdedStep(SHAPE, THRESHOLDS, 400.0, 0.0)


def test_bounds_on_the_real_axis(step):
    for k in (1.5, 30.0, 200.0, 400.0):
        grown, back = power(k, X), power(-k, X)
        true = integral(kept(X) * (grown - 1.0 - k * X)) - integral(nu(X)) - k * integral(nu(X) * X)
        assert true <= step.above(k) <= 4.0 * true + 1e-9
        assert integral(middle(X) * grown) <= step.middle_above(k) <= 4.0 * integral(middle(X) * grown) + 1e-9
        assert integral(back - 1.0 + k * X) <= step.reverse_above(k) <= 1.2 * integral(back - 1.0 + k * X) + 1e-12
        light, heavy = step.large_above(k, 0.1, 0.0)
        assert integral(nu(X)) <= light[-1]
        assert integral(nu(X) * back) * math.exp(0.1 * k) <= heavy[0]
        assert (np.diff(light) >= 0.0).all()
        assert (np.diff(heavy) <= 0.0).all()


def test_transforms_fall_as_proved(step):
    weight, x = WEIGHT, X
    ratio, u = np.log1p(x), np.array([100.0, 600.0, 1200.0, 2400.0])
    inside = weight * middle(x) * power(201.0, x)
    seen = np.array([abs((inside * np.exp(1j * one * ratio)).sum()) for one in u.tolist()])
    bound = step.log_modulus_above(201.0, u)
    assert (np.log(seen) <= bound).all()
    assert bound[-1] < bound[0] - 10.0
    whole = ThresholdedStep(SHAPE, Thresholds(0.0, THRESHOLDS.high, 0.0, THRESHOLDS.high_width), 400.0, 0.0)
    rest = weight * kept(x) * power(201.0, x)
    cells = Cells(100.0)
    fall = whole.spread_decay(201.0, 1.0 + whole.above(201.0), cells)[0]
    for left, right, one in list(zip(cells.left.tolist(), cells.right.tolist(), fall.tolist(), strict=True))[:40:3]:
        for point in (left, 0.5 * (left + right)):
            assert -math.log(abs((rest * np.exp(1j * point * ratio)).sum()) / rest.sum()) >= one
    assert fall.max() > 1e-6


@pytest.mark.parametrize("x", [1e-9, 0.02, 0.15, 40.0])
def test_the_place_of_a_loss(x):
    assert SHAPE.rate * math.expm1(place(SHAPE, x) / SHAPE.noise - 0.5 / SHAPE.noise**2) == pytest.approx(x, rel=1e-12)


def test_the_logarithm_of_the_normal_distribution_function():
    assert log_cdf(np.array([-40.0, -1.0, 0.0, 3.0])) == pytest.approx(
        [-804.608442, -1.841021645, math.log(0.5), -0.001350809965]
    )


@pytest.mark.parametrize(
    "thresholds",
    [Thresholds(0.2, 0.15, 0.001, 0.0045), Thresholds(0.02, 0.15, 0.0045, 0.0016), Thresholds(0.02, 0.15, 1e-9, 0.0045)],
    ids=["crossed", "the lower one is wider", "what is large may be small"],
)
def test_thresholds_of_which_something_large_may_be_small_are_refused(thresholds):
    with pytest.raises(Inconclusive):
        ThresholdedCells(SHAPE, thresholds, 400.0)
