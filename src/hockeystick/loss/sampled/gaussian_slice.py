"""Sampled Gaussian steps along a vertical line: bounds ahead, proved decay, and the values of K themselves."""

import math
from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property

import numpy as np

from ...native import loops
from ...native.loops import loop
from ...numerics.cancellation_free import Array, ComplexArray, exp_remainder, log1p_complex
from ...numerics.fourier_sums import added_terms, fourier_sums
from ...numerics.geometric_cells import Cells
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from .gaussian_decay import cut_step, sampled_gap
from .quadrature import Grid, Shape

GridMaker = Callable[[float, float, float, float], Grid]

_GENTLE, _TERMS = 0.25, 13  # |w L| for which so many terms of the exponential series are all
_LOOPS = 200_000  # products of nodes from which a product of matrices is faster than the compiled loops
_FINE, _COARSE = 30.0, 14.0  # -log of the rule's error times the count, for values and for bounds


def _light(line: "SampledGaussianSlice", grid: Grid, step: float, nodes: int) -> bool:
    return grid.rows is not None and grid.z.size * nodes < _LOOPS


class SampledGaussianSlice:
    """M(k) for one or two real parts of k (the rows: the ordered pairs of the relation).

    `levels` are about log M there; `make` gives grids for the values of M.  The bounds go by a coarser grid.
    """

    def __init__(
        self,
        shape: Shape,
        removals: tuple[bool, ...],
        c: float,
        ahead: float,
        levels: Sequence[float],
        count: int,
        make: GridMaker,
    ) -> None:
        self.shape, self.removals, self.level, self._make = shape, removals, max(levels), make
        self.k = np.array([1.0 + c if removal else -c for removal in removals])
        self.c, self.log_count, self.ahead = c, math.log(count), ahead
        # n K far below 1 wants relative accuracy, not absolute
        self.faint = max(0.0, -self.log_count - math.log(max(min(abs(level) for level in levels), 1e-300)))

    def keep(self, rows: list[int]) -> "SampledGaussianSlice":
        if len(rows) == len(self.removals):
            return self
        kept = copy(self)
        kept.removals, kept.k = tuple(self.removals[row] for row in rows), self.k[rows]
        return kept

    @cached_property
    def coarse(self) -> Grid:
        """For real exponents: bounds of M ahead of k, and of how fast it falls."""
        k = float(self.k[0])
        lead = self.log_count + _COARSE + math.log(2.0 + abs(k))
        return Grid(self.shape, k, self.level, lead, 0.0, self.ahead + 1.0, cut_step(self.shape, min(k, -k, 1.0 - k, 0.0), lead))

    def _fine(self, reach: float) -> Grid:
        lead = self.log_count + _FINE + math.log(2.0 + abs(float(self.k[0])) + reach) + self.faint
        return self._make(float(self.k[0]), self.level, lead, reach)

    def _outside(self, grid: Grid) -> float:
        return max(grid.outside(k) for k in self.k.tolist())

    def cumulant_above(self, points: Array) -> Array:
        grid = self.coarse
        k = np.array([1.0 + points if removal else -points for removal in self.removals])
        out = self._above(grid, k)
        for row, removal in enumerate(self.removals):
            if not removal and points[0] > 0.0:  # Z is at most -floor
                out[row] = np.minimum(out[row], points * (-grid.floor * (1.0 + 16.0 * UNIT)))
        return out

    @loop(loops.above, when=loops.on_rows)
    def _above(self, grid: Grid, k: Array) -> Array:
        log_weight = k[:, :, None] * grid.ratio + grid.base
        top = log_weight.max(axis=2)
        inside = np.exp(log_weight - top[:, :, None]).sum(axis=2)
        # exponents err by the errors of t, L and z^2/2, each below these bounds
        reach = max(abs(grid.low), abs(grid.high))
        size = reach / self.shape.noise + 0.5 / self.shape.noise**2 - grid.floor
        off = 12.0 + 2.0 * self.shape.noise_error / UNIT
        slack = UNIT * (off * np.abs(k) * size + (4.0 * reach * reach + grid.z.size + 60.0))
        outside = [grid.outsides(row) for row in k.tolist()]
        rules = np.minimum(grid.rule(0.0) + np.minimum(k, 0.0) * math.log(math.cos(0.5 * grid.angle)), -1e-9)
        out: Array = np.logaddexp(top + np.log(inside), outside) + (slack - np.log1p(-np.exp(rules)))
        if float(rules.max()) > -1.0:
            out = np.where(rules < -1.0, out, math.inf)
        return out

    def decay(self, cells: Cells) -> Array:
        return self._decay(self.coarse, cells)

    @loop(loops.decay, when=loops.on_rows)
    def _decay(self, grid: Grid, cells: Cells) -> Array:
        log_weight = self.k[:, None] * grid.ratio + grid.base
        shift = float(log_weight.max())
        weight = np.exp(log_weight - shift)
        total = weight.sum(axis=1)
        outside = math.exp(min(600.0, self._outside(grid) - shift)) / float(total.min())
        lost = math.exp(min(600.0, grid.rule(float(self.k.min())))) + outside
        gap = sampled_gap(grid, self.k, weight * (1.0 / total[:, None]), lost, cells)
        return np.log1p(-np.minimum(gap, 1.0 - 1e-15)) * (-1.0 + 1e-12)

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        grid = self._fine(step * (nodes - 1))
        value, error = (self._plain if self.level > 1.0 else self._excess)(grid, step, nodes)
        gentle = math.hypot(self.c, step * (nodes - 1)) * max(-grid.floor, float(grid.ratio[-1])) < _GENTLE
        for row, removal in enumerate(self.removals):
            if gentle:
                value[row], error[row] = self._gentle(grid, removal, step, nodes)
            if not removal:
                value[row] = np.conj(value[row])
        return value, error

    def _plain(self, grid: Grid, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        """log M(k) as it stands, scaled by its largest term."""
        log_weight = self.k[:, None] * grid.ratio + grid.base
        shift = float(log_weight.max())
        tilted = np.exp(log_weight - shift)
        phi = fourier_sums(grid.ratio, tilted, step, nodes)
        reach = np.hypot(self.k[:, None], step * np.arange(nodes))
        lost = _transform_error(grid.ratio, tilted, grid.z, grid.ratio_errors()[1], reach)
        lost += math.exp(min(600.0, self._outside(grid) - shift)) + math.exp(min(600.0, grid.log_rule - shift))
        magnitude = np.maximum(np.abs(phi), 1e-290)
        value = 1j * np.angle(phi)
        value += np.log(magnitude) + shift
        error = lost / magnitude
        return value, error * SECOND_ORDER + 2.0 * UNIT * abs(shift)

    @loop(loops.excess, when=_light)
    def _excess(self, grid: Grid, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        """M(k) - 1 = E[e^{kL} - 1 - k x] (E x = 0), so that it has relative accuracy however small it is."""
        k = np.empty((self.k.size, nodes), dtype=np.complex128)
        k.real = self.k[:, None]
        k.imag = step * np.arange(nodes)
        reach = np.abs(k)
        size = float(reach[:, -1].max())
        split = grid.split(size)
        powers = np.empty((split.tails.size, k.size), dtype=np.complex128)
        powers[:] = k.ravel()
        powers[0] = 1.0
        factor = k * (k - 1.0)
        excess = factor * (split.tails @ np.multiply.accumulate(powers, axis=0)).reshape(k.shape)
        lost = np.abs(factor) * split.small_error + (2.0 + 2.0 * size) * math.exp(min(600.0, grid.log_rule))
        if split.far:
            tilted = np.exp(self.k[:, None] * split.ratio + split.base)
            excess += fourier_sums(split.ratio, tilted, step, nodes)
            excess -= split.mass + k * split.drift
            lost += _transform_error(split.ratio, tilted, split.z, split.ratio_error, reach)
            lost += split.far_error[0] + reach * split.far_error[1]
        lost += math.exp(self._outside(grid)) + math.exp(grid.outside_linear(size))
        magnitude = np.maximum(np.abs(1.0 + excess), 1e-290)
        return log1p_complex(excess), (lost + 8.0 * UNIT * np.abs(excess)) * (SECOND_ORDER / magnitude)

    def _gentle(self, grid: Grid, removal: bool, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        """M(1 + w) - 1 = E[e^L (e^{wL} - 1 - w L)] + w E[L e^L - x], or M(w) - 1 = E[e^{wL} - 1 - w L] - w E[x - L].

        Relative to w, for very many steps, where it is tiny: the same sums as in `_excess`, in other words; |w L| < `_GENTLE`.
        """
        w = np.empty(nodes, dtype=np.complex128)
        w.real, w.imag = self.c if removal else -self.c, step * np.arange(nodes)
        size, far = np.abs(w), np.abs(grid.ratio)
        weight, grown = np.exp(grid.base), np.exp(grid.base + grid.ratio)
        first, own = (
            (gain_terms(grid.ratio, weight, grown), grown) if removal else (-loss_terms(grid.ratio, weight, grown), weight)
        )
        mean = float(first.sum())
        moments = (np.multiply.accumulate(np.tile(grid.ratio, (_TERMS, 1)), axis=0) @ own)[1:]
        series = np.zeros(nodes, dtype=np.complex128)
        for n in range(_TERMS, 1, -1):  # w^n / n! times the n-th moment
            series = (series + moments[n - 2]) * w / n
        excess = w * (mean + series)
        off, squares = grid.ratio_errors()[1], grid.z * grid.z
        drift = 4.0 * float(np.maximum(grown, weight) @ (off * far)) + abs(mean) * (grid.z.size + 200.0) * UNIT
        drift += 8.0 * abs(float(first @ squares)) * UNIT
        bend = float((own * far * far) @ ((grid.z.size + 80.0) * UNIT + 3.0 * FUNCTION + 3.0 * UNIT * squares))
        bend += float(own @ (off * (far * far + 1.5 * far)))
        lost = size * (drift + size * bend)
        most = float(size[-1]) + (1.0 if removal else 0.0)  # |k|
        lost += (2.0 + 2.0 * most) * math.exp(min(600.0, grid.log_rule))
        lost += math.exp(self._outside(grid)) + math.exp(grid.outside_linear(most))
        return log1p_complex(excess), (lost + 8.0 * UNIT * np.abs(excess)) * (SECOND_ORDER / np.abs(1.0 + excess))


def gain_terms(ratio: Array, weight: Array, grown: Array) -> Array:
    """Of L e^L - x, which is never negative: the terms of its expectation."""
    near = np.minimum(ratio, 1.0)
    small = weight * (near * np.expm1(near) - exp_remainder(near))
    found: Array = np.where(ratio < 1.0, small, grown * (ratio - 1.0) + weight)
    return found


def loss_terms(ratio: Array, weight: Array, grown: Array) -> Array:
    """Of x - L, which is never negative."""
    small = weight * exp_remainder(np.minimum(ratio, 1.0))
    found: Array = np.where(ratio < 1.0, small, grown - weight * (1.0 + ratio))
    return found


def _transform_error(ratio: Array, weight: Array, z: Array, ratio_error: Array, size: Array) -> Array:
    """Bounds of the rounding errors of `fourier_sums`, of its weights and of L, at the nodes where |k| is `size`."""
    slope = weight @ (ratio_error + (6.0 * UNIT) * np.abs(ratio))
    terms = added_terms(ratio.size, size.shape[1])
    # three exponentials and their two products
    constant = weight @ ((3.0 * UNIT) * z * z + ((terms + 8.0) * UNIT + 3.0 * FUNCTION))
    return size * slope[:, None] + constant[:, None]
