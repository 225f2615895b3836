"""Poisson sampling of a loss that is available only through binned probabilities."""

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...numerics.cancellation_free import Array, log_mixed_above
from ...numerics.mixing import sampled_loss
from ...numerics.rounding import FUNCTION, UNIT, up
from ..pairs.binned import BinnedLoss
from ..protocol import Binned, ClosedForm, Masses
from .amplification import sampled_closed, sampled_masses, sampled_slip


class SampledBase(Binned, Protocol):
    """What is known of the step that is sampled."""

    @property
    def log_truncated_mass(self) -> float: ...
    def cumulant_bound(self, c: float) -> float: ...


@dataclass(frozen=True)
class SampledLoss(BinnedLoss):
    """A Poisson-sampled step with a density: of a removal (the mixture is P) or an addition (see `sampled_masses`)."""

    base: SampledBase
    rate: float
    removal: bool

    @property
    def log_truncated_mass(self) -> float:
        return self.base.log_truncated_mass

    def cumulant_bound(self, c: float) -> float:
        """Where the losses have no top: Minkowski's inequality for (1-q) + q e^Z; the step itself; the largest loss."""
        if self.base.ceiling < math.inf:
            return super().cumulant_bound(c)
        plain = self.base.cumulant_bound(c)
        if not self.removal:
            return min(plain, c * self.ceiling * (1.0 + 2.0 * UNIT))
        inner = log_mixed_above(plain / (1.0 + c), self.rate)
        return min(plain, (1.0 + c) * inner * (1.0 + 8.0 * FUNCTION))

    @property
    def ceiling(self) -> float:
        top = self.base.ceiling
        if top == math.inf:
            return math.inf if self.removal else up(-math.log1p(-self.rate) * (1.0 + FUNCTION))
        # the base is symmetric: its lowest loss is minus its highest
        found = self._sampled(top) if self.removal else -self._sampled(-top)
        return up(found, 8.0 * FUNCTION * found)

    def _sampled(self, z: float) -> float:
        return float(sampled_loss(np.array([z]), self.rate)[0])

    @property
    def anchor(self) -> float:
        return self.ceiling if self.ceiling < math.inf else math.log1p(-self.rate)

    @property
    def atom_spacing(self) -> float:
        top = self.base.ceiling
        return 0.0 if top == math.inf else self._sampled(top) - self._sampled(-top)  # from the highest loss to the lowest

    def edge_error(self, largest: float) -> float:
        inner = self.base.edge_error(largest - math.log(self.rate))
        return sampled_slip(self.rate, largest) + inner

    def masses(self, edges: Array) -> Masses:
        return sampled_masses(self.base, self.rate, self.removal, edges)

    def closed(self, epsilon: float) -> ClosedForm | None:
        return sampled_closed(self.base.closed, self.rate, self.removal, epsilon)
