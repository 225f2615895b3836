"""Two unit normal laws at distance mu: their hockey stick with an exact exponent, its inverse in mu, and the quantile.

Every bound is checked where it is returned, so that the search which found it needs no proof.
"""

import math
from typing import Any

from ... import checks
from ...errors import BadValue
from ...numerics.normal import log_shift_delta
from ...numerics.roots import increasing_root
from ...numerics.rounding import ERFCX, FUNCTION, LARGEST, SMALLEST, UNIT, up

LARGEST_EPSILON = 1e15
LARGEST_MU = 1e8

ROOT_HALF = math.sqrt(0.5)
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_LOG_TWO = math.log(2.0)


def checked_epsilon(value: Any, name: str = "epsilon") -> float:
    """An epsilon at which the hockey stick can be computed: beyond, epsilon/mu - mu/2 may be lost to rounding."""
    number = checks.non_negative(name, value)
    if number > LARGEST_EPSILON:
        raise BadValue(f"{name} is {number}; allowed: a number from 0 to {LARGEST_EPSILON:g}.")
    return number


def checked_mu(value: Any) -> float:
    """A distance of two unit normal laws."""
    number = checks.non_negative("mu", value)
    if number > LARGEST_MU:
        raise BadValue(f"mu is {number}; allowed: a number from 0 to {LARGEST_MU:g}.")
    return number


def stick(mu: float, epsilon: float) -> tuple[float, float, float]:
    """`log_shift_delta` for any mu > 0.

    A tiny mu is enlarged, with epsilon, to about 2^-300, where delta is still proportional to mu but for a factor e^(x/2), x the
    enlarged epsilon.

    >>> round(stick(1e-310, 0.0)[0] - math.log(1e-310), 12)
    -0.918938533205
    """
    mu, epsilon, shift = _enlarged(mu, epsilon)
    value, error, slope = log_shift_delta(mu, epsilon, 0.0)
    if shift:
        error += 4.0 * UNIT * (shift + abs(value)) + epsilon + mu
        value, slope = value - shift * _LOG_TWO, slope * 2.0**shift
    return value, error, slope


def _enlarged(mu: float, epsilon: float) -> tuple[float, float, int]:
    """Both times 2^shift, and shift: 0 unless mu is tiny and epsilon too (else delta is below every double)."""
    shift = -299 - math.frexp(mu)[1]
    if shift <= 0 or epsilon >= 2.0**-100:
        return mu, epsilon, 0
    return math.ldexp(mu, shift), math.ldexp(epsilon, shift), shift


def hockey_stick(mu: float, epsilon: float) -> tuple[float, float, float, float]:
    """(high, low, factor, error): delta_mu(epsilon) is e^(high + low) factor for mu > 0, up to a relative error; |low| < 1e-13.

    With a, b = epsilon/mu -+ mu/2 and Mills' ratio R, delta = phi(a) (R(a) - R(b)), and R(b) / (R(a) - R(b)) is minus the
    slope of log delta in epsilon, which `log_shift_delta` returns: hence delta = e^(-a^2/2) erfcx(b/sqrt 2) / (-2 slope),
    whose exponent is rational.  Computed in doubles it would cost |a| (|a| + b) units.

    >>> high, low, factor, error = hockey_stick(6.0, 200.0)
    >>> print(f"{math.exp(high) * factor:.10e}", error < 1e-13)
    3.4360194832e-203 True
    """
    from scipy.special import erfcx

    middle, half = epsilon / mu, 0.5 * mu
    a, b = middle - half, middle + half
    if a > 1e150:
        return max(-LARGEST, -0.5 * a * a * (1.0 - 4.0 * UNIT)), 0.0, 1.0, 0.0  # from above only
    large_mu, large_epsilon, shift = _enlarged(mu, epsilon)
    value, error, slope = log_shift_delta(large_mu, large_epsilon, 0.0)
    if a < -0.5:  # the exponent is small where it matters
        return value, 0.0, 1.0, error
    high, low = exact_exponent(mu, epsilon)
    if a > 1e30:
        return high + 4.0 * UNIT * abs(high), 0.0, 1.0, 0.0  # likewise
    factor = 0.5 * float(erfcx(b * ROOT_HALF)) / -slope
    if shift:
        factor = up(math.ldexp(factor, -shift))
    # errors of the slope: those of a and b, where |R'/R| is below 1.3 or 1/a, and of R(a) - R(b), found in two ways
    lean = 2.0 * UNIT * b * (1.01 / a if a > 1.1 else 1.4)
    off = (1.0 - 2.0 * slope) * (ERFCX + 4.0 * UNIT + lean) if slope > -19.1 else 0.0
    if slope < -18.9:
        off = max(off, 4e-14 + 4.0 * lean)
    off += 2.0 * (ERFCX + lean) + 8.0 * UNIT + (large_epsilon + large_mu if shift else 0.0)
    return high, low, factor, 1.001 * off


def exact_exponent(mu: float, epsilon: float) -> tuple[float, float]:
    """-(epsilon/mu - mu/2)^2 / 2 as the sum of two doubles.

    >>> exact_exponent(2.0, 4.0)
    (-0.5, 0.0)
    """
    m, p = mu.as_integer_ratio()
    e, q = epsilon.as_integer_ratio()
    numerator, denominator = (2 * e * p * p - m * m * q) ** 2, 8 * (m * p * q) ** 2
    high = numerator / denominator
    n, d = high.as_integer_ratio()
    return -high, (n * denominator - numerator * d) / (denominator * d)


def mu_bounds(epsilon: float, least: float, most: float) -> tuple[float, float]:
    """Bounds of the mu at which log delta_mu(epsilon) is between `least` and `most`, both below 0.

    Newton's method in log mu for log(-log delta), which is nearly straight; the ends are checked with their error bounds.

    >>> lower, upper = mu_bounds(0.0, math.log(0.5), math.log(0.5))
    >>> print(f"{lower:.12f}", upper / lower - 1.0 < 2e-13)
    1.348979500392 True
    """
    from scipy.special import ndtri_exp

    target = 0.5 * (least + most)
    tail = -float(ndtri_exp(target))  # delta is at most P(N > a), hence a at most this
    root = math.hypot(tail, math.sqrt(2.0 * epsilon))
    start = max(2.0 * epsilon / (tail + root) if tail > 0.0 else root - tail, ROOT_TWO_PI * math.exp(target), SMALLEST)
    level = math.log(-target)

    def excess(x: float) -> tuple[float, float]:
        mu = math.exp(x)
        value, _, _ = stick(mu, epsilon)
        if value > -1e-300:
            return 700.0, 0.0
        return level - math.log(-value), _growth(mu, epsilon, value) / -value

    mu = math.exp(increasing_root(excess, math.log(start), lower=-745.0, upper=20.0))
    return _surely(mu, epsilon, least, -1.0), _surely(mu, epsilon, most, 1.0)


def _growth(mu: float, epsilon: float, value: float) -> float:
    """d log delta / d log mu = mu phi(a) / delta."""
    a = epsilon / mu - 0.5 * mu
    if abs(a) > 1e100:
        return math.inf
    x = math.log(mu) - 0.5 * a * a - _LOG_ROOT_TWO_PI - value
    return math.exp(x) if x < 700.0 else math.inf


def _surely(mu: float, epsilon: float, target: float, sign: float) -> float:
    """A mu at which log delta is surely at least (sign 1) or at most (sign -1) the target."""
    least = UNIT
    while 0.0 < mu < math.inf:
        value, error, _ = stick(mu, epsilon)
        lack = sign * (target - value) + (1.0 + 1e-6) * error
        if lack <= 0.0:
            return mu
        growth = _growth(mu, epsilon, value)
        mu *= 1.0 + sign * min(0.5, max(least, 1.02 * lack / growth if growth > 0.0 else 0.0))
        least *= 2.0
    return mu


def log_tail(t: float) -> tuple[float, float]:
    """log P(N > t) for a normal N, and a bound of its error.

    >>> print("%.9f" % log_tail(40.0)[0])
    -804.608442014
    """
    from scipy.special import erfcx

    if t < -1.0:
        value, error = log_tail(-t)
        rest = math.exp(value)
        return math.log1p(-rest), rest / (1.0 - rest) * (error + FUNCTION) * 1.001 + FUNCTION * rest + 1e-300
    factor = math.log(0.5 * float(erfcx(t * ROOT_HALF)))
    value = factor - 0.5 * t * t
    return value, UNIT * t * t + FUNCTION * abs(factor) + ERFCX + 8.0 * UNIT + 2.0 * UNIT * abs(value)


def quantile(target: float, sign: float) -> float:
    """A t surely at least (sign 1) or at most (sign -1) the one with log P(N > t) = target.

    >>> round(quantile(math.log(0.975), 1.0), 12), round(quantile(-1e6, -1.0), 9)
    (-1.95996398454, 1414.207782991)
    """
    from scipy.special import ndtri_exp

    t, least = -float(ndtri_exp(target)), UNIT
    value, _ = log_tail(t)
    t += (value - target) / _hazard(t, value)
    while True:
        value, error = log_tail(t)
        lack = sign * (value - target) + (1.0 + 1e-6) * error
        if lack <= 0.0:
            return t
        t += sign * max(least * max(1.0, abs(t)), 1.02 * lack / _hazard(t, value))
        least *= 2.0


def mills(x: float) -> float:
    """Mills' ratio P(N > x) / phi(x), rounded up: how fast mu_GDP grows in epsilon, at x = mu/2 + epsilon/mu.

    Liu et al. 2021, Theorem 4.5.

    >>> round(mills(0.0), 12) == round(math.sqrt(math.pi / 2.0), 12)
    True
    """
    from scipy.special import erfcx

    return up(0.5 * ROOT_TWO_PI * float(erfcx(x * ROOT_HALF)) * (1.0 + ERFCX + 16.0 * UNIT))


def line_mu(ends: tuple[tuple[float, float], ...], b: float) -> float:
    """A mu whose delta_mu is above the line of slope -P(N > b) in e^epsilon through the higher of the ends (epsilon, log delta).

    Hence it is above the chord between them.  delta_mu is convex in x = e^epsilon with the slope -P(N > mu/2 + epsilon/mu); its
    smallest sum with P(N > b) x is P(N < mu - b).  So mu = b + Phi^-1(k) lies above k - P(N > b) x, whatever b.

    >>> round(line_mu(((0.0, math.log(0.3)),), 0.5), 12)  # P(N < mu - 1/2) = 0.3 + P(N > 1/2)
    0.775509377166
    """
    value, error = log_tail(b)
    log = -math.inf
    for epsilon, log_delta in ends:
        one = value + epsilon
        high, low = max(one, log_delta), min(one, log_delta)
        total = high + math.log1p(math.exp(low - high)) if low > high - 745.0 else high
        log = max(log, up(total, error + 4.0 * UNIT * (abs(value) + abs(epsilon) + abs(total)) + 2.0 * FUNCTION))
    if log >= 0.0:
        return math.inf
    if log < -_LOG_TWO:
        return max(0.0, up(b - quantile(log, -1.0)))
    rest = math.log(-math.expm1(log))
    return max(0.0, up(b + quantile(rest - 2.0 * FUNCTION * (1.0 - rest), 1.0)))


def _hazard(t: float, value: float) -> float:
    """phi(t) / P(N > t)."""
    return math.exp(-0.5 * t * t - _LOG_ROOT_TWO_PI - value) if abs(t) < 1e6 else max(t, 1.0)
