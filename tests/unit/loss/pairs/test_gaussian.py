"""Gaussian noise: closed form, masses, cumulants and the line, against higher precision."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.loss.pairs.gaussian import GaussianLoss, gaussian_log_delta
from hockeystick.numerics.trapezoid import Cells


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


@pytest.mark.parametrize("mu", [1e-3, 0.5, 3.0, 40.0])
@pytest.mark.parametrize("far", [-3.0, -0.5, 0.0, 1.0, 8.0, 30.0])
def test_delta_in_closed_form(mu, far):
    epsilon = 0.5 * mu * mu + far * mu
    exact, m = mpf(epsilon), mpf(mu)
    truth = mp.log(mp.ncdf(m / 2 - exact / m) - mp.exp(exact) * mp.ncdf(-m / 2 - exact / m))
    found = gaussian_log_delta(mu, epsilon)
    assert found.low <= truth <= found.high
    assert found.high - found.low < 1e-9 * (1.0 + abs(found.value))


@pytest.mark.parametrize("mu", [0.05, 1.0, 6.0])
def test_masses_in_cells(mu):
    loss, edges = GaussianLoss(mu * mu), np.linspace(-3.0, 3.0, 13) * mu + 0.5 * mu * mu
    found, m = loss.masses(edges), mpf(math.sqrt(mu * mu))
    for place in range(13):
        left, right = (mpf("-inf") if not place else mpf(edges[place - 1])), mpf(edges[place])
        for log, mean in ((found.log_p, m * m / 2), (found.log_q, -m * m / 2)):
            truth = mp.log(mp.ncdf((right - mean) / m) - (mp.ncdf((left - mean) / m) if place else 0))
            error = found.error if isinstance(found.error, float) else found.error[place]
            assert abs(truth - mpf(float(log[place]))) <= error + 1e-12


@pytest.mark.parametrize("c", [-0.5, 0.3, 4.0])
def test_the_line(c):
    loss = GaussianLoss(0.49)
    line = loss.slice(c, c + 1.0, 100)
    values, errors = line.values(0.25, 9)
    for place in range(9):
        w = mp.mpc(c, 0.25 * place)
        truth = mp.exp(mpf("0.245") * w * (w + 1))
        assert abs(mp.exp(mp.mpc(complex(values[0][place]))) / truth - 1) <= errors[0][place] + 1e-13
    cells = Cells(0.5)
    assert (line.decay(cells)[0] <= 0.5 * 0.49 * cells.left**2 * (1.0 + 1e-12)).all()
    points = np.array([c, c + 1.0]) if c > 0.0 else np.array([c])
    assert (line.cumulant_above(points)[0] >= 0.245 * points * (points + 1.0)).all()


def test_guides():
    assert GaussianLoss(0.49).expand(2.0) == pytest.approx((0.245 * 6.0, 0.49 * 2.5, 0.49))
    assert GaussianLoss(0.49).mean()[0] == 0.245
    assert GaussianLoss(0.49).cumulant_bound(2.0) >= 0.245 * 6.0
