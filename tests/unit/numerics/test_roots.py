"""Root finding: the roots, and ends that hold."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hockeystick.numerics import roots

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


@pytest.mark.parametrize("cliff", [1e-14, 1e-9, 1e-3])
def test_the_end_beyond_a_cliff_holds_and_is_near(cliff: float) -> None:
    """Nothing is proved within the cliff, everything beyond it; or the margin leaps from far below."""
    for within in (-math.inf, -1e3):
        margin = lambda x, within=within: within if x > 1.0 - cliff else 1.0  # noqa: E731
        end = roots.certified_end(margin, 1.0, -1.0)
        assert margin(end) >= 0.0
        assert end > 1.0 - 1.1 * cliff - 1e-9
    assert roots.certified_end(lambda _: -math.inf, 1.0, 1.0) == math.inf


@pytest.mark.parametrize("root", [1e-12, 0.3, 5.0, 743.9])
@pytest.mark.parametrize("shape", ["root", "line", "step", "unknown"])
def test_narrow_brackets(root, shape):
    """Smooth functions take few steps; jumps and functions that are infinite on one side end as well."""
    calls = []
    functions = {
        "root": lambda x: math.sqrt(x) - math.sqrt(root),
        "line": lambda x: x - root,
        "step": lambda x: 1.0 if x >= root else -1.0,
        "unknown": lambda x: x - root if x > 0.9 * root else -math.inf,
    }

    def function(x):
        calls.append(x)
        return functions[shape](x)

    low, high = roots.narrowed(function, 0.0, 744.0, 1e-15)
    assert functions[shape](low) < 0.0 <= functions[shape](high)
    assert high - low <= 2e-15 * (1.0 + root) + 2.0 * math.ulp(root)
    assert len(calls) < (25 if shape in ("root", "line") else 80)


def test_a_narrow_bracket_ends_at_neighbouring_doubles():
    low, high = roots.narrowed(lambda x: x - 0.3, 0.0, 1.0, 0.0)
    assert high == 0.3 == math.nextafter(low, 1.0)
