"""The sums over the noise of a marked step (`parted_cells.py`), by the trapezoidal rule with every error bounded.

    phi = 1 - E nu - k E nu x + E (1 - nu) (e^{kL} - 1 - k x)     since E x = 0,

so that phi - 1 has relative accuracy however small it is; where |kL| is small its integrand is summed as a power series in k.
"""

import math
from typing import NamedTuple

import numpy as np

from ...numerics.cancellation_free import BLOCK, Array, ComplexArray, blocked_sum, power_tails
from ...numerics.normal import log_tail_bound
from ...numerics.rounding import FUNCTION, LOG_NDTR, UNIT
from ...numerics.trapezoid import added_terms, exact_places, fourier_sums
from ..protocol import Inconclusive
from ..sampled.quadrature import Nodes, SampledStep
from .cells import LOW, SLACK, Marks, PartedCells, log_g

_WORK = 1.6e8  # products of one transform
_CHUNK = 128
_NODES = 1 << 19  # of the noise
_LARGE = 600.0  # the logarithm of a large number
_FAR = 1e300
_NONE = -640.0  # and of one that is as good as 0
_LEAST = 5e-324  # of which small numbers are multiples
_BEFORE, _WIDTHS = 0.6, 10.0  # of the x of a mark; of the mark


class Parts(NamedTuple):
    """phi - 1 and mid along a line, and bounds of their errors."""

    excess: ComplexArray
    mid: ComplexArray | None
    excess_error: Array
    mid_error: Array


class PartedStep(PartedCells):
    """One step with its marks; `q` and `drift` are E nu and E nu x, `error` a bound of their relative errors.

    Both in units of e^-lift.
    """

    def __init__(self, shape: SampledStep, marks: Marks, most: float, lift: float) -> None:
        super().__init__(shape, marks, most)
        self._count(lift)
        self._work = _WORK * (6.0 if lift else 1.0)  # marks are narrow then
        # what is taken from the rest is too small to matter where it is no double
        unit = math.exp(-lift)
        self._out = self.q * unit, self.drift * unit

    def _count(self, lift: float) -> None:
        """E nu and E nu x, which is not negative: nu grows with x, and E x = 0."""
        shape, marks, part = self.shape, self.marks, self.broad(True)
        right = shape.right_tail(1.0, float(self.edges[-1])) + math.log(4.0) + lift
        beyond = math.exp(right) + 2.0 * self.left * math.exp(float(self.log_large[0]) + lift)
        most = self.log_mass + self.log_large[1:] + np.log1p(np.maximum(self.x[1:], 0.0)) + lift
        if float(most.max()) < _NONE:  # a bound is enough
            self.q = self.drift = float(np.exp(most).sum()) * (1.0 + SLACK) + beyond + _LEAST * most.size
            self.error = 1.0
            return
        guess = float(np.logaddexp.reduce(self.log_mass + self.log_large[:-1])) + lift
        tilt = np.log(2.0 * shape.rate + 1.0 + self.x[part][1:]) + lift
        spacing, rule = self.spaced(True, tilt, guess - 38.0, beyond=right)
        grid = self._nodes(spacing, float(self.edges[-1]))
        slip, moved = grid.ratio_errors()
        x = np.expm1(grid.ratio)
        # nu times its weight
        mark, off = _marked(x, slip, shape.rate, marks.high, marks.high_width, grid.base + lift)
        self.q, self.drift = blocked_sum(mark), blocked_sum(mark * x)
        off += mark * ((3.0 * UNIT) * grid.z * grid.z + ((5.0 * FUNCTION + BLOCK * UNIT) + 2.0 * UNIT * lift))
        lost = float(off.sum()), float(np.abs(x) @ off + (mark * (1.0 + x)) @ moved)
        beyond += rule + _LEAST * (float(np.abs(x).sum()) + x.size)
        if not (self.drift > 0.0 and lost[1] + beyond < 0.5 * self.drift and lost[0] + beyond < 0.5 * self.q):
            raise Inconclusive
        self.error = max((lost[0] + beyond) / self.q, (lost[1] + beyond) / self.drift) * (1.0 + SLACK) + 8.0 * UNIT

    def _nodes(self, spacing: float, end: float) -> Nodes:
        count = int((end - LOW) / spacing) + 2
        if count > _NODES:
            raise Inconclusive
        low, spacing = exact_places(LOW, spacing)
        return Nodes(self.shape, low + spacing * np.arange(count + 1), spacing)

    def above(self, k: float) -> float:
        """An upper bound of phi - 1 at a real k >= 1."""
        return self.bent_above(k, False) + self.beyond(k) - (self._out[0] + k * self._out[1]) * (1.0 - self.error - SLACK)

    def _spacing(self, k: float, reach: float, size: float, log_goal: float) -> tuple[float, float]:
        """The step of the rule and its error for |Im k| <= reach: of (1 - nu) (e^{kL} - 1 - k x) and of (kappa - nu) e^{kL}."""
        part, marks = self.broad(False), self.marks
        last_x = float(self.x[part][-1])
        # from there on the integrand falls on the lowest line, whose angle is below 1e-3
        falls = 0.9 * (last_x - marks.high) / marks.high_width**2
        if not (k + 2e-3 * reach) / (1.0 + last_x) + 2.0 / last_x < falls:
            raise Inconclusive
        plain = np.log1p(size * (2.0 * self.shape.rate + self.x[part][1:]))
        return self.spaced(False, k * self.ratio[part][1:], log_goal, plain, reach)

    def values(self, k: float, step: float, nodes: int, log_goal: float) -> Parts:
        """phi - 1 and mid at k + i step j for j < nodes, k >= 1; the rule errs by about e^log_goal."""
        marks = self.marks
        line = k + 1j * (step * np.arange(nodes))
        reaches = np.abs(line)
        size = max(1.0, float(reaches[-1]))
        spacing, rule = self._spacing(k, step * (nodes - 1), size, log_goal)
        grid = self._nodes(spacing, float(self.edges[self.broad(False)][-1]))
        slip, moved = grid.ratio_errors()
        weight = np.exp(grid.base)
        mark, width = (marks.low, marks.low_width) if self.parted else (marks.high, marks.high_width)
        near = min(
            1.0 / size, math.log1p(max(0.0, min(_BEFORE * mark, mark - _WIDTHS * width)))
        )  # marks begin to the right of it
        first, last = int(grid.ratio.searchsorted(-1.0 / size)), int(grid.ratio.searchsorted(near))
        excess, excess_error = self._near(grid, weight, moved, first, last, line, size)
        pick = np.concatenate((np.arange(first), np.arange(last, grid.z.size)))
        if pick.size * (nodes + 64.0) > self._work:
            raise Inconclusive
        z, own, ratio, slip, moved = grid.z[pick], weight[pick], grid.ratio[pick], slip[pick], moved[pick]
        x = np.expm1(ratio)
        kept, kept_off = _marked(x, slip, self.shape.rate, marks.high, -marks.high_width)
        # where e^{kL} is too large a number, the marks grow for it
        lift = np.maximum(k * ratio - _LARGE, 0.0)
        grows = bool(pick.size and lift[-1] > 0.0)
        tilted = np.exp(grid.base[pick] + np.minimum(k * ratio, _LARGE))  # far out, own is too small a number for all its digits
        with np.errstate(over="ignore", invalid="ignore"):
            whole, whole_off = (
                _marked(x, slip, self.shape.rate, marks.high, -marks.high_width, lift) if grows else (kept, kept_off)
            )
            rows = [tilted * whole]
            if self.parted:
                middle, middle_off = self._middle(x, slip, whole, whole_off, lift)
                rows.append(tilted * middle)
        if not all(float(row.max(initial=0.0)) * (row.size + 1.0) < _FAR for row in rows):
            raise Inconclusive
        sums = fourier_sums(ratio, np.stack(rows), step, nodes)
        light = own * kept
        excess += sums[0] - blocked_sum(light) - line * blocked_sum(light * x) - (self._out[0] + line * self._out[1])
        # rounding: of the transform and its weights, of L, of the marks; then of the masses taken out
        relative = (4.0 * UNIT) * z * z + ((added_terms(ratio.size, nodes) + 10.0) * UNIT + 4.0 * FUNCTION)
        turned = moved + 6.0 * UNIT * np.abs(ratio)
        excess_error += (rows[0] + light) @ relative + tilted @ whole_off + own @ kept_off
        pulled = (light * np.abs(x)) @ relative + (own * np.abs(x)) @ kept_off + (light * (1.0 + x)) @ moved
        excess_error += reaches * (rows[0] @ turned + pulled)
        excess_error += (self._out[0] + reaches * self._out[1]) * (self.error + 2.0 * FUNCTION) + 8.0 * UNIT * np.abs(excess)
        # what the marks say of the nodes summed as a series, and what lies beyond the ends
        near, right = math.expm1(near), self.beyond(k)
        lost = _LEAST * (float(np.abs(x).sum()) + x.size + 4.0) * (2.0 + size)
        lost += (
            3.0 * (size + 2.0) * _left_of(near, marks.high, marks.high_width) + self.left * (3.0 + size) + right * (2.0 + size)
        )
        if not self.parted:
            return Parts(excess, None, excess_error + (lost + rule), np.zeros(nodes))
        mid_error = reaches * (rows[1] @ turned) + rows[1] @ relative + tilted @ middle_off
        lost_mid = (3.0 + self.left) * _left_of(near, marks.low, marks.low_width) + right
        return Parts(excess, sums[1], excess_error + (lost + rule), mid_error + (lost_mid + rule))

    def _middle(self, x: Array, slip: Array, kept: Array, kept_off: Array, lift: Array) -> tuple[Array, Array]:
        """kappa - nu, times e^lift, and bounds of its error; the difference of the complements where that is the better one."""
        marks = self.marks
        low, rate = np.minimum(lift, _LARGE), self.shape.rate  # it is of no use where it is more
        large, large_off = _marked(x, slip, rate, marks.high, marks.high_width, low)
        not_small, not_small_off = _marked(x, slip, rate, marks.low, marks.low_width, low)
        small, small_off = _marked(x, slip, rate, marks.low, -marks.low_width, lift)
        before = (x < 0.5 * (marks.low + marks.high)) & (lift <= _LARGE)
        middle = np.maximum(np.where(before, not_small - large, kept - small), 0.0)
        return middle, np.where(before, not_small_off + large_off, kept_off + small_off) + 2.0 * UNIT * middle

    def _near(
        self, grid: Nodes, weight: Array, moved: Array, first: int, last: int, line: ComplexArray, size: float
    ) -> tuple[ComplexArray, Array]:
        """The sum of e^{kL} - 1 - k x over the nodes with |L| size <= 1, and bounds of its error."""
        tails: Array = np.zeros(1)
        error = 0.0
        for start in range(first, last, _CHUNK):  # the rounding of a sum grows with its length
            part = slice(start, min(start + _CHUNK, last))
            some, off = power_tails(grid.ratio[part], weight[part], grid.z[part], moved[part], size)
            longer, shorter = (some, tails) if some.size > tails.size else (tails, some)
            tails = longer.copy()
            tails[: shorter.size] += shorter
            error += off
        powers = np.empty((tails.size, line.size), dtype=np.complex128)
        powers[:], powers[0] = line, 1.0
        factor: ComplexArray = line * (line - 1.0)
        error += ((last - first) / _CHUNK + 1.0) * UNIT * float(np.abs(tails) @ size ** np.arange(tails.size))
        lost = np.abs(factor) * error
        factor *= tails @ np.multiply.accumulate(powers, axis=0)
        return factor, lost


def _marked(x: Array, slip: Array, rate: float, high: float, width: float, lift: Array | float = 0.0) -> tuple[Array, Array]:
    """g((x - high)/width), and bounds of its error, where x + rate errs by the share `slip`; of 1 - g if the width is negative.

    Both times e^lift.
    """
    y = (x - high) * (1.0 / width)
    value = log_g(y)
    found = np.exp(np.maximum(value + lift, -740.0))
    off = (np.abs(x) + (high + rate)) * (1.0 / abs(width)) * (slip + (32.0 * UNIT) * (1.0 + np.log1p(np.abs(x))))
    lean = np.where(y > 0.0, np.exp(-0.49 * np.minimum(y * y, 1400.0)), 1.0 - y)  # at least (log g)' nearby
    lost = LOG_NDTR * (2.0 - value) + off * lean + 2.0 * UNIT * np.abs(lift)
    return found, found * np.expm1(np.minimum(lost, 700.0)) + 1e-320


def _left_of(x: float, high: float, width: float) -> float:
    """A bound of the mark at x, and to the left of it."""
    return math.exp(log_tail_bound((high - x) / width)) * (1.0 + SLACK)
