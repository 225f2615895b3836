"""The trapezoidal rule over the noise of a thresholded step: its error along a path, against a rule with a shorter step."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from hockeystick.loss.bigjump.path import LEVELS, RuleCells
from hockeystick.loss.protocol import Inconclusive
from threshold_cases import SHAPE, THRESHOLDS, X, integral, nu


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("log_goal", [-20.0, -30.0])
def test_the_rule_errs_by_no_more_than_it_says(log_goal):
    """E nu (1 + x), for several places of the nodes."""
    cells = RuleCells(SHAPE, THRESHOLDS, 400.0)
    tilt = np.log(2.0 * SHAPE.rate + 1.0 + cells.x[cells.broad_cells(True)][1:])
    step, error = cells.choose_step(True, tilt, log_goal)
    assert error <= math.exp(log_goal)
    truth = integral(nu(X) * (1.0 + X))
    for share in (0.0, 0.3, 0.7):
        z = np.arange(-14.0 + share * step, 22.0, step)
        x = SHAPE.rate * np.expm1(z / SHAPE.noise - 0.5 / SHAPE.noise**2)
        inside = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi) * ndtr((x - THRESHOLDS.high) / THRESHOLDS.high_width) * (1.0 + x)
        assert abs(step * inside.sum() - truth) <= error + 1e-15


@pytest.mark.usefixtures("arithmetic")
def test_less_error_takes_a_shorter_step_and_none_is_refused():
    cells = RuleCells(SHAPE, THRESHOLDS, 400.0)
    tilt = np.zeros(cells.x[cells.broad_cells(True)].size - 1)
    steps = [cells.choose_step(True, tilt, goal)[0] for goal in (-15.0, -25.0, -60.0)]
    assert steps == sorted(steps, reverse=True)
    with pytest.raises(Inconclusive):
        cells.choose_step(True, tilt, -1e7)


def test_paths_stay_where_the_normal_law_is_bounded():
    assert (LEVELS > 0.0).all()
    assert float(LEVELS[0, 0]) < 0.25 * math.pi
    assert float(LEVELS[-1, 0]) < 1e-3
