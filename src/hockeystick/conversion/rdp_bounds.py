"""Rényi DP to approximate DP by closed forms: Asoodeh et al. (2020) and what came before.

`_closed` is Asoodeh et al. 2020, Theorem 4 and Lemma 1; `_improved` is Balle et al. and Canonne et al. (Steinke 2022, Lemma
33.8 and Proposition 14); `_classic` is Mironov's conversion (Asoodeh et al. 2020, Theorem 1).  The optimum itself is
`optimal_rdp`.
"""

import math

from ..numerics.rounding import FUNCTION, UNIT, down, up
from ._kernels import arguments
from ._kernels.broadcast import broadcast
from ._kernels.exponentials import exp_of_sum
from ._kernels.renyi import FAR, exact_product, exact_sum, remainder


def _exponent(t: float, gamma: float, epsilon: float) -> tuple[float, float]:
    """t (gamma - epsilon), as a double and its rounding error."""
    difference, lost = exact_sum(gamma, -epsilon)
    high, low = exact_product(t, difference)
    return high, low + t * lost


@broadcast
def rdp_to_delta_classic(order: float, gamma: float, epsilon: float) -> float:
    """delta = e^(-(order - 1)(epsilon - gamma)), at most 1, rounded up (Mironov; Asoodeh et al. 2020, Theorem 1).

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
        An upper bound of delta, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_to_delta_classic(order=2, gamma=0.5, epsilon=3), 12)
    0.082084998624
    """
    order = arguments.order_or_infinity(order)
    gamma, epsilon = arguments.level("gamma", gamma), arguments.level("epsilon", epsilon)
    if order == math.inf:
        return 0.0 if epsilon >= gamma else 1.0
    high, low = _exponent(order - 1.0, gamma, epsilon)
    return exp_of_sum(high, low, 2.0 * UNIT * abs(low))


@broadcast
def rdp_to_delta_improved(order: float, gamma: float, epsilon: float) -> float:
    """delta = zeta * e^(-(order - 1)(epsilon - gamma)), at most 1, rounded up.

    Steinke 2022, Lemma 33.8; Canonne, Kamath, Steinke.
    zeta = (1 - 1/order)^(order - 1) / order.

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
        An upper bound of delta, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_to_delta_improved(order=2, gamma=0.5, epsilon=3), 12)
    0.020521249656
    """
    order = arguments.order_or_infinity(order)
    gamma, epsilon = arguments.level("gamma", gamma), arguments.level("epsilon", epsilon)
    if order == math.inf:
        return 0.0 if epsilon >= gamma else 1.0
    t = order - 1.0
    high, low = _exponent(t, gamma, epsilon)
    less, log_order = t * math.log1p(1.0 / t), math.log1p(t)
    error = (FUNCTION + 4.0 * UNIT) * (less + log_order) + 2.0 * UNIT * abs(low)
    return exp_of_sum(high, low - less - log_order, error)


@broadcast
def rdp_to_epsilon_classic(order: float, gamma: float, delta: float) -> float:
    """epsilon = gamma + log(1/delta) / (order - 1), rounded up (Mironov; Asoodeh et al. 2020, Theorem 1 and Eq. 22).

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
        An upper bound of epsilon, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_to_epsilon_classic(order=2, gamma=0.5, delta=1e-5), 12)
    12.01292546497
    """
    order, gamma, delta = arguments.order_or_infinity(order), arguments.level("gamma", gamma), arguments.delta(delta)
    if order == math.inf:
        return gamma
    value = gamma - math.log(delta) * (1.0 + FUNCTION + UNIT) / (order - 1.0)
    return up(value, 2.0 * UNIT * value)


@broadcast
def rdp_to_epsilon_improved(order: float, gamma: float, delta: float) -> float:
    """epsilon = gamma - log(delta / zeta) / (order - 1), at least 0, rounded up.

    Steinke 2022, Lemma 33.8; first term of Asoodeh et al. 2020, Lemma 1.

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
        An upper bound of epsilon, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_to_epsilon_improved(order=2, gamma=0.5, delta=1e-5), 12)
    10.62663110385
    """
    order, gamma, delta = arguments.order_or_infinity(order), arguments.level("gamma", gamma), arguments.delta(delta)
    return gamma if order == math.inf else _improved_epsilon(order - 1.0, gamma, delta)


def _improved_epsilon(t: float, gamma: float, delta: float) -> float:
    more, error = log_odds(t, delta)
    less = math.log1p(1.0 / t)
    value = gamma - more / t - less
    return max(0.0, up(value, (error + UNIT * abs(more)) / t + FUNCTION * less + 2.0 * UNIT * (gamma + abs(more) / t + less)))


def log_odds(t: float, delta: float) -> tuple[float, float]:
    """log(order * delta) and a bound of its error, which is small beside t where order and delta are close to 1.

    >>> log_odds(1.0, 0.25)[0] == -math.log(2.0)
    True
    """
    if delta > 0.5 and t < 1.0:
        excess = t * delta - (1.0 - delta)
        value = math.log1p(excess)
        return value, FUNCTION * abs(value) + 4.0 * UNIT * (t * delta + abs(excess))
    value = math.log((1.0 + t) * delta)
    return value, FUNCTION * abs(value) + 3.0 * UNIT


@broadcast
def rdp_to_epsilon_closed(order: float, gamma: float, delta: float) -> float:
    """The closed-form epsilon, rounded up: exact for order * delta >= 1, else the smaller of two bounds.

    Asoodeh et al. 2020, Lemma 1.

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
        An upper bound of epsilon, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_to_epsilon_closed(order=2, gamma=0.5, delta=1e-5), 12)
    10.38705698425
    """
    order, gamma, delta = arguments.order_or_infinity(order), arguments.level("gamma", gamma), arguments.delta(delta)
    if gamma == 0.0:
        return 0.0
    t = order - 1.0
    if order * delta >= 1.0 + 2.0 * UNIT:
        complement = math.log1p(-delta)
        return max(0.0, up(gamma + complement, FUNCTION * abs(complement) + 2.0 * UNIT * (gamma - complement)))
    return min(_improved_epsilon(t, gamma, delta), tangent_epsilon(t, gamma, delta))


def tangent_epsilon(t: float, gamma: float, delta: float) -> float:
    """log(1 + (e^(t gamma) - 1) / (order * delta)) / t, rounded up: the second term of Asoodeh et al. 2020, Lemma 1.

    >>> round(tangent_epsilon(1.0, 0.5, 1e-5), 12)
    10.38705698425
    """
    cumulant = up(t * gamma)
    more, error = log_odds(t, delta)
    if cumulant > FAR and more <= 0.0:
        value = gamma + (1e-17 - more) / t
        return max(0.0, up(value, (error + 2.0 * UNIT * abs(more)) / t + 2.0 * UNIT * (gamma + abs(more) / t)))
    if cumulant > FAR:
        return math.inf  # of no use
    if more < -600.0:
        log_top = math.log(math.expm1(cumulant))
        rest = log_top - more
        if rest > FAR:
            return up((rest + error + FUNCTION * (2.0 + abs(log_top)) + 4.0 * UNIT * abs(rest)) / t * (1.0 + 2.0 * UNIT))
    rest = math.expm1(cumulant) * (1.0 + FUNCTION) / ((1.0 + t) * delta) * (1.0 + 4.0 * UNIT)
    return up(math.log1p(rest) * (1.0 + FUNCTION + 2.0 * UNIT) / t)


@broadcast
def rdp_budget_closed(order: float, epsilon: float, delta: float) -> float:
    """The closed-form lower bound of `rdp_budget`, rounded down: the larger of f and g, at least 0.

    Asoodeh et al. 2020, Theorem 4.  The two apart are `rdp_budget_terms`.

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
        A gamma that suffices, rounded down.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(rdp_budget_closed(order=2, epsilon=1, delta=0.01), 12)
    0.033872082992
    """
    order, epsilon, delta = arguments.order_or_infinity(order), arguments.level("epsilon", epsilon), arguments.delta(delta)
    t = order - 1.0
    if order * delta >= 1.0 + 2.0 * UNIT:
        complement = -math.log1p(-delta)
        return down(epsilon + complement, FUNCTION * complement + UNIT * (epsilon + complement))
    return max(0.0, budget_g(t, epsilon, delta), budget_f(t, epsilon, delta))


def budget_g(t: float, epsilon: float, delta: float) -> float:
    """g of Asoodeh et al. 2020, Theorem 4, rounded down.

    >>> round(budget_g(1.0, 1.0, 0.1), 12)
    0.083709268126
    """
    more, error = log_odds(t, delta)
    lifted = math.log1p(1.0 / t)
    g = epsilon + (more / t + lifted)
    return down(g, error / t + FUNCTION * lifted + 3.0 * UNIT * (epsilon + abs(more) / t + lifted))


def budget_f(t: float, epsilon: float, delta: float) -> float:
    """f of Asoodeh et al. 2020, Theorem 4, rounded down, from a sum of positive terms.

    With x = delta (1 - e^-epsilon) / (1 - delta e^-epsilon), e^(t f) is
    order delta e^(t epsilon) + (1 - order delta e^-epsilon) (1 - x)^order, and less 1 it is the total below, which rises in x.

    >>> budget_f(1.0, 0.0, 0.1)
    0.0
    """
    order = 1.0 + t
    odds = order * delta
    more, error = log_odds(t, delta)
    product, lost = exact_product(t, epsilon)
    if more + product > FAR:
        return down(epsilon + more / t, error / t + 2.0 * UNIT * (epsilon + abs(more) / t))
    small, share = math.exp(-min(epsilon, 745.0)), -math.expm1(-epsilon)
    x = delta * share / ((1.0 - delta) + delta * share) * (1.0 - 2.0 * FUNCTION - 6.0 * UNIT)
    if x == 0.0:
        return 0.0
    log_rest = math.log1p(-x)
    bend = (1.0 - x) * remainder(t * log_rest)
    bend += t * (x + (1.0 - x) * log_rest if x > 0.5 else (1.0 - x) * remainder(-log_rest))
    rest = max(0.0, 1.0 - odds * small * (1.0 + 2.0 * FUNCTION)) * (1.0 - 2.0 * UNIT)
    half = math.exp(0.5 * min(product, 1400.0))
    lead = odds * math.expm1(product) if product < 700.0 else odds * half * half * (1.0 - 2.0 * FUNCTION)
    total = (
        lead * (1.0 - FUNCTION - 2.0 * abs(lost)) + odds * t * x * small * (1.0 - FUNCTION) + rest * bend * (1.0 - 60.0 * UNIT)
    )
    return max(0.0, down(math.log1p(total * (1.0 - 10.0 * UNIT)) * (1.0 - FUNCTION - 2.0 * UNIT) / t))
