"""The trade-off curve of a pair between two polygons, each of which is that of a finite pair.

Whole numbers stand for probabilities in units of 2^-BITS: sums, products and comparisons are exact, quotients are rounded to the
safe side.

docs/mathematics/densities.md: Lemma 68 (inscribed), Lemma 69 (circumscribed).
"""

import itertools
from collections.abc import Iterable
from fractions import Fraction

from .finite import FiniteLoss

BITS = 1200
"""A double above 1e-300 is a whole number of units."""
ONE = 1 << BITS

Vertex = tuple[int, int]
"""A test: how often it says P of what is drawn from Q, and of what is drawn from P."""


def units(value: float) -> int:
    """A double from 0 up in units, rounded down where it has smaller bits."""
    numerator, denominator = value.as_integer_ratio()
    shift = BITS + 1 - denominator.bit_length()
    return numerator << shift if shift >= 0 else numerator >> -shift


def inscribed(tests: Iterable[Vertex]) -> FiniteLoss:
    """The pair whose best tests are the given ones and coins between them: what has these tests dominates it (Lemma 68)."""
    best: dict[int, int] = {0: 0, ONE: ONE}
    for fpr, tpr in tests:
        fpr = min(max(fpr, 0), ONE)
        best[fpr] = max(best.get(fpr, 0), min(max(tpr, 0), ONE))
    hull: list[Vertex] = []
    for fpr in sorted(best):
        tpr = best[fpr]
        if hull and tpr <= hull[-1][1] and fpr < ONE:  # it says P more often, and in vain
            continue
        while len(hull) > 1 and _turns_up(hull[-2], hull[-1], (fpr, tpr)):
            hull.pop()
        hull.append((fpr, tpr))
    return _law(hull)


def circumscribed(levels: Iterable[tuple[int, int]]) -> FiniteLoss:
    """The pair of the largest hockey-stick curve that is at most so much at each level, both in units (Lemma 69)."""
    lowest: dict[int, int] = {}
    for level, stick in levels:
        stick = max(stick, 0, ONE - level)
        lowest[level] = min(lowest.get(level, stick), stick)
    hull: list[Vertex] = [(0, ONE)]
    for level in sorted(lowest):
        stick = min(lowest[level], hull[-1][1])  # the curve falls
        while len(hull) > 1 and not _turns_up(hull[-2], hull[-1], (level, stick)):
            hull.pop()
        hull.append((level, stick))
    corners = [(0, hull[-1][1])]
    for (x, y), (further, lower) in zip(hull[-2::-1], hull[:0:-1], strict=True):
        fall, run = y - lower, further - x  # the line with this slope is a test: its rate under Q, and where it meets 0
        corners.append(((fall << BITS) // run, min(ONE, y - (-x * fall) // run)))
    return inscribed(corners)


def either_order(loss: FiniteLoss) -> FiniteLoss:
    """The pair of the larger of both hockey sticks at every level (Lemma 34): of all tests of either order, and coins between.

    For a pair of this module, whose masses are whole numbers of units.
    """
    return inscribed([*_tests(loss), *_tests(loss.reversed)])


def _tests(loss: FiniteLoss) -> list[Vertex]:
    """The best tests of a pair, each of which says P above a ratio."""
    found = [(0, int(loss.infinite_mass * ONE))]
    for p, q in reversed(loss.masses_by_ratio):
        fpr, tpr = found[-1]
        found.append((fpr + int(q * ONE), tpr + int(p * ONE)))
    return found


def _turns_up(first: Vertex, second: Vertex, third: Vertex) -> bool:
    """Whether the second of three lies on the line from the first to the third, or below it."""
    return (second[1] - first[1]) * (third[0] - first[0]) <= (third[1] - first[1]) * (second[0] - first[0])


def _law(hull: list[Vertex]) -> FiniteLoss:
    """The masses along the sides of a concave polygon from (0, .) to (1, 1)."""
    sides = [(after[1] - before[1], after[0] - before[0]) for before, after in itertools.pairwise(hull)]
    masses = [(Fraction(p, ONE), Fraction(q, ONE)) for p, q in reversed(sides) if p and q]
    lone = sum(q for p, q in sides if not p)
    return FiniteLoss(tuple(masses), Fraction(hull[0][1], ONE), Fraction(lone, ONE))
