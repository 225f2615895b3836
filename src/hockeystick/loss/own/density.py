"""A pair of densities on the line, between two finite pairs.

docs/mathematics/densities.md: Lemmas 68 and 69.
"""

import math
from dataclasses import dataclass
from typing import Any

from ..pairs.atomic import AtomicLoss
from ..pairs.bracketed import BracketedLoss, DominatedLoss
from ..pairs.discrete import SampledAtoms
from ..protocol import Loss
from . import polygon
from .finite import FiniteLoss


@dataclass(frozen=True)
class DensityLoss(DominatedLoss):
    """One pair, attained, that dominates `lower` and is dominated by `upper`: as close to each other as its cells are small."""

    lower: AtomicLoss
    upper: AtomicLoss

    tight = True

    @property
    def dominating(self) -> tuple[Any, ...]:
        return (self.upper,)

    @property
    def members(self) -> tuple[Any, ...]:
        return (self.lower,)

    @property
    def ceiling(self) -> float:
        """Of the upper one, unless the losses beyond it are infinite there."""
        return math.inf if self.upper.infinite_mass else self.upper.ceiling

    def drawn(self, rate: float, removal: bool) -> "DensityLoss":
        """A Poisson-sampled step, between those of both."""
        return DensityLoss(SampledAtoms(self.lower, rate, removal), SampledAtoms(self.upper, rate, removal))


def is_bracketed(loss: Loss) -> bool:
    """Whether an ordered pair is known between two finite ones only."""
    return any(isinstance(loss.ordered_pair(row), DensityLoss) for row in range(loss.rows))


def reversed_order(loss: DensityLoss) -> DensityLoss:
    """That of (Q, P): what dominates does so in both orders."""
    lower, upper = loss.lower, loss.upper
    assert isinstance(lower, FiniteLoss)
    assert isinstance(upper, FiniteLoss)
    return DensityLoss(lower.reversed, upper.reversed)


def either_order(loss: DensityLoss) -> Any:
    """Either order at every step (Lemma 34)."""
    lower, upper = loss.lower, loss.upper
    assert isinstance(lower, FiniteLoss)
    assert isinstance(upper, FiniteLoss)
    return BracketedLoss((polygon.either_order(upper),), (lower, lower.reversed))
