"""The best among what a run may be: for the lower end, where a part is known only by bounds."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ..composed import ComposedLoss


@dataclass(frozen=True)
class Tuning:
    """Where the best shift is sought: whatever is tried is attained, and so a lower end."""

    first_shifts: int = 32
    """Shares of the range that are tried first: with fewer the wrong one of two maxima may be taken."""
    outer_log_odds: tuple[float, ...] = tuple(2.0 * place for place in range(2, 15))
    """Of shares nearer to the ends, where of one or two uses the best one lies."""
    thirds: int = 16
    """Steps of the search by thirds: the share to a part in 1000 of the distance between two that were tried first."""


TUNING = Tuning()


def best_member(run: ComposedLoss, lower: Callable[[ComposedLoss], float]) -> float:
    """The largest lower end among what the run may be; a common shift of its bounded ranges is searched for."""
    best = max(lower(one) for one in run.variants("members"))
    if run.shifted(0.5) is None:
        return best

    def at(odds: float) -> float:
        """At a shift by its log odds."""
        one = run.shifted(1.0 / (1.0 + math.exp(-odds)))
        return -math.inf if one is None else lower(one)

    places = [math.log((place + 0.5) / (TUNING.first_shifts - place - 0.5)) for place in range(TUNING.first_shifts)]
    outer = [odds for odds in TUNING.outer_log_odds if odds > places[-1]]
    top, best_odds = max((at(odds), odds) for odds in places)
    if best_odds in (places[0], places[-1]):  # towards an end
        side = math.copysign(1.0, best_odds)
        for odds in outer:
            value = at(side * odds)
            if value < top:
                break
            top, best_odds = value, side * odds
    around = sorted(
        [*places, *outer, *(-odds for odds in outer), -TUNING.outer_log_odds[-1] - 1.0, TUNING.outer_log_odds[-1] + 1.0]
    )
    here = around.index(best_odds)
    left, right = around[here - 1], around[here + 1]
    for _ in range(TUNING.thirds):
        one, two = left + (right - left) / 3.0, right - (right - left) / 3.0
        values = at(one), at(two)
        top = max(top, *values)
        left, right = (left, two) if values[0] > values[1] else (one, right)
    return max(best, top)
