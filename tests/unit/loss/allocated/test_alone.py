"""One epoch by itself: delta between two lattices."""

import math

import pytest

from allocation_lattice import delta_between
from hockeystick.loss.allocated.alone import Alone, epsilon_alone
from hockeystick.loss.allocated.moments import AllocatedStep


@pytest.mark.parametrize(("sigma", "steps", "epsilon"), [(1.0, 300, 0.2), (2.0, 30, 0.3)])
def test_delta_lies_between_both_lattices(sigma, steps, epsilon):
    low, high = delta_between(sigma, steps, 1, epsilon, True, h=0.02, cap_mass=1e-12)
    least, most, slope = Alone(AllocatedStep(1.0 / sigma, steps), steps * math.exp(epsilon), math.log(0.5 * (low + high))).delta(
        epsilon
    )
    assert low <= most
    assert least <= high
    assert slope < 0.0
    assert most - least <= 1e-6 * most


def test_epsilon_has_both_ends():
    low, high = epsilon_alone(AllocatedStep(1.0, 10**4), math.log(1e-8), 1e-14)
    assert 0.0604 < low <= high < 0.0605
    assert high - low <= 1e-8 * high
