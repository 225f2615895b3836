"""Rényi DP to approximate DP, optimally: Asoodeh et al. (2020), Theorem 3, in its three directions.

The theorem is about one ordered pair; where both directions obey the Rényi bound and delta is large, more is true
(erratum A-E1, `rdp_budget_two_sided`).  For order * delta >= 1 it is the closed form gamma = epsilon - log(1 - delta), and so it
is at an infinite order (pure DP of one direction).  Answers are within about 5e-14 of the optimum, relatively, for orders
from 1 + 1e-9 to 1e6 and deltas from 1e-300 to 1 - 1e-9; close to an epsilon of 0 that holds of epsilon's distance in gamma (a
relative change of gamma by 5e-14).  A product (order - 1) * gamma below 1e-280 counts as 1e-280, which is safe but not tight.
`renyi_kernel` has the proof.
"""

import math

from ..numerics.cancellation_free import Array
from ..numerics.rounding import FUNCTION, SMALLEST, UNIT, down, exp_up, up
from ._kernels import arguments
from ._kernels.broadcast import broadcast, vectorised
from ._kernels.renyi import (
    LEAST_CUMULANT,
    delta_bound,
    epsilon_bound,
    exact_product,
    exact_sum,
    gamma_bound,
)


def log_delta_of_renyi(order: float, cumulant: float, epsilon: float) -> float:
    """An upper bound of log delta(epsilon), from cumulant = (order - 1) * gamma; also far below the smallest double.

    >>> round(log_delta_of_renyi(2.0, 0.5, 1.0), 12)
    -2.411258969153
    """
    t = order - 1.0
    epsilon = _ordinary(epsilon)
    if cumulant <= 0.0:
        return -math.inf
    if cumulant == math.inf:
        return 0.0
    product, error = exact_product(t, epsilon)
    high, low = exact_sum(cumulant, -product)
    closed = _closed_log_delta(t, (high + low - error) / t)
    if closed is not None:
        return closed
    factor, high, low = delta_bound(t, max(cumulant, LEAST_CUMULANT), epsilon, high, low - error)
    log_factor = math.log(factor)
    rest = log_factor + low
    value = up(high + rest, FUNCTION * abs(log_factor) + 4.0 * UNIT * (abs(rest) + abs(high)) + 1e-300)
    return min(value, _log_share(t))


def _ordinary(epsilon: float) -> float:
    """epsilon, where products with it do not underflow, else 0, which is on the safe side."""
    return epsilon if epsilon > 1e-250 else 0.0


def _log_share(t: float) -> float:
    """-log(order), the most that log delta can be where the closed form is not it, raised by the error of that decision."""
    return -math.log1p(t) * (1.0 - FUNCTION) + 6.0 * FUNCTION * t * math.log1p(1.0 / t)


def _closed_log_delta(t: float, gap: float) -> float | None:
    """log(1 - e^-gap) rounded up, where that is delta: where it is at least 1 / order.  The gap is gamma - epsilon."""
    if gap <= math.log1p(1.0 / t) * (1.0 + 4.0 * FUNCTION):
        return None
    gap *= 1.0 + 6.0 * UNIT
    if gap > 1.0:
        return math.log1p(-math.exp(-gap)) * (1.0 - 3.0 * FUNCTION - gap * UNIT) if gap < 700.0 else 0.0
    value = math.log(-math.expm1(-gap))
    return up(value, FUNCTION * (1.0 + abs(value)) + 2.0 * UNIT)


@broadcast
def rdp_to_delta(order: float, gamma: float, epsilon: float) -> float:
    """The smallest delta that (order, gamma)-Rényi DP implies at epsilon, rounded up (Asoodeh et al. 2020, Eq. 10 and Theorem 3).

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15, or inf.
    gamma : float or array_like
        The Rényi divergence of that order, from 0 to 1e100.
    epsilon : float or array_like
        From 0 to 1e100.

    Returns
    -------
    float or ndarray
        The smallest delta, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_to_delta(order=2, gamma=0.5, epsilon=1), 12)
    0.089702291036
    """
    order = arguments.order_or_infinity(order)
    gamma = arguments.level("gamma", gamma)
    epsilon = arguments.level("epsilon", epsilon)
    if gamma == 0.0:
        return 0.0
    t, epsilon = order - 1.0, _ordinary(epsilon)
    difference, lost = exact_sum(gamma, -epsilon)
    if order == math.inf:
        return _closed_delta(difference) if difference > 0.0 else 0.0
    closed = _closed_log_delta(t, difference)
    if closed is not None:
        return _closed_delta(difference)
    high, low = exact_product(t, difference)
    factor, high, low = delta_bound(t, max(up(t * gamma), LEAST_CUMULANT), epsilon, high, low + t * lost)
    if high < -700.0:
        log_delta = high + (low + math.log(factor))
        return exp_up(up(log_delta, FUNCTION * abs(math.log(factor)) + 4.0 * UNIT * (abs(high) + abs(low))), 1.0)
    value = factor * math.exp(high) * math.exp(low) * (1.0 + 2.0 * FUNCTION + 3.0 * UNIT)
    return min(max(value, SMALLEST), (1.0 + 6.0 * FUNCTION) / order, 1.0)


def _closed_delta(gap: float) -> float:
    return min(1.0, up(-math.expm1(-gap) * (1.0 + FUNCTION + 2.0 * UNIT)))


def epsilon_of_renyi(order: float, gamma: float, log_delta: float) -> float:
    """An upper bound of epsilon, for a delta given by its logarithm, as low as one likes.

    >>> round(epsilon_of_renyi(2.0, 0.5, math.log(1e-5)), 12)
    9.693940631529
    """
    if log_delta < -660.0:
        return _epsilon(order, gamma, 1.0, log_delta)
    return _epsilon(order, gamma, math.exp(log_delta) * (1.0 - FUNCTION - UNIT), 0.0)


def _epsilon(order: float, gamma: float, delta: float, scale: float) -> float:
    """epsilon for delta * e^scale, where scale is 0 or below -660."""
    if gamma <= 0.0:
        return 0.0
    if gamma == math.inf:
        return math.inf
    t = order - 1.0
    if order == math.inf and scale < 0.0:
        return gamma
    if scale == 0.0 and order * delta >= 1.0 + 2.0 * UNIT:
        complement = math.log1p(-delta)
        return max(0.0, up(gamma + complement, FUNCTION * abs(complement) + 2.0 * UNIT * (gamma - complement)))
    cumulant = max(up(t * gamma), LEAST_CUMULANT)
    return epsilon_bound(t, max(gamma, LEAST_CUMULANT / t), cumulant, delta, scale)


def _epsilons(order: Array, gamma: Array, delta: Array) -> Array | None:
    from ._kernels.renyi_arrays import epsilons

    return epsilons(order, gamma, delta, rdp_to_epsilon)


@vectorised(_epsilons)
def rdp_to_epsilon(order: float, gamma: float, delta: float) -> float:
    """The smallest epsilon that (order, gamma)-Rényi DP implies at delta, rounded up (Asoodeh et al. 2020, Eq. 13 and Theorem 3).

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15, or inf.
    gamma : float or array_like
        The Rényi divergence of that order, from 0 to 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    float or ndarray
        The smallest epsilon, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_to_epsilon(order=2, gamma=0.5, delta=1e-5), 12)
    9.693940631529
    """
    order, gamma, delta = arguments.order_or_infinity(order), arguments.level("gamma", gamma), arguments.delta(delta)
    if delta < 1e-290:
        return _epsilon(order, gamma, 1.0, math.log(delta) * (1.0 + FUNCTION))
    return _epsilon(order, gamma, delta, 0.0)


@broadcast
def rdp_budget(order: float, epsilon: float, delta: float) -> float:
    """The largest gamma for which (order, gamma)-Rényi DP implies (epsilon, delta)-DP, rounded down.

    Asoodeh et al. 2020, Theorem 3.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15, or inf.
    epsilon : float or array_like
        From 0 to 1e100.
    delta : float or array_like
        A probability from 0 to below 1; at 0 the answer is 0, and epsilon where the order is inf.

    Returns
    -------
    float or ndarray
        The largest gamma, rounded down.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_budget(order=2, epsilon=1, delta=0.01), 12)
    0.066846424446
    """
    order, epsilon = arguments.order_or_infinity(order), arguments.level("epsilon", epsilon)
    delta = arguments.delta_or_zero(delta)
    if delta == 0.0:  # at a finite order every gamma above 0 allows losses beyond epsilon
        return epsilon if order == math.inf else 0.0
    if order * delta >= 1.0 + 2.0 * UNIT:
        complement = -math.log1p(-delta)
        return down(epsilon + complement, FUNCTION * complement + UNIT * (epsilon + complement))
    return gamma_bound(order - 1.0, _ordinary(epsilon), delta)


@broadcast
def rdp_zero_epsilon(order: float, gamma: float) -> tuple[float, float]:
    """The deltas, from the first number to the second, for which (order, gamma)-Rényi DP gives (0, delta)-DP.

    Asoodeh et al. 2020, Remark 1.
    That is zeta * e^((order - 1) gamma) if 1 - e^-gamma < 1 / order, else 1 - e^-gamma, up to 1, the first rounded up; there are
    none if both are 1.  It is the closed form of the paper; `rdp_to_delta(order, gamma, 0)` is the smallest delta.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15, or inf.
    gamma : float or array_like
        The Rényi divergence of that order, from 0 to 1e100.

    Returns
    -------
    tuple of float or of ndarray
        The first and the last of the deltas, the first rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> low, high = rdp_zero_epsilon(order=5, gamma=0.05)
    >>> round(low, 12), high
    (0.100057313948, 1.0)
    """
    order, gamma = arguments.order_or_infinity(order), arguments.level("gamma", gamma)
    t = order - 1.0
    share = math.log1p(1.0 / t)
    closed = 0.0 if gamma == 0.0 else _closed_delta(gamma)
    if order == math.inf:
        return closed, 1.0
    if gamma >= share * (1.0 - 2.0 * FUNCTION):
        return min(1.0, max(closed, up(1.0 / order))), 1.0
    exponent = t * (gamma - share)
    error = 2.0 * FUNCTION * t * share + 2.0 * UNIT * abs(exponent)
    return min(up(math.exp(exponent + error) / order * (1.0 + FUNCTION + 2.0 * UNIT)), up(1.0 / order)), 1.0
