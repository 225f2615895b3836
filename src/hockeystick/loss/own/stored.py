"""A dominating pair from masses on a lattice of losses, as other libraries store them.

docs/mathematics/densities.md: Lemma 72 (stored masses).
"""

import hashlib
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...errors import Unsupported
from ...numerics.cancellation_free import Array, log_fraction
from ...numerics.rounding import FUNCTION, UNIT
from ..pairs.atomic import AtomicLoss, Atoms

_ROUNDING = Decimal(2) ** -40
"""By so little a claim may be below 1 - e^epsilon, which no delta is, to be read as that."""
_BITS = 400
"""Of sums of masses, in whole numbers of 2^-400; more where e^-loss is large."""


@dataclass(frozen=True, eq=False)
class StoredLoss(AtomicLoss):
    """Losses (first + i) step with the logarithms of their P-masses; what both have alone; on a lattice of that step."""

    step: float
    first: int
    log_p: Array
    infinite_mass: Fraction = Fraction(0)
    infinite_mass_under_q: Fraction = Fraction(0)

    @cached_property
    def _content(self) -> str:
        return hashlib.sha256(self.log_p.tobytes()).hexdigest()

    @property
    def _identity(self) -> tuple[object, ...]:
        return self.step, self.first, self.infinite_mass, self.infinite_mass_under_q, self._content

    def __eq__(self, other: object) -> bool:
        return self._identity == other._identity if isinstance(other, StoredLoss) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._identity)

    def __repr__(self) -> str:
        return f"StoredLoss(step={self.step!r}, first={self.first}, masses={self._content[:16]})"

    @property
    def lattice_step(self) -> float:
        return self.step

    @cached_property
    def atoms(self) -> Atoms:
        z = self.step * np.arange(self.first, self.first + self.log_p.size, dtype=np.float64)
        kept = self.log_p > -np.inf
        z, log_p = z[kept], self.log_p[kept]
        return Atoms(z, log_p, log_p - z, 8.0 * FUNCTION + 8.0 * UNIT * float(np.abs(z).max() + np.abs(log_p).max()), 4.0 * UNIT)


def stored_loss(step: float, first: int, masses: Array, infinite: float) -> StoredLoss:
    """The pair of the smallest hockey-stick curve that is at most that of the masses from some epsilon on (Lemma 72)."""
    masses = np.maximum(masses, 0.0)
    some = np.flatnonzero(masses)
    if not some.size:
        raise Unsupported("all of the mass is at an infinite loss: delta is 1 at every epsilon.")
    masses, first = masses[some[0] : some[-1] + 1], first + int(some[0])
    place, lowest, lone = _lowest(step, first, masses.tolist(), Fraction(infinite))
    with np.errstate(divide="ignore"):
        log_p = np.log(masses[place:])
    for i, mass in enumerate(lowest):
        log_p[i] = log_fraction(mass) if mass else -np.inf
    return StoredLoss(step, first + place, log_p, Fraction(infinite), lone)


def _lowest(step: float, first: int, masses: list[float], infinite: Fraction) -> tuple[int, list[Fraction], Fraction]:
    """The first place at which, and at the next, all that is left may lie; how much lies at both; and what Q has alone."""
    bits = _BITS + int(1.5 * max(0.0, -step * first))
    whole = 1 << bits
    with localcontext(Context(prec=bits // 3, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        fall = Decimal(step)
        ratio = int((-fall).exp() * whole)
        above, under_q = [-int(-infinite * whole // 1)], [0]  # P-mass above each place, and Q-mass from it on times its e^loss
        for mass in reversed(masses):
            numerator, denominator = mass.as_integer_ratio()
            here = -(-(numerator << bits) // denominator)
            above.append(above[-1] + here)
            under_q.append(here + (under_q[-1] * ratio >> bits))
        above, under_q = above[::-1], under_q[::-1]
        for place in range(len(masses)):
            left = whole - above[place + 1]
            if left < 0:
                continue
            scale = (-(first + place) * fall).exp()
            excess = Decimal(left + (under_q[place + 1] * ratio >> bits)) * scale - whole
            if excess <= 0:
                return place, [Fraction(left, whole)], Fraction(int(-excess), whole)
            if excess > scale * whole * _ROUNDING:
                continue
            # moved up by one place it has so much less under Q
            moved = int((excess / (scale * (1 - (-fall).exp()))).to_integral_value(ROUND_CEILING))
            if moved <= left and place + 1 < len(masses):
                after = above[place + 1] - above[place + 2]
                return place, [Fraction(left - moved, whole), Fraction(after + moved, whole)], Fraction(0)
    raise Unsupported("no pair has these masses: their losses are too low for the probability of an infinite one.")
