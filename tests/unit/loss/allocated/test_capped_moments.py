"""E L^q of the weighed law against double sums."""

import math

import numpy as np
import pytest

from hockeystick.loss.allocated.capped import Cap, CappedTransform
from hockeystick.loss.allocated.capped_moments import CappedMoments
from hockeystick.loss.allocated.moments import AllocatedStep


def weighed(cap, x):
    return np.exp(-0.5 * x * x - np.exp(cap.sharpness * (x - cap.place))) / math.sqrt(2.0 * math.pi)


def truth(t, cap, q):
    """Of two steps, by a plain sum over both."""
    x = np.arange(-11.0, cap.place + 1.0, 0.02)
    weight, y = 0.02 * weighed(cap, x), np.exp(t * x - 0.5 * t * t)
    return complex(weight @ (0.5 * (y[:, None] + y)) ** q @ weight)


@pytest.mark.parametrize(("t", "a"), [(0.1, 30.0), (0.2, 20.0)])
def test_moments_are_within_their_error(t, a):
    step, cap = AllocatedStep(t, 2, 0.0), Cap(9.0, 6.0)
    made = CappedMoments(CappedTransform(step, cap, 0.7 * a, 4.0 * a), a, a)
    u = np.array([0.0, 1.3, 7.0])
    value, error = made.values(u)
    for place in range(u.size):
        exact = truth(t, cap, complex(a, u[place]))
        found = np.exp(value[place])
        assert abs(found / exact - 1.0) <= error[place] + 1e-12
    assert error[0] <= 1e-7
    low, high = made.log_ends()
    assert low <= math.log(truth(t, cap, a).real) + 1e-12
    assert math.log(truth(t, cap, a).real) - 1e-12 <= high
