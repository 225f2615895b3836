"""Symmetrised pairs whose loss takes finitely many values; the profile of a symmetric pair at negative epsilons."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ...numerics.rounding import FUNCTION, SECOND_ORDER, up
from ..protocol import ClosedForm
from .atomic import AtomicLoss, Atoms


@dataclass(frozen=True)
class SymmetrisedAtoms(AtomicLoss):
    """Of a removal whose loss takes finitely many values."""

    base: AtomicLoss
    rate: float

    @property
    def infinite_mass(self) -> Fraction:
        return self.base.infinite_mass

    infinite_mass_under_q = infinite_mass

    @property
    def log_truncated_mass(self) -> float:
        return self.base.log_truncated_mass + math.log(2.0) if self.base.log_truncated_mass > -math.inf else -math.inf

    @property
    def ceiling(self) -> float:
        return self.base.ceiling

    @property
    def anchor(self) -> float:
        return 0.0

    @cached_property
    def atom_spacing(self) -> float:
        return float(self.atoms.z[-1]) if self.atoms.z.size == 3 else 0.0

    @property
    def lattice_step(self) -> float:
        return self.atom_spacing

    def log_omitted(self, c: float) -> float:
        return float(np.logaddexp(self.base.log_omitted(c), self.log_truncated_mass)) + FUNCTION

    def cumulant_bound(self, c: float) -> float:
        value = self.base.cumulant_bound(c)
        return up(value + math.log1p(math.exp(-value)) + 4.0 * FUNCTION)

    @cached_property
    def atoms(self) -> Atoms:
        z, log_p, log_q, error, z_error = self.base.atoms
        still, above = z == 0.0, z > 0.0
        at_zero = self.base.closed(0.0)  # as in SymmetrisedLoss; what lies at 0 stays there
        value = float(np.logaddexp(at_zero.value, math.log(max(float(self.base.infinite_mass), 1e-320))))
        middle = [value + math.log1p(-self.rate) - math.log(self.rate), *log_p[still].tolist()]
        middle = [float(np.logaddexp.reduce(middle))]
        slack = at_zero.error + 8.0 * FUNCTION * (2.0 + abs(middle[0]) + abs(value))
        z, log_p, log_q = z[above], log_p[above], log_q[above]
        centre = [0.0] * len(middle)
        return Atoms(
            np.concatenate((-z[::-1], centre, z)),
            np.concatenate((log_q[::-1], middle, log_p)),
            np.concatenate((log_p[::-1], middle, log_q)),
            max(error, slack),
            z_error,
        )


def closed_by_symmetry(at: Any, epsilon: float) -> ClosedForm | None:
    """delta(epsilon) of a symmetric pair at any epsilon, from that at epsilons from 0 up."""
    if epsilon >= 0.0:
        found: ClosedForm | None = at(epsilon)
        return found
    if epsilon < -700.0:
        return ClosedForm(0.0, 1e-300, 0.0)
    other = at(-epsilon)
    if other is None or not other.error < 1.0:
        return None
    weight = math.exp(epsilon)
    mirrored = weight * math.exp(other.value)
    total = mirrored - math.expm1(epsilon)
    lost = mirrored / total * (other.error + FUNCTION)
    error = lost * SECOND_ORDER + FUNCTION * (4.0 + abs(math.log(total)))
    return ClosedForm(math.log(total), error, (mirrored * (1.0 - other.slope) - weight) / total if mirrored else -weight / total)
