"""The exponential mechanism: its dominating pair against its definition, and what is attained used once or twice."""

import math

import numpy as np
import pytest
from flint import ctx

import hockeystick as hs
from hockeystick.loss.pairs.bounded_range import BoundedRangeLoss


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


EPSILONS = [1e-3, 0.3, 1.0, 6.0]


def law(epsilon: float, count: int = 200_000) -> tuple[np.ndarray, np.ndarray]:
    """The density proportional to e^{z/2} on [-epsilon, epsilon], at midpoints."""
    z = epsilon * (np.arange(count) + 0.5) / count * 2.0 - epsilon
    weight = np.exp(0.5 * z)
    return z, weight / weight.sum()


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_pair_is_its_density(epsilon):
    loss, (z, p) = BoundedRangeLoss(epsilon), law(epsilon)
    assert loss.mean()[0] == pytest.approx(float(p @ z), rel=1e-7)
    for c in (-0.8, -0.5, 0.2, 1.0, 7.0):
        weight = p * np.exp(c * z)
        value, slope, bend = loss.expand(c)
        mean = float(weight @ z / weight.sum())
        assert value == pytest.approx(math.log(weight.sum()), rel=1e-4, abs=1e-9)
        assert slope == pytest.approx(mean, rel=1e-3, abs=1e-3 * epsilon)
        assert bend == pytest.approx(float(weight @ (z - mean) ** 2 / weight.sum()), rel=0.02)
        if c > 0.0:
            assert loss.cumulant_bound(c) >= value
    edges = np.linspace(-1.1, 1.1, 12) * epsilon
    log_p, log_q, _ = loss.masses(edges)
    place = np.searchsorted(edges, z)
    assert np.exp(log_p) == pytest.approx(np.bincount(place, p, edges.size + 1), abs=1e-5)
    assert np.exp(log_q) == pytest.approx(np.bincount(place, p * np.exp(-z), edges.size + 1), abs=1e-5)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_profile_of_one_use(epsilon):
    """(e^{a/2} - e^{x/2})^2/(e^a - 1), the mean of (1 - e^{x - Z})+."""
    loss, (z, p) = BoundedRangeLoss(epsilon), law(epsilon)
    for share in (-1.2, -0.7, 0.0, 0.4, 0.9):
        x = share * epsilon
        truth = float(p @ np.maximum(-np.expm1(x - z), 0.0))
        found = loss.closed(x)
        assert math.exp(found.value) == pytest.approx(truth, rel=1e-5)
        assert found.high - found.low < 1e-9
    assert loss.closed(epsilon * (1.0 + 1e-9)).value == -math.inf


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_every_shift_lies_below_the_pair(epsilon):
    """And the best shift touches its profile at each x of one use."""
    loss = BoundedRangeLoss(epsilon)
    for x in (0.1 * epsilon, 0.6 * epsilon):
        every = [loss.shifted(share).closed(x).value for share in np.linspace(0.0, 1.0, 801)[1:-1].tolist()]
        assert max(every) <= loss.closed(x).high
        assert max(every) == pytest.approx(loss.closed(x).value, abs=1e-4)
