import math

import numpy as np
import pytest

from hockeystick.loss.allocated_steps.cells import law_above, law_below
from hockeystick.loss.allocated_steps.grid import summed
from hockeystick.loss.allocated_steps.laplace import step_grid


def potential(away, mass, level):
    return float(mass @ np.maximum(away - level, 0.0))


@pytest.mark.parametrize(("a", "cells", "steps"), [(0.5, 300, 50), (1e-5, 2, 9), (2.0, 64, 3), (0.3, 100, 2000)])
def test_one_law_is_above_and_one_below_in_convex_order(a, cells, steps):
    step, shrink = step_grid(a, cells)
    found = summed(step, steps)
    above, below = law_above(step, found, (-a, a)), law_below(step, found, (-a, a), shrink)
    known = slice(found.first, found.last)
    away, mass = found.away[known], np.exp(found.log_mass[known])
    for law in (above, below):
        assert math.isclose(float(np.exp(law.log_a).sum()), 1.0, rel_tol=1e-12)
        assert math.isclose(float(np.exp(law.log_a + law.z).sum()), 1.0, rel_tol=1e-11)
        assert (np.diff(law.z) > 0.0).all()
        assert law.error < 1e-5
    spread = math.sqrt(float(mass @ away**2))
    for level in spread * np.array([-3.0, -1.0, -0.1, 0.0, 0.2, 1.0, 2.5]):
        true = potential(away, mass, level)
        low, high = (potential(np.expm1(law.z), np.exp(law.log_a), level) for law in (below, above))
        assert low <= true + 1e-12 * spread
        assert true <= high + 1e-12 * spread
        assert high - low <= (3.0 * shrink + 1e-4) * spread
    assert above.z[0] == -a
    assert above.z[-1] == a
    assert below.z[-1] <= a


def test_a_shrunk_law_is_refused_where_nothing_is_left():
    step, shrink = step_grid(11.0, 2)
    found = summed(step, 4)
    assert law_below(step, found, (-11.0, 11.0), max(shrink, 0.6)) is None
