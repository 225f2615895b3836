"""Trade-off curves: the smallest type-II error beta of a test with type-I error alpha, from other guarantees and to them.

The null hypothesis is Q (without the record in the order "remove"), so beta = f(alpha) is the conjugate of the profile:
1 - f(alpha) = inf over real eps of delta(eps) + e^eps alpha (Dong, Roth and Su 2022, Proposition 6; Zhu, Dong and Wang 2022).
How it is found from a profile: `_kernels/best_test.py`.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

from .. import checks
from ..checks import probability
from ..errors import BadType, BadValue
from ..numerics.rounding import FUNCTION, UNIT, down, exp_down, exp_up
from ._kernels import arguments
from ._kernels.best_test import best_test
from ._kernels.broadcast import broadcast
from ._kernels.chords import Interval
from ._kernels.errors_of_tests import conjugate, renyi_error
from ._kernels.normals import quantile
from ._kernels.profiles import checked_profile
from .curve import best_order, checked_curve, listed_orders

if TYPE_CHECKING:
    from ..bounds import Array, Floats


@broadcast
def approx_tradeoff(epsilon: float, delta: float, alpha: float) -> float:
    """max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)), rounded down: what (epsilon, delta)-DP says of tests.

    No test of level alpha has a smaller second error (Wasserman and Zhou 2010; Dong, Roth and Su 2022, Proposition 3).

    Parameters
    ----------
    epsilon : float or array_like
        From 0 to 1e100.
    delta : float or array_like
        A probability from 0 to 1.
    alpha : float or array_like
        The type-I error of the test, from 0 to 1.

    Returns
    -------
    float or ndarray
        A lower bound of the type-II error, rounded down.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(approx_tradeoff(epsilon=1.0, delta=1e-5, alpha=0.5), 9)
    0.183936042
    """
    epsilon, delta, alpha = arguments.level("epsilon", epsilon), probability("delta", delta), probability("alpha", alpha)
    rest = Fraction(1) - Fraction(delta)
    first = rest - Fraction(exp_up(epsilon + math.log(alpha) + FUNCTION * (epsilon + 800.0), 2.0)) if alpha else rest
    if alpha and epsilon < 700.0:
        first = max(first, rest - Fraction(exp_up(epsilon)) * Fraction(alpha))
    second = Fraction(exp_down(-epsilon)) * (rest - Fraction(alpha))
    return max(0.0, down(float(max(first, second))))


@broadcast
def rdp_tradeoff(order: float, gamma: float, alpha: float) -> float:
    """The smallest second error that Rényi divergences of this order, at most gamma in both directions, allow; rounded down.

    A test makes two-point laws (1 - beta, beta) and (alpha, 1 - alpha) of a pair, whose divergences are no larger (data
    processing); and that pair of two points obeys the claim itself, so nothing better follows from one order.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15.
    gamma : float or array_like
        The Rényi divergence of that order, from 0 to 1e100.
    alpha : float or array_like
        The type-I error of the test, from 0 to 1.

    Returns
    -------
    float or ndarray
        A lower bound of the type-II error, rounded down.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_tradeoff(order=4.0, gamma=2.0, alpha=0.01), 9)
    0.8583257
    """
    order, gamma, alpha = arguments.order(order), arguments.level("gamma", gamma), probability("alpha", alpha)
    return renyi_error(order, gamma, alpha)


@overload
def rdp_curve_tradeoff(
    rdp: Callable[[float], float], alpha: float, orders: Iterable[float] | None = None
) -> tuple[float, float]: ...
@overload
def rdp_curve_tradeoff(
    rdp: Callable[[float], float], alpha: "Floats", orders: Iterable[float] | None = None
) -> "tuple[Array, Array]": ...
def rdp_curve_tradeoff(rdp: Callable[[float], float], alpha: Any, orders: Iterable[float] | None = None) -> Any:
    """The largest `rdp_tradeoff` over the orders of a Rényi curve, rounded down, and the order that attains it.

    Any order is a proof; real orders are searched unless `orders` are listed.

    Parameters
    ----------
    rdp : callable
        The Rényi curve: maps an order to the divergence, a number from 0 up or inf.
    alpha : float or array_like
        The type-I error of the test, from 0 to 1.
    orders : iterable of float, optional
        The orders to try, above 1; by default all real orders.

    Returns
    -------
    tuple of float or of ndarray
        A lower bound of the type-II error, rounded down, and the order that gives it.

    Raises
    ------
    BadType
        If rdp is no function, or another argument no real number and no array of them.
    BadValue
        If rdp returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> beta, order = rdp_curve_tradeoff(lambda order: 0.5 * order, alpha=0.01)
    >>> round(beta, 6), round(order, 2)
    (0.875411, 2.91)
    """
    curve, listed = checked_curve(rdp), listed_orders(orders)

    @broadcast
    def answer(alpha: float) -> tuple[float, float]:
        alpha = probability("alpha", alpha)
        if listed is not None:
            return max((renyi_error(order, curve(order), alpha), order) for order in listed)
        _, t = best_order(lambda t: -renyi_error(1.0 + t, curve(1.0 + t), alpha))
        return renyi_error(1.0 + t, curve(1.0 + t), alpha), 1.0 + t

    return answer(alpha)


@overload
def profile_tradeoff(profile: Callable[[float], float], alpha: float) -> float: ...
@overload
def profile_tradeoff(profile: Callable[[float], float], alpha: "Floats") -> "Array": ...
def profile_tradeoff(profile: Callable[[float], float], alpha: Any) -> Any:
    """The smallest second error that a privacy profile, of both orders, allows at level alpha; rounded down.

    The supremum over real epsilon of 1 - delta(epsilon) - e^epsilon alpha; any epsilon is a proof.

    Parameters
    ----------
    profile : callable
        The privacy profile: maps one epsilon to a delta from 0 to 1.
    alpha : float or array_like
        The type-I error of the test, from 0 to 1.

    Returns
    -------
    float or ndarray
        A lower bound of the type-II error, rounded down.

    Raises
    ------
    BadType
        If profile is no function, or another argument no real number and no array of them.
    BadValue
        If profile returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(profile_tradeoff(lambda epsilon: max(0.0, -math.expm1((epsilon - 1.0) / 2.0)), alpha=0.1), 9)
    0.728171817
    """
    known = checked_profile(profile)

    def logarithm(epsilon: float) -> Interval:
        delta = known(epsilon)
        log = math.log(delta) if delta else -math.inf
        return (log, log) if log == -math.inf else (log + FUNCTION * log, min(0.0, log - FUNCTION * log))

    @broadcast
    def answer(alpha: float) -> float:
        alpha = probability("alpha", alpha)
        if alpha in (0.0, 1.0):
            return 0.0 if alpha else max(0.0, down(1.0 - known(600.0)))
        return max(0.0, best_test(logarithm, logarithm, alpha).beta[0])

    return answer(alpha)


@overload
def tradeoff_to_delta(tradeoff: Callable[[float], float], epsilon: float) -> float: ...
@overload
def tradeoff_to_delta(tradeoff: Callable[[float], float], epsilon: "Floats") -> "Array": ...
def tradeoff_to_delta(tradeoff: Callable[[float], float], epsilon: Any) -> Any:
    """delta(epsilon) = max over alpha of 1 - f(alpha) - e^epsilon alpha for a convex trade-off curve f; rounded up.

    Between the levels asked f is above its chords continued, so what is returned is never below the maximum.

    Parameters
    ----------
    tradeoff : callable
        A convex trade-off curve: maps one type-I error to a type-II error.
    epsilon : float or array_like
        From 0 to 1e100.

    Returns
    -------
    float or ndarray
        Delta, rounded up.

    Raises
    ------
    BadType
        If tradeoff is no function, or another argument no real number and no array of them.
    BadValue
        If tradeoff returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> from hockeystick.conversion import gdp_tradeoff
    >>> round(tradeoff_to_delta(lambda alpha: gdp_tradeoff(1.0, alpha), epsilon=1.0), 9)
    0.126936738
    """
    if not callable(tradeoff):
        raise BadType(f"tradeoff is {tradeoff!r} ({type(tradeoff).__name__}); allowed: a function alpha -> beta.")

    def checked(alpha: float) -> float:
        beta = probability(f"tradeoff({alpha})", tradeoff(alpha))
        if beta > 1.0 - alpha + 4.0 * UNIT:
            raise BadValue(f"tradeoff({alpha}) is {beta}; allowed: at most {1.0 - alpha}, which a blind test attains.")
        return beta

    @broadcast
    def answer(epsilon: float) -> float:
        weight = exp_down(min(arguments.level("epsilon", epsilon), 700.0))
        return conjugate(checked, weight)

    return answer(epsilon)


@broadcast
def mu_of_test(alpha: float, beta: float) -> float:
    """The mu that a test with these errors proves at least: Phi^-1(1 - alpha) - Phi^-1(beta), rounded down; 0 if it proves none.

    Parameters
    ----------
    alpha : float or array_like
        The type-I error, from 0 to 1.
    beta : float or array_like
        The type-II error, from 0 to 1.

    Returns
    -------
    float or ndarray
        A lower bound of mu, rounded down; inf if one error is 0 and none is 1.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(mu_of_test(alpha=0.5, beta=0.022750131948), 9)
    2.0
    """
    alpha, beta = probability("alpha", alpha), probability("beta", beta)
    if alpha == 0.0 or beta == 0.0:
        return math.inf if alpha < 1.0 and beta < 1.0 else 0.0
    if alpha == 1.0 or beta == 1.0:
        return 0.0
    total = 0.0
    for error in (alpha, beta):  # -Phi^-1 of each
        log = math.log(error if error <= 0.5 else 1.0 - error)
        if error <= 0.5:
            total = down(total + quantile(log - FUNCTION * log, -1.0))
        else:
            total = down(total - quantile(log + FUNCTION * log, 1.0))
    return max(0.0, total)


@broadcast
def gdp_mu_clt_approximation(rate: float, sigma: float, steps: float) -> float:
    """rate sqrt(steps (e^(1/sigma^2) - 1)): the limit of mu for many steps of small rate.  An approximation, not a guarantee.

    Poisson-sampled Gaussian noise (Bu, Dong, Long and Su 2020); the truth may lie on either side.  `mu(delta=...)` of a run is
    certified.

    Parameters
    ----------
    rate : float or array_like
        The sampling rate, from 0 to 1.
    sigma : float or array_like
        The noise multiplier, above 0.
    steps : float or array_like
        The number of steps, a whole number from 0 up.

    Returns
    -------
    float or ndarray
        The approximation, not rounded.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(gdp_mu_clt_approximation(rate=0.328, sigma=9.4, steps=2000), 6)
    1.564916
    """
    rate, sigma = checks.rate("rate", rate), checks.positive("sigma", sigma)
    steps = checks.count("steps", steps)
    square = 1.0 / sigma / sigma
    if square > 700.0:
        return math.inf if rate and steps else 0.0
    return rate * math.sqrt(steps * math.expm1(square))
