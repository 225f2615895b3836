"""Single-big-jump splitting for sparse sampling: jumps above a soft threshold in closed form, the light-tailed rest by a contour.

Under sparse sampling a step's loss is nearly always tiny and seldom as large as epsilon: no exponential tilt serves both, and the
transform of the sum hardly falls, since with probability e^{-qT} nothing happens.  So soft thresholds make each outcome small,
middle or large (`cells.py`), and runs with a large step are split off by the big-jump identity (`identity.py`): by Chernoff's
inequality the others hardly compensate a large loss.  What remains is an integral along a contour, with phi^n for "none large"
or, less a bound of what small steps alone can do, with phi^n - (phi - mid)^n for "none large, not all small".

docs/mathematics.md, section 7a: Lemma 19a (compensation of a large step), Lemma 19b (not all small).
"""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray, log1p_complex
from ...numerics.rounding import FUNCTION, UNIT
from ...numerics.trapezoid import Cells
from ..composed import ComposedLoss, ComposedSlice
from ..contour.contour import Contour, log_markov_constant
from ..contour.guess import estimate_epsilon, estimate_log_delta
from ..invert import BELOW, About, certified_ends, root, settled_epsilon, settled_log_delta
from ..protocol import Inconclusive
from .cells import Thresholds
from .guess import guess_epsilon, guess_log_delta
from .identity import BigJumpIdentity
from .thresholds import ThresholdGuide, is_sparse, largest_sum, other_terms
from .transform import LineValues, ThresholdedStep

_MAX_MODULUS = 1e100
"""phi is not so large where anything is proved."""


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof."""

    log_rule_share: float = 30.0
    """-log of what the rule over the noise may err by, relative to the transform of all steps."""
    relative_distance: float = 0.01
    """If an epsilon is found farther than that from the one that the thresholds were made for, a split is made for it ..."""
    relative_width: float = 1e-8
    """... if its interval is wider than this."""
    enough_width: float = 5e-6
    """An interval of epsilon, relatively, with which no further starting point is tried."""
    width_factors: tuple[float, ...] = (1.0, 0.5)
    """Of the upper threshold where there are no large steps, tried in turn: a narrower one leaves less, but takes more nodes."""
    max_nodes: int = 1 << 13
    """Of the contour, each a sum over the noise."""
    narrow_factor: int = 4
    """So many times as many for the narrow thresholds of tiny deltas."""


TUNING = Tuning()


class _Slice(NamedTuple):
    """The remainder along Re w = c, with what a contour needs of a composed run; one ordered pair."""

    steps: list[tuple[ThresholdedStep, int]]
    c: float
    log_goal: float
    level: float  # about log of the transform at c
    others: ComposedSlice | None  # the losses without a threshold

    @property
    def has_small(self) -> bool:
        return self.steps[0][0].has_small

    def keep(self, rows: list[int]) -> "_Slice":
        return self

    def cumulant_above(self, points: Array) -> Array:
        """phi^n, or phi^n - (phi - mid)^n <= n mid max(phi, 1)^n, from above."""
        found = []
        for point in points.tolist():
            height, middle = 0.0, 0.0
            for step, count in self.steps:
                excess = step.above(1.0 + point)
                height += count * math.log1p(max(excess, -0.5 if not self.has_small else 0.0)) if excess < math.inf else math.inf
                middle += count * step.middle_above(1.0 + point) if self.has_small else 0.0
            found.append(height + (min(0.0, math.log(middle)) if self.has_small else 0.0) + 1e-9)
        return np.array([found]) + (self.others.cumulant_above(points) if self.others else 0.0)

    def decay(self, cells: Cells) -> Array:
        """Relative to `level`: |phi^n|, or |phi^n - (phi - mid)^n| <= n |mid| max(phi(c), 1)^n."""
        k, u = 1.0 + self.c, cells.left
        if self.has_small:
            heights = [count * math.log1p(max(step.above(k), 0.0)) for step, count in self.steps]
            logs = np.array([math.log(count) + step.log_modulus_above(k, u) for step, count in self.steps])
            found: Array = self.level - sum(heights) - 1e-9 - np.logaddexp.reduce(logs)
            if self.others:
                found += self.others.decay(cells) - float(self.others.cumulant_above(np.array([self.c]))[0, 0])
            found = np.maximum(0.0, found)
        else:
            near, far = np.zeros(u.size), np.full(u.size, self.level)
            for step, count in self.steps:
                near += count * step.spread_decay(k, 1.0 + step.above(k), cells)[0]
                far -= count * step.log_modulus_above(k, u)
            if self.others:
                fall = self.others.decay(cells)
                near += fall
                far += fall - float(self.others.cumulant_above(np.array([self.c]))[0, 0])
            found = np.maximum(near * (1.0 - 1e-12), far - 1e-9)
        return found

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        total: ComplexArray = np.zeros(nodes, dtype=np.complex128)
        error: Array = np.zeros(nodes)
        ratio = _SmallRatio(nodes)
        for one, count in self.steps:
            line = one.values(1.0 + self.c, step, nodes, self.log_goal)
            size = np.abs(1.0 + line.excess)
            if not (float(size.min()) > 1e-280 and float(size.max()) < _MAX_MODULUS):
                raise Inconclusive
            value, off = log1p_complex(line.excess), line.excess_error / size
            total += count * value
            error += count * (np.log1p(off) + 4.0 * FUNCTION * np.abs(value))
            ratio.add(line, value, off, size, count)
        if self.has_small:
            log_share, error = ratio.not_all_small(error)
            total += log_share
        if self.others:
            value, off = self.others.values(step, nodes)
            total += value[0]
            error += off[0] + UNIT * np.abs(value[0])
        return total[None, :], (error + 4.0 * UNIT * np.abs(total))[None, :]


class _SmallRatio:
    """((phi - mid)/phi)^n along a line, the share of "all small" in "none large", and its errors (Lemma 19b).

    `gain` is -log of it; its modulus lies within e^`log_size`, e^-`log_size_error` of that without errors.
    """

    def __init__(self, nodes: int) -> None:
        self.gain: ComplexArray = np.zeros(nodes, dtype=np.complex128)
        self.log_size, self.log_size_error, self.power_error, self.largest_error = (np.zeros(nodes) for _ in range(4))

    def add(self, line: LineValues, value: ComplexArray, off: Array, size: Array, count: int) -> None:
        """So many steps more; `value` is log phi, `size` |phi| and `off` its relative error."""
        if line.mid is None:
            return
        share = -line.mid / (1.0 + line.excess)
        rest = np.maximum(np.abs(1.0 + share), 1e-290)
        lost = (line.mid_error / size + np.abs(share) * (off + 8.0 * UNIT)) / (1.0 - np.minimum(off, 0.5))
        term = log1p_complex(share)
        self.gain -= count * term
        lost += 8.0 * FUNCTION * np.abs(term) * rest
        self.log_size += count * np.log(rest + lost)
        self.log_size_error += count * np.log1p(lost / rest)
        self.power_error += count * np.log1p((off + line.mid_error / size + 16.0 * UNIT) / rest)
        self.power_error += count * 4.0 * FUNCTION * (np.abs(value) + np.abs(term))
        self.largest_error = np.maximum(self.largest_error, off)

    def not_all_small(self, error: Array) -> tuple[ComplexArray, Array]:
        """log(1 - e^-gain), and log(1 + relative error) of phi^n - (phi - mid)^n, from that of phi^n."""
        # whatever the sign of the real part of the gain
        gain, ahead = self.gain, self.gain.real > 0.0
        inner: ComplexArray = np.expm1(np.where(ahead, -gain, gain))
        inner = np.where(inner == 0.0, 1e-290, np.where(ahead, -inner, inner))
        kept = np.log(inner) - np.where(ahead, 0.0, gain)
        # the power of (phi - mid)/phi lies within that of its size + lost; or both powers err each by itself
        log_ratio = self.log_size - kept.real
        lost = np.exp(np.minimum(log_ratio, 700.0)) * -np.expm1(-self.log_size_error) + 8.0 * FUNCTION
        together = np.where((self.largest_error < 0.5) & (log_ratio < 700.0), error + np.log1p(lost), math.inf)
        far = self.power_error - gain.real - kept.real
        alone = np.expm1(np.minimum(error, 600.0)) * np.exp(np.minimum(-kept.real, 600.0))
        alone += np.exp(np.minimum(far, 700.0)) * -np.expm1(-self.power_error)
        known = (error < 600.0) & (kept.real > -600.0) & (far < 700.0)
        return kept, np.minimum(together, np.where(known, np.log1p(alone + 8.0 * FUNCTION), math.inf))


class BigJumpSplit(BigJumpIdentity):
    """A run of sampled Gaussian steps in the order "remove", and others, split for epsilons near one; bounds hold for all."""

    def __init__(self, guide: ThresholdGuide) -> None:
        self.guide, self.lift, thresholds, c = guide, guide.lift, guide.thresholds, guide.saddle.c
        most = max(2.0 + guide.saddle.ahead, 10.0 / guide.epsilon)
        self.steps = [(ThresholdedStep(shape, thresholds, most, self.lift), count) for shape, count in guide.terms]
        self._log_height = guide.expand(c)[0]
        self.set_large((step.q + step.drift, step.q, count, step.error) for step, count in self.steps)
        self._bound_small()
        self._bound_compensation()
        self.pace, self.nodes_allowed = c, TUNING.max_nodes * (TUNING.narrow_factor if self.lift else 1)
        self.remainder = self.contour = contour = Contour(self, guide.saddle)
        if not contour.evaluate():
            self._without_sum()
            return
        # the decay was proved relative to a guess
        contour.truncation_error *= math.exp(max(0.0, self._log_height - contour.height[0]))

    def _without_sum(self) -> None:
        """What becomes of it if the sum over the contour's nodes proves nothing."""
        raise Inconclusive

    def slice(self, c: float, ahead: float) -> _Slice:
        """The remainder along the contour of the guide."""
        short = min(0.0, self._log_height - self.guide.height(c)) if self.guide.thresholds.low else 0.0
        others = ComposedSlice(tuple((loss.slice(c, ahead, count), count) for loss, count in self.guide.others))
        log_goal = short - TUNING.log_rule_share - math.log(self.guide.steps)
        return _Slice(self.steps, c, log_goal, self._log_height, others if others.slices else None)

    def _bound_small(self) -> None:
        """A bound of E[(1 - e^{eps-S})+; all small], whose logarithm falls by the order with eps (Lemma 19b).

        As a step whose lower threshold is the one for what is large.
        """
        self._small_order, self._log_all_small = self.guide.order, -math.inf
        if not self._small_order:
            return
        thresholds = self.guide.thresholds
        here = Thresholds(0.0, thresholds.low, 0.0, thresholds.low_width)
        self._log_all_small = log_markov_constant(self._small_order) * (1.0 - 2.0 * FUNCTION) + 1e-9
        for shape, count in self.guide.terms:
            step = ThresholdedStep(shape, here, 1.0 + self._small_order, self.lift)
            found = step.values(1.0 + self._small_order, 0.0, 1, -14.0 - math.log(count))
            excess = float(found.excess[0].real) + float(found.excess_error[0])
            if not math.isfinite(excess):
                raise Inconclusive
            self._log_all_small += count * (math.log1p(excess) + 4.0 * FUNCTION * abs(math.log1p(excess)))
        for loss, count in self.guide.others:
            self._log_all_small += count * float(
                loss.slice(self._small_order, self._small_order, count).cumulant_above(np.array([self._small_order]))[0, 0]
            )

    def _bound_compensation(self) -> None:
        """Bounds of Q(S < eps, some) (docs/mathematics.md, Lemma 19a).

        For several r, log of a sum over outcomes above some edges, to be multiplied by e^{r (eps - epsilon)}, and the probability
        that an outcome below them counts as large.
        """
        self._compensations = []
        for rate in self.guide.rates:
            height = math.fsum(count * math.log1p(step.reverse_above(rate)) for step, count in self.steps) + 1e-9
            for loss, count in self.guide.others:  # E_Q e^{-rZ} is E_P e^{rZ}
                height += count * float(loss.slice(rate, rate, count).cumulant_above(np.array([rate]))[0, 0]) * (1.0 + 4.0 * UNIT)
            near = far = 0.0
            for step, count in self.steps:
                below, above = step.large_above(rate, self.guide.epsilon, self.lift)
                edge = int(np.logaddexp(np.log(below + 1e-300), height + np.log(above)).argmin())
                near, far = near + count * float(below[edge]), far + count * float(above[edge])
            self._compensations.append((rate, height + math.log(far) + 1e-9, near * (1.0 + 1e-9)))

    def compensation(self, epsilon: float) -> float:
        moved = epsilon - self.guide.epsilon
        return min(math.exp(min(log + rate * moved, 1.0 + self.lift)) + near for rate, log, near in self._compensations)

    def left_out(self, epsilon: float) -> float:
        """What small steps alone may do."""
        if not self._small_order:
            return 0.0
        power = self._small_order * epsilon
        return math.exp(
            min(1.0, self._log_all_small - power + 8.0 * UNIT * (abs(self._log_all_small) + abs(power))) + self.lift
        ) * (1.0 + 1e-12)


def big_jump_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""
    if not is_sparse(run):
        raise Inconclusive
    low, high = -math.inf, math.inf
    for base, start in starting_points(run, log_delta):
        for sharp in TUNING.width_factors:
            with suppress(Inconclusive):
                found = _ends(run, log_delta, slack, base, start, sharp)
                low, high = max(low, found[0]), min(high, found[1])
            if high - low < TUNING.enough_width * high:
                return low, high
    if low == -math.inf and high == math.inf:
        raise Inconclusive
    return low, high


def _ends(run: ComposedLoss, log_delta: float, slack: float, base: float, start: float, sharp: float) -> tuple[float, float]:
    """What a split for about this epsilon proves; if that is little, and it was another epsilon, a split for that one."""
    found = certified_ends(
        split := BigJumpSplit(ThresholdGuide(run, base + start, log_delta, sharp)), log_delta, slack, base + start
    )
    beyond = root(lambda x: split.estimate(base + x), log_delta, start, 1e-13)
    if found[1] - found[0] > TUNING.relative_width * (base + beyond) and abs(beyond - start) > TUNING.relative_distance * beyond:
        found = certified_ends(
            BigJumpSplit(ThresholdGuide(run, base + beyond, log_delta, sharp)), log_delta, slack, base + beyond
        )
    return found


def starting_points(run: ComposedLoss, log_delta: float) -> Iterator[tuple[float, float]]:
    """The largest sum of the losses without a threshold, if epsilon lies beyond it, else 0; and about how far beyond.

    The guess by the single-big-jump principle comes first; then the contour's, refined by what the guide for it says.
    """
    others = other_terms(run)
    base, steps, level = largest_sum(others), run, log_delta
    if base > 0.0:
        steps = ComposedLoss(tuple(term for term in run.terms if term not in others))
        level -= sum(count * loss.log_top_mass for loss, count in others)
        if not level < estimate_log_delta(steps, 0.0):
            base, steps, level = 0.0, run, log_delta
    if start := guess_epsilon(steps, level):
        yield base, start

    def guided(beyond: float) -> tuple[ThresholdGuide, About]:
        guide = ThresholdGuide(run, base + beyond, log_delta)
        return guide, lambda x: guide.about(base + x)

    with suppress(Inconclusive):
        yield base, settled_epsilon(guided, log_delta, estimate_epsilon(steps, level), 1e-3, TUNING.relative_distance)[1]


def big_jump_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""
    if not is_sparse(run):
        raise Inconclusive

    def guided(log_delta: float) -> tuple[ThresholdGuide, About]:
        guide = ThresholdGuide(run, epsilon, log_delta)
        return guide, guide.about

    level = guess_log_delta(run, epsilon)
    guide = (
        settled_log_delta(guided, epsilon, estimate_log_delta(run, epsilon)) if level is None else guided(min(level, BELOW))[0]
    )
    found = (split := BigJumpSplit(guide)).lower(epsilon), split.upper(epsilon)
    reached = min(split.estimate(epsilon)[0], BELOW)
    if found[1] - found[0] > TUNING.relative_width and abs(reached - guide.log_delta) > 1.0:
        found = (split := BigJumpSplit(guided(reached)[0])).lower(epsilon), split.upper(epsilon)
    return found[0], min(0.0, found[1])
