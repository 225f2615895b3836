"""Both ends of what Gaussian DP says of one guarantee and of one test."""

import math

from ...numerics.rounding import FUNCTION, UNIT, down, exp_down, exp_up, up
from .normals import hockey_stick, log_tail, mu_bounds, quantile


def mu_ends(epsilon: float, delta: float) -> tuple[float, float]:
    """Both ends of `gdp_mu`.

    >>> lower, upper = mu_ends(1.0, 1e-5)
    >>> lower < upper < lower + 1e-13
    True
    """
    if delta == 0.0 or delta == 1.0:
        return (0.0, 0.0) if delta == 0.0 else (math.inf, math.inf)
    log = math.log(delta)
    return mu_bounds(epsilon, log + FUNCTION * log, log - FUNCTION * log)


def error_ends(least: float, most: float, alpha: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Both ends of `gdp_tradeoff` and of 1 minus it, for a mu from `least` to `most`.

    >>> (lower, upper), _ = error_ends(40.0, 40.0, 1e-3)
    >>> lower < upper < lower * (1.0 + 1e-11)
    True
    """
    if alpha == 0.0 or alpha == 1.0:
        return (1.0 - alpha, 1.0 - alpha), (alpha, alpha)
    if most == 0.0:
        return (down(1.0 - alpha), up(1.0 - alpha)), (alpha, alpha)
    if alpha <= 0.5:
        log = math.log(alpha)
        ends = quantile(log - FUNCTION * log, -1.0), quantile(log + FUNCTION * log, 1.0)
    else:  # 1 - alpha is exact
        log = math.log(1.0 - alpha)
        ends = -quantile(log + FUNCTION * log, 1.0), -quantile(log - FUNCTION * log, -1.0)
    low, high = down(ends[0] - most), up(ends[1] - least)
    return (_normal(low, -1.0), _normal(high, 1.0)), (_normal(-high, -1.0), _normal(-low, 1.0))


def _normal(x: float, sign: float) -> float:
    """P(N < x), rounded down (sign -1) or up."""
    if x > 0.0:
        value, error = log_tail(x)
        rest = exp_up(up(value, error)) if sign < 0.0 else exp_down(down(value, error))
        return max(0.0, down(1.0 - rest)) if sign < 0.0 else min(1.0, up(1.0 - rest))
    value, error = log_tail(-x)
    return exp_down(down(value, error)) if sign < 0.0 else exp_up(up(value, error))


def log_delta_up(mu: float, epsilon: float) -> float:
    """An upper bound of log delta."""
    high, low, factor, error = hockey_stick(mu, epsilon)
    log = math.log(factor) if factor > 0.0 else -744.0
    return min(0.0, up(high + (log + low), error + FUNCTION * abs(log) + 2.0 * UNIT * abs(high + log)))


def exact_square(value: float) -> int:
    """In units of 2^-2148, exactly."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator * ((1 << 1074) // denominator)) ** 2
