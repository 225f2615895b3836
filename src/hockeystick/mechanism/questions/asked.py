"""What every question needs: the parts of a release, the relation that is meant, and their composed loss."""

from abc import abstractmethod
from typing import TYPE_CHECKING

from ...neighbours import DEFAULT, Relation, Stated, orders
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

    @property
    def stated(self) -> Relation:
        """The relation for which questions are answered unless they say otherwise.

        Returns
        -------
        Relation
            "add-or-remove", unless the release was made for another one.
        """
        return DEFAULT

    def _meant(self, neighbours: Relation) -> Relation:
        """The relation that a question is about."""
        return self.stated if isinstance(neighbours, Stated) else neighbours

    def _run(self, neighbours: Relation) -> "ComposedLoss":
        """The composed loss of the ordered pairs of the relation, made anew for every question.

        It keeps what it has worked out while it answers one, so that both ordered pairs, and the entries of an array, can share
        it; no answer depends on what was asked before.
        """
        from ...loss.composed import composed

        wanted = orders(self._meant(neighbours))
        return composed((loss, count) for mechanism, count in self.parts if (loss := mechanism._pair_loss(wanted)) is not None)
