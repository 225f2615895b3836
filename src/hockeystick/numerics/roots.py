"""The one root finder: Newton's method for an increasing function, kept inside a shrinking bracket; and its certified end."""

import math
from collections.abc import Callable


def increasing_root(
    function: Callable[[float], tuple[float, float]],
    start: float,
    *,
    lower: float = -math.inf,
    upper: float = math.inf,
    tolerance: float = 1e-15,
    enough: Callable[[float, float], bool] | None = None,
    stride: float = math.inf,
    steps: int = 100,
) -> float:
    """Where an increasing function changes sign; `function` returns its value and its slope.

    A Newton step longer than `stride`, or out of the bracket, is cut (to the bracket's middle once both ends
    are known).  Stops when a step is below tolerance * |x|, or when `enough` says so of
    the point and Newton's step from it.

    >>> round(increasing_root(lambda x: (x**3 - 2.0, 3.0 * x * x), 1.0), 12)
    1.259921049895
    """
    point = start
    for _ in range(steps):
        value, slope = function(point)
        if value == 0.0:
            return point
        if value > 0.0:
            upper = point
        else:
            lower = point
        newton = -value / slope if 0.0 < slope < math.inf else math.copysign(math.inf, -value)
        following = point + max(-stride, min(stride, newton))
        if abs(newton) <= tolerance * abs(point) or (enough is not None and enough(point, newton)):
            return following
        if not lower < following < upper:
            if math.isinf(lower) or math.isinf(upper):
                following = point + math.copysign(min(max(1.0, abs(point)), stride), newton)
                following = min(max(following, lower), upper)
            else:
                following = 0.5 * (lower + upper)
            if not lower < following < upper:
                return following
        point = following
    return point


def certified_end(margin: Callable[[float], float], guess: float, pace: float, attempts: int = 60) -> float:
    """From a guess, go in the direction of pace's sign until the margin is not negative.

    The margin is taken to grow about as fast as |pace|; +-inf if it never does.
    """
    point = guess
    if not abs(pace) > 0.0:
        return math.copysign(math.inf, pace)
    for attempt in range(attempts):
        if not math.isfinite(point):
            break
        gap = margin(point)
        if gap >= 0.0:
            return point
        if math.isinf(gap):
            break
        point -= gap / pace * (1.0 + 1e-6 + 0.1 * attempt)
        point = math.nextafter(point, math.copysign(math.inf, pace))
    return math.copysign(math.inf, pace)
