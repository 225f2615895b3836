"""What an answer promises: how narrow a certified interval must be before nothing more is asked for it.

These are tolerances, one of three kinds of constants.  What is assumed of the machine stands in `numerics/rounding.py`; tuning,
which decides how soon an answer is found and never enters a proof, stands in each engine beside the code that it tunes.
"""

Interval = tuple[float, float]

SETTLED = 1e-9
"""The width with which an interval counts as converged: relative to epsilon, absolute for log delta.

`native/types.h` has the same number; a test compares them."""

WIDE = 1e-6
"""The width from which engines are asked that cost more than a contour."""

DECIMALS = 2e-10
"""Half the width in delta itself with which one question of delta counts as converged: nine decimal places."""

SMALL_EPSILON = 1e-6
"""Added to epsilon where a width is relative to it: an epsilon of zero has no relative width."""


DECIMALS_READ = 2.0**-51
"""How far, relatively, a delta that is asked may lie below the probability of an infinite loss and be read as that probability.

A theorem's delta is a product of decimals, such as a rate of 0.1 and a delta of 1e-6.  Each of them, and the delta that is
asked, is rounded to a double by 2^-53 at most, so the exact product of doubles may exceed that double by three times as much."""


def converged(low: float, high: float) -> bool:
    """Whether both ends of an epsilon above 0 are so close to each other that nothing else need be asked.

    >>> converged(1.0, 1.0 + 1e-10), converged(1.0, 1.1), converged(0.0, 0.0)
    (True, False, False)
    """
    return 0.0 < high * (1.0 - SETTLED) < low <= high
