"""The moments accountant as it was: Mironov's conversion of any curve, and Abadi's rho of sampled Gaussian noise."""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, overload

from ... import checks
from ...errors import Unsupported
from .._kernels import arguments
from .._kernels.broadcast import broadcast
from ..curve import best_over, checked_curve, listed_orders
from ..rdp_bounds import rdp_to_delta_classic, rdp_to_epsilon_classic

if TYPE_CHECKING:
    from ...bounds import Array, Floats

Curve = Callable[[float], float]


@overload
def rdp_curve_to_epsilon_classic(rdp: Curve, delta: float, orders: Iterable[float] | None = None) -> tuple[float, float]: ...
@overload
def rdp_curve_to_epsilon_classic(rdp: Curve, delta: "Floats", orders: Iterable[float] | None = None) -> "tuple[Array, Array]": ...
def rdp_curve_to_epsilon_classic(rdp: Curve, delta: Any, orders: Iterable[float] | None = None) -> Any:
    """The smallest gamma(order) + log(1/delta) / (order - 1) over the orders, rounded up, and the order that attains it.

    Asoodeh et al. 2020, Eq. 22.  This is the moments accountant of Abadi et al. (2016); `rdp_curve_to_epsilon` is the best
    conversion of the same curve, and never larger.

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
    >>> epsilon, order = rdp_curve_to_epsilon_classic(lambda order: 0.5 * order, delta=1e-5)
    >>> round(epsilon, 9), round(order, 3)
    (5.298525912, 5.799)
    """
    curve, listed = checked_curve(rdp), listed_orders(orders)

    @broadcast
    def answer(delta: float) -> tuple[float, float]:
        delta = arguments.delta(delta)
        log_delta = math.log(delta)
        value, order = best_over(lambda order: curve(order) - log_delta / (order - 1.0), listed)
        if value == math.inf:
            raise Unsupported("rdp is infinite at every order that was tried; missing: an order at which it is finite.")
        gamma = curve(order)
        return (gamma if order == math.inf else float(rdp_to_epsilon_classic(order, gamma, delta))), order

    return answer(delta)


@overload
def rdp_curve_to_delta_classic(rdp: Curve, epsilon: float, orders: Iterable[float] | None = None) -> tuple[float, float]: ...
@overload
def rdp_curve_to_delta_classic(rdp: Curve, epsilon: "Floats", orders: Iterable[float] | None = None) -> "tuple[Array, Array]": ...
def rdp_curve_to_delta_classic(rdp: Curve, epsilon: Any, orders: Iterable[float] | None = None) -> Any:
    """The smallest e^(-(order - 1)(epsilon - gamma(order))) over the orders, rounded up, and the order that attains it.

    Asoodeh et al. 2020, Eq. 4 and 21.  This is the moments accountant of Abadi et al. (2016); `rdp_curve_to_delta` is the best
    conversion of the same curve, and never larger.

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
        Delta, rounded up, at most 1, and the order that gives it.

    Raises
    ------
    BadType
        If rdp is no function, or another argument no real number and no array of them.
    BadValue
        If rdp returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> delta, order = rdp_curve_to_delta_classic(lambda order: 0.5 * order, epsilon=4.0)
    >>> print(f"{delta:.9e}", round(order, 3))
    2.187491118e-03 4.5
    """
    curve, listed = checked_curve(rdp), listed_orders(orders)

    @broadcast
    def answer(epsilon: float) -> tuple[float, float]:
        epsilon = arguments.level("epsilon", epsilon)

        def log_delta(order: float) -> float:
            gamma = curve(order)
            if order == math.inf:
                return math.inf if gamma > epsilon else -math.inf
            return (order - 1.0) * (gamma - epsilon)

        value, order = best_over(log_delta, listed)
        if value >= 0.0:
            return 1.0, order
        return (0.0 if order == math.inf else float(rdp_to_delta_classic(order, curve(order), epsilon))), order

    return answer(epsilon)


@broadcast
def sampled_gaussian_rho_asymptotic(rate: float, sigma: float) -> tuple[float, float]:
    """(rho, order): rate^2 / ((1 - rate) sigma^2), and the order up to which the lemma behind it speaks: **no guarantee**.

    Abadi et al. (2016), Lemma 3, as Asoodeh et al. 2020 use it in Figure 3: the Rényi value of one step is about rho * order,
    without an O(rate^3 order^2 / sigma^3) term, for orders up to 1 + sigma^2 log(1 / (rate sigma)).  Beyond, it is far too small
    (erratum A-E10); up to there it is about twice what `Gaussian(sigma).poisson(rate).rdp(order)` gives, which is exact.

    Parameters
    ----------
    rate : float or array_like
        The sampling rate, above 0 and below 1 / (16 sigma).
    sigma : float or array_like
        The noise multiplier, from 1 up.

    Returns
    -------
    tuple of float or of ndarray
        rho and the largest order; neither is rounded.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.
    Unsupported
        If a hypothesis of the lemma does not hold.

    Examples
    --------
    >>> rho, order = sampled_gaussian_rho_asymptotic(rate=0.001, sigma=4)
    >>> print(f"{rho:.9e}", round(order, 2))
    6.256256256e-08 89.34
    """
    rate, sigma = checks.rate("rate", checks.positive("rate", rate)), checks.positive("sigma", sigma)
    if sigma < 1.0 or not 16.0 * rate * sigma < 1.0:
        raise Unsupported(
            f"rate is {rate} and sigma is {sigma}; missing: the hypotheses of the lemma, sigma at least 1 and rate below"
            f" 1 / (16 sigma), here {1.0 / (16.0 * sigma)}."
        )
    return (rate / sigma) ** 2 / (1.0 - rate), 1.0 - sigma * sigma * math.log(rate * sigma)
