"""A density between two finite pairs, as a loss."""

import math
from fractions import Fraction as F

from hockeystick.loss.composed import composed
from hockeystick.loss.engines.driver import epsilon_proof
from hockeystick.loss.own.density import DensityLoss, either_order, is_bracketed, reversed_order
from hockeystick.loss.own.finite import FiniteLoss
from hockeystick.loss.pairs.ordered import ordered_pairs

LOW = FiniteLoss(((F(1, 4), F(1, 2)), (F(3, 4), F(1, 2))))
HIGH = FiniteLoss(((F(1, 8), F(1, 2)), (F(7, 8), F(1, 2))))


def test_answers_lie_between_both():
    loss = DensityLoss(LOW, HIGH)
    assert is_bracketed(loss)
    assert is_bracketed(ordered_pairs([loss, reversed_order(loss)]))
    assert not is_bracketed(LOW)
    for one in (loss, loss.drawn(0.1, True), loss.drawn(0.1, False)):
        found = epsilon_proof(composed([(one, 3)]), 0.01)
        ends = [epsilon_proof(composed([(end, 3)]), 0.01) for end in (one.lower, one.upper)]
        assert (found.low, found.high) == (ends[0].low, ends[1].high)
    assert reversed_order(loss).lower == LOW.reversed
    assert loss.ceiling == HIGH.ceiling
    assert DensityLoss(LOW, FiniteLoss(((F(1, 2), F(1)),), F(1, 2))).ceiling == math.inf


def test_either_order_dominates_both():
    both = either_order(DensityLoss(LOW, HIGH))
    for level in (F(1, 2), F(1), F(7, 4)):
        most = max(one.hockey_stick(level) for one in (HIGH, HIGH.reversed))
        assert abs(both.dominating[0].hockey_stick(level) - most) < F(1, 2**1000)
    assert both.members == (LOW, LOW.reversed)
