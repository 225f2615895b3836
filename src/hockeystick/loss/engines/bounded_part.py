"""Epsilon of a run of which some losses are bounded, from that of the others: at tiny deltas those are next to their largest.

docs/mathematics.md, section 7c: Lemma 19h (bounded losses beside others).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...numerics.rounding import FUNCTION, down, exp_up, up
from ..bounds.elementary import log_near_top, without_bounded
from ..composed import ComposedLoss
from ..protocol import Interval


@dataclass(frozen=True)
class Tuning:
    """How delta is shared out between what may happen; every share gives a bound."""

    late_share: float = 1e-3
    """Of delta, for losses that are not near their largest: less asks for a larger epsilon, more leaves less for the rest."""
    coarse_width: float = 5e-6
    """Of epsilon: wider intervals are worth the closer look at how near to their largest the losses are."""
    max_questions: int = 6
    """Of that look, each an epsilon of the others."""
    open_share: float = 4e-3
    """Of delta, that may stay open: about a millionth of epsilon."""


TUNING = Tuning()


def beside_bounded(
    run: ComposedLoss, log_delta: float, ask: Callable[[ComposedLoss, float], Interval], known: float = 0.0
) -> Interval:
    """Both ends of epsilon, if some losses are bounded: the sum of the largest, and epsilon of the others for a larger delta.

    From below, all of the bounded ones are at their largest.  From above, a share `late_share` of delta is for those not near it;
    how near is bounded more closely, and more slowly, if the upper end that is `known` is far off.
    """
    if not (split := without_bounded(run)):
        return 0.0, math.inf
    bounded, others = split
    slack = 2.0 * FUNCTION * abs(log_delta)  # less may be left of it in what follows
    top, least = log_delta + slack - bounded.log_top_mass, 0.0
    if top < -1e-9:
        least = ask(others, top)[0]

    def most(level: float) -> float:
        return ask(others, min(level - slack, -1e-9))[1] if level < slack else 0.0

    distance = most(log_delta + math.log(TUNING.late_share)) - least
    near = log_near_top(bounded, distance) if distance < math.inf else 0.0
    high = most(log_delta + math.log1p(-TUNING.late_share) - near)
    if bounded.ceiling_below + least < min(bounded.ceiling + high, known) * (1.0 - TUNING.coarse_width):
        high = min(high, _near_top(bounded, log_delta, top, most))
    return down(bounded.ceiling_below + least) if least > 0.0 else 0.0, up(bounded.ceiling + high)


def _near_top(bounded: ComposedLoss, log_delta: float, top: float, most: Callable[[float], float]) -> float:
    """An epsilon of the others such that, with the largest sum of the bounded losses, the whole has at most this delta.

    `most` gives an epsilon x_j of the others for a level L_j of log delta.  At distances from x_j - x_0 on from the largest sum
    the others must exceed x_j.  With F_j a bound of the chance that no loss is as far from its own largest, delta is at most the
    sum of F_{j+1} (e^{L_j} - e^{L_{j+1}}), F = 1 in the end; here over e^top, the highest that L_0 may be.
    """
    start, last = most(top), top - log_delta - math.log(TUNING.late_share)  # beyond, all else is `late_share`
    falls = [0.0, min(0.5, 0.5 * last), last]

    def chance(fall: float) -> float:
        place = most(top - fall) if fall else start
        return exp_up(log_near_top(bounded, place - start), 1.0) if place < math.inf else 1.0

    chances = [chance(fall) for fall in falls]
    shares = [math.exp(-fall) for fall in falls]
    for _ in range(TUNING.max_questions):
        unsure = [(chances[i + 1] - chances[i]) * (shares[i] - shares[i + 1]) for i in range(len(falls) - 1)]
        if math.fsum(unsure) < TUNING.open_share * chances[0]:
            break
        i = unsure.index(max(unsure))
        middle = 0.5 * (falls[i] + falls[i + 1])
        falls.insert(i + 1, middle)
        chances.insert(i + 1, chance(middle))
        shares.insert(i + 1, math.exp(-middle))
    rest = math.fsum(chances[i + 1] * (shares[i] - shares[i + 1]) for i in range(1, len(falls) - 1)) + shares[-1]
    share = (math.exp(log_delta - top) - rest) / chances[1] + shares[1]  # e^{L_0 - top}
    return max(start, most(top + min(0.0, math.log(share)) - 1e-12)) if share > shares[1] else math.inf
