import math

import numpy as np
import pytest

from hockeystick.loss.allocated.moments import AllocatedStep, Moments, power_coefficients, power_rounding


@pytest.mark.parametrize(("steps", "n"), [(20, 6), (3, 9)])
def test_powers_of_a_series(steps, n):
    b = np.random.default_rng(1).random((4, n)) + 1j * np.random.default_rng(2).random((4, n))
    found, bound = power_coefficients(b, steps), power_coefficients(np.abs(b), steps)
    for row in range(4):
        exact = np.array([1.0 + 0j])
        for _ in range(steps):
            exact = np.convolve(exact, np.append(1.0, b[row]))
        assert np.all(np.abs(found[row] - exact[: n + 1]) <= 10.0 * power_rounding(n, steps) * bound[row])


def test_moments_grow_and_are_bounded():
    step = AllocatedStep(1.0, 50)
    moments = Moments(step)
    orders = [0.0, 0.5, 1.0, 1.5, 2.0, 3.3, 10.0, 1e3]
    values = [moments.above(q) for q in orders]
    assert values[:3] == [0.0, 0.0, 0.0]
    assert values == sorted(values)
    assert math.isclose(moments.above(2.0), math.log1p(math.expm1(1.0) / 50.0), rel_tol=1e-11)
    assert all(value <= step.log_moment_bound(q) for q, value in zip(orders, values, strict=True))
