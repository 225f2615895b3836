"""A Rényi accountant, for those who want one: exact curves, composed, converted optimally."""

import math
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

from .. import checks
from ..conversion.curve import listed_orders, rdp_curve_to_delta, rdp_curve_to_epsilon
from ..errors import BadType, BadValue, EdgeOrder
from ..mechanism.release import Release, compose
from ..neighbours import DEFAULT, Relation, checked

if TYPE_CHECKING:
    from ..bounds import Array, Floats


class RDPAccountant:
    """Adds up the Rényi curves of releases and converts the sum by A, Theorem 3, the best conversion of one order.

    The curve of every mechanism is exact and known at all real orders, over which epsilon and delta are minimised; `orders`
    limits them to a list, and a warning (`EdgeOrder`) says when the best one is the first or last of it.  What this gives is
    never below what `release.epsilon(delta)` gives, which does not go through one order.

    >>> import hockeystick as hs
    >>> accountant = RDPAccountant().compose(hs.Gaussian(sigma=20.0), 100)
    >>> round(accountant.epsilon(delta=1e-5), 6), round(accountant.order(delta=1e-5), 2)
    (2.165712, 9.6)
    >>> round(accountant.release.epsilon(delta=1e-5), 6)
    1.993091
    """

    def __init__(self, orders: Iterable[float] | None = None, neighbours: Relation = DEFAULT) -> None:
        listed = listed_orders(orders)
        self._orders = None if listed is None else tuple(sorted(set(listed)))
        self._neighbours = checked(neighbours)
        self._release: Release = compose([])

    @property
    def orders(self) -> tuple[float, ...] | None:
        """The orders that are tried; None for all real orders."""
        return self._orders

    @property
    def neighbours(self) -> Relation:
        """The relation that the answers are for."""
        return self._neighbours

    @property
    def release(self) -> Release:
        """All that was composed."""
        return self._release

    def __repr__(self) -> str:
        return f"<RDPAccountant of {self._release!r}, {self._neighbours}>"

    def compose(self, release: Release, count: int = 1) -> "RDPAccountant":
        """Count a release, `count` times; returns the accountant, so that calls can be chained."""
        if not isinstance(release, Release):
            raise BadType(f"release is {release!r}; allowed: a release such as Gaussian(sigma=2.0).")
        if release.stated not in (DEFAULT, self._neighbours):
            raise BadValue(
                f"release is stated for neighbours={release.stated!r}, the accountant for {self._neighbours!r}; "
                "allowed: an accountant made with the same neighbours."
            )
        self._release = self._release + release * checks.count("count", count)
        return self

    @overload
    def rdp(self, order: float) -> float: ...
    @overload
    def rdp(self, order: "Floats") -> "Array": ...
    def rdp(self, order: Any) -> Any:
        """The composed Rényi divergence of any order, rounded up."""
        return self._release.rdp(order, self._neighbours)

    @overload
    def epsilon(self, delta: float) -> float: ...
    @overload
    def epsilon(self, delta: "Floats") -> "Array": ...
    def epsilon(self, delta: Any) -> Any:
        """The smallest epsilon at delta over the orders, rounded up."""
        return self._best(rdp_curve_to_epsilon, delta)[0]

    @overload
    def delta(self, epsilon: float) -> float: ...
    @overload
    def delta(self, epsilon: "Floats") -> "Array": ...
    def delta(self, epsilon: Any) -> Any:
        """The smallest delta at epsilon over the orders, rounded up."""
        return self._best(rdp_curve_to_delta, epsilon)[0]

    @overload
    def order(self, *, delta: float | None = None, epsilon: float | None = None) -> float: ...
    @overload
    def order(self, *, delta: "Floats") -> "Array": ...
    @overload
    def order(self, *, epsilon: "Floats") -> "Array": ...
    def order(self, *, delta: Any = None, epsilon: Any = None) -> Any:
        """The order that gives `epsilon(delta)`, or the one that gives `delta(epsilon)`."""
        if (delta is None) == (epsilon is None):
            raise BadValue("give delta, or epsilon, and not both: the best order is that of one question.")
        if delta is not None:
            return self._best(rdp_curve_to_epsilon, delta)[1]
        return self._best(rdp_curve_to_delta, epsilon)[1]

    def _best(self, convert: Callable[..., tuple[Any, Any]], given: Any) -> tuple[Any, Any]:
        value, order = convert(lambda order: float(self.rdp(order)), given, self._orders)
        listed = self._orders
        if listed is not None and len(listed) > 1:
            for found, place in zip(_flat(value), _flat(order), strict=True):
                if found > 0.0 and place in (listed[0], listed[-1]) and place != math.inf:
                    side = "largest" if place == listed[-1] else "smallest"
                    warnings.warn(
                        f"the best of the orders is the {side}, {place:g}: a {'larger' if side == 'largest' else 'smaller'} one "
                        "may give less; list more of them, or none, to search all real orders.",
                        EdgeOrder,
                        stacklevel=3,
                    )
                    break
        return value, order


def _flat(value: Any) -> list[float]:
    return [value] if isinstance(value, float) else value.ravel().tolist()
