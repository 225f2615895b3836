import math

import numpy as np
import pytest
from scipy.special import ndtr

from hockeystick.loss.allocated.capped import Cap, CappedTransform
from hockeystick.loss.allocated.capped_loss import CappedLoss, cap_for, log_lost
from hockeystick.loss.allocated.capped_moments import CappedMoments
from hockeystick.loss.allocated.moments import AllocatedStep
from hockeystick.numerics.trapezoid import Cells

STEP = AllocatedStep(0.1, 30)


def test_what_is_lost_is_bounded():
    cap = Cap(4.0, 6.0)
    x = np.arange(-10.0, 12.0, 0.001)
    lost = -np.expm1(-np.exp(6.0 * (x - 4.0)))
    density = [np.exp(-0.5 * (x - mean) ** 2) * (0.001 / math.sqrt(2.0 * math.pi)) for mean in (0.1, 0.0)]
    truth = float(lost @ density[0] + 29.0 * (lost @ density[1]))
    assert truth <= math.exp(log_lost(STEP, cap)) <= 3.0 * truth
    assert math.exp(log_lost(STEP, cap)) >= ndtr(-4.0) * 15.0


def test_the_cap_loses_no_more_than_is_allowed():
    for allowed in (-20.0, -90.0):
        cap = cap_for(STEP, allowed)
        assert allowed - 0.1 <= log_lost(STEP, cap) <= allowed


def test_the_guide_the_bound_and_the_decay():
    loss = CappedLoss(STEP, Cap(9.0, 6.0))
    c = 255.0
    value, first, second = loss.expand(c)
    exact = [
        CappedMoments(CappedTransform(STEP, loss.cap, 14.0, 60.0), 1.0 + c + d, loss.place(1.0 + c)).log_ends()
        for d in (-4.0, 0.0, 4.0)
    ]
    middle = [0.5 * (low + high) for low, high in exact]
    assert value == pytest.approx(middle[1], rel=0.01)
    assert first == pytest.approx((middle[2] - middle[0]) / 8.0, rel=0.01)
    assert second == pytest.approx((middle[2] - 2.0 * middle[1] + middle[0]) / 16.0, rel=0.05)
    made = loss.slice(c, c + 30.0, 1)
    assert exact[1][0] <= made.cumulant_above(np.array([c]))[0, 0] <= exact[1][1] + 1e-3
    values, errors = made.values(40.0, 12)
    cells = Cells(40.0)
    fall = np.interp(40.0 * np.arange(1, 12), cells.left, made.decay(cells)[0])
    assert np.all(values[0, 0].real - values[0, 1:].real >= fall - errors[0, 1:] - 1e-9)
