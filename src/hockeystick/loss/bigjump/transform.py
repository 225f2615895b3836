"""The transform of a step with soft thresholds, by the trapezoidal rule over the noise with every error bounded.

    phi = 1 - E nu - k E nu x + E (1 - nu) (e^{kL} - 1 - k x)     since E x = 0,

so that phi - 1 has relative accuracy however small it is; where |kL| is small its integrand is summed as a power series in k.

docs/mathematics.md, section 7a: Lemma 19e (no cancellation); the rule is that of `path.py`, Lemma 19d.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...numerics.cancellation_free import BLOCK, Array, ComplexArray, blocked_sum, power_tails
from ...numerics.normal import log_tail_bound
from ...numerics.rounding import FUNCTION, LOG_NDTR, SMALLEST, UNIT
from ...numerics.trapezoid import added_terms, exact_places, fourier_sums
from ..protocol import Inconclusive
from ..sampled.quadrature import Nodes, SampledStep
from .cells import NOISE_START, SLACK, Thresholds, log_cdf
from .path import RuleCells

_LOG_LARGE, _LARGE_SUM = 600.0, 1e300
"""Powers beyond e^600 are taken together with 1 - nu; sums beyond 1e300 prove nothing."""


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: it decides what is tried, and what is worth its cost."""

    max_products: float = 1.6e8
    """Nodes of the noise times nodes of the contour in one transform; about a second.  Beyond it the next engine is cheaper."""
    narrow_factor: float = 6.0
    """So many times as many for the narrow thresholds of tiny deltas, where no other engine is close."""
    max_nodes: int = 1 << 19
    """Of the noise: memory for so many doubles, a dozen times."""
    chunk: int = 128
    """Nodes of which power sums are taken at once: the rounding of a sum grows with its length, the cost with their number."""
    log_negligible: float = -640.0
    """log of a mass E nu of which a bound is enough, since it is next to the smallest doubles."""
    log_rule_share: float = 38.0
    """-log of what the rule may err by, relative to E nu: half of a double's digits more than E nu needs."""
    series_share: float = 0.6
    """The power series reaches up to this share of the lower threshold ..."""
    series_widths: float = 10.0
    """... and no nearer to it than so many of its widths, where the threshold is next to e^-50."""


TUNING = Tuning()


class LineValues(NamedTuple):
    """phi - 1 and mid along a line, and bounds of their errors."""

    excess: ComplexArray
    mid: ComplexArray | None
    excess_error: Array
    mid_error: Array


class ThresholdedStep(RuleCells):
    """One step with its thresholds; `q` and `drift` are E nu and E nu x, `error` a bound of their relative errors.

    `q` and `drift` are in units of e^-lift: where they are too small to be doubles they are counted all the same.
    """

    def __init__(self, shape: SampledStep, thresholds: Thresholds, max_exponent: float, lift: float) -> None:
        super().__init__(shape, thresholds, max_exponent)
        self._sum_large(lift)
        self._max_products = TUNING.max_products * (TUNING.narrow_factor if lift else 1.0)
        # what is taken out of phi - 1 is too small to matter where it is no double
        unit = math.exp(-lift)
        self._taken_out = self.q * unit, self.drift * unit

    def _sum_large(self, lift: float) -> None:
        """E nu and E nu x, which is not negative: nu grows with x, and E x = 0."""
        shape, thresholds, part = self.shape, self.thresholds, self.broad_cells(True)
        right = shape.right_tail(1.0, float(self.edges[-1])) + math.log(4.0) + lift
        beyond = math.exp(right) + 2.0 * self.left * math.exp(float(self.log_large[0]) + lift)
        most = self.log_mass + self.log_large[1:] + np.log1p(np.maximum(self.x[1:], 0.0)) + lift
        if float(most.max()) < TUNING.log_negligible:  # a bound is enough
            self.q = self.drift = float(np.exp(most).sum()) * (1.0 + SLACK) + beyond + SMALLEST * most.size
            self.error = 1.0
            return
        guess = float(np.logaddexp.reduce(self.log_mass + self.log_large[:-1])) + lift
        tilt = np.log(2.0 * shape.rate + 1.0 + self.x[part][1:]) + lift
        spacing, rule = self.choose_step(True, tilt, guess - TUNING.log_rule_share, beyond=right)
        grid = self._nodes(spacing, float(self.edges[-1]))
        slip, moved = grid.ratio_errors()
        x = np.expm1(grid.ratio)
        # nu times its weight
        large, off = _threshold_at(x, slip, shape.rate, thresholds.high, thresholds.high_width, grid.base + lift)
        self.q, self.drift = blocked_sum(large), blocked_sum(large * x)
        off += large * ((3.0 * UNIT) * grid.z * grid.z + ((5.0 * FUNCTION + BLOCK * UNIT) + 2.0 * UNIT * lift))
        lost = float(off.sum()), float(np.abs(x) @ off + (large * (1.0 + x)) @ moved)
        beyond += rule + SMALLEST * (float(np.abs(x).sum()) + x.size)
        if not (self.drift > 0.0 and lost[1] + beyond < 0.5 * self.drift and lost[0] + beyond < 0.5 * self.q):
            raise Inconclusive
        self.error = max((lost[0] + beyond) / self.q, (lost[1] + beyond) / self.drift) * (1.0 + SLACK) + 8.0 * UNIT

    def _nodes(self, spacing: float, end: float) -> Nodes:
        count = int((end - NOISE_START) / spacing) + 2
        if count > TUNING.max_nodes:
            raise Inconclusive
        low, spacing = exact_places(NOISE_START, spacing)
        return Nodes(self.shape, low + spacing * np.arange(count + 1), spacing)

    def above(self, k: float) -> float:
        """An upper bound of phi - 1 at a real k >= 1 (docs/mathematics.md, Lemma 19e)."""
        return (
            self.remainder_above(k, False)
            + self.tail_above(k)
            - (self._taken_out[0] + k * self._taken_out[1]) * (1.0 - self.error - SLACK)
        )

    def _spacing(self, k: float, reach: float, size: float, log_goal: float) -> tuple[float, float]:
        """The step of the rule and its error for |Im k| <= reach: of (1 - nu) (e^{kL} - 1 - k x) and of (kappa - nu) e^{kL}."""
        part, thresholds = self.broad_cells(False), self.thresholds
        last_x = float(self.x[part][-1])
        # from there on the integrand falls on the lowest line, whose angle is below 1e-3
        falls = 0.9 * (last_x - thresholds.high) / thresholds.high_width**2
        if not (k + 2e-3 * reach) / (1.0 + last_x) + 2.0 / last_x < falls:
            raise Inconclusive
        plain = np.log1p(size * (2.0 * self.shape.rate + self.x[part][1:]))
        return self.choose_step(False, k * self.ratio[part][1:], log_goal, plain, reach)

    def values(self, k: float, step: float, nodes: int, log_goal: float) -> LineValues:
        """phi - 1 and mid at k + i step j for j < nodes, k >= 1; the rule errs by about e^log_goal."""
        low, high, low_width, high_width = self.thresholds
        line = k + 1j * (step * np.arange(nodes))
        reaches = np.abs(line)
        size = max(1.0, float(reaches[-1]))
        spacing, rule = self._spacing(k, step * (nodes - 1), size, log_goal)
        grid = self._nodes(spacing, float(self.edges[self.broad_cells(False)][-1]))
        slip, moved = grid.ratio_errors()
        weight = np.exp(grid.base)
        lowest, width = (low, low_width) if self.has_small else (high, high_width)
        # the thresholds begin to the right of it
        before = min(TUNING.series_share * lowest, lowest - TUNING.series_widths * width)
        near = min(1.0 / size, math.log1p(max(0.0, before)))
        first, last = int(grid.ratio.searchsorted(-1.0 / size)), int(grid.ratio.searchsorted(near))
        excess, excess_error = self._series(grid, weight, moved, first, last, line, size)
        pick = np.concatenate((np.arange(first), np.arange(last, grid.z.size)))
        if pick.size * (nodes + 64.0) > self._max_products:
            raise Inconclusive
        z, weights, ratio, slip, moved = grid.z[pick], weight[pick], grid.ratio[pick], slip[pick], moved[pick]
        x = np.expm1(ratio)
        kept, kept_off = _threshold_at(x, slip, self.shape.rate, high, -high_width)
        # where e^{kL} is too large a number, the thresholds are scaled up for it
        lift = np.maximum(k * ratio - _LOG_LARGE, 0.0)
        scaled = bool(pick.size and lift[-1] > 0.0)
        # not weights * e^{kL}: far out a weight is too small a number for all its digits
        tilted = np.exp(grid.base[pick] + np.minimum(k * ratio, _LOG_LARGE))
        with np.errstate(over="ignore", invalid="ignore"):
            whole, whole_off = kept, kept_off
            if scaled:
                whole, whole_off = _threshold_at(x, slip, self.shape.rate, high, -high_width, lift)
            rows = [tilted * whole]
            if self.has_small:
                middle, middle_off = self._middle(x, slip, whole, whole_off, lift)
                rows.append(tilted * middle)
        if not all(float(row.max(initial=0.0)) * (row.size + 1.0) < _LARGE_SUM for row in rows):
            raise Inconclusive
        sums = fourier_sums(ratio, np.stack(rows), step, nodes)
        kept_weights = weights * kept
        mass, drift = self._taken_out
        excess += sums[0] - blocked_sum(kept_weights) - line * blocked_sum(kept_weights * x) - (mass + line * drift)
        # rounding (docs/mathematics.md, section 14): of the transform and its weights, of L, of the thresholds; then of the
        # masses taken out
        relative = (4.0 * UNIT) * z * z + ((added_terms(ratio.size, nodes) + 10.0) * UNIT + 4.0 * FUNCTION)
        log_error = moved + 6.0 * UNIT * np.abs(ratio)
        excess_error += (rows[0] + kept_weights) @ relative + tilted @ whole_off + weights @ kept_off
        linear_error = (
            (kept_weights * np.abs(x)) @ relative + (weights * np.abs(x)) @ kept_off + (kept_weights * (1.0 + x)) @ moved
        )
        excess_error += reaches * (rows[0] @ log_error + linear_error)
        excess_error += (mass + reaches * drift) * (self.error + 2.0 * FUNCTION) + 8.0 * UNIT * np.abs(excess)
        # what the thresholds take from the nodes summed as a series, and what lies beyond the ends
        near, right = math.expm1(near), self.tail_above(k)
        lost = SMALLEST * (float(np.abs(x).sum()) + x.size + 4.0) * (2.0 + size)
        high_before = _threshold_left_of(near, high, high_width)
        lost += 3.0 * (size + 2.0) * high_before + self.left * (3.0 + size) + right * (2.0 + size)
        if not self.has_small:
            return LineValues(excess, None, excess_error + (lost + rule), np.zeros(nodes))
        mid_error = reaches * (rows[1] @ log_error) + rows[1] @ relative + tilted @ middle_off
        lost_mid = (3.0 + self.left) * _threshold_left_of(near, low, low_width) + right
        return LineValues(excess, sums[1], excess_error + (lost + rule), mid_error + (lost_mid + rule))

    def _middle(self, x: Array, slip: Array, kept: Array, kept_off: Array, lift: Array) -> tuple[Array, Array]:
        """kappa - nu, times e^lift, and bounds of its error; the difference of the complements where that is the better one."""
        low, high, low_width, high_width = self.thresholds
        least, rate = np.minimum(lift, _LOG_LARGE), self.shape.rate  # it is of no use where it is more
        large, large_off = _threshold_at(x, slip, rate, high, high_width, least)
        not_small, not_small_off = _threshold_at(x, slip, rate, low, low_width, least)
        small, small_off = _threshold_at(x, slip, rate, low, -low_width, lift)
        before = (x < 0.5 * (low + high)) & (lift <= _LOG_LARGE)
        middle = np.maximum(np.where(before, not_small - large, kept - small), 0.0)
        return middle, np.where(before, not_small_off + large_off, kept_off + small_off) + 2.0 * UNIT * middle

    def _series(
        self, grid: Nodes, weight: Array, moved: Array, first: int, last: int, line: ComplexArray, size: float
    ) -> tuple[ComplexArray, Array]:
        """The sum of e^{kL} - 1 - k x over the nodes with |L| size <= 1, and bounds of its error.

        docs/mathematics.md, Lemma 12.
        """
        tails: Array = np.zeros(1)
        error = 0.0
        for start in range(first, last, TUNING.chunk):  # the rounding of a sum grows with its length
            part = slice(start, min(start + TUNING.chunk, last))
            some, off = power_tails(grid.ratio[part], weight[part], grid.z[part], moved[part], size)
            longer, shorter = (some, tails) if some.size > tails.size else (tails, some)
            tails = longer.copy()
            tails[: shorter.size] += shorter
            error += off
        powers = np.empty((tails.size, line.size), dtype=np.complex128)
        powers[:], powers[0] = line, 1.0
        factor: ComplexArray = line * (line - 1.0)
        error += ((last - first) / TUNING.chunk + 1.0) * UNIT * float(np.abs(tails) @ size ** np.arange(tails.size))
        lost = np.abs(factor) * error
        factor *= tails @ np.multiply.accumulate(powers, axis=0)
        return factor, lost


def _threshold_at(
    x: Array, slip: Array, rate: float, high: float, width: float, lift: Array | float = 0.0
) -> tuple[Array, Array]:
    """g((x - high)/width), and bounds of its error, where x + rate errs by the share `slip`; of 1 - g if the width is negative.

    Both times e^lift.  docs/mathematics.md, section 7a, "Errors of the thresholds".
    """
    y = (x - high) * (1.0 / width)
    value = log_cdf(y)
    found = np.exp(np.maximum(value + lift, -740.0))
    off = (np.abs(x) + (high + rate)) * (1.0 / abs(width)) * (slip + (32.0 * UNIT) * (1.0 + np.log1p(np.abs(x))))
    slope = np.where(y > 0.0, np.exp(-0.49 * np.minimum(y * y, 1400.0)), 1.0 - y)  # at least (log g)' nearby
    lost = LOG_NDTR * (2.0 - value) + off * slope + 2.0 * UNIT * np.abs(lift)
    return found, found * np.expm1(np.minimum(lost, 700.0)) + 1e-320


def _threshold_left_of(x: float, high: float, width: float) -> float:
    """A bound of g((y - high)/width) for y <= x."""
    return math.exp(log_tail_bound((high - x) / width)) * (1.0 + SLACK)
