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
    """Adds up the Rényi curves of releases and converts the sum by the best conversion of one order (Asoodeh et al. 2020).

    The curve of every mechanism is exact and known at all real orders, over which epsilon and delta are minimised; `orders`
    limits them to a list, and a warning (`EdgeOrder`) says when the best one is the first or last of it.  What this gives is
    never below what `release.epsilon(delta)` gives, which does not go through one order.

    Parameters
    ----------
    orders : iterable of float, optional
        The Rényi orders to try, above 1 (inf is allowed); by default all real orders.
    neighbours : Relation, default "add-or-remove"
        The relation that the answers are for.

    Raises
    ------
    BadType
        If orders is no sequence of real numbers, or neighbours no text.
    BadValue
        If orders is empty or has one that is not above 1, or neighbours is no relation.

    Examples
    --------
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
        """The orders that are tried; None for all real orders.

        Returns
        -------
        tuple of float or None
            In ascending order.
        """
        return self._orders

    @property
    def neighbours(self) -> Relation:
        """The relation that the answers are for.

        Returns
        -------
        Relation
            As it was made.
        """
        return self._neighbours

    @property
    def release(self) -> Release:
        """All that was composed.

        Returns
        -------
        Release
            The composition, for every other question.
        """
        return self._release

    def __repr__(self) -> str:
        return f"<RDPAccountant of {self._release!r}, {self._neighbours}>"

    def compose(self, release: Release, count: int = 1) -> "RDPAccountant":
        """Count a release.

        Parameters
        ----------
        release : Release
            What is counted.
        count : int, default 1
            How often, from 0 up.

        Returns
        -------
        RDPAccountant
            The accountant itself, so that calls can be chained.

        Raises
        ------
        BadType
            If release is no release, or count no number.
        BadValue
            If count is no whole number, or the release is stated for another relation.
        """
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
        """The composed Rényi divergence of any order, rounded up.

        Parameters
        ----------
        order : float or array_like
            The Rényi order, from 1 up; inf is allowed.

        Returns
        -------
        float or ndarray
            The divergence, rounded up.

        Raises
        ------
        BadType
            If order is no number and no array of numbers.
        BadValue
            If an order is below 1.
        Unsupported
            If no theorem covers a part under this relation.
        """
        return self._release.rdp(order, self._neighbours)

    @overload
    def epsilon(self, delta: float) -> float: ...
    @overload
    def epsilon(self, delta: "Floats") -> "Array": ...
    def epsilon(self, delta: Any) -> Any:
        """The smallest epsilon at delta over the orders, rounded up.

        Parameters
        ----------
        delta : float or array_like
            Above 0 and below 1; well below one over the number of records, else `LargeDelta` warns.

        Returns
        -------
        float or ndarray
            Epsilon, rounded up.

        Raises
        ------
        BadType
            If delta is no number and no array of numbers.
        BadValue
            If delta is out of its range.
        Unsupported
            If the divergence is infinite at every order, or no theorem covers a part under this relation.
        """
        found: Any = self._best(rdp_curve_to_epsilon, delta)[0]
        self._release._heed(delta)
        return found

    @overload
    def delta(self, epsilon: float) -> float: ...
    @overload
    def delta(self, epsilon: "Floats") -> "Array": ...
    def delta(self, epsilon: Any) -> Any:
        """The smallest delta at epsilon over the orders, rounded up.

        Parameters
        ----------
        epsilon : float or array_like
            From 0 up.

        Returns
        -------
        float or ndarray
            Delta, rounded up.

        Raises
        ------
        BadType
            If epsilon is no number and no array of numbers.
        BadValue
            If epsilon is out of its range.
        Unsupported
            If no theorem covers a part under this relation.
        """
        return self._best(rdp_curve_to_delta, epsilon)[0]

    @overload
    def order(self, *, delta: float | None = None, epsilon: float | None = None) -> float: ...
    @overload
    def order(self, *, delta: "Floats") -> "Array": ...
    @overload
    def order(self, *, epsilon: "Floats") -> "Array": ...
    def order(self, *, delta: Any = None, epsilon: Any = None) -> Any:
        """The order that gives `epsilon(delta)`, or the one that gives `delta(epsilon)`.

        Parameters
        ----------
        delta : float or array_like, optional
            Above 0 and below 1.
        epsilon : float or array_like, optional
            From 0 up.

        Returns
        -------
        float or ndarray
            The best order.

        Raises
        ------
        BadType
            If what is given is no number and no array of numbers.
        BadValue
            If both are given or neither, or one is out of its range.
        Unsupported
            If the divergence is infinite at every order, or no theorem covers a part under this relation.
        """
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
                        f"the best of the orders is the {side}, {checks.given(place)}: "
                        f"a {'larger' if side == 'largest' else 'smaller'} one may give less; "
                        "list more of them, or none, to search all real orders.",
                        EdgeOrder,
                        stacklevel=3,
                    )
                    break
        return value, order


def _flat(value: Any) -> list[float]:
    return [value] if isinstance(value, float) else value.ravel().tolist()
