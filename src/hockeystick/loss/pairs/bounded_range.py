"""The exponential mechanism, or any of bounded range epsilon (docs/mathematics.md, section 8).

No single pair is attained by every composition: the worst shift of the losses depends on the question (Dong, Durfee and Rogers
2020).  What is proved: the pair whose loss has a density proportional to e^{z/2} on [-epsilon, epsilon] has the tight profile of
one use, (e^{eps/2} - e^{x/2})^2 / (e^eps - 1), and dominates; the Rényi divergence is at most that of the worst two-point pair
with a fixed shift, composition by composition; each fixed shift is attained.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray
from ...numerics.decay import stretched_gap
from ...numerics.rounding import FUNCTION, UNIT, up
from ...numerics.trapezoid import Cells
from ..protocol import ZERO_DELTA, ClosedForm, Masses
from .bracketed import DominatedLoss
from .discrete import ShiftLoss
from .renyi import RenyiLoss
from .symmetric_slice import SymmetricSlice


@dataclass(frozen=True)
class BoundedRangeLoss(DominatedLoss):
    """phi(w) = sinh(v epsilon) / (2 v sinh(epsilon/2)), v = w + 1/2: even in v, so both orders have the same loss."""

    epsilon: float

    log_top_mass = -math.inf
    nodes_allowed = 1 << 12
    quadratic_limit = math.inf
    rows = 1
    lattice_step = atom_spacing = 0.0
    ceiling_error = 1e-13  # it is the first of its own dominating losses
    has_slice = shift_family = True
    infinite_mass = infinite_mass_under_q = Fraction(0)
    log_truncated_mass = -math.inf

    @property
    def dominating(self) -> tuple["BoundedRangeLoss | RenyiLoss", ...]:
        """What bounds a composition from above."""
        return self, RenyiLoss("exponential", (self.epsilon,))

    @property
    def members(self) -> tuple[ShiftLoss, ...]:
        """What some mechanism attains: see `shifted` for all of them."""
        return (self.shifted(0.5),)

    def shifted(self, share: float) -> ShiftLoss:
        """The two-point pair whose larger loss is this share of epsilon."""
        return ShiftLoss(self.epsilon, share * self.epsilon)

    @property
    def ceiling(self) -> float:
        return up(self.epsilon)

    @property
    def anchor(self) -> float:
        return self.epsilon

    def cumulant_bound(self, c: float) -> float:
        return self.ceiling * c * (1.0 + 2.0 * UNIT)

    def expand(self, c: float) -> tuple[float, float, float]:
        v, a = abs(c + 0.5), self.epsilon
        x = v * a
        if x < 1e-3:
            value = (c * (c + 1.0)) * a * a / 6.0
            if a > 0.1:
                value = math.log(a) - 0.5 * a - math.log(-math.expm1(-a)) + x * x / 6.0
            return value, (2.0 * c + 1.0) * a * a / 6.0, a * a / 3.0
        fade = math.exp(-2.0 * x)
        value = x + math.log(-math.expm1(-2.0 * x) / (2.0 * v)) - 0.5 * a - math.log(-math.expm1(-a))
        slope = a * (1.0 + fade) / (1.0 - fade) - 1.0 / v
        bend = 1.0 / (v * v) - 4.0 * a * a * fade / (1.0 - fade) ** 2 if x < 300.0 else 1.0 / (v * v)
        if x < 0.05:
            slope, bend = a * x / 3.0, a * a / 3.0
        return value, math.copysign(slope, c + 0.5), max(bend, 1e-300)

    def mean(self) -> tuple[float, float]:
        """epsilon coth(epsilon/2) - 2."""
        a = self.epsilon
        if a < 0.1:
            value = a * a / 6.0 * (1.0 - a * a / 60.0 * (1.0 - a * a / 42.0 * (1.0 - a * a / 40.0)))
            return value, value * 1e-12
        return a / math.tanh(0.5 * a) - 2.0, 8.0 * FUNCTION * (a + 3.0)

    def slice(self, c: float, ahead: float, count: int) -> "BoundedRangeSlice":
        return BoundedRangeSlice(self.epsilon, c)

    @property
    def coarse_estimates(self) -> tuple[float, float]:
        return 0.24 * min(self.epsilon, 2.0), min(self.epsilon, 2.0) ** 2 / 3.0

    def ordered_pair(self, row: int) -> "BoundedRangeLoss":
        return self

    def closed(self, epsilon: float) -> ClosedForm:
        """(e^{a/2} - e^{x/2})^2 / (e^a - 1) for |x| <= a, 0 above, 1 - e^x below."""
        a = self.epsilon
        slack = 2.0 * UNIT * (abs(epsilon) + a)
        exponent = epsilon if epsilon < -a else 0.5 * (epsilon - a)
        if exponent > -8.0 * slack:
            if exponent > 8.0 * slack:
                return ZERO_DELTA
            top = 2.0 * math.log(18.0 * slack) - math.log(-math.expm1(-a))
            return ClosedForm(top, math.inf, -1.0 / slack, top)
        gap = -math.expm1(exponent)
        slope = math.exp(exponent) / gap
        off = 2.0 * FUNCTION + UNIT * abs(math.log(gap)) + 1.3 * slack * slope
        if epsilon < -a:
            return ClosedForm(math.log(gap), off, -slope)
        scale = math.log(-math.expm1(-a))
        return ClosedForm(2.0 * math.log(gap) - scale, 2.0 * off + 2.0 * FUNCTION * (1.0 + abs(scale)), -slope)

    def edge_error(self, largest: float) -> float:
        return 4.0 * UNIT * self.epsilon

    def masses(self, edges: Array) -> Masses:
        a = self.epsilon
        points = np.concatenate(([-a], np.minimum(np.maximum(edges, -a), a), [a]))
        left, right = points[:-1], points[1:]
        scale = 0.5 * a + math.log(-math.expm1(-a))  # of 2 sinh(a/2)
        with np.errstate(divide="ignore"):
            wide = np.log(-np.expm1(0.5 * (left - right))) - scale
            off = np.where(right > left, 4.0 * UNIT * a / (right - left), 0.0)
        return Masses(0.5 * right + wide, wide - 0.5 * left, 8.0 * FUNCTION * (2.0 + a) + np.minimum(off, 1.0))


class BoundedRangeSlice(SymmetricSlice):
    """phi falls like 1/u: |sinh(x + iy)| <= cosh x."""

    def decay(self, cells: Cells) -> Array:
        left = cells.left
        v = abs(self.c + 0.5)
        direct = 1.0 / math.tanh(v * self.a) * (v / np.hypot(v, left)) * (1.0 + 1e-12)
        # the tilted density is monotone and at most v / (1 - e^{-2 v epsilon}); docs/mathematics.md, Lemma 18
        peak = 2.0 * v / -math.expm1(-2.0 * v * self.a) * (1.0 + 1e-12)
        gap = np.maximum(1.0 - direct, stretched_gap(left, 1.0, peak))
        return (np.log1p(-np.minimum(gap, 1.0 - 1e-15)) * (-1.0 + 4e-12))[None, :]

    def series(self) -> tuple[float, list[float]]:
        a = self.a
        return 0.5 * a / math.sinh(0.5 * a), [a ** (2 * k) / math.factorial(2 * k + 1) for k in range(1, 11)]

    def factor(self, v: ComplexArray, size: Array) -> tuple[ComplexArray, Array]:
        gone = -np.expm1(-2.0 * self.a * v)
        relative = (8.0 * FUNCTION + 4.0 * UNIT * size) / np.maximum(np.abs(gone), 1e-290)
        return gone / (2.0 * v * -math.expm1(-self.a)), relative + 2.0 * FUNCTION
