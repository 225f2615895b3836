"""Random allocation of Gaussian noise: the loss of an epoch of T steps, in one of which each record takes part.

With L = dB/dA of `moments.py`, phi(w) = F(1 + w) where the mixture B is P (a record is removed) and F(-w) where it is Q (a record
is added): docs/mathematics/allocation.md, Lemma 40.
"""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray
from ...numerics.rounding import UNIT
from ...numerics.trapezoid import Cells
from ..protocol import ClosedForm, ExactLoss, Slice, StackedSlice, WithoutMasses
from .inversion import Inversion
from .moments import AllocatedStep, Moments, power_coefficients


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    far: float = 1e5
    """c of an addition beyond which the guide takes a formula: no contour is there."""
    left_shares: tuple[float, ...] = (0.8, 0.6, 0.4)
    """Of a saddle point beyond which K bends up, where other contours are: the first that proves enough is kept."""
    integrated: float = 4.5
    """Orders up to which the guide of a removal takes an integral where log F is far from a parabola."""
    curved: float = 0.02
    """F(2) - 1 from which it is."""
    chords: tuple[float, ...] = (1e-6, 1e-5, 1e-4, 1e-3)
    """Lengths of chords at order 1: short ones round badly, long ones bend."""


TUNING = Tuning()


@dataclass(frozen=True)
class AllocatedSlice:
    """The loss along Re w = c."""

    step: AllocatedStep
    moments: Moments
    removal: bool
    c: float

    def keep(self, rows: list[int]) -> "AllocatedSlice":
        return self

    def order(self, c: float) -> float:
        """The q with phi(c) = F(q)."""
        return 1.0 + c if self.removal else -c

    def cumulant_above(self, points: Array) -> Array:
        return np.array([[self._above(self.order(float(c))) for c in points]])

    def _above(self, q: float) -> float:
        bound = self.moments.above(q)
        if q >= 0.0:
            return bound
        return min(bound, Inversion(self.step, self.moments, q).log_above)

    def decay(self, cells: Cells) -> Array:
        """|F(a + iu)| <= F(a) e^{-u^2 t^2/(2T)} (docs/mathematics/allocation.md, Lemma 43)."""
        return self.step.decay(cells.left)[None, :]

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        value, error = Inversion(self.step, self.moments, self.order(self.c)).values(step, nodes)
        return (value if self.removal else np.conj(value))[None, :], error[None, :]


@dataclass(frozen=True)
class AllocatedGaussianLoss(ExactLoss, WithoutMasses):
    """An epoch of the allocation, for one ordered pair or both; `removals` says of which the mixture is P."""

    step: AllocatedStep
    removals: tuple[bool, ...]
    moments: Moments = field(compare=False, repr=False)

    has_slice = True
    nodes_allowed = 1 << 12
    ceiling = math.inf
    log_top_mass = log_truncated_mass = -math.inf
    infinite_mass = infinite_mass_under_q = Fraction(0)
    lattice_step = 0.0

    @property
    def rows(self) -> int:
        return len(self.removals)

    def ordered_pair(self, row: int) -> "AllocatedGaussianLoss":
        return AllocatedGaussianLoss(self.step, (self.removals[row],), self.moments)

    @property
    def removal(self) -> bool:
        """Whether the (first) ordered pair is a removal."""
        return self.removals[0]

    @cached_property
    def coarse_estimates(self) -> tuple[float, float]:
        variance = max(self.moments.above(2.0), 1e-300)
        return 0.1 * min(1.0, math.sqrt(variance)), variance

    @property
    def quadratic_limit(self) -> float:
        """About where one step outweighs the others together, and K grows like that of the step by itself."""
        return 2.0 * math.log(self.step.steps) / self.step.tilt**2 + 1.0 if self.removal else math.inf

    def cumulant_bound(self, c: float) -> float:
        return self.moments.above(1.0 + c) if self.removal else self.step.log_moment_bound(-c)

    def expand(self, c: float) -> tuple[float, float, float]:
        if self.removal:
            curved = math.expm1(min(self.step.tilt**2, 600.0)) > TUNING.curved * self.step.steps
            if 1.0 + c < TUNING.integrated and curved and self.moments.most > TUNING.integrated + 2.0:
                return self._integrated(1.0 + c)
            return self._interpolated(1.0 + c)
        if c > TUNING.far:  # the geometric mean alone
            tilt, count = self.step.tilt, self.step.steps
            return self.step.log_moment_bound(-c), 0.5 * tilt**2 * (1.0 + 2.0 * c / count), tilt**2 / count
        if c < 1.0:
            value, first, second = self._interpolated(-c)
        else:
            value, first, second = self._integrated(-c)
        return value, -first, second

    def _interpolated(self, q: float) -> tuple[float, float, float]:
        """log F, its derivative and its second one, from whole orders nearby."""
        limit = 0.5 * self.moments.most
        if q > limit:  # Jensen's bound, or one step alone, whichever counts
            square = self.step.tilt**2
            alone = 0.5 * q * (q - 1.0) * square - (q - 1.0) * math.log(self.step.steps)
            narrow = 0.5 * q * (q - 1.0) * math.log1p(math.expm1(min(square, 600.0)) / self.step.steps)
            if alone > narrow:
                return alone, (q - 0.5) * square - math.log(self.step.steps), square
            return narrow, narrow * (2.0 * q - 1.0) / (q * (q - 1.0)), 2.0 * narrow / (q * (q - 1.0))
        # secants are slopes at their middles, which grow
        near = math.floor(q + 0.5)
        one, two, three = (self._whole(near + k) for k in (-1, 0, 1))
        second = max(three - 2.0 * two + one, 1e-300)
        away = q - near
        return two + away * (0.5 * (three - one) + 0.5 * away * second), 0.5 * (three - one) + away * second, second

    def _whole(self, n: int) -> float:
        """About log F at a whole order."""
        return self.moments.whole(n) if n >= 0 else self._integrated(float(n))[0]

    def _integrated(self, q: float) -> tuple[float, float, float]:
        """log F and its derivatives by q, from the integral with a coarse rule."""
        from scipy.special import digamma, polygamma

        t, count = self.step.tilt, self.step.steps
        n = max(0, math.floor(q + 0.5) + 1) if q > -0.5 else 0
        c = n - q
        x = np.arange(-9.5, n * t + 9.5, 0.2 / max(1.0, t))
        weight = np.exp(-0.5 * x * x)
        weight /= weight.sum()
        grown = np.exp(t * x - 0.5 * t * t)
        powers = np.arange(n + 1.0)
        table = np.exp(-0.5 * (x[:, None] - t * powers) ** 2)
        table /= table.sum(axis=0)  # of Y^k, over its mean
        means = 0.5 * powers * (powers - 1.0) * t * t - np.append(0.0, np.add.accumulate(np.log(np.arange(1.0, n + 1.0))))

        def logs(y: Array) -> Array:
            inner = np.exp(-(np.exp(np.minimum(y, 300.0)) / count)[:, None] * grown[None, :]) @ table
            first = np.maximum(inner[:, 0], 1e-300)
            found: Array = c * y + count * np.log(first)
            if n:
                series = inner[:, 1:] / first[:, None] * np.exp(means[1:] - powers[1:] * math.log(count))
                found += np.log(np.maximum(power_coefficients(series, count)[:, n], 1e-300)) + math.lgamma(n + 1.0)
            return found

        low, high = math.log(c) - 40.0 / c - 1.0, math.log(c) + 3.0 + (0.5 + c / count) * t * t + 10.0 * t
        for _ in range(3):  # nearer to the peak
            y = np.linspace(low, high, 81)
            found = logs(y)
            near = np.nonzero(found > found.max() - 45.0)[0]
            low, high = float(y[max(int(near[0]) - 1, 0)]), float(y[min(int(near[-1]) + 1, 80)])
        y = np.linspace(low, high, 161)
        found = logs(y)
        top = float(found.max())
        share = np.exp(found - top)
        total = float(share.sum())
        mean = float(share @ y) / total
        bend = float(share @ (y - mean) ** 2) / total - float(polygamma(1, c))
        value = top + math.log(total * float(y[1] - y[0])) - math.lgamma(c)
        return value, float(digamma(c)) - mean, max(bend, 1e-300)

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        made = tuple(AllocatedSlice(self.step, self.moments, removal, c) for removal in self.removals)
        return made[0] if len(made) == 1 else StackedSlice(made)

    def mean(self) -> tuple[float, float]:
        """K'(0), between the slopes of chords of K to either side, K being convex."""
        low, high = 0.0, math.inf
        for reach in TUNING.chords:
            up, down = (self._at(c) for c in (reach, -reach))
            low, high = max(low, -down[1] / reach), min(high, up[1] / reach)
        return 0.5 * (low + high), 0.5 * (high - low) + 4.0 * UNIT * high

    def _at(self, c: float) -> tuple[float, float]:
        """K at a real c between two bounds."""
        value, error = AllocatedSlice(self.step, self.moments, self.removal, c).values(1.0, 1)
        size = math.log1p(float(error[0, 0])) if error[0, 0] < 1.0 else math.inf
        return float(value[0, 0].real) - size, float(value[0, 0].real) + size

    def closed(self, epsilon: float) -> ClosedForm | None:
        return None
