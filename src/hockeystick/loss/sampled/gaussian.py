"""Poisson-subsampled Gaussian noise: the privacy loss of (1-q) N(0) + q N(1) against N(0), or of the reverse order.

With M(k) = E e^{kL} of `quadrature.py`, phi(w) = M(1 + w) where the mixture is P (a record is removed) and phi(w) = M(-w)
where it is Q (a record is added): one function serves both (docs/mathematics.md, Lemmas 2 and 8).  Bounds of K in closed form:
Lemma 13; the Kullback-Leibler divergence: Lemma 14.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from ...numerics.cancellation_free import Array, gain_terms, log_mixed_above, loss_terms
from ...numerics.rounding import FUNCTION, UNIT, up
from ..pairs.gaussian import GaussianLoss, gaussian_log_delta
from ..protocol import ClosedForm, ExactLoss, Inconclusive, Masses, Slice, StackedSlice
from .amplification import sampled_closed, sampled_masses, sampled_slip
from .gaussian_slice import SampledGaussianSlice
from .quadrature import TUNING as QUADRATURE
from .quadrature import Grid, Nodes, SampledStep


@dataclass(frozen=True)
class Tuning:
    """Of the coarse rule that guides the search: no proof rests on it."""

    max_step: float = 0.45
    """Of the noise: a longer one loses digits of K, a shorter one costs nodes."""
    step_over_noise: float = 0.6
    """L bends within about one noise."""
    reach: float = 7.0
    """Of the nodes from a peak: beyond it the normal density is below 1e-10 of its top."""


TUNING = Tuning()


class Guide:
    """log M and its derivatives at real k to a few digits, from a coarse rule that both orders share."""

    def __init__(self, shape: SampledStep) -> None:
        self.shape = shape
        self._range = (math.inf, -math.inf)
        self._found: dict[float, tuple[float, float, float]] = {}
        self._nodes: Nodes
        self._grid: Grid | None = None

    def _place_nodes(self, k: float) -> None:
        shape, reach = self.shape, max(abs(k), 1.0)
        step, span = min(TUNING.max_step, TUNING.step_over_noise * shape.noise), TUNING.reach
        if 20.0 * span > QUADRATURE.max_nodes * step:
            raise Inconclusive
        # both signs of k, for both orders
        low = -math.sqrt(span * span - 4.0 * reach * math.log1p(-shape.rate))
        high = max(shape.right_edge(2.0 * reach, -0.5 * span * span), span + 1.0 / shape.noise)
        z: Array = np.empty(0)
        served = (-2.0 * reach, 2.0 * reach)
        if k > 0.0 and high - low > 200.0 * step:
            z, served = self._two_peaks(k, step), (k - 2.0 * shape.noise, k + 2.0 * shape.noise)
        if not z.size:
            served = (-2.0 * reach, 2.0 * reach)
            if k < 0.0 and not high - low < QUADRATURE.max_nodes * step:  # the other order would need too many
                high, served = span + 1.0 / shape.noise, (-2.0 * reach, 1.0)
            if not high - low < QUADRATURE.max_nodes * step:
                raise Inconclusive
        self._nodes = Nodes(shape, z, step) if z.size else Nodes.from_low(shape, low, step, math.ceil((high - low) / step))
        self.mass, _, self.variance, _ = self._nodes.sums(0.0)
        self.drift = self._nodes.sums(1.0)[3] - shape.rate * self.mass  # E x = 0, as this rule has it
        self.top = max(float(self._nodes.ratio[-1]), -float(self._nodes.ratio[0]))
        self._range = served

    def _two_peaks(self, k: float, step: float) -> Array:
        """Nodes around z = 0 and around z = k/s, where e^{kL} may have a second peak; none if the two do not lie apart."""
        peak, z = k / self.shape.noise, TUNING.reach
        while z < 100.0 and k * self.shape.ratio(z) - 0.5 * z * z > -25.0:
            z += 1.0
        if z > min(peak - 10.0, 99.0):
            return np.empty(0)
        width = TUNING.reach + 2.0
        return np.concatenate((np.arange(-TUNING.reach, z, step), np.arange(peak - width, peak + width, step)))

    def grid(self, k: float, level: float, lead: float, reach: float) -> Grid:
        """A grid for these exponents: the last one made, if it covers them."""
        if self._grid is None or not self._grid.covers(k, level, lead, reach):
            self._grid = Grid(self.shape, k, level, lead + 1.0, reach)
        return self._grid

    def expand(self, k: float) -> tuple[float, float, float]:
        """log M, its derivative and its second derivative at k."""
        if k not in self._found:
            self._found[k] = self._expand(k)
        return self._found[k]

    def _expand(self, k: float) -> tuple[float, float, float]:
        if not self._range[0] <= k <= self._range[1]:
            self._place_nodes(k)
        if abs(k) * self.top < 1e-5:
            return 0.5 * k * (k - 1.0) * self.variance, (k - 0.5) * self.variance, self.variance
        shift = self._nodes.highest(k) if abs(k) * self.top > 300.0 else 0.0
        total, first, second, _ = self._nodes.sums(k, shift)
        if shift > 0.0 or total > 2.0:
            value, lean = shift + math.log(total), first / total
        else:
            excess = total - self.mass - k * self.drift
            value = math.log1p(max(excess, -0.999999))
            total = 1.0 + excess
            lean = (first - self.drift) / total
        return value, lean, max(second / total - lean * lean, 1e-300)


@dataclass(frozen=True)
class SampledGaussianLoss(ExactLoss):
    """One Poisson-sampled Gaussian step, for one or two ordered pairs: in a removal the mixture is P, else Q."""

    shape: SampledStep
    removals: tuple[bool, ...]
    guide: Guide = field(compare=False, repr=False)

    log_top_mass = -math.inf
    nodes_allowed = 1 << 12

    @property
    def coarse_estimates(self) -> tuple[float, float]:
        noise, rate = self.shape.noise, self.shape.rate
        return 0.38 * rate * min(1.0, 1.0 / noise), rate * rate * math.expm1(min(noise**-2, 30.0))

    @property
    def removal(self) -> bool:
        """Whether the (first) ordered pair is a removal."""
        return self.removals[0]

    @property
    def rows(self) -> int:
        return len(self.removals)

    def ordered_pair(self, row: int) -> "SampledGaussianLoss":
        return SampledGaussianLoss(self.shape, (self.removals[row],), self.guide)

    @property
    def ceiling(self) -> float:
        if any(self.removals):
            return math.inf
        top = -math.log1p(-self.shape.rate)
        return up(top, top * FUNCTION)

    def exponent(self, c: float) -> float:
        """The k with phi(c) = M(k)."""
        return 1.0 + c if self.removal else -c

    @property
    def quadratic_limit(self) -> float:
        """About where e^{kL} gets a second peak as high as the first, and K begins to grow like that of the unsampled step."""
        if not self.removal:
            return math.inf
        return 2.0 * self.shape.noise**2 * (1.0 - math.log(self.shape.rate)) + 1.0

    def cumulant_bound(self, c: float) -> float:
        """Minkowski's inequality, M(k)^{1/k} <= 1 - q + q e^{(k-1)/(2 s^2)} for k > 1 (Steinke 2022, Proposition 42, in its
        sharp form; attained to all digits for large k); the unsampled step; the largest loss."""
        plain = 0.5 * c * (c + 1.0) / self.shape.noise**2
        if not self.removal:
            return min(plain, c * self.ceiling) * (1.0 + 16.0 * UNIT)
        inner = log_mixed_above(0.5 * c / self.shape.noise**2, self.shape.rate)
        return min(plain, (1.0 + c) * inner) * (1.0 + 8.0 * FUNCTION)

    def expand(self, c: float) -> tuple[float, float, float]:
        value, first, second = self.guide.expand(self.exponent(c))
        return value, first if self.removal else -first, second

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        levels = [self.guide.expand(1.0 + c if removal else -c)[0] for removal in self.removals]
        if self.rows > 1 and max(levels) > 1.0:  # peaks too far apart for one grid
            return StackedSlice(tuple(self.ordered_pair(row).slice(c, ahead, count) for row in range(self.rows)))
        return SampledGaussianSlice(self.shape, self.removals, c, ahead, levels, count, self.guide.grid)

    def mean(self) -> tuple[float, float]:
        """E Z: E[L e^L - x] if the mixture is P, else E[x - L]; both integrands are non-negative."""
        shape = self.shape
        # the divergence is convex in the pair, so at most q times that of the unsampled step
        bound = min(0.5 * shape.rate / shape.noise**2, self.ceiling)
        try:
            grid = Grid(shape, 1.0 if self.removal else -1e-9, 0.0, 45.0 - 2.0 * math.log(shape.rate), 0.0)
        except Inconclusive:
            return 0.5 * bound, 0.5 * bound * (1.0 + 8.0 * UNIT)
        weight, grown = np.exp(grid.base), np.exp(grid.base + grid.ratio)
        density = (gain_terms if self.removal else loss_terms)(grid.ratio, weight, grown)
        value = float(density.sum())
        error = grid.ratio_errors()[1]
        rounding = float(np.maximum(grown, weight) @ (error * np.abs(grid.ratio)))
        rounding += value * (grid.z.size + 200.0) * UNIT + float(density @ (grid.z * grid.z)) * UNIT
        rule = math.exp(grid.rule(1.0)) + math.exp(grid.outside_linear(1.0))
        # on the strip |L| <= |Re L| + angle, and L grows no faster than z/s
        size = 10.0 + (abs(grid.high) + abs(grid.low)) / shape.noise - grid.floor
        return value, min(4.0 * rounding + 4.0 * rule * size, bound)

    @property
    def anchor(self) -> float:
        rest = math.log1p(-self.shape.rate)
        return rest if self.removal else -rest

    atom_spacing = lattice_step = 0.0
    has_slice = True
    infinite_mass = infinite_mass_under_q = Fraction(0)
    log_truncated_mass = -math.inf

    def edge_error(self, largest: float) -> float:
        inner = GaussianLoss(self.shape.noise**-2).edge_error(largest - math.log(self.shape.rate))
        return sampled_slip(self.shape.rate, largest) + inner * (1.0 + self.shape.noise_error / UNIT)

    def masses(self, edges: Array) -> Masses:
        return sampled_masses(GaussianLoss(self.shape.noise**-2), self.shape.rate, self.removal, edges)

    def closed(self, epsilon: float) -> ClosedForm | None:
        mu = 1.0 / self.shape.noise
        return sampled_closed(lambda inner: gaussian_log_delta(mu, inner), self.shape.rate, self.removal, epsilon)
