"""Bounded ranges used once or twice."""

import pytest
from flint import ctx

import hockeystick as hs


@pytest.fixture(autouse=True)
def bits():
    """Balls of many bits, for this file only."""
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


@pytest.mark.parametrize(
    ("epsilon", "count", "delta"), [(2.3, 1, 5e-10), (1.1, 1, 3.5e-7), (0.075, 2, 2.4e-17), (0.07, 1, 5e-34)]
)
def test_bounded_ranges_used_once_or_twice(epsilon, count, delta):
    """The best shift lies next to an end: the pair of one use is attained."""
    ends = (hs.Exponential(epsilon) * count).epsilon_bounds(delta)
    assert ends.width < 1e-7 * ends.upper
