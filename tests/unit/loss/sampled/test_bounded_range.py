"""A sampled exponential mechanism: what it attains lies below what bounds it, for each shift and each question."""

import math

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.pairs.bounded_range import BoundedRangeLoss
from hockeystick.loss.sampled.bounded_range import SampledBoundedRangeLoss


@pytest.mark.parametrize("removal", [True, False])
@pytest.mark.parametrize(("epsilon", "rate"), [(0.3, 0.01), (1.0, 0.3), (4.0, 0.8)])
def test_every_shift_is_dominated(epsilon, rate, removal):
    loss = SampledBoundedRangeLoss(BoundedRangeLoss(epsilon), rate, removal)
    cover, curve = loss.dominating
    assert loss.members == (loss.shifted(0.5),)
    for share in np.linspace(0.05, 0.95, 10).tolist():
        pair = loss.shifted(share)
        for at in np.linspace(0.0, 1.05, 12).tolist():
            low, high = pair.closed(at * cover.ceiling).low, cover.closed(at * cover.ceiling).high
            assert low <= high + 1e-12
        for c in (0.5, 2.0, 20.0):
            assert pair.expand(c)[0] <= min(cover.cumulant_bound(c), curve.cumulant_bound(c)) + 1e-9
        assert pair.ceiling <= cover.ceiling * (1.0 + 1e-12)


def test_all_of_it_sampled_is_the_mechanism():
    """At the rate 1 the pair is that of the plain mechanism, by the door for users."""
    plain, whole = hs.Exponential(0.7), hs.Exponential(0.7).poisson(rate=1.0)
    assert whole.epsilon_bounds(1e-3) == plain.epsilon_bounds(1e-3)


def test_the_best_shift_attains_one_use():
    """Some shift touches the dominating profile at each epsilon: it is tight for one use."""
    cover = SampledBoundedRangeLoss(BoundedRangeLoss(1.0), 0.3, True)
    for at in (0.1, 0.3):
        best = max(cover.shifted(share).closed(at).value for share in np.linspace(0.3, 1.0, 700)[:-1].tolist())
        assert best == pytest.approx(cover.dominating[0].closed(at).value, abs=1e-4)
        assert math.isfinite(best)
