"""Few steps of Laplace noise in closed form, against the step before and the same sum in higher precision."""

import math
import random

import mpmath as mp
import pytest

import hockeystick as hs
from hockeystick.loss.pairs.laplace_closed import MOST, few_laplace_steps
from laplace_sum import exact
from oracle import laplace_delta


@pytest.mark.parametrize(("a", "count", "epsilon"), [(2.0, 1, 0.7), (0.3, 1, -0.2), (2.0, 2, 2.5), (0.7, 3, 0.3), (1.5, 4, 5.9)])
def test_one_step_more(a: float, count: int, epsilon: float) -> None:
    """delta(epsilon) is the mean of delta(epsilon - Z) of a step less."""
    with mp.workdps(25):
        places = sorted({-mp.mpf(a), mp.mpf(a), *(p for p in (epsilon - a * n for n in range(-count, count + 1)) if abs(p) < a)})
        mean = mp.quad(lambda z: mp.exp((z - a) / 2) / 4 * exact(a, count, epsilon - z), places)
        mean += exact(a, count, mp.mpf(epsilon) - a) / 2 + mp.exp(-mp.mpf(a)) / 2 * exact(a, count, mp.mpf(epsilon) + a)
        assert abs(mean / exact(a, count + 1, epsilon) - 1) < 1e-18
        if count == 1:
            assert abs(exact(a, 1, epsilon) + mp.expm1((mp.mpf(epsilon) - a) / 2)) < 1e-20


@pytest.mark.parametrize(("a", "count", "epsilon"), [(2.0, 2, 2.5), (0.7, 3, 0.3), (1.5, 5, 5.9), (0.1, 8, 0.2), (4.0, 7, 20.0)])
def test_from_the_law_of_the_sum(a: float, count: int, epsilon: float) -> None:
    """Another sum, in ball arithmetic."""
    with mp.workdps(30):
        assert abs(mp.mpf(laplace_delta(a, count, epsilon).mid().str(40, radius=False)) / exact(a, count, epsilon) - 1) < 1e-25


@pytest.mark.parametrize("seed", range(120))
def test_bounds_hold_and_are_close(seed: int) -> None:
    rng = random.Random(seed)
    count = rng.choice((2, 3, 4, 5, 8, 13, 30, MOST))
    a = 10.0 ** rng.uniform(-4.0, math.log10(150.0 / count))
    epsilon = rng.choice((rng.uniform(-0.5, 1.0), 1.0 - 10.0 ** rng.uniform(-13.0, -1.0))) * count * a
    found = few_laplace_steps(a, count, epsilon)
    assert found is not None
    with mp.workdps(40):
        true = mp.log(exact(a, count, epsilon))
        assert found.low <= true <= found.high
    # what an error of epsilon by a unit makes is not counted
    assert found.error < 1e-11 + 1e-14 * abs(found.slope) * (abs(epsilon) + count * a)
    moved = few_laplace_steps(a, count, epsilon + 1e-7 * a)
    if moved is not None and epsilon + 1e-5 * a < count * a:
        assert (moved.value - found.value) / (1e-7 * a) == pytest.approx(found.slope, rel=1e-2, abs=1e-3)


def test_the_ends() -> None:
    assert few_laplace_steps(1.0, 4, 4.1).high == -math.inf  # type: ignore[union-attr]
    assert -40.0 < few_laplace_steps(1.0, 4, 4.0).high < -30.0  # type: ignore[union-attr]
    assert few_laplace_steps(1.0, MOST + 1, 4.0) is None
    assert few_laplace_steps(1.0, 4, -4.5) is None
    assert few_laplace_steps(1e3, 4, 0.0) is None


@pytest.mark.parametrize(("scale", "count"), [(0.5, 2), (0.5, 4), (3.0, 12), (20.0, 40), (1.0, 60)])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.05])
def test_from_the_users_call(scale: float, count: int, delta: float) -> None:
    run = hs.Laplace(scale=scale) * count
    ends = run.epsilon_bounds(delta)
    assert ends.upper - ends.lower <= 1e-12 * ends.upper + 1e-15
    assert exact(1.0 / scale, count, mp.mpf(ends.upper)) <= delta * (1 + 1e-15)
    assert ends.lower == 0.0 or exact(1.0 / scale, count, mp.mpf(ends.lower)) >= delta * (1 - 1e-15)
