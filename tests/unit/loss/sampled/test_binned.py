"""Poisson samples of losses with a density: their largest losses, bounds where there is none, and masses that are whole."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.loss.pairs.bounded_range import BoundedRangeLoss
from hockeystick.loss.pairs.gaussian import GaussianLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.sampled.binned import SampledLoss

RATES = [1e-5, 0.2, 0.9]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("base", [LaplaceLoss(0.7), LaplaceLoss(12.0), BoundedRangeLoss(1.5)], ids=repr)
def test_the_largest_loss(base, rate):
    """log(1 - q + q e^a) of a removal, -log(1 - q + q e^-a) of an addition; grain reaches down to the lowest."""
    with mp.workdps(50):
        q, a = mpf(rate), mpf(base.ceiling if isinstance(base, BoundedRangeLoss) else base.a)
        high, low = (mp.log(1 - q + q * mp.exp(sign * a)) for sign in (1, -1))
        for removal, truth in ((True, high), (False, -low)):
            loss = SampledLoss(base, rate, removal)
            assert truth <= loss.ceiling <= truth * (1 + mpf(1e-13))
            assert abs(loss.atom_spacing - (high - low)) <= mpf(1e-13) * (high - low)
            assert loss.closed(loss.ceiling * (1.0 + 1e-9)).high == -math.inf


@pytest.mark.parametrize("rate", RATES)
def test_of_gaussian_noise(rate):
    """No largest loss of a removal; -log(1 - q) of an addition; K is bounded by Minkowski's inequality."""
    removal, addition = (SampledLoss(GaussianLoss(0.49), rate, one) for one in (True, False))
    assert removal.ceiling == math.inf
    assert -math.log1p(-rate) <= addition.ceiling <= -math.log1p(-rate) * (1.0 + 1e-13)
    z = np.linspace(-30.0, 30.0, 60_001)
    normal = np.exp(-0.5 * z * z) * (z[1] - z[0]) / math.sqrt(2.0 * math.pi)
    ratio = np.log1p(rate * np.expm1(0.7 * z - 0.245))
    for c in (0.5, 2.0, 9.0):
        assert removal.cumulant_bound(c) >= math.log(float((normal * np.exp((1.0 + c) * ratio)).sum())) - 1e-12
        assert addition.cumulant_bound(c) >= math.log(float((normal * np.exp(-c * ratio)).sum())) - 1e-12
        for loss in (removal, addition):
            assert loss.cumulant_bound(c) <= GaussianLoss(0.49).cumulant_bound(c)


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize("removal", [True, False])
def test_masses_are_whole_and_of_their_ratio(rate, removal):
    loss = SampledLoss(LaplaceLoss(0.7), rate, removal)
    edges = np.linspace(-1.0, 1.0, 301) * loss.ceiling
    log_p, log_q, error = loss.masses(edges)
    for log in (log_p, log_q):
        assert math.fsum(np.exp(log).tolist()) == pytest.approx(1.0, abs=1e-12)
    p, q = log_p[1:-1], log_q[1:-1]
    seen = p > -50.0
    slack = 2.0 * np.broadcast_to(error, log_p.shape)[1:-1] + loss.edge_error(loss.ceiling)
    ratio = p[seen] - q[seen]
    assert (ratio >= (edges[:-1] - slack)[seen]).all()
    assert (ratio <= (edges[1:] + slack)[seen]).all()


@pytest.mark.parametrize("removal", [True, False])
def test_delta_from_the_masses_is_the_closed_form(removal):
    """At an edge delta is a sum of P - e^eps Q over the cells above."""
    loss = SampledLoss(LaplaceLoss(0.7), 0.2, removal)
    edges = np.linspace(-1.0, 1.0, 301) * loss.ceiling
    log_p, log_q, _ = loss.masses(edges)
    for place in (160, 200, 290):
        epsilon = float(edges[place])
        found = math.fsum((np.exp(log_p) - math.exp(epsilon) * np.exp(log_q))[place + 1 :].tolist())
        assert found == pytest.approx(math.exp(loss.closed(epsilon).value), rel=1e-9, abs=1e-15)
