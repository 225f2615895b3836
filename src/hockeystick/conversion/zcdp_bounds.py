"""Zero-concentrated DP to approximate DP and back by closed forms, looser than `zcdp`, the optimum over orders.

`_closed`: Asoodeh et al. (2020), Lemma 2; `_improved`: Steinke (2022), Proposition 14; `_classic`: Asoodeh et al. (2020), Eq. 23,
and Steinke (2022), Remark 15.
"""

import math
from fractions import Fraction

from ..numerics.rounding import FUNCTION, UNIT, down, up
from ._kernels import arguments
from ._kernels.broadcast import broadcast
from ._kernels.exponentials import exp_of_fraction
from ._kernels.zcdp_orders import LEAST, LEAST_RHO, MOST, budget_place, delta_place, epsilon_place, gamma_up
from .curve import best_order
from .rdp_bounds import log_odds, tangent_epsilon


@broadcast
def zcdp_to_epsilon_classic(rho: float, delta: float) -> float:
    """epsilon = rho + 2 sqrt(rho log(1/delta)), rounded up (Asoodeh et al. 2020, Eq. 23; Steinke 2022, Remark 15).

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
    >>> round(zcdp_to_epsilon_classic(rho=0.5, delta=1e-5), 12)
    5.298525912188
    """
    rho, delta = arguments.level("rho", rho), arguments.delta(delta)
    value = rho + 2.0 * math.sqrt(rho * -math.log(delta))
    return up(value, (FUNCTION + 4.0 * UNIT) * value) if rho else 0.0


@broadcast
def zcdp_to_delta_classic(rho: float, epsilon: float) -> float:
    """delta = e^(-(epsilon - rho)^2 / (4 rho)), 1 for epsilon <= rho, rounded up.

    Steinke 2022, Remark 15; Asoodeh et al. 2020, Eq. 21.

    Parameters
    ----------
    rho : float or array_like
        The parameter of zCDP, from 0 to 1e100.
    epsilon : float or array_like
        From 0 to 1e100.

    Returns
    -------
    float or ndarray
        An upper bound of delta, rounded up; at most 1.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(zcdp_to_delta_classic(rho=0.5, epsilon=1), 12)
    0.882496902585
    """
    rho, epsilon = arguments.level("rho", rho), arguments.level("epsilon", epsilon)
    if rho == 0.0:
        return 0.0
    if epsilon <= rho:
        return 1.0
    return exp_of_fraction(-((Fraction(epsilon) - Fraction(rho)) ** 2) / (4 * Fraction(rho)), 0.0, 0.0)


@broadcast
def zcdp_budget_classic(epsilon: float, delta: float) -> float:
    """rho = (sqrt(log(1/delta) + epsilon) - sqrt(log(1/delta)))^2, rounded down.

    Steinke 2022, Remark 15; Asoodeh et al. 2020, before Eq. 28.

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
    >>> round(zcdp_budget_classic(epsilon=8, delta=1e-5), 12)
    1.049136201223
    """
    epsilon, delta = arguments.level("epsilon", epsilon), arguments.delta(delta)
    log_inverse = -math.log(delta)
    root = epsilon / (math.sqrt(log_inverse + epsilon) + math.sqrt(log_inverse))
    return max(0.0, down(root * root * (1.0 - FUNCTION - 12.0 * UNIT)))


@broadcast
def zcdp_to_epsilon_improved(rho: float, delta: float) -> float:
    """The smallest epsilon of Steinke 2022, Proposition 14, over t > 0, at least 0, rounded up.

    It is the least of rho (t + 1) + (log(1/delta) - log(1 + t)) / t - log(1 + 1/t).

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
    >>> round(zcdp_to_epsilon_improved(rho=0.5, delta=1e-5), 12)
    4.728386984943
    """
    rho, delta = arguments.level("rho", rho), arguments.delta(delta)
    if rho == 0.0:
        return 0.0
    t = epsilon_place(max(rho, LEAST_RHO), -math.log(delta))
    more, error = log_odds(t, delta)
    linear, lifted, left = rho * (1.0 + t), math.log1p(1.0 / t), -more / t
    error = error / t * (1.0 + 4.0 * UNIT) + 4.0 * UNIT * (linear + abs(left)) + (FUNCTION + 3.0 * UNIT) * lifted
    return max(0.0, up(linear + left - lifted, error))


@broadcast
def zcdp_to_delta_improved(rho: float, epsilon: float) -> float:
    """The smallest delta of Steinke 2022, Proposition 14, over t > 0, at most 1, rounded up.

    It is the least of e^(rho t (t + 1) - epsilon t) (1 - 1/(t + 1))^t / (t + 1).

    Parameters
    ----------
    rho : float or array_like
        The parameter of zCDP, from 0 to 1e100.
    epsilon : float or array_like
        From 0 to 1e100.

    Returns
    -------
    float or ndarray
        An upper bound of delta, rounded up; at most 1.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(zcdp_to_delta_improved(rho=0.5, epsilon=1), 12)
    0.246846330783
    """
    rho, epsilon = arguments.level("rho", rho), arguments.level("epsilon", epsilon)
    if rho == 0.0:
        return 0.0
    t = delta_place(max(rho, LEAST_RHO), epsilon)
    exact = Fraction(t) * (Fraction(rho) * (Fraction(t) + 1) - Fraction(epsilon))
    less = t * math.log1p(1.0 / t) + math.log1p(t)
    return exp_of_fraction(exact, -less, (FUNCTION + 4.0 * UNIT) * less)


@broadcast
def zcdp_budget_improved(epsilon: float, delta: float) -> float:
    """The largest rho for which `zcdp_to_epsilon_improved` is at most epsilon, rounded down.

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
    >>> round(zcdp_budget_improved(epsilon=4, delta=1e-5), 12)
    0.373143982769
    """
    epsilon, delta = arguments.level("epsilon", epsilon), arguments.delta(delta)
    return improved_budget(budget_place(epsilon, -math.log(delta)), epsilon, delta)


def improved_budget(t: float, epsilon: float, delta: float) -> float:
    """The rho at which Steinke 2022, Lemma 33.8, gives epsilon at the order 1 + t, at least 0, rounded down.

    >>> round(improved_budget(4.0, 1.0, 0.1), 12)
    0.209971351235
    """
    more, error = log_odds(t, delta)
    lifted, left = math.log1p(1.0 / t), -more / t
    error = error / t * (1.0 + 4.0 * UNIT) + 4.0 * UNIT * (epsilon + abs(left)) + (FUNCTION + 3.0 * UNIT) * lifted
    return max(0.0, down((epsilon - left + lifted - error) / (1.0 + t) * (1.0 - 2.0 * UNIT)))


@broadcast
def zcdp_to_epsilon_closed(rho: float, delta: float) -> float:
    """The smallest of the three epsilons of Asoodeh et al. 2020, Lemma 2, for rho T = `rho`, rounded up.

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
    >>> round(zcdp_to_epsilon_closed(rho=0.5, delta=1e-5), 12)
    4.728386984943
    """
    rho, delta = arguments.level("rho", rho), arguments.delta(delta)
    return min(closed_terms(rho, delta))[0] if rho else 0.0


def closed_terms(rho: float, delta: float) -> tuple[tuple[float, float, int], ...]:
    """The three epsilons of Asoodeh et al. 2020, Lemma 2, for rho > 0, rounded up, each with its order and its place.

    >>> [round(epsilon, 6) for epsilon, _, _ in closed_terms(0.5, 0.1)]
    [1.655979, 2.073925, 4.894639]
    """
    place = epsilon_place(max(rho, LEAST_RHO), -math.log(delta))
    complement = math.log1p(-delta)
    last = rho / delta + complement
    last = max(0.0, up(last, FUNCTION * abs(complement) + 2.0 * UNIT * (rho / delta + abs(complement))))
    most = min((1.0 / delta - 1.0) * (1.0 - 4.0 * UNIT), MOST)
    tangent, t = math.inf, most
    if most > LEAST:
        tangent, t = best_order(lambda t: tangent_epsilon(t, gamma_up(rho, t), delta), place, LEAST, most)
    return (float(zcdp_to_epsilon_improved(rho, delta)), 1.0 + place, 0), (tangent, 1.0 + t, 1), (last, 1.0 / delta, 2)


@broadcast
def zcdp_budget_closed(epsilon: float, delta: float) -> float:
    """The largest rho for which `zcdp_to_epsilon_closed` is at most epsilon, rounded down.

    Asoodeh et al. 2020, Lemma 2, Question Two.

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
    >>> round(zcdp_budget_closed(epsilon=4, delta=1e-5), 12)
    0.373143982769
    """
    epsilon, delta = arguments.level("epsilon", epsilon), arguments.delta(delta)
    last = delta * (epsilon - math.log1p(-delta)) * (1.0 - FUNCTION - 4.0 * UNIT)
    most = min((1.0 / delta - 1.0) * (1.0 - 4.0 * UNIT), MOST)
    tangent = 0.0
    if most > LEAST:
        start = budget_place(epsilon, -math.log(delta))
        tangent, _ = best_order(lambda t: -_tangent_budget(t, epsilon, delta), start, LEAST, most)
    return max(float(zcdp_budget_improved(epsilon, delta)), -tangent, down(last), 0.0)


def _tangent_budget(t: float, epsilon: float, delta: float) -> float:
    """The rho at which the second term of Lemma 1 is epsilon: log(1 + order delta (e^(t epsilon) - 1)) / (order t), down."""
    order = 1.0 + t
    y = t * epsilon * (1.0 - 2.0 * UNIT)
    odds = order * delta * (1.0 - 4.0 * UNIT)
    value = (
        math.log1p(odds * math.expm1(y) * (1.0 - FUNCTION))
        if y < 300.0
        else y + math.log(odds) - FUNCTION * (1.0 + abs(math.log(odds)))
    )
    return max(0.0, down(value * (1.0 - FUNCTION - 4.0 * UNIT) / (order * t)))
