"""Losses known by bounds: by what dominates them, and by what they may be."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..protocol import Closed, Loss, Slice


class DominatedLoss:
    """A loss known by its `covers`, each of which gives an upper end, and its `members` (none: 0), which give a lower one.

    Guides, and whatever bounds it from above, are those of the first cover.
    """

    exact = tight = shifts = False
    has_transform = True

    if TYPE_CHECKING:  # a dataclass would take these for the defaults of its fields

        @property
        def covers(self) -> tuple[Any, ...]: ...

        @property
        def members(self) -> tuple[Any, ...]: ...

    @property
    def rows(self) -> int:
        return 1

    @property
    def _cover(self) -> Loss:
        first: Loss = self.covers[0]
        return first

    def single(self, row: int) -> Loss:
        return self

    def shifted(self, share: float) -> Any:
        return self

    @property
    def ceiling(self) -> float:
        return self._cover.ceiling

    @property
    def ceiling_error(self) -> float:
        return self._cover.ceiling_error

    @property
    def log_top_mass(self) -> float:
        return self._cover.log_top_mass

    @property
    def nodes_allowed(self) -> int:
        return self._cover.nodes_allowed

    @property
    def smooth(self) -> bool:
        return self._cover.smooth

    @property
    def native(self) -> float:
        return self._cover.native

    @property
    def infinite(self) -> Fraction:
        return self._cover.infinite

    @property
    def lone(self) -> Fraction:
        return self._cover.lone

    @property
    def stray(self) -> float:
        return self._cover.stray

    @property
    def rough(self) -> tuple[float, float]:
        return self._cover.rough

    @property
    def knee(self) -> float:
        return self._cover.knee

    def bound(self, c: float) -> float:
        return self._cover.bound(c)

    def expand(self, c: float) -> tuple[float, float, float]:
        return self._cover.expand(c)

    def mean(self) -> tuple[float, float]:
        return self._cover.mean()

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        return self._cover.slice(c, ahead, count)

    def closed(self, epsilon: float) -> Closed | None:
        return self._cover.closed(epsilon)


@dataclass(frozen=True)
class BracketedLoss(DominatedLoss):
    """A loss between others; `tight` says that they differ by the rounding of a parameter only."""

    covers: tuple[Any, ...]
    members: tuple[Any, ...]
    tight: bool = False

    @property
    def rows(self) -> int:
        return max(int(loss.rows) for loss in (*self.covers, *self.members))

    def single(self, row: int) -> "BracketedLoss":
        return BracketedLoss(
            tuple(_row(loss, row) for loss in self.covers), tuple(_row(loss, row) for loss in self.members), self.tight
        )


def _row(loss: Loss, row: int) -> Loss:
    return loss.single(row) if loss.rows > 1 else loss


def rounded(high: Loss, low: Loss) -> Loss:
    """The loss between two that differ by rounding only."""
    return high if high == low else BracketedLoss((high,), (low,), tight=True)
