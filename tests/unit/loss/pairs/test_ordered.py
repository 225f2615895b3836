"""Several ordered pairs as the rows of one loss: each row is that pair, and what is said of all holds for each."""

import math

import numpy as np

from hockeystick.loss.pairs.bounded_range import BoundedRangeLoss
from hockeystick.loss.pairs.discrete import ResponseLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.pairs.ordered import OrderedPairsLoss, ordered_pairs
from hockeystick.numerics.trapezoid import Cells

LOSSES = [LaplaceLoss(0.5), LaplaceLoss(0.9), ResponseLoss(0.3)]


def test_equal_losses_are_one():
    assert ordered_pairs([LOSSES[0]] * 3) is LOSSES[0]
    assert ordered_pairs(LOSSES) == OrderedPairsLoss(tuple(LOSSES))


def test_what_is_said_of_all_holds_for_each():
    both = ordered_pairs(LOSSES)
    assert both.rows == 3
    assert [both.ordered_pair(row) for row in range(3)] == LOSSES
    assert both.ceiling == max(loss.ceiling for loss in LOSSES)
    assert both.nodes_allowed == min(loss.nodes_allowed for loss in LOSSES)
    assert both.has_slice
    assert both.log_truncated_mass == -math.inf
    for c in (0.3, 4.0):
        assert both.cumulant_bound(c) == max(loss.cumulant_bound(c) for loss in LOSSES)
    assert both.expand(1.0) == LOSSES[0].expand(1.0)
    assert both.closed(0.1) is None


def test_a_slice_has_one_row_for_each():
    stacked = ordered_pairs(LOSSES).slice(1.2, 3.0, 50)
    cells, points = Cells(0.5), np.array([0.4, 1.2, 3.0])
    values, errors = stacked.values(0.7, 9)
    for row, loss in enumerate(LOSSES):
        alone = loss.slice(1.2, 3.0, 50)
        found, off = alone.values(0.7, 9)
        assert np.array_equal(values[row], found[0])
        assert np.array_equal(errors[row], off[0])
        assert np.array_equal(stacked.cumulant_above(points)[row], alone.cumulant_above(points)[0])
        assert np.array_equal(stacked.decay(cells)[row], alone.decay(cells)[0])
        assert np.array_equal(stacked.keep([row]).values(0.7, 9)[0], found)


def test_bounds_of_all_are_those_of_each():
    """The exponential mechanism is known by bounds; so is a pair of two of them, and a shift of it shifts each."""
    pairs = [BoundedRangeLoss(0.5), BoundedRangeLoss(0.8)]
    both = ordered_pairs(pairs)
    assert [cover.losses for cover in both.dominating] == [
        (one, two) for one, two in zip(*(p.dominating for p in pairs), strict=True)
    ]
    assert [member.losses for member in both.members] == [tuple(p.members[0] for p in pairs)]
    assert both.shifted(0.3).losses == tuple(p.shifted(0.3) for p in pairs)
    exact = ordered_pairs(LOSSES)
    assert exact.exact
    assert exact.dominating == exact.members == (exact,)
