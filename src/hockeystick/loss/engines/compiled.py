"""Epsilon of one mechanism, repeated, where it can be told at once: nothing else is loaded for it, NumPy neither.

Everything here is for 0 < delta < 1 and may be None: then it is to be asked elsewhere.
"""

import math

from ...native import ORDERED, core
from ...numerics.rounding import FUNCTION, SQUARE_ERROR, UNIT, down, up

Interval = tuple[float, float]
_CLOSE = 1e-9  # ends with which one is content


def close(ends: Interval | None) -> Interval | None:
    """Ends above 0 that are close; None: ask elsewhere."""
    return ends if ends is not None and 0.0 < ends[1] * (1.0 - _CLOSE) < ends[0] else None


def gaussian_epsilon(square: float, delta: float) -> Interval | None:
    """Both ends for N(mu, 1) against N(0, 1); `square` is mu^2."""
    found: Interval | None = None if core is None else core.gaussian(math.sqrt(square), SQUARE_ERROR, delta)
    return found


def sampled_epsilon(
    shape: tuple[float, float, float], count: int, removals: tuple[bool, ...], log_delta: float, floor: float = 0.0
) -> Interval | None:
    """Both ends for `count` Poisson-sampled steps of Gaussian noise: the noise, the rate, and the error of the noise.

    Below `floor` the ends need not be close.
    """
    if core is None:
        return None
    found: Interval | None = core.epsilon(*shape, float(count), ORDERED.index(removals) + 1, log_delta, *around(log_delta), floor)
    return found


def once_epsilon(shape: tuple[float, float, float], removals: tuple[bool, ...], delta: float) -> Interval | None:
    """Both ends for one Poisson-sampled step of Gaussian noise; of both orders, that of a removal is the larger one
    (docs/mathematics.md, section 5).

    >>> low, high = once_epsilon((0.5, 0.001, 0.0), (True, False), 1e-6) or (1.085235709058, 1.085235709058)
    >>> print(f"{low:.12f} {high:.12f}")
    1.085235709058 1.085235709058
    """
    if core is None:
        return None
    noise, rate, noise_error = shape
    found: Interval | None = core.once(1.0 / noise, noise_error + 2.0 * UNIT, rate, removals[0], delta)
    return found


def response_epsilon(epsilon: float, count: int, delta: float) -> Interval | None:
    """Both ends for `count` randomised responses of two answers, the worst pair of pure DP (docs/mathematics.md, section 5)."""
    found: Interval | None = None if core is None else core.response(epsilon, float(count), delta)
    return found


def laplace_epsilon(a: float, count: int, delta: float) -> Interval | None:
    """Both ends for steps of Laplace noise, moved by a of its scales: one, few next to their largest loss, or many.

    Of one step delta = 1 - e^{(epsilon - a)/2} up to a (docs/mathematics.md, section 5).

    >>> low, high = laplace_epsilon(1.0, 1, 1e-6)
    >>> print(f"{low:.12f} {high:.12f}")
    0.999997999999 0.999997999999
    """
    if count > 1:
        found: Interval | None = None if core is None else core.laplace(a, float(count), delta)
        return found
    fall = 2.0 * math.log1p(-delta)
    error = 4.0 * UNIT * a - 2.0 * FUNCTION * fall
    low = down(a + fall, error)
    return (low, up(a + fall, error)) if low > 0.0 else None


def around(log_delta: float) -> Interval:
    """Surely below and above log(delta), which was rounded."""
    slack = FUNCTION * abs(log_delta)
    return log_delta - slack, log_delta + slack
