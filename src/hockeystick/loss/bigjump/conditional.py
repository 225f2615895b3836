"""The conditional big jump, between the normal bulk and the single large loss: delta of the others, given the large loss.

With nu the share of an outcome above the soft threshold (`cells.py`) and n steps, for every epsilon

    delta = E[(1 - e^{eps-S})+; none large] + n E[nu (1 - e^{eps-S})+] - (what two large steps count twice),

the last at most n^2 (E nu)^2; from above, the others of a large step may be taken as not large, and two large steps by
themselves.  Given the loss L of the large step, what is left is delta of the other n - 1 steps:

    E[nu (1 - e^{eps-S})+] = E_Q[nu g(x)],    g(x) = (1 + x) delta'(eps - log(1 + x)),    e^L = 1 + x.

delta' is convex in e^eps, so g is convex in x (a perspective), and it grows.  On each cell of a fine partition g lies below its
chord, and above it by no more than a quarter of the cell times the difference of the neighbouring slopes; the same of nu, whose
slope is known.  Tables of delta' and the integral are in `conditional_table.py`.

docs/mathematics.md, section 7a: Lemma 19f (one jump, integrated over).
"""

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ...numerics.rounding import UNIT, exp_up
from ..composed import ComposedLoss
from ..contour.contour import Contour, Saddle
from ..contour.guess import estimate_epsilon, estimate_log_delta
from ..invert import certified_ends, root
from ..protocol import Inconclusive
from .cells import Thresholds
from .conditional_table import CELLS, NONE, OtherStepsTable
from .split import BigJumpSplit, starting_points
from .thresholds import DIGITS, ThresholdGuide, is_sparse

_SLACK = 1e-9
"""Relative, of the integrals: far more than their rounding."""


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof."""

    relative_distance: float = 0.02
    """An epsilon found farther than that from the one that the threshold was chosen for is split for anew."""
    max_splits: int = 6
    """For one question: more have not been seen to come nearer."""
    threshold_ratio: float = 0.7
    """From one threshold that is tried to the next lower one, from epsilon's x down."""
    threshold_count: int = 26
    """Of them, down to a ten-thousandth of epsilon's x."""
    log_cancellation: float = 4.0
    """log of how much larger than delta the contour's terms may be: two digits are lost."""
    max_log_cancellation: float = 20.0
    """And if no threshold serves: delta may be that much larger than was thought."""
    least_share: float = 0.02
    """Of the x of epsilon: no smaller threshold is of use."""
    max_uncertainty: float = 10.0
    """Width over value of the integral above which an epsilon is too far off to go on from."""
    near_guess: tuple[float, ...] = (1.0, 0.97, 0.9, 0.75)
    """Shares of a first guess of epsilon, one of which the integral must know something about."""


TUNING = Tuning()
_TRIED = TUNING.threshold_ratio ** np.arange(float(TUNING.threshold_count))


class ConditionalGuide(ThresholdGuide):
    """The largest threshold for which the contour's terms hardly cancel: what is large is integrated over, however small."""

    def _choose(self) -> None:
        self.order, best = 0.0, math.inf
        for high in (math.expm1(min(self.epsilon, 0.9 * self.likely)) * _TRIED).tolist():
            self._set(Thresholds(0.0, high, 0.0, self.upper_width * high))
            saddle = Saddle.of_epsilon(self, self.epsilon)
            size = self._log_cancellation(saddle)
            if size < max(TUNING.log_cancellation, best - 1.0):
                best, self.saddle, chosen = size, saddle, self.thresholds
            if size < TUNING.log_cancellation:
                return
            # delta is larger at this epsilon, and there is no need
            if self.thresholds.high < TUNING.least_share * math.expm1(self.epsilon):
                break
        if not best < TUNING.max_log_cancellation:
            raise Inconclusive
        self._set(chosen)

    @property
    def span(self) -> tuple[float, float]:
        """The losses of one step that matter."""
        least = max(self.thresholds.high * (1.0 - self.upper_width * self._far), 0.03 * self.thresholds.high)
        return math.log1p(least), self.likely

    @property
    def likely(self) -> float:
        """The largest of them."""
        return max(shape.ratio(self._far + 1.0 / shape.noise) for shape, _ in self.terms)

    @property
    def _far(self) -> float:
        """Noise beyond which hardly adds to delta."""
        return math.sqrt(2.0 * (DIGITS + math.log(self.steps) - self.log_delta))


class _RealAxisBound:
    """What a contour proves from the real axis alone, without a sum (docs/mathematics.md, Lemma 4)."""

    def __init__(self, contour: Contour) -> None:
        self._contour = contour

    def estimate(self, epsilon: float) -> tuple[float, float]:
        return self.upper(epsilon), -self._contour.c

    def lower(self, epsilon: float) -> float:
        return -math.inf

    def upper(self, epsilon: float) -> float:
        return self._contour.markov_log_delta(epsilon)


class ConditionalBigJump(BigJumpSplit):
    """A run near one epsilon, the large step of which is integrated over (docs/mathematics.md, Lemma 19f)."""

    def __init__(self, guide: ConditionalGuide) -> None:
        least, most = guide.span
        y = guide.epsilon - np.linspace(least, most, CELLS + 1)
        tables = [OtherStepsTable(guide.run, loss, guide.epsilon, y) for loss, _ in guide.losses]
        with np.errstate(all="ignore"):  # what is not finite proves nothing
            super().__init__(guide)
        if self.remainder is self.contour and not all(map(math.isfinite, (*self.contour.sum_error, *self.contour.log_scale))):
            raise Inconclusive
        if (guide.saddle.ahead + 1.0) * max(step.q + step.drift for step, _ in self.steps) * exp_up(-self.lift) < 0.5 * NONE:
            for table in tables:
                table.bound_none_large(self.contour)
        self._tables = [(table, *one) for table, one in zip(tables, self.steps, strict=True)]
        for table, step, _ in self._tables:
            while table.refine(step.thresholds.high, step.thresholds.high_width, guide.epsilon, self.lift):
                pass
        # P(two are large)
        large = math.fsum(count * (step.q + step.drift) * (1.0 + step.error) for step, count in self.steps)
        self._double_count = large**2 * exp_up(-self.lift) * (1.0 + 1e-6)

    def _bound_compensation(self) -> None:
        self._compensations = []

    def _without_sum(self) -> None:
        """Of what is left without a large step a bound may be enough."""
        self.remainder = _RealAxisBound(self.contour)

    def _jump_integral(self, epsilon: float) -> tuple[float, float]:
        """Both ends of n E[nu (1 - e^{eps-S})+], over all steps: J of Lemma 19f."""
        low = high = 0.0
        for rest, step, count in self._tables:
            one, two = rest.integral(step.thresholds.high, step.thresholds.high_width, epsilon, self.lift)
            low, high = low + count * one, high + count * two
        return low * (1.0 - _SLACK), high * (1.0 + _SLACK)

    def is_informative(self, epsilon: float) -> bool:
        """Whether more is known than unknown."""
        low, high = self._jump_integral(epsilon)
        return high - low < TUNING.max_uncertainty * (low + self._in_units(self.remainder.lower(epsilon)))

    def _ends(self, epsilon: float) -> tuple[float, float]:
        low, high = self._jump_integral(epsilon)
        return low - self._double_count, (high + self._double_count) * (1.0 + 4.0 * UNIT)

    def estimate(self, epsilon: float) -> tuple[float, float]:
        width = 1e-4 / self.pace
        values = []
        for place in (epsilon, epsilon + width):
            total = 0.5 * sum(self._jump_integral(place)) + self._in_units(self.remainder.estimate(place)[0])
            values.append(math.log(max(total, 1e-300)) - self.lift)
        return values[0], min((values[1] - values[0]) / width, -1e-3 * self.pace)


def conditional_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""
    if not is_sparse(run):
        raise Inconclusive
    for base, start in starting_points(run, log_delta):
        with suppress(Inconclusive):
            return _from(run, log_delta, slack, base + start)
    return _from(run, log_delta, slack, estimate_epsilon(run, log_delta))


def _from(run: ComposedLoss, log_delta: float, slack: float, epsilon: float) -> tuple[float, float]:
    """Likewise, from this guess on."""
    shares: tuple[float, ...] = TUNING.near_guess  # of a first guess, which may be far off
    for _ in range(TUNING.max_splits):
        found = ConditionalBigJump(ConditionalGuide(run, epsilon, log_delta))
        if not any(found.is_informative(share * epsilon) for share in shares):
            raise Inconclusive
        reached = root(found.estimate, log_delta, epsilon, 1e-6 if len(shares) == 1 else 1e-3)
        if abs(reached - epsilon) < TUNING.relative_distance * epsilon:
            return certified_ends(found, log_delta, slack, reached)
        epsilon, shares = reached, TUNING.near_guess[:1]
    raise Inconclusive


def conditional_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""
    if not is_sparse(run):
        raise Inconclusive
    level = min(estimate_log_delta(run, epsilon), -1.0)
    for _ in range(TUNING.max_splits):
        found = ConditionalBigJump(ConditionalGuide(run, epsilon, level))
        reached = found.estimate(epsilon)[0]
        if abs(reached - level) < 1.0:
            return found.lower(epsilon), min(0.0, found.upper(epsilon))
        level = reached
    raise Inconclusive
