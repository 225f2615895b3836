"""Several losses that one release stands for, composed: the blocks of docs/mathematics/allocation.md, Lemma 40a."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from ..composed import ComposedLoss, composed
from ..protocol import ClosedForm, ExactLoss, Slice, WithoutMasses


@dataclass(frozen=True)
class SeveralLosses(ExactLoss, WithoutMasses):
    """Losses with their counts, none of which is infinite or has atoms."""

    parts: tuple[tuple[Any, int], ...]

    log_top_mass = log_truncated_mass = -math.inf
    infinite_mass = infinite_mass_under_q = Fraction(0)
    lattice_step = 0.0
    ceiling = math.inf

    @cached_property
    def _run(self) -> ComposedLoss:
        return composed(self.parts)

    @property
    def rows(self) -> int:
        return self._run.rows

    def ordered_pair(self, row: int) -> "SeveralLosses":
        return SeveralLosses(tuple((loss.ordered_pair(row) if loss.rows > 1 else loss, count) for loss, count in self.parts))

    @property
    def nodes_allowed(self) -> int:
        return self._run.nodes_allowed

    @property
    def has_slice(self) -> bool:
        return all(loss.has_slice for loss, _ in self.parts)

    @property
    def coarse_estimates(self) -> tuple[float, float]:
        found = [loss.coarse_estimates for loss, _ in self.parts]
        return max(one for one, _ in found), sum(count * two for (_, two), (_, count) in zip(found, self.parts, strict=True))

    @property
    def quadratic_limit(self) -> float:
        return self._run.quadratic_limit

    def cumulant_bound(self, c: float) -> float:
        """The sum of the parts'."""
        bounds = [count * loss.cumulant_bound(c) for loss, count in self.parts]
        return math.fsum(bounds) * (1.0 + 1e-14)

    def expand(self, c: float) -> tuple[float, float, float]:
        return self._run.expand(c)

    def mean(self) -> tuple[float, float]:
        return self._run.mean()

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        return self._run.slice(c, ahead)

    def closed(self, epsilon: float) -> ClosedForm | None:
        return None
