"""Zero-concentrated DP, gamma(order) = rho * order, to approximate DP and back: Asoodeh et al. (2020), Theorem 3 at
the best real order (Eq. 24, Question Two).

For a Gaussian of sensitivity Delta, rho is Delta^2 / (2 sigma^2) (errata A-E3, A-E4, S-E4).  Closed forms are in `zcdp_bounds`.
"""

import math

from ..numerics.rounding import FUNCTION, UNIT, down, up
from ._kernels import arguments
from ._kernels.broadcast import broadcast
from ._kernels.zcdp_orders import LEAST, LEAST_RHO, MOST, budget_place, delta_place, epsilon_place, gamma_up
from .curve import best_order
from .optimal_rdp import epsilon_of_renyi, log_delta_of_renyi, rdp_budget, rdp_to_delta, rdp_to_epsilon
from .zcdp_bounds import zcdp_budget_closed, zcdp_to_delta_improved, zcdp_to_epsilon_closed


@broadcast
def zcdp_to_epsilon(rho: float, delta: float) -> float:
    """The smallest epsilon that the optimal conversion gives for rho-zCDP at delta, over all real orders, rounded up.

    Asoodeh et al. 2020, Eq. 24.

    Parameters
    ----------
    rho : float or array_like
        The parameter of zCDP, from 0 to 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    float or ndarray
        An upper bound of epsilon, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(zcdp_to_epsilon(rho=0.5, delta=1e-5), 11)
    4.72838564864
    """
    rho, delta = arguments.level("rho", rho), arguments.delta(delta)
    if rho == 0.0:
        return 0.0
    rho = max(rho, LEAST_RHO)
    log_delta = math.log(delta)
    start = epsilon_place(rho, -log_delta)
    _, t = best_order(lambda t: epsilon_of_renyi(1.0 + t, gamma_up(rho, t), log_delta), start, LEAST, MOST)
    # the closed form is the smaller one only where the best order is beyond what is searched
    return min(float(rdp_to_epsilon(1.0 + t, gamma_up(rho, t), delta)), float(zcdp_to_epsilon_closed(rho, delta)))


@broadcast
def zcdp_to_delta(rho: float, epsilon: float) -> float:
    """The smallest delta that the optimal conversion gives for rho-zCDP at epsilon, over all real orders, rounded up.

    Parameters
    ----------
    rho : float or array_like
        The parameter of zCDP, from 0 to 1e100.
    epsilon : float or array_like
        From 0 to 1e100.

    Returns
    -------
    float or ndarray
        An upper bound of delta, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> print(f"{zcdp_to_delta(rho=0.5, epsilon=4):.9e}")
    1.957674751e-04
    """
    rho, epsilon = arguments.level("rho", rho), arguments.level("epsilon", epsilon)
    if rho == 0.0:
        return 0.0
    rho = max(rho, LEAST_RHO)
    start = delta_place(rho, epsilon)

    def log_delta(t: float) -> float:
        order = 1.0 + t
        return log_delta_of_renyi(order, (order - 1.0) * gamma_up(rho, t), epsilon)

    _, t = best_order(log_delta, start, LEAST, MOST)
    return min(float(rdp_to_delta(1.0 + t, gamma_up(rho, t), epsilon)), float(zcdp_to_delta_improved(rho, epsilon)))


@broadcast
def zcdp_budget(epsilon: float, delta: float) -> float:
    """The largest rho for which the optimal conversion gives (epsilon, delta)-DP at some order, rounded down.

    Asoodeh et al. 2020, Question Two.

    Parameters
    ----------
    epsilon : float or array_like
        From 0 to 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    float or ndarray
        A rho that suffices, rounded down.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(zcdp_budget(epsilon=4, delta=1e-5), 12)
    0.373144275114
    """
    epsilon, delta = arguments.level("epsilon", epsilon), arguments.delta(delta)
    start = budget_place(epsilon, -math.log(delta))
    value, _ = best_order(lambda t: -float(rdp_budget(1.0 + t, epsilon, delta)) / (1.0 + t), start, LEAST, MOST)
    return max(0.0, down(-value * (1.0 - 2.0 * UNIT)), float(zcdp_budget_closed(epsilon, delta)))


@broadcast
def pure_to_zcdp(epsilon: float) -> float:
    """rho = epsilon^2 / 2 for epsilon-DP, rounded up (Steinke 2022, Proposition 16).

    Parameters
    ----------
    epsilon : float or array_like
        From 0 to 1e100.

    Returns
    -------
    float or ndarray
        The rho that follows, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> pure_to_zcdp(epsilon=1) - 0.5 < 1e-15
    True
    """
    epsilon = arguments.level("epsilon", epsilon)
    return up(0.5 * epsilon * epsilon) if epsilon else 0.0


@broadcast
def pure_to_zcdp_tight(epsilon: float) -> float:
    """rho = epsilon tanh(epsilon / 2) for epsilon-DP, rounded up; attained by randomised response at order 1.

    Parameters
    ----------
    epsilon : float or array_like
        From 0 to 1e100.

    Returns
    -------
    float or ndarray
        The smallest rho that follows, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(pure_to_zcdp_tight(epsilon=1), 12)
    0.46211715726
    """
    epsilon = arguments.level("epsilon", epsilon)
    share = math.expm1(-epsilon)
    return (
        min(up(epsilon * -share / (2.0 + share) * (1.0 + 2.0 * FUNCTION + 4.0 * UNIT)), up(0.5 * epsilon * epsilon))
        if epsilon
        else 0.0
    )
