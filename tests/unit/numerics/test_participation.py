"""The sensitivity over participation patterns against all patterns, all signs, listed one by one."""

import itertools

import numpy as np
import pytest

from hockeystick.numerics import participation

RANDOM = np.random.default_rng(20)


def _patterns(steps, most, apart, exactly):
    for size in range(1, most + 1):
        for pattern in itertools.combinations(range(steps), size):
            gaps = np.diff(pattern)
            if (gaps == apart).all() if exactly else (gaps >= apart).all():
                yield pattern


def _listed(matrix, most, apart, exactly=False):
    """The largest |sum of signed columns|^2, and the largest sum of |inner products|."""
    signed = bound = 0.0
    for pattern in _patterns(matrix.shape[1], most, apart, exactly):
        columns = matrix[:, pattern]
        bound = max(bound, float(np.abs(columns.T @ columns).sum()))
        for signs in itertools.product((1.0, -1.0), repeat=len(pattern) - 1):
            moved = columns @ np.array((1.0, *signs))
            signed = max(signed, float(moved @ moved))
    return signed, bound


def _toeplitz(first, steps):
    return np.array([[first[i - j] if 0 <= i - j < len(first) else 0.0 for j in range(steps)] for i in range(steps)])


def _tree(steps):
    spans = [(place << level, (place + 1) << level) for level in range(steps.bit_length()) for place in range(steps >> level)]
    return np.array([[float(low <= step < high) for step in range(steps)] for low, high in spans])


@pytest.mark.parametrize("case", range(60))
def test_any_matrix(case, monkeypatch):
    steps, most = int(RANDOM.integers(1, 13)), int(RANDOM.integers(1, 5))
    apart, exactly = int(RANDOM.integers(1, steps + 1)), case % 4 == 0
    matrix = np.tril(RANDOM.random((steps, steps)) if case % 2 else RANDOM.normal(size=(steps, steps)))
    if case % 3 == 0:
        matrix = np.triu(matrix, -int(RANDOM.integers(0, steps)))
    signed, bound = _listed(matrix, most, apart, exactly)
    low, high = participation.dense(matrix, most, apart, exactly)
    assert low <= signed * (1.0 + 1e-12)
    assert bound * (1.0 - 1e-12) <= high <= bound * (1.0 + 1e-12)
    if (matrix >= 0.0).all():
        assert low >= bound * (1.0 - 1e-12)
    monkeypatch.setattr(participation, "LISTED", 0)
    low, high = participation.dense(matrix, most, apart, exactly)
    assert low <= signed * (1.0 + 1e-12)
    assert bound * (1.0 - 1e-12) <= high <= 1.3 * bound


@pytest.mark.parametrize("case", range(40))
def test_toeplitz_matrices(case):
    steps, most = int(RANDOM.integers(1, 11)), int(RANDOM.integers(1, 5))
    apart, bands = int(RANDOM.integers(1, steps + 1)), int(RANDOM.integers(1, steps + 1))
    falling = case % 2 == 0
    first = np.sort(RANDOM.random(bands))[::-1] if falling else RANDOM.normal(size=bands)
    signed, bound = _listed(_toeplitz(first, steps), most, apart)
    low, high = participation.toeplitz(first, steps, most, apart)
    assert low <= signed * (1.0 + 1e-12)
    assert high >= bound * (1.0 - 1e-12)
    if falling or bands <= apart:
        assert low >= bound * (1.0 - 1e-12)
        assert high <= bound * (1.0 + 1e-12)


@pytest.mark.parametrize("steps", [1, 2, 3, 7, 8, 12])
def test_trees(steps):
    for most, apart in itertools.product((1, 2, 4), range(1, steps + 1)):
        signed, bound = _listed(_tree(steps), most, apart)
        low, high = participation.tree(steps, most, apart)
        assert low <= signed == bound <= high
        if most == 1:
            assert low == high == steps.bit_length()


def test_the_bound_by_rows_is_never_above_that_of_whole_rows():
    """[CC23] Algorithm 4, which JAX Privacy has."""
    for _ in range(8):
        weights = RANDOM.random((14, 14))
        weights = weights + weights.T
        most, apart = int(RANDOM.integers(1, 5)), int(RANDOM.integers(1, 6))
        gaps = np.abs(np.subtract.outer(np.arange(14), np.arange(14)))
        weights[(gaps > 0) & (gaps < apart)] = 0.0
        whole = [max(row[list(one)].sum() for one in _patterns(14, most, apart, False)) for row in weights]
        theirs = max(sum(whole[i] for i in one) for one in _patterns(14, most, apart, False))
        assert participation.by_rows(weights, most, apart)[0] <= theirs * (1.0 + 1e-12)
