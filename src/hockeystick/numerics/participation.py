"""How far contributions to several steps move C x: the square of |sum of C's columns times vectors of norm at most 1|.

A pattern is a set of at most `most` steps, any two of them at least `apart` apart (`exactly`: each next one exactly so far).  The
square for a pattern is at most the sum of |X_ij|, X = C^T C, and at least s^T X s for signs s; where X >= 0 they are the same
(docs/mathematics/matrix.md, Lemma 59).  Every function returns both ends, rounded outwards.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .rounding import SECOND_ORDER, UNIT

Array = NDArray[np.float64]
Pattern = tuple[int, ...]
LISTED = 20_000
"""So many patterns are listed one by one; of more, a bound by rows is taken."""
ROUNDS = 30
"""Rounds of the local search for a bad pattern."""


def participations(steps: int, most: int, apart: int) -> int:
    """How often one record can take part at all."""
    return min(most, -(-steps // apart))


def dense(matrix: Array, most: int, apart: int, exactly: bool) -> tuple[float, float]:
    """Both ends for any matrix (the columns are the steps): n^2 memory, n^2 `most` time."""
    gram, size = matrix.T @ matrix, np.abs(matrix).T @ np.abs(matrix)
    error = (matrix.shape[0] + 2.0) * UNIT * SECOND_ORDER * size  # of a product of matrices
    weights = np.minimum(np.abs(gram) + error, size + error) * (1.0 + 4.0 * UNIT)
    steps = len(weights)
    gaps = np.abs(np.subtract.outer(np.arange(steps), np.arange(steps)))
    weights[(gaps > 0) & ((gaps % apart > 0) if exactly else (gaps < apart))] = 0.0  # that never come together
    k = participations(steps, most, apart)
    if exactly:
        patterns = regular(steps, k, apart)
        high, best = max((float(weights[np.ix_(one, one)].sum()), one) for one in patterns)
    elif _listable(steps, k, apart):
        high, best = _listed(weights, k, apart)
    else:
        high, best = by_rows(weights, k, apart)
        best = _searched(weights, [best, *regular(steps, k, apart)], k, apart)
    return _signed(gram, error, best), high * (1.0 + (k * k + 2.0 * k + 8.0) * UNIT * SECOND_ORDER)


def regular(steps: int, most: int, apart: int) -> list[Pattern]:
    """The patterns whose steps are exactly so far apart, from each first step as many as there can be."""
    return [tuple(range(first, steps, apart))[:most] for first in range(steps)]


def by_rows(weights: Array, most: int, apart: int) -> tuple[float, Pattern]:
    """An upper bound of the largest sum of weights over a pattern, exact for a diagonal matrix, and a pattern that it suggests.

    Each row's sum is bounded by itself, over the patterns that its step is in; then a pattern of rows is chosen (Lemma 59).
    """
    left, right = _beside(np.tril(weights, -1), most, apart), _beside(np.triu(weights, 1)[:, ::-1], most, apart)
    rows = np.diag(weights) + np.max([left[a] + right[most - 1 - a] for a in range(most)], axis=0)
    best = [np.zeros(len(rows) + 1)]  # best[a][i]: of at most a of the first i rows
    for _ in range(most):
        before = np.concatenate([np.zeros(min(apart, len(rows))), best[-1][1 : len(rows) - apart + 1]])
        best.append(np.concatenate([[0.0], np.maximum.accumulate(rows + before)]))
    place, chosen = len(rows), []
    for a in range(most, 0, -1):
        while place > 0 and best[a][place] == best[a][place - 1]:
            place -= 1
        if place <= 0:
            break
        chosen.append(place - 1)
        place = max(0, place - apart)
    return float(best[most][-1]), tuple(reversed(chosen))


def _beside(weights: Array, most: int, apart: int) -> list[Array]:
    """For 0, 1, ..., most - 1 participations on one side of its step: the largest sum of each row."""
    best, found = np.zeros_like(weights), [np.zeros(len(weights))]
    for _ in range(most - 1):
        now = weights.copy()
        now[:, apart:] += best[:, :-apart]
        best = np.maximum.accumulate(now, axis=1)
        found.append(best[:, -1])
    return found


def _listable(steps: int, most: int, apart: int) -> bool:
    return sum(math.comb(steps - (size - 1) * (apart - 1), size) for size in range(1, most + 1)) <= LISTED


def _listed(weights: Array, most: int, apart: int) -> tuple[float, Pattern]:
    """The largest sum of all patterns, each looked at."""
    rows, diagonal = weights.tolist(), np.diag(weights).tolist()
    best: tuple[float, Pattern] = (-1.0, ())
    stack: list[tuple[float, Pattern]] = [(0.0, ())]
    while stack:
        value, pattern = stack.pop()
        best = max(best, (value, pattern))
        if len(pattern) < most:
            for step in range(pattern[-1] + apart if pattern else 0, len(rows)):
                more = diagonal[step] + 2.0 * sum(rows[step][other] for other in pattern)
                stack.append((value + more, (*pattern, step)))
    return best


def _searched(weights: Array, starts: Sequence[Pattern], most: int, apart: int) -> Pattern:
    """A pattern with a large sum: the best of these, its steps moved one by one."""
    best = max(starts, key=lambda one: float(weights[np.ix_(one, one)].sum()))
    for _ in range(ROUNDS):
        moved = max(_moves(weights, best, most, apart), key=lambda one: one[0], default=(0.0, best))
        if moved[0] <= float(weights[np.ix_(best, best)].sum()) * (1.0 + 1e-12):
            break
        best = moved[1]
    return best


def _moves(weights: Array, pattern: Pattern, most: int, apart: int) -> Iterator[tuple[float, Pattern]]:
    """The best that one step moved to somewhere else, or one more step, makes of it."""
    diagonal, places = np.diag(weights), np.arange(len(weights))
    for gone in (*pattern, *((None,) if len(pattern) < most else ())):
        rest = [step for step in pattern if step != gone]
        value = float(weights[np.ix_(rest, rest)].sum()) + diagonal + 2.0 * weights[rest].sum(axis=0)
        for step in rest:
            value[np.abs(places - step) < apart] = -1.0
        step = int(np.argmax(value))
        if value[step] > 0.0:
            yield float(value[step]), tuple(sorted([*rest, step]))


def _signed(gram: Array, error: Array, pattern: Pattern) -> float:
    """What the pattern surely attains: by the best signs that flipping one after the other finds."""
    inner, rounding = gram[np.ix_(pattern, pattern)], error[np.ix_(pattern, pattern)]
    signs = np.ones(len(pattern))
    for _ in range(ROUNDS):
        against = signs * (inner @ signs) - np.diag(inner)
        worst = int(np.argmin(against))
        if against[worst] >= 0.0:
            break
        signs[worst] *= -1.0
    found = float(signs @ inner @ signs)
    lost = float(rounding.sum()) + (2.0 * len(pattern) + 4.0) * UNIT * float(np.abs(inner).sum())
    return max(0.0, found - SECOND_ORDER * lost)


def toeplitz(coefficients: Array, steps: int, most: int, apart: int) -> tuple[float, float]:
    """Both ends for the lower triangular Toeplitz matrix with these first entries of its first column.

    For entries >= 0 that do not rise the first regular pattern is the worst; others are bounded by such ones, but for bands
    of which no two that come together overlap (Lemma 60).
    """
    first = np.zeros(steps)
    first[: len(coefficients)] = coefficients[:steps]
    size = np.abs(first)
    k, bands = participations(steps, most, apart), int(np.max(np.nonzero(first)[0])) + 1
    slack = (2.0 * k + steps + 8.0) * UNIT * SECOND_ORDER
    if bands <= apart:
        ends = [float(first[: steps - p * apart] @ first[: steps - p * apart]) for p in range(k)]
        return math.fsum(ends) * (1.0 - slack), math.fsum(ends) * (1.0 + slack)
    falling = np.maximum.accumulate(size[::-1])[::-1]
    high = float(_summed(falling, k, apart, 1.0))
    total = float(_summed(size, k, apart, 1.0))
    low = max(float(_summed(first, k, apart, sign)) for sign in (1.0, -1.0)) - slack * total
    return max(0.0, low), high * (1.0 + slack)


def _summed(first: Array, most: int, apart: int, sign: float) -> float:
    """|sum of the columns 0, apart, 2 apart, ...|^2, each next one times the sign."""
    summed = np.zeros_like(first)
    for p in range(most):
        summed[p * apart :] += sign**p * first[: len(first) - p * apart]
    return float(summed @ summed)


def tree(steps: int, most: int, apart: int) -> tuple[float, float]:
    """Both ends for the binary tree: rows are the complete nodes over 2^l steps; in whole numbers.

    Above: each level by itself.  Its nodes hold at most ceil(2^l / apart) participations each, and the sum of squares is
    largest if as few nodes as can be hold as many as can be (Lemma 60).
    """
    k, high = participations(steps, most, apart), 0
    for level in range(steps.bit_length()):
        full = min(k, -(-(1 << level) // apart))
        nodes, rest = divmod(k, full)
        held = steps >> level
        high += held * full**2 if held <= nodes else nodes * full**2 + rest**2
    low = max(_in_tree(steps, np.arange(first, steps, apart)[:k]) for first in _starts(steps, k, apart))
    return float(low), float(high)


def _starts(steps: int, most: int, apart: int) -> list[int]:
    """Where regular patterns begin that may be bad ones."""
    last = max(0, steps - 1 - (most - 1) * apart)
    return sorted(
        {0, last, *(min(last, (1 << level) + shift) for level in range(steps.bit_length()) for shift in (-1, 0))} - {-1}
    )


def _in_tree(steps: int, pattern: NDArray[np.int64]) -> int:
    """The sum over the complete nodes of the squares of how often the pattern is in them."""
    total = 0
    for level in range(steps.bit_length()):
        inside = pattern[pattern < (steps >> level) << level] >> level
        _, counts = np.unique(inside, return_counts=True)
        total += int((counts.astype(np.int64) ** 2).sum())
    return total
