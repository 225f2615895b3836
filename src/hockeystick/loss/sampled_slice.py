"""A sampled Gaussian step along a vertical line: bounds ahead, proved decay, and the values of K themselves."""

import math

import numpy as np

from ..numerics.cells import Cells
from ..numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ..numerics.series import Array, ComplexArray, log1p_complex, power_sums, series_degree
from ..numerics.transform import BINS, exponential_offset, spread_gap, stretched_gap
from .noise import LOG_ROOT_TWO_PI, Grid, Shape

_SMALL = 0.5  # |k L| below which a node goes into the power sums
_COARSE, _FINE = 10.0, 34.0  # -log of the rule's error times the count: for bounds ahead and decay; for values


class SampledGaussianSlice:
    """M(k) for Re k fixed; `level` is about log M there."""

    def __init__(self, shape: Shape, removal: bool, c: float, ahead: float, level: float, count: int) -> None:
        self.shape, self.removal, self.level = shape, removal, level
        self.k = 1.0 + c if removal else -c
        self.log_count = math.log(count)
        self.grid = Grid(shape, self.k, level, self.log_count + _COARSE, 0.0, ahead + 1.0 if removal else 0.0)
        log_weight = self.k * self.grid.ratio + self.grid.base
        self.shift = float(log_weight.max())
        self.tilted = np.exp(log_weight - self.shift)
        self.total = float(self.tilted.sum())
        rule = math.exp(min(0.0, self.grid.rule(self.k)))
        self.lost = rule + math.exp(min(0.0, self._outside(self.grid) - self.shift)) / self.total + 1e-12

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

    def decay(self, cells: Cells) -> Array:
        """The better of two proofs: the spread of the tilted law near in, its smoothness far out."""
        gap = spread_gap(cells, *self._binned())
        near = -0.5 * np.log1p(-np.minimum(gap, 1.0 - 1e-15))
        far = -np.log1p(-np.minimum(self._smooth_gap(cells.left), 1.0 - 1e-15))
        return np.maximum(near, far) * (1.0 - 1e-12)

    def _binned(self) -> tuple[Array, Array, Array, Array]:
        """The tilted law between equally spaced z: lower bounds of masses, L at the ends, bounds of the means of L.

        f, the logarithm of the tilted density, has f' = k r/s - z with r growing and f'' = k L'' - 1, 0 <= L'' <=
        1/(4 s^2).  By Jensen's inequality an interval of width b holds at least b e^{-b^2 |f''|/24} times the
        density at its middle; the mean of z in it lies between those of the exponential laws with the extreme f';
        L being convex, the mean of L lies between the tangent at the middle and the chord there.
        """
        noise, k, z = self.shape.noise, self.k, self.grid.z
        heavy = np.nonzero(self.tilted > math.exp(-self.log_count - 9.0))[0]
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
        size = math.hypot(self.k, frequency)
        # n K far below 1 wants relative accuracy, not absolute
        faint = max(0.0, -self.log_count - math.log(max(abs(self.level), 1e-300)))
        lead = self.log_count + _FINE + math.log(2.0 + size) + faint
        grid = Grid(self.shape, self.k, self.level, lead, frequency)
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
        """M(k) - 1 = E[e^{kL} - 1 - k x] (E x = 0), so that it has relative accuracy however small it is.

        Where |k L| is small the integrand is summed as a power series, which makes the sum over these nodes
        k (k - 1) times a polynomial in k; elsewhere as it stands.
        """
        k = np.empty(nodes, dtype=np.complex128)
        k.real = self.k
        k.imag = step * np.arange(nodes)
        size = math.hypot(self.k, step * (nodes - 1))
        first, last = (int(grid.ratio.searchsorted(x)) for x in (-_SMALL / size, _SMALL / size))
        t_error, ratio_error = grid.ratio_errors()
        excess, lost = _power_part(
            grid.ratio[first:last], grid.base[first:last], grid.z[first:last], ratio_error[first:last], k, size
        )
        if last - first < grid.z.size:
            pick = np.concatenate((np.arange(first), np.arange(last, grid.z.size)))
            base, z, ratio = grid.base[pick], grid.z[pick], grid.ratio[pick]
            tilted = np.exp(self.k * ratio + base)
            weight = np.exp(base)
            grown = np.exp(base + (z - 0.5 / self.shape.noise) * (1.0 / self.shape.noise))
            linear = self.shape.rate * (float(grown.sum()) - float(weight.sum()))  # weight * x
            excess = excess + _transform(ratio, tilted, step, nodes) - (float(weight.sum()) + k * linear)
            each = UNIT * (z.size + 40.0 + z * z) + t_error[pick]
            reach = np.abs(k)
            lost = lost + (float(weight @ each) + reach * (self.shape.rate * float((grown + weight) @ each)))
            lost = lost + _transform_error(ratio, tilted, z, ratio_error[pick], reach)
        lost = lost + (4.0 + 2.0 * size) * rule * (1.0 + self.total * math.exp(self.shift))
        lost = lost + math.exp(self._outside(grid)) + math.exp(grid.outside_linear(size))
        magnitude = np.maximum(np.abs(1.0 + excess), 1e-290)
        return log1p_complex(excess), (lost + 8.0 * UNIT * np.abs(excess)) / magnitude * SECOND_ORDER


_BLOCK = 64
_CUTS = np.array([0.25, 4.0, 64.0, 1024.0])
_HALVES = np.arange(2 * BINS + 1)


def _power_part(
    ratio: Array, base: Array, z: Array, ratio_error: Array, k: ComplexArray, size: float
) -> tuple[ComplexArray, Array]:
    """sum of e^base (e^{kL} - 1 - k (e^L - 1)) over nodes with |k L| <= 1/2, and a bound of its error."""
    if not ratio.size:
        return np.zeros(k.shape, dtype=np.complex128), np.zeros(k.shape)
    weight = np.exp(base)
    widest = size * max(abs(float(ratio[0])), abs(float(ratio[-1])))
    degree, remainder = series_degree(max(widest, 1e-300))
    # sum_m S_m (k^m - k) = k (k-1) sum_i T_i k^i, T_i the sum of S_m over m >= i + 2
    tails = np.cumsum(power_sums(ratio, weight, degree)[::-1])[::-1]
    powers = np.empty((degree - 1, k.size), dtype=np.complex128)
    powers[:] = k
    powers[0] = 1.0
    factor = k * (k - 1.0)
    value = factor * (tails @ np.multiply.accumulate(powers, axis=0))
    pull = weight * np.abs(ratio)
    square = float(pull @ np.abs(ratio))
    spread = float(pull @ (ratio_error + UNIT * np.abs(ratio) * z * z))
    rounding = (ratio.size + 4.0 * degree + 30.0) * UNIT + remainder
    # |sum| <= e^{1/2}/2 |k (k-1)| sum of weight L^2, and the integrand's slope in L is at most e^{1/2} |L k (k-1)|
    return value, np.abs(factor) * (0.83 * square * rounding + 1.66 * spread)


def _transform(ratio: Array, weight: Array, step: float, nodes: int) -> ComplexArray:
    """sum_j weight_j e^{i u L_j} at u = 0, step, 2 step, ...

    u = (p R + r) step: e^{iuL} is a product of two small tables, and the sum a product of matrices.
    """
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
