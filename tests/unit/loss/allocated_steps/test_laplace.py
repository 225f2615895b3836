import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.allocated_steps.laplace import LaplaceEpoch, laplace_epoch, laws, step_grid
from hockeystick.loss.pairs.laplace import LaplaceLoss


def potential(a, level):
    low, high = mpmath.exp(-a), mpmath.exp(a)
    return 1 - level if level <= low else mpmath.mpf(0) if level >= high else 1 - mpmath.exp(-a / 2) * mpmath.sqrt(level)


@pytest.mark.parametrize(("a", "cells"), [(0.5, 40), (1e-6, 7), (3.0, 100), (8.0, 60), (0.02, 1)])
def test_a_step_is_between_its_laws_in_convex_order(a, cells):
    step, shrink = step_grid(a, cells)
    with mpmath.workdps(50):
        a = mpmath.mpf(a)
        h = 2 * mpmath.sinh(a) / cells
        points = [mpmath.exp(-a) + h * k for k in range(cells + 1)]
        values = [potential(a, point) for point in points]
        slopes = [mpmath.mpf(-1), *((two - one) / h for one, two in pairwise(values)), mpmath.mpf(0)]
        masses = [after - before for before, after in pairwise(slopes)]
        for k, mass in enumerate(masses):
            assert abs(mpmath.mpf(float(np.exp(step.log_q[k]))) / mass - 1) <= 2 * step.error + 1e-15
            assert abs(step.away[k] - (points[k] - 1)) <= 1e-15 * (1 + abs(points[k]))
        left = 1 - mpmath.mpf(shrink)
        for z in np.linspace(-float(a) * 1.01, float(a) * 1.01, 301):
            level = mpmath.exp(mpmath.mpf(float(z)))
            above = mpmath.fsum(mass * max(point - level, 0) for mass, point in zip(masses, points, strict=True))
            below = mpmath.fsum(mass * max(1 + left * (point - 1) - level, 0) for mass, point in zip(masses, points, strict=True))
            assert below <= potential(a, level) <= above + mpmath.mpf(10) ** -40


def test_finer_grids_are_closer():
    shrinks = [step_grid(1.0, cells)[1] for cells in (100, 200, 400)]
    assert shrinks[0] / shrinks[1] == pytest.approx(4.0, rel=0.05)
    assert shrinks[1] / shrinks[2] == pytest.approx(4.0, rel=0.05)


def test_rows_and_ends():
    loss = laplace_epoch(LaplaceLoss(0.5), 10, (True, False))
    assert loss.tight
    assert loss.rows == 2
    high, low = loss.dominating[0], loss.members[0]
    for row, removal in ((0, True), (1, False)):
        one = high.ordered_pair(row)
        assert isinstance(one, LaplaceEpoch)
        assert one.removal is removal
        assert one.ceiling == pytest.approx(0.5, rel=1e-14)
        assert low.ordered_pair(row).closed(0.1).low <= one.closed(0.1).high
    assert laws(0.5, 10) is laws(0.5, 10)


def test_less_noise_and_fewer_steps_are_worse():
    values = [hs.Laplace(scale=scale).allocated(steps=steps).epsilon(1e-6) for scale, steps in ((3.0, 20), (2.0, 20), (2.0, 5))]
    assert values == sorted(values)
    assert math.isclose(hs.Laplace(scale=2.0).allocated(steps=5).epsilon(0.0), 0.5, rel_tol=1e-12)
