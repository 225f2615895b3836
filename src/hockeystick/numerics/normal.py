"""The hockey stick of two unit normal laws at distance mu, in logarithms."""

import math

from .rounding import ERFCX, FUNCTION, UNIT

_ROOT_HALF = math.sqrt(0.5)


def log_tail_bound(x: float) -> float:
    """An upper bound of log P(N > x): -x^2/2 - log 2 for x >= 0, else 0.

    >>> log_tail_bound(-1.0)
    0.0
    """
    return -0.5 * x * x - math.log(2.0) if x >= 0.0 else 0.0


def log_shift_delta(mu: float, x: float, mu_error: float = 4.0 * UNIT) -> tuple[float, float, float]:
    """log of delta = P(N > a) - e^x P(N > a + mu) with a = x/mu - mu/2, for x >= 0 and mu > 0.

    Returns (log delta, a bound of its absolute error, d log delta / d x).  With Mills' ratio
    R(t) = sqrt(pi/2) erfcx(t/sqrt 2), delta = phi(a) (R(a) - R(a + mu)); far to the left its complement
    P(N < a) + phi(a) R(a + mu) is summed instead.  `mu_error` is the relative error of mu itself.

    >>> value, error, slope = log_shift_delta(1.0, 1.0)
    >>> print(f"{math.exp(value):.12f}", error < 1e-14)
    0.126936737507 True
    """
    from scipy.special import erfcx

    ratio, half = x / mu, 0.5 * mu
    a, b = ratio - half, ratio + half
    if a > 1e150:
        return -math.inf, math.inf, -math.inf
    # error of a and b: rounding, and mu's own error, of which |da/dmu| mu = ratio + half
    shift = (mu_error + 2.0 * UNIT) * (ratio + half)
    right = 0.5 * float(erfcx(b * _ROOT_HALF))
    exponent_error = abs(a) * shift + 2.0 * UNIT * a * a + FUNCTION
    if a >= -1.0:
        left = 0.5 * float(erfcx(a * _ROOT_HALF))
        gap = left - right
        if gap <= 0.0:
            return -math.inf, math.inf, -math.inf
        # |R'/R| = 1/R(t) - t falls in t, is below 1.3 at -1 and below 1/t for t > 0
        relative = ERFCX + 4.0 * UNIT + shift * (1.0 / a if a > 1.0 else 1.3)
        error = exponent_error + (left + right) / gap * relative
        value = -0.5 * a * a + math.log(gap)
        return value, error + 2.0 * UNIT * abs(value), -right / gap
    if a < -40.0:
        return 0.0, 1e-300, 0.0
    weight = math.exp(-0.5 * a * a)
    complement = weight * (0.5 * float(erfcx(-a * _ROOT_HALF)) + right)
    error = complement * (exponent_error + 2.0 * ERFCX + 2.0 * shift) / (1.0 - complement)
    return math.log1p(-complement), error + FUNCTION, -weight * right / (1.0 - complement)
