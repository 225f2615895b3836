"""How much of the slack an entry takes: what makes the larger of its two shares smallest."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .price import Left, Price

_HARDLY = 1e-3
"""Slack that lowers the cost by less than this share is not worth taking."""
_TINY = 1e-6
"""What takes so little of the reserve without any slack is not worth a search."""
_EVALUATIONS = 12
_CLOSE = 1e-4
"""Between the logarithms of both shares: any delta is on the safe side, so nothing is proved with it."""


def best_delta(priced: "Callable[[float], Price]", most: float, left: "Left") -> "Price":
    """The price at a delta from 0 to `most` where it takes as much of the slack as of the reserve.

    The cost falls with delta, so the larger of both shares is smallest where they are equal.  Every delta gives a valid price:
    where the search stops is no part of a proof.
    """
    bare = priced(0.0)
    if not most or bare.amount <= _TINY * left.amount or left.amount <= 0:
        return bare
    dearest = priced(most)
    if not dearest.amount:
        return _cheapest_without(priced, most, dearest)
    if bare.amount <= dearest.amount * (1.0 + _HARDLY):
        return bare
    low, high = math.log(dearest.amount / left.amount), 0.0  # logarithms of the share of the slack, on either side of the root
    if low >= 0.0:
        return dearest
    at_low, at_high = math.inf, low
    best, place = dearest, low
    for _ in range(_EVALUATIONS):
        found = priced(most * math.exp(place))
        share = math.log(found.amount / left.amount) if found.amount else -math.inf
        gap = share - place
        if max(share, place) < max(math.log(best.amount / left.amount), _log_share(best, left)):
            best = found
        if abs(gap) <= _CLOSE:
            break
        if gap > 0.0:
            low, at_low = place, gap
        else:
            high, at_high = place, gap
        place = (
            low + (high - low) * at_low / (at_low - at_high)
            if math.isfinite(at_low) and math.isfinite(at_high)
            else (low + high) / 2
        )
    return bare if bare.amount <= best.amount * (1.0 + _HARDLY) else best


def _log_share(price: "Price", left: "Left") -> float:
    return math.log(price.slack / left.slack) if price.slack and left.slack else -math.inf


def _cheapest_without(priced: "Callable[[float], Price]", most: float, dearest: "Price") -> "Price":
    """Of prices that take nothing of the reserve, one that takes little of the slack."""
    best, low = dearest, 0.0
    for _ in range(_EVALUATIONS):
        middle = (low + best.delta) / 2.0
        found = priced(middle)
        if found.amount:
            low = middle
        else:
            best = found
    return best
