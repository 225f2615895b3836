"""What losses share: closed forms, slices side by side, the largest of intervals, what has no masses."""

import math

import numpy as np
import pytest

from hockeystick.loss.pairs.gaussian import GaussianLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.protocol import Care, ClosedForm, ExactLoss, Inconclusive, StackedSlice, WithoutMasses, largest
from hockeystick.numerics.trapezoid import Cells


def test_the_ends_of_a_closed_form():
    found = ClosedForm(-3.0, 1e-12, -1.0)
    assert found.low <= -3.0 - 1e-12 < -3.0 + 1e-12 <= found.high
    assert found._replace(top=-4.0).high == -4.0


def test_the_largest_of_several_unknowns():
    assert largest([(0.0, 3.0), (1.0, 2.0)]) == (1.0, 3.0)
    assert largest([]) == (-math.inf, -math.inf)
    assert largest([(0.0, 3.0), (1.0, math.nan)]) == (-math.inf, math.inf)


def test_slices_side_by_side_are_those_of_each():
    both = [LaplaceLoss(1.0).slice(0.4, 1.0, 3), GaussianLoss(0.5).slice(0.4, 1.0, 3)]
    stacked, points, cells = StackedSlice(tuple(both)), np.array([0.4, 1.0]), Cells(1.0)
    for place, one in enumerate(both):
        assert stacked.cumulant_above(points)[place].tolist() == one.cumulant_above(points)[0].tolist()
        assert stacked.decay(cells)[place].tolist() == one.decay(cells)[0].tolist()
        assert stacked.keep([place]).values(0.2, 4)[0].tolist() == one.values(0.2, 4)[0].tolist()
    assert stacked.values(0.2, 4)[0].shape == (2, 4)


def test_what_has_no_masses_leaves_the_question_to_others():
    with pytest.raises(Inconclusive):
        WithoutMasses().masses(np.zeros(2))
    with pytest.raises(Inconclusive):
        WithoutMasses().edge_error(1.0)


def test_an_exact_loss_is_what_bounds_it():
    loss = LaplaceLoss(1.0)
    assert isinstance(loss, ExactLoss)
    assert loss.dominating == loss.members == (loss,)
    assert loss.shifted(0.3) is loss
    assert loss.exact
    assert loss.tight
    assert not loss.shift_family


def test_care_grows():
    assert Care.MANY < Care.CURVE < Care.ONE
