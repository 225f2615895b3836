"""Sparse sampling between the normal bulk and the single large loss: the large step is integrated over, the others as they come.

With nu the mark of a large step (`parted_cells.py`) and n steps, for every epsilon

    delta = E[(1 - e^{eps-S})+; none large] + n E[nu (1 - e^{eps-S})+] - (what two large steps count twice),

the last at most n^2 (E nu)^2; from above, the others of a large step may be taken as not large, and two large steps by
themselves.  Given the loss L of the marked step, what is left is delta of the other n - 1 steps:

    E[nu (1 - e^{eps-S})+] = E_Q[nu g(x)],    g(x) = (1 + x) delta'(eps - log(1 + x)),    e^L = 1 + x.

delta' is convex in e^eps, so g is convex in x (a perspective), and it grows.  On each cell of a fine partition g lies below its
chord, and above it by no more than a quarter of the cell times the difference of the neighbouring slopes; the same of nu, whose
slope is known (docs/mathematics.md, section 7a).  Tables of delta' and the integral are in `jump_rest.py`.
"""

import math
from contextlib import suppress

import numpy as np

from ...numerics.rounding import UNIT, exp_up
from ..composed import ComposedLoss
from ..contour.contour import Contour, Saddle
from ..contour.guess import estimate_epsilon, estimate_log_delta
from ..invert import certified_ends, root
from ..protocol import Inconclusive
from .cells import Marks
from .conditional_table import CELLS, NONE, Rest
from .split import Parted, starts
from .thresholds import DIGITS, Sketch, parts

_NEAR, _TRIES = 0.02, 6
_MARKS = 0.7 ** np.arange(26.0)  # as shares of epsilon's x
_EVEN, _LARGER = 4.0, 20.0  # log of how much larger than delta the contour's terms may be, and delta than was thought
_LOWEST = 0.02  # of the x of epsilon: no smaller mark is of use
_SLACK = 1e-9  # relative, of the integrals: far more than their rounding
_UNKNOWN = 10.0  # what is unknown, over what is known
_AROUND = 1.0, 0.97, 0.9, 0.75  # of a guess


class JumpSketch(Sketch):
    """The largest mark for which the contour's terms hardly cancel: what is large is integrated over, however small it is."""

    def _choose(self) -> None:
        self.order, best = 0.0, math.inf
        for high in (math.expm1(min(self.epsilon, 0.9 * self.likely)) * _MARKS).tolist():
            self._mark(Marks(0.0, high, 0.0, self.hard * high))
            saddle = Saddle.of_epsilon(self, self.epsilon)
            size = self._size(saddle)
            if size < max(_EVEN, best - 1.0):
                best, self.saddle, chosen = size, saddle, self.marks
            if size < _EVEN:
                return
            if self.marks.high < _LOWEST * math.expm1(self.epsilon):  # delta is larger at this epsilon, and there is no need
                break
        if not best < _LARGER:
            raise Inconclusive
        self._mark(chosen)

    @property
    def span(self) -> tuple[float, float]:
        """The losses of one step that matter."""
        least = max(self.marks.high * (1.0 - self.hard * self._far), 0.03 * self.marks.high)
        return math.log1p(least), self.likely

    @property
    def likely(self) -> float:
        """The largest of them."""
        return max(shape.ratio(self._far + 1.0 / shape.noise) for shape, _ in self.terms)

    @property
    def _far(self) -> float:
        """Noise beyond which hardly adds to delta."""
        return math.sqrt(2.0 * (DIGITS + math.log(self.steps) - self.log_delta))


class _Bound:
    """What a contour proves without nodes."""

    def __init__(self, contour: Contour) -> None:
        self._contour = contour

    def estimate(self, epsilon: float) -> tuple[float, float]:
        return self.upper(epsilon), -self._contour.c

    def lower(self, epsilon: float) -> float:
        return -math.inf

    def upper(self, epsilon: float) -> float:
        return self._contour.markov_log_delta(epsilon)


class OneJump(Parted):
    """A run near one epsilon, the large step of which is integrated over."""

    def __init__(self, sketch: JumpSketch) -> None:
        least, most = sketch.span
        y = sketch.epsilon - np.linspace(least, most, CELLS + 1)
        tables = [Rest(sketch.run, loss, sketch.epsilon, y) for loss, _ in sketch.marked]
        with np.errstate(all="ignore"):  # what is not finite proves nothing
            super().__init__(sketch)
        if self.inner is self.contour and not all(map(math.isfinite, (*self.contour.sum_error, *self.contour.log_scale))):
            raise Inconclusive
        if (sketch.saddle.ahead + 1.0) * max(step.q + step.drift for step, _ in self.steps) * exp_up(-self.lift) < 0.5 * NONE:
            for table in tables:
                table.with_none_large(self.contour)
        self._rests = [(table, *one) for table, one in zip(tables, self.steps, strict=True)]
        for table, step, _ in self._rests:
            while table.look(step.marks.high, step.marks.high_width, sketch.epsilon, self.lift):
                pass
        # P(two are large)
        large = math.fsum(count * (step.q + step.drift) * (1.0 + step.error) for step, count in self.steps)
        self._twice = large**2 * exp_up(-self.lift) * (1.0 + 1e-6)

    def _bound_taken(self) -> None:
        self._taken = []

    def _without_nodes(self) -> None:
        """A bound may be enough of what is left without a large step."""
        self.inner = _Bound(self.contour)

    def _jump(self, epsilon: float) -> tuple[float, float]:
        """Both ends of n E[nu (1 - e^{eps-S})+], over all steps."""
        low = high = 0.0
        for rest, step, count in self._rests:
            one, two = rest.integral(step.marks.high, step.marks.high_width, epsilon, self.lift)
            low, high = low + count * one, high + count * two
        return low * (1.0 - _SLACK), high * (1.0 + _SLACK)

    def tells(self, epsilon: float) -> bool:
        """Whether more is known than unknown."""
        low, high = self._jump(epsilon)
        return high - low < _UNKNOWN * (low + self._raised(self.inner.lower(epsilon)))

    def _ends(self, epsilon: float) -> tuple[float, float]:
        low, high = self._jump(epsilon)
        return low - self._twice, (high + self._twice) * (1.0 + 4.0 * UNIT)

    def estimate(self, epsilon: float) -> tuple[float, float]:
        width = 1e-4 / self.pace
        values = []
        for place in (epsilon, epsilon + width):
            total = 0.5 * sum(self._jump(place)) + self._raised(self.inner.estimate(place)[0])
            values.append(math.log(max(total, 1e-300)) - self.lift)
        return values[0], min((values[1] - values[0]) / width, -1e-3 * self.pace)


def jump_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""
    if not parts(run):
        raise Inconclusive
    for base, start in starts(run, log_delta):
        with suppress(Inconclusive):
            return _from(run, log_delta, slack, base + start)
    return _from(run, log_delta, slack, estimate_epsilon(run, log_delta))


def _from(run: ComposedLoss, log_delta: float, slack: float, epsilon: float) -> tuple[float, float]:
    """Likewise, from this guess on."""
    shares: tuple[float, ...] = _AROUND  # of a first guess, which may be far off
    for _ in range(_TRIES):
        found = OneJump(JumpSketch(run, epsilon, log_delta))
        if not any(found.tells(share * epsilon) for share in shares):
            raise Inconclusive
        reached = root(found.estimate, log_delta, epsilon, 1e-6 if len(shares) == 1 else 1e-3)
        if abs(reached - epsilon) < _NEAR * epsilon:
            return certified_ends(found, log_delta, slack, reached)
        epsilon, shares = reached, _AROUND[:1]
    raise Inconclusive


def jump_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""
    if not parts(run):
        raise Inconclusive
    level = min(estimate_log_delta(run, epsilon), -1.0)
    for _ in range(_TRIES):
        found = OneJump(JumpSketch(run, epsilon, level))
        reached = found.estimate(epsilon)[0]
        if abs(reached - level) < 1.0:
            return found.lower(epsilon), min(0.0, found.upper(epsilon))
        level = reached
    raise Inconclusive
