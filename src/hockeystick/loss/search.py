"""The epsilon at which a delta is reached, from whatever tells bounds of log delta near it."""

import math
from collections.abc import Callable
from typing import Protocol

from ..numerics.roots import certified_end, increasing_root


class Proof(Protocol):
    """Tells log delta near one epsilon."""

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta and its slope, uncertified."""
        ...

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta."""
        ...

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta."""
        ...


def ends(
    proof: Proof, log_delta: float, slack: float, start: float, attempts: int = 60, most: float | None = None
) -> tuple[float, float]:
    """Both ends of epsilon as far as this proves them, for log delta known up to slack; each is sought at so many places.

    Not far from the start, unless the `most` that epsilon can be is given.
    """
    epsilon = root(proof.estimate, log_delta, start, 1e-13, None if most is None else (0.0, most))
    pace = -proof.estimate(epsilon)[1]
    if not pace > 0.0:
        return -math.inf, math.inf
    low = certified_end(lambda e: proof.lower(e) - (log_delta + slack), epsilon, -pace, attempts)
    return low, certified_end(lambda e: (log_delta - slack) - proof.upper(e), epsilon, pace, attempts)


def root(
    about: Callable[[float], tuple[float, float]],
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
