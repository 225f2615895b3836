"""A Poisson-sampled Gaussian step in the order "remove" with soft thresholds: bounds of its transform by cells of the noise.

With x = e^L - 1 = q (e^t - 1) and g the normal distribution function, an outcome counts as large with probability
nu = g((x - high)/high_width), and as not small with probability kappa, the same of `low` < `high`.  The transforms, k = 1 + w,

    of what is not large:  phi = E (1 - nu) e^{kL},
    of what is middle:     mid = E (kappa - nu) e^{kL},
    of what is small:      phi - mid

are bounded here from above on the real axis and, for their decay, off it: on each cell of the noise z every factor is bounded at
an end.  On the line z + ia, a = noise * angle, x becomes (x + q) e^{i angle} - q.

docs/mathematics.md, section 7a: Lemma 19a (the summands of a large step), Lemma 19b (what is small), Lemma 19c (soft thresholds
off the real line).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...native import loops
from ...native.loops import loop
from ...numerics.cancellation_free import Array
from ...numerics.decay import spread_gap
from ...numerics.normal import LOG_ROOT_TWO_PI, log_tail_bound
from ...numerics.rounding import FUNCTION, exp_up
from ...numerics.trapezoid import Cells
from ..protocol import Inconclusive
from ..sampled.quadrature import SampledStep


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    noise_start: float = -11.5
    """The z at which the cells begin.  Farther right the mass left of it, 1e-30, would show in the bounds; farther left costs
    cells."""
    cell_width: float = 0.025
    """Of a cell, over the smaller of the noise and 1.  Bounds are taken at the ends of cells: of broader ones they are looser,
    where e^{kL} is steep by a factor e^{k width / noise}."""
    max_tail_deviations: float = 300.0
    """Cells that reach farther, over the noise or over 1, are too many: nothing is proved."""
    large_tail_deviations: float = 13.0
    """Beyond it (in the law tilted to P) lies e^-80 of what is large."""
    decay_cells: int = 8
    """Cells that are joined in the bound of decay by spread: its cost grows with their number times that of the cells of u."""
    broad_cells: int = 4
    """Cells that are joined off the real axis, in the bounds on many lines at once; a divisor of `decay_cells`."""
    log_negligible: float = 300.0
    """Cells with less than e^-this of the largest are bounded together and not cell by cell."""
    angles: tuple[float, ...] = (0.08, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.74)
    """Of the shifted lines on which decay is bounded, below pi/4: of each u the best one counts; native/ has the same."""


TUNING = Tuning()
NOISE_START = TUNING.noise_start
SLACK = 1e-9
"""Relative, of bounds by cells: far more than their rounding."""
_ANGLES = np.array(TUNING.angles)[:, None]


class Thresholds(NamedTuple):
    """Soft thresholds: the x from which an outcome counts as not small (0: none is small) and as large, and their widths."""

    low: float
    high: float
    low_width: float
    high_width: float


def place(shape: SampledStep, x: float) -> float:
    """The noise z at which e^L - 1 is x."""
    return shape.noise * math.log1p(x / shape.rate) + 0.5 / shape.noise


def log_cdf(y: Array) -> Array:
    """log of the normal distribution function."""
    from scipy.special import log_ndtr

    found: Array = log_ndtr(y)
    return found


@loop(loops.remainder_sum)
def _remainder_sum(ratio: Array, x: Array, weight: Array, k: float) -> float:
    """A bound of the sum over cells of e^weight times e^{kL} - 1 - k x, the largest at an end of each; inf: of no use.

    e^{kL} = (1 + x)^k: this is the remainder of its Taylor polynomial of degree 1 in x.
    """
    ratio, x = ratio[: weight.size + 1], x[: weight.size + 1]
    y = k * ratio
    largest = np.maximum(y[:-1], y[1:])
    with np.errstate(over="ignore"):
        power = np.exp(largest + weight)  # where that is large, the rest is not positive
        value = np.expm1(np.minimum(y, 10.0)) - k * x
        value += 4.0 * FUNCTION * (np.abs(value) + abs(k) * np.abs(x))
    small = np.abs(ratio) * max(abs(k), 1.0) < 1e-3
    value = np.where(small, 0.5 * k * (k - 1.0) * ratio * ratio * (1.0 + 1e-3), value)
    near = np.maximum(value[:-1], value[1:]) * np.exp(weight)
    around_zero = (ratio[:-1] < 0.0) & (ratio[1:] > 0.0)  # there the other end may be the larger one
    each = np.where(largest > 9.0, np.minimum(power, 1e300) + np.where(around_zero, np.maximum(near, 0.0), 0.0), near)
    return float(each.sum()) if float(power.max()) < 1e300 else math.inf


class ThresholdedCells:
    """One step with its thresholds on cells of the noise, for real exponents up to `max_exponent`."""

    def __init__(self, shape: SampledStep, thresholds: Thresholds, max_exponent: float) -> None:
        self.shape, self.thresholds, self.has_small = shape, thresholds, thresholds.low > 0.0
        low, high, low_width, width = thresholds
        # docs/mathematics.md, Lemma 19b: kappa >= nu for all x >= -q, or what is large might be small
        if self.has_small and not (
            low_width <= width and low < high and width * (shape.rate + low) <= low_width * (shape.rate + high)
        ):
            raise Inconclusive
        noise = shape.noise
        # (1 - nu) e^{kL} falls from `end` on, since the hazard of g is at least its argument
        end = place(shape, high + 60.0 * width + 1.5 * max_exponent * width**2 / (1.0 + high))
        far = 1.0 / noise + math.hypot(max(place(shape, high) - 1.0 / noise, 0.0), TUNING.large_tail_deviations)
        last = max(end, far)
        if not (last / noise < TUNING.max_tail_deviations and last - NOISE_START < TUNING.max_tail_deviations * min(noise, 1.0)):
            raise Inconclusive
        count = int((last - NOISE_START) / (TUNING.cell_width * min(noise, 1.0)) / TUNING.decay_cells + 2) * TUNING.decay_cells
        self.edges = np.linspace(NOISE_START, last, count + 1)
        self.width = float(self.edges[1] - self.edges[0])
        self.ratio, self.share = shape.ratios(self.edges)
        self.x = np.expm1(self.ratio)
        self.floor = math.log1p(-shape.rate)
        self.kept_cells = min(int(np.searchsorted(self.edges, end)) + 1, count)  # the cells before `end`
        self.log_mass = self._log_masses(self.edges)
        y = (self.x - high) / width
        self.log_kept, self.log_large = log_cdf(-y), log_cdf(y)
        if self.has_small:
            self.log_not_small = log_cdf((self.x - low) / low_width)
        self.left = math.exp(log_tail_bound(-NOISE_START))

    @staticmethod
    def _log_masses(edges: Array) -> Array:
        """log of bounds of the normal masses between edges."""
        near = np.where(edges[:-1] > 0.0, edges[:-1], np.minimum(edges[1:], 0.0))
        found: Array = -0.5 * near * near + (math.log(float(edges[1] - edges[0])) - LOG_ROOT_TWO_PI + SLACK)
        return found

    def remainder_above(self, k: float, large: bool) -> float:
        """An upper bound of E (1 - nu) (e^{kL} - 1 - k x), or with what is large, left of the end of the cells; k >= 1 or k < 0.

        e^{kL} - 1 - k x is convex in L and smallest at L = 0, where it is 0: on a cell it is largest at an end.
        """
        inside = self._remainder(k, large)
        if not inside < math.inf:
            return math.inf
        left = self.left * (max(1.0, exp_up(k * self.floor)) + abs(k) * self.shape.rate)
        return (inside + left) * (1.0 + SLACK)

    def _remainder(self, k: float, large: bool) -> float:
        stop = self.edges.size - 1 if large else self.kept_cells
        weight = self.log_mass[:stop] + (0.0 if large else self.log_kept[:stop])
        return _remainder_sum(self.ratio, self.x, weight, k)

    def reverse_above(self, k: float) -> float:
        """An upper bound of E e^{-kL} - 1, k > 0."""
        return self.remainder_above(-k, True) + k * math.exp(self.shape.right_tail(1.0, float(self.edges[-1]))) * (1.0 + SLACK)

    def tail_above(self, k: float) -> float:
        """A bound of E[(1 - nu) e^{kL}; z > end]: it falls there if k/(1 + x) is at most the hazard of g over the width."""
        x = float(self.x[self.kept_cells])
        if not k * self.thresholds.high_width**2 < (x - self.thresholds.high) * (1.0 + x):
            return math.inf
        log = (
            float(self.log_kept[self.kept_cells])
            + k * float(self.ratio[self.kept_cells])
            + log_tail_bound(float(self.edges[self.kept_cells]))
        )
        return exp_up(max(log, -700.0)) * (1.0 + SLACK)

    def middle_above(self, k: float) -> float:
        """An upper bound of mid at a real k >= 1 (docs/mathematics.md, Lemma 19b)."""
        part = slice(0, self.kept_cells)
        share = np.minimum(self.log_not_small[1:][part], self.log_kept[part])
        inside = float(np.exp(np.minimum(k * self.ratio[1:][part] + self.log_mass[part] + share, 600.0)).sum())
        if not inside < math.exp(600.0):
            return math.inf
        return (inside + self.left * math.exp(float(self.log_not_small[0]))) * (1.0 + SLACK) + self.tail_above(k)

    def large_above(self, k: float, pivot: float, lift: float) -> tuple[Array, Array]:
        """Upper bounds of E[nu; z < edge] and E[nu e^{-k(L - pivot)}; z > edge] for every edge, k > 0, times e^lift.

        docs/mathematics.md, Lemma 19a: the two summands of a step.
        """
        mass = self.log_mass + self.log_large[1:] + lift
        exponent = k * (pivot - self.ratio)
        below = np.insert(np.exp(mass), 0, self.left * math.exp(float(self.log_large[0]) + lift))
        with np.errstate(over="ignore"):
            above = np.exp(np.append(mass + exponent[:-1], log_tail_bound(float(self.edges[-1])) + exponent[-1] + lift)) + 1e-300
            above = np.add.accumulate(above[::-1])[::-1] * (1.0 + 2.0 * SLACK)
        return np.add.accumulate(below) * (1.0 + 2.0 * SLACK), above

    def spread_decay(self, k: float, phi: float, cells: Cells) -> Array:
        """Lower bounds of -log |phi(k + iu)/phi(k)| on cells of u, by the spread of the tilted law; phi is at least phi(k).

        docs/mathematics.md, section 13.
        """
        last = -(-self.kept_cells // TUNING.decay_cells) * TUNING.decay_cells + 1
        edges, ratio = self.edges[: last : TUNING.decay_cells], self.ratio[: last : TUNING.decay_cells]
        far = np.maximum(np.abs(edges[:-1]), np.abs(edges[1:]))
        log_mass = -0.5 * far * far + (math.log(TUNING.decay_cells * self.width) - LOG_ROOT_TWO_PI - SLACK)
        masses = np.exp(log_mass + k * ratio[:-1] + self.log_kept[: last : TUNING.decay_cells][1:]) * (1.0 / phi)
        gap = spread_gap(cells, masses[None, :], ratio[None, :], ratio[None, :-1], ratio[None, 1:]) * (1.0 - SLACK)
        found: Array = -0.5 * np.log1p(-np.minimum(gap, 1.0 - 1e-15))
        return found

    def log_modulus_above(self, k: float, u: Array) -> Array:
        """Upper bounds of log |mid(k + iu)| (of log |phi| if none is small) for each u and beyond.

        docs/mathematics.md, Lemma 19c: the line of integration is moved up, where |e^{iuL}| <= e^{-u arg}.
        """
        part = self.broad_cells(False)
        return self._log_modulus_above(part, k * self.ratio[part][1:], k, float(self.x[part][-1]), u)

    @loop(loops.log_modulus_above)
    def _log_modulus_above(self, part: slice, tilt: Array, k: float, last_x: float, u: Array) -> Array:
        edges = self.edges[part]
        arg = np.arctan2(self.share[part][:-1] * np.sin(_ANGLES), 1.0 - self.share[part][:-1] * (1.0 - np.cos(_ANGLES)))
        heights = self.shape.noise * _ANGLES
        modulus = self.shifted_moduli(_ANGLES, False)[1] + tilt + 0.5 * heights * heights
        log_f = modulus + self._log_masses(edges)
        found = np.full(u.size, math.inf)
        for row, angle in enumerate(_ANGLES[:, 0].tolist()):
            hazard = (last_x * math.cos(2.0 * angle) - self.thresholds.high - self.shape.rate) / self.thresholds.high_width**2
            if not 0.9 * hazard > k / (1.0 + last_x) + 1.0 / last_x:  # or it may grow beyond the cells
                continue
            counts = log_f[row] > log_f[row].max() - TUNING.log_negligible
            exponent = log_f[row][counts][:, None] - np.multiply.outer(arg[row][counts], u)
            top = exponent.max(axis=0)
            inside = top + np.log(np.exp(exponent - top).sum(axis=0))
            rest = np.append(log_f[row][~counts] - float(arg[row][~counts].min(initial=9.0)) * u[0], -700.0)
            ends = max(float(modulus[row, -1]) + log_tail_bound(float(edges[-1])), math.log(self.left) + float(modulus[row, 0]))
            outside = np.logaddexp(float(rest.max()) + math.log(rest.size), max(ends, -700.0) + math.log(2.0))
            found = np.minimum(found, np.logaddexp(inside, outside))
        return found + SLACK

    def broad_cells(self, large: bool) -> slice:
        """The edges of fewer, broader cells, up to where (1 - nu) e^{kL} falls, or (`large`) to the last."""
        return slice(
            0,
            (self.edges.size - 1 if large else -(-self.kept_cells // TUNING.broad_cells) * TUNING.broad_cells) + 1,
            TUNING.broad_cells,
        )

    def shifted_moduli(self, angles: Array, large: bool) -> tuple[Array, Array]:
        """log of bounds of |1 - nu| and |kappa - nu| (of |nu| twice) on the broad cells, on the lines z + i noise angle.

        docs/mathematics.md, Lemma 19c: there (x - X)/W = a + ib with a = ((x + q) cos - q - X)/W, b = (x + q) sin/W, and
        |g(a + ib)| <= g(a) + b e^{b^2/2} g'(a).
        """
        x_plus_rate = self.x[self.broad_cells(large)] + self.shape.rate
        cosine, sine = np.cos(angles), np.sin(angles)

        def bounds(high: float, width: float) -> tuple[Array, Array]:
            """Of 1 - g, and of g."""
            a = (x_plus_rate * cosine - (self.shape.rate + high)) * (1.0 / width)
            b = x_plus_rate[1:] * sine * (1.0 / width)
            near = np.where(a[:, :-1] > 0.0, a[:, :-1], np.minimum(a[:, 1:], 0.0))
            bulge = np.log(np.maximum(b, 1e-300)) + 0.5 * (b - near) * (b + near) - LOG_ROOT_TWO_PI
            below: Array = np.logaddexp(log_cdf(-a[:, :-1]), bulge)
            above: Array = np.logaddexp(log_cdf(a[:, 1:]), bulge)
            return below, above

        not_large, is_large = bounds(self.thresholds.high, self.thresholds.high_width)
        if large:
            return is_large, is_large
        if not self.has_small:
            return not_large, not_large
        small, not_small = bounds(self.thresholds.low, self.thresholds.low_width)
        return not_large, np.minimum(np.logaddexp(not_small, is_large), np.logaddexp(small, not_large))
