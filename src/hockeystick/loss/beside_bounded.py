"""Epsilon of a run of which some losses are bounded, from that of the others: at tiny deltas those are next to their largest."""

import math
from collections.abc import Callable
from itertools import pairwise

from ..numerics.rounding import FUNCTION, down, exp_up, up
from .certain import Interval, log_near_top, without_bounded
from .composed import ComposedLoss

_LATE, _COARSE = 1e-3, 5e-6
_FALLS = (0.5, 1.5, 4.0, 8.0)  # of log delta, from the largest sum of bounded losses down


def beside_bounded(
    run: ComposedLoss, log_delta: float, ask: Callable[[ComposedLoss, float], Interval], known: float = 0.0
) -> Interval:
    """Both ends of epsilon, if some losses are bounded: the sum of the largest, and epsilon of the others for a larger delta.

    From below, all of the bounded ones are at their largest.  From above, a share `_LATE` of delta is for those not near it; how
    near is told more slowly if the upper end that is `known` is far off.
    """
    if not (apart := without_bounded(run)):
        return 0.0, math.inf
    bounded, others = apart
    slack = 2.0 * FUNCTION * abs(log_delta)  # less may be left of it in what follows
    top, least = log_delta + slack - bounded.log_top_mass, 0.0
    if top < -1e-9:
        least = ask(others, top)[0]

    def most(level: float) -> float:
        return ask(others, min(level - slack, -1e-9))[1] if level < slack else 0.0

    distance = most(log_delta + math.log(_LATE)) - least
    near = log_near_top(bounded, distance) if distance < math.inf else 0.0
    high = most(log_delta + math.log1p(-_LATE) - near)
    if bounded.surely + least < min(bounded.ceiling + high, known) * (1.0 - _COARSE):
        high = min(high, _near_top(bounded, log_delta, top, most))
    return down(bounded.surely + least) if least > 0.0 else 0.0, up(bounded.ceiling + high)


def _near_top(bounded: ComposedLoss, log_delta: float, top: float, most: Callable[[float], float]) -> float:
    """An epsilon of the others such that, with the largest sum of the bounded losses, the whole has at most this delta.

    `most` tells an epsilon of the others for a level L_j of log delta, x_j.  At distances from x_j - x_0 on from the largest sum
    the others must exceed x_j.  With F_j a bound of the chance that no loss is as far from its own largest, delta is at most the
    sum of F_{j+1} (e^{L_j} - e^{L_{j+1}}), F = 1 in the end; here over e^top, the highest that L_0 may be.
    """
    start = most(top)
    places = [most(top - fall) for fall in _FALLS]
    if not places[-1] < math.inf:
        return math.inf
    shares = [math.exp(-fall) for fall in _FALLS] + [0.0]
    chances = [exp_up(log_near_top(bounded, place - start), 1.0) for place in places] + [1.0]
    rest = math.fsum(chance * (one - other) for chance, (one, other) in zip(chances[1:], pairwise(shares), strict=True))
    share = (math.exp(log_delta - top) - rest) / chances[0] + shares[0]  # e^{L_0 - top}
    return max(start, most(top + min(0.0, math.log(share)) - 1e-12)) if share > shares[0] else math.inf
