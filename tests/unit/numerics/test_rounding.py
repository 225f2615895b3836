"""What the certified bounds assume of the machine, against ball arithmetic."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import erfcx

from balls import worst
from hockeystick.numerics import rounding

WIDE = np.concatenate([-np.geomspace(1e-300, 700.0, 2000), np.geomspace(1e-300, 700.0, 2000), np.linspace(-40, 40, 2000)])
ABOVE = np.concatenate([np.geomspace(1e-300, 1e300, 3000), np.linspace(0.3, 3.0, 3000)])
NEAR = np.concatenate([-np.geomspace(1e-300, 0.999999, 2000), np.geomspace(1e-300, 1e300, 3000), np.linspace(-0.9, 2, 2000)])
TURNS = np.concatenate([np.geomspace(1e-300, 1e5, 3000), np.linspace(-1e3, 1e3, 3000)])
MILLS = np.concatenate([np.geomspace(1e-300, 1e150, 3000), np.linspace(-1.0, 40.0, 6000)])
FUNCTIONS = {
    "exp": (np.exp, WIDE, lambda x: x.exp()),
    "expm1": (np.expm1, WIDE, lambda x: x.expm1()),
    "log": (np.log, ABOVE, lambda x: x.log()),
    "log1p": (np.log1p, NEAR, lambda x: x.log1p()),
    "sin": (np.sin, TURNS, lambda x: x.sin()),
    "cos": (np.cos, TURNS, lambda x: x.cos()),
    "sinh": (np.sinh, WIDE, lambda x: x.sinh()),
    "arctan": (lambda x: np.arctan2(x, 1.0), TURNS, lambda x: x.atan()),
}


@pytest.mark.parametrize(("function", "grid", "truth"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_elementary_functions(function, grid, truth):
    ctx.prec = 200
    grid = grid[grid != 1.0] if function is np.log else grid
    assert 2.0 * worst(function(grid), [truth(arb(x)) for x in grid.tolist()]) <= rounding.FUNCTION


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "sin", "cos"])
def test_elementary_functions_of_the_c_library(name):
    ctx.prec = 200
    _, grid, truth = FUNCTIONS[name]
    grid = grid[grid != 1.0] if name == "log" else grid
    found = np.array([getattr(math, name)(x) for x in grid.tolist()])
    assert 2.0 * worst(found, [truth(arb(x)) for x in grid.tolist()]) <= rounding.FUNCTION


def test_the_error_function_of_the_c_library():
    ctx.prec = 400
    grid = np.linspace(-6.0, 26.0, 4001)
    found = np.array([math.erfc(x) for x in grid.tolist()])
    assert 2.0 * worst(found, [arb(x).erfc() for x in grid.tolist()]) <= rounding.ERFC


def test_the_scaled_error_function():
    ctx.prec = 400

    def truth(x: float) -> arb:
        if x > 1e3:  # erfc underflows in balls long after; the series 1/(x sqrt(pi)) (1 - 1/(2 x^2) + ...) alternates
            y = 1 / (2 * arb(x) ** 2)
            total = 1 - y + 3 * y**2 - 15 * y**3 + 105 * y**4 - 945 * y**5
            return (total + arb(0, 1e4) * y**6) / (arb(x) * arb.pi().sqrt())
        return (arb(x) ** 2).exp() * arb(x).erfc()

    assert 2.0 * worst(erfcx(MILLS), [truth(x) for x in MILLS.tolist()]) <= rounding.ERFCX


@given(st.floats(-1e300, 1e300), st.floats(0.0, 1e300))
def test_rounding_outwards(value, error):
    assert rounding.up(value, error) > value + error or math.isinf(value + error)
    assert rounding.down(value, error) < value - error or math.isinf(value - error)


@settings(max_examples=300, derandomize=True)
@given(st.floats(-800.0, 700.0))
def test_exponentials_are_rounded_outwards(value):
    ctx.prec = 200
    truth = arb(value).exp()
    low, high = rounding.exp_down(value), rounding.exp_up(value)
    assert arb(low) <= truth <= arb(high)
    assert high <= max(low * (1.0 + 64.0 * rounding.UNIT), 1e-307)


def test_exponentials_at_the_ends():
    assert rounding.exp_up(-math.inf) == 0.0
    assert rounding.exp_up(-1e300) == 5e-324
    assert rounding.exp_up(1e300) == math.inf
    assert rounding.exp_up(0.0, ceiling=1.0) == 1.0
    assert rounding.exp_down(-math.inf) == 0.0
