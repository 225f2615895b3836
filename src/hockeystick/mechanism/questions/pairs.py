"""The profiles of both ordered pairs of a relation, as the questions of Gaussian DP and of attacks need them."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...loss.tolerance import Interval
from ...neighbours import DEFAULT, REVERSED, Relation, checked
from .asked import Asked

if TYPE_CHECKING:
    from ...loss.composed import ComposedLoss


class Pairs(Asked):
    """A release seen from both sides."""

    def _both(self, neighbours: Relation) -> "ComposedLoss":
        """The run of both orders: mu-GDP of one is mu-GDP of the other."""
        relation = checked(self._meant(neighbours))
        return self._run(DEFAULT if relation in ("add", "remove") else relation)

    def _profiles(
        self, neighbours: Relation, curve: bool = False, safe_only: bool = False
    ) -> "tuple[Callable[[float], Interval], Callable[[float], Interval], ComposedLoss]":
        """log delta of the relation's pair, that of the reversed one, and the run; closer if a curve is wanted.

        If only the safe side is wanted, the lower ends of runs that are known by bounds are not looked for.
        """
        from ...loss.answers.gdp import profile_ends
        from ...loss.protocol import Care

        run, care = self._run(neighbours), Care.CURVE if curve else Care.MANY
        forward = profile_ends(run, care, safe_only)
        meant = self._meant(neighbours)
        return forward, profile_ends(self._reversed(neighbours), care, safe_only) if meant in REVERSED else forward, run

    def _reversed(self, neighbours: Relation) -> "ComposedLoss":
        """The run of the reversed pairs."""
        meant = self._meant(neighbours)
        return self._run(REVERSED.get(meant, meant))
