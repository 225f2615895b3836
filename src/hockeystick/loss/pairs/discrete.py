"""Losses of finitely many values: randomised response, discrete noise, and the worst pairs of claims."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...numerics.mixing import sampled_loss
from ...numerics.rounding import FUNCTION, UNIT, up
from .atomic import AtomicLoss, Atoms

_DEEP = 1500.0  # -log of the mass at which discrete Gaussian noise is truncated


def _log1p_exp(x: float) -> float:
    """log(1 + e^x)."""
    return max(x, 0.0) + math.log1p(math.exp(-abs(x)))


@dataclass(frozen=True)
class ResponseLoss(AtomicLoss):
    """Z = epsilon, 0 or -epsilon with probabilities e^epsilon : categories - 2 : 1; and infinity with probability `delta`.

    Two categories: the worst pair of (epsilon, delta)-DP (Kairouz, Oh and Viswanath 2015; Steinke 2022, section 7).
    """

    epsilon: float
    categories: int = 2
    delta: float = 0.0

    @property
    def infinite_mass(self) -> Fraction:
        return Fraction(self.delta)

    infinite_mass_under_q = infinite_mass

    @property
    def lattice_step(self) -> float:
        return self.epsilon if self.categories > 2 else 2.0 * self.epsilon

    @cached_property
    def atoms(self) -> Atoms:
        total = _log1p_exp(self.epsilon)
        rest = math.log1p(-self.delta)
        if self.categories > 2:
            # log(e^epsilon + 1 + (categories - 2))
            total += math.log1p((self.categories - 2) * math.exp(-total))
            z = np.array([-self.epsilon, 0.0, self.epsilon])
            log_p = np.array([0.0, math.log(self.categories - 2), self.epsilon]) - total
        else:
            z = np.array([-self.epsilon, self.epsilon])
            log_p = np.array([0.0, self.epsilon]) - total
        return Atoms(z, log_p + rest, (log_p + rest)[::-1], 8.0 * FUNCTION + 4.0 * UNIT * total, 0.0)


@dataclass(frozen=True)
class UniformResponseLoss(AtomicLoss):
    """The answer of `ResponseLoss` against one that is uniform over the categories; `truthful` says that the former is P.

    With k categories Z = log(k e^epsilon / (e^epsilon + k - 1)) for the true one, log(k / (e^epsilon + k - 1)) for the others.
    """

    epsilon: float
    categories: int
    truthful: bool

    @cached_property
    def atoms(self) -> Atoms:
        k, epsilon = self.categories, self.epsilon
        total = epsilon + math.log1p((k - 1) * math.exp(-epsilon))
        high = -math.log1p((k - 1) / k * math.expm1(-epsilon))
        if high > 1.0:  # which is steep near its end
            high = math.log(k) - math.log1p((k - 1) * math.exp(-epsilon))
        z = np.array([-math.log1p(math.expm1(epsilon) / k), high])
        log_p = np.array([math.log(k - 1), epsilon]) - total
        log_q = np.array([math.log1p(-1.0 / k), -math.log(k)])
        error = 8.0 * FUNCTION * (1.0 + math.log(k)) + 8.0 * UNIT * total
        if self.truthful:
            return Atoms(z, log_p, log_q, error, 16.0 * FUNCTION * (1.0 + math.log(k)))
        return Atoms(-z[::-1], log_q[::-1], log_p[::-1], error, 16.0 * FUNCTION * (1.0 + math.log(k)))


@dataclass(frozen=True)
class ShiftLoss(AtomicLoss):
    """Z = shift or shift - epsilon, with the probabilities that make e^-Z have mean 1: bounded range with a fixed shift."""

    epsilon: float
    shift: float

    @property
    def lattice_step(self) -> float:
        return self.epsilon

    @cached_property
    def atoms(self) -> Atoms:
        below = self.epsilon - self.shift
        # p = (1 - e^{-below}) / (1 - e^{-epsilon})
        scale = math.log(-math.expm1(-self.epsilon))
        high = math.log(-math.expm1(-below)) - scale
        low = math.log(-math.expm1(-self.shift)) - below - scale  # 1 - p = e^{-below} (1 - e^{-shift}) / (1 - e^{-epsilon})
        z, log_p = np.array([-below, self.shift]), np.array([low, high])
        off = 4.0 * UNIT * self.epsilon / min(below, self.shift)  # of the difference epsilon - shift
        return Atoms(z, log_p, log_p - z, 16.0 * FUNCTION + off, off + 4.0 * UNIT)


@dataclass(frozen=True)
class DiscreteLaplaceLoss(AtomicLoss):
    """Noise on the integers with P(x) proportional to e^{-|x| / scale}, moved by a whole number `move`.

    Z = (move - 2x)/scale for 0 <= x <= move.
    """

    scale: float
    move: int

    @property
    def lattice_step(self) -> float:
        return 2.0 / self.scale

    @cached_property
    def atoms(self) -> Atoms:
        x = np.arange(self.move, -1.0, -1.0)
        fall = 1.0 / self.scale
        total = _log1p_exp(-fall)  # of 1 + e^{-1/scale}
        log_p = math.log(-math.expm1(-fall)) - total - x * fall
        log_p[0], log_p[-1] = -self.move * fall - total, -total
        z = (self.move - 2.0 * x) * fall
        return Atoms(z, log_p, log_p[::-1].copy(), 8.0 * FUNCTION + 8.0 * UNIT * self.move * fall, 4.0 * UNIT)


@dataclass(frozen=True)
class DiscreteGaussianLoss(AtomicLoss):
    """Noise on the integers with P(x) proportional to e^{-x^2/(2 sigma^2)}, moved by a whole number `move` (Canonne, Kamath and
    Steinke 2020): Z = (move / sigma^2) (y - move / 2) for the output y.

    Values beyond e^-1500 in mass are left out; `log_truncated_mass` bounds the logarithm of what they weigh.
    """

    sigma: float
    move: int

    log_truncated_mass = -_DEEP
    ceiling = math.inf
    log_top_mass = -math.inf

    @property
    def lattice_step(self) -> float:
        return self.move / self.sigma**2

    @cached_property
    def atoms(self) -> Atoms:
        reach = math.ceil(self.sigma * math.sqrt(2.0 * _DEEP + 20.0)) + 1.0
        y = np.arange(-reach, self.move + reach + 1.0)
        scale = 0.5 / self.sigma**2
        x = np.arange(-reach, reach + 1.0)
        log_total = math.log(math.fsum(np.exp(-scale * x * x).tolist()))
        log_q, log_p = -scale * y * y - log_total, -scale * (y - self.move) ** 2 - log_total
        z = (self.move / self.sigma**2) * (y - 0.5 * self.move)
        # exponents of values that matter are below 1500
        return Atoms(z, log_p, log_q, 4.0 * FUNCTION + 4.0 * UNIT * _DEEP, 6.0 * UNIT)

    def log_omitted(self, c: float) -> float:
        """e^{K(c)} of the continuous noise times a normal tail: p e^{cZ} is a Gaussian about (1 + c) move."""
        ahead = self.atoms.z[-1] / self.lattice_step - (0.5 + c) * self.move  # from that centre to the last value
        return self.cumulant_bound(c) - 0.5 * (max(float(ahead), 0.0) / self.sigma) ** 2 * (1.0 - 1e-9) + math.log(2.0)

    def cumulant_bound(self, c: float) -> float:
        """Discrete noise obeys the Rényi bound of the continuous one (Canonne, Kamath and Steinke 2020, Proposition 5)."""
        return 0.5 * (self.move / self.sigma) ** 2 * c * (c + 1.0) * (1.0 + 16.0 * UNIT)


@dataclass(frozen=True)
class TabulatedLoss(AtomicLoss):
    """Any finite list of values, as a tuple of (z, log p, log q); on a lattice, if `lattice_step` says so, they are exact."""

    values: tuple[tuple[float, float, float], ...]
    infinite_mass: Fraction = Fraction(0)
    infinite_mass_under_q: Fraction = Fraction(0)
    error: float = 1e-13
    lattice_step: float = 0.0

    @cached_property
    def atoms(self) -> Atoms:
        z, log_p, log_q = np.array(sorted(self.values)).T
        return Atoms(z, log_p, log_q, self.error, 0.0 if self.lattice_step else 4.0 * UNIT)


@dataclass(frozen=True)
class SampledAtoms(AtomicLoss):
    """A Poisson-sampled step whose own loss takes finitely many values (see `sampled_masses` for the two orders)."""

    base: AtomicLoss
    rate: float
    removal: bool

    @property
    def log_truncated_mass(self) -> float:
        return self.base.log_truncated_mass

    @property
    def ceiling(self) -> float:
        """That of the base, moved; an addition has none above -log(1 - rate)."""
        if self.removal and self.base.ceiling == math.inf:
            return math.inf
        top = float(self.atoms.z[-1]) if self.removal or self.base.ceiling < math.inf else -math.log1p(-self.rate)
        return up(top, abs(top) * (self.atoms.z_error + FUNCTION))

    @property
    def infinite_mass(self) -> Fraction:
        return Fraction(self.rate) * self.base.infinite_mass if self.removal else Fraction(0)

    @property
    def infinite_mass_under_q(self) -> Fraction:
        return Fraction(0) if self.removal else Fraction(self.rate) * self.base.infinite_mass_under_q

    @property
    def lattice_step(self) -> float:
        return self.atom_spacing if self.atoms.z.size == 2 else 0.0

    def log_omitted(self, c: float) -> float:
        """e^{cZ'} is at most 1 + e^{cZ} in a removal, and (1-q)^-c in an addition."""
        if self.base.log_truncated_mass == -math.inf:
            return -math.inf
        if not self.removal:
            return self.base.log_truncated_mass - c * math.log1p(-self.rate) * (1.0 + FUNCTION)
        return math.log(4.0) + float(np.logaddexp(self.base.log_omitted(c), self.base.log_truncated_mass)) + FUNCTION

    def cumulant_bound(self, c: float) -> float:
        """The largest loss; of discrete Gaussian noise also the step itself, whose pair is symmetric and has no infinite mass."""
        top = c * max(self.ceiling, 0.0) * (1.0 + 2.0 * UNIT)
        return min(top, self.base.cumulant_bound(c)) if self.base.ceiling == math.inf else top

    @cached_property
    def atom_spacing(self) -> float:
        z, log_p, _, _, _ = self.atoms
        return float(z[-1] - z[int(log_p[:-1].argmax())]) if z.size > 1 else 0.0

    @cached_property
    def atoms(self) -> Atoms:
        z, log_p, log_q, error, z_error = self.base.atoms
        kept = math.log1p(-self.rate)
        if not self.removal:
            z, log_p, log_q = -z[::-1], log_q[::-1], log_p[::-1]  # as a removal with the roles exchanged
        moved, mixed = sampled_loss(z, self.rate), np.logaddexp(kept + log_q, math.log(self.rate) + log_p)
        lone = float(self.base.infinite_mass_under_q if self.removal else self.base.infinite_mass)
        if lone > 0.0:
            moved, mixed = np.append(kept, moved), np.append(kept + math.log(lone), mixed)
            log_q = np.append(math.log(lone), log_q)
        # d log moved / d log z is at most 2 + |z|
        off = z_error * (2.0 + float(np.abs(z).max())) + 4.0 * FUNCTION
        if float(z.max()) > 30.0:  # log q + z is rounded
            off += FUNCTION + 4.0 * UNIT * (abs(math.log(self.rate)) + float(np.abs(z).max()))
        error = error + 4.0 * FUNCTION
        if self.removal:
            return Atoms(moved, mixed, log_q, error, off)
        return Atoms(-moved[::-1], log_q[::-1], mixed[::-1], error, off)
