"""Closed forms around the series of `amplify_rdp`: cheaper, at every real order, and looser (Steinke 2022, section 6.6).

Each upper bound holds for a Poisson sample, at rate p, in both directions.  For the direction from the mixture
p P + (1 - p) Q to Q the cited statements say so.  The other direction follows

* for Proposition 41 and Theorem 38 by Steinke 2022, Theorem 35, whose proof drops a factor that is at least 1 at orders a >= 2
  only (erratum S-E7).  Let 1 < a < 2 and p <= 3/4, as both statements demand.  What has to be shown non-negative is
  (1 - l) A^(2 a - 1) + l A^(a + 1) C^(a - 2) x^(-a - 1) - 1 with A = 1 - p + p x, C = p + (1 - p) x and l the theorem's
  weight; by the inequality of the means it is at least e^g - 1, g the weighted mean of the two logarithms.  As functions of
  log x, g and its slope vanish at 0, where g is convex, and g'' changes its sign at most once, as C / A is monotone.
  So g is convex but for a half-line: log x -> -inf if p <= 1/2, where the slope tends to -l (a + 1) < 0, else
  log x -> +inf, where it tends to (1 - l) (2 a - 1) - l (2 - a) >= 0.  There g is concave, hence decreases all the way
  towards the convex part, where g >= 0.
* for Proposition 42 without it.  With X = P / Q and T = X^(1 - a), (1 - p + p X)^(1 - a) is the power mean of 1 and T of the
  exponent 1 / (1 - a) < 1, hence concave in T; by Jensen D_a(Q || p P + (1 - p) Q) <= -log(1 - p + p e^-D_a(Q || P)), and
  log(1 - p + p e^(c D)) / c increases in c: its value at c = -1 is below that at c = 1 - 1 / a.
"""

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, DivisionByZero, InvalidOperation, Overflow, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

from ..checks import non_negative, real
from ..checks import rate as checked_rate
from ..errors import BadValue, Unsupported
from ..numerics.rounding import SMALLEST, down
from ._kernels import arguments
from ._kernels.broadcast import broadcast
from .group import curve, exact_up, log_mixture

if TYPE_CHECKING:
    from ..bounds import Array, Floats

_MOST_RATE = 0.6321205588285577  # the largest double below 1 - 1/e
_DECIMALS = Context(prec=70, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[InvalidOperation, DivisionByZero, Overflow])
_TINY = Decimal(10) ** -30
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


@overload
def amplify_rdp_analytic(order: float, rate: float, rdp: Callable[[float], float], omega: float | None = None) -> float: ...
@overload
def amplify_rdp_analytic(
    order: "Floats", rate: "float | Floats", rdp: Callable[[float], float], omega: "float | Floats | None" = None
) -> "Array": ...
@overload
def amplify_rdp_analytic(
    order: float, rate: "Floats", rdp: Callable[[float], float], omega: "float | Floats | None" = None
) -> "Array": ...
def amplify_rdp_analytic(order: Any, rate: Any, rdp: Callable[[float], float], omega: Any = None) -> Any:
    """The Rényi value of a Poisson sample from the values of orders 2 and omega alone.

    Steinke 2022, Proposition 41, its first form.
    log(1 + e / 2 order (order - 1) rate^2 (e^rdp(2) - 1) + ((order - 1) rate)^omega e^((omega - 1) rdp(omega))) / (order - 1)
    for any omega >= order; the best omega is sought unless given.  Needs rate <= 1 - 1/e, else `Unsupported`.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15.
    rate : float or array_like
        The sampling rate, from 0 to 1.
    rdp : callable
        The Rényi curve: maps an order to the divergence, a number from 0 up or inf.
    omega : float or array_like, optional
        A Rényi order from `order` to 1e15; by default the best one is sought.

    Returns
    -------
    float or ndarray
        An upper bound of the Rényi divergence, rounded up.

    Raises
    ------
    BadType
        If rdp is no function, or another argument no real number and no array of them.
    BadValue
        If rdp returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.
    Unsupported
        If rate is above 1 - 1/e.

    Examples
    --------
    >>> round(amplify_rdp_analytic(3, 0.05, lambda order: order / 2, omega=5), 12)
    0.113685487567
    """
    known = curve("rdp", rdp)
    return _analytic(order, rate, known, omega)


@broadcast
def _analytic(order: float, rate: float, known: Callable[[float], float], omega: float | None) -> float:
    order, rate = arguments.order(order), checked_rate("rate", rate)
    if omega is not None:
        allowed = f"None, or a Rényi order from order, which is {order}, to {arguments.LARGEST_ORDER:g}"
        omega = real("omega", omega, allowed)
        if not order <= omega <= arguments.LARGEST_ORDER:
            raise BadValue(f"omega is {omega}; allowed: {allowed}.")
    if rate > _MOST_RATE:
        raise Unsupported(f"rate is {rate}: the proposition needs at most 1 - 1/e; amplify_rdp takes every rate.")
    square = known(2)
    if rate == 0.0:
        return 0.0
    if omega is None:
        omega = _best_omega(order, rate, known)
    value = known(omega)
    if math.inf in (square, value):
        return math.inf
    with localcontext(_DECIMALS):
        least, p = Decimal(order) - 1, Decimal(rate)
        quadratic = (
            _log_expm1(Decimal(square)) + (Decimal(order) * least * p * p / 2).ln() + 1 if square > 0.0 else Decimal("-inf")
        )
        power = Decimal(omega) * (least * p).ln() + (Decimal(omega) - 1) * Decimal(value)
        return _decimal_up(_log1p_sum(quadratic, power) / least)


def _best_omega(order: float, rate: float, known: Callable[[float], float]) -> float:
    """Where omega log((order - 1) rate) + (omega - 1) rdp(omega), which is convex for a Rényi curve, is least from `order` up.

    Every omega is sound, so nothing has to be proved of the search.
    """
    slope = math.log(order - 1.0) + math.log(rate)

    def exponent(omega: float) -> float:
        return omega * slope + (omega - 1.0) * known(omega)

    if slope >= 0.0:  # it increases from the start
        return order
    left, middle, least, right, step = order, order, exponent(order), order + 0.25, 0.25
    while (value := exponent(right)) < least and right < arguments.LARGEST_ORDER:
        if value < 2.0 * math.log(rate) - 800.0:  # no part of the answer, however small that is
            return right
        left, middle, least, step = middle, right, value, 2.0 * step
        right = min(order + step, arguments.LARGEST_ORDER)
    for _ in range(80):
        third, fourth = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
        if exponent(third) <= exponent(fourth):
            right = fourth
        else:
            left = third
        if right - left <= 1e-9 * right:
            break
    return min((order, middle, 0.5 * (left + right)), key=exponent)


def _log_expm1(value: Decimal) -> Decimal:
    """An upper bound of log(e^value - 1), value > 0, to more digits than a double has."""
    if value > 200:
        return value
    return (value.exp() - 1 if value > _TINY else value + value * value).ln()


def _log1p_sum(first: Decimal, second: Decimal) -> Decimal:
    """An upper bound of log(1 + e^first + e^second), to more digits than a double has."""
    top = max(first, second)
    scaled = 1 + (max(min(first, second), top - 500) - top).exp()
    if top < -100:
        return top.exp() * scaled
    if top > 100:
        return top + (scaled + (-min(top, Decimal(500))).exp()).ln()
    return (1 + top.exp() * scaled).ln()


def _decimal_up(value: Decimal) -> float:
    near = max(SMALLEST, float(value * (1 + _TINY)))
    return near if near == math.inf or Decimal(near) >= value else math.nextafter(near, math.inf)


@overload
def amplify_rdp_large_order(order: float, rate: float, rdp: Callable[[float], float]) -> float: ...
@overload
def amplify_rdp_large_order(order: "Floats", rate: "float | Floats", rdp: Callable[[float], float]) -> "Array": ...
@overload
def amplify_rdp_large_order(order: float, rate: "Floats", rdp: Callable[[float], float]) -> "Array": ...
def amplify_rdp_large_order(order: Any, rate: Any, rdp: Callable[[float], float]) -> Any:
    """The Rényi value of a Poisson sample from the value of the same order alone: good for large orders.

    Steinke 2022, Proposition 42.
    order / (order - 1) log(1 - rate + rate e^((1 - 1 / order) rdp(order))).

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15.
    rate : float or array_like
        The sampling rate, from 0 to 1.
    rdp : callable
        The Rényi curve: maps an order to the divergence, a number from 0 up or inf.

    Returns
    -------
    float or ndarray
        An upper bound of the Rényi divergence, rounded up.

    Raises
    ------
    BadType
        If rdp is no function, or another argument no real number and no array of them.
    BadValue
        If rdp returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> amplify_rdp_large_order(2.0, 1.0, lambda order: order / 2)
    1.0
    """
    known = curve("rdp", rdp)
    return large_order(order, rate, known)


@broadcast
def large_order(order: float, rate: float, known: Callable[[float], float]) -> float:
    """`amplify_rdp_large_order` of a checked curve."""
    order, rate = arguments.order(order), checked_rate("rate", rate)
    value = known(order)
    if rate == 0.0 or value == 0.0:
        return 0.0
    if rate == 1.0 or value == math.inf:
        return value
    share = (Fraction(order) - 1) / Fraction(order)
    return min(value, exact_up(Fraction(log_mixture(rate, share * Fraction(value))) / share))


@overload
def amplify_rdp_lower(order: float, rate: float, rdp: Callable[[float], float]) -> float: ...
@overload
def amplify_rdp_lower(order: "Floats", rate: "float | Floats", rdp: Callable[[float], float]) -> "Array": ...
@overload
def amplify_rdp_lower(order: float, rate: "Floats", rdp: Callable[[float], float]) -> "Array": ...
def amplify_rdp_lower(order: Any, rate: Any, rdp: Callable[[float], float]) -> Any:
    """What the Rényi value of a Poisson sample is at least: rdp(order) - order / (order - 1) log(1 / rate).

    Steinke 2022, section 6.6.
    Here `rdp` is the divergence itself from the mechanism's output with a record to that without, or less.  May be
    negative, and then says nothing; 0 at rate 0.  Rounded down.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15.
    rate : float or array_like
        The sampling rate, from 0 to 1.
    rdp : callable
        The Rényi curve: maps an order to the divergence, a number from 0 up or inf.

    Returns
    -------
    float or ndarray
        A lower bound of the Rényi divergence, rounded down.

    Raises
    ------
    BadType
        If rdp is no function, or another argument no real number and no array of them.
    BadValue
        If rdp returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(amplify_rdp_lower(20, 0.05, lambda order: order / 2), 12)
    6.846597606785
    """
    known = curve("rdp", rdp)
    return _lower(order, rate, known)


@broadcast
def _lower(order: float, rate: float, known: Callable[[float], float]) -> float:
    order, rate = arguments.order(order), checked_rate("rate", rate)
    value = known(order)
    if rate == 0.0:
        return 0.0
    if rate == 1.0 or value == math.inf:
        return value
    with localcontext(_DECIMALS):
        exact = Decimal(value) + Decimal(order) / (Decimal(order) - 1) * Decimal(rate).ln()
        return down(float(exact))


@broadcast
def amplify_zcdp(order: float, rate: float, rho: float) -> float:
    """The Rényi value of a Poisson sample of a rho-zCDP mechanism at orders that are not too large (Steinke 2022, Theorem 38).

    10 rate^2 rho order for order < omega = min(log(1 / rate) / (4 rho), 1 + rate^(-1/4)) (erratum S-E6: the paper prints
    4 rate), provided that rho <= 1 and omega >= 3 + 2 log(1 / rho) / log(1 / rate), which rates up to 1/16 alone can meet
    (S-E16); else `Unsupported`.  At rate 0 and rho 0 the value is 0.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15.
    rate : float or array_like
        The sampling rate, from 0 to 1.
    rho : float or array_like
        The parameter of zCDP, from 0 up.

    Returns
    -------
    float or ndarray
        An upper bound of the Rényi divergence, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.
    Unsupported
        If a hypothesis of the theorem does not hold.

    Examples
    --------
    >>> round(amplify_zcdp(3.0, 1e-4, 0.1) * 1e8, 12)
    3.0
    """
    order, rate, rho = arguments.order(order), checked_rate("rate", rate), non_negative("rho", rho)
    if rate == 0.0 or rho == 0.0:
        return 0.0
    if rate > 0.5 or rho > 1.0:
        raise Unsupported(
            f"rate is {rate} and rho is {rho}: the theorem needs at most 1/2 and at most 1; amplify_rdp needs neither."
        )
    with localcontext(_DECIMALS):
        log = -Decimal(rate).ln()
        omega = min(log / (4 * Decimal(rho)), 1 + 1 / Decimal(rate).sqrt().sqrt())
        least = 3 - 2 * Decimal(rho).ln() / log
    if omega < least or not order < omega:
        raise Unsupported(
            f"order is {order} and omega is {float(omega)}: the theorem needs order below omega and omega from "
            f"{float(least)} up, by a smaller rate or rho; amplify_rdp does not."
        )
    return exact_up(10 * Fraction(rate) ** 2 * Fraction(rho) * Fraction(order))
