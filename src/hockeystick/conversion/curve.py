"""From a whole Rényi curve, order -> value, to approximate DP at the best order (Asoodeh et al. 2020, Eq. 4, 22, 24)."""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from .. import checks
from ..errors import BadType, BadValue, Unsupported
from ._kernels import arguments
from ._kernels.broadcast import broadcast
from .optimal_rdp import epsilon_of_renyi, log_delta_of_renyi, rdp_to_delta, rdp_to_epsilon

if TYPE_CHECKING:
    from ..bounds import Array, Floats

_PATIENCE = 4
_GOLDEN = 0.5 * (3.0 - math.sqrt(5.0))


@overload
def rdp_curve_to_epsilon(
    rdp: Callable[[float], float], delta: float, orders: Iterable[float] | None = None
) -> tuple[float, float]: ...
@overload
def rdp_curve_to_epsilon(
    rdp: Callable[[float], float], delta: "Floats", orders: Iterable[float] | None = None
) -> "tuple[Array, Array]": ...
def rdp_curve_to_epsilon(rdp: Callable[[float], float], delta: Any, orders: Iterable[float] | None = None) -> Any:
    """The smallest epsilon at delta over the orders of a Rényi curve, rounded up, and the order that attains it.

    `rdp` maps an order above 1 to its Rényi value, a number from 0 up or inf; it is called with one float at a time.
    Real orders are searched unless `orders` are listed; any order gives a valid epsilon (Asoodeh et al. 2020, Eq. 22 and 24
    with Theorem 3).

    Parameters
    ----------
    rdp : callable
        The Rényi curve: maps an order to the divergence, a number from 0 up or inf.
    delta : float or array_like
        A probability above 0 and below 1.
    orders : iterable of float, optional
        The orders to try, above 1; by default all real orders.

    Returns
    -------
    tuple of float or of ndarray
        Epsilon, rounded up, and the order that gives it.

    Raises
    ------
    BadType
        If rdp is no function, or another argument no real number and no array of them.
    BadValue
        If rdp returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.
    Unsupported
        If rdp is infinite at every order that was tried.

    Examples
    --------
    >>> epsilon, order = rdp_curve_to_epsilon(lambda order: 0.5 * order, delta=1e-5)
    >>> round(epsilon, 9), round(order, 3)
    (4.728385649, 5.432)
    """
    curve = checked_curve(rdp)
    listed = listed_orders(orders)

    @broadcast
    def answer(delta: Any) -> tuple[float, float]:
        delta = arguments.delta(delta)
        log_delta = math.log(delta)
        value, order = best_over(lambda order: epsilon_of_renyi(order, curve(order), log_delta), listed)
        if value == math.inf:
            raise Unsupported("rdp is infinite at every order that was tried; missing: an order at which it is finite.")
        return float(rdp_to_epsilon(order, curve(order), delta)), order

    return answer(delta)


@overload
def rdp_curve_to_delta(
    rdp: Callable[[float], float], epsilon: float, orders: Iterable[float] | None = None
) -> tuple[float, float]: ...
@overload
def rdp_curve_to_delta(
    rdp: Callable[[float], float], epsilon: "Floats", orders: Iterable[float] | None = None
) -> "tuple[Array, Array]": ...
def rdp_curve_to_delta(rdp: Callable[[float], float], epsilon: Any, orders: Iterable[float] | None = None) -> Any:
    """The smallest delta at epsilon over the orders of a Rényi curve, rounded up, and the order that attains it.

    As `rdp_curve_to_epsilon` (Asoodeh et al. 2020, Eq. 4 and 21 with Theorem 3).  Where rdp is infinite throughout, delta is 1.

    Parameters
    ----------
    rdp : callable
        The Rényi curve: maps an order to the divergence, a number from 0 up or inf.
    epsilon : float or array_like
        From 0 to 1e100.
    orders : iterable of float, optional
        The orders to try, above 1; by default all real orders.

    Returns
    -------
    tuple of float or of ndarray
        Delta, rounded up, and the order that gives it.

    Raises
    ------
    BadType
        If rdp is no function, or another argument no real number and no array of them.
    BadValue
        If rdp returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> delta, order = rdp_curve_to_delta(lambda order: 0.5 * order, epsilon=4.0)
    >>> print(f"{delta:.9e}", round(order, 3))
    1.957674751e-04 4.737
    """
    curve = checked_curve(rdp)
    listed = listed_orders(orders)

    @broadcast
    def answer(epsilon: Any) -> tuple[float, float]:
        epsilon = arguments.level("epsilon", epsilon)

        def log_delta(order: float) -> float:
            gamma = curve(order)
            if order == math.inf:
                delta = 1.0 if gamma == math.inf else float(rdp_to_delta(order, gamma, epsilon))
                return math.log(delta) if delta else -math.inf
            return log_delta_of_renyi(order, (order - 1.0) * gamma, epsilon)

        _, order = best_over(log_delta, listed)
        gamma = curve(order)
        return (1.0 if gamma == math.inf else float(rdp_to_delta(order, gamma, epsilon))), order

    return answer(epsilon)


def best_over(objective: Callable[[float], float], listed: list[float] | None) -> tuple[float, float]:
    """The smallest value found of an objective over the orders that are listed, or over all real ones, and its order."""
    if listed is not None:
        return min((objective(order), order) for order in listed)
    value, t = best_order(lambda t: objective(1.0 + t))
    return value, 1.0 + t


def checked_curve(rdp: Any) -> Callable[[float], float]:
    """The curve, remembering its values and refusing what is no Rényi value."""
    if not callable(rdp):
        raise BadType(f"rdp is {rdp!r} ({type(rdp).__name__}); allowed: a function of the order.")
    known: dict[float, float] = {}

    def curve(order: float) -> float:
        if order not in known:
            value = rdp(order)
            if not (isinstance(value, float) and value == math.inf):
                value = checks.real(f"rdp({order!r})", value, "a number from 0 up, or inf")
            if value < 0.0:
                raise BadValue(f"rdp({order!r}) is {value}; allowed: a number from 0 up, or inf.")
            known[order] = float(value) if value <= arguments.LARGEST else math.inf
        return known[order]

    return curve


def listed_orders(orders: Any) -> list[float] | None:
    """The orders that a user lists, checked; None for all real ones."""
    if orders is None:
        return None
    if isinstance(orders, str) or not isinstance(orders, Iterable):
        raise BadType(f"orders is {orders!r} ({type(orders).__name__}); allowed: a sequence of orders above 1, or None.")
    listed = [arguments.order_or_infinity(one) for one in (orders.tolist() if isinstance(orders, np.ndarray) else orders)]
    if not listed:
        raise BadValue("orders is empty; allowed: at least one order above 1, or None for all real orders.")
    return listed


def best_order(
    objective: Callable[[float], float], start: float = 1.0, least: float = 2.0**-30, most: float = 2.0**49
) -> tuple[float, float]:
    """The smallest value found and its t = order - 1 from `least` to `most`; any t gives a bound, so this needs no proof.

    Walks by factors of 2 from `start` to both sides until the objective (which may be inf) has stopped falling, then
    refines around the best place.  Starting in the middle spares `objective` the far ends, where a user's formula may be
    slow or cancel.

    >>> value, t = best_order(lambda t: (t - 3.0) ** 2 + 1.0)
    >>> value, round(t, 6)
    (1.0, 3.0)
    """
    start = min(max(start, least), most)
    best, place = math.inf, 0

    def value(x: float) -> float:
        return objective(min(max(start * 2.0**x, least), most))

    def walk(first: int, step: int) -> None:
        nonlocal best, place
        missed = 0
        for k in range(first, 200 * step, step):
            found = value(float(k))
            if found < best:
                best, place, missed = found, k, 0
            elif best < math.inf:
                missed += 1
            if missed == _PATIENCE or (start * 2.0**k <= least if step < 0 else start * 2.0**k >= most):
                return

    walk(0, -1)
    walk(1, 1)
    found, x = _refined(value, place, best)
    return found, min(max(start * 2.0**x, least), most)


def _refined(value: Callable[[float], float], place: int, best: float) -> tuple[float, float]:
    """Brent's method without derivatives: parabolas through the three lowest points, golden sections where they fail."""
    low, high = place - 1.0, place + 1.0
    x = second = third = float(place)
    f_x = f_second = f_third = best
    step = before = 0.0
    for _ in range(80):
        middle = 0.5 * (low + high)
        tolerance = 1e-8 * (1.0 + abs(x) * 1e-3)
        if abs(x - middle) <= 2.0 * tolerance - 0.5 * (high - low):
            break
        bent = False
        if abs(before) > tolerance and f_third < math.inf:
            r = (x - second) * (f_x - f_third)
            q = (x - third) * (f_x - f_second)
            p = (x - third) * q - (x - second) * r
            q = 2.0 * (q - r)
            p = -p if q > 0.0 else p
            q = abs(q)
            if abs(p) < abs(0.5 * q * before) and q * (low - x) < p < q * (high - x):
                before, step, bent = step, p / q, True
        if not bent:
            before = (high if x < middle else low) - x
            step = _GOLDEN * before
        trial = x + (step if abs(step) >= tolerance else math.copysign(tolerance, step))
        f_trial = value(trial)
        if f_trial <= f_x:
            low, high = (x, high) if trial >= x else (low, x)
            third, f_third, second, f_second, x, f_x = second, f_second, x, f_x, trial, f_trial
        else:
            low, high = (trial, high) if trial < x else (low, trial)
            if f_trial <= f_second or second == x:
                third, f_third, second, f_second = second, f_second, trial, f_trial
            elif f_trial <= f_third or third in (x, second):
                third, f_third = trial, f_trial
    return f_x, x
