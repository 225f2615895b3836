"""The best among what a run may be: for the lower end, where a part is known only by bounds."""

import math
from collections.abc import Callable

from ..composed import ComposedLoss

_SHIFTS = 32  # first places in the search for the best shift
_ODDS = tuple(2.0 * place for place in range(2, 15))  # log odds of places nearer to the ends


def best_member(run: ComposedLoss, lower: Callable[[ComposedLoss], float]) -> float:
    """The largest lower end among what the run may be; a common shift of its bounded ranges is searched for."""
    best = max(lower(one) for one in run.variants("members"))
    if run.shifted(0.5) is None:
        return best

    def at(odds: float) -> float:
        """At a shift by its log odds."""
        one = run.shifted(1.0 / (1.0 + math.exp(-odds)))
        return -math.inf if one is None else lower(one)

    places = [math.log((place + 0.5) / (_SHIFTS - place - 0.5)) for place in range(_SHIFTS)]
    outer = [odds for odds in _ODDS if odds > places[-1]]
    top, best_odds = max((at(odds), odds) for odds in places)
    if best_odds in (places[0], places[-1]):  # towards an end
        side = math.copysign(1.0, best_odds)
        for odds in outer:
            value = at(side * odds)
            if value < top:
                break
            top, best_odds = value, side * odds
    around = sorted([*places, *outer, *(-odds for odds in outer), -_ODDS[-1] - 1.0, _ODDS[-1] + 1.0])
    here = around.index(best_odds)
    left, right = around[here - 1], around[here + 1]
    for _ in range(16):  # by thirds
        one, two = left + (right - left) / 3.0, right - (right - left) / 3.0
        values = at(one), at(two)
        top = max(top, *values)
        left, right = (left, two) if values[0] > values[1] else (one, right)
    return max(best, top)
