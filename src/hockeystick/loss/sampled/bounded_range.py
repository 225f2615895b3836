"""Poisson sampling of the exponential mechanism."""

from dataclasses import dataclass

from ..pairs.bounded_range import BoundedRangeLoss
from ..pairs.discrete import SampledAtoms
from ..pairs.renyi import RenyiLoss
from .binned import SampledLoss


@dataclass(frozen=True)
class SampledBoundedRangeLoss(SampledLoss):
    """A Poisson-sampled use: the same bounds from above and below, sampled."""

    base: BoundedRangeLoss

    exact = tight = False
    shift_family = True

    @property
    def dominating(self) -> "tuple[SampledLoss | RenyiLoss, ...]":
        return SampledLoss(self.base, self.rate, self.removal), RenyiLoss("exponential", (self.base.epsilon,), rate=self.rate)

    @property
    def members(self) -> tuple[SampledAtoms, ...]:
        return (self.shifted(0.5),)

    def shifted(self, share: float) -> SampledAtoms:
        return SampledAtoms(self.base.shifted(share), self.rate, self.removal)
