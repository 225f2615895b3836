"""All sums of one half against all sums of the other."""

import math

import numpy as np
import pytest

from hockeystick.numerics.meet_in_middle import EnumeratedSum, PairedHalves, too_wide
from hockeystick.numerics.two_point_sums import TwoPointSum


def test_two_lists_against_all_pairs_of_them():
    rng = np.random.default_rng(3)
    these, those = (np.sort(rng.normal(size=size)) for size in (7, 11))
    p, q = rng.dirichlet(np.ones(7)), rng.dirichlet(np.ones(11))
    halves = PairedHalves((these, np.log(p)), (those, np.log(q)))
    for x in (-1.0, 0.0, 0.7, 2.0):
        gap = x - (these[:, None] + those)
        inside = np.where(gap < 0.0, -np.expm1(np.minimum(gap, 0.0)), 0.0)
        found = halves.hockey_stick(x)[0]
        assert math.log(found) + halves.scale == pytest.approx(math.log(float(p @ inside @ q)), abs=1e-12)


def test_what_spreads_over_more_than_the_doubles_is_too_wide():
    narrow = np.array([0.0, 1.0]), np.log(np.array([0.5, 0.5]))
    assert not too_wide(narrow)
    assert too_wide((narrow[0], np.array([0.0, -2000.0])))


def test_too_many_different_sums_are_not_listed():
    few, many = (TwoPointSum(np.geomspace(0.01, 0.5, size), np.ones(size)) for size in (12, 400))
    assert EnumeratedSum.of(few, 0.5) is not None
    assert EnumeratedSum.of(many, 0.5) is None
