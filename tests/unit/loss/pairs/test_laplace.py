"""Laplace noise: closed form, masses, mean and cumulant bound, against higher precision."""

import itertools

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.loss.pairs.laplace import LaplaceLoss


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def below(z, a):
    """P(Z <= z) and Q(Z <= z)."""
    if z < -a:
        return mpf(0), mpf(0)
    if z >= a:
        return mpf(1), mpf(1)
    return mp.exp((z - a) / 2) / 2, 1 - mp.exp(-(z + a) / 2) / 2


@pytest.mark.parametrize("a", [1e-6, 0.3, 2.0, 50.0])
def test_masses_in_cells(a):
    edges = a * np.array([-1.5, -1.0, -0.7, -0.1, 0.0, 0.4, 0.99])
    found = LaplaceLoss(a).masses(edges)
    law = [below(mpf(edge), mpf(a)) for edge in edges.tolist()]
    errors = np.broadcast_to(found.error, found.log_p.shape)
    for side, logs in ((0, found.log_p), (1, found.log_q)):
        masses = [law[0][side], *(two[side] - one[side] for one, two in itertools.pairwise(law)), 1 - law[-1][side]]
        for place, truth in enumerate(masses):
            if truth:
                assert abs(mp.log(truth) - mpf(float(logs[place]))) <= errors[place]
            else:
                assert logs[place] == -np.inf


@pytest.mark.parametrize("a", [1e-6, 0.3, 2.0, 50.0])
@pytest.mark.parametrize("share", [-1.2, -0.5, 0.0, 0.6, 0.999])
def test_delta_in_closed_form(a, share):
    epsilon = share * a
    exact = mpf(epsilon)
    truth = 1 - mp.exp(exact) if exact < -a else 1 - mp.exp((exact - mpf(a)) / 2)
    found = LaplaceLoss(a).closed(epsilon)
    assert found.low <= mp.log(truth) <= found.high
    assert LaplaceLoss(a).closed(a * 1.0001).high == -np.inf


@pytest.mark.parametrize("a", [1e-5, 0.3, 2.0, 50.0])
def test_mean_and_cumulant(a):
    size = mpf(a)
    mean, error = LaplaceLoss(a).mean()
    assert abs(size + mp.exp(-size) - 1 - mpf(mean)) <= error
    for c in (0.2, 1.0, 9.0):
        v = mpf(c) + mpf("0.5")
        truth = mp.log(mp.exp(-size / 2) * (mp.cosh(v * size) + mp.sinh(v * size) / (2 * v)))
        assert LaplaceLoss(a).cumulant_bound(c) >= truth
        assert LaplaceLoss(a).expand(c)[0] == pytest.approx(float(truth), rel=1e-3)
