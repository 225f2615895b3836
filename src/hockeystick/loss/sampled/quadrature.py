"""Expectations over the noise of a sampled Gaussian step by the trapezoidal rule, with every error bounded.

With noise multiplier s and a standard normal z, the log ratio of (1-q) N(0, 1) + q N(1/s, 1) to N(0, 1) is L(z) = log(1 + x),
x = q (e^t - 1), t = z/s - 1/(2 s^2); r = q e^t/(1 + x) is the share of the sampled component and L' = r/s.
M(k) = E e^{kL} is what both orders of the pair need.  Three errors stand between M and a finite sum
(docs/mathematics.md, Lemmas 9 and 10, and section 14):

* aliasing, of the rule on the whole line: the error is at most 2 N/(e^{2 pi a / step} - 1), N a bound of the integral of the
  modulus on the lines z +- i a (Trefethen and Weideman 2014, Theorem 5.1).  With a = s * angle, angle < pi, the normal
  density grows by e^{a^2/2} there; arg(1 + x) = arg(1 - r + r e^{i angle}) grows with z from 0 to angle; and |1 + x|^2 shrinks by
  1 - 4 r (1-r) sin(angle/2)^2 >= cos(angle/2)^2.  For real k the last bounds give N <= e^{a^2/2} cos(angle/2)^{min(k, 0)} M(k);
  for complex k, N is summed over cells of z, and of several angles the one is taken that allows the longest step;
* truncation, the nodes left out: L is increasing, convex and of slope at most 1/s, so e^{kL} lies below a Gaussian right of any
  point and below its value there on the left;
* rounding: a first-order bound, summed along with the nodes.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...native import loops
from ...native.loops import loop
from ...numerics.cancellation_free import Array, ExcessSums
from ...numerics.normal import LOG_ROOT_TWO_PI, log_tail_bound
from ...numerics.rounding import FUNCTION, UNIT
from ...numerics.trapezoid import exact_places
from ..protocol import Inconclusive
from .skipped_nodes import SkippedNodes, Stretches


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    max_nodes: int = 40_000
    """Of one grid: more cost more than the next engine."""
    long_grid_nodes: int = 3_000
    """From so many on, nodes between two peaks may be left out; looking for them costs as much as some hundred nodes."""


TUNING = Tuning()
_ANGLES = 0.5 ** np.arange(5)[:, None]  # as shares of the largest that is tried
_NEAR, _FAR = np.arange(33) * (1.0 / 32.0), np.arange(1, 13) * (1.0 / 12.0)
CAP = 600.0  # of t, so that e^t stays finite


@dataclass(frozen=True)
class SampledStep:
    """L as a function of z."""

    noise: float
    rate: float
    noise_error: float = 0.0  # relative, of `noise`

    def ratio(self, z: float) -> float:
        """L(z) for one z."""
        t = (z - 0.5 / self.noise) / self.noise
        if t > 30.0:
            return t + math.log(self.rate) + math.log1p((1.0 - self.rate) / self.rate * math.exp(-t))
        if self.rate < 0.5:
            return math.log1p(self.rate * math.expm1(t))
        return math.log((1.0 - self.rate) + self.rate * math.exp(t))

    def ratios(self, z: Array) -> tuple[Array, Array]:
        """L and the share r; z grows along the last axis."""
        t = z * (1.0 / self.noise) - 0.5 / self.noise**2
        far = float(t[..., -1].max()) > CAP
        capped = np.minimum(t, CAP) if far else t
        grown = self.rate * np.exp(capped)
        total = grown + (1.0 - self.rate)
        excess = self.rate * np.expm1(capped)
        if self.rate < 0.5:
            ratio = np.log1p(excess)
        else:
            ratio = np.where(excess < -0.5, np.log(total), np.log1p(np.maximum(excess, -0.5)))
        share = grown / total
        if far:
            ratio, share = beyond_cap(t, self.rate, ratio, share)
        return ratio, share

    def right_tail(self, k: float, z: float) -> float:
        """log of a bound of the integral of e^{kL} over the normal law right of z, for k > 0."""
        shift = k / self.noise
        return k * (self.ratio(z) - z / self.noise) + 0.5 * shift * shift + log_tail_bound(z - shift)

    def right_edge(self, k: float, target: float) -> float:
        """A z whose right tail is below e^target, and not much farther than need be."""
        if (edge := self._right_edge(k, target)) == math.inf:
            raise Inconclusive
        return edge

    @loop(loops.right_edge)
    def _right_edge(self, k: float, target: float) -> float:
        z = short = max(0.5 / self.noise, math.sqrt(max(2.0, -2.0 * target)))
        stride = 0.5
        while (excess := self.right_tail(k, z) - target) > 0.0:
            short = z
            z += max(stride, 0.7 * (math.sqrt(z * z + 2.0 * excess) - z))
            stride *= 1.5
            if not stride < 1e30:
                return math.inf
        while z - short > max(1.0, 0.02 * z):
            middle = 0.5 * (short + z)
            if self.right_tail(k, middle) > target:
                short = middle
            else:
                z = middle
        return z

    def left_edge(self, k: float, target: float) -> float:
        """A z left of which e^{kL} integrates to less than e^target, for k > 0."""
        low, high = -math.sqrt(max(2.0, -2.0 * target)), k / self.noise
        if not high < 1e12:
            raise Inconclusive
        while high - low > 0.5:
            z = 0.5 * (low + high)
            if k * self.ratio(z) + log_tail_bound(-z) < target:
                low = z
            else:
                high = z
        return low


def beyond_cap(t: Array, rate: Any, ratio: Array, share: Array) -> tuple[Array, Array]:
    """L and the share r, by the odds where t is beyond the cap."""
    floor = np.log1p(-rate)
    odds = np.where(t > CAP, t + (np.log(rate) - floor), 0.0)
    return np.where(t > CAP, np.logaddexp(0.0, odds) + floor, ratio), np.where(t > CAP, 1.0 / (1.0 + np.exp(-odds)), share)


class Nodes:
    """Equally spaced z with the weights of the trapezoidal rule, in logarithms (`base`)."""

    rows: Array | None = None  # z, ratio, share and base, for the compiled core

    def __init__(self, shape: SampledStep, z: Array, step: float) -> None:
        self.shape, self.z, self.step = shape, z, step
        self.ratio, self.share = shape.ratios(z)
        self.base = (math.log(step) - LOG_ROOT_TWO_PI) - 0.5 * z * z

    @staticmethod
    def from_low(shape: SampledStep, low: float, step: float, count: int) -> "Nodes":
        """So many nodes from `low` on."""
        nodes = Nodes.__new__(Nodes)
        nodes.shape, nodes.step = shape, step
        nodes._place_nodes(low, count)
        return nodes

    @loop(loops.place_nodes)
    def _place_nodes(self, low: float, count: int) -> None:
        Nodes.__init__(self, self.shape, low + self.step * np.arange(count), self.step)

    def highest(self, k: float) -> float:
        """The largest of all k L + base."""
        return float((k * self.ratio + self.base).max())

    @loop(loops.tilted_sums, when=loops.placed_by_core)
    def sums(self, k: float, shift: float = 0.0) -> tuple[float, float, float, float]:
        """The sums of e^{k L + base - shift} times 1, L, L^2 and the share r."""
        weight = np.exp(k * self.ratio + (self.base - shift))
        first = weight * self.ratio
        return float(weight.sum()), float(first.sum()), float(first @ self.ratio), float(weight @ self.share)

    def ratio_errors(self) -> tuple[Array, Array]:
        """Bounds of the rounding errors of t and of L at the nodes."""
        noise = self.shape.noise
        size = np.abs(self.z) * (1.0 / noise) + 0.5 / noise**2
        t_error = (3.0 * UNIT + 2.0 * self.shape.noise_error) * size
        # expm1, a product and log1p, or exp, a sum and log: below 24 units relative to L
        error = self.share * t_error + (FUNCTION + 16.0 * UNIT) * np.abs(self.ratio)
        # beyond the cap log q counts, with its error: |log q| < 745
        return t_error, (error + 12.0 * UNIT * size if size[-1] > CAP else error)


class Grid(Nodes):
    """Equally spaced z for expectations of e^{kL}, shared by all exponents that it `covers`.

    Built for one real exponent k; unless M(k) is large, and k is positive, also for the exponents of the other order of the pair,
    down to about 1 - k.  What lies beyond the ends is about e^-lead M(k), and so is the error of the rule for imaginary parts up
    to `reach`, unless a `step` is given: then it is for real exponents only.  `ahead`, if larger than k, is another real exponent
    that the range should serve where that is cheap.
    """

    def __init__(
        self, shape: SampledStep, k: float, level: float, lead: float, reach: float, ahead: float = 0.0, step: float = 0.0
    ) -> None:
        noise = shape.noise
        self.shape, self.lead, self.reach = shape, lead, reach
        self.floor = math.log1p(-shape.rate)  # the infimum of L
        self.large = level > 1.0
        if self.large:
            self.least = self.most = k
        else:
            # an addition alone (k < 0) needs no more: M(1 - k) may be huge
            self.least, self.most = min(-1.15 * max(k - 1.0, -k), 0.0), max(k, 1.0)
        if self.large and k > 0.0:
            self.low, high = shape.left_edge(k, level - lead), shape.right_edge(k, level - lead)
        else:
            self.low = -math.sqrt(2.0 * (lead + min(self.least, 0.0) * self.floor))
            high = max(shape.right_edge(max(self.most, 1.0), -lead), math.sqrt(2.0 * lead) + 1.0 / noise)
        if ahead > self.most:
            high = max(high, min(shape.right_edge(ahead, -lead), 2.0 * high))
        self.step, self.log_rule = (step, math.inf) if step else self._choose_step(max(level, 0.0))
        if not self.step > 0.0:
            raise Inconclusive
        # the strip for real exponents
        self.angle = min(2.0 * math.pi * noise / (self.step * (noise * noise + 0.25 * max(-self.least, 0.0))), 2.5)
        if not 0.0 < (high - self.low) / self.step < 1e12:
            raise Inconclusive
        self.low, self.step = exact_places(self.low, self.step)
        count = int((high - self.low) / self.step) + 2
        self.high = self.low + self.step * (count - 1)
        self._skipped: SkippedNodes | None = None
        self._splits: list[ExcessSums] = []
        if count > TUNING.long_grid_nodes:
            places = self._kept(k, count, max(level, 0.0) - lead - 3.0)
            super().__init__(shape, self.low + self.step * places, self.step)
        else:
            self._place_nodes(self.low, count)
        self.ends = shape.ratio(self.low), shape.ratio(self.high)

    @cached_property
    def numbers(self) -> Array:
        """What the compiled core needs beside the rows."""
        shape = self.shape
        rule = self.low, self.high, self.step, self.angle, self.lead, self.log_rule
        return np.array((shape.noise, shape.rate, shape.noise_error, *rule))

    @loop(loops.choose_step)
    def _choose_step(self, level: float) -> tuple[float, float]:
        """The longest step whose error is below e^(level - lead) for all exponents, and log of a bound of that error.

        0 if there is none.
        """
        shape, noise, least, reach = self.shape, self.shape.noise, min(self.least, 0.0), self.reach
        widest = min(math.sqrt(2.0 * self.lead) / noise, 2.8)
        lean = max(self.most, 0.0) / noise
        near, far = (max(lean + math.sqrt(lean * lean + 2.0 * x), 1.0) for x in (self.lead, self.lead + reach * widest))
        near, far = max(near, self.low + 1.0), max(far, self.low + 1.0)
        z = np.concatenate((self.low + (near - self.low) * _NEAR, near * (far / near) ** _FAR))
        odds = z * (1.0 / noise) + (math.log(shape.rate) - self.floor - 0.5 / noise**2)  # log of r/(1 - r)
        lift = np.logaddexp(0.0, odds)
        ratio, share = lift + self.floor, np.exp(odds[1:] - lift[1:])
        angles = widest * _ANGLES
        nearest = np.minimum(np.maximum(z[:-1], 0.0), z[1:])
        turn = reach * np.arctan2(share * np.sin(angles), share * (np.cos(angles) - 1.0) + 1.0)
        cells = turn + (np.maximum(self.most * ratio[1:], self.least * ratio[:-1]) - 0.5 * nearest * nearest)
        if least < 0.0:
            half = np.minimum(share, 0.5)
            cells += np.log1p((half * (half - 1.0)) * (4.0 * np.sin(0.5 * angles) ** 2)) * (0.5 * least)
        top = cells.max(axis=1)
        inside = top + np.log(np.exp(cells - top[:, None]) @ (z[1:] - z[:-1]) * (1.0 / math.sqrt(2.0 * math.pi)))
        before = log_tail_bound(-self.low) + max(self.most * float(ratio[0]), least * self.floor)
        beyond = max(shape.right_tail(max(self.most, 1e-300), far), log_tail_bound(far))
        longest = error = 0.0
        for angle, within, turned in zip(angles[:, 0].tolist(), inside.tolist(), turn[:, 0].tolist(), strict=True):
            a, fold = angle * noise, math.log(math.cos(0.5 * angle)) * least
            logs = within, before + turned + fold, beyond + reach * angle + fold
            most = max(logs)
            rise = most + math.log(sum(math.exp(one - most) for one in logs)) + 0.5 * a * a + (math.log(2.0) + 1e-6)
            alias = self.lead - level + rise
            if alias > 1.0 and 2.0 * math.pi * a / alias > longest:
                longest, error = 2.0 * math.pi * a / alias, rise - alias - math.log1p(-math.exp(-alias)) + 1e-9
        return longest, error

    def covers(self, k: float, level: float, lead: float, reach: float) -> bool:
        """Whether these are within what the grid was built for."""
        same = (level > 1.0) == self.large and self._skipped is None
        return same and self.least <= k <= self.most and lead <= self.lead and reach <= self.reach

    def split(self, size: float) -> ExcessSums:
        """The nodes split for |k| <= size."""
        for found in self._splits:
            if size <= found.size <= max(1.0, 2.0 * size):
                return found
        self._splits.append(ExcessSums(self, max(1.0, 1.1 * size)))
        return self._splits[-1]

    def _kept(self, k: float, count: int, target: float) -> Array:
        """Which nodes of a long grid are kept: those of stretches where e^{kL}, 1 or e^L times the normal density matters."""
        size = max(1, int(0.5 / self.step))  # nodes a stretch
        if count > TUNING.max_nodes * size:
            raise Inconclusive
        edges = self.low + self.step * (size * np.arange(-(-count // size) + 1) - 0.5)
        stretches = Stretches(edges, *self.shape.ratios(edges), self.shape.noise, math.log(size * self.step))
        self._skipped = stretches.skipped(np.array([k, min(1.0 - k, 0.0), 0.0, 1.0]), target)
        light = self._skipped.light
        if light.all() or int((~light).sum()) * size > TUNING.max_nodes:
            raise Inconclusive
        kept = ((np.nonzero(~light)[0] * size)[:, None] + np.arange(size)).ravel()
        return kept[kept < count].astype(np.float64)

    def rule(self, k: float, angle: float | None = None) -> float:
        """log of the relative error of the rule for e^{kL}, k real (Im k adds |Im k| * angle); a looser strip if given."""
        angle = self.angle if angle is None else angle
        a = angle * self.shape.noise
        fold = min(k, 0.0) * math.log(math.cos(0.5 * angle))
        alias = 2.0 * math.pi * a / self.step
        return math.log(2.0) + 0.5 * a * a + fold - alias - math.log1p(-math.exp(-alias)) + 1e-9

    def outside(self, k: float) -> float:
        """log of a bound of what the nodes beyond both ends, or left out, would add to the sum of e^{kL}, for real k."""
        return self.outsides([k])[0]

    def outsides(self, exponents: list[float]) -> list[float]:
        """The same for several k."""
        left, inverse, high = log_tail_bound(-self.low), 1.0 / self.shape.noise, self.high
        found = []
        for k in exponents:
            if k > 0.0:
                shift = k * inverse
                right = k * self.ends[1] + shift * (0.5 * shift - high) + log_tail_bound(high - shift)
                bound = max(left + k * self.ends[0], right)
            else:
                bound = max(left + k * self.floor, log_tail_bound(high))
            if self._skipped is not None:
                bound = max(bound, float(self._skipped.log_sums(np.array([k]))[0]))
            found.append(bound + 1.6)  # three of them; a sum exceeds its integral by less than a half
        return found

    def outside_linear(self, size: float) -> float:
        """The same for 1 + |k x| with |k| <= size."""
        bound = max(log_tail_bound(-self.low), self.shape.right_tail(1.0, self.high))
        if self._skipped is not None:
            bound = max(bound, float(self._skipped.log_sums(np.array([0.0, 1.0])).max()))
        return bound + math.log(1.0 + size) + 1.6
