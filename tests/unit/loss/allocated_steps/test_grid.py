import math
from fractions import Fraction

import numpy as np
import pytest

from hockeystick.loss.allocated_steps.grid import StepGrid, summed


def grid(masses):
    """A step on points around its mean."""
    total = sum(masses)
    mean = Fraction(sum(k * mass for k, mass in enumerate(masses)), total)
    away = np.array([float(k - mean) for k in range(len(masses))]) / len(masses)
    return StepGrid(away, np.log(np.array(masses) / total), 1e-15)


def power(masses, steps):
    found = [1]
    for _ in range(steps):
        after = [0] * (len(found) + len(masses) - 1)
        for i, one in enumerate(found):
            for k, mass in enumerate(masses):
                after[i + k] += one * mass
        found = after
    return found


@pytest.mark.parametrize(("masses", "steps"), [((3, 1, 1, 2), 40), ((50, 1, 1, 1, 7), 60), ((1, 1), 100), ((1, 2, 3), 1)])
def test_masses_far_out_are_known_relatively(masses, steps):
    found = summed(grid(masses), steps)
    truth = power(masses, steps)
    total = sum(masses) ** steps
    assert found.away.size == len(truth)
    assert math.isclose(float(np.exp(found.log_mass[found.first : found.last]).sum()), 1.0, rel_tol=1e-12)
    for k in range(found.first, found.last):
        exact = math.log(truth[k]) - math.log(total)
        assert abs(found.log_mass[k] - exact) <= 1.01 * (found.noise[k] + found.error), k
    assert found.noise[found.first : found.last].max() < 1e-4


def test_what_is_not_reached_is_bounded():
    masses, steps = (1, 1, 1), 1500
    found = summed(grid(masses), steps)
    assert found.first > 0
    assert found.last < found.away.size
    assert found.tilts > 3
    # by Hoeffding at least, and no less than the outermost point
    assert -steps * math.log(3.0) <= found.log_above <= -200.0
    assert found.log_above == pytest.approx(found.log_below, rel=0.05)
    assert found.log_above >= found.log_mass[found.last - 1] - 1.0
