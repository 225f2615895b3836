"""The ordered pairs of a relation whose losses differ: the rows of one loss."""

import math
from dataclasses import dataclass
from fractions import Fraction

from ..protocol import ClosedForm, Loss, Slice, StackedSlice, WithoutMasses


def ordered_pairs(losses: list[Loss]) -> Loss:
    """One loss for all ordered pairs."""
    return losses[0] if len(set(losses)) == 1 else OrderedPairsLoss(tuple(losses))


@dataclass(frozen=True)
class OrderedPairsLoss(WithoutMasses):
    """One row for each loss; guides are those of the first."""

    losses: tuple[Loss, ...]

    log_top_mass = -math.inf
    infinite_mass = infinite_mass_under_q = Fraction(0)  # those of the ordered pairs differ: see `ordered_pair`
    lattice_step = 0.0

    @property
    def exact(self) -> bool:
        return all(loss.exact for loss in self.losses)

    @property
    def tight(self) -> bool:
        return all(loss.tight for loss in self.losses)

    @property
    def has_transform(self) -> bool:
        return all(loss.has_transform for loss in self.losses)

    @property
    def shift_family(self) -> bool:
        return any(loss.shift_family for loss in self.losses)

    @property
    def dominating(self) -> tuple[Loss, ...]:
        return self._together([loss.dominating for loss in self.losses])

    @property
    def members(self) -> tuple[Loss, ...]:
        return self._together([loss.members for loss in self.losses])

    def shifted(self, share: float) -> Loss:
        return ordered_pairs([loss.shifted(share) for loss in self.losses])

    @staticmethod
    def _together(choices: "list[tuple[Loss, ...]]") -> tuple[Loss, ...]:
        """The first choice of every pair, the second of every one, ...; of a pair with fewer, its last."""
        if not all(choices):
            return ()
        longest = max(map(len, choices))
        return tuple(ordered_pairs([one[min(place, len(one) - 1)] for one in choices]) for place in range(longest))

    @property
    def ceiling_error(self) -> float:
        return max(loss.ceiling_error for loss in self.losses)

    @property
    def rows(self) -> int:
        return len(self.losses)

    def ordered_pair(self, row: int) -> Loss:
        return self.losses[row]

    @property
    def has_slice(self) -> bool:
        return all(loss.has_slice for loss in self.losses)

    @property
    def log_truncated_mass(self) -> float:
        return max(loss.log_truncated_mass for loss in self.losses)

    @property
    def ceiling(self) -> float:
        return max(loss.ceiling for loss in self.losses)

    @property
    def nodes_allowed(self) -> int:
        return min(loss.nodes_allowed for loss in self.losses)

    @property
    def coarse_estimates(self) -> tuple[float, float]:
        return self.losses[0].coarse_estimates

    @property
    def quadratic_limit(self) -> float:
        return self.losses[0].quadratic_limit

    def cumulant_bound(self, c: float) -> float:
        return max(loss.cumulant_bound(c) for loss in self.losses)

    def expand(self, c: float) -> tuple[float, float, float]:
        return self.losses[0].expand(c)

    def mean(self) -> tuple[float, float]:
        return self.losses[0].mean()

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        return StackedSlice(tuple(loss.slice(c, ahead, count) for loss in self.losses))

    def closed(self, epsilon: float) -> ClosedForm | None:
        return None
