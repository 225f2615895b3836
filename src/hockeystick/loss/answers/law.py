"""The law of the privacy loss of one ordered pair: tails, moments, atoms and quantiles, with certified ends.

docs/mathematics/own.md, section 16a: Lemma 34a (tails from hockey sticks), Lemma 34b (moments from cells).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import log_fraction
from ...numerics.rounding import FUNCTION, UNIT, exp_down, exp_up, up
from ..composed import ComposedLoss
from ..protocol import Care, Inconclusive, Interval, Loss
from .listed import Listed, listed
from .many import log_delta_intervals
from .moments import moments


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof."""

    steps: tuple[float, ...] = tuple(10.0**-k for k in range(2, 8))
    """Differences of epsilon for the slope of delta: wide ones are off, narrow ones feel the width of delta's own ends."""
    section: int = 15
    """Points at which a quantile is looked for, at a time."""
    rounds: int = 60
    """And how often at most."""
    close: float = 1e-13
    """Relative: closer ends of a quantile are not looked for."""


TUNING = Tuning()
_SLACK = 64.0 * UNIT
"""Relative: of a difference quotient, with the exponentials in it."""


class Law:
    """The law of Z of a run of one ordered pair; `opposite` is the run of the other order, where that is known."""

    def __init__(self, run: ComposedLoss, opposite: ComposedLoss | None) -> None:
        self.run, self.opposite = run, opposite
        self.infinite = self.infinite_above = run.infinite_mass()
        self._listed = listed(run)
        self._known: dict[int, dict[float, Interval]] = {}  # deltas of both runs

    def tail_ends(self, epsilons: list[float]) -> list[Interval]:
        """Both ends of P(Z > epsilon), infinite losses included."""
        if self._direct is not None:
            found = [self._direct(one) for one in epsilons]
            return self._with_the_other([_added(beyond, self._sure) for _, beyond in found], [below for below, _ in found])
        return self._with_the_other(self._by_slopes(epsilons), self._by_slopes_of_q(epsilons))

    def cdf_ends(self, epsilons: list[float]) -> list[Interval]:
        """Both ends of P(Z <= epsilon)."""
        if self._direct is not None:
            found = [self._direct(one) for one in epsilons]
            return self._with_the_other([below for below, _ in found], [_added(beyond, self._sure) for _, beyond in found])
        return self._with_the_other(self._by_slopes_of_q(epsilons), self._by_slopes(epsilons))

    @staticmethod
    def _with_the_other(found: list[Interval], rest: list[Interval]) -> list[Interval]:
        """Both ends of a probability, also from those of 1 less it."""
        both = zip(found, rest, strict=True)
        return [_within((max(low, 1.0 - b - UNIT), min(high, 1.0 - a + UNIT))) for (low, high), (a, b) in both]

    @cached_property
    def _sure(self) -> Interval:
        """P(Z = infinity)."""
        mass = log_fraction(self.infinite) if self.infinite else -math.inf
        return exp_down(mass) if self.infinite else 0.0, exp_up(mass, 1.0)

    @cached_property
    def _direct(self) -> "Callable[[float], tuple[Interval, Interval]] | None":
        """P(Z <= epsilon) and P(epsilon < Z < infinity), where they take no slopes."""
        terms = self.run.terms
        if not terms:
            return lambda epsilon: ((float(epsilon >= 0.0),) * 2, (float(epsilon < 0.0),) * 2)
        if self._listed is not None:
            return self._listed.around
        if len(terms) > 1 or terms[0][1] > 1:
            return None
        loss = terms[0][0]
        try:
            _one_step(loss, 0.0)
        except Inconclusive:
            return None
        return lambda epsilon: _one_step(loss, epsilon)

    def _by_slopes(self, epsilons: list[float]) -> list[Interval]:
        """P(Z > epsilon) = delta - d delta / d epsilon, by difference quotients in e^epsilon (Lemma 34a)."""
        deltas = self._hockey_sticks(self.run, epsilons)
        found = []
        for one in epsilons:
            low, _ = deltas[one]
            least, most = low, 1.0
            for before, after, fall, grow in _steps(one):
                down, up = low - deltas[after][1], deltas[before][1] - low
                least = max(least, low + down / grow * (1.0 - math.copysign(_SLACK, down)))
                most = min(most, low + up / fall * (1.0 + _SLACK))
            found.append((least * (1.0 - 2.0 * UNIT), most * (1.0 + 2.0 * UNIT)))
        return found

    def _by_slopes_of_q(self, epsilons: list[float]) -> list[Interval]:
        """P(Z <= epsilon), at minus which the delta of the other order has that slope in e^epsilon (Lemma 34a)."""
        if self.opposite is None:
            return [(0.0, 1.0)] * len(epsilons)
        turned = [-one for one in epsilons]
        deltas = self._hockey_sticks(self.opposite, turned)
        found = []
        for one in turned:
            low, _ = deltas[one]
            least, most, scale = 0.0, 1.0, math.exp(min(-one, 700.0))
            for before, after, fall, grow in _steps(one):
                least = max(least, (low - deltas[after][1]) / grow * scale * (1.0 - _SLACK))
                most = min(most, (deltas[before][1] - low) / fall * scale * (1.0 + _SLACK))
            found.append((least, most))
        return found

    def _hockey_sticks(self, run: ComposedLoss, epsilons: list[float]) -> dict[float, Interval]:
        """Both ends of delta at some epsilons and near them."""
        known = self._known.setdefault(id(run), {})
        near = {point for one in epsilons for before, after, _, _ in _steps(one) for point in (before, after)}
        points = sorted((near | set(epsilons)) - known.keys())
        ends = log_delta_intervals(run, points)
        known.update((one, (exp_down(low), exp_up(high, 1.0))) for one, (low, high) in zip(points, ends, strict=True))
        return known

    def mean(self) -> Interval:
        """Both ends of E Z."""
        if self.infinite:
            return math.inf, math.inf
        low, high, _, _ = self._moments()
        return low, max(low, min(high, up(*self.run.mean())))

    def variance(self) -> Interval:
        """Both ends of the variance of Z, which must be finite."""
        _, _, low, high = self._moments()
        return low, high

    def _moments(self) -> tuple[float, float, float, float]:
        found = [(moments(loss), count) for loss, count in self.run.terms]
        sums = [math.fsum(count * one[place] for one, count in found) for place in range(4)]
        slack = (len(found) + 4.0) * UNIT
        low, high = sums[0] - slack * abs(sums[0]), sums[1] + slack * abs(sums[1])
        return max(low, 0.0), high, max(sums[2] * (1.0 - slack), 0.0), sums[3] * (1.0 + slack)

    def span(self) -> Interval:
        """An interval that has all finite losses; the tightest but for rounding where both orders are known."""
        low = -math.inf if self.opposite is None else -self.opposite.ceiling
        return low, self.run.ceiling

    def atoms(self) -> Listed | None:
        """All values with their masses, if they are few."""
        return self._listed

    def quantile(self, level: float) -> Interval:
        """Both ends of the least z with P(Z <= z) >= level, 0 < level < 1."""
        spare = 1 - Fraction(level)
        return (math.inf, math.inf) if self.infinite > spare else self._quantile(spare)

    def _quantile(self, spare: Fraction) -> Interval:
        """Between the last point whose tail is surely above `spare`, and the first whose tail surely is not."""
        least, most = float(spare) * (1.0 - 2.0 * UNIT), float(spare) * (1.0 + 2.0 * UNIT)
        _, centre, spread = self.run.expand(0.0) if self.run.terms else (0.0, 0.0, 0.0)
        low, high, width = -math.inf, math.inf, 10.0 * math.sqrt(spread) + 1e-9
        while width < 1e12 and (low == -math.inf or high == math.inf):
            points = np.linspace(centre - width, centre + width, 4 * TUNING.section + 1).tolist()
            low, high = self._narrowed(points, low, high, least, most, Care.MANY)
            width *= 4.0
        care = Care.CURVE if self._direct else Care.MANY  # far from the quantile a rough tail is enough
        for _ in range(TUNING.rounds):
            if not high - low > TUNING.close * max(abs(low), abs(high), 1e-300) or high - low == math.inf:
                break
            before = high - low
            low, high = self._narrowed(np.linspace(low, high, self._section + 2).tolist(), low, high, least, most, care)
            if not high - low < 0.7 * before:
                if care is Care.CURVE:
                    break
                care = Care.CURVE
        return low, high

    @property
    def _section(self) -> int:
        """Where a tail costs nothing beside others, one point at a time."""
        return 2 if self._direct else TUNING.section

    def _narrowed(self, points: list[float], low: float, high: float, least: float, most: float, care: Care) -> Interval:
        for one, (below, above) in zip(points, self._rough_tails(points, care), strict=True):
            if below > most:
                low = max(low, one)
            elif above <= least:
                high = min(high, one)
        return low, high

    def _rough_tails(self, points: list[float], care: Care) -> list[Interval]:
        """Of the tails at increasing points: by the slopes between them, where nothing else is known."""
        if self._direct:
            return self.tail_ends(points)
        deltas = [(exp_down(low), exp_up(high, 1.0)) for low, high in log_delta_intervals(self.run, points, most_care=care)]
        found = []
        for i, here in enumerate(points):
            low, _ = deltas[i]
            falls = [(deltas[j][1] - low) / -math.expm1(points[j] - here) for j in range(i) if points[j] < here]
            grows = [
                (low - deltas[j][1]) / math.expm1(points[j] - here)
                for j in range(i + 1, len(points))
                if 0.0 < points[j] - here < 700.0
            ]
            most = low + min(falls, default=1.0) * (1.0 + _SLACK)
            found.append((low + max([*grows, 0.0]) * (1.0 - _SLACK), most * (1.0 + 2.0 * UNIT)))
        return found


def _added(one: Interval, other: Interval) -> Interval:
    return (one[0] + other[0]) * (1.0 - 2.0 * UNIT), (one[1] + other[1]) * (1.0 + 2.0 * UNIT)


def _within(ends: Interval) -> Interval:
    return max(ends[0], 0.0), min(ends[1], 1.0)


def _one_step(loss: Loss, epsilon: float) -> tuple[Interval, Interval]:
    """P(Z <= epsilon) and P(epsilon < Z < infinity) of one step, from its masses at edges that surely lie on either side."""
    slip = loss.edge_error(abs(epsilon) + 1e-300) * (1.0 + 1e-9) + 4.0 * UNIT * abs(epsilon)
    if not slip < math.inf:
        raise Inconclusive
    ends = []
    for edge in (math.nextafter(epsilon - slip, -math.inf), math.nextafter(epsilon + slip, math.inf)):
        log_p, _, error = loss.masses(np.array([edge]))
        off = np.broadcast_to(error, log_p.shape) + 2.0 * FUNCTION + 2.0 * UNIT * np.abs(np.maximum(log_p, -1e9))
        ends.append([(exp_down(value - slack), exp_up(value + slack, 1.0)) for value, slack in zip(log_p, off, strict=True)])
    before, after = ends
    spare = exp_up(loss.log_truncated_mass) if loss.log_truncated_mass > -math.inf else 0.0
    return (before[0][0], after[0][1] + spare), (after[1][0], before[1][1] + spare)


def _steps(epsilon: float) -> Iterator[tuple[float, float, float, float]]:
    """Epsilons before and after, and by which shares of itself e^epsilon falls and grows to theirs."""
    for t in TUNING.steps:
        before, after = epsilon - t, epsilon + t
        if before < epsilon < after:
            yield before, after, -math.expm1(before - epsilon), math.expm1(after - epsilon)
