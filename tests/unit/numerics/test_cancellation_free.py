"""Differences that do not cancel, against ball arithmetic."""

import numpy as np
import pytest
from flint import arb, ctx
from mpmath import mp, mpf

from balls import worst
from hockeystick.numerics import cancellation_free as series
from hockeystick.numerics import rounding


def test_the_remainder_of_the_exponential():
    grid = np.concatenate([-np.geomspace(1e-12, 600.0, 1500), np.geomspace(1e-12, 600.0, 1500)])
    ctx.prec = 300
    assert worst(series.exp_remainder(grid), [arb(x).expm1() - arb(x) for x in grid.tolist()]) <= 1e-13


@pytest.mark.parametrize("top", [1e-6, 0.01, 0.5, 0.99])
def test_the_degree_of_the_series(top):
    degree, claimed = series.series_degree(top)
    with mp.workdps(60):
        rest = mp.nsum(lambda k: mpf(top) ** k / mp.factorial(k), [degree + 1, mp.inf])
        assert rest / (mpf(top) ** 2 / 2) <= claimed <= 2.0**-54


def test_complex_logarithms():
    draw = np.random.default_rng(9)
    z = 10.0 ** draw.uniform(-30.0, 0.5, 500) * np.exp(1j * draw.uniform(-3.1, 3.1, 500))
    with mp.workdps(60):
        for one, found in zip(z.tolist(), series.log1p_complex(z).tolist(), strict=True):
            truth = mp.log(1 + mp.mpc(one))
            assert abs(mp.mpc(found) - truth) <= 32.0 * rounding.UNIT * abs(one / (1.0 + one)) + 1e-300
