"""The one root finder: Newton's method for an increasing function, kept inside a shrinking bracket; and its certified end."""

import math
from collections.abc import Callable

_FAR, _HALVINGS = 1e-11, 40  # tuning: an end this far (relative) from where the margin fails is brought nearer by halves
_BLIND = 16  # tuning: attempts without any proved value


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


def bracketed(function: Callable[[float], float], low: float, high: float, width: float) -> tuple[float, float]:
    """Places no farther apart than `width` between which an increasing function changes sign, if it does so between these.

    By false position, an end that was kept twice with half its value (Illinois); by halves where nothing is known.

    >>> low, high = bracketed(lambda x: x**3 - 2.0, 0.0, 9.0, 1e-3)
    >>> print(low <= 2.0 ** (1 / 3) <= high <= low + 1e-3)
    True
    """
    below = above = math.nan
    kept = 0  # the end that was kept the last time
    while high - low > width:
        share = below / (below - above) if below < 0.0 < above else 0.5
        point = low + (high - low) * share if 0.0 <= share <= 1.0 else 0.5 * (low + high)
        room = 0.45 * width  # so that the other end follows
        point = min(max(point, low + min(room, 0.5 * (high - low))), high - min(room, 0.5 * (high - low)))
        value = function(point)
        if value < 0.0:
            above = 0.5 * above if kept > 0 else above
            low, below, kept = point, value, 1
        else:
            below = 0.5 * below if kept < 0 else below
            high, above, kept = point, value, -1
    return low, high


def narrowed(function: Callable[[float], float], low: float, high: float, width: float) -> tuple[float, float]:
    """As `bracketed`, for smooth functions and small widths, which are relative to 1 + |x|: by inverse quadratic interpolation.

    Halves where the function is infinite, or the interpolation is not safe (Chandrupatla 1997).  Says nothing if
    function(low) < 0 <= function(high) fails.

    >>> low, high = narrowed(lambda x: x**3 - 2.0, 0.0, 9.0, 1e-14)
    >>> print(low <= 2.0 ** (1 / 3) <= high <= low + 3e-14)
    True
    """
    near, other = high, low  # the newest point, and the end on the other side of the root
    near_value, other_value = function(high), function(low)
    share = 0.5
    while abs(other - near) > (least := width * (1.0 + abs(near))):
        least = max(0.45 * least, math.ulp(near)) / abs(other - near)
        point = near + (0.5 if least >= 0.5 else min(max(share, least), 1.0 - least)) * (other - near)
        if point in (near, other):  # no double is between them
            break
        value = function(point)
        if (value >= 0.0) == (near_value >= 0.0):
            last, last_value = near, near_value
        else:
            last, other, last_value, other_value = other, near, other_value, near_value
        near, near_value = point, value
        share = _interpolated(near, other, last, near_value, other_value, last_value)
    return min(near, other), max(near, other)


def _interpolated(near: float, other: float, last: float, f_near: float, f_other: float, f_last: float) -> float:
    """The share of the way from `near` to `other` at which the parabola through three points is zero; 1/2 if that is not safe."""
    if not math.isfinite(f_near + f_other + f_last) or f_last in (f_other, f_near) or near == last:
        return 0.5
    xi, phi = (near - other) / (last - other), (f_near - f_other) / (f_last - f_other)
    if not (phi * phi < xi and (1.0 - phi) * (1.0 - phi) < 1.0 - xi):
        return 0.5
    first = f_near / (f_other - f_near) * f_last / (f_other - f_last)
    return first + (last - near) / (other - near) * f_near / (f_last - f_near) * f_other / (f_last - f_other)


def certified_end(margin: Callable[[float], float], guess: float, pace: float, attempts: int = 60) -> float:
    """From a guess, go in the direction of pace's sign until the margin is not negative.

    The margin is taken to grow about as fast as |pace|; +-inf if it never does.  An end that lies far away, as beyond a cliff, is
    brought nearer by halves.
    """
    point = fails = guess
    if not abs(pace) > 0.0:
        return math.copysign(math.inf, pace)
    for attempt in range(attempts):
        if not math.isfinite(point):
            break
        gap = margin(point)
        if gap >= 0.0:
            return _nearer(margin, fails, point)
        fails = point
        if math.isinf(gap):  # nothing is proved so near to a cliff
            if attempt > _BLIND:
                break
            point += math.copysign(abs(point) * 8.0**attempt * 2.0**-53, pace)
        else:
            point -= gap / pace * (1.0 + 1e-6 + 0.1 * attempt)
        point = math.nextafter(point, math.copysign(math.inf, pace))
    return math.copysign(math.inf, pace)


def _nearer(margin: Callable[[float], float], fails: float, holds: float) -> float:
    for _ in range(_HALVINGS):
        if not abs(holds - fails) > _FAR * abs(fails):
            break
        middle = 0.5 * (fails + holds)
        fails, holds = (fails, middle) if margin(middle) >= 0.0 else (middle, holds)
    return holds
