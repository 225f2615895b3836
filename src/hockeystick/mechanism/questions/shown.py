"""How a release is shown: as a picture, and in notebooks."""

from typing import TYPE_CHECKING, Literal

from ...checks import meant
from ...errors import BadType, BadValue
from ...neighbours import STATED, Relation
from .asked import Asked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_KINDS = ("profile", "rounds", "tradeoff", "renyi")


class Shown(Asked):
    """Pictures and pages of a release."""

    def plot(
        self,
        delta: float,
        kind: Literal["profile", "rounds", "tradeoff", "renyi"] = "profile",
        neighbours: Relation = STATED,
    ) -> "Figure":
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
            raise BadValue(f"kind is {kind!r}{meant(kind, _KINDS)}; allowed: one of {', '.join(_KINDS)}.")
        figure: Figure = getattr(plots, kind)(self, delta, neighbours=neighbours)
        return figure

    def _repr_html_(self) -> str:
        from ...report.notebook import release_html

        return release_html(self)
