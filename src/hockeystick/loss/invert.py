"""The epsilon at which a delta is reached, from any certified bounds of log delta near it.

docs/mathematics/every-run.md, section 6: what holds for every run.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

from ..numerics.roots import certified_end, increasing_root

Made = TypeVar("Made")
About = Callable[[float], tuple[float, float]]
"""About log delta and its slope at an epsilon."""


@dataclass(frozen=True)
class Tuning:
    """Of the searches; what they find is certified, or refused."""

    max_rounds: int = 6
    """Of a fixed point: more have not been seen to come nearer."""
    max_slope: float = 1e12
    """Of log delta over log epsilon: beyond it rounding decides where a proof ends."""


TUNING = Tuning()
BELOW = -1e-9  # the logarithm of a delta below 1


class ProfileBounds(Protocol):
    """Certified bounds of a privacy profile near one epsilon."""

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta and its slope, uncertified."""
        ...

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta."""
        ...

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta."""
        ...


def certified_ends(
    bounds: ProfileBounds, log_delta: float, slack: float, start: float, attempts: int = 60, most: float | None = None
) -> tuple[float, float]:
    """Both ends of epsilon as far as these bounds prove them, for log delta known up to slack; at most so many attempts each.

    Not far from the start, unless the `most` that epsilon can be is given.
    """
    epsilon = root(bounds.estimate, log_delta, start, 1e-13, None if most is None else (0.0, most))
    pace = min(-bounds.estimate(epsilon)[1], TUNING.max_slope / max(epsilon, 1e-300))
    if not pace > 0.0:
        return -math.inf, math.inf

    low = certified_end(lambda e: bounds.lower(e) - (log_delta + slack), epsilon, -pace, attempts)
    return low, certified_end(lambda e: (log_delta - slack) - bounds.upper(e), epsilon, pace, attempts)


def settled_epsilon(
    make: Callable[[float], tuple[Made, About]], log_delta: float, start: float, tolerance: float, near: float
) -> tuple[Made, float]:
    """A fixed point: what is made for an epsilon, made anew at its own estimate until the two are near; and the estimate."""
    epsilon = start
    for _ in range(TUNING.max_rounds):
        made, about = make(epsilon)
        found = root(about, log_delta, epsilon, tolerance)
        if abs(found - epsilon) < near * epsilon:
            break
        epsilon = found
    return made, found


def settled_log_delta(make: Callable[[float], tuple[Made, About]], epsilon: float, log_delta: float) -> Made:
    """A fixed point: what is made for a log delta at this epsilon, made anew for its own estimate until that is within 1."""
    level = min(log_delta, BELOW)
    for _ in range(TUNING.max_rounds):
        made, about = make(level)
        found = min(about(epsilon)[0], BELOW)
        if abs(found - level) < 1.0:
            break
        level = found
    return made


def root(
    about: About,
    log_delta: float,
    start: float,
    tolerance: float,
    within: tuple[float, float] | None = None,
) -> float:
    """The epsilon not far from a start, or within these, at which log delta is about this."""
    lower, upper = within or (0.4 * start, 2.5 * start)

    def gap(epsilon: float) -> tuple[float, float]:
        value, slope = about(epsilon)
        return log_delta - value, -slope

    return increasing_root(gap, start, lower=lower, upper=upper, tolerance=tolerance, steps=60)
