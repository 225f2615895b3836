"""Where the thresholds of a sparse run lie, and about what its transform is with them: a guide, never part of a proof.

docs/mathematics.md, section 7a, "The thresholds".
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.roots import bracketed
from ..composed import ComposedLoss
from ..contour.contour import Saddle, log_markov_constant
from ..pairs.discrete import DiscreteLaplaceLoss, ResponseLoss
from ..pairs.gaussian import GaussianLoss
from ..pairs.laplace import LaplaceLoss
from ..protocol import Inconclusive, Loss
from ..sampled.gaussian import SampledGaussianLoss
from .cells import Thresholds, place
from .coarse import CoarseStep
from .guess import LEAST_LOG_DELTA
from .identity import lift_of

DIGITS = 23.0
"""-log of the relative error of the contour's terms, about."""


@dataclass(frozen=True)
class Tuning:
    """Nearer thresholds let the terms that are only bounded grow, farther ones let those of the contour cancel."""

    log_shares: tuple[float, ...] = (29.0, 26.0, 23.0, 20.0, 17.0, 14.0, 11.0, 8.0)
    """-log of what the terms that are only bounded may be, relative to delta; tried in turn until the terms of the contour cancel
    little enough."""
    lower_width: float = 0.08
    """Of the lower threshold, relative to x, at most: a narrow one takes many nodes, of a wide one tiny losses feel the tail."""
    upper_width: float = 0.03
    """Of the upper threshold, likewise."""
    log_width_accuracy: float = 0.02
    """Of the logarithm of a threshold: it is sought no closer."""
    log_vanished: float = 32.0
    """-log of the modulus of a transform of which the contour needs no more nodes."""
    max_deviations: float = 60.0
    """Normal noise is not seen so far out."""
    node_stride: int = 4
    """One of so many nodes is enough to see where the transform vanishes."""
    least_rate: float = 1e-290
    """A sampling rate below which 1/rate may overflow."""
    max_records: float = 1e6
    """Steps with the record, on average, beyond which a contour alone does as well."""


TUNING = Tuning()
_RATES = 2.0 ** np.arange(-2.0, 10.0, 0.75)
"""Exponents r of Lemma 19a that are tried, over epsilon."""
_ORDERS = 2.0 ** np.arange(1.0, 10.1, 0.5)
"""Real points s of Lemma 19b that are tried, over epsilon."""
_SHARES = np.array([1.0, 1.1, 1.25, 1.5, 2.0, 3.0])
"""The losses z_1 of Lemma 19a that are tried, over epsilon."""
_ONE, _WHOLE = np.array([1.0, 0.0, 0.0]), np.zeros(1)
_HUGE = 1e200, 1e200, 1e200
_SYMMETRIC = LaplaceLoss, GaussianLoss, ResponseLoss, DiscreteLaplaceLoss  # pairs whose two orders have the same loss


class ThresholdGuide:
    """A run of sampled Gaussian steps in the order "remove", its thresholds for one epsilon and delta, about its transform.

    `others` may take part, without a threshold: their pairs are symmetric.
    The transform is that of the runs without a large step and, if `thresholds.low` is positive, with a middle one.  They are such
    that all that is only bounded is small (the more so, the farther out `thresholds.high`), and that the contour's terms do not
    cancel too far (the less so).  Where there are no large steps, the upper one may as well be narrower, by `width_factor`.
    """

    def __init__(self, run: ComposedLoss, epsilon: float, log_delta: float, width_factor: float = 1.0) -> None:
        if not (is_sparse(run) and 1e-7 < epsilon < 300.0 and log_delta > LEAST_LOG_DELTA):
            raise Inconclusive
        self.run, self.epsilon, self.log_delta, self.lift = run, epsilon, log_delta, lift_of(log_delta)
        self.losses = [(loss, count) for loss, count in run.terms if isinstance(loss, SampledGaussianLoss)]
        self.terms = [(loss.shape, count) for loss, count in self.losses]
        self.others = other_terms(run)
        self.steps = sum(count for _, count in self.terms)
        self.reach = epsilon - largest_sum(self.others)  # what the steps must reach at least, if it is positive
        self.scale = self.reach if self.reach > 0.0 else epsilon
        deviation = math.sqrt(sum(count * loss.coarse_estimates[1] for loss, count in run.terms))
        self.most = math.expm1(2.0 * epsilon + min(14.0 * deviation, 30.0))
        self.coarse_steps = [
            CoarseStep(shape, count, min(place(shape, 3.0 * self.most), 1.0 / shape.noise + TUNING.max_deviations), self.lift)
            for shape, count in self.terms
        ]
        # so that hardly any tiny loss counts as large; and the tilt is steep where epsilon is small
        widest = 1.0 / math.sqrt(2.0 * (math.log(self.steps) + 4.0 + epsilon + TUNING.log_shares[0] - log_delta))
        self.lower_width = min(TUNING.lower_width, widest)
        self.upper_width = min(TUNING.lower_width, widest, TUNING.upper_width * epsilon / -math.expm1(-epsilon))
        self.width_factor = width_factor
        self._choose()

    def _choose(self) -> None:
        """Fixes the thresholds, the order at which small steps are bounded, and the saddle point."""
        epsilon, log_delta = self.epsilon, self.log_delta
        with np.errstate(all="ignore"):
            compensation, small = self._compensation(), self._small_bounds()
        best, self._best_rate = math.inf, _RATES.size // 2
        for log_share in TUNING.log_shares:
            top = self._upper(compensation, log_delta - log_share)
            low, order = self._lower(small, log_delta - log_share, top)
            if low and not 9.0 / self.lower_width * (1.0 + low) / low < self._decay_scale:  # without is cheaper
                low = order = 0.0
            self._set(self._thresholds(low, top))
            saddle = Saddle.of_epsilon(self, epsilon)
            cost = math.exp(min(self._log_cancellation(saddle) - DIGITS, 300.0)) + math.exp(2.0 - log_share)
            if cost >= best:
                break
            best, chosen = cost, (self.thresholds, order, saddle)
        thresholds, self.order, self.saddle = chosen
        self._set(thresholds)
        self.rates: list[float] = (_RATES[max(self._best_rate - 1, 0) : self._best_rate + 2] / epsilon).tolist()

    def _log_cancellation(self, saddle: Saddle) -> float:
        """log of the contour's terms, relative to delta."""
        c = saddle.c
        height = self.expand(c)[0] - c * self.epsilon - math.log(c) - math.log1p(c)
        return height + math.log(saddle.width) - self.log_delta

    def _compensation(self) -> tuple[Array, list[Array], list[Array]]:
        """The terms of Lemma 19a, for several r: log of E_Q e^{-rS} (and epsilon), the weights of e^{-r (L - epsilon)} and,
        last, of 1; and from where on L is above some."""
        rates = _RATES / self.epsilon
        fixed = self.epsilon + np.array([self._beside(rate)[0] for rate in rates.tolist()])
        lifted: list[Array] = []
        for step in self.coarse_steps:
            fixed = fixed + step.count * np.log1p(np.maximum(step.remainder(-rates).sum(axis=1), -0.999))
            lift = np.exp(np.minimum(rates[:, None] * (self.epsilon - step.ratio), 600.0 - self.lift))
            lifted.append(np.vstack((lift, np.ones(lift.shape[1]))) * (step.lifted * step.count))
        # there Chernoff's bound is used
        beyond = [np.append(0.0, step.ratio.searchsorted(_SHARES * self.epsilon)) for step in self.coarse_steps]
        return fixed, lifted, beyond

    def _beside(self, c: float) -> Array:
        """log of the transform of the others at c, and two derivatives; E_Q e^{-cZ} is E_P e^{cZ}."""
        return sum((count * np.array(loss.expand(c)) for loss, count in self.others), np.zeros(3))

    def _upper(self, terms: tuple[Array, list[Array], list[Array]], target: float) -> tuple[float, float]:
        """The least x from which a step may count as large, since the others hardly ever compensate it; the threshold's width."""
        upper_width = self.upper_width

        def compensation(x: float) -> float:
            near, above = np.full(_SHARES.size, 1e-300), np.full((_RATES.size, _SHARES.size), 1e-290)
            for lift, beyond, step in zip(terms[1], terms[2], self.coarse_steps, strict=True):
                sums = step.pieces(lift, beyond, x, upper_width * x)
                near += np.add.accumulate(sums[-1, :-1])
                above += np.add.accumulate(sums[:-1, :0:-1], axis=1)[:, ::-1]
            found = np.logaddexp(terms[0][:, None] + np.log(above), np.log(near) + self.epsilon).min(axis=1)
            self._best_rate = int(found.argmin())
            return float(found[self._best_rate]) - self.lift

        def all_large(x: float) -> float:
            """log of all that there is of large steps."""
            total = 1e-300
            for step in self.coarse_steps:
                row = step.lifted * (step.x + math.exp(self.epsilon) + 1.0)
                total += step.count * float(step.pieces(row[None, :], _WHOLE, x, upper_width * x)[0, 0])
            return math.log(total) - self.lift

        low, high, enough = math.log(1.05 * math.expm1(self.epsilon)), math.log(self.most), compensation
        if all_large(math.exp(low)) < target:  # there are none: less is large, as long as that is so
            low, high, enough = math.log(max(shape.rate for shape, _ in self.terms)), low, all_large
            upper_width *= self.width_factor
        high = bracketed(lambda x: target - enough(math.exp(x)), low, high, TUNING.log_width_accuracy)[1]
        return math.exp(high), upper_width * math.exp(high)

    def _small_bounds(self) -> tuple[Array, Array, list[Array]]:
        """The terms of Lemma 19b: several orders, Chernoff's factors and the weights of e^{kL} - 1 - k x."""
        orders = _ORDERS / self.scale
        fixed = np.array([log_markov_constant(order) + float(self._beside(order)[0]) for order in orders.tolist()])
        return orders, fixed - orders * self.epsilon, [step.remainder(1.0 + orders) for step in self.coarse_steps]

    def _lower(self, terms: tuple[Array, Array, list[Array]], target: float, top: tuple[float, float]) -> tuple[float, float]:
        """The largest x below which steps may count as small: alone they hardly ever reach epsilon; the order that shows it."""
        orders, fixed, tables = terms
        if self.reach <= 0.0:  # the others may reach it alone
            return 0.0, 0.0

        def bounds(x: float) -> Array:
            total, width = fixed, self._thresholds(x, top).low_width
            for step, table in zip(self.coarse_steps, tables, strict=True):
                mass, drift = step.pieces(step.flat, _WHOLE, x, width)[:, 0].tolist()
                inner = step.pieces(table, _WHOLE, x, -width)[:, 0] - mass - (1.0 + orders) * drift
                total = total + step.count * np.log1p(np.maximum(inner, -0.999))
            return total

        left, right = math.log(math.expm1(1e-3 * self.reach)), math.log(min(0.7 * math.expm1(self.reach), top[0] / 2.0))
        if float(bounds(math.exp(left)).min()) > target:
            return 0.0, 0.0
        left = bracketed(lambda x: float(bounds(math.exp(x)).min()) - target, left, right, TUNING.log_width_accuracy)[0]
        return math.exp(left), float(orders[np.argmax(bounds(math.exp(left)) <= target)])  # the least: e^{kL} may be no double

    @cached_property
    def _decay_scale(self) -> float:
        """About the u beyond which |phi|^n has vanished."""
        u = np.geomspace(1e-2, 1e12, 43)
        total = np.zeros(u.size)
        for step in self.coarse_steps:
            ratio, weight = step.ratio[:: TUNING.node_stride], step.weight[:: TUNING.node_stride]
            total += TUNING.node_stride * step.count * ((1.0 - np.cos(np.minimum(u[:, None] * ratio, 1e3))) @ weight)
        dead = np.nonzero(total > TUNING.log_vanished)[0]
        return float(u[dead[0]]) if dead.size else math.inf

    def _thresholds(self, low: float, top: tuple[float, float]) -> Thresholds:
        """A width such that what is large is never small: kappa >= nu for all x >= -q."""
        (high, wide), rate = top, max(shape.rate for shape, _ in self.terms)
        narrow = max(min(self.lower_width * low, wide), wide * (rate + low) / (rate + high) * (1.0 + 1e-12)) if low else 0.0
        return Thresholds(low, high, narrow, wide)

    def _set(self, thresholds: Thresholds) -> None:
        """Fixes the thresholds, and the weights of what is large (or not small), of what is not, and of what is middle.

        They are times e^lift.
        """
        self.thresholds, self._unit = thresholds, math.exp(-self.lift)
        self._jets: dict[float, tuple[float, float, float]] = {}
        self._tables: list[tuple[CoarseStep, Array, Array, Array]] = []
        for step in self.coarse_steps:
            large = step.above(thresholds.high, thresholds.high_width)
            above = step.above(thresholds.low, thresholds.low_width) if thresholds.low else large
            w = step.lifted
            self._tables.append((step, w * above, w * (1.0 - above), w * np.maximum(above - large, 0.0)))

    def expand(self, c: float) -> tuple[float, float, float]:
        """log of the transform at c, and two derivatives."""
        if c not in self._jets:
            with np.errstate(all="ignore"):
                self._jets[c] = self._expand(c)
            if not all(map(math.isfinite, self._jets[c])):
                self._jets[c] = _HUGE  # so that a search turns back
        return self._jets[c]

    def _expand(self, c: float) -> tuple[float, float, float]:
        k = 1.0 + c
        base, gain = self._beside(c), np.zeros(3)  # n log(phi - mid) and n log(phi / (phi - mid))
        for step, above, below, middle in self._tables:
            x, tilted = step.x * self._unit, np.exp(np.minimum(k * step.ratio - self.lift, 600.0))
            powers = tilted, step.ratio * tilted, step.ratio * step.ratio * tilted
            q, drift = float(above.sum()) * self._unit, float(above @ x)
            value = 1.0 - q - k * drift + float(below @ (tilted - self._unit - k * x))
            rest = np.array([value, float(below @ (powers[1] - x)) - drift, float(below @ powers[2])])
            base = base + step.count * _log_jet(rest)
            if self.thresholds.low:
                mid = np.array([float(middle @ power) for power in powers])
                odds = np.array([mid[0], mid[1] - mid[0] * rest[1] / rest[0], 0.0]) / rest[0]
                odds[2] = (mid[2] - odds[0] * rest[2] - 2.0 * odds[1] * rest[1]) / rest[0]
                gain = gain + step.count * _log_jet(odds + _ONE, float(odds[0]))
        if self.thresholds.low and not gain[0] > 1e-250:  # next to none is middle
            base[0] += math.log(max(float(gain[0]), 1e-300))
        elif self.thresholds.low:  # + log(e^gain - 1)
            some = max(-math.expm1(-float(gain[0])), 1e-300)
            base[0] += gain[0] + math.log(some)
            base[1] += gain[1] / some
            base[2] += gain[2] / some - (gain[1] / some) ** 2 * (1.0 - some)
        return float(base[0]), float(base[1]), max(float(base[2]), 1e-300)

    def height(self, c: float) -> float:
        """n log phi at c."""
        k, total = 1.0 + c, float(self._beside(c)[0])
        for step, above, below, middle in self._tables:
            x, tilted = step.x * self._unit, np.exp(np.minimum(k * step.ratio - self.lift, 600.0))
            with np.errstate(all="ignore"):
                value = (
                    1.0 + float(below @ (tilted - self._unit - k * x)) - float(above.sum()) * self._unit - k * float(above @ x)
                )
                value += float(middle @ tilted)
            if not math.isfinite(value):
                raise Inconclusive
            total += step.count * math.log(max(value, 1e-3))
        return total

    def saddle_of_epsilon(self, epsilon: float) -> float:
        """The c at which a contour should lie."""
        return self.run.saddle_of_epsilon(epsilon, 10.0 / self.scale, self.expand)

    def about(self, epsilon: float) -> tuple[float, float]:
        """log delta and its slope near the epsilon of the thresholds, to a few per cent."""
        saddle = Saddle.of_epsilon(self, epsilon)
        inner = math.exp(saddle.log_delta + self.lift)
        some = weighted_q = 0.0
        for step, above, _, middle in self._tables:
            large = above - middle if self.thresholds.low else above
            some += step.count * float(large @ (1.0 + step.x))
            weighted_q += step.count * float(large.sum()) * math.exp(min(epsilon, 600.0))
        some, weighted_q = (some, weighted_q) if some > weighted_q else (0.0, 0.0)
        total = some - weighted_q + inner + 1e-300
        return math.log(total) - self.lift, -(saddle.c * inner + weighted_q) / total


def _log_jet(jet: Array, excess: float | None = None) -> Array:
    """log f and its derivatives from f, f', f''; f - 1 may be given."""
    value = max(float(jet[0]), 1e-300)
    first = float(jet[1]) / value
    return np.array([math.log(value) if excess is None else math.log1p(excess), first, float(jet[2]) / value - first * first])


def other_terms(run: ComposedLoss) -> list[tuple[Loss, int]]:
    """The losses that take part without a threshold."""
    return [(loss, count) for loss, count in run.terms if not isinstance(loss, SampledGaussianLoss)]


def largest_sum(losses: Iterable[tuple[Loss, int]]) -> float:
    """About the largest sum of some losses, if that is finite, else 0."""
    found = math.fsum(count * loss.ceiling for loss, count in losses)
    return found if found < math.inf else 0.0


def is_sparse(run: ComposedLoss) -> bool:
    """Whether a run can be split, sampled Gaussian steps in the order "remove" beside symmetric losses, and is sparse enough."""
    records = 0.0
    for loss, count in run.terms:
        if isinstance(loss, SampledGaussianLoss) and loss.removals == (True,) and loss.shape.rate > TUNING.least_rate:
            records += count * loss.shape.rate
        elif not isinstance(loss, _SYMMETRIC) or loss.infinite_mass:
            return False
    return 0.0 < records < TUNING.max_records
