"""What every question needs: the parts of a release, the relation that is meant, and their composed loss."""

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from ... import checks
from ...neighbours import Order, Relation
from ..made import Made
from .entries import flat

if TYPE_CHECKING:
    from ...loss.composed import ComposedLoss
    from ..release import Mechanism


class Asked(metaclass=Made):
    """Anything that questions can be asked of."""

    @property
    @abstractmethod
    def parts(self) -> "tuple[tuple[Mechanism, int], ...]":
        """The distinct mechanisms and how often each is used.

        Returns
        -------
        tuple of (Mechanism, int)
            Each mechanism with its count; empty if nothing is released.
        """

    _counts_records = False
    """Whether the number of records is known; it is not where `_direct` answers."""

    @property
    def _records(self) -> int | None:
        """The number of records of the data, if some part knows it; of several the largest."""
        known = [records for mechanism, _ in self.parts if (records := mechanism._own_records) is not None]
        return max(known, default=None)

    def _heed(self, delta: Any) -> None:
        """Warn of a delta, or of the largest of several, that promises too little."""
        largest = delta if isinstance(delta, float) else max(flat(delta), default=0.0)
        checks.warn_of_large(largest, self._records)

    @abstractmethod
    def _meant(self, neighbours: Relation) -> Relation:
        """The relation that a question is about."""

    @abstractmethod
    def _orders(self, neighbours: Relation) -> tuple[Order, ...]:
        """The ordered pairs of the relation."""

    @abstractmethod
    def _run(self, neighbours: Relation) -> "ComposedLoss":
        """The composed loss of the ordered pairs of the relation."""
