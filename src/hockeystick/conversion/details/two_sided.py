"""Rényi DP to approximate DP where the bound is known to hold in both directions: tighter for large delta.

Theorem 3 of Asoodeh et al. (2020) is about one ordered pair (erratum A-E1).  The two inverses are found by bisection: whatever
they return, `rdp_budget_two_sided` was at least gamma there, or the conversion of one direction says it.
"""

import math
from collections.abc import Callable

from ...numerics.rounding import FUNCTION, UNIT, down
from .._kernels import arguments
from .._kernels.broadcast import broadcast
from .._kernels.renyi import LIFT, lift, remainder
from ..optimal_rdp import rdp_budget, rdp_to_delta, rdp_to_epsilon


@broadcast
def rdp_budget_two_sided(order: float, epsilon: float, delta: float) -> float:
    """`rdp_budget` for mechanisms whose Rényi bound holds in both directions, rounded down; larger only for large delta.

    By data processing two-point pairs suffice.  Theorem 3 is attained by a pair (p, q); if p + q > 1, always so for
    order * delta >= 1, its reverse exceeds gamma, and the best pair is randomised response, p = 1 - q
    (Asoodeh et al. 2020, erratum A-E1).

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
    float or ndarray
        The largest gamma, rounded down; nowhere below `rdp_budget`.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_budget_two_sided(order=2, epsilon=0.1, delta=0.6), 5), round(rdp_budget(order=2, epsilon=0.1, delta=0.6), 5)
    (1.25205, 1.01629)
    """
    order, epsilon, delta = arguments.order_or_infinity(order), arguments.level("epsilon", epsilon), arguments.delta(delta)
    one_sided = float(rdp_budget(order, epsilon, delta))
    t = order - 1.0
    small = math.exp(-min(epsilon, 745.0))
    beyond = math.log1p(delta * (1.0 + small) / (1.0 - delta)) * (1.0 - 3.0 * FUNCTION)  # log(p / q) - epsilon
    r = (epsilon + beyond) * (1.0 - 2.0 * UNIT)
    if order == math.inf:  # the larger ratio of randomised response, p / q
        return max(one_sided, down(r))
    # p + q > 1 says that at p + q = 1 the derivative of (16) in p is still negative
    if lift(t, 2.0 * r)[0] * (1.0 + LIFT + 8.0 * UNIT) >= beyond:
        return one_sided
    q = (1.0 - delta) * small / (1.0 + small) * (1.0 - 2.0 * FUNCTION)
    p = (1.0 + delta * small) / (1.0 + small) * (1.0 - 2.0 * FUNCTION)
    y = t * r * (1.0 - 2.0 * UNIT)
    if y > 1.0:
        mean = p + q * math.exp(-2.0 * y) * (1.0 - 2.0 * FUNCTION)
        value = r - (-math.log(mean) * (1.0 + FUNCTION) + 4.0 * UNIT) / t
    else:
        far = p - q * (1.0 + r) if r > 30.0 else q * remainder(r)
        excess = p * (t * remainder(-r) + remainder(y)) + t * far + q * remainder(-y)
        value = math.log1p(excess * (1.0 - 60.0 * UNIT)) * (1.0 - FUNCTION - 2.0 * UNIT) / t
    return max(one_sided, down(value, 2.0 * UNIT * value))


@broadcast
def rdp_to_epsilon_two_sided(order: float, gamma: float, delta: float) -> float:
    """`rdp_to_epsilon` for mechanisms whose Rényi bound holds in both directions, rounded up; smaller only for large delta.

    The inverse of `rdp_budget_two_sided` in epsilon (Asoodeh et al. 2020, Theorem 3, erratum A-E1).

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
        The smallest epsilon, rounded up; nowhere above `rdp_to_epsilon`.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_to_epsilon_two_sided(order=2, gamma=1.2, delta=0.6), 6), round(rdp_to_epsilon(order=2, gamma=1.2, delta=0.6), 6)
    (0.029442, 0.283709)
    """
    one_sided = float(rdp_to_epsilon(order, gamma, delta))

    def enough(epsilon: float) -> bool:
        return float(rdp_budget_two_sided(order, epsilon, delta)) >= gamma

    if one_sided == 0.0 or rdp_budget_two_sided(order, one_sided, delta) == rdp_budget(order, one_sided, delta):
        return one_sided  # the best pair obeys the bound in both directions
    return 0.0 if enough(0.0) else _least(enough, one_sided)


@broadcast
def rdp_to_delta_two_sided(order: float, gamma: float, epsilon: float) -> float:
    """`rdp_to_delta` for mechanisms whose Rényi bound holds in both directions, rounded up; smaller only where it is large.

    The inverse of `rdp_budget_two_sided` in delta (Asoodeh et al. 2020, Theorem 3, erratum A-E1).

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
        The smallest delta, rounded up; nowhere above `rdp_to_delta`.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_to_delta_two_sided(order=2, gamma=1.2, epsilon=0.1), 6), round(rdp_to_delta(order=2, gamma=1.2, epsilon=0.1), 6)
    (0.585163, 0.667129)
    """
    one_sided = float(rdp_to_delta(order, gamma, epsilon))

    def enough(delta: float) -> bool:
        return float(rdp_budget_two_sided(order, epsilon, delta)) >= gamma

    below = min(one_sided, math.nextafter(1.0, 0.0))
    if below <= 0.0 or rdp_budget_two_sided(order, epsilon, below) == rdp_budget(order, epsilon, below):
        return one_sided  # the best pair obeys the bound in both directions
    return _least(enough, one_sided) if one_sided < 1.0 or enough(below) else one_sided


def _least(enough: Callable[[float], bool], high: float) -> float:
    """The smallest number found at which a budget that rises is enough; `high` is known to be."""
    low = 0.0
    while high - low > 2.0 * UNIT * high and low < (middle := 0.5 * (low + high)) < high:
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high
