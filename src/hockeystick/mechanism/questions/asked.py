"""What every question needs: the parts of a release, the relation that is meant, and their composed loss."""

from abc import abstractmethod
from typing import TYPE_CHECKING

from ...neighbours import Order, Relation
from ..made import Made

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

    @abstractmethod
    def _meant(self, neighbours: Relation) -> Relation:
        """The relation that a question is about."""

    @abstractmethod
    def _orders(self, neighbours: Relation) -> tuple[Order, ...]:
        """The ordered pairs of the relation."""

    @abstractmethod
    def _run(self, neighbours: Relation) -> "ComposedLoss":
        """The composed loss of the ordered pairs of the relation."""
