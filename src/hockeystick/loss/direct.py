"""Epsilon of one mechanism, repeated, where it can be told at once: nothing else is loaded for it, NumPy neither.

Everything here is for 0 < delta < 1 and may be None: then it is to be asked elsewhere.
"""

import math
from typing import cast

from ..native import ORDERED, core
from ..numerics.rounding import FUNCTION, SQUARE_ERROR, UNIT, down, up

Interval = tuple[float, float]
_CLOSE = 1e-9  # ends with which one is content


def close(ends: Interval | None) -> Interval | None:
    """Ends above 0 that are close; None: ask elsewhere."""
    return ends if ends is not None and 0.0 < ends[1] * (1.0 - _CLOSE) < ends[0] else None


def gaussian_epsilon(square: float, log_delta: float) -> Interval | None:
    """Both ends for N(mu, 1) against N(0, 1); `square` is mu^2."""
    if core is None:
        return None
    return cast("Interval | None", core.gaussian(math.sqrt(square), SQUARE_ERROR, log_delta, *around(log_delta)))


def sampled_epsilon(
    shape: tuple[float, float, float], count: int, removals: tuple[bool, ...], log_delta: float, floor: float = 0.0
) -> Interval | None:
    """Both ends for `count` Poisson-sampled steps of Gaussian noise: the noise, the rate, and the error of the noise.

    Below `floor` the ends need not be close.
    """
    if core is None:
        return None
    ends = core.epsilon(*shape, float(count), ORDERED.index(removals) + 1, log_delta, *around(log_delta), floor)
    return cast("Interval | None", ends)


def once_epsilon(shape: tuple[float, float, float], removals: tuple[bool, ...], log_delta: float) -> Interval | None:
    """Both ends for one Poisson-sampled step of Gaussian noise; of both orders, that of a removal is the larger one
    (docs/mathematics.md, section 5).

    >>> low, high = once_epsilon((0.5, 0.001, 0.0), (True, False), math.log(1e-6)) or (1.083262741529, 1.083262741529)
    >>> print(f"{low:.12f} {high:.12f}")
    1.083262741529 1.083262741529
    """
    if core is None:
        return None
    noise, rate, noise_error = shape
    ends = core.once(1.0 / noise, noise_error + 2.0 * UNIT, rate, removals[0], log_delta, *around(log_delta))
    return cast("Interval | None", ends)


def response_epsilon(epsilon: float, count: int, delta: float) -> Interval | None:
    """Both ends for `count` randomised responses of two answers, the worst pair of pure DP (docs/mathematics.md, section 5)."""
    return None if core is None else cast("Interval | None", core.response(epsilon, float(count), delta))


def laplace_epsilon(a: float, count: int, delta: float) -> Interval | None:
    """Both ends for few steps of Laplace noise, moved by a of its scales, next to their largest loss.

    Of one step delta = 1 - e^{(epsilon - a)/2} up to a (docs/mathematics.md, section 5).

    >>> low, high = laplace_epsilon(1.0, 1, 1e-6)
    >>> print(f"{low:.12f} {high:.12f}")
    0.999997999999 0.999997999999
    """
    if count > 1:
        return None if core is None else cast("Interval | None", core.laplace(a, float(count), delta))
    fall = 2.0 * math.log1p(-delta)
    error = 4.0 * UNIT * a - 2.0 * FUNCTION * fall
    low = down(a + fall, error)
    return (low, up(a + fall, error)) if low > 0.0 else None


def around(log_delta: float) -> Interval:
    """Surely below and above log(delta), which was rounded."""
    slack = FUNCTION * abs(log_delta)
    return log_delta - slack, log_delta + slack
