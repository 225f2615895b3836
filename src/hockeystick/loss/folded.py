"""A symmetric pair from the half of another that lies above loss 0.

Where delta(epsilon) of both orders is at most h(epsilon) for epsilon >= 0, and h is that of a pair (P, Q), the pair with the
P- and Q-masses of (P, Q) above loss 0, their mirror images below, and the rest of the mass at loss 0 dominates both orders
(Zhu, Dong and Wang 2022, Proposition 8): its hockey stick is h for epsilon >= 0 and 1 - e^eps + e^eps h(-eps) below.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..numerics.rounding import FUNCTION, SECOND_ORDER, UNIT, up
from ..numerics.series import Array
from .atomic import AtomicLoss, Atoms
from .cumulant import Closed, Slice
from .divided import DividedLoss
from .half_line import HalfLine
from .half_line_slice import half_line_slice
from .masses import Masses
from .noise import TooFine
from .sampled import SampledGaussianLoss


def folded(loss: Any, rate: float) -> Any:
    """The symmetric pair of the upper half of a removal from a sample of this rate, of a symmetric pair."""
    return FoldedAtoms(loss, rate) if isinstance(loss, AtomicLoss) else FoldedLoss(loss, rate)


def mirrored_closed(at: Any, epsilon: float) -> Closed | None:
    """delta(epsilon) of a symmetric pair at any epsilon, from that at epsilons from 0 up."""
    if epsilon >= 0.0:
        found: Closed | None = at(epsilon)
        return found
    if epsilon < -700.0:
        return Closed(0.0, 1e-300, 0.0)
    other = at(-epsilon)
    if other is None or not other.error < 1.0:
        return None
    weight = math.exp(epsilon)
    mirrored = weight * math.exp(other.value)
    total = mirrored - math.expm1(epsilon)
    lost = mirrored / total * (other.error + FUNCTION)
    error = lost * SECOND_ORDER + FUNCTION * (4.0 + abs(math.log(total)))
    return Closed(math.log(total), error, (mirrored * (1.0 - other.slope) - weight) / total if mirrored else -weight / total)


@dataclass(frozen=True)
class FoldedLoss(DividedLoss):
    """Of a removal that has no atom at loss 0."""

    base: Any  # the loss of one row of a sampled removal, with a closed form
    rate: float

    nodes_allowed = 1 << 11

    @property
    def smooth(self) -> bool:  # type: ignore[override]
        return isinstance(self.base, SampledGaussianLoss)

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        if not self.smooth:
            raise TooFine
        return half_line_slice(HalfLine(self.base.shape, False), self._middle[0], self, c, ahead, count)

    @property
    def stray(self) -> float:  # type: ignore[override]
        return float(self.base.stray)

    @property
    def ceiling(self) -> float:
        found: float = self.base.ceiling
        return found

    @property
    def grain(self) -> float:  # type: ignore[override]
        return self.ceiling if self.ceiling < math.inf else 0.0

    def slip(self, largest: float) -> float:
        found: float = self.base.slip(largest)
        return found

    @cached_property
    def _middle(self) -> tuple[float, float]:
        """log of the mass at loss 0, and a bound of its error.

        With S the unsampled pair, which is symmetric: 1 - P(Z > 0) - Q(Z > 0) = (1 - rate) delta_S(0), and the sampled
        delta(0) is rate delta_S(0).
        """
        at_zero: Closed = self.base.closed(0.0)
        value = at_zero.value + math.log1p(-self.rate) - math.log(self.rate)
        return value, at_zero.error + 4.0 * FUNCTION * (1.0 + abs(value) + abs(at_zero.value))

    def masses(self, edges: Array) -> Masses:
        split = int(np.searchsorted(edges, 0.0))  # edges[split:] >= 0
        above, below = edges[split:], -edges[:split][::-1]
        middle, middle_error = self._middle
        log_p, log_q = np.full(edges.size + 1, -math.inf), np.full(edges.size + 1, -math.inf)
        error = np.zeros(edges.size + 1)
        one, two, off = self.base.masses(np.append(0.0, above))
        log_p[split:], log_q[split:] = one[1:], two[1:]
        error[split:] = off if isinstance(off, float) else off[1:]
        one, two, off = self.base.masses(np.append(0.0, below))
        log_p[: split + 1] = np.logaddexp(log_p[: split + 1], two[1:][::-1])
        log_q[: split + 1] = np.logaddexp(log_q[: split + 1], one[1:][::-1])
        error[: split + 1] = np.maximum(error[: split + 1], off if isinstance(off, float) else off[1:][::-1])
        log_p[split], log_q[split] = np.logaddexp(log_p[split], middle), np.logaddexp(log_q[split], middle)
        error[split] = max(float(error[split]), middle_error)
        return Masses(log_p, log_q, error + 2.0 * FUNCTION)

    def closed(self, epsilon: float) -> Closed | None:
        return mirrored_closed(self.base.closed, epsilon)

    def bound(self, c: float) -> float:
        """E[e^{cZ}; Z > 0] is at most that of the removal, and the rest at most 1."""
        if self.ceiling < math.inf:
            return up(c * self.ceiling * (1.0 + 2.0 * UNIT))
        value: float = self.base.bound(c)
        return up(value + math.log1p(math.exp(-value)) + 4.0 * FUNCTION)


@dataclass(frozen=True)
class FoldedAtoms(AtomicLoss):
    """Of a removal whose loss takes finitely many values."""

    base: AtomicLoss
    rate: float

    @property
    def infinite(self) -> Fraction:  # type: ignore[override]
        return self.base.infinite

    lone = infinite

    @property
    def stray(self) -> float:  # type: ignore[override]
        return self.base.stray + math.log(2.0) if self.base.stray > -math.inf else -math.inf

    @property
    def ceiling(self) -> float:
        return self.base.ceiling

    @property
    def anchor(self) -> float:
        return 0.0

    @cached_property
    def grain(self) -> float:
        return float(self.atoms.z[-1]) if self.atoms.z.size == 3 else 0.0

    @property
    def native(self) -> float:  # type: ignore[override]
        return self.grain

    def log_omitted(self, c: float) -> float:
        return float(np.logaddexp(self.base.log_omitted(c), self.stray)) + FUNCTION

    def bound(self, c: float) -> float:
        value = self.base.bound(c)
        return up(value + math.log1p(math.exp(-value)) + 4.0 * FUNCTION)

    @cached_property
    def atoms(self) -> Atoms:
        z, log_p, log_q, error, z_error = self.base.atoms
        still, above = z == 0.0, z > 0.0
        at_zero = self.base.closed(0.0)  # as in FoldedLoss; what lies at 0 stays there
        value = float(np.logaddexp(at_zero.value, math.log(max(float(self.base.infinite), 1e-320))))
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
