"""Symmetric sampled pairs along the contour: against high precision, and the lattice."""

import math
from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.loss.composed import composed
from hockeystick.loss.lattice.refine import lattice_epsilon
from hockeystick.loss.sampled.gaussian_mixture import MixtureLoss
from hockeystick.loss.sampled.symmetric_slice import SymmetricPairSlice
from hockeystick.numerics.trapezoid import Cells
from sampled_cases import fold, replace_one


def densities(loss) -> tuple:
    """p and q of the symmetric pairs as functions of the noise, and the mass at loss 0."""
    if isinstance(loss, MixtureLoss):
        q, m = mpf(loss.symmetric.shape.rate), 1 / mpf(loss.symmetric.shape.noise)

        def density(y, sign):
            return (1 - q) * mp.npdf(y) + q * mp.npdf(y - sign * m)

        return lambda y: density(y, 1), lambda y: density(y, -1), mpf(0), mpf(0)
    q, m = mpf(loss.base.shape.rate), 1 / mpf(loss.base.shape.noise)
    middle = (1 - q) * (mp.ncdf(m / 2) - mp.ncdf(-m / 2))
    return lambda y: (1 - q) * mp.npdf(y) + q * mp.npdf(y - m), mp.npdf, m / 2, middle


@cache
def rule() -> list[tuple]:
    """Gauss's nodes and weights on [-1, 1], polished in high precision."""
    found = []
    for x in map(mpf, np.polynomial.legendre.leggauss(40)[0].tolist()):
        for _ in range(3):
            before, value = mpf(1), x
            for n in range(2, 41):
                before, value = value, ((2 * n - 1) * x * value - (n - 1) * before) / n
            slope = 40 * (x * value - before) / (x * x - 1)
            x -= value / slope
        found.append((x, 2 / ((1 - x * x) * slope**2)))
    return found


@cache
def nodes(loss) -> list[tuple]:
    p, q, start, _ = densities(loss)
    found = []
    for panel in range(17):
        for x, weight in rule():
            y = start + panel + (1 + x) / 2
            found.append((p(y) * weight / 2, q(y) * weight / 2, mp.log(p(y) / q(y))))
    return found


def true_phi(loss, w):
    terms = [p * mp.exp(w * z) + q * mp.exp(-w * z) for p, q, z in nodes(loss)]
    return mp.fsum(terms) + densities(loss)[3]


PAIRS = [
    replace_one(2.0, 0.01),
    replace_one(0.7, 0.3),
    replace_one(5.0, 1e-4),
    fold(2.0, 100, 10_000),
    fold(1.0, 3, 7),
    fold(8.0, 1, 100_000),
]


@pytest.mark.parametrize("loss", PAIRS, ids=lambda loss: type(loss).__name__)
def test_the_contour_of_symmetric_pairs(loss):
    mp.dps = 32
    for c in (0.4, 3.0):
        one = loss.slice(c, c + 2.0, 1000)
        assert isinstance(one, SymmetricPairSlice)
        assert one.good
        step = 2.5
        values, errors = one.values(step, 3)
        for place in range(3):
            truth = true_phi(loss, mp.mpc(c, step * place))
            found = mp.exp(mp.mpc(complex(values[0, place])))
            assert abs(found - truth) <= errors[0, place] * abs(truth)
            assert errors[0, place] * abs(truth) < 1e-11 * true_phi(loss, mpf(c))
        above = one.cumulant_above(np.array([c, c + 1.0]))[0]
        for bound, point in zip(above, (c, c + 1.0), strict=True):
            truth = mp.log(true_phi(loss, mpf(point)))
            assert truth <= bound <= truth + mpf("1e-10")
        cells = Cells(1.25)
        decays = one.decay(cells)[0]
        for place in (0, 9):
            u = float(cells.left[place])
            fall = -mp.log(abs(true_phi(loss, mp.mpc(c, u))) / true_phi(loss, mpf(c)))
            assert decays[place] <= fall * (1 + mpf("1e-12"))
            assert decays[place] > 0.0


def test_contour_and_lattice_agree():
    for loss, count, delta in (
        (replace_one(2.0, 0.01), 3000, 1e-6),
        (fold(2.0, 100, 10_000), 3000, 1e-6),
        (replace_one(0.9, 0.1), 50, 1e-9),
    ):
        run = composed([(loss, count)])
        ends = lattice_epsilon(run, math.log(delta), 1e-14)
        from hockeystick.loss.engines.first import contour_epsilon

        low, high = contour_epsilon(run, math.log(delta), (math.log(delta) - 1e-14, math.log(delta) + 1e-14))
        assert ends[0] <= high
        assert low <= ends[1]
        assert high - low < 1e-9 * high
        assert ends[1] - ends[0] < 1e-4 * high
