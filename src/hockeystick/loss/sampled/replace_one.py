"""A record replaced in a Poisson sample: (1-q) Q + q P against (1-q) Q + q P', P and P' moved opposite ways from their
common part Q.

With s the Q-mass of the events on which P is densest, P has a density that falls in s and P' the mirror image of it: the
pair that dominates whatever a removal's pair (P, Q) dominates, since P(E) <= T(Q(E)) and P'(E) >= t(Q(E)) for every event E.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.mixing import sampled_loss, unsampled_loss
from ...numerics.rounding import FUNCTION, UNIT, up
from ..pairs.atomic import AtomicLoss, Atoms
from ..pairs.binned import BinnedLoss
from ..pairs.discrete import DiscreteGaussianLoss, DiscreteLaplaceLoss, ResponseLoss, TabulatedLoss
from ..pairs.symmetrised_atoms import closed_by_symmetry
from ..protocol import ZERO_DELTA, ClosedForm, Masses


@dataclass(frozen=True)
class ReplaceOneAtoms(AtomicLoss):
    """Noise on the integers, moved by `move` either way."""

    base: DiscreteGaussianLoss | DiscreteLaplaceLoss
    rate: float

    @property
    def anchor(self) -> float:
        return 0.0

    @property
    def log_truncated_mass(self) -> float:
        return self.base.log_truncated_mass + math.log(2.0) if self.base.log_truncated_mass > -math.inf else -math.inf

    @property
    def ceiling(self) -> float:
        if self.base.ceiling == math.inf:
            return math.inf
        top = float(self.atoms.z[-1])
        return up(top, top * self.atoms.z_error)

    def log_omitted(self, c: float) -> float:
        """e^{cZ} is at most (1-q)^-c (1 + e^{cZ'}), Z' of a removal."""
        if self.base.log_truncated_mass == -math.inf:
            return -math.inf
        most = float(np.logaddexp(self.base.log_omitted(c), self.base.log_truncated_mass))
        return math.log(4.0) + most - c * math.log1p(-self.rate) * (1.0 + FUNCTION) + FUNCTION

    def cumulant_bound(self, c: float) -> float:
        """The largest loss; the noise itself, moved by twice as much."""
        if isinstance(self.base, DiscreteGaussianLoss):  # whose losses have no top
            return DiscreteGaussianLoss(self.base.sigma, 2 * self.base.move).cumulant_bound(c)
        return c * self.ceiling * (1.0 + 2.0 * UNIT)

    @cached_property
    def atoms(self) -> Atoms:
        log_f, forth, error = self._noise()
        back = forth[::-1]
        kept, took = math.log1p(-self.rate), math.log(self.rate)
        log_p, log_q = np.logaddexp(kept + log_f, took + forth + log_f), np.logaddexp(kept + log_f, took + back + log_f)
        # log((1 - q + q e^a)/(1 - q + q e^b)) = log(1 + w), w = q e^b/(1 - q + q e^b) (e^{a-b} - 1), a the larger of the two
        below, ahead = np.minimum(forth, back), np.abs(forth - back)
        with np.errstate(divide="ignore"):
            log_grown = np.where(ahead > 30.0, ahead + np.log1p(-np.exp(-ahead)), np.log(np.expm1(np.minimum(ahead, 30.0))))
        inside = sampled_loss(below, self.rate)
        size = np.logaddexp(0.0, took + below - inside + log_grown)
        z = np.copysign(size, forth - back)
        # an error of log w counts with the share 1 - e^-z of it in z
        off = 6.0 * FUNCTION + 8.0 * UNIT * (2.0 + abs(took) + np.abs(below) + np.abs(inside) + ahead)
        with np.errstate(invalid="ignore"):
            share = np.where(size > 1e-8, -np.expm1(-size) / size, 1.0)
        return Atoms(z, log_p, log_q, error + 8.0 * FUNCTION, float((off * share).max()) + 4.0 * FUNCTION)

    def _noise(self) -> tuple[Array, Array, float]:
        """log f(y) and log f(y - move)/f(y) for increasing y, and a bound of the error of log f."""
        base = self.base
        if isinstance(base, DiscreteGaussianLoss):
            reach = -float(base.atoms.z[0]) / base.lattice_step + 0.5 * base.move
            y = np.arange(-round(reach), round(reach) + 1.0)
            x = y[np.abs(y) < 40.0 * base.sigma + 1.0]
            scale = 0.5 / base.sigma**2
            total = math.log(math.fsum(np.exp(-scale * x * x).tolist()))
            return (
                -scale * y * y - total,
                (base.move / base.sigma**2) * (y - 0.5 * base.move),
                4.0 * FUNCTION + 6.0 * UNIT * 1600.0,
            )
        fall, move = 1.0 / base.scale, base.move
        y = np.arange(-move, move + 1.0)
        total = math.log1p(math.exp(-fall))
        log_f = math.log(-math.expm1(-fall)) - total - np.abs(y) * fall
        log_f[0] = log_f[-1] = -move * fall - total  # all that lies beyond
        forth = (np.abs(y) - np.abs(y - move)) * fall
        return log_f, forth, 8.0 * FUNCTION + 8.0 * UNIT * move * fall


def replace_one_response(claim: ResponseLoss, rate: float = 1.0) -> TabulatedLoss:
    """The worst pair of (epsilon, delta)-DP, taken opposite ways: at most five zones of s, to sixty digits.

    Without a sample it is the worst replacement of a claim for add-or-remove: Z = 2 epsilon, 0 or -2 epsilon; where one of the
    two densities is 0, Z is infinite.

    >>> found = replace_one_response(ResponseLoss(1.0))
    >>> [round(z, 12) for z in found.atoms.z.tolist()], np.exp(found.atoms.log_p).round(6).tolist()
    ([-2.0, 0.0, 2.0], [0.098938, 0.170003, 0.731059])
    """
    smallest = min(x for x in (claim.epsilon, claim.delta, rate) if x > 0.0)
    digits = 60 + 2 * max(0, -math.floor(math.log10(smallest))) + math.ceil(claim.epsilon)  # e^-2 epsilon may be the least
    with localcontext() as context:
        context.prec = digits
        grown, gone, q = Decimal(claim.epsilon).exp(), Decimal(claim.delta), Decimal(rate)
        first = (1 - gone) / (1 + grown)
        density = ((Decimal(0), grown), (first, 1 / grown), (1 - gone, Decimal(0)))
        points = sorted({Decimal(0), Decimal(1), first, 1 - first, gone, 1 - gone})

        def at(s: Decimal) -> Decimal:
            return [height for begin, height in density if begin <= s][-1]

        values = []
        native = 2.0 * claim.epsilon if rate == 1.0 else 0.0
        lost = q * gone
        for left, right in pairwise(points):
            middle = (left + right) / 2
            p, other = 1 - q + q * at(middle), 1 - q + q * at(1 - middle)
            width = right - left
            if width <= Decimal(10) ** (10 - digits):
                continue
            if not other:
                lost += p * width
            elif p:
                z = float((p / other).ln())
                z = native * round(z / native) if native else z
                values.append((z, float((p * width).ln()), float((other * width).ln())))
        if rate == 1.0 and claim.delta:
            lost *= 1 + Decimal(10) ** (5 - digits)
        infinite = Fraction(lost) if values else Fraction(1)
    largest = max((abs(log) for value in values for log in value), default=0.0)
    return TabulatedLoss(tuple(values), infinite, infinite, 4.0 * UNIT * (2.0 + largest), native)


@dataclass(frozen=True)
class ReplaceOneLaplaceLoss(BinnedLoss):
    """Laplace noise moved by `a` of its scales either way; Z has atoms at both ends, where |y| >= a."""

    a: float
    rate: float

    @cached_property
    def _floor(self) -> float:
        return float(sampled_loss(np.array([-self.a]), self.rate)[0])

    @cached_property
    def _top(self) -> float:
        return float(sampled_loss(np.array([self.a]), self.rate)[0]) - self._floor

    @property
    def ceiling(self) -> float:
        return up(self._top, self._fuzz)

    @property
    def _fuzz(self) -> float:
        return 8.0 * FUNCTION * (self._top + abs(self._floor)) + 8.0 * UNIT * (1.0 + self.a)

    @property
    def anchor(self) -> float:
        return self._top

    @property
    def atom_spacing(self) -> float:
        return 2.0 * self._top

    def edge_error(self, largest: float) -> float:
        return 4.0 * self._fuzz

    def _places(self, z: Array) -> Array:
        """The last y with Z <= z; an edge as good as the largest loss is that."""
        moved = z + self._fuzz
        size = np.minimum(np.abs(moved), self._top)
        y = np.minimum(0.5 * (self.a + unsampled_loss(size + self._floor, self.rate)), self.a)
        y = np.maximum(y, 0.0) * np.sign(moved)
        y = np.where(moved >= self._top, math.inf, np.where(moved < -self._top, -math.inf, y))
        found: Array = np.maximum.accumulate(y)
        return found

    def masses(self, edges: Array) -> Masses:
        y = self._places(edges)
        still, error = _laplace_cells(y)
        forth, one = _laplace_cells(y - self.a)
        back, two = _laplace_cells(y + self.a)
        kept, took = math.log1p(-self.rate), math.log(self.rate)
        off = np.maximum(error, np.maximum(one, two)) + 8.0 * FUNCTION * (1.0 + abs(took) + abs(kept))
        return Masses(np.logaddexp(kept + still, took + forth), np.logaddexp(kept + still, took + back), off)

    def closed(self, epsilon: float) -> ClosedForm | None:
        return closed_by_symmetry(self._closed, epsilon)

    def _closed(self, epsilon: float) -> ClosedForm | None:
        """For epsilon >= 0: q (P(y > Y) - e^eps P'(y > Y)) - (1 - q)(e^eps - 1) Q(y > Y)."""
        if epsilon >= self._top + self._fuzz:
            return ZERO_DELTA
        if epsilon >= self._top - 1e6 * self._fuzz or epsilon > 600.0:
            return None
        y = 0.5 * (self.a + float(unsampled_loss(np.array([epsilon + self._floor]), self.rate)[0]))
        y = min(max(y, 0.0), self.a)
        up_to = -0.5 * math.expm1(y - self.a) + 0.5 if y < self.a else 0.5
        p, pay = 1.0 - 0.5 * math.exp(y - self.a), math.exp(epsilon)
        p = max(p, up_to)
        q0, back = 0.5 * math.exp(-y), 0.5 * math.exp(-y - self.a)
        rate = self.rate
        gain, cost = rate * p, rate * pay * back + (1.0 - rate) * math.expm1(epsilon) * q0
        delta = gain - cost
        lost = (gain + cost) * (8.0 * FUNCTION + 4.0 * UNIT * (self.a + epsilon) + self._fuzz)
        if not lost < 1e-6 * delta:
            return None
        mass = (1.0 - rate) * q0 + rate * back
        value = math.log(delta)
        return ClosedForm(value, lost / delta * 1.001 + 4.0 * FUNCTION * (1.0 + abs(value)), -pay * mass / delta)


def _laplace_cells(y: Array) -> tuple[Array, Array]:
    """log masses of e^-|y|/2 left of the first y, between them, right of the last; and bounds of their errors."""
    points = np.concatenate(([-math.inf], y, [math.inf]))
    left, right = points[:-1], points[1:]
    flip = right <= 0.0
    near, far = np.where(flip, -right, left), np.where(flip, -left, right)  # 0 <= near < far, or they have 0 between them
    start = np.maximum(near, 0.0)
    with np.errstate(invalid="ignore", divide="ignore"):
        one = np.log(-np.expm1(np.where(far > start, start - far, 0.0))) - start
        two = np.log(-np.expm1(np.minimum(near, 0.0)))
        value = np.logaddexp(np.where(far > start, one, -math.inf), np.where(near < 0.0, two, -math.inf)) - math.log(2.0)
        size = np.minimum(np.abs(near), 1e6) + np.where(far < math.inf, far, 0.0)
        width = np.where(right > left, right - left, math.inf)
        error = 4.0 * FUNCTION * (1.0 + np.abs(np.maximum(value, -1e3))) + 4.0 * UNIT * (1.0 + size) * (1.0 + 1.0 / width)
    empty = ~(right > left)
    return np.where(empty, -math.inf, value), np.where(empty, 0.0, np.minimum(error, 1.0))
