"""Losses known through a Rényi curve: bounds of K(c) at real c > 0, and a pair that attains some value."""

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from ...numerics.rounding import FUNCTION, UNIT, up
from ..protocol import ClosedForm, Inconclusive, Slice, WithoutMasses
from .gaussian import GaussianLoss

Curve = Callable[[float], float]


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    order_shares: tuple[float, ...] = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
    """By how much the orders through which a sample of fixed size is bounded are larger than the order asked for."""


TUNING = Tuning()


@dataclass(frozen=True)
class RenyiLoss(WithoutMasses):
    """`kind` says which bound, `parameters` its numbers, `rate` the Poisson sampling rate in front of it (1: none)."""

    kind: str
    parameters: tuple[float, ...]
    curve: Curve | None = field(default=None, repr=False)
    rate: float = 1.0
    both: bool = False  # two mixtures with the same part, instead of one against it
    mutual: bool = False  # whether the bound holds between their other parts, too

    exact = tight = has_transform = shift_family = has_slice = False
    rows = 1
    nodes_allowed = 0
    lattice_step = ceiling_error = 0.0
    ceiling = quadratic_limit = math.inf
    log_top_mass = log_truncated_mass = -math.inf
    infinite_mass = infinite_mass_under_q = Fraction(0)
    coarse_estimates = 0.0, math.inf

    def ordered_pair(self, row: int) -> "RenyiLoss":
        return self

    def shifted(self, share: float) -> "RenyiLoss":
        return self

    @property
    def dominating(self) -> "tuple[RenyiLoss, ...]":
        """Itself: the bound is from above."""
        return (self,)

    @property
    def members(self) -> tuple[GaussianLoss, ...]:
        """Pairs that obey the bound: for rho-zCDP the Gaussian of mu^2 = 2 rho."""
        if self.kind == "zcdp" and self.rate == 1.0 and self.parameters[0]:
            return (GaussianLoss(2.0 * self.parameters[0]),)
        return ()

    def cumulant_bound(self, c: float) -> float:
        """An upper bound of K(c)."""
        if self.rate == 1.0:
            return self._whole(c)
        from ...conversion.subsampling import amplify_rdp, fixed_size_rdp

        if self.both:
            via = [(1.0 + c) * (1.0 + share) for share in TUNING.order_shares]
            found = [
                fixed_size_rdp(1.0 + c, one, self.rate, lambda order: self._whole(order - 1.0) / (order - 1.0)) for one in via
            ]
            best = up(c * float(min(found)) * (1.0 + 2.0 * UNIT))
            return min(best, self._mixed(c)) if self.mutual else best
        value = amplify_rdp(1.0 + c, self.rate, lambda order: self._whole(order - 1.0) / (order - 1.0))
        return min(up(c * value * (1.0 + 2.0 * UNIT)), self._whole(c))  # sampling is post-processing

    def expand(self, c: float) -> tuple[float, float, float]:
        raise Inconclusive

    def mean(self) -> tuple[float, float]:
        raise Inconclusive

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        raise Inconclusive

    def closed(self, epsilon: float) -> ClosedForm | None:
        return None

    def _mixed(self, c: float) -> float:
        """log(1 - p + p e^K): E_Q (P/Q)^a is jointly convex in P and Q (van Erven and Harremoës 2014, proof of Theorem 13)."""
        whole = self._whole(c)
        if whole > 600.0:
            return min(whole, up(whole + math.log(self.rate) + (1.0 / self.rate) * math.exp(-600.0), 1e-13 * whole))
        return min(whole, up(math.log1p(self.rate * math.expm1(whole)) * (1.0 + 4.0 * FUNCTION)))

    def _whole(self, c: float) -> float:
        match self.kind:
            case "zcdp":
                return up((self.parameters[0] * (c + 1.0) + math.fsum(self.parameters[1:])) * c * (1.0 + 4.0 * UNIT))
            case "exponential":
                return _bounded_range(self.parameters[0], c)
            case "listed":
                return _chord(self.parameters, c)
        assert self.curve is not None
        return up(c * self.curve(1.0 + c) * (1.0 + 2.0 * UNIT))


def _bounded_range(epsilon: float, c: float) -> float:
    """The largest K(c) of a two-point pair with losses t and t - epsilon, over all t.

    e^K = e^{ct} (A - B e^t) with B = (1 - e^{-c eps})/(e^eps - 1), A = e^eps B + e^{-c eps}, largest where e^t = cA/((c+1)B).
    """
    fade = math.exp(-c * epsilon) if c * epsilon < 700.0 else 0.0
    drop = -math.expm1(-c * epsilon)
    # with e^-eps taken out: b = B e^eps, A = b + fade
    b = drop / -math.expm1(-epsilon)
    total = b + fade
    t = epsilon + math.log(c * total / ((c + 1.0) * b))
    t = min(max(t, 0.0), epsilon)
    best = c * t + math.log(max(total - b * math.exp(t - epsilon), 1e-300))
    # flat at the maximum: an error of t costs less than its square; a Taylor bound of the rounding of the rest
    rounding = 8.0 * FUNCTION * (1.0 + abs(best) + c * epsilon + c)
    return up(max(best, 0.0), rounding)


def _chord(parameters: tuple[float, ...], c: float) -> float:
    """K is convex with K(0) = 0, so below the chords of its bounds at the listed orders; orders, then values."""
    half = len(parameters) // 2
    points = [0.0, *(order - 1.0 for order in parameters[:half])]
    heights = [0.0, *(point * value for point, value in zip(points[1:], parameters[half:], strict=True))]
    place = bisect_left(points, c)
    if place >= len(points):
        return math.inf
    if points[place] == c:
        return up(heights[place])
    left, right = points[place - 1], points[place]
    share = (c - left) / (right - left)
    chord = heights[place - 1] + share * (heights[place] - heights[place - 1])
    return up(min(chord, c * parameters[half + place - 1]) * (1.0 + 8.0 * UNIT))
