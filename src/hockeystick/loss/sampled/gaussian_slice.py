"""Subsampled Gaussian steps on the vertical line Re w = c: bounds of K on the real axis, the values of K, and proved decay.

docs/mathematics.md: Lemmas 8 and 12 (both orders, no cancellation), Lemmas 14 to 18 (divergence, decay), section 14 (rounding).
"""

import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...native import loops
from ...native.loops import loop
from ...numerics.cancellation_free import Array, ComplexArray, gain_terms, log1p_complex, loss_terms
from ...numerics.normal import LOG_ROOT_TWO_PI
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ...numerics.trapezoid import RATIO, Cells, added_terms, fourier_sums
from .quadrature import CAP, Grid, SampledStep

Maker = Callable[[float, float, float, float], Grid]

_GENTLE, _TERMS = 0.25, 13  # |w L| for which so many terms of the exponential series are all


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    max_loop_products: int = 200_000
    """Of nodes by nodes: above it a product of matrices is faster than the compiled loops."""
    fine_log_error: float = 30.0
    """-log of the rule's error times the count: less would show in delta, more costs nodes."""
    coarse_log_error: float = 14.0
    """The same for bounds of K and of the decay, which are not close anyway."""


TUNING = Tuning()

_CUTS = 10
PLACES = np.arange(_CUTS)[:, None] * (1.0 / (_CUTS - 2))
AWAY = np.append(np.arange(0.0, 8.1, 0.5), 40.0)  # (z - z0)/b
FADING = np.exp(-0.5 * AWAY[:-1] ** 2)
_INWARDS = tuple((whole, int(math.log(whole) / math.log(RATIO))) for whole in (2, 4, 8))  # nu is at least so many cells ahead
FAINT = 1e-100  # rates below this have no proof by parts


def _by_loops(line: "SampledGaussianSlice", grid: Grid, step: float, nodes: int) -> bool:
    return grid.rows is not None and grid.z.size * nodes < TUNING.max_loop_products


class SampledGaussianSlice:
    """M(k), k of one or two real parts (rows: ordered pairs); `levels` are about log M, `make` gives grids for its values."""

    def __init__(
        self,
        shape: SampledStep,
        removals: tuple[bool, ...],
        c: float,
        ahead: float,
        levels: Sequence[float],
        count: int,
        make: Maker,
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
        lead = self.log_count + TUNING.coarse_log_error + math.log(2.0 + abs(k))
        return Grid(self.shape, k, self.level, lead, 0.0, self.ahead + 1.0, cut_step(self.shape, min(k, -k, 1.0 - k, 0.0), lead))

    def _fine(self, reach: float) -> Grid:
        lead = self.log_count + TUNING.fine_log_error + math.log(2.0 + abs(float(self.k[0])) + reach) + self.faint
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

    @loop(loops.cumulant_above, when=loops.grid_by_core)
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

    @loop(loops.decay, when=loops.grid_by_core)
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

    @loop(loops.excess, when=_by_loops)
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


def _transform_error(ratio: Array, weight: Array, z: Array, ratio_error: Array, size: Array) -> Array:
    """Bounds of the rounding errors of `fourier_sums`, of its weights and of L, at the nodes where |k| is `size`."""
    slope = weight @ (ratio_error + (6.0 * UNIT) * np.abs(ratio))
    terms = added_terms(ratio.size, size.shape[1])
    # three exponentials and their two products
    constant = weight @ ((3.0 * UNIT) * z * z + ((terms + 8.0) * UNIT + 3.0 * FUNCTION))
    return size * slope[:, None] + constant[:, None]


def sampled_gap(grid: Grid, k: Array, weight: Array, lost: float, cells: Cells) -> Array:
    """Lower bounds of 1 - |f(u)| on cells of u, one row for each k; `weight` are the tilted weights, of sum 1.

    `lost` bounds the relative error of their sum.

    Under the law of z tilted by e^{kL} let f(u) = E e^{iuL}, and let chi = g^2, g = Phi((z - z0)/b), cut off the part left of z0,
    where L is flat.  Then |f(u)| <= |E (1 - chi) e^{iuL}| + |E chi e^{iuL}|, where

    * (Lemma 15) |E eta e^{iuL}|^2 = m0^2 - E eta eta' (1 - cos(u (L - L')))
      <= m0^2 - u^2 (m0 m2 - m1^2) + u^4 (2 m0 m4 - 8 m1 m3 + 6 m2^2)/24 with eta = 1 - chi, independent copies and
      m_i = E eta L^i; the bound is concave in u^2, so that on a cell of u it is largest at an end;
    * (Lemma 16) by parts, with dL/dz = r/s: |E chi e^{iuL}| <= E|psi|/u, psi = g D,
      D = (g/r) (k r - s z - 1 + r) + (2 s/r) dg/dz, and (E|psi|)^2 <= E[chi] E[D^2].

    So 1 - |f(u)| >= (m0^2 - |E eta e^{iuL}|^2)/2 + max(0, E chi - V/u) (Lemma 17).  Of several z0 the best is taken at each u.
    What holds far out is carried inwards: 1 - |f(u)|^2 >= (1 - |f(nu)|^2)/n^2 (Lemma 18).  All integrands are analytic where L
    is, so that the sums are as good as those of e^{kL} but for the growth of g off the real line: |g|, |1 - g| <= 1 + Y/2 and
    |dg/dz| <= e^{y^2/2}/(2b) at height a = b y, Y = y e^{y^2/2}; on the far side of z0 each falls like
    e^{-((z - z0)/b)^2/2} besides.
    """
    from scipy.special import ndtr

    noise, rate = grid.shape.noise, grid.shape.rate
    z, ratio, share = grid.z, grid.ratio, grid.share
    least = min(float(k.min()), 0.0)
    width = _cut_width(grid, least, grid.lead)
    first = max(0.5 / noise - noise, grid.low)
    last = min(0.5 / noise + noise * (1.5 - math.log(rate)), grid.high)
    places = first + max(last - first, 0.0) * PLACES
    places = np.minimum(grid.low + grid.step * np.rint((places - grid.low) * (1.0 / grid.step)), grid.high)  # at nodes
    places[-1] = grid.high  # nothing is cut off
    x = (z - places) * (1.0 / width)
    g = ndtr(x)
    bell = np.exp(-0.5 * x * x - (LOG_ROOT_TWO_PI + math.log(width)))
    chi = g * g
    powers = np.empty((5, z.size))
    powers[0], powers[1:] = 1.0, ratio
    m = (weight[:, None, :] * np.multiply.accumulate(powers)) @ (ndtr(-x) * (1.0 + g)).T
    lone, mean, square, cube, fourth = m.swapaxes(0, 1)

    reach = max(abs(grid.low), abs(grid.high))
    size = float(np.abs(k).max()) * (abs(float(ratio[-1])) + reach / noise + noise**-2) + reach * reach
    slack = 1e-11 + 16.0 * UNIT * size  # of the weights
    errors, sides = _allowances(grid, k, lost, width, places)
    one, two = lone * square, mean * mean
    variance = one - two - slack * (one + two) - 4.1 * errors[0] * sides[0]
    one, two, three = 2.0 * lone * fourth, 8.0 * mean * cube, 6.0 * square * square
    bend = one - two + three + slack * (one + np.abs(two) + three) + 33.0 * errors[0] * sides[1]

    left = cells.left
    squares = left * left
    gap = np.multiply.outer(bend * (-1.0 / 24.0), squares)
    gap += variance[:, :, None]
    gap *= 0.5 * squares
    np.minimum(gap[:, :, :-1], gap[:, :, 1:], out=gap[:, :, :-1])
    gap[:, :, -1] = 0.0
    np.maximum(gap, 0.0, out=gap)
    if rate > FAINT:
        mass = weight @ chi.T
        inverse = 1.0 / np.maximum(share, rate * 1e-60)
        pull = k[:, None] * share - noise * z - 1.0 + share
        pressed = weight * inverse * inverse
        pulled = pressed * pull
        one, two = (pulled * pull) @ chi.T, (pressed @ (bell * bell).T) * (4.0 * noise * noise)
        spread = (one + two) * (1.0 + slack) + (4.0 * noise) * (pulled @ (g * bell).T) + errors[1] * sides[2]
        variation = np.sqrt(spread * (mass * (1.0 + slack) + errors[0]))
        far = np.multiply.outer(variation, -1.0 / left)
        far += (mass * (1.0 - slack) - errors[0])[:, :, None]
        gap += np.maximum(far, 0.0, out=far)
        return carried(gap.max(axis=1), far.max(axis=1)) * (1.0 - 1e-9)
    best: Array = gap.max(axis=1) * (1.0 - 1e-9)
    return best


def carried(gap: Array, far: Array) -> Array:
    """Gaps on cells of u, together with what the bounds from far out, which grow with u, say nearer in."""
    for whole, cells in _INWARDS:
        bound = far[..., cells:]
        np.maximum(gap[..., :-cells], bound * (2.0 - bound) * (0.5 / whole**2), out=gap[..., :-cells])
    return gap


def cut_step(shape: SampledStep, least: float, lead: float) -> float:
    """The step of a grid on which a cut of a useful width is resolved to about e^-lead."""
    return math.pi / math.sqrt(lead * (0.5 + (0.5 * min(shape.noise, 4.0)) ** -2 - 0.125 * least / shape.noise**2))


def _cut_width(grid: Grid, least: float, lead: float) -> float:
    """b: half the distance in which e^t grows by e, or larger if the grid needs it."""
    noise = grid.shape.noise
    room = (math.pi / grid.step) ** 2 / lead - 0.5 + 0.125 * least / noise**2
    return max(0.5 * min(noise, 4.0), min(1.0 / math.sqrt(max(room, 1e-3)), 2.0 * noise))


def _allowances(grid: Grid, k: Array, lost: float, width: float, places: Array) -> tuple[tuple[float, float], list[Array]]:
    """Errors of the sums over 1 - chi (or chi) and over D^2, each relative to what follows: the largest moduli of L^2 and of L^4
    against the fall of 1 - chi, and of 1/r^2 against that of chi, for each z0.

    On the strip |log(1 + rho e^{i angle})| <= 1.4 rho for rho <= 1/2, and <= log(1 + rho) + angle - log cos(angle/2) always,
    where L = log(1 - q) + log(1 + rho e^{i angle}), rho = r/(1 - r); |L| <= 1.4 |x| for |x| <= 1/2, where
    |x| <= q (e^{|t| + angle} - 1); |r| <= r/cos(angle/2); and |1/r| <= 1/r.
    """
    noise, rate, least = grid.shape.noise, grid.shape.rate, min(float(k.min()), 0.0)
    a = min(math.pi / grid.step / (0.5 + 1.0 / width**2 - 0.125 * least / noise**2), 2.5 * noise, 5.0 * width)
    angle, y = a / noise, a / width
    rule = math.exp(min(600.0, grid.rule(least, angle)))
    steep = math.exp(0.5 * y * y)
    bulge = 1.0 + 0.5 * y * steep
    # beyond the ends of the grid the weights fall faster than z grows: twice the ends are enough
    reach = 2.0 * max(abs(grid.low), abs(grid.high))
    slope = (float(np.abs(k).max()) + 1.0) / math.cos(0.5 * angle) + 1.0 + noise * (reach + a)
    first = 2.0 * (rule * bulge * bulge + lost)
    second = rule * (bulge * slope + noise * steep / width) ** 2 + 2.0 * lost * (slope + noise / width) ** 2
    away = places + width * AWAY[1:]
    t = (away - 0.5 / noise) * (1.0 / noise)
    exponent = t + (math.log(rate) - math.log1p(-rate))
    rho = np.exp(np.minimum(exponent, 600.0))
    turn = angle - math.log(math.cos(0.5 * angle))
    size = np.where(rho <= 0.5, 1.4 * rho, np.maximum(exponent, 0.0) + (0.7 + turn)) - math.log1p(-rate)
    farthest = np.maximum(t, (reach + 0.5 / noise) / noise) + angle
    moved = np.where(farthest < CAP, rate * np.expm1(np.minimum(farthest, CAP)), math.inf)  # at least |x|
    size = np.where(moved <= 0.5, np.minimum(size, 1.4 * moved), size)
    squares = size * size
    faded = squares * FADING
    inner = np.exp(np.minimum((0.5 / noise - places[:, 0]) * (1.0 / noise), 600.0)) * ((1.0 - rate) / rate) + 1.0
    with np.errstate(over="ignore"):  # then it proves nothing
        sides = [faded.max(axis=1), (faded * squares).max(axis=1), inner * inner * math.exp((width / noise) ** 2)]
    return (first * (1.0 + first), second), sides
