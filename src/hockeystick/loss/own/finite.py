"""The loss of two finite distributions, from exact fractions.

Everything that a pair is known by is exact here: its masses at each likelihood ratio, its hockey-stick curve in x = e^epsilon,
and the curve of the worse of both orders.  Only the logarithms at the end are rounded, and counted.

docs/mathematics/own.md, section 16: Lemma 34 (both orders at once).
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ...numerics.cancellation_free import log_fraction
from ...numerics.rounding import FUNCTION
from ..pairs.atomic import AtomicLoss, Atoms
from ..pairs.bracketed import BracketedLoss
from ..pairs.profile import Point, law_of_curve, lower_hull

Masses = tuple[tuple[Fraction, Fraction], ...]
"""P- and Q-masses."""

ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True)
class FiniteLoss(AtomicLoss):
    """Masses of P and Q at increasing likelihood ratios, all positive, and what either has where the other has none."""

    masses_by_ratio: Masses
    infinite_mass: Fraction = ZERO
    infinite_mass_under_q: Fraction = ZERO

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.masses_by_ratio, self.infinite_mass, self.infinite_mass_under_q))

    @property
    def reversed(self) -> "FiniteLoss":
        """That of (Q, P)."""
        swapped = tuple((q, p) for p, q in reversed(self.masses_by_ratio))
        return FiniteLoss(swapped, self.infinite_mass_under_q, self.infinite_mass)

    @cached_property
    def ratios(self) -> list[Fraction]:
        """p/q of each, increasing."""
        return [p / q for p, q in self.masses_by_ratio]

    @cached_property
    def _tails(self) -> tuple[list[Fraction], list[Fraction]]:
        """P- and Q-mass of the ratios from each on, those of P alone included."""
        p_tail, q_tail = [self.infinite_mass], [ZERO]
        for p, q in reversed(self.masses_by_ratio):
            p_tail.append(p_tail[-1] + p)
            q_tail.append(q_tail[-1] + q)
        return p_tail[::-1], q_tail[::-1]

    def tail(self, level: Fraction) -> tuple[Fraction, Fraction]:
        """P and Q of p > level q."""
        place = bisect_right(self.ratios, level)
        return self._tails[0][place], self._tails[1][place]

    def hockey_stick(self, level: Fraction) -> Fraction:
        """The sum of (p - level q)+, for a level from 0 up."""
        p, q = self.tail(level)
        return p - level * q

    def level_of(self, delta: Fraction) -> Fraction:
        """The least level from 0 up at which the hockey stick is at most delta, which is at least P(Z = infinity)."""
        p_tail, q_tail = self._tails
        low, high = 0, len(self.ratios)  # the curve is linear between the ratios, and falls
        while low < high:
            middle = (low + high) // 2
            if self.hockey_stick(self.ratios[middle]) <= delta:
                high = middle
            else:
                low = middle + 1
        if not q_tail[low]:  # nothing is left but what P has alone
            return self.ratios[-1] if self.ratios else ZERO
        return max(ZERO, (p_tail[low] - delta) / q_tail[low])

    @cached_property
    def atoms(self) -> Atoms:
        values = [(log_fraction(p / q), log_fraction(p), log_fraction(q)) for p, q in self.masses_by_ratio]
        z, log_p, log_q = np.array(values).T
        largest = max(float(np.abs(log_p).max()), float(np.abs(log_q).max()))
        return Atoms(z, log_p, log_q, FUNCTION * (2.0 + largest), 2.0 * FUNCTION)

    @cached_property
    def symmetric(self) -> bool:
        """Whether both orders have the same curve."""
        return self.masses_by_ratio == self.reversed.masses_by_ratio and self.infinite_mass == self.infinite_mass_under_q


def finite_loss(masses: Iterable[tuple[Fraction, Fraction]]) -> FiniteLoss:
    """The loss of a pair given by the masses of its outcomes: those of the same ratio are one value."""
    joined: dict[Fraction, tuple[Fraction, Fraction]] = {}
    alone = alone_under_q = ZERO
    for p, q in masses:
        if not q:
            alone += p
        elif not p:
            alone_under_q += q
        else:
            before = joined.get(p / q, (ZERO, ZERO))
            joined[p / q] = before[0] + p, before[1] + q
    return FiniteLoss(tuple(joined[ratio] for ratio in sorted(joined)), alone, alone_under_q)


def both_orders(loss: FiniteLoss) -> Any:
    """What dominates both orders at once, and is between: the pair of the larger of their curves (Lemma 34)."""
    if loss.symmetric:
        return loss
    other = loss.reversed
    levels = sorted({ONE, *(x for one in (loss, other) for x in one.ratios if x > 1)})
    points: list[Point] = []
    for before, after in pairwise([*levels, levels[-1]]):
        ends = [(one.hockey_stick(before), one.hockey_stick(after)) for one in (loss, other)]
        (a, b), (c, d) = ends
        points.append((before, max(a, c)))
        if (a - c) * (b - d) < 0:  # they cross in between
            share = (a - c) / ((a - c) - (b - d))
            points.append((before + share * (after - before), a + share * (b - a)))
    return BracketedLoss((law_of_curve(lower_hull(points)),), (loss, other))
