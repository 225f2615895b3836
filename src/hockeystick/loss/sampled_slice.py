"""Sampled Gaussian steps along a vertical line: bounds ahead, proved decay, and the values of K themselves."""

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np

from ..numerics.cells import Cells
from ..numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ..numerics.series import Array, ComplexArray, log1p_complex
from ..numerics.transform import BINS, exponential_offset, moment_gap, spread_gap, stretched_gap
from .cumulant import Slice
from .noise import LOG_ROOT_TWO_PI, Grid, Shape

GridMaker = Callable[[float, float, float, float, float], Grid]

_FINE = 30.0  # -log of the rule's error times the count
_BLOCK = 16
_DIRECT = 64  # nodes of the noise up to which a small table is summed at once
_SHARES = np.arange(5)[:, None] * 0.25
_HALVES = np.arange(2 * BINS + 1)


class SampledGaussianSlice:
    """M(k) for one or two real parts of k (the rows: the ordered pairs of the relation), all on one grid.

    `levels` are about log M there; `make` gives grids.
    """

    def __init__(
        self,
        shape: Shape,
        removals: tuple[bool, ...],
        c: float,
        ahead: float,
        reach: float,
        levels: Sequence[float],
        count: int,
        make: GridMaker,
    ) -> None:
        self.shape, self.removals, self.level, self._make = shape, removals, max(levels), make
        self.k = np.array([1.0 + c if removal else -c for removal in removals])
        self.log_count = math.log(count)
        # n K far below 1 wants relative accuracy, not absolute
        self.faint = max(0.0, -self.log_count - math.log(max(min(abs(level) for level in levels), 1e-300)))
        self.grid = grid = self._grid(reach, ahead + 1.0)
        log_weight = self.k[:, None] * grid.ratio + grid.base
        self.shift = float(log_weight.max()) if self.level > 1.0 else 0.0
        self.tilted = np.exp(log_weight - self.shift if self.shift else log_weight)
        self.total = self.tilted.sum(axis=1)
        outside = math.exp(min(600.0, self._outside(grid) - self.shift))
        self.lost = math.exp(min(600.0, grid.rule(min(self.k.tolist())))) + outside / float(self.total.min())

    def keep(self, rows: list[int]) -> "SampledGaussianSlice":
        if len(rows) == len(self.removals):
            return self
        kept = copy(self)
        kept.removals = tuple(self.removals[row] for row in rows)
        kept.k, kept.tilted, kept.total = self.k[rows], self.tilted[rows], self.total[rows]
        return kept

    def _grid(self, reach: float, ahead: float) -> Grid:
        lead = self.log_count + _FINE + math.log(2.0 + abs(float(self.k[0])) + reach) + self.faint
        return self._make(float(self.k[0]), self.level, lead, reach, ahead)

    def _outside(self, grid: Grid) -> float:
        return max(grid.outside(k) for k in self.k.tolist())

    def above(self, points: Array) -> Array:
        grid = self.grid
        k = np.array([1.0 + points if removal else -points for removal in self.removals])
        log_weight = k[:, :, None] * grid.ratio + grid.base
        top = log_weight.max(axis=2)
        inside = np.exp(log_weight - top[:, :, None]).sum(axis=2)
        # exponents err by the errors of t, L and z^2/2, each below these bounds
        reach = max(abs(grid.low), abs(grid.high))
        size = reach / self.shape.noise + 0.5 / self.shape.noise**2 - grid.floor
        slack = UNIT * (12.0 * np.abs(k) * size + (4.0 * reach * reach + grid.z.size + 60.0))
        outside = np.array([[grid.outside(x) for x in row] for row in k.tolist()])
        rules = np.minimum(grid.rule(0.0) + np.minimum(k, 0.0) * math.log(math.cos(0.5 * grid.angle)), -1e-9)
        out: Array = np.logaddexp(top + np.log(inside), outside) + (slack - np.log1p(-np.exp(rules)))
        if float(rules.max()) > -1.0:
            out = np.where(rules < -1.0, out, math.inf)
        for row, removal in enumerate(self.removals):
            if not removal and points[0] > 0.0:  # Z is at most -floor
                out[row] = np.minimum(out[row], points * (-grid.floor * (1.0 + 16.0 * UNIT)))
        return out

    def decay(self, cells: Cells, thorough: bool) -> Array:
        """The best of three proofs: near in by the moments, far out by the smoothness, in between by the spread (if thorough)."""
        if not thorough:
            far = self._smooth_gap(cells.left)  # of 1 - |phi|, the others of 1 - |phi|^2
            gap = self._quick_gap = np.maximum(moment_gap(cells, *self._moments()), far * (2.0 - far))
        else:
            gap = np.maximum(self._quick_gap, spread_gap(cells, *self._binned()))
        return np.log1p(-np.minimum(gap, 1.0 - 1e-15)) * (-0.5 * (1.0 - 1e-12))

    def _moments(self) -> tuple[Array, Array]:
        """Lower bounds of the variance of the tilted law of L, and upper bounds of E (L - L')^4 for independent copies."""
        ratio = self.grid.ratio
        mean = (self.tilted @ ratio) / self.total
        square = (ratio - mean[:, None]) ** 2
        pull = self.tilted * square
        # on the strip |L - mean| is at most this much
        reach = self.grid.angle + 2.0 * (abs(float(ratio[-1])) + abs(float(ratio[0])))
        variance = pull.sum(axis=1) / self.total * (1.0 - 1e-9) - 2.0 * self.lost * reach**2
        fourth = (pull * square).sum(axis=1) / self.total * (1.0 + 1e-9) + 2.0 * self.lost * reach**4
        # E (L - L')^4 = 2 fourth + 6 variance^2, with upper bounds of both
        wide = variance * (1.0 + 4e-9) + 5.0 * self.lost * reach**2
        return np.maximum(variance, 0.0), 2.0 * fourth + 6.0 * wide * wide

    def _binned(self) -> tuple[Array, Array, Array, Array]:
        """The tilted laws between equally spaced z: lower bounds of masses, L at the ends, bounds of the means of L.

        f, the logarithm of the tilted density, has f' = k r/s - z with r growing and f'' = k L'' - 1, 0 <= L'' <=
        1/(4 s^2).  By Jensen's inequality an interval of width b holds at least b e^{-b^2 |f''|/24} times the
        density at its middle; the mean of z in it lies between those of the exponential laws with the extreme f';
        L being convex, the mean of L lies between the tangent at the middle and the chord there.
        """
        noise, k, z = self.shape.noise, self.k[:, None], self.grid.z
        heavy = self.tilted > self.tilted.max(axis=1, keepdims=True) * math.exp(-self.log_count - 9.0)
        start = z[heavy.argmax(axis=1)][:, None]
        width = (z[z.size - 1 - heavy[:, ::-1].argmax(axis=1)][:, None] - start) * (1.0 / BINS)
        points = start + (0.5 * width) * _HALVES
        ratio, share = self.shape.ratios(points)
        bend = 1.0 + np.maximum(0.0, -k) * (0.25 / noise**2)
        middle, ends, center = points[:, 1::2], points[:, ::2], ratio[:, 1::2]
        scale = np.log(width) - width * width * bend * (1.0 / 24.0) - (LOG_ROOT_TWO_PI + self.shift)
        masses = np.exp(k * center - 0.5 * middle * middle + scale) * (
            max(0.0, 1.0 - 1e-9 - 2.0 * self.lost) / self.total[:, None]
        )
        pull = (k * (1.0 / noise)) * share[:, ::2]
        least = np.minimum(pull[:, :-1], pull[:, 1:]) - ends[:, 1:]
        most = np.maximum(pull[:, :-1], pull[:, 1:]) - ends[:, :-1]
        offsets = exponential_offset(np.concatenate((least, most), axis=1), width)
        slack = 1e-4 * width
        edges = ratio[:, ::2]
        rise = (edges[:, 1:] - edges[:, :-1]) / width
        low = center + (offsets[:, :BINS] - slack) * share[:, 1::2] * (1.0 / noise)
        high = 0.5 * (edges[:, 1:] + edges[:, :-1]) + rise * (offsets[:, BINS:] + slack)
        return masses, edges, low, high

    def _smooth_gap(self, u: Array) -> Array:
        """Integration by parts against soft cuts chi = r^3/(r^3 + r0^3) of the flat part of L.

        With h the tilted density of y = s z and dL/dy = r/s^2, s^2 h chi/r has total variation E|psi|, psi = (chi/r) B, B =
        k r - y + (1-r)(2 - 3 chi), so |phi(c+iu)/phi(c)| <= 1 - E[chi] + V/u, V^2 = E[chi] E[B^2 chi/r^2] >= (E|psi|)^2.
        Of several r0 the best is taken at each u.
        """
        grid, share, noise = self.grid, self.grid.share, self.shape.noise
        cuts = 0.7 * self.shape.rate**_SHARES
        cubes = cuts * cuts * cuts
        square = share * share
        slope = share / (square * share + cubes)  # chi/r^2
        cut = square * slope
        weight = self.tilted * (1.0 / self.total[:, None])
        mass = weight @ cut.T
        pull = self.k[:, None] * share - noise * grid.z
        rest = (1.0 - share) * (2.0 - 3.0 * cut)
        pulled, bent = weight * pull, rest * slope
        first, last = (pulled * pull) @ slope.T, weight @ (rest * bent).T
        spread = first + 2.0 * (pulled @ bent.T) + last + 1e-12 * (first + last)
        # the rule's own error: on the strip of half-angle pi/4, |chi| <= 1.5, |chi/r^2| <= 1.5/r0^2 and |1 - r| <= 1
        half = min(grid.angle, 0.25 * math.pi)
        lost = self.lost + math.exp(min(600.0, grid.rule(min(self.k.tolist()), half))) + 1e-12
        reach = float(np.abs(self.k).max()) + 7.0 + noise * (noise * half + 2.0 * max(abs(grid.low), abs(grid.high)))
        inverse = 1.0 / cuts[:, 0]
        spread = spread * (1.0 + lost) + (1.5 * lost * reach**2) * (inverse * inverse)
        variation = np.sqrt(spread * (mass * (1.0 + lost) + 1.5 * lost))
        mass = np.maximum(0.0, mass * (1.0 - lost) - 1.5 * lost)
        return stretched_gap(u, mass[:, :, None], variation[:, :, None]).max(axis=1)

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        frequency = step * (nodes - 1)
        grid = self.grid if frequency <= self.grid.reach else self._grid(frequency, 0.0)
        value, error = (self._plain if self.level > 1.0 else self._excess)(grid, step, nodes)
        for row, removal in enumerate(self.removals):
            if not removal:
                value[row] = np.conj(value[row])
        return value, error

    def _plain(self, grid: Grid, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        """log M(k) as it stands, scaled by its largest term."""
        log_weight = self.k[:, None] * grid.ratio + grid.base
        shift = float(log_weight.max())
        tilted = np.exp(log_weight - shift)
        phi = _transform(grid.ratio, tilted, step, nodes)
        reach = np.hypot(self.k[:, None], step * np.arange(nodes))
        lost = _transform_error(grid.ratio, tilted, grid.z, grid.ratio_errors()[1], reach)
        lost += math.exp(min(600.0, self._outside(grid) - shift)) + math.exp(min(600.0, grid.log_rule - shift))
        magnitude = np.maximum(np.abs(phi), 1e-290)
        value = 1j * np.angle(phi)
        value += np.log(magnitude) + shift
        error = lost / magnitude
        return value, error * SECOND_ORDER + 2.0 * UNIT * abs(shift)

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
            excess += _transform(split.ratio, tilted, step, nodes)
            excess -= split.mass + k * split.drift
            lost += _transform_error(split.ratio, tilted, split.z, split.ratio_error, reach)
            lost += split.far_error[0] + reach * split.far_error[1]
        lost += math.exp(self._outside(grid)) + math.exp(grid.outside_linear(size))
        magnitude = np.maximum(np.abs(1.0 + excess), 1e-290)
        return log1p_complex(excess), (lost + 8.0 * UNIT * np.abs(excess)) * (SECOND_ORDER / magnitude)


@dataclass(frozen=True)
class StackedSlice:
    """Slices of single ordered pairs as the rows of one."""

    slices: tuple[Slice, ...]

    def keep(self, rows: list[int]) -> "StackedSlice":
        return StackedSlice(tuple(self.slices[row] for row in rows))

    def above(self, points: Array) -> Array:
        return np.concatenate([one.above(points) for one in self.slices])

    def decay(self, cells: Cells, thorough: bool) -> Array:
        return np.concatenate([one.decay(cells, thorough) for one in self.slices])

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        values, errors = zip(*(one.values(step, nodes) for one in self.slices), strict=True)
        return np.concatenate(values), np.concatenate(errors)


def _transform(ratio: Array, weight: Array, step: float, nodes: int) -> ComplexArray:
    """sum_j weight_j e^{i u L_j} at u = 0, step, 2 step, ..., for each row of weights.

    u = (p R + r) step: e^{iuL} is a product of two small tables, and the sum a product of matrices, block by block so that the
    rounding error grows with the block and not with the whole.
    """
    if ratio.size <= _DIRECT and nodes * ratio.size < 4000:
        table: ComplexArray = np.exp(1j * (ratio[:, None] * (step * np.arange(nodes))))
        found: ComplexArray = np.matmul(weight, table)
        return found
    inner = max(1, math.isqrt(nodes))
    outer = -(-nodes // inner)
    blocks = -(-ratio.size // _BLOCK)
    spare = blocks * _BLOCK - ratio.size
    ratio = np.concatenate((ratio, np.zeros(spare))).reshape(blocks, 1, _BLOCK)
    fine = np.swapaxes(np.exp(1j * (np.arange(inner)[:, None] * (step * ratio))), -1, -2)
    coarse = np.exp(1j * (np.arange(outer)[:, None] * (step * inner * ratio)))
    out = np.empty((weight.shape[0], nodes), dtype=np.complex128)
    for row, own in enumerate(weight):
        padded = np.concatenate((own, np.zeros(spare))).reshape(blocks, 1, _BLOCK)
        out[row] = ((coarse * padded) @ fine).sum(axis=0).ravel()[:nodes]
    return out


def _transform_error(ratio: Array, weight: Array, z: Array, ratio_error: Array, size: Array) -> Array:
    """Bounds of the rounding errors of `_transform`, of its weights and of L, at the nodes where |k| is `size`."""
    slope = weight @ (ratio_error + (6.0 * UNIT) * np.abs(ratio))
    terms = ratio.size if ratio.size <= _DIRECT else _BLOCK + -(-ratio.size // _BLOCK)
    # three exponentials and their two products
    constant = weight @ ((3.0 * UNIT) * z * z + ((terms + 8.0) * UNIT + 3.0 * FUNCTION))
    return size * slope[:, None] + constant[:, None]
