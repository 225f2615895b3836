"""What every question needs: the parts of a release, the relation that is meant, and their composed loss."""

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from ... import checks
from ...errors import BadType, BadValue
from ...neighbours import STATED, Order, Relation
from ..made import Made

if TYPE_CHECKING:
    from ...loss.composed import ComposedLoss
    from ..release import Mechanism


_KINDS = ("profile", "rounds", "tradeoff", "renyi")


class Asked(metaclass=Made):
    """Anything that questions can be asked of."""

    def __getstate__(self) -> dict[str, Any]:
        """What it was made of, without what questions worked out since: asking changes nothing, not even a pickle."""
        worked_out = {name for name in self.__dict__ if isinstance(getattr(type(self), name, None), cached_property)}
        return {name: value for name, value in self.__dict__.items() if name not in worked_out}

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
    def _shuffled(self) -> bool:
        """Whether there are shuffled passes in it, for which an epsilon of Poisson sampling is often claimed."""
        return any(mechanism._shuffled for mechanism, _ in self.parts if mechanism is not self)

    @property
    def _assumed(self) -> tuple[str, ...]:
        """What was stated of the densities in it and is not proved: sentences for a report."""
        return tuple(dict.fromkeys(words for mechanism, _ in self.parts if mechanism is not self for words in mechanism._assumed))

    @property
    def _records(self) -> int | None:
        """The number of records of the data, if some part knows it; of several the largest."""
        known = [records for mechanism, _ in self.parts if (records := mechanism._own_records) is not None]
        return max(known, default=None)

    def _heed(self, delta: Any) -> None:
        """Warn of a delta, or of the largest of several, that promises too little."""
        from .entries import flat

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


class Shown(Asked):
    """Pictures and pages of a release."""

    def plot(
        self,
        delta: float,
        kind: Literal["profile", "rounds", "tradeoff", "renyi"] = "profile",
        neighbours: Relation = STATED,
    ) -> Any:
        """A picture with its certified band (needs the extra `plot`); `hockeystick.report.plots` draws them side by side.

        Parameters
        ----------
        delta : float
            The delta of the epsilon that is marked.
        kind : {"profile", "rounds", "tradeoff", "renyi"}, default "profile"
            The privacy profile, epsilon against rounds, the trade-off curve, or the Rényi curve.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        BadType
            If delta is no number, or kind or neighbours no text.
        BadValue
            If delta is out of its range, kind no kind of picture, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.
        MissingExtra
            If matplotlib is not installed.
        """
        from ...report import plots

        if not isinstance(kind, str):
            raise BadType(f"kind is {kind!r}; allowed: one of {', '.join(_KINDS)}.")
        if kind not in _KINDS:
            raise BadValue(f"kind is {kind!r}{checks.meant(kind, _KINDS)}; allowed: one of {', '.join(_KINDS)}.")
        return getattr(plots, kind)(self, delta, neighbours=neighbours)

    def _repr_html_(self) -> str:
        from ...report.page import release_html

        return release_html(self)
