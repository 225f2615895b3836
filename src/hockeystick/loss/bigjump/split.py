"""Sparse sampling: steps whose loss alone decides are counted apart, and the contour answers for the rest.

Under sparse sampling a step's loss is nearly always tiny and seldom as large as epsilon: no tilt serves both, and the transform
of the sum hardly falls, since with probability e^{-qT} nothing happens.  So every step is marked by chance, depending on its
outcome, as small, middle or large (`parted_cells.py`), and large ones are counted apart (`apart.py`): Chernoff's inequality says
that the others hardly take back what a large step adds.  What is left is an integral along a contour, with phi^n for "none
large" or, less a bound of what small steps alone can do, with phi^n - (phi - mid)^n for "none large, not all small"
(docs/mathematics.md, section 7a).
"""

import math
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray, log1p_complex
from ...numerics.rounding import FUNCTION, UNIT
from ...numerics.trapezoid import Cells
from ..composed import ComposedLoss, ComposedSlice
from ..contour.contour import Contour, log_markov
from ..contour.guess import estimate, guess
from ..invert import BELOW, About, ends, root, settled_epsilon, settled_log_delta
from ..protocol import Inconclusive
from .cells import Marks
from .guess import jumped_epsilon, jumped_log_delta
from .identity import Apart
from .thresholds import Sketch, largest_sum, parts, unmarked
from .transform import PartedStep

_FINE = 30.0  # -log of the errors of the rule
_NEAR, _CLOSE, _NARROW = 0.01, 1e-8, 5e-6
_SHARP = 1.0, 0.5
_NODES = 1 << 13
_FAR = 1e100  # phi is not so large where anything is proved


class _Slice(NamedTuple):
    """Along Re w = c: what a contour asks of a composed run."""

    steps: list[tuple[PartedStep, int]]
    c: float
    log_goal: float
    level: float  # about log of the transform at c
    others: ComposedSlice | None  # that are not marked; then no step is small

    @property
    def parted(self) -> bool:
        return self.steps[0][0].parted

    def keep(self, rows: list[int]) -> "_Slice":
        return self

    def cumulant_above(self, points: Array) -> Array:
        """phi^n, or phi^n - (phi - mid)^n <= n mid max(phi, 1)^n, from above."""
        found = []
        for point in points.tolist():
            height, middle = 0.0, 0.0
            for step, count in self.steps:
                excess = step.above(1.0 + point)
                height += count * math.log1p(max(excess, -0.5 if not self.parted else 0.0)) if excess < math.inf else math.inf
                middle += count * step.mid_above(1.0 + point) if self.parted else 0.0
            found.append(height + (min(0.0, math.log(middle)) if self.parted else 0.0) + 1e-9)
        return np.array([found]) + (self.others.cumulant_above(points) if self.others else 0.0)

    def decay(self, cells: Cells) -> Array:
        """Relative to `level`: |phi^n|, or |phi^n - (phi - mid)^n| <= n |mid| max(phi(c), 1)^n."""
        k, u = 1.0 + self.c, cells.left
        if self.parted:
            heights = [count * math.log1p(max(step.above(k), 0.0)) for step, count in self.steps]
            logs = np.array([math.log(count) + step.far_off(k, u) for step, count in self.steps])
            found: Array = self.level - sum(heights) - 1e-9 - np.logaddexp.reduce(logs)
            if self.others:
                found += self.others.decay(cells) - float(self.others.cumulant_above(np.array([self.c]))[0, 0])
            found = np.maximum(0.0, found)
        else:
            near, far = np.zeros(u.size), np.full(u.size, self.level)
            for step, count in self.steps:
                near += count * step.fall(k, 1.0 + step.above(k), cells)[0]
                far -= count * step.far_off(k, u)
            if self.others:
                fall = self.others.decay(cells)
                near += fall
                far += fall - float(self.others.cumulant_above(np.array([self.c]))[0, 0])
            found = np.maximum(near * (1.0 - 1e-12), far - 1e-9)
        return found

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        total: ComplexArray = np.zeros(nodes, dtype=np.complex128)
        gain: ComplexArray = np.zeros(nodes, dtype=np.complex128)  # n log(phi / (phi - mid))
        error, most, slip, apart, sure = (np.zeros(nodes) for _ in range(5))
        for one, count in self.steps:
            parts = one.values(1.0 + self.c, step, nodes, self.log_goal)
            size = np.abs(1.0 + parts.excess)
            if not (float(size.min()) > 1e-280 and float(size.max()) < _FAR):
                raise Inconclusive
            value, off = log1p_complex(parts.excess), parts.excess_error / size
            total += count * value
            error += count * (np.log1p(off) + 4.0 * FUNCTION * np.abs(value))
            if parts.mid is not None:
                share = -parts.mid / (1.0 + parts.excess)
                rest = np.maximum(np.abs(1.0 + share), 1e-290)
                lost = (parts.mid_error / size + np.abs(share) * (off + 8.0 * UNIT)) / (1.0 - np.minimum(off, 0.5))
                term = log1p_complex(share)
                gain -= count * term
                lost += 8.0 * FUNCTION * np.abs(term) * rest
                most += count * np.log(rest + lost)
                slip += count * np.log1p(lost / rest)
                apart += count * np.log1p((off + parts.mid_error / size + 16.0 * UNIT) / rest)
                apart += count * 4.0 * FUNCTION * (np.abs(value) + np.abs(term))
                sure = np.maximum(sure, off)
        if self.parted:
            # log(1 - e^-gain), whatever the sign of its real part
            ahead = gain.real > 0.0
            inner = np.expm1(np.where(ahead, -gain, gain))
            inner = np.where(inner == 0.0, 1e-290, np.where(ahead, -inner, inner))
            kept = np.log(inner) - np.where(ahead, 0.0, gain)
            total += kept
            # the power of (phi - mid)/phi lies within that of its size + lost; or both powers err each by itself
            lost = np.exp(np.minimum(most - kept.real, 700.0)) * -np.expm1(-slip) + 8.0 * FUNCTION
            together = np.where((sure < 0.5) & (most - kept.real < 700.0), error + np.log1p(lost), math.inf)
            far = apart - gain.real - kept.real
            alone = np.expm1(np.minimum(error, 600.0)) * np.exp(np.minimum(-kept.real, 600.0))
            alone += np.exp(np.minimum(far, 700.0)) * -np.expm1(-apart)
            told = (error < 600.0) & (kept.real > -600.0) & (far < 700.0)
            error = np.minimum(together, np.where(told, np.log1p(alone + 8.0 * FUNCTION), math.inf))
        if self.others:
            value, off = self.others.values(step, nodes)
            total += value[0]
            error += off[0] + UNIT * np.abs(value[0])
        return total[None, :], (error + 4.0 * UNIT * np.abs(total))[None, :]


class Parted(Apart):
    """A run of sampled Gaussian steps in the order "remove", and others, for epsilons near one; every bound holds for all."""

    def __init__(self, sketch: Sketch) -> None:
        self.sketch, self.lift, marks, c = sketch, sketch.lift, sketch.marks, sketch.saddle.c
        most = max(2.0 + sketch.saddle.ahead, 10.0 / sketch.epsilon)
        self.steps = [(PartedStep(shape, marks, most, self.lift), count) for shape, count in sketch.terms]
        self._level = sketch.expand(c)[0]
        self.count_large((step.q + step.drift, step.q, count, step.error) for step, count in self.steps)
        self._bound_small()
        self._bound_taken()
        self.pace, self.nodes_allowed = c, _NODES * (4 if self.lift else 1)  # marks are narrow then
        self.inner = self.contour = contour = Contour(self, sketch.saddle)  # type: ignore[arg-type]
        if not contour.lay():
            self._without_nodes()
            return
        # the decay was proved relative to a guess
        contour.dropped *= math.exp(max(0.0, self._level - contour.height[0]))

    def _without_nodes(self) -> None:
        """What becomes of it if the nodes prove nothing."""
        raise Inconclusive

    def slice(self, c: float, ahead: float) -> _Slice:
        """Along the contour of the sketch."""
        short = min(0.0, self._level - self.sketch.height(c)) if self.sketch.marks.low else 0.0
        others = ComposedSlice(tuple((loss.slice(c, ahead, count), count) for loss, count in self.sketch.others))
        return _Slice(self.steps, c, short - _FINE - math.log(self.sketch.steps), self._level, others if others.slices else None)

    def _bound_small(self) -> None:
        """A bound of E[(1 - e^{eps-S})+; all small]: its logarithm falls by the order with eps.  What is not small is large."""
        self._order, self._small = self.sketch.order, -math.inf
        if not self._order:
            return
        marks = self.sketch.marks
        here = Marks(0.0, marks.low, 0.0, marks.low_width)
        self._small = log_markov(self._order) * (1.0 - 2.0 * FUNCTION) + 1e-9
        for shape, count in self.sketch.terms:
            step = PartedStep(shape, here, 1.0 + self._order, self.lift)
            found = step.values(1.0 + self._order, 0.0, 1, -14.0 - math.log(count))
            excess = float(found.excess[0].real) + float(found.excess_error[0])
            if not math.isfinite(excess):
                raise Inconclusive
            self._small += count * (math.log1p(excess) + 4.0 * FUNCTION * abs(math.log1p(excess)))
        for loss, count in self.sketch.others:
            self._small += count * float(
                loss.slice(self._order, self._order, count).cumulant_above(np.array([self._order]))[0, 0]
            )

    def _bound_taken(self) -> None:
        """Bounds of Q(S < eps, some): for several r, log of a sum over outcomes above some edges, to be multiplied by
        e^{r (eps - epsilon)}, and the probability that an outcome below them is marked as large."""
        self._taken = []
        for rate in self.sketch.rates:
            height = math.fsum(count * math.log1p(step.reverse_above(rate)) for step, count in self.steps) + 1e-9
            for loss, count in self.sketch.others:  # E_Q e^{-rZ} is E_P e^{rZ}
                height += count * float(loss.slice(rate, rate, count).cumulant_above(np.array([rate]))[0, 0]) * (1.0 + 4.0 * UNIT)
            near = far = 0.0
            for step, count in self.steps:
                light, heavy = step.large_above(rate, self.sketch.epsilon, self.lift)
                edge = int(np.logaddexp(np.log(light + 1e-300), height + np.log(heavy)).argmin())
                near, far = near + count * float(light[edge]), far + count * float(heavy[edge])
            self._taken.append((rate, height + math.log(far) + 1e-9, near * (1.0 + 1e-9)))

    def taken(self, epsilon: float) -> float:
        moved = epsilon - self.sketch.epsilon
        return min(math.exp(min(log + rate * moved, 1.0 + self.lift)) + near for rate, log, near in self._taken)

    def beside(self, epsilon: float) -> float:
        """What small steps alone may do."""
        if not self._order:
            return 0.0
        power = self._order * epsilon
        return math.exp(min(1.0, self._small - power + 8.0 * UNIT * (abs(self._small) + abs(power))) + self.lift) * (1.0 + 1e-12)


def parted_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""
    if not parts(run):
        raise Inconclusive
    low, high = -math.inf, math.inf
    for base, start in starts(run, log_delta):
        for sharp in _SHARP:
            with suppress(Inconclusive):
                found = _ends(run, log_delta, slack, base, start, sharp)
                low, high = max(low, found[0]), min(high, found[1])
            if high - low < _NARROW * high:
                return low, high
    if low == -math.inf and high == math.inf:
        raise Inconclusive
    return low, high


def _ends(run: ComposedLoss, log_delta: float, slack: float, base: float, start: float, sharp: float) -> tuple[float, float]:
    """What steps parted for about this epsilon prove; if that is little, and it was another epsilon, for that one."""
    found = ends(parted := Parted(Sketch(run, base + start, log_delta, sharp)), log_delta, slack, base + start)
    beyond = root(lambda x: parted.estimate(base + x), log_delta, start, 1e-13)
    if found[1] - found[0] > _CLOSE * (base + beyond) and abs(beyond - start) > _NEAR * beyond:
        found = ends(Parted(Sketch(run, base + beyond, log_delta, sharp)), log_delta, slack, base + beyond)
    return found


def starts(run: ComposedLoss, log_delta: float) -> Iterator[tuple[float, float]]:
    """The largest sum of the losses that are not marked, if epsilon lies beyond it, else 0; and about how far beyond.

    The guess of one big jump comes first; then the other, made better by what marks for it say.
    """
    others = unmarked(run)
    base, steps, level = largest_sum(others), run, log_delta
    if base > 0.0:
        steps = ComposedLoss(tuple(term for term in run.terms if term not in others))
        level -= sum(count * loss.log_top_mass for loss, count in others)
        if not level < estimate(steps, 0.0):
            base, steps, level = 0.0, run, log_delta
    if start := jumped_epsilon(steps, level):
        yield base, start

    def sketched(beyond: float) -> tuple[Sketch, About]:
        sketch = Sketch(run, base + beyond, log_delta)
        return sketch, lambda x: sketch.about(base + x)

    with suppress(Inconclusive):
        yield base, settled_epsilon(sketched, log_delta, guess(steps, level), 1e-3, _NEAR)[1]


def parted_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""
    if not parts(run):
        raise Inconclusive

    def sketched(log_delta: float) -> tuple[Sketch, About]:
        sketch = Sketch(run, epsilon, log_delta)
        return sketch, sketch.about

    level = jumped_log_delta(run, epsilon)
    sketch = settled_log_delta(sketched, epsilon, estimate(run, epsilon)) if level is None else sketched(min(level, BELOW))[0]
    found = (parted := Parted(sketch)).lower(epsilon), parted.upper(epsilon)
    reached = min(parted.estimate(epsilon)[0], BELOW)
    if found[1] - found[0] > _CLOSE and abs(reached - sketch.log_delta) > 1.0:
        found = (parted := Parted(sketched(reached)[0])).lower(epsilon), parted.upper(epsilon)
    return found[0], min(0.0, found[1])
