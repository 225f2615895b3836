"""The kernels of Asoodeh et al. (2020), Theorem 3: bounds by weak duality, in its three directions.

The theorem is about one ordered pair; where both directions obey the Rényi bound and delta is large, more is true
(erratum A-E1, `rdp_budget_two_sided`).  For order * delta >= 1 it is the closed form gamma = epsilon - log(1 - delta).
Below that, among pairs with E_Q (dP/dQ)^order = M, the largest E_Q (dP/dQ - e^epsilon)_+ belongs to two likelihood ratios,
e^-v below 1 and e^u above it.  With t = order - 1 and s = u + v the best pair obeys u = epsilon + lift(s), and for **every**
v >= 0 the tangent of x^order at e^-v, scaled to touch x - e^epsilon at e^u, lies above (x - e^epsilon)_+ (weak duality):

    delta <= (M - 1 + rise(v)) / (order * e^(t u) * (1 - e^(-t s))).

So v may be found roughly, by Newton's method in y = log(e^v - 1): whatever it is, the right side is a bound, and near the best
v its error enters squared.  All terms are positive, so rounding costs a few UNIT, counted below.  Answers are
within about 5e-14 of the optimum, relatively, for orders from 1 + 1e-9 to 1e6 and deltas from 1e-300 to 1 - 1e-9; close to an
epsilon of 0 that holds of epsilon's distance in gamma (a relative change of gamma by 5e-14).
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from ...numerics.roots import increasing_root
from ...numerics.rounding import FUNCTION, UNIT, down, up

LEAST_CUMULANT = 1e-280
"""Smaller cumulants are counted as this one, which keeps squares of likelihood ratios above underflow."""

FAR = 40.0
"""Terms below e^-40 of the leading one are left out where that is on the safe side, or counted as 1e-17."""

_LEAST = -700.0
_INVERSE_FACTORIALS = tuple(1.0 / math.factorial(k) for k in range(20, 1, -1))
_SPLITTER = 134217729.0  # 2^27 + 1

RISE = 40.0 * UNIT
"""Relative error of `rise`.  For |y| <= 1 the series of `remainder` errs by 8 UNIT, beyond that by at most 21 UNIT (expm1 by
8 UNIT, amplified by 1.72/0.72); the product with e^-y adds 9, the rounding of y = t v at most 5, sums and products 3."""

LIFT = 62.0 * UNIT
"""Relative error of `lift`: RISE, 10 UNIT of the denominator and two operations, then log1p (8 UNIT), which does not amplify."""


def remainder(y: float) -> float:
    """e^y - 1 - y."""
    if -1.0 <= y <= 1.0:
        total = 0.0
        for inverse in _INVERSE_FACTORIALS:
            total = total * y + inverse
        return total * y * y
    return math.expm1(y) - y


def rise(t: float, v: float) -> float:
    """1 - (1 + t) e^(-t v) + t e^(-(1 + t) v), without cancellation: by how much a tangent of x^(1+t) misses 1 at x = 0, 1.

    >>> print(f"{rise(1e-3, 1e-3):.12e}")
    5.003328748252e-10
    """
    y = t * v
    if y > 60.0:
        return 1.0
    return math.exp(-y) * (remainder(y) + t * remainder(-v))


def lift(t: float, s: float) -> tuple[float, float]:
    """log((1 + t)/t * (1 - e^(-t s)) / (1 - e^(-(1 + t) s))) and its derivative, which falls from 1/2 to 0.

    >>> round(lift(1.0, 1e-9)[0] * 1e9, 9)
    0.5
    """
    order = 1.0 + t
    y = order * s
    if y < 1e-17:
        return 0.5 * s, 0.5
    above = rise(t, s)
    share = -math.expm1(-y)
    value = math.log1p(above / (t * share))
    small = math.exp(-t * s) if t * s < 745.0 else 0.0
    slope = small * (t * -math.expm1(-s) * share - above * math.exp(-s)) * order / (share * (t * share + above))
    return value, max(0.0, slope)


def log_ratio(s: float, lifted: float) -> float:
    """log((1 - e^-s) / (1 - e^-lifted)): the best pair has (1 - e^-v) / delta equal to this ratio."""
    return math.log(math.expm1(-s) / math.expm1(-lifted))


class Lifted(NamedTuple):
    """A solution of w = lift(epsilon + v + w)."""

    w: float
    s: float
    slope: float  # of lift at s

    def below(self, t: float) -> tuple[float, float]:
        """Lower bounds of the exact w and s: w - lift(epsilon + v + w) rises with slope 1/2 at least."""
        value, slope = lift(t, self.s)
        excess = max(0.0, self.w - value) + LIFT * value + 3.0 * UNIT * self.s * slope
        w = max(0.0, self.w - 2.0 * excess - UNIT * self.w)
        return w, max(0.0, self.s - (self.w - w)) * (1.0 - 4.0 * UNIT)


def solve_lift(t: float, start: float, guess: float = math.inf) -> Lifted:
    """Newton's method for w = lift(start + w), from above, where it falls monotonically (lift is concave).

    >>> abs(solve_lift(1.0, 1.0).w - lift(1.0, 1.0 + solve_lift(1.0, 1.0).w)[0]) < 1e-15
    True
    """
    w = min(guess, start, math.log1p(1.0 / t))
    for _ in range(60):
        value, slope = lift(t, start + w)
        step = (w - value) / (1.0 - slope)
        w -= step
        if abs(step) <= 1e-9 * w:
            break
    return Lifted(w, start + w, slope)


def exact_product(x: float, y: float) -> tuple[float, float]:
    """x * y as a rounded product and its error, exactly (Dekker; magnitudes from 1e-130 to 1e130, or the error is below 1e-260).

    >>> exact_product(1.0 + 2.0**-30, 1.0 + 2.0**-30)[1] == 2.0**-60
    True
    """
    product = x * y
    c = _SPLITTER * x
    x1 = c - (c - x)
    x2 = x - x1
    c = _SPLITTER * y
    y1 = c - (c - y)
    y2 = y - y1
    return product, ((x1 * y1 - product) + x1 * y2 + x2 * y1) + x2 * y2


def exact_sum(x: float, y: float) -> tuple[float, float]:
    """x + y as a rounded sum and its error, exactly (Knuth)."""
    total = x + y
    part = total - x
    return total, (x - (total - part)) + (y - part)


def _v(y: float) -> float:
    return math.log1p(math.exp(y)) if y < 30.0 else y


def _log_weight(y: float) -> float:
    """log(1 - e^-v)."""
    return -math.log1p(math.exp(-y)) if y > -30.0 else y


def _best_v(t: float, gap: Callable[[float], tuple[float, float]], log_weight: float) -> float:
    """The v at which the gap vanishes, to about ten digits: the bounds are stationary there."""
    log_weight = min(log_weight, -1e-16)
    start = max(log_weight - math.log(-math.expm1(log_weight)), _LEAST)
    root = increasing_root(gap, start, lower=_LEAST, upper=60.0 * (1.0 + 1.0 / t), enough=lambda _, step: abs(step) < 1e-5)
    return _v(root)


def _log_weight_for(order: float, log_delta: float) -> float:
    """A first guess of log(1 - e^-v): the ratio to delta lies between 2 and the order, its limits for small and large s."""
    small, large = sorted((math.log(2.0), math.log(order)))
    return 0.5 * (log_delta + small + min(0.0, log_delta + large))


def _ratio_slope(lifted: Lifted) -> float:
    """The derivative of `log_ratio` in s."""
    return (1.0 / math.expm1(lifted.s) if lifted.s < 700.0 else 0.0) - lifted.slope / math.expm1(lifted.w)


def delta_bound(t: float, cumulant: float, epsilon: float, high: float, low: float) -> tuple[float, float, float]:
    """delta <= factor * e^high * e^low for cumulant = t * gamma > 0; the last two are returned anew, `high` exact.

    high + low is t (gamma - epsilon) more precisely than a double holds it, high its rounded value.
    """
    order = 1.0 + t
    near = cumulant < FAR
    moment = math.expm1(cumulant) if near else math.inf
    exponent = -t * epsilon if near else high
    lifted = solve_lift(t, epsilon)

    def log_bound(above: float, lifted: Lifted) -> float:
        top = math.log(moment + above) if near else 0.0
        return top + exponent - t * lifted.w - math.log(-order * math.expm1(-t * lifted.s))

    def gap(y: float) -> tuple[float, float]:
        nonlocal lifted
        v = _v(y)
        lifted = solve_lift(t, epsilon + v, lifted.w)
        above = rise(t, v)
        difference = _log_weight(y) - log_bound(above, lifted) - log_ratio(lifted.s, lifted.w)
        speed = 1.0 / (1.0 - lifted.slope)
        growth = t * order * math.exp(-t * v) * -math.expm1(-v) / (moment + above)
        fall = t * speed * (lifted.slope + (1.0 / math.expm1(t * lifted.s) if t * lifted.s < 700.0 else 0.0))
        weight = math.exp(_log_weight(y))
        return difference, 1.0 - weight * (1.0 + growth - fall + speed * _ratio_slope(lifted))

    # the smallest of the bounds from v = infinity and from v = 0 and of the value for small gamma at epsilon = 0, times the ratio
    guess = min(high - math.log(order) - t * math.log1p(1.0 / t), 0.5 * math.log(0.5 * cumulant / t / order))
    if epsilon > 0.0:
        guess = min(guess, log_bound(0.0, lifted)) + log_ratio(lifted.s, lifted.w)
    else:
        guess += math.log(2.0)
    v = _best_v(t, gap, guess)

    w, s = solve_lift(t, epsilon + v, lifted.w).below(t)
    top = 1.0
    if near:
        product, error = exact_product(t, epsilon)
        high, low = -product, -error
        top = moment * (1.0 + FUNCTION) + rise(t, v) * (1.0 + RISE)
    share = -math.expm1(-t * s) * (1.0 - FUNCTION - 2.0 * UNIT)
    # t w <= 1, and low is of the size of the rounding error of high
    return top / (order * share) * (1.0 + 8.0 * UNIT), high, low - t * w * (1.0 - 2.0 * UNIT) + 2.0 * UNIT * (abs(low) + t * w)


def epsilon_bound(t: float, gamma: float, cumulant: float, delta: float, scale: float) -> float:
    """epsilon, for delta * e^scale in place of delta (below 1 / order to be of use), cumulant >= t * gamma > 0.

    Here s follows from v in closed form: e^(t s) - 1 = e^(t v) (M - 1 + rise(v)) / (order * delta).
    """
    order = 1.0 + t
    odds = order * delta
    near = cumulant < FAR
    moment = math.expm1(cumulant) if near else math.inf
    log_delta = math.log(delta) + scale

    def gap(y: float) -> tuple[float, float]:
        v = _v(y)
        if near:
            top = moment + rise(t, v)
            log_rest = t * v + math.log(top / odds) - scale
            s = (math.log1p(math.exp(log_rest)) if log_rest < 30.0 else log_rest) / t
            speed = (moment - math.expm1(-order * v)) / (top + odds * math.exp(scale - t * v))
        else:
            s = gamma + v - (math.log(odds) + scale) / t
            speed = 1.0
        value, slope = lift(t, s)
        lifted = Lifted(value, s, slope)
        weight = math.exp(_log_weight(y))
        difference = _log_weight(y) - log_delta - log_ratio(s, lifted.w)
        return difference, 1.0 - weight * (1.0 + speed * _ratio_slope(lifted))

    v = _best_v(t, gap, _log_weight_for(order, log_delta))

    if near:
        top = moment * (1.0 + FUNCTION) + rise(t, v) * (1.0 + RISE)
        ratio = top / odds * (1.0 + 8.0 * UNIT)
        log_top = math.log(ratio)
        log_rest = t * v + log_top - scale
        if log_rest < 0.0:
            rest = math.exp(t * v - scale) * ratio * (1.0 + FUNCTION + (4.0 + t * v - scale) * UNIT)
            u = up(math.log1p(rest) * (1.0 + FUNCTION + 2.0 * UNIT) / t - v)
        else:
            rest = math.log1p(math.exp(-log_rest))
            error = 3.0 * FUNCTION * (abs(log_top) + rest) + 4.0 * UNIT * (rest * t * v - scale) + 1e-300
            u = (log_top - scale + rest + error) / t
            u = up(u, 2.0 * UNIT * abs(u))
    else:
        log_odds = -math.log(odds)
        u = gamma + (log_odds - scale + (1e-17 + 2.0 * FUNCTION * abs(log_odds) + 4.0 * UNIT * (1.0 - scale))) / t
        u *= 1.0 + 2.0 * UNIT
    if near and scale == 0.0 and delta > 0.5:
        # the same with 1 - delta in place of delta: s and v are far above u where order * delta is close to 1
        more = moment * (1.0 + FUNCTION) - order * (1.0 - delta) * math.expm1(-t * v) * (1.0 + FUNCTION + 8.0 * UNIT)
        less = -t * math.expm1(-order * v) * (1.0 - FUNCTION - 8.0 * UNIT)
        excess = max(0.0, more - less + 4.0 * UNIT * more) / odds * (1.0 + 4.0 * UNIT)
        u = min(u, math.log1p(excess) * (1.0 + FUNCTION + 2.0 * UNIT) / t)
    s = u + v
    value, slope = lift(t, s)
    return max(0.0, up(u - value, LIFT * value + 2.0 * UNIT * s * slope + 2.0 * UNIT * abs(u - value)))


def budget_pair(t: float, epsilon: float, delta: float) -> tuple[float, Lifted]:
    """The v of the best pair for 0 < order * delta < 1, to about ten digits, and w = u - epsilon for it."""
    log_delta = math.log(delta)
    lifted = solve_lift(t, epsilon)

    def gap(y: float) -> tuple[float, float]:
        nonlocal lifted
        lifted = solve_lift(t, epsilon + _v(y), lifted.w)
        weight = math.exp(_log_weight(y))
        difference = _log_weight(y) - log_delta - log_ratio(lifted.s, lifted.w)
        return difference, 1.0 - weight * (1.0 + _ratio_slope(lifted) / (1.0 - lifted.slope))

    v = _best_v(t, gap, _log_weight_for(1.0 + t, log_delta))
    return v, solve_lift(t, epsilon + v, lifted.w)


def gamma_bound(t: float, epsilon: float, delta: float) -> float:
    """The largest gamma that implies (epsilon, delta), from below, for 0 < order * delta < 1."""
    order = 1.0 + t
    odds = order * delta
    v, lifted = budget_pair(t, epsilon, delta)
    w, s = lifted.below(t)
    share = -math.expm1(-t * s) * (1.0 - FUNCTION - 2.0 * UNIT)
    product, rest = exact_product(t, epsilon)
    rest += t * w * (1.0 - 2.0 * UNIT)
    if odds * share < 1e-306 and product < 1.0:
        return 0.0  # gamma is of the order of this product, below every ordinary double
    log_bracket = math.log(odds) + math.log(share) + rest
    if log_bracket + product < FAR:
        half = math.exp(0.5 * product)
        top = odds * share * math.exp(rest) * half * half * (1.0 - 3.0 * FUNCTION - 8.0 * UNIT)
        excess = top - rise(t, v) * (1.0 + RISE + UNIT)
        if delta > 0.5:
            # the same with 1 - delta in place of delta: rise(v) is far above the difference where order * delta is close to 1
            y = t * (epsilon + w)
            gain = order * math.expm1(y) - t * math.expm1(-order * v)
            loss = order * (1.0 - delta) * math.exp(y) * -math.expm1(-t * (epsilon + w + v))
            excess = max(excess, gain - loss - (2.0 * FUNCTION + 8.0 * UNIT * (1.0 + y)) * (gain + loss))
        if excess <= 0.0:
            return 0.0
        return max(0.0, down(math.log1p(excess) * (1.0 - FUNCTION - 4.0 * UNIT) / t))
    error = FUNCTION * abs(log_bracket) + 6.0 * UNIT * (1.0 + abs(log_bracket)) + FUNCTION * abs(rest)
    return max(0.0, down((epsilon + (log_bracket - error) / t) * (1.0 - UNIT), UNIT * epsilon))
