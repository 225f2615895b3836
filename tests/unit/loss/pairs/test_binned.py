"""Losses known by binned masses only: their guides and bounds against sums and integrals in many digits."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.loss.pairs.binned import WideDiscreteGaussianLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.protocol import Inconclusive
from hockeystick.loss.sampled.binned import SampledLoss

LAPLACE = [SampledLoss(LaplaceLoss(a), rate, removal) for a, rate in ((0.5, 0.1), (3.0, 0.01)) for removal in (True, False)]


def moments(loss: SampledLoss, power) -> mpf:
    """E power(Z) under P, over Laplace noise of unit scale moved by a."""
    a, q = mpf(loss.base.a), mpf(loss.rate)

    def density(y):
        return mp.exp(-abs(y)) / 2

    def mixed(y):
        return (1 - q) * density(y) + q * density(y - a)

    def term(y):
        p, other = (mixed(y), density(y)) if loss.removal else (density(y), mixed(y))
        return p * power(mp.log(p / other))

    return mp.quad(term, [-60, -20, -5, 0, a / 2, a, a + 5, a + 20, a + 60])


@pytest.mark.parametrize("loss", LAPLACE, ids=repr)
def test_bounds_of_cumulants_hold_and_are_close(loss):
    with mp.workdps(25):
        for c in (0.5, 2.0, 12.0):
            truth = mp.log(moments(loss, lambda z, c=c: mp.exp(c * z)))
            bound = loss.cumulant_bound(c)
            assert truth <= bound <= truth + mpf(1e-6)
            assert loss.expand(c)[0] == pytest.approx(float(truth), rel=0.02)


@pytest.mark.parametrize("loss", LAPLACE, ids=repr)
def test_the_mean_is_the_divergence(loss):
    with mp.workdps(25):
        truth = float(moments(loss, lambda z: z))
    value, error = loss.mean()
    assert truth <= value + error
    assert value <= truth * (1.0 + 1e-3) + 1e-9 + error


@pytest.mark.parametrize("loss", LAPLACE, ids=repr)
def test_there_is_no_slice(loss):
    assert not loss.has_slice
    assert loss.ordered_pair(0) is loss
    with pytest.raises(Inconclusive):
        loss.slice(1.0, 1.0, 1)


@pytest.mark.parametrize(("sigma", "move"), [(30.0, 1), (30.0, 40), (200.0, 7)])
def test_discrete_gaussian_noise_of_large_sigma(sigma, move):
    """Masses between edges against sums over the integers: Z > e for the outputs y > sigma^2 e/move + move/2."""
    loss = WideDiscreteGaussianLoss(sigma, move)
    spread = move / sigma
    edges = np.array([-2.013, -0.317, 0.0113, 0.829, 2.507]) * spread
    log_p, log_q, error = loss.masses(edges)
    span = range(-int(14 * sigma) - move, int(14 * sigma) + 2 * move)
    with mp.workdps(30):
        weight = {y: mp.exp(-(mpf(y) ** 2) / (2 * mpf(sigma) ** 2)) for y in span}
        total = mp.fsum(weight.values())
        cells = [[mpf(0), mpf(0)] for _ in range(edges.size + 1)]
        for y in span:
            z = (mpf(y) * move - mpf(move) ** 2 / 2) / mpf(sigma) ** 2
            place = int(np.searchsorted(edges, float(z), side="left"))
            cells[place][1] += weight[y] / total
            cells[place][0] += weight.get(y - move, mpf(0)) / total
        for place, (p, q) in enumerate(cells):
            off = float(np.broadcast_to(error, log_p.shape)[place])
            assert abs(mpf(float(log_p[place])) - mp.log(p)) <= off
            assert abs(mpf(float(log_q[place])) - mp.log(q)) <= off
        pairs = [(weight[y - move] / total, weight[y] / total) for y in span if y - move in weight]
        for c in (0.3, 1.0, 2.5):
            truth = mp.log(mp.fsum(p * (p / q) ** c for p, q in pairs))
            assert truth - mpf("1e-25") <= loss.cumulant_bound(c) <= truth * (1 + mpf("1e-12"))
        mean, off = loss.mean()
        assert abs(mpf(mean) - mp.fsum(p * mp.log(p / q) for p, q in pairs)) <= off + mpf("1e-25")
        assert off < 1e-14 * mean
    assert loss.ceiling == math.inf
