"""Where a sparse run is parted into small, middle and large steps, and about what is found there: nothing is part of a proof."""

import itertools
import math
from collections.abc import Iterable
from functools import cached_property

import numpy as np

from ...native import loops
from ...native.loops import loop
from ...numerics.cancellation_free import Array
from ...numerics.normal import LOG_ROOT_TWO_PI
from ...numerics.roots import bracketed
from ..composed import ComposedLoss
from ..contour.contour import Saddle, log_markov
from ..pairs.discrete import DiscreteLaplaceLoss, ResponseLoss
from ..pairs.gaussian import GaussianLoss
from ..pairs.laplace import LaplaceLoss
from ..protocol import Inconclusive, Loss
from ..sampled.gaussian import SampledGaussianLoss
from ..sampled.quadrature import SampledStep
from .cells import Marks, place
from .guess import FAINT
from .identity import lift_of

_SURE = (29.0, 26.0, 23.0, 20.0, 17.0, 14.0, 11.0, 8.0)  # -log of the relative size allowed to what is only bounded
DIGITS = 23.0  # about that of the errors of the contour's terms
_DEAD = 32.0  # -log of what has died out
_NEVER = 60.0  # normal noise is not seen so far out
_FAINT = 1e-290  # a rate below which 1/rate may not be told
_DENSE = 1e6  # steps with the record, on average, beyond which the contour does as well
_SOFT, _HARD = 0.08, 0.03  # widths of the marks of what is small and of what is large, relative to x
_RATES = 2.0 ** np.arange(-2.0, 10.0, 0.75)  # over epsilon
_ORDERS = 2.0 ** np.arange(1.0, 10.1, 0.5)  # over epsilon
_SHARES = np.array([1.0, 1.1, 1.25, 1.5, 2.0, 3.0])
_ONE, _WHOLE = np.array([1.0, 0.0, 0.0]), np.zeros(1)
_NEAR = 0.02  # of the logarithm of a mark
_SELDOM = 4  # nodes of which one is enough to see where the transform dies out
_HUGE = 1e200, 1e200, 1e200
_SYMMETRIC = LaplaceLoss, GaussianLoss, ResponseLoss, DiscreteLaplaceLoss  # pairs whose two orders have the same loss


def _mark(x: Array, high: float, width: float) -> Array:
    from scipy.special import ndtr

    found: Array = ndtr((x - high) * (1.0 / width))
    return found


@loop(loops.pieces)
def _pieces(x: Array, table: Array, cuts: Array, high: float, width: float) -> Array:
    found = np.empty((len(table), cuts.size))
    mark, ends = _mark(x, high, width), [*cuts.astype(int).tolist(), x.size]
    for piece, (first, last) in enumerate(itertools.pairwise(ends)):
        found[:, piece] = table[:, first:last] @ mark[first:last]
    return found


class _Guide:
    """One step on plain nodes of the noise."""

    def __init__(self, shape: SampledStep, count: int, last: float, lift: float) -> None:
        self.shape, self.count = shape, count
        spacing = 0.03 * min(shape.noise, 6.0)  # the marks are a few per cent of x wide
        if not 0.0 < (last + 8.0) / spacing < 20_000.0:
            raise Inconclusive
        z = np.arange(-8.0, last, spacing)
        self.ratio, _ = shape.ratios(z)
        self.x = np.expm1(self.ratio)
        self.log_weight = math.log(spacing) - LOG_ROOT_TWO_PI - 0.5 * z * z
        self.weight, self.lifted = np.exp(self.log_weight), np.exp(self.log_weight + lift)
        self.flat = np.stack((self.weight, self.weight * self.x))

    def mark(self, high: float, width: float) -> Array:
        return _mark(self.x, high, width)

    def pieces(self, table: Array, cuts: Array, high: float, width: float) -> Array:
        """For each row the sums of its entries times the mark, from each of the places `cuts` to the next."""
        return _pieces(self.x, table, cuts, high, width)

    def bent(self, k: Array) -> Array:
        """e^{kL} - 1 - k x, weighted, one row for each k."""
        column = k[:, None]
        grown = column * self.ratio
        with np.errstate(over="ignore"):
            far = np.minimum(np.exp(grown + self.log_weight), 1e300)
        near = np.expm1(np.minimum(grown, 30.0)) * self.weight
        found: Array = np.where(grown < 30.0, near, far) - column * (self.x * self.weight)
        return found


class Sketch:
    """A run of sampled Gaussian steps in the order "remove", its marks for one epsilon and delta, and its transform about.

    `others` may take part, which are not marked: their pairs are symmetric.
    The transform is that of the runs without a large step and, if `marks.low` is positive, with a middle one.  The marks are such
    that all that is only bounded is small (the more so, the farther out `marks.high`), and that the contour's terms do not cancel
    too far (the less so).  Where there are no large steps, their mark may as well be narrower, by `sharp`.
    """

    def __init__(self, run: ComposedLoss, epsilon: float, log_delta: float, sharp: float = 1.0) -> None:
        if not (parts(run) and 1e-7 < epsilon < 300.0 and log_delta > FAINT):
            raise Inconclusive
        self.run, self.epsilon, self.log_delta, self.lift = run, epsilon, log_delta, lift_of(log_delta)
        self.marked = [(loss, count) for loss, count in run.terms if isinstance(loss, SampledGaussianLoss)]
        self.terms = [(loss.shape, count) for loss, count in self.marked]
        self.others = unmarked(run)
        self.steps = sum(count for _, count in self.terms)
        self.room = epsilon - largest_sum(self.others)  # what the steps must reach at least, if it is positive
        self.scale = self.room if self.room > 0.0 else epsilon
        deviation = math.sqrt(sum(count * loss.coarse_estimates[1] for loss, count in run.terms))
        self.most = math.expm1(2.0 * epsilon + min(14.0 * deviation, 30.0))
        self.guides = [
            _Guide(shape, count, min(place(shape, 3.0 * self.most), 1.0 / shape.noise + _NEVER), self.lift)
            for shape, count in self.terms
        ]
        # so that hardly any tiny loss is marked; and the tilt is steep where epsilon is small
        widest = 1.0 / math.sqrt(2.0 * (math.log(self.steps) + 4.0 + epsilon + _SURE[0] - log_delta))
        self.soft, self.hard = min(_SOFT, widest), min(_SOFT, widest, _HARD * epsilon / -math.expm1(-epsilon))
        self.sharp = sharp
        self._choose()

    def _choose(self) -> None:
        """Fixes the marks, the order that shows that small ones matter little, and the saddle."""
        epsilon, log_delta = self.epsilon, self.log_delta
        with np.errstate(all="ignore"):
            back, reached = self._back(), self._reached()
        best, self._best = math.inf, _RATES.size // 2
        for sure in _SURE:
            top = self._top(back, log_delta - sure)
            low, order = self._bottom(reached, log_delta - sure, top)
            if low and not 9.0 / self.soft * (1.0 + low) / low < self._fade:  # without is cheaper
                low = order = 0.0
            self._mark(self._marks(low, top))
            saddle = Saddle.of_epsilon(self, epsilon)  # type: ignore[arg-type]
            cost = math.exp(min(self._size(saddle) - DIGITS, 300.0)) + math.exp(2.0 - sure)
            if cost >= best:
                break
            best, chosen = cost, (self.marks, order, saddle)
        marks, self.order, self.saddle = chosen
        self._mark(marks)
        self.rates: list[float] = (_RATES[max(self._best - 1, 0) : self._best + 2] / epsilon).tolist()

    def _size(self, saddle: Saddle) -> float:
        """log of the contour's terms, relative to delta."""
        c = saddle.c
        height = self.expand(c)[0] - c * self.epsilon - math.log(c) - math.log1p(c)
        return height + math.log(saddle.width) - self.log_delta

    def _back(self) -> tuple[Array, list[Array], list[Array]]:
        """For several r: log of E_Q e^{-rS} (and epsilon), the weights of e^{-r (L - epsilon)} and, last, of 1; and from where on
        L is above some."""
        rates = _RATES / self.epsilon
        fixed = self.epsilon + np.array([self._beside(rate)[0] for rate in rates.tolist()])
        lifted: list[Array] = []
        for guide in self.guides:
            fixed = fixed + guide.count * np.log1p(np.maximum(guide.bent(-rates).sum(axis=1), -0.999))
            lift = np.exp(np.minimum(rates[:, None] * (self.epsilon - guide.ratio), 600.0 - self.lift))
            lifted.append(np.vstack((lift, np.ones(lift.shape[1]))) * (guide.lifted * guide.count))
        # there Chernoff's bound is used
        beyond = [np.append(0.0, guide.ratio.searchsorted(_SHARES * self.epsilon)) for guide in self.guides]
        return fixed, lifted, beyond

    def _beside(self, c: float) -> Array:
        """log of the transform of the others at c, and two derivatives; E_Q e^{-cZ} is E_P e^{cZ}."""
        return sum((count * np.array(loss.expand(c)) for loss, count in self.others), np.zeros(3))

    def _top(self, back: tuple[Array, list[Array], list[Array]], target: float) -> tuple[float, float]:
        """The least x from which a step may be called large: the others hardly ever take it back below epsilon; and its width."""
        hard = self.hard

        def taken(x: float) -> float:
            near, heavy = np.full(_SHARES.size, 1e-300), np.full((_RATES.size, _SHARES.size), 1e-290)
            for lift, beyond, guide in zip(back[1], back[2], self.guides, strict=True):
                sums = guide.pieces(lift, beyond, x, hard * x)
                near += np.add.accumulate(sums[-1, :-1])
                heavy += np.add.accumulate(sums[:-1, :0:-1], axis=1)[:, ::-1]
            found = np.logaddexp(back[0][:, None] + np.log(heavy), np.log(near) + self.epsilon).min(axis=1)
            self._best = int(found.argmin())
            return float(found[self._best]) - self.lift

        def gone(x: float) -> float:
            """log of all that there is of large steps."""
            total = 1e-300
            for guide in self.guides:
                row = guide.lifted * (guide.x + math.exp(self.epsilon) + 1.0)
                total += guide.count * float(guide.pieces(row[None, :], _WHOLE, x, hard * x)[0, 0])
            return math.log(total) - self.lift

        low, high, enough = math.log(1.05 * math.expm1(self.epsilon)), math.log(self.most), taken
        if gone(math.exp(low)) < target:  # there are none: less is large, as long as that is so
            low, high, enough = math.log(max(shape.rate for shape, _ in self.terms)), low, gone
            hard *= self.sharp
        high = bracketed(lambda x: target - enough(math.exp(x)), low, high, _NEAR)[1]
        return math.exp(high), hard * math.exp(high)

    def _reached(self) -> tuple[Array, Array, list[Array]]:
        """Several orders, Chernoff's factors and the weights of e^{kL}."""
        orders = _ORDERS / self.scale
        fixed = np.array([log_markov(order) + float(self._beside(order)[0]) for order in orders.tolist()])
        return orders, fixed - orders * self.epsilon, [guide.bent(1.0 + orders) for guide in self.guides]

    def _bottom(self, reached: tuple[Array, Array, list[Array]], target: float, top: tuple[float, float]) -> tuple[float, float]:
        """The largest x below which steps may be called small: then epsilon is hardly ever reached; the order that shows it."""
        orders, fixed, tables = reached
        if self.room <= 0.0:  # the others may reach it alone
            return 0.0, 0.0

        def bounds(x: float) -> Array:
            total, width = fixed, self._marks(x, top).low_width
            for guide, table in zip(self.guides, tables, strict=True):
                some, pulled = guide.pieces(guide.flat, _WHOLE, x, width)[:, 0].tolist()
                inner = guide.pieces(table, _WHOLE, x, -width)[:, 0] - some - (1.0 + orders) * pulled
                total = total + guide.count * np.log1p(np.maximum(inner, -0.999))
            return total

        left, right = math.log(math.expm1(1e-3 * self.room)), math.log(min(0.7 * math.expm1(self.room), top[0] / 2.0))
        if float(bounds(math.exp(left)).min()) > target:
            return 0.0, 0.0
        left = bracketed(lambda x: float(bounds(math.exp(x)).min()) - target, left, right, _NEAR)[0]
        return math.exp(left), float(orders[np.argmax(bounds(math.exp(left)) <= target)])  # the least: e^{kL} may be no double

    @cached_property
    def _fade(self) -> float:
        """About the u at which |phi|^n has died out."""
        u = np.geomspace(1e-2, 1e12, 43)
        total = np.zeros(u.size)
        for guide in self.guides:
            ratio, weight = guide.ratio[::_SELDOM], guide.weight[::_SELDOM]
            total += _SELDOM * guide.count * ((1.0 - np.cos(np.minimum(u[:, None] * ratio, 1e3))) @ weight)
        dead = np.nonzero(total > _DEAD)[0]
        return float(u[dead[0]]) if dead.size else math.inf

    def _marks(self, low: float, top: tuple[float, float]) -> Marks:
        """A width such that what is large is never small: kappa >= nu for all x >= -q."""
        (high, wide), rate = top, max(shape.rate for shape, _ in self.terms)
        narrow = max(min(self.soft * low, wide), wide * (rate + low) / (rate + high) * (1.0 + 1e-12)) if low else 0.0
        return Marks(low, high, narrow, wide)

    def _mark(self, marks: Marks) -> None:
        """Fixes the marks, and the weights of what is large (or not small), of what is not, and of what is middle.

        They are times e^lift.
        """
        self.marks, self._unit = marks, math.exp(-self.lift)
        self._found: dict[float, tuple[float, float, float]] = {}
        self._tables: list[tuple[_Guide, Array, Array, Array]] = []
        for guide in self.guides:
            large = guide.mark(marks.high, marks.high_width)
            heavy = guide.mark(marks.low, marks.low_width) if marks.low else large
            w = guide.lifted
            self._tables.append((guide, w * heavy, w * (1.0 - heavy), w * np.maximum(heavy - large, 0.0)))

    def expand(self, c: float) -> tuple[float, float, float]:
        """log of the transform at c, and two derivatives."""
        if c not in self._found:
            with np.errstate(all="ignore"):
                self._found[c] = self._expand(c)
            if not all(map(math.isfinite, self._found[c])):
                self._found[c] = _HUGE  # so that a search turns back
        return self._found[c]

    def _expand(self, c: float) -> tuple[float, float, float]:
        k = 1.0 + c
        base, gain = self._beside(c), np.zeros(3)  # n log(phi - mid) and n log(phi / (phi - mid))
        for guide, heavy, light, middle in self._tables:
            x, grown = guide.x * self._unit, np.exp(np.minimum(k * guide.ratio - self.lift, 600.0))
            powers = grown, guide.ratio * grown, guide.ratio * guide.ratio * grown
            q, drift = float(heavy.sum()) * self._unit, float(heavy @ x)
            value = 1.0 - q - k * drift + float(light @ (grown - self._unit - k * x))
            rest = np.array([value, float(light @ (powers[1] - x)) - drift, float(light @ powers[2])])
            base = base + guide.count * _log_jet(rest)
            if self.marks.low:
                mid = np.array([float(middle @ power) for power in powers])
                odds = np.array([mid[0], mid[1] - mid[0] * rest[1] / rest[0], 0.0]) / rest[0]
                odds[2] = (mid[2] - odds[0] * rest[2] - 2.0 * odds[1] * rest[1]) / rest[0]
                gain = gain + guide.count * _log_jet(odds + _ONE, float(odds[0]))
        if self.marks.low and not gain[0] > 1e-250:  # next to none is middle
            base[0] += math.log(max(float(gain[0]), 1e-300))
        elif self.marks.low:  # + log(e^gain - 1)
            some = max(-math.expm1(-float(gain[0])), 1e-300)
            base[0] += gain[0] + math.log(some)
            base[1] += gain[1] / some
            base[2] += gain[2] / some - (gain[1] / some) ** 2 * (1.0 - some)
        return float(base[0]), float(base[1]), max(float(base[2]), 1e-300)

    def height(self, c: float) -> float:
        """n log phi at c."""
        k, total = 1.0 + c, float(self._beside(c)[0])
        for guide, heavy, light, middle in self._tables:
            x, grown = guide.x * self._unit, np.exp(np.minimum(k * guide.ratio - self.lift, 600.0))
            with np.errstate(all="ignore"):
                value = 1.0 + float(light @ (grown - self._unit - k * x)) - float(heavy.sum()) * self._unit - k * float(heavy @ x)
                value += float(middle @ grown)
            if not math.isfinite(value):
                raise Inconclusive
            total += guide.count * math.log(max(value, 1e-3))
        return total

    def saddle_of_epsilon(self, epsilon: float) -> float:
        """The c at which a contour should lie."""
        return self.run.saddle_of_epsilon(epsilon, 10.0 / self.scale, self.expand)

    def about(self, epsilon: float) -> tuple[float, float]:
        """log delta and its slope near the epsilon of the marks, to a few per cent."""
        saddle = Saddle.of_epsilon(self, epsilon)  # type: ignore[arg-type]
        inner = math.exp(saddle.log_delta + self.lift)
        some = away = 0.0
        for guide, heavy, _, middle in self._tables:
            large = heavy - middle if self.marks.low else heavy
            some += guide.count * float(large @ (1.0 + guide.x))
            away += guide.count * float(large.sum()) * math.exp(min(epsilon, 600.0))
        some, away = (some, away) if some > away else (0.0, 0.0)
        total = some - away + inner + 1e-300
        return math.log(total) - self.lift, -(saddle.c * inner + away) / total


def _log_jet(jet: Array, excess: float | None = None) -> Array:
    """log f and its derivatives from f, f', f''; f - 1 may be given."""
    value = max(float(jet[0]), 1e-300)
    first = float(jet[1]) / value
    return np.array([math.log(value) if excess is None else math.log1p(excess), first, float(jet[2]) / value - first * first])


def unmarked(run: ComposedLoss) -> list[tuple[Loss, int]]:
    """What takes part besides the steps that are marked."""
    return [(loss, count) for loss, count in run.terms if not isinstance(loss, SampledGaussianLoss)]


def largest_sum(losses: Iterable[tuple[Loss, int]]) -> float:
    """About the largest sum of some losses, if that is finite, else 0."""
    found = math.fsum(count * loss.ceiling for loss, count in losses)
    return found if found < math.inf else 0.0


def parts(run: ComposedLoss) -> bool:
    """Whether the run is one that can be parted, and sparse enough to be worth it: the record is drawn less often than that."""
    drawn = 0.0
    for loss, count in run.terms:
        if isinstance(loss, SampledGaussianLoss) and loss.removals == (True,) and loss.shape.rate > _FAINT:
            drawn += count * loss.shape.rate
        elif not isinstance(loss, _SYMMETRIC) or loss.infinite_mass:
            return False
    return 0.0 < drawn < _DENSE
