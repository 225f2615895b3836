"""Trade-off curves: the smallest type-II error beta of a test with type-I error alpha, from other guarantees and to them.

The null hypothesis is Q (without the record in the order "remove"), so beta = f(alpha) is the conjugate of the profile:
1 - f(alpha) = inf over real eps of delta(eps) + e^eps alpha (Dong, Roth and Su 2022, Proposition 6; Zhu, Dong and Wang 2022).
How it is found from a profile: `best_test.py`.
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

from .. import checks
from ..errors import BadType, BadValue
from ..numerics.rounding import FUNCTION, UNIT, down, exp_down, exp_up, up
from ._kernels import arguments
from ._kernels.broadcast import broadcast
from ._kernels.chords import Interval
from ._kernels.normals import quantile
from .best_test import best_test
from .curve import best_order, checked_curve, listed_orders
from .group import probability
from .partial_order import checked_profile

if TYPE_CHECKING:
    from ..bounds import Array, Floats


@broadcast
def approx_tradeoff(epsilon: float, delta: float, alpha: float) -> float:
    """max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)), rounded down: what (epsilon, delta)-DP says of tests.

    No test of level alpha has a smaller second error (Wasserman and Zhou 2010; Dong, Roth and Su 2022, Proposition 3).

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

    >>> round(rdp_tradeoff(order=4.0, gamma=2.0, alpha=0.01), 9)
    0.8583257
    """
    order, gamma, alpha = arguments.order(order), arguments.level("gamma", gamma), probability("alpha", alpha)
    return _renyi_error(order, gamma, alpha)


def _renyi_error(order: float, gamma: float, alpha: float) -> float:
    if alpha == 1.0 or gamma == math.inf:
        return 0.0
    if alpha == 0.0:
        return 1.0  # a finite divergence: the laws have the same null sets
    yes, no = math.log(alpha), math.log1p(-alpha)
    budget = (order - 1.0) * gamma * (1.0 + 4.0 * UNIT)

    def excluded(log_beta: float) -> bool:
        """Whether a test with this second error is surely against the claim, in one direction or the other."""
        caught = math.log(-math.expm1(log_beta)) if log_beta < 0.0 else -math.inf
        size = abs(yes) + abs(no) + abs(caught) + abs(log_beta)
        slack = (2.0 * order * FUNCTION) * (size + 4.0)
        for p, q in (((caught, log_beta), (yes, no)), ((yes, no), (caught, log_beta))):
            terms = [order * one + (1.0 - order) * other for one, other in zip(p, q, strict=True)]
            total = max(terms) + math.log1p(math.exp(min(terms) - max(terms)))
            if total > budget + slack:
                return True
        return False

    low, high = -745.0, no  # 1 - alpha is what a blind test has
    if not excluded(low):
        return 0.0
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low < 1e-16 * abs(low):
            return exp_down(low)
        low, high = (middle, high) if excluded(middle) else (low, middle)


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

    >>> beta, order = rdp_curve_tradeoff(lambda order: 0.5 * order, alpha=0.01)
    >>> round(beta, 6), round(order, 2)
    (0.875411, 2.91)
    """
    curve, listed = checked_curve(rdp), listed_orders(orders)

    @broadcast
    def answer(alpha: float) -> tuple[float, float]:
        alpha = probability("alpha", alpha)
        if listed is not None:
            return max((_renyi_error(order, curve(order), alpha), order) for order in listed)
        _, t = best_order(lambda t: -_renyi_error(1.0 + t, curve(1.0 + t), alpha))
        return _renyi_error(1.0 + t, curve(1.0 + t), alpha), 1.0 + t

    return answer(alpha)


@overload
def profile_tradeoff(profile: Callable[[float], float], alpha: float) -> float: ...
@overload
def profile_tradeoff(profile: Callable[[float], float], alpha: "Floats") -> "Array": ...
def profile_tradeoff(profile: Callable[[float], float], alpha: Any) -> Any:
    """The smallest second error that a privacy profile, of both orders, allows at level alpha; rounded down.

    The supremum over real epsilon of 1 - delta(epsilon) - e^epsilon alpha; any epsilon is a proof.

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
        return _conjugate(checked, weight)

    return answer(epsilon)


def _conjugate(f: Callable[[float], float], weight: float) -> float:
    """An upper bound of max 1 - f(a) - weight a over 0 <= a <= 1/weight."""
    last = min(1.0, 1.0 / weight)
    points = [(a, f(a)) for a in (0.0, *(last * 2.0**-k for k in range(30, 0, -3)), last)]
    for _ in range(120):
        best = max(1.0 - beta - weight * a for a, beta in points)
        bound, place = 0.0, 0.0
        for i, ((a1, b1), (a2, b2)) in enumerate(pairwise(points)):
            candidates = [a1, a2]
            left = (b1 - points[i - 1][1]) / (a1 - points[i - 1][0]) if i > 0 else -math.inf
            right = (points[i + 2][1] - b2) / (points[i + 2][0] - a2) if i + 2 < len(points) else 0.0
            if left > -math.inf and left != right:
                cross = (b2 - b1 + left * a1 - right * a2) / (left - right)
                candidates += [cross] if a1 < cross < a2 else []
            for a in candidates:
                floor = max(b1 + left * (a - a1) if left > -math.inf else 0.0, b2 + right * (a - a2), 0.0)
                floor = max(floor, b1 if a == a1 else 0.0)
                bound, place = max((bound, place), (1.0 - floor - weight * a, a if a1 < a < a2 else 0.5 * (a1 + a2)))
        if bound <= best + 1e-12 * best + 1e-16 or any(place == a for a, _ in points):
            break
        points = sorted([*points, (place, f(place))])
    return min(1.0, max(0.0, up(bound, 16.0 * UNIT)))


@broadcast
def mu_of_test(alpha: float, beta: float) -> float:
    """The mu that a test with these errors proves at least: Phi^-1(1 - alpha) - Phi^-1(beta), rounded down; 0 if it proves none.

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

    >>> round(gdp_mu_clt_approximation(rate=0.328, sigma=9.4, steps=2000), 6)
    1.564916
    """
    rate, sigma = checks.rate("rate", rate), checks.positive("sigma", sigma)
    steps = checks.count("steps", steps)
    square = 1.0 / sigma / sigma
    if square > 700.0:
        return math.inf if rate and steps else 0.0
    return rate * math.sqrt(steps * math.expm1(square))
