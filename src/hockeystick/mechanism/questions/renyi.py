"""The Rényi curve of a release."""

import math
import numbers
from typing import TYPE_CHECKING, Any, overload

from ... import checks
from ... import loss as losses
from ...errors import BadValue
from ...loss.tolerance import Interval
from ...neighbours import STATED, Relation
from .guarantees import Guarantees

if TYPE_CHECKING:
    from ...bounds import Array, Floats
    from ...loss.composed import ComposedLoss


class RenyiQuestions(Guarantees):
    """The questions of Rényi DP."""

    @overload
    def rdp(self, order: float, neighbours: Relation = STATED) -> float: ...
    @overload
    def rdp(self, order: "Floats", neighbours: Relation = STATED) -> "Array": ...
    def rdp(self, order: Any, neighbours: Relation = STATED) -> Any:
        """The Rényi divergence of any real order > 1, of order 1 (Kullback-Leibler) or inf (the largest loss).

        Parameters
        ----------
        order : float or array_like
            The Rényi order, from 1 up; inf is allowed.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        float or ndarray
            A certified upper bound of the divergence of the worse ordered pair, rounded up; inf if there is none.

        Raises
        ------
        BadType
            If order is no number and no array of numbers, or neighbours no text.
        BadValue
            If an order is below 1 or NaN, or neighbours no relation.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=2.0).rdp(order=2.5), 12)
        0.3125
        """

        def ask(run: "ComposedLoss", values: list[float]) -> list[Interval]:
            bounds = [min(losses.renyi_bound(one, value) for one in run.variants("dominating")) for value in values]
            return [(bound, bound) for bound in bounds]

        return self._answered(ask, neighbours, "order", order, _renyi_order).upper


def _renyi_order(name: str, value: Any) -> float:
    allowed = "a number from 1 up, or inf"
    if isinstance(value, numbers.Real) and value == math.inf:
        return math.inf
    order = checks.real(name, value, allowed)
    if order < 1.0:
        raise BadValue(f"{name} is {order}; allowed: {allowed}.")
    return order
