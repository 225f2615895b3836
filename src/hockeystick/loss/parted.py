"""Sparse sampling: steps whose loss alone decides are counted apart, and the contour answers for the rest.

Under sparse sampling a step's loss is nearly always tiny and seldom as large as epsilon: no tilt serves both, and the transform
of the sum hardly falls, since with probability e^{-qT} nothing happens.  So every step is marked by chance, depending on its
outcome, as small, middle or large (`parted_step.py`).  With "some" the event that some step is large, for every epsilon

    delta = P(some) - e^eps Q(some)  +  e^eps E_Q[(1 - e^{S-eps})+; some]  +  E[(1 - e^{eps-S})+; none large],

where the first two terms are closed forms, the third is at most e^{eps (1+r)} times the sum of n E_Q[nu e^{-rL}] (E_Q e^{-rL})^{n-1}
for any r > 0 (a large step outweighs what the others can take back), and the last is an integral along a contour with phi^n
(none large) or, less a Chernoff bound of what only small steps can do, with phi^n - (phi - mid)^n (none large, not all small).
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..numerics.cells import Cells
from ..numerics.roots import certified_end, increasing_root
from ..numerics.rounding import FUNCTION, UNIT
from ..numerics.series import Array, ComplexArray, log1p_complex
from .composed import ComposedLoss
from .contour import Contour, Saddle, log_markov
from .noise import LOG_ROOT_TWO_PI, Shape, TooFine
from .parted_step import Marks, PartedStep, place
from .plan import estimate, guess
from .sampled import SampledGaussianLoss

_SURE = (29.0, 24.0, 20.0, 16.0, 13.0)  # -log of the relative size allowed to what is only bounded
_DIGITS = 24.0  # and of the errors of the sum's terms
_FINE = 30.0  # and to the errors of the rule
_DEAD = 45.0
_SOFT, _HARD = 0.08, 0.03  # widths of the marks of what is small and of what is large, relative to x
_STEPS = 2.0 ** np.arange(-2.0, 10.0, 0.75)
_NODES = 1 << 13
_TRIES, _NEAR = 6, 0.03
_ONE = np.array([1.0, 0.0, 0.0])


class _Guide:
    """One step on plain nodes of the noise: to choose by, never part of an answer."""

    def __init__(self, shape: Shape, count: int, last: float) -> None:
        self.shape, self.count = shape, count
        spacing = 0.018 * min(shape.noise, 1.0)
        if not 0.0 < (last + 8.0) / spacing < 40_000.0:
            raise TooFine
        z = np.arange(-8.0, last, spacing)
        self.ratio, _ = shape.ratios(z)
        self.x = np.expm1(self.ratio)
        self.log_weight = math.log(spacing) - LOG_ROOT_TWO_PI - 0.5 * z * z
        self.weight = np.exp(self.log_weight)

    def mark(self, high: float, sharp: float) -> Array:
        from scipy.special import ndtr

        found: Array = ndtr((self.x - high) / (sharp * high))
        return found

    def bent(self, k: Array) -> Array:
        """e^{kL} - 1 - k x, one row for each k, weighted."""
        column = k[:, None]
        grown = column * self.ratio
        with np.errstate(over="ignore"):
            found: Array = np.where(
                grown < 30.0, np.expm1(np.minimum(grown, 30.0)) * self.weight, np.exp(grown + self.log_weight)
            )
        return np.minimum(found, 1e300) - column * (self.x * self.weight)


def _top(guides: Sequence[_Guide], epsilon: float, target: float, most: float, sharp: float) -> float:
    """The least x from which a step may be called large, so that the others hardly ever take it back below epsilon."""
    rates = _STEPS / epsilon
    fixed = np.full(rates.size, epsilon)
    lifted = []
    for guide in guides:
        inner = np.maximum(guide.bent(-rates).sum(axis=1), -0.999)
        fixed = fixed + guide.count * np.log1p(inner)
        lifted.append(np.exp(np.minimum(rates[:, None] * (epsilon - guide.ratio), 600.0)) * (guide.weight * guide.count))

    def taken_back(x: float) -> float:
        best = math.inf
        marks = [guide.mark(x, sharp) for guide in guides]
        for share in (1.0, 1.1, 1.25, 1.5, 2.0, 3.0):  # of epsilon, above which Chernoff's bound is used
            near = heavy = 0.0
            for mark, lift, guide in zip(marks, lifted, guides, strict=True):
                cut = int(guide.ratio.searchsorted(share * epsilon))
                near += guide.count * float(guide.weight[:cut] @ mark[:cut])
                heavy = heavy + lift[:, cut:] @ mark[cut:]
            far = float((fixed + np.log(heavy + 1e-290)).min())
            best = min(best, float(np.logaddexp(far, math.log(near + 1e-300) + epsilon)))
        return best

    low, high = math.log(1.05 * math.expm1(epsilon)), math.log(most)
    while high - low > 0.03:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if taken_back(math.exp(middle)) < target else (middle, high)
    return math.exp(high)


def _bottom(guides: Sequence[_Guide], epsilon: float, target: float, top: float, sharp: float) -> tuple[float, list[float]]:
    """The largest x below which steps may be called small, so that they alone hardly ever reach epsilon; the orders that show it."""
    orders = 4.0 * _STEPS / epsilon
    tables = [(guide, guide.bent(1.0 + orders)) for guide in guides]
    markov = np.array([log_markov(order) for order in orders.tolist()])

    def reached(x: float) -> Array:
        total = markov - orders * epsilon
        for guide, table in tables:
            mark = guide.mark(x, sharp)
            some = mark * guide.weight
            inner = table @ (1.0 - mark) - float(some.sum()) - (1.0 + orders) * float(some @ guide.x)
            total = total + guide.count * np.log1p(np.maximum(inner, -0.999))
        return total

    scale = math.expm1(epsilon)
    low, high = math.log(math.expm1(1e-3 * epsilon)), math.log(min(0.7 * scale, top / 2.0))
    if float(reached(math.exp(low)).min()) > target:
        return 0.0, []
    while high - low > 0.02:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if float(reached(math.exp(middle)).min()) < target else (low, middle)
    best = int(reached(math.exp(low)).argmin())
    return math.exp(low), [float(orders[best])]


def _fade(guides: Sequence[_Guide]) -> float:
    """About the u at which |phi|^n has died out."""
    u = np.geomspace(1e-2, 1e12, 57)
    total = sum(guide.count * ((1.0 - np.cos(np.minimum(u[:, None] * guide.ratio, 1e3))) @ guide.weight) for guide in guides)
    dead = np.nonzero(total > _DEAD)[0]
    return float(u[dead[0]]) if dead.size else math.inf


class _Slice(NamedTuple):
    """Along Re w = c: what a contour asks of a composed run."""

    steps: list[tuple[PartedStep, int]]
    c: float
    log_goal: float
    level: float  # about log of the transform at c

    @property
    def parted(self) -> bool:
        return self.steps[0][0].parted

    def keep(self, rows: list[int]) -> "_Slice":
        return self

    def above(self, points: Array) -> Array:
        """phi^n, or phi^n - (phi - mid)^n <= n mid max(phi, 1)^n, from above."""
        found = []
        for point in points.tolist():
            height, middle = 0.0, 0.0
            for step, count in self.steps:
                excess = step.above(1.0 + point)
                height += count * math.log1p(max(excess, -0.5 if not self.parted else 0.0)) if excess < math.inf else math.inf
                middle += count * step.mid_above(1.0 + point) if self.parted else 0.0
            found.append(height + (min(0.0, math.log(middle)) if self.parted else 0.0) + 1e-9)
        return np.array([found])

    def decay(self, cells: Cells) -> Array:
        """Relative to `level`."""
        k = 1.0 + self.c
        if not self.parted:
            near, far = np.zeros(cells.left.size), np.full(cells.left.size, self.level)
            for step, count in self.steps:
                near += count * step.fall(k, 1.0 + step.above(k), cells)[0]
                far -= count * step.far_off(k, cells.left)
            return np.maximum(near * (1.0 - 1e-12), far)
        height, logs = 0.0, []
        for step, count in self.steps:
            height += count * math.log1p(max(step.above(k), 0.0))
            logs.append(math.log(count) + step.far_off(k, cells.left))
        return np.maximum(0.0, self.level - height - np.logaddexp.reduce(np.array(logs)) - 1e-9)

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        total: ComplexArray = np.zeros(nodes, dtype=np.complex128)
        gain: ComplexArray = np.zeros(nodes, dtype=np.complex128)  # n log(phi / (phi - mid))
        error, gain_error = np.zeros(nodes), np.zeros(nodes)
        for one, count in self.steps:
            parts = one.values(1.0 + self.c, step, nodes, self.log_goal)
            size = np.maximum(np.abs(1.0 + parts.excess), 1e-290)
            value, off = log1p_complex(parts.excess), parts.excess_error / size
            total += count * value
            error += count * (off + 4.0 * FUNCTION * np.abs(value))
            if parts.mid is not None and parts.mid_error is not None:
                share = -parts.mid / (1.0 + parts.excess)
                lost = (parts.mid_error / size + np.abs(share) * (off + 8.0 * UNIT)) * (1.0 + 1e-6)
                term = log1p_complex(share)
                gain -= count * term
                rest = np.abs(1.0 + share)
                gain_error += count * np.where(lost < 0.5 * rest, 2.0 * lost / np.maximum(rest, 1e-290), 1e3)
                gain_error += count * 8.0 * UNIT * np.abs(term)
        if self.parted:
            kept = np.expm1(-gain)
            size = np.maximum(np.abs(kept), 1e-290)
            lost = np.exp(np.minimum(-gain.real, 700.0)) * np.expm1(np.minimum(gain_error, 600.0)) + 8.0 * FUNCTION * size
            total += np.log(-np.where(kept == 0.0, -1e-290, kept))
            error = error + np.log1p(lost / size)
        return total[None, :], (error + 4.0 * UNIT * np.abs(total))[None, :]


class Parted:
    """A run of sampled Gaussian steps in the order "remove", for epsilons near one; every bound holds for all epsilons."""

    nodes_allowed = _NODES

    def __init__(self, run: ComposedLoss, epsilon: float, log_delta: float) -> None:
        if not (parts(run) and 1e-7 < epsilon < 200.0 and log_delta > -600.0):
            raise TooFine
        self.run, self.epsilon = run, epsilon
        terms = [(loss, count) for loss, count in run.terms if isinstance(loss, SampledGaussianLoss)]
        deviation = math.sqrt(sum(count * loss.rough[1] for loss, count in terms))
        most = math.expm1(2.0 * epsilon + 14.0 * deviation)
        self.guides = [_Guide(loss.shape, count, place(loss.shape, 3.0 * most)) for loss, count in terms]
        steps = sum(count for _, count in terms)
        # so that hardly any tiny loss is marked
        sharp = 1.0 / math.sqrt(2.0 * (math.log(steps) + 4.0 + epsilon + _SURE[0] - log_delta))
        hard = _HARD * epsilon / -math.expm1(-epsilon)  # the tilt at epsilon is steep if that is small
        self.sharp = min(_SOFT, sharp), min(_SOFT, hard, sharp)
        fade = _fade(self.guides)
        for sure in _SURE:
            target = log_delta - sure
            self.high = _top(self.guides, epsilon, target, most, self.sharp[1])
            self.low, orders = _bottom(self.guides, epsilon, target, self.high, self.sharp[0])
            if self.low and not 9.0 / self.sharp[0] * (1.0 + self.low) / self.low < fade:
                self.low, orders = 0.0, []
            self._weigh()
            saddle = Saddle.of_epsilon(self, epsilon)  # type: ignore[arg-type]
            c = saddle.c
            size = self.expand(c)[0] - c * epsilon - math.log(c) - math.log1p(c) + math.log(saddle.width)
            if size - log_delta - _DIGITS < -sure:
                break  # else the terms of the sum would cancel too far: a nearer top is the better choice
        start = 10.0 / epsilon
        marks = Marks(self.low, self.high, self.sharp[0] * self.low, self.sharp[1] * self.high)
        self.steps = [
            (PartedStep(loss.shape, marks, max(2.0 + saddle.ahead, *(1.0 + order for order in orders), start)), count)
            for loss, count in terms
        ]
        self._count_large()
        self._bound_small(orders)
        self._bound_taken(epsilon)
        self.contour = Contour(self, saddle)  # type: ignore[arg-type]
        self.laid = self.contour.lay()
        if self.laid:  # the decay was proved relative to a guess
            self.contour.dropped *= math.exp(max(0.0, self._level - self.contour.height[0]))

    def _weigh(self) -> None:
        """The weights of the guides, marked."""
        self._tables = []
        for guide in self.guides:
            large = guide.mark(self.high, self.sharp[1])
            middle = (guide.mark(self.low, self.sharp[0]) if self.low else np.ones(large.size)) - large
            self._tables.append(
                (guide, guide.weight * large, guide.weight * (1.0 - large), guide.weight * np.maximum(middle, 0.0))
            )

    def expand(self, c: float) -> tuple[float, float, float]:
        """log of the transform at c and two derivatives, about."""
        k = 1.0 + c
        base = np.zeros(3)  # n log phi, or n log(phi - mid)
        gain = np.zeros(3)
        for guide, large, kept, middle in self._tables:
            grown = np.exp(np.minimum(k * guide.ratio, 600.0))
            q, drift = float(large.sum()), float(large @ guide.x)
            phi = np.array(
                [
                    1.0 + float(kept @ (grown - 1.0 - k * guide.x)) - q - k * drift,
                    float(kept @ (guide.ratio * grown - guide.x)) - drift,
                    float(kept @ (guide.ratio**2 * grown)),
                ]
            )
            mid = np.array([float(middle @ (guide.ratio**power * grown)) for power in range(3)])
            if self.low:
                rest = phi - mid
                odds = np.array([mid[0], mid[1] - mid[0] * rest[1] / rest[0], 0.0]) / rest[0]
                odds[2] = (mid[2] - odds[0] * rest[2] - 2.0 * odds[1] * rest[1]) / rest[0]
                base, gain = base + guide.count * _log_jet(rest), gain + guide.count * _log_jet(odds + _ONE, odds[0])
            else:
                base = base + guide.count * _log_jet(phi)
        if self.low:  # log(e^gain - 1)
            some = max(-math.expm1(-float(gain[0])), 1e-300)
            base[0] += gain[0] + math.log(some)
            base[1] += gain[1] / some
            base[2] += gain[2] / some - gain[1] ** 2 * (1.0 - some) / some**2
        return float(base[0]), float(base[1]), max(float(base[2]), 1e-300)

    def saddle_of_epsilon(self, epsilon: float) -> float:
        """The c of `Saddle`."""
        return self.run.saddle_of_epsilon(epsilon, 10.0 / epsilon, self.expand)

    def slice(self, c: float, ahead: float) -> _Slice:
        self._level = self.expand(c)[0]
        heights = sum(
            guide.count * math.log(max(self._phi(guide, kept, large, c), 1e-3)) for guide, large, kept, _ in self._tables
        )
        counts = sum(count for _, count in self.steps)
        goal = -_FINE - math.log(counts) + min(0.0, self._level - heights if self.low else 0.0)
        return _Slice(self.steps, c, goal, self._level)

    @staticmethod
    def _phi(guide: _Guide, kept: Array, large: Array, c: float) -> float:
        k = 1.0 + c
        bent = np.exp(np.minimum(k * guide.ratio, 600.0)) - 1.0 - k * guide.x
        return 1.0 + float(kept @ bent) - float(large.sum()) - k * float(large @ guide.x)

    def _count_large(self) -> None:
        """P(some) and Q(some), and a bound of their relative errors."""
        log_p = math.fsum(count * math.log1p(-(step.q + step.drift)) for step, count in self.steps)
        log_q = math.fsum(count * math.log1p(-step.q) for step, count in self.steps)
        self.p, self.q = -math.expm1(log_p), -math.expm1(log_q)
        worst = max(step.error for step, _ in self.steps)
        self.count_error = worst * (1.0 + 1e-6) + 4.0 * FUNCTION + (len(self.steps) + 8.0) * UNIT

    def _bound_small(self, orders: list[float]) -> None:
        """Bounds of E[(1 - e^{eps-S})+; all small], as logarithms that fall by the order with eps: that not small is large here."""
        self._small = []
        if not orders:
            return
        marks = Marks(0.0, self.low, 0.0, self.sharp[0] * self.low)
        steps = [(PartedStep(step.shape, marks, 1.0 + max(orders)), count) for step, count in self.steps]
        for order in orders:
            total = log_markov(order) * (1.0 - 2.0 * FUNCTION) + 1e-9
            for step, count in steps:
                found = step.values(1.0 + order, 0.0, 1, -14.0 - math.log(count))
                total += count * math.log1p(float(found.excess[0].real) + float(found.excess_error[0])) * (1.0 + 4.0 * FUNCTION)
            self._small.append((order, total))

    def _bound_taken(self, epsilon: float) -> None:
        """Bounds of Q(S < eps, some): for several r, log of a sum over outcomes above some edges, which is to be multiplied by
        e^{r (eps - epsilon)}, and the probability to be marked as large below them."""
        self._taken = []
        for rate in (_STEPS / epsilon).tolist():
            height = math.fsum(count * math.log1p(step.reverse_above(rate)) for step, count in self.steps) + 1e-9
            near = far = 0.0
            lift = math.exp(min(height, 600.0))
            for step, count in self.steps:
                light, heavy = step.large_above(rate, epsilon)
                edge = int((light + lift * heavy).argmin())
                near, far = near + count * float(light[edge]), far + count * float(heavy[edge])
            self._taken.append((rate, height + math.log(far + 1e-300) + 1e-9, near * (1.0 + 1e-9)))

    def _sides(self, epsilon: float) -> tuple[float, float, float]:
        """P(some) - e^eps Q(some), a bound of its error, and a bound of what else may add to delta."""
        away = self.q * math.exp(epsilon)
        error = (self.p + away) * (self.count_error + 4.0 * FUNCTION)
        taken = (math.exp(min(log + rate * (epsilon - self.epsilon), 1.0)) + near for rate, log, near in self._taken)
        rest = min((1.0, *taken)) * math.exp(epsilon)
        if self.low:
            rest += math.exp(min(1.0, *(log - order * epsilon for order, log in self._small)))
        return self.p - away, error, rest * (1.0 + 1e-9)

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta and its slope, uncertified."""
        some, _, _ = self._sides(epsilon)
        value, slope = self.contour.estimate(epsilon)
        inner = math.exp(min(value, 1.0))
        total = max(some + inner, 1e-300)
        return math.log(total), min((inner * slope - self.q * math.exp(epsilon)) / total, -1e-3 * self.contour.c)

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta(epsilon)."""
        some, error, _ = self._sides(epsilon)
        total = some - error + math.exp(min(self.contour.lower(epsilon), 1.0)) * (1.0 - 2.0 * FUNCTION)
        return math.log(total) - 4.0 * FUNCTION * (1.0 + abs(math.log(total))) if total > 0.0 else -math.inf

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon)."""
        some, error, rest = self._sides(epsilon)
        total = some + error + rest + math.exp(min(self.contour.upper(epsilon), 1.0)) * (1.0 + 2.0 * FUNCTION)
        return math.log(total) + 4.0 * FUNCTION * (1.0 + abs(math.log(total)))


def parted_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""
    epsilon = guess(run, log_delta)
    for _ in range(_TRIES):
        parted = Parted(run, epsilon, log_delta)
        if not parted.laid:
            raise TooFine

        def gap(at: float, parted: Parted = parted) -> tuple[float, float]:
            value, slope = parted.estimate(at)
            return log_delta - value, -slope

        found = increasing_root(gap, epsilon, lower=0.4 * epsilon, upper=2.5 * epsilon, tolerance=1e-13, steps=60)
        near = abs(found - epsilon) < _NEAR * epsilon
        epsilon = found
        if near:
            break
    pace = -parted.estimate(epsilon)[1]
    return (
        certified_end(lambda e: parted.lower(e) - (log_delta + slack), epsilon, -pace),
        certified_end(lambda e: (log_delta - slack) - parted.upper(e), epsilon, pace),
    )


def parted_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""
    log_delta = min(estimate(run, epsilon), -1e-9)
    low, high = -math.inf, 0.0
    for _ in range(_TRIES):
        parted = Parted(run, epsilon, log_delta)
        if not parted.laid:
            raise TooFine
        low, high = max(low, parted.lower(epsilon)), min(high, parted.upper(epsilon))
        found = parted.estimate(epsilon)[0]
        if abs(found - log_delta) < 1.0:
            break
        log_delta = found
    return low, high


def _log_jet(jet: Array, excess: float | None = None) -> Array:
    """log f and its derivatives from f, f', f''; f - 1 may be given."""
    value = max(float(jet[0]), 1e-300)
    first = float(jet[1]) / value
    return np.array([math.log(value) if excess is None else math.log1p(excess), first, float(jet[2]) / value - first * first])


def parts(run: ComposedLoss) -> bool:
    """Whether the run is one that can be parted."""
    return all(isinstance(loss, SampledGaussianLoss) and loss.removals == (True,) for loss, _ in run.terms)
