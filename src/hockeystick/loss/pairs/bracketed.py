"""Losses known through others: those that dominate them, and those that they may be."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ...numerics.cancellation_free import Array
from ..protocol import ClosedForm, Loss, Masses, Slice


class DominatedLoss:
    """A loss known by its `dominating` losses, each of which gives an upper end, and its `members` (none: 0): a lower one.

    Guides, and whatever bounds it from above, are those of the first dominating one.
    """

    exact = tight = shift_family = False
    has_transform = True

    if TYPE_CHECKING:  # a dataclass would take these for the defaults of its fields

        @property
        def dominating(self) -> tuple[Any, ...]: ...

        @property
        def members(self) -> tuple[Any, ...]: ...

    @property
    def rows(self) -> int:
        return 1

    @property
    def _first(self) -> Loss:
        first: Loss = self.dominating[0]
        return first

    def ordered_pair(self, row: int) -> Loss:
        return self

    def shifted(self, share: float) -> Any:
        return self

    @property
    def ceiling(self) -> float:
        return self._first.ceiling

    @property
    def ceiling_error(self) -> float:
        return self._first.ceiling_error

    @property
    def log_top_mass(self) -> float:
        return self._first.log_top_mass

    @property
    def nodes_allowed(self) -> int:
        return self._first.nodes_allowed

    @property
    def has_slice(self) -> bool:
        return self._first.has_slice

    @property
    def lattice_step(self) -> float:
        return self._first.lattice_step

    @property
    def infinite_mass(self) -> Fraction:
        return self._first.infinite_mass

    @property
    def infinite_mass_under_q(self) -> Fraction:
        return self._first.infinite_mass_under_q

    @property
    def log_truncated_mass(self) -> float:
        return self._first.log_truncated_mass

    @property
    def coarse_estimates(self) -> tuple[float, float]:
        return self._first.coarse_estimates

    @property
    def quadratic_limit(self) -> float:
        return self._first.quadratic_limit

    @property
    def anchor(self) -> float:
        return self._first.anchor

    @property
    def atom_spacing(self) -> float:
        return self._first.atom_spacing

    def edge_error(self, largest: float) -> float:
        return self._first.edge_error(largest)

    def masses(self, edges: Array) -> Masses:
        return self._first.masses(edges)

    def cumulant_bound(self, c: float) -> float:
        return self._first.cumulant_bound(c)

    def expand(self, c: float) -> tuple[float, float, float]:
        return self._first.expand(c)

    def mean(self) -> tuple[float, float]:
        return self._first.mean()

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        return self._first.slice(c, ahead, count)

    def closed(self, epsilon: float) -> ClosedForm | None:
        return self._first.closed(epsilon)


@dataclass(frozen=True)
class BracketedLoss(DominatedLoss):
    """A loss between others; `tight` says that they differ by the rounding of a parameter only.

    `sooner` has, for a dominating loss, one that it dominates in its turn and that is answered sooner, or None: if that is no
    better than what another one proves, the question need not be asked of the former.  With `slow_members` these are asked for
    single epsilons and deltas only, not in a search.
    """

    dominating: tuple[Any, ...]
    members: tuple[Any, ...]
    tight: bool = False
    sooner: tuple[Any, ...] = ()
    slow_members: bool = False

    @property
    def rows(self) -> int:
        return max(int(loss.rows) for loss in (*self.dominating, *self.members))

    def ordered_pair(self, row: int) -> "BracketedLoss":
        return BracketedLoss(
            tuple(_row(loss, row) for loss in self.dominating),
            tuple(_row(loss, row) for loss in self.members),
            self.tight,
            tuple(None if loss is None else _row(loss, row) for loss in self.sooner),
            self.slow_members,
        )


def _row(loss: Loss, row: int) -> Loss:
    return loss.ordered_pair(row) if loss.rows > 1 else loss


def rounded(high: Loss, low: Loss) -> Loss:
    """The loss between two that differ by rounding only."""
    return high if high == low else BracketedLoss((high,), (low,), tight=True)
