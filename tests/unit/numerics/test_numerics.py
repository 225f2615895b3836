"""What the certified bounds assume of the machine, and the kernels that are built on it, against ball arithmetic."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy.special import erfcx

from hockeystick.numerics import cancellation_free as series
from hockeystick.numerics import normal, roots, rounding
from hockeystick.numerics.fourier_sums import added_terms, fourier_sums

WIDE = np.concatenate([-np.geomspace(1e-300, 700.0, 2000), np.geomspace(1e-300, 700.0, 2000), np.linspace(-40, 40, 2000)])
ABOVE = np.concatenate([np.geomspace(1e-300, 1e300, 3000), np.linspace(0.3, 3.0, 3000)])
NEAR = np.concatenate([-np.geomspace(1e-300, 0.999999, 2000), np.geomspace(1e-300, 1e300, 3000), np.linspace(-0.9, 2, 2000)])
TURNS = np.concatenate([np.geomspace(1e-300, 1e5, 3000), np.linspace(-1e3, 1e3, 3000)])
MILLS = np.concatenate([np.geomspace(1e-300, 1e150, 3000), np.linspace(-1.0, 40.0, 6000)])


def worst(found: np.ndarray, truths: list[arb]) -> float:
    """The largest relative error."""
    ctx.prec = 200
    most = 0.0
    for value, truth in zip(found.tolist(), truths, strict=True):
        if abs(truth) > 1e-300:  # normal numbers
            most = max(most, float(abs(arb(value) / truth - 1).upper()))
    return most


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


# the hockey stick of two normal laws


def exact_log_delta(mu: float, x: float) -> mpf:
    a = mpf(x) / mpf(mu) - mpf(mu) / 2
    root = mp.sqrt(2)
    if a > -1:
        return mp.log((mp.erfc(a / root) - mp.exp(x) * mp.erfc((a + mu) / root)) / 2)
    return mp.log1p(-(mp.erfc(-a / root) + mp.exp(x) * mp.erfc((a + mu) / root)) / 2)


def cases() -> list[tuple[float, float]]:
    draw = np.random.default_rng(7)
    mus = 10.0 ** draw.uniform(-6.0, 1.5, 300)
    places = draw.uniform(-6.0, 25.0, 300)  # of a = x/mu - mu/2
    free = [(float(mu), float(mu * max(a, -mu / 2) + mu * mu / 2)) for mu, a in zip(mus, places, strict=True)]
    return [(mu, max(0.0, x)) for mu, x in free] + [(float(mu), 0.0) for mu in mus[:50]]


def test_the_normal_hockey_stick():
    """Claimed over observed error is at least 1, everywhere; mu is exact here, so nothing is allowed for it."""
    least = math.inf
    with mp.workdps(500):
        for mu, x in cases():
            value, claimed, slope = normal.log_shift_delta(mu, x, mu_error=0.0)
            observed = abs(mpf(value) - exact_log_delta(mu, x))
            assert observed <= claimed, (mu, x, float(observed), claimed)
            assert slope <= 0.0
            if observed > 0:
                least = min(least, float(claimed / observed))
    assert least >= 1.0


def test_the_normal_hockey_stick_is_not_vague():
    for mu, x in cases():
        value, claimed, _ = normal.log_shift_delta(mu, x)
        assert claimed <= 1e-12 * max(1.0, abs(value)), (mu, x)


def test_the_slope_of_the_normal_hockey_stick():
    for mu, x in cases()[:100]:
        step = 1e-4 * mu
        before, after = (normal.log_shift_delta(mu, x + shift)[0] for shift in (0.0, 2.0 * step))
        middle = normal.log_shift_delta(mu, x + step)[2]
        assert (after - before) / (2.0 * step) == pytest.approx(middle, rel=1e-3, abs=1e-6)


def test_close_mills_ratios():
    draw = np.random.default_rng(8)
    with mp.workdps(60):
        for _ in range(300):
            mu = float(10.0 ** draw.uniform(-8.0, -1.0))
            middle = float(10.0 ** draw.uniform(-3.0, 1.3))
            value, claimed = normal.close_mills_gap(middle, mu)

            def mills(t: mpf) -> mpf:
                return mp.exp(t * t / 2) * mp.erfc(t / mp.sqrt(2)) / 2

            truth = mills(mpf(middle) - mpf(mu) / 2) - mills(mpf(middle) + mpf(mu) / 2)
            assert abs(value / truth - 1) <= claimed


@given(st.floats(-37.0, 37.0))
def test_tail_bounds(x):
    assert normal.log_tail_bound(x) >= math.log(0.5 * math.erfc(x / math.sqrt(2.0))) - 1e-15


# differences without cancellation


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


# the root finder

SHAPES = {
    "cube": (lambda x: (x**3 - 2.0, 3.0 * x * x), 2.0 ** (1 / 3)),
    "exponential": (lambda x: (math.exp(min(x, 700.0)) - 5.0, math.exp(min(x, 700.0))), math.log(5.0)),
    "logarithm": (lambda x: (math.log(x) + 3.0, 1.0 / x), math.exp(-3.0)),
    "flat": (lambda x: (math.atan(x - 1e3), 1.0 / (1.0 + (x - 1e3) ** 2)), 1e3),
}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("start", [1e-6, 0.1, 1.0, 30.0])
def test_roots(name, start):
    function, truth = SHAPES[name]
    lower = 0.0 if name == "logarithm" else -math.inf
    found = roots.increasing_root(function, start, lower=lower)
    assert found == pytest.approx(truth, rel=1e-12)


@settings(derandomize=True)
@given(root=st.floats(-1e6, 1e6), start=st.floats(-1e6, 1e6), slope=st.floats(1e-6, 1e6))
def test_roots_of_lines(root, start, slope):
    found = roots.increasing_root(lambda x: (slope * (x - root), slope), start)
    assert found == pytest.approx(root, rel=1e-9, abs=1e-9)


def test_a_root_stays_in_its_bracket():
    seen = []

    def step(x: float) -> tuple[float, float]:
        seen.append(x)
        return (1.0 if x > 0.3 else -1.0), 0.0

    found = roots.increasing_root(step, 0.9, lower=0.0, upper=1.0)
    assert found == pytest.approx(0.3, rel=1e-12)
    assert all(0.0 <= x <= 1.0 for x in seen)


def test_a_root_can_be_good_enough():
    calls = []

    def function(x: float) -> tuple[float, float]:
        calls.append(x)
        return x**3 - 2.0, 3.0 * x * x

    found = roots.increasing_root(function, 1.0, enough=lambda _, step: abs(step) < 0.1)
    assert found == pytest.approx(2.0 ** (1 / 3), abs=0.05)
    assert len(calls) < 5


def test_fourier_sums_in_pieces() -> None:
    """More values than fit into one table, against the sums themselves."""
    random = np.random.default_rng(4)
    ratio, weight = np.sort(random.normal(size=9001)), random.random((2, 9001))
    found = fourier_sums(ratio, weight, 0.3, 40)
    turned = np.exp(1j * np.outer(0.3 * np.arange(40), ratio))
    bound = (added_terms(ratio.size, 40) + 40.0) * rounding.UNIT * weight.sum(axis=1)
    assert (np.abs(found - weight @ turned.T) <= 2.0 * bound[:, None]).all()


@pytest.mark.parametrize("cliff", [1e-14, 1e-9, 1e-3])
def test_the_end_beyond_a_cliff_holds_and_is_near(cliff: float) -> None:
    """Nothing is proved within the cliff, everything beyond it; or the margin leaps from far below."""
    for within in (-math.inf, -1e3):
        margin = lambda x, within=within: within if x > 1.0 - cliff else 1.0  # noqa: E731
        end = roots.certified_end(margin, 1.0, -1.0)
        assert margin(end) >= 0.0
        assert end > 1.0 - 1.1 * cliff - 1e-9
    assert roots.certified_end(lambda _: -math.inf, 1.0, 1.0) == math.inf
