"""Mixtures of shifted normal laws: masses, the loss as a function of the outcome, delta in closed form."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.loss.sampled.gaussian_mixture import NORMAL, Mixture, MixtureLoss

MOVES, WEIGHTS = (0.5, 1.25, 2.0), (0.2, 0.1, 0.05)
RIGHT = Mixture(tuple(map(math.log, WEIGHTS)), MOVES, math.log(0.65))


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(40):
        yield


def density(y):
    return mpf("0.65") * mp.npdf(y) + mp.fsum(mpf(w) * mp.npdf(y - mpf(m)) for w, m in zip(WEIGHTS, MOVES, strict=True))


def right_of(y):
    return mpf("0.65") * mp.ncdf(-y) + mp.fsum(mpf(w) * mp.ncdf(mpf(m) - y) for w, m in zip(WEIGHTS, MOVES, strict=True))


def test_the_loss_grows_in_the_outcome():
    for y in (-6.0, -1.0, 0.0, 1.5, 4.0):
        value, slope = RIGHT.ratio(np.array([y]))
        assert float(value[0]) == pytest.approx(float(mp.log(density(mpf(y)) / mp.npdf(y))), rel=1e-12)
        assert float(slope[0]) > 0.0


def test_masses_of_cells_of_outcomes():
    y = np.array([-4.0, -1.0, 0.0, 0.3, 2.0, 5.0])
    logs, errors = RIGHT.cells(y)
    tails = [right_of(mpf(one)) for one in y.tolist()]
    first = mpf("0.65") * mp.ncdf(y[0]) + mp.fsum(mpf(w) * mp.ncdf(y[0] - mpf(m)) for w, m in zip(WEIGHTS, MOVES, strict=True))
    for place, mass in enumerate([first, *(one - two for one, two in itertools.pairwise(tails)), tails[-1]]):
        assert abs(mp.log(mass) - mpf(float(logs[place]))) <= np.broadcast_to(errors, logs.shape)[place]


@pytest.mark.parametrize("epsilon", [-0.2, 0.0, 0.4, 1.5])
def test_delta_of_one_step(epsilon):
    """The integral of (P - e^eps Q)+, the mixture against the law without the record."""
    found = MixtureLoss(RIGHT, NORMAL).closed(epsilon)
    edge = mp.findroot(lambda y: mp.log(density(y) / mp.npdf(y)) - mpf(epsilon), 0.5)
    truth = mp.log(right_of(edge) - mp.exp(mpf(epsilon)) * mp.ncdf(-edge))
    assert found is not None
    assert found.low <= truth <= found.high
    assert found.high - found.low < 1e-9


def test_places_are_where_the_loss_has_its_value():
    loss = MixtureLoss(RIGHT, NORMAL)
    z = np.array([-0.3, 0.0, 0.8, 2.5])
    assert loss.ratio(loss.places(z))[0] == pytest.approx(z, abs=1e-9)
