"""A loss known by what dominates it and by what attains less."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class BetweenLoss:
    """Composed, each of `covers` gives an upper end, each of `members` (none: 0) a lower one.

    `tight` says that they differ by the rounding of a parameter only.  Everything else is asked of the first cover.
    """

    covers: tuple[Any, ...]
    members: tuple[Any, ...]
    tight: bool = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "shifted":
            raise AttributeError(name)
        return getattr(self.covers[0], name)

    @property
    def rows(self) -> int:
        """How many ordered pairs it stands for."""
        return max(int(loss.rows) for loss in (*self.covers, *self.members))

    def single(self, row: int) -> "BetweenLoss":
        """That of one of them."""
        return BetweenLoss(
            tuple(_row(loss, row) for loss in self.covers), tuple(_row(loss, row) for loss in self.members), self.tight
        )


def _row(loss: Any, row: int) -> Any:
    return loss.single(row) if loss.rows > 1 else loss


def rounded(high: Any, low: Any) -> Any:
    """The loss between two that differ by rounding only."""
    return high if high == low else BetweenLoss((high,), (low,), tight=True)
