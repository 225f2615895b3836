"""One sampled Gaussian step on the real axis: guide, bounds, mean and largest loss, against quadrature."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.loss.sampled.gaussian import Guide, SampledGaussianLoss
from hockeystick.loss.sampled.quadrature import SampledStep

SHAPES = [SampledStep(1.1, 0.01), SampledStep(0.6, 0.3), SampledStep(4.0, 0.9)]


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(25):
        yield


def ratio(shape, z):
    return mp.log1p(mpf(shape.rate) * mp.expm1(z / mpf(shape.noise) - 1 / (2 * mpf(shape.noise) ** 2)))


def mean(shape, function):
    """Under the law without the record."""
    top = 14 + 12 / shape.noise
    return mp.quad(lambda z: mp.npdf(z) * function(ratio(shape, z)), [-14, -5, -2, 0, 2, 5, *np.linspace(8.0, top, 5).tolist()])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("removal", [True, False])
@pytest.mark.parametrize("c", [0.3, 2.0, 6.0])
def test_the_cumulant(shape, removal, c):
    loss = SampledGaussianLoss(shape, (removal,), Guide(shape))
    k = mpf(1 + c if removal else -c)
    truth = mp.log(mean(shape, lambda r: mp.exp(k * r)))
    assert loss.cumulant_bound(c) >= truth
    assert loss.expand(c)[0] == pytest.approx(float(truth), rel=1e-4, abs=1e-9)
    above = float(loss.slice(c, c + 1.0, 1000).cumulant_above(np.array([c]))[0][0])
    assert truth <= above <= truth * (1 + mpf("1e-3"))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("removal", [True, False])
def test_the_mean_is_the_divergence(shape, removal):
    value, error = SampledGaussianLoss(shape, (removal,), Guide(shape)).mean()
    truth = mean(shape, (lambda r: r * mp.exp(r)) if removal else (lambda r: -r))
    assert abs(truth - mpf(value)) <= error
    assert error < 1e-9 * value


def test_the_largest_loss():
    shape = SHAPES[0]
    assert SampledGaussianLoss(shape, (True,), Guide(shape)).ceiling == math.inf
    assert SampledGaussianLoss(shape, (False,), Guide(shape)).ceiling == pytest.approx(-math.log1p(-0.01), rel=1e-14)
    assert SampledGaussianLoss(shape, (True, False), Guide(shape)).ceiling == math.inf


def test_both_orders_are_rows_of_one():
    shape = SHAPES[1]
    both = SampledGaussianLoss(shape, (True, False), Guide(shape))
    assert both.rows == 2
    assert [both.ordered_pair(row).removal for row in range(2)] == [True, False]
    assert both.ordered_pair(1).exponent(0.5) == -0.5
    assert both.ordered_pair(0).exponent(0.5) == 1.5
