"""Sums of clipped contributions: each within its bound, added up without rounding."""

from fractions import Fraction

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.draws.contributions import clipped_sum, noisy_sum


def exact_norm(row, norm):
    return sum(abs(one) ** norm for one in row)


@pytest.mark.parametrize("norm", [1, 2])
@pytest.mark.parametrize("bound", [1.0, 0.1, 3e-200, 1e150])
def test_each_contribution_is_within_its_bound(norm, bound):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(60, 7)) * 10.0 ** rng.uniform(-3, 3, size=(60, 1))
    rows[:20] /= (np.abs(rows[:20]) ** norm).sum(axis=1, keepdims=True) ** (1 / norm)  # of norm 1, as doubles have it
    rows[20, 1:] = 0.0
    rows[21] = 0.0
    rows = rows * bound
    rows[22, 0] = 1.7e308
    for row in rows:
        steps, grid = clipped_sum(row[None], np.array([1]), bound, norm, bound)
        clipped = [one * Fraction(2) ** grid for one in steps]
        assert exact_norm(clipped, norm) <= Fraction(bound) ** norm
        if exact_norm(map(Fraction, row.tolist()), norm) <= Fraction(bound) ** norm:
            assert max(abs(a - Fraction(b)) for a, b in zip(clipped, row.tolist(), strict=True)) <= Fraction(bound) / 2**39
        elif abs(row[0]) < 1e300:
            assert exact_norm(clipped, norm) >= Fraction(bound) ** norm * (1 - Fraction(1, 2**30))


def test_what_is_one_stays_one():
    rows = np.eye(5)
    for norm in (1, 2):
        total, grid = clipped_sum(rows, np.ones(5, dtype=np.int64), 1.0, norm, 1.0)
        assert total == [2**-grid] * 5
    total, grid = clipped_sum(np.array([[1.0], [-3.0], [0.25]]), np.array([2, 1, 4]), 1.0, 2, 1.0)
    assert total == [2 * 2**-grid]


def test_a_record_moves_the_sum_by_itself_only():
    """However the others are ordered, and however large they are: there is no rounding on the way."""
    rng = np.random.default_rng(4)
    rows, times = rng.normal(size=(500, 3)), np.ones(500, dtype=np.int64)
    whole, grid = clipped_sum(rows, times, 1.0, 2, 5.0)
    alone, same = clipped_sum(rows[:1], times[:1], 1.0, 2, 5.0)
    rest, _ = clipped_sum(rows[1:][::-1], times[1:], 1.0, 2, 5.0)
    assert same == grid
    assert [a + b for a, b in zip(alone, rest, strict=True)] == whole


@pytest.mark.parametrize("spread", [1.0, 1e-6, 1e5, 1e30])
def test_the_noisy_sum_is_rounded_once(spread):
    rows = np.full((1000, 2), 0.3)
    total, grid = clipped_sum(rows, np.ones(1000, dtype=np.int64), 1.0, 2, spread)
    found = noisy_sum(total, grid, lambda values: hs.Gaussian(sigma=spread, sensitivity=spread).release(values), spread)
    assert np.abs(found - 300.0).max() < 8.0 * spread + 1e-6


def test_contributions_are_finite():
    for wrong in (np.nan, np.inf):
        with pytest.raises(hs.BadValue, match="records"):
            clipped_sum(np.array([[wrong, 1.0]]), np.array([1]), 1.0, 2, 1.0)
