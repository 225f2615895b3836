"""e to the power of sums that a double does not hold, rounded up."""

import math
from fractions import Fraction

from ...numerics.rounding import FUNCTION, SMALLEST, UNIT, exp_up, up


def exp_of_sum(high: float, low: float, error: float) -> float:
    """e^(high + low + error) rounded up and clipped to 1, for an exact `high`, which then costs no accuracy.

    >>> exp_of_sum(-800.0, 0.0, 0.0) == 5e-324, exp_of_sum(1.0, 0.0, 0.0)
    (True, 1.0)
    """
    if high + low >= 0.0:
        return 1.0
    if high < -700.0 or low > 700.0:
        return exp_up(up(high + low, error + 2.0 * UNIT * (abs(high) + abs(low))), 1.0)
    value = math.exp(min(high, 700.0)) * math.exp(low) * (1.0 + 2.0 * FUNCTION + 2.0 * UNIT + 2.0 * (error + UNIT * abs(low)))
    return min(1.0, max(up(value), SMALLEST))


def exp_of_fraction(exponent: Fraction, more: float, error: float) -> float:
    """e^(exponent + more + error), rounded up and clipped to 1.

    >>> exp_of_fraction(Fraction(-1), 0.0, 0.0) >= math.exp(-1.0)
    True
    """
    if exponent < -100_000:
        return exp_of_sum(-100_000.0, 0.0, 0.0)
    high = float(exponent)
    return exp_of_sum(high, float(exponent - Fraction(high)) + more, error)
