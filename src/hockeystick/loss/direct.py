"""Gaussian noise, sampled or not, whose epsilon the compiled core tells in one call: nothing else is loaded for it."""

import math
from typing import cast

from ..native import ORDERED, core
from ..numerics.rounding import FUNCTION, SQUARE_ERROR

Interval = tuple[float, float]


def gaussian_epsilon(square: float, log_delta: float) -> Interval | None:
    """Both ends for N(mu, 1) against N(0, 1); `square` is mu^2.  None: ask elsewhere."""
    if core is None:
        return None
    return cast("Interval | None", core.gaussian(math.sqrt(square), SQUARE_ERROR, log_delta, *around(log_delta)))


def sampled_epsilon(
    shape: tuple[float, float, float], count: int, removals: tuple[bool, ...], log_delta: float, floor: float = 0.0
) -> Interval | None:
    """Both ends for `count` Poisson-sampled steps of this noise, its rate and its error; None: ask elsewhere.

    Below `floor` the ends need not be close.
    """
    if core is None:
        return None
    ends = core.epsilon(*shape, float(count), ORDERED.index(removals) + 1, log_delta, *around(log_delta), floor)
    return cast("Interval | None", ends)


def around(log_delta: float) -> Interval:
    """Surely below and above log(delta), which was rounded."""
    slack = FUNCTION * abs(log_delta)
    return log_delta - slack, log_delta + slack
