"""A sampled step on plain nodes, to a few digits."""

import numpy as np
import pytest

from hockeystick.loss.bigjump.coarse import CoarseStep
from threshold_cases import SHAPE, THRESHOLDS, X, integral, nu, power


def test_the_coarse_step_is_right_to_a_few_digits():
    coarse = CoarseStep(SHAPE, 1, 22.0, 0.0)
    for k in (1.5, 4.0, 12.0):  # whose integrand has died out at 22: it peaks at k over the noise
        assert coarse.remainder(np.array([k])).sum() == pytest.approx(integral(power(k, X) - 1.0 - k * X), rel=1e-3)
    sums = coarse.pieces(coarse.flat, np.zeros(1), THRESHOLDS.high, THRESHOLDS.high_width)[:, 0]
    assert sums == pytest.approx([integral(nu(X)), integral(nu(X) * X)], rel=1e-2)
