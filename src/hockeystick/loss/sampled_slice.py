"""A sampled Gaussian step along a vertical line: bounds ahead, proved decay, and the values of K themselves."""

import math
from collections.abc import Callable

import numpy as np

from ..numerics.cells import Cells
from ..numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ..numerics.series import Array, ComplexArray, log1p_complex
from ..numerics.transform import BINS, exponential_offset, moment_gap, spread_gap, stretched_gap
from .noise import LOG_ROOT_TWO_PI, Grid, Shape

GridMaker = Callable[[float, float, float, float, float], Grid]

_FINE = 34.0  # -log of the rule's error times the count


class SampledGaussianSlice:
    """M(k) for Re k fixed; `level` is about log M there, `make` gives a grid (shared with the other order of the pair)."""

    def __init__(
        self, shape: Shape, removal: bool, c: float, ahead: float, reach: float, level: float, count: int, make: GridMaker
    ) -> None:
        self.shape, self.removal, self.level, self._make = shape, removal, level, make
        self.k = 1.0 + c if removal else -c
        self.log_count = math.log(count)
        self.grid = self._grid(reach, ahead + 1.0)
        log_weight = self.k * self.grid.ratio + self.grid.base
        self.shift = float(log_weight.max()) if level > 1.0 else 0.0
        self.tilted = np.exp(log_weight - self.shift)
        self.total = float(self.tilted.sum())
        rule = math.exp(min(0.0, self.grid.rule(self.k)))
        self.lost = rule + math.exp(min(0.0, self._outside(self.grid) - self.shift)) / self.total + 1e-12

    def _grid(self, reach: float, ahead: float) -> Grid:
        # n K far below 1 wants relative accuracy, not absolute
        faint = max(0.0, -self.log_count - math.log(max(abs(self.level), 1e-300)))
        lead = self.log_count + _FINE + math.log(2.0 + abs(self.k) + reach) + faint
        return self._make(self.k, self.level, lead, reach, ahead)

    def _outside(self, grid: Grid) -> float:
        return float(grid.outside(np.array([self.k]))[0])

    def above(self, points: Array) -> Array:
        grid = self.grid
        k = 1.0 + points if self.removal else -points
        log_weight = k[:, None] * grid.ratio + grid.base
        top = log_weight.max(axis=1)
        inside = np.exp(log_weight - top[:, None]).sum(axis=1)
        # exponents err by the errors of t, L and z^2/2, each below these bounds
        reach = max(abs(grid.low), abs(grid.high))
        size = reach / self.shape.noise + 0.5 / self.shape.noise**2 - grid.floor
        slack = UNIT * (12.0 * np.abs(k) * size + 4.0 * reach * reach + grid.z.size + 60.0)
        outside = np.exp(np.minimum(grid.outside(k) - top, 700.0))
        out = top + np.log(inside + outside) + slack
        if self.k > 0.0:
            rule = grid.rule(1.0)
            return out - math.log1p(-math.exp(rule)) if rule < -1.0 else np.full(points.shape, math.inf)
        rules = np.minimum(grid.rule(0.0) + k * math.log(math.cos(0.5 * grid.angle)), -1e-9)
        out = np.where(rules < -1.0, out - np.log1p(-np.exp(rules)), math.inf)
        return np.minimum(out, points * (-grid.floor * (1.0 + 16.0 * UNIT)))  # Z is at most -floor

    def decay(self, cells: Cells, thorough: bool) -> Array:
        """The best of several proofs: near in the moments, in between the spread (if thorough), far out the smoothness."""
        near = moment_gap(cells, *self._moments())
        if thorough:
            near = np.maximum(near, spread_gap(cells, *self._binned()))
        far = self._smooth_gap(cells.left)  # of 1 - |phi|, the others of 1 - |phi|^2
        gap = np.maximum(near, far * (2.0 - far))
        return -0.5 * np.log1p(-np.minimum(gap, 1.0 - 1e-15)) * (1.0 - 1e-12)

    def _moments(self) -> tuple[float, float]:
        """A lower bound of the variance and an upper bound of the fourth central moment of the tilted law of L."""
        ratio = self.grid.ratio
        mean = float(self.tilted @ ratio) / self.total
        square = (ratio - mean) ** 2
        pull = self.tilted * square
        # on the strip |L - mean| is at most this much
        reach = self.grid.angle + abs(float(ratio[-1])) + abs(float(ratio[0])) + abs(mean)
        variance = float(pull.sum()) / self.total * (1.0 - 1e-9) - 2.0 * self.lost * reach**2
        return max(variance, 0.0), float(pull @ square) / self.total * (1.0 + 1e-9) + 2.0 * self.lost * reach**4

    def _binned(self) -> tuple[Array, Array, Array, Array]:
        """The tilted law between equally spaced z: lower bounds of masses, L at the ends, bounds of the means of L.

        f, the logarithm of the tilted density, has f' = k r/s - z with r growing and f'' = k L'' - 1, 0 <= L'' <=
        1/(4 s^2).  By Jensen's inequality an interval of width b holds at least b e^{-b^2 |f''|/24} times the
        density at its middle; the mean of z in it lies between those of the exponential laws with the extreme f';
        L being convex, the mean of L lies between the tangent at the middle and the chord there.
        """
        noise, k, z = self.shape.noise, self.k, self.grid.z
        heavy = np.nonzero(self.tilted > float(self.tilted.max()) * math.exp(-self.log_count - 9.0))[0]
        start = float(z[heavy[0]])
        width = (float(z[heavy[-1]]) - start) / BINS
        points = start + (0.5 * width) * _HALVES
        ratio, share = self.shape.ratios(points)
        bend = 1.0 + max(0.0, -k) / (4.0 * noise * noise)
        middle, ends = points[1::2], points[::2]
        scale = math.log(width) - LOG_ROOT_TWO_PI - width * width * bend / 24.0 - self.shift
        masses = np.exp(k * ratio[1::2] - 0.5 * middle * middle + scale) * ((1.0 - 2.0 * self.lost) / self.total)
        pull = (k / noise) * share[::2]
        if k > 0.0:
            rates = np.concatenate((pull[:-1] - ends[1:], pull[1:] - ends[:-1]))
        else:
            rates = np.concatenate((pull[1:] - ends[1:], pull[:-1] - ends[:-1]))
        offsets = exponential_offset(rates, width)
        offsets[:BINS] -= 1e-4 * width
        offsets[BINS:] += 1e-4 * width
        edges = ratio[::2]
        low = ratio[1::2] + share[1::2] * offsets[:BINS] * (1.0 / noise)
        high = 0.5 * (edges[1:] + edges[:-1]) + (edges[1:] - edges[:-1]) * offsets[BINS:] * (1.0 / width)
        return masses, edges, low, high

    def _smooth_gap(self, u: Array) -> Array:
        """Integration by parts against a soft cut r/(r + r0) of the flat part of L.

        With h the tilted density of y = s z and dL/dy = r/s^2, s^2 h/(r + r0) has total variation E|psi|, psi =
        [k r - y - r(1-r)/(r+r0)]/(r+r0), so |phi(c+iu)/phi(c)| <= 1 - E[r/(r+r0)] + sqrt(E psi^2)/u.  Of several
        r0 the largest is taken that still keeps enough mass for the run to fall.
        """
        grid, share = self.grid, self.grid.share
        weight = self.tilted * (1.0 / self.total)
        cuts = self.shape.rate * _CUTS
        masses = (share / (share + cuts[:, None])) @ weight
        good = np.nonzero(masses * math.exp(self.log_count) > 60.0)[0]
        best = int(good[-1]) if good.size else 0
        cut, mass = float(cuts[best]), float(masses[best])
        inverse = 1.0 / (share + cut)
        slope = (self.k * share - self.shape.noise * grid.z - share * inverse * (1.0 - share)) * inverse
        square = float((slope * slope) @ weight)
        # the rule's own error: on the strip of half-angle pi/2, |r/(r+r0)| <= 1, |psi| <= (|k| + |y| + a + 1)/r0
        half = min(grid.angle, 0.5 * math.pi)
        lost = self.lost + math.exp(min(0.0, grid.rule(self.k, half)))
        reach = (
            abs(self.k) + 1.0 + half * self.shape.noise + 2.0 * self.shape.noise * max(abs(grid.low), abs(grid.high))
        )
        mass = max(0.0, mass * (1.0 - lost) - lost)
        return stretched_gap(u, mass, math.sqrt(square * (1.0 + lost) + lost * (reach / cut) ** 2))

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        frequency = step * (nodes - 1)
        grid = self.grid if frequency <= self.grid.reach else self._grid(frequency, 0.0)
        # the rule's error at each node, relative to M(Re k)
        rule = np.exp(np.minimum(grid.rule(self.k) + (grid.angle * step) * np.arange(nodes), 0.0))
        if self.level > 1.0:
            value, error = self._plain(grid, step, nodes, rule)
        else:
            value, error = self._excess(grid, step, nodes, rule)
        return (value if self.removal else np.conj(value)), error

    def _plain(self, grid: Grid, step: float, nodes: int, rule: Array) -> tuple[ComplexArray, Array]:
        """log M(k) as it stands, scaled by its largest term."""
        log_weight = self.k * grid.ratio + grid.base
        shift = float(log_weight.max())
        tilted = np.exp(log_weight - shift)
        phi = _transform(grid.ratio, tilted, step, nodes)
        _, ratio_error = grid.ratio_errors()
        lost = _transform_error(grid.ratio, tilted, grid.z, ratio_error, np.hypot(self.k, step * np.arange(nodes)))
        lost += math.exp(min(0.0, self._outside(grid) - shift))
        magnitude = np.maximum(np.abs(phi), 1e-290)
        value = 1j * np.angle(phi)
        value += np.log(magnitude) + shift
        error = (lost + 2.0 * float(tilted.sum()) * rule) / magnitude
        return value, error * SECOND_ORDER + 2.0 * UNIT * abs(shift)

    def _excess(self, grid: Grid, step: float, nodes: int, rule: Array) -> tuple[ComplexArray, Array]:
        """M(k) - 1 = E[e^{kL} - 1 - k x] (E x = 0), so that it has relative accuracy however small it is."""
        k = np.empty(nodes, dtype=np.complex128)
        k.real = self.k
        k.imag = step * np.arange(nodes)
        reach = np.abs(k)
        size = float(reach[-1])
        split = grid.split(size)
        powers = np.empty((split.tails.size, nodes), dtype=np.complex128)
        powers[:] = k
        powers[0] = 1.0
        factor = k * (k - 1.0)
        excess = factor * (split.tails @ np.multiply.accumulate(powers, axis=0))
        lost = np.abs(factor) * split.small_error + (4.0 + 2.0 * size) * (1.0 + self.total) * rule
        if split.far:
            tilted = np.exp(self.k * split.ratio + split.base)
            excess += _transform(split.ratio, tilted, step, nodes)
            excess -= split.mass + k * split.drift
            lost += _transform_error(split.ratio, tilted, split.z, split.ratio_error, reach)
            lost += split.far_error[0] + reach * split.far_error[1]
        lost += math.exp(self._outside(grid)) + math.exp(grid.outside_linear(size))
        magnitude = np.maximum(np.abs(1.0 + excess), 1e-290)
        return log1p_complex(excess), (lost + 8.0 * UNIT * np.abs(excess)) * (SECOND_ORDER / magnitude)


_BLOCK = 64
_CUTS = np.array([0.25, 4.0, 64.0, 1024.0])
_HALVES = np.arange(2 * BINS + 1)


def _transform(ratio: Array, weight: Array, step: float, nodes: int) -> ComplexArray:
    """sum_j weight_j e^{i u L_j} at u = 0, step, 2 step, ...

    u = (p R + r) step: e^{iuL} is a product of two small tables, and the sum a product of matrices.
    """
    if nodes * ratio.size < 1500:
        return np.exp(1j * (step * np.arange(nodes)[:, None] * ratio)) @ weight
    inner = max(1, math.isqrt(nodes))
    outer = -(-nodes // inner)
    blocks = -(-ratio.size // _BLOCK)
    if blocks > 1:  # summed block by block: the rounding error grows with the block, not with the whole
        spare = blocks * _BLOCK - ratio.size
        ratio = np.concatenate((ratio, np.zeros(spare))).reshape(blocks, 1, _BLOCK)
        weight = np.concatenate((weight, np.zeros(spare))).reshape(blocks, 1, _BLOCK)
    fine = np.exp(1j * (np.arange(inner)[:, None] * (step * ratio)))
    coarse = np.exp(1j * (np.arange(outer)[:, None] * (step * inner * ratio))) * weight
    table = coarse @ np.swapaxes(fine, -1, -2)
    return (table.sum(axis=0) if blocks > 1 else table).ravel()[:nodes]


def _transform_error(ratio: Array, weight: Array, z: Array, ratio_error: Array, size: Array) -> Array:
    """Bounds of the rounding errors of `_transform`, of its weights and of L, at the nodes where |k| is `size`."""
    slope = float(weight @ (ratio_error + (6.0 * UNIT) * np.abs(ratio)))
    terms = min(ratio.size, _BLOCK) + -(-ratio.size // _BLOCK)
    return size * slope + float(weight @ ((3.0 * UNIT) * z * z + (terms * UNIT + 6.0 * FUNCTION)))
