"""A symmetric pair from the half of another that lies above loss 0.

Where delta(epsilon) of both orders is at most h(epsilon) for epsilon >= 0, and h is that of a pair (P, Q), the pair with the
P- and Q-masses of (P, Q) above loss 0, their mirror images below, and the rest of the mass at loss 0 dominates both orders
(Zhu, Dong and Wang 2022, Proposition 8): its hockey stick is h for epsilon >= 0 and 1 - e^eps + e^eps h(-eps) below.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT, up
from ..pairs.atomic import AtomicLoss
from ..pairs.binned import BinnedLoss
from ..pairs.symmetrised_atoms import SymmetrisedAtoms, closed_by_symmetry
from ..protocol import ClosedForm, Inconclusive, Masses, Slice
from .gaussian import SampledGaussianLoss
from .symmetric_quadrature import SymmetricPair
from .symmetric_slice import symmetric_pair_slice


def symmetrised(loss: Any, rate: float) -> Any:
    """The symmetric pair of the upper half of a removal from a sample of this rate, of a symmetric pair."""
    return SymmetrisedAtoms(loss, rate) if isinstance(loss, AtomicLoss) else SymmetrisedLoss(loss, rate)


@dataclass(frozen=True)
class SymmetrisedLoss(BinnedLoss):
    """Of a removal that has no atom at loss 0."""

    base: Any  # the loss of one row of a sampled removal, with a closed form
    rate: float

    nodes_allowed = 1 << 11

    @property
    def has_slice(self) -> bool:
        return isinstance(self.base, SampledGaussianLoss)

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        if not self.has_slice:
            raise Inconclusive
        return symmetric_pair_slice(SymmetricPair(self.base.shape, False), self._middle[0], self, c, ahead, count)

    @property
    def log_truncated_mass(self) -> float:
        return float(self.base.log_truncated_mass)

    @property
    def ceiling(self) -> float:
        found: float = self.base.ceiling
        return found

    @property
    def atom_spacing(self) -> float:
        return self.ceiling if self.ceiling < math.inf else 0.0

    def edge_error(self, largest: float) -> float:
        found: float = self.base.edge_error(largest)
        return found

    @cached_property
    def _middle(self) -> tuple[float, float]:
        """log of the mass at loss 0, and a bound of its error.

        With S the unsampled pair, which is symmetric: 1 - P(Z > 0) - Q(Z > 0) = (1 - rate) delta_S(0), and the sampled
        delta(0) is rate delta_S(0).
        """
        at_zero: ClosedForm = self.base.closed(0.0)
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

    def closed(self, epsilon: float) -> ClosedForm | None:
        return closed_by_symmetry(self.base.closed, epsilon)

    def cumulant_bound(self, c: float) -> float:
        """E[e^{cZ}; Z > 0] is at most that of the removal, and the rest at most 1."""
        if self.ceiling < math.inf:
            return up(c * self.ceiling * (1.0 + 2.0 * UNIT))
        value: float = self.base.cumulant_bound(c)
        return up(value + math.log1p(math.exp(-value)) + 4.0 * FUNCTION)
