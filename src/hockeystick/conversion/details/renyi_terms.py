"""What stands inside the conversions of Asoodeh et al. (2020): zeta, f and g of Theorem 4, the pair of Theorem 3, Lemma 2."""

import math

from ...errors import Unsupported
from ...numerics.rounding import FUNCTION, UNIT, exp_up
from .._kernels import arguments
from .._kernels.broadcast import broadcast
from .._kernels.renyi import budget_pair
from .._kernels.zcdp_orders import LEAST_RHO
from ..rdp_bounds import budget_f, budget_g
from ..zcdp_bounds import closed_terms


@broadcast
def rdp_zeta(order: float) -> float:
    """zeta = (1 - 1/order)^(order - 1) / order, rounded up (Asoodeh et al. 2020, Theorem 4; Steinke 2022, Lemma 33.8).

    The factor by which `rdp_to_delta_improved` is below `rdp_to_delta_classic`.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15.

    Returns
    -------
    float or ndarray
        Zeta, from 0 to 1, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_zeta(2), 12), round(rdp_zeta(1.5), 12)
    (0.25, 0.38490017946)
    """
    t = arguments.order(order) - 1.0
    value = math.log1p(t) + t * math.log1p(1.0 / t)
    return exp_up((FUNCTION + 2.0 * UNIT) * value - value, 1.0)


@broadcast
def rdp_budget_terms(order: float, epsilon: float, delta: float) -> tuple[float, float]:
    """(f, g): the two lower bounds of `rdp_budget`, each rounded down (Asoodeh et al. 2020, Theorem 4, Eq. 18).

    `rdp_budget_closed` is the larger of them, or 0.  Where order * delta >= 1 they are none: there Eq. 17 is exact.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15.
    epsilon : float or array_like
        From 0 to 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    tuple of float or of ndarray
        f, which is never negative, and g, each rounded down.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.
    Unsupported
        If order * delta is 1 or more.

    Examples
    --------
    >>> f, g = rdp_budget_terms(order=2, epsilon=1, delta=0.1)
    >>> round(f, 12), round(g, 12)
    (0.301936110741, 0.083709268126)
    """
    order, epsilon, delta = arguments.order(order), arguments.level("epsilon", epsilon), arguments.delta(delta)
    if order * delta >= 1.0:
        raise Unsupported(
            f"order * delta is {order * delta}; missing: the hypothesis of Eq. 18, order * delta < 1 (else `rdp_budget_closed`"
            " is exact)."
        )
    return budget_f(order - 1.0, epsilon, delta), budget_g(order - 1.0, epsilon, delta)


@broadcast
def rdp_budget_pair(order: float, epsilon: float, delta: float) -> tuple[float, float]:
    """(p, q) of the two Bernoulli laws that attain `rdp_budget`: p is the minimiser of Asoodeh et al. 2020, Theorem 3.

    Their hockey stick p - e^epsilon q is delta and their Rényi divergence the budget.  For order * delta >= 1 there is no
    minimum: p tends to 1 (erratum A-E11), and the limits are returned.  A place, not a bound: about ten digits, not rounded.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15, or inf.
    epsilon : float or array_like
        From 0 to 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    tuple of float or of ndarray
        p, from delta to 1, and q = (p - delta) / e^epsilon.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> p, q = rdp_budget_pair(order=2, epsilon=1, delta=0.01)
    >>> round(p, 9), round(q, 9)
    (0.025637751, 0.005752807)
    """
    order, epsilon, delta = arguments.order_or_infinity(order), arguments.level("epsilon", epsilon), arguments.delta(delta)
    if order * delta >= 1.0:
        return 1.0, (1.0 - delta) * math.exp(-epsilon)
    v, lifted = budget_pair(order - 1.0, epsilon, delta)
    p = math.expm1(-v) / math.expm1(-lifted.s)
    return p, p * math.exp(-(epsilon + lifted.w))


@broadcast
def zcdp_closed_branch(rho: float, delta: float) -> tuple[float, float, float]:
    """(epsilon, order, branch) of `zcdp_to_epsilon_closed`: which of the three bounds is the smallest, and at which order.

    Branch 0 is epsilon_0, 1 is epsilon_1, 2 the last, whose order is 1 / delta (Asoodeh et al. 2020, Lemma 2).

    Parameters
    ----------
    rho : float or array_like
        The parameter of zCDP, from 0 to 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    tuple of float or of ndarray
        Epsilon, rounded up, the order that attains it, and the branch.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> epsilon, order, branch = zcdp_closed_branch(rho=0.5, delta=1e-5)
    >>> round(epsilon, 9), round(order, 3), branch
    (4.728386985, 5.432, 0.0)
    """
    rho, delta = arguments.level("rho", rho), arguments.delta(delta)
    epsilon, order, branch = min(closed_terms(max(rho, LEAST_RHO), delta))
    return epsilon if rho else 0.0, order, float(branch)
