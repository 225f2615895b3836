"""Groups and mixtures: what guarantees for one record say of several, and of a random choice (Steinke 2022)."""

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from ..checks import count, non_negative, probability, real
from ..errors import BadType, BadValue
from ..numerics.rounding import FUNCTION, UNIT, up
from ._kernels import arguments
from ._kernels.broadcast import broadcast


def curve(name: str, function: Any) -> Callable[[float], float]:
    """A function order -> Rényi value that remembers its values and checks them; infinity says that no bound is known."""
    if not callable(function):
        raise BadType(f"{name} is {function!r} ({type(function).__name__}); allowed: a function order -> Rényi value.")

    @functools.cache
    def value(order: float) -> float:
        given = function(order)
        if isinstance(given, float) and given >= 0.0:  # the common case, infinity included
            return float(given)
        allowed = "a number from 0 up, or infinity"
        number = real(f"{name}({order})", given, allowed)
        if number < 0.0:
            raise BadValue(f"{name}({order}) is {number}; allowed: {allowed}.")
        return number

    return value


def exact_up(value: Fraction) -> float:
    """The smallest double that is at least an exact number >= 0."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf
    return near if near == math.inf or near >= value else math.nextafter(near, math.inf)


def log_mixture(weight: float, exponent: Fraction | float) -> float:
    """An upper bound of log(1 - weight + weight e^exponent), within 4e-15 of it; exponent >= 0 is meant exactly.

    A rounded exponent would cost |exponent| units where weight e^exponent is of order one: hence two doubles.
    """
    if exponent == math.inf:
        return math.inf if weight > 0.0 else 0.0
    ceiling = exact_up(Fraction(exponent))
    if weight == 0.0 or weight == 1.0 or ceiling in (0.0, math.inf):
        return ceiling if weight > 0.0 else 0.0
    high = float(exponent)
    low = float(exponent - Fraction(high)) if isinstance(exponent, Fraction) else 0.0
    if high <= 700.0:
        value = math.log1p(weight * (math.expm1(high) + low * math.exp(high)))
    elif high <= 1450.0 and (odds := weight * math.exp(700.0)) < math.exp(1400.0 - high):
        value = math.log1p(odds * math.exp(high - 700.0) * (1.0 + low))
    else:  # weight e^exponent > e^699, so that what is left out is below 1e-300
        value = high + (math.log(weight) + low)
    return min(up(value, 4.0 * FUNCTION * value), ceiling)


@broadcast
def replace_from_add_remove(epsilon: float, delta: float) -> tuple[float, float]:
    """(epsilon, delta) for replacing one record, from that for adding or removing one (Steinke 2022, section 6.2).

    A replacement is a removal and an addition: (2 epsilon, (1 + e^epsilon) delta), delta at most 1.

    Parameters
    ----------
    epsilon : float or array_like
        From 0 up.
    delta : float or array_like
        A probability from 0 to 1.

    Returns
    -------
    tuple of float or of ndarray
        Epsilon and delta of a replacement, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> replace_from_add_remove(0.0, 1e-6)
    (0.0, 2e-06)
    """
    epsilon, delta = non_negative("epsilon", epsilon), probability("delta", delta)
    return _group(epsilon, delta, 2)


@broadcast
def group_approx(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    """(epsilon, delta) for data sets that differ in `size` records, from that for one (Steinke 2022, section 6.2).

    (size epsilon, (1 + e^epsilon + ... + e^((size - 1) epsilon)) delta), delta at most 1; with `size` 2 this is
    `replace_from_add_remove`.

    Parameters
    ----------
    epsilon : float or array_like
        From 0 up.
    delta : float or array_like
        A probability from 0 to 1.
    size : int or array_like
        The number of records, a whole number from 1 up.

    Returns
    -------
    tuple of float or of ndarray
        Epsilon and delta of the group, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> group_approx(0.0, 1e-6, 4)
    (0.0, 4e-06)
    """
    return _group(non_negative("epsilon", epsilon), probability("delta", delta), count("size", size, least=1))


def _group(epsilon: float, delta: float, size: int) -> tuple[float, float]:
    total, last = exact_up(Fraction(epsilon) * size), Fraction(epsilon) * (size - 1)
    if delta == 0.0 or size == 1:
        return total, delta
    if epsilon == 0.0:
        return total, min(1.0, exact_up(Fraction(delta) * size))
    if last > 690:  # beyond 1 for every delta above 1e-299
        return total, 1.0
    # e^last (1 - e^-total) / (1 - e^-epsilon); a rounded `last` would cost |last| units.
    high = float(last)
    ratio = math.expm1(-total) / math.expm1(-epsilon)
    value = delta * (math.exp(high) * (1.0 + float(last - Fraction(high))) * ratio)
    return total, min(1.0, up(value, 6.0 * FUNCTION * value))


@broadcast
def mixture_rdp(order: float, weight: float, first: float, second: float) -> float:
    """The Rényi value of choosing at random: the second of two pairs with probability `weight`, else the first.

    Steinke 2022, Lemma 33.6.
    log((1 - weight) e^((order - 1) first) + weight e^((order - 1) second)) / (order - 1), at most the larger of the
    two; order 1, where it is their mean, is included.

    Parameters
    ----------
    order : float or array_like
        A Rényi order from 1 to 1e15.
    weight : float or array_like
        The probability of the second pair, from 0 to 1.
    first : float or array_like
        The Rényi divergence of the first pair, from 0 up.
    second : float or array_like
        The Rényi divergence of the second pair, from 0 up.

    Returns
    -------
    float or ndarray
        The Rényi divergence of the choice, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> mixture_rdp(2.0, 0.3, 0.5, 0.5)
    0.5
    """
    order = order if real("order", order, "a Rényi order from 1 up") == 1.0 else arguments.order(order)
    weight = probability("weight", weight)
    first, second = non_negative("first", first), non_negative("second", second)
    low, high = Fraction(min(first, second)), Fraction(max(first, second))
    share = Fraction(weight) if second >= first else 1 - Fraction(weight)
    if order == 1.0 or share in (0, 1):
        return exact_up(low + share * (high - low))
    exponent = (Fraction(order) - 1) * (high - low)
    return min(float(high), up(float(low), up(log_mixture(exact_up(share), exponent) / (order - 1.0))))


@broadcast
def group_rdp(order: float, via: float, first: Callable[[float], float], second: Callable[[float], float]) -> float:
    """D_order(P || R) from the Rényi curves `first` of (P, Q) and `second` of (Q, R), by any order via > order.

    Steinke 2022, Lemma 33.7.
    via / (via - 1) first(order (via - 1) / (via - order)) + second(via).

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15.
    via : float or array_like
        A Rényi order above `order`, at most 1e15.
    first : callable
        The Rényi curve of (P, Q).
    second : callable
        The Rényi curve of (Q, R).

    Returns
    -------
    float or ndarray
        The Rényi divergence, rounded up; inf where a curve is.

    Raises
    ------
    BadType
        If first or second is no function, or another argument no real number and no array of them.
    BadValue
        If first or second returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(group_rdp(2, 4, lambda order: order / 2, lambda order: order / 2), 12)
    4.0
    """
    order, allowed = arguments.order(order), f"a Rényi order above order, which is {order}, at most {arguments.LARGEST_ORDER:g}"
    via = real("via", via, allowed)
    if not order < via <= arguments.LARGEST_ORDER:
        raise BadValue(f"via is {via}; allowed: {allowed}.")
    near, far = curve("first", first), curve("second", second)
    between = Fraction(order) * (Fraction(via) - 1) / (Fraction(via) - Fraction(order))
    values = near(exact_up(between)), far(via)
    if math.inf in values:
        return math.inf
    return exact_up(Fraction(via) / (Fraction(via) - 1) * Fraction(values[0]) + Fraction(values[1]))


@broadcast
def group_zcdp(rho1: float, rho2: float) -> float:
    """The rho of a pair (P, R) from those of (P, Q) and (Q, R): (sqrt(rho1) + sqrt(rho2))^2 (Steinke 2022, Lemma 33.7).

    Parameters
    ----------
    rho1 : float or array_like
        The parameter of the first pair, from 0 up.
    rho2 : float or array_like
        The parameter of the second pair, from 0 up.

    Returns
    -------
    float or ndarray
        The parameter of both steps together, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> group_zcdp(0.25, 0.0), round(group_zcdp(0.25, 0.25), 12)
    (0.25, 1.0)
    """
    rho1, rho2 = non_negative("rho1", rho1), non_negative("rho2", rho2)
    if rho1 == 0.0 or rho2 == 0.0:
        return rho1 + rho2
    root = math.sqrt(rho1) + math.sqrt(rho2)
    value = root * root
    return up(value, 8.0 * UNIT * value)
