"""Zero-concentrated DP, gamma(order) = rho * order, to approximate DP and back.

No suffix: A (Asoodeh et al., ISIT 2020), Theorem 3 at the best real order (Eq. 24, Question Two); `_closed`: A, Lemma 2;
`_improved`: S (Steinke 2022), Proposition 14; `_classic`: A, Eq. 23 and S, Remark 15.  For a Gaussian of sensitivity 1,
rho is 1 / (2 sigma^2) (errata A-E3, A-E4).
"""

import math
from collections.abc import Callable
from fractions import Fraction

from ..numerics.roots import increasing_root
from ..numerics.rounding import FUNCTION, UNIT, down, up
from ._kernels import arguments
from ._kernels.broadcast import broadcast
from .curve import best_order
from .optimal_rdp import epsilon_of_renyi, log_delta_of_renyi, rdp_budget, rdp_to_delta, rdp_to_epsilon
from .rdp_bounds import exp_of_sum, log_odds, tangent_epsilon

_LEAST_RHO = 1e-100
"""Smaller rho are counted as this one."""

_LEAST, _MOST = 1e-15, 1e14  # of order - 1


def _gamma(rho: float, t: float) -> float:
    return up(rho * (1.0 + t))


def _root(function: Callable[[float], tuple[float, float]], start: float) -> float:
    """The t at which an increasing function of log t vanishes."""
    x = increasing_root(function, min(max(math.log(start), -300.0), 300.0), lower=-600.0, upper=600.0)
    return math.exp(x)


def _epsilon_place(rho: float, log_inverse: float) -> float:
    """Where the improved epsilon is smallest in t: rho t^2 + log(1 + t) = log(1/delta)."""

    def excess(x: float) -> tuple[float, float]:
        t = math.exp(x)
        return rho * t * t + math.log1p(t) - log_inverse, 2.0 * rho * t * t + t / (1.0 + t)

    return _root(excess, min(math.sqrt(log_inverse / rho), math.expm1(min(log_inverse, 700.0))))


def _delta_place(rho: float, epsilon: float) -> float:
    """Where the improved delta is smallest in t: rho (2 t + 1) - log(1 + 1/t) = epsilon."""

    def excess(x: float) -> tuple[float, float]:
        t = math.exp(x)
        return rho * (2.0 * t + 1.0) - math.log1p(1.0 / t) - epsilon, 2.0 * rho * t + 1.0 / (1.0 + t)

    return _root(excess, max(0.5 * epsilon / rho, math.sqrt(0.5 / rho)))


def _budget_place(epsilon: float, log_inverse: float) -> float:
    """Where the improved budget is largest in t: (2 t + 1)(log(1/delta) - log(1 + t)) / t^2 - log(1 + 1/t) = epsilon."""

    def excess(x: float) -> tuple[float, float]:
        t = math.exp(x)
        left = log_inverse - math.log1p(t)
        more = (2.0 * t + 1.0) / (t * t)
        slope = 2.0 * left * (t + 1.0) / (t * t) + more * t / (1.0 + t) - 1.0 / (1.0 + t)
        return epsilon + math.log1p(1.0 / t) - more * left, slope

    return _root(excess, min(2.0 * log_inverse / max(epsilon, 1e-300), math.expm1(min(log_inverse, 300.0))))


@broadcast
def zcdp_to_epsilon(rho: float, delta: float) -> float:
    """The smallest epsilon that Theorem 3 of A gives for rho-zCDP at delta, over all real orders, rounded up (A, Eq. 24).

    >>> round(zcdp_to_epsilon(rho=0.5, delta=1e-5), 11)
    4.72838564864
    """
    rho, delta = arguments.level("rho", rho), arguments.delta(delta)
    if rho == 0.0:
        return 0.0
    rho = max(rho, _LEAST_RHO)
    log_delta = math.log(delta)
    start = _epsilon_place(rho, -log_delta)
    _, t = best_order(lambda t: epsilon_of_renyi(1.0 + t, _gamma(rho, t), log_delta), start, _LEAST, _MOST)
    # the closed form is the smaller one only where the best order is beyond what is searched
    return min(float(rdp_to_epsilon(1.0 + t, _gamma(rho, t), delta)), float(zcdp_to_epsilon_closed(rho, delta)))


@broadcast
def zcdp_to_delta(rho: float, epsilon: float) -> float:
    """The smallest delta that Theorem 3 of A gives for rho-zCDP at epsilon, over all real orders, rounded up.

    >>> print(f"{zcdp_to_delta(rho=0.5, epsilon=4):.9e}")
    1.957674751e-04
    """
    rho, epsilon = arguments.level("rho", rho), arguments.level("epsilon", epsilon)
    if rho == 0.0:
        return 0.0
    rho = max(rho, _LEAST_RHO)
    start = _delta_place(rho, epsilon)

    def log_delta(t: float) -> float:
        order = 1.0 + t
        return log_delta_of_renyi(order, (order - 1.0) * _gamma(rho, t), epsilon)

    _, t = best_order(log_delta, start, _LEAST, _MOST)
    return min(float(rdp_to_delta(1.0 + t, _gamma(rho, t), epsilon)), float(zcdp_to_delta_improved(rho, epsilon)))


@broadcast
def zcdp_budget(epsilon: float, delta: float) -> float:
    """The largest rho for which Theorem 3 of A gives (epsilon, delta)-DP at some order, rounded down (A, Question Two).

    >>> round(zcdp_budget(epsilon=4, delta=1e-5), 12)
    0.373144275114
    """
    epsilon, delta = arguments.level("epsilon", epsilon), arguments.delta(delta)
    start = _budget_place(epsilon, -math.log(delta))
    value, _ = best_order(lambda t: -float(rdp_budget(1.0 + t, epsilon, delta)) / (1.0 + t), start, _LEAST, _MOST)
    return max(0.0, down(-value * (1.0 - 2.0 * UNIT)), float(zcdp_budget_closed(epsilon, delta)))


@broadcast
def zcdp_to_epsilon_classic(rho: float, delta: float) -> float:
    """epsilon = rho + 2 sqrt(rho log(1/delta)), rounded up (A, Eq. 23; S, Remark 15).

    >>> round(zcdp_to_epsilon_classic(rho=0.5, delta=1e-5), 12)
    5.298525912188
    """
    rho, delta = arguments.level("rho", rho), arguments.delta(delta)
    value = rho + 2.0 * math.sqrt(rho * -math.log(delta))
    return up(value, (FUNCTION + 4.0 * UNIT) * value) if rho else 0.0


@broadcast
def zcdp_to_delta_classic(rho: float, epsilon: float) -> float:
    """delta = e^(-(epsilon - rho)^2 / (4 rho)), 1 for epsilon <= rho, rounded up (S, Remark 15; A, Eq. 21).

    >>> round(zcdp_to_delta_classic(rho=0.5, epsilon=1), 12)
    0.882496902585
    """
    rho, epsilon = arguments.level("rho", rho), arguments.level("epsilon", epsilon)
    if rho == 0.0:
        return 0.0
    if epsilon <= rho:
        return 1.0
    return _exp(-((Fraction(epsilon) - Fraction(rho)) ** 2) / (4 * Fraction(rho)), 0.0, 0.0)


def _exp(exponent: Fraction, more: float, error: float) -> float:
    """e^(exponent + more + error), rounded up and clipped to 1."""
    if exponent < -100_000:
        return exp_of_sum(-100_000.0, 0.0, 0.0)
    high = float(exponent)
    return exp_of_sum(high, float(exponent - Fraction(high)) + more, error)


@broadcast
def zcdp_budget_classic(epsilon: float, delta: float) -> float:
    """rho = (sqrt(log(1/delta) + epsilon) - sqrt(log(1/delta)))^2, rounded down (S, Remark 15; A, before Eq. 28).

    >>> round(zcdp_budget_classic(epsilon=8, delta=1e-5), 12)
    1.049136201223
    """
    epsilon, delta = arguments.level("epsilon", epsilon), arguments.delta(delta)
    log_inverse = -math.log(delta)
    root = epsilon / (math.sqrt(log_inverse + epsilon) + math.sqrt(log_inverse))
    return max(0.0, down(root * root * (1.0 - FUNCTION - 12.0 * UNIT)))


@broadcast
def zcdp_to_epsilon_improved(rho: float, delta: float) -> float:
    """The smallest epsilon of S, Proposition 14, over t > 0, at least 0, rounded up.

    It is the least of rho (t + 1) + (log(1/delta) - log(1 + t)) / t - log(1 + 1/t).

    >>> round(zcdp_to_epsilon_improved(rho=0.5, delta=1e-5), 12)
    4.728386984943
    """
    rho, delta = arguments.level("rho", rho), arguments.delta(delta)
    if rho == 0.0:
        return 0.0
    t = _epsilon_place(max(rho, _LEAST_RHO), -math.log(delta))
    more, error = log_odds(t, delta)
    linear, lifted, left = rho * (1.0 + t), math.log1p(1.0 / t), -more / t
    error = error / t * (1.0 + 4.0 * UNIT) + 4.0 * UNIT * (linear + abs(left)) + (FUNCTION + 3.0 * UNIT) * lifted
    return max(0.0, up(linear + left - lifted, error))


@broadcast
def zcdp_to_delta_improved(rho: float, epsilon: float) -> float:
    """The smallest delta of S, Proposition 14, over t > 0, at most 1, rounded up.

    It is the least of e^(rho t (t + 1) - epsilon t) (1 - 1/(t + 1))^t / (t + 1).

    >>> round(zcdp_to_delta_improved(rho=0.5, epsilon=1), 12)
    0.246846330783
    """
    rho, epsilon = arguments.level("rho", rho), arguments.level("epsilon", epsilon)
    if rho == 0.0:
        return 0.0
    t = _delta_place(max(rho, _LEAST_RHO), epsilon)
    exact = Fraction(t) * (Fraction(rho) * (Fraction(t) + 1) - Fraction(epsilon))
    less = t * math.log1p(1.0 / t) + math.log1p(t)
    return _exp(exact, -less, (FUNCTION + 4.0 * UNIT) * less)


@broadcast
def zcdp_budget_improved(epsilon: float, delta: float) -> float:
    """The largest rho for which `zcdp_to_epsilon_improved` is at most epsilon, rounded down.

    >>> round(zcdp_budget_improved(epsilon=4, delta=1e-5), 12)
    0.373143982769
    """
    epsilon, delta = arguments.level("epsilon", epsilon), arguments.delta(delta)
    t = _budget_place(epsilon, -math.log(delta))
    more, error = log_odds(t, delta)
    lifted, left = math.log1p(1.0 / t), -more / t
    error = error / t * (1.0 + 4.0 * UNIT) + 4.0 * UNIT * (epsilon + abs(left)) + (FUNCTION + 3.0 * UNIT) * lifted
    return max(0.0, down((epsilon - left + lifted - error) / (1.0 + t) * (1.0 - 2.0 * UNIT)))


@broadcast
def zcdp_to_epsilon_closed(rho: float, delta: float) -> float:
    """The smallest of the three epsilons of A, Lemma 2, for rho T = `rho`, rounded up.

    >>> round(zcdp_to_epsilon_closed(rho=0.5, delta=1e-5), 12)
    4.728386984943
    """
    rho, delta = arguments.level("rho", rho), arguments.delta(delta)
    if rho == 0.0:
        return 0.0
    complement = math.log1p(-delta)
    last = rho / delta + complement
    last = max(0.0, up(last, FUNCTION * abs(complement) + 2.0 * UNIT * (rho / delta + abs(complement))))
    most = min((1.0 / delta - 1.0) * (1.0 - 4.0 * UNIT), _MOST)
    tangent = math.inf
    if most > _LEAST:
        start = _epsilon_place(max(rho, _LEAST_RHO), -math.log(delta))
        tangent, _ = best_order(lambda t: tangent_epsilon(t, _gamma(rho, t), delta), start, _LEAST, most)
    return min(float(zcdp_to_epsilon_improved(rho, delta)), tangent, last)


@broadcast
def zcdp_budget_closed(epsilon: float, delta: float) -> float:
    """The largest rho for which `zcdp_to_epsilon_closed` is at most epsilon, rounded down (A, Lemma 2, Question Two).

    >>> round(zcdp_budget_closed(epsilon=4, delta=1e-5), 12)
    0.373143982769
    """
    epsilon, delta = arguments.level("epsilon", epsilon), arguments.delta(delta)
    last = delta * (epsilon - math.log1p(-delta)) * (1.0 - FUNCTION - 4.0 * UNIT)
    most = min((1.0 / delta - 1.0) * (1.0 - 4.0 * UNIT), _MOST)
    tangent = 0.0
    if most > _LEAST:
        start = _budget_place(epsilon, -math.log(delta))
        tangent, _ = best_order(lambda t: -_tangent_budget(t, epsilon, delta), start, _LEAST, most)
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


@broadcast
def pure_to_zcdp(epsilon: float) -> float:
    """rho = epsilon^2 / 2 for epsilon-DP, rounded up (S, Proposition 16).

    >>> pure_to_zcdp(epsilon=1) - 0.5 < 1e-15
    True
    """
    epsilon = arguments.level("epsilon", epsilon)
    return up(0.5 * epsilon * epsilon) if epsilon else 0.0


@broadcast
def pure_to_zcdp_tight(epsilon: float) -> float:
    """rho = epsilon tanh(epsilon / 2) for epsilon-DP, rounded up; attained by randomised response at order 1.

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
