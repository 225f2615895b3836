"""Sums of two-point variables, smoothed, against all of their values."""

import random

import numpy as np
import pytest

from hockeystick.numerics.meet_in_middle import EnumeratedSum
from hockeystick.numerics.two_point_smoothed import GOAL, SmoothedSum, smoothed_sum
from hockeystick.numerics.two_point_sums import TwoPointSum, log_hockey_stick


def test_both_ways_agree_where_both_apply():
    rng = random.Random(6)
    for _ in range(12):
        sizes = np.array(sorted(rng.uniform(0.05, 0.6) for _ in range(rng.randrange(14, 22))))
        signs = TwoPointSum(sizes, np.ones(sizes.size))
        x = rng.uniform(0.0, 0.8) * signs.total
        c = signs.tilt(x)
        listed = EnumeratedSum.of(signs, c)
        assert listed is not None
        low, high, slope = listed.hockey_stick(x)
        smooth = smoothed_sum(signs, c, x, high)
        below, above, other = smooth.hockey_stick(x)
        assert below <= high
        assert low <= above
        assert above - low < 1e-4  # few sums, far apart: less is proved
        assert slope == pytest.approx(other, rel=0.05)
        assert isinstance(smooth, SmoothedSum)


def test_many_different_terms_are_within_the_goal():
    rng = random.Random(5)
    terms = TwoPointSum(np.array(sorted(rng.uniform(0.001, 0.05) for _ in range(500))), np.ones(500))
    for x in (0.2, 1.0, 3.0):
        low, high = log_hockey_stick(terms, x)
        assert 0.0 <= high - low <= GOAL
