"""The saddle point for 1 - delta, where delta is next to 1 (docs/mathematics/contour.md, Lemma 7a: 1 - delta)."""

import math

from ...numerics.roots import increasing_root
from ..protocol import Expandable
from .contour import Saddle, exact_beside_one

_MAX_LOG_ODDS = 20.0  # tuning: of -c against 1 + c; nearer to an end of the strip nothing is gained


def complement_saddle(run: Expandable, epsilon: float) -> Saddle:
    """Between -1 and 0, where K(c) - c epsilon - log(-c (1+c)) is least; it is convex."""

    def balance(x: float) -> tuple[float, float]:
        c = -1.0 / (1.0 + math.exp(-x))
        _, first, second = run.expand(c)
        return -(first - epsilon - 1.0 / c - 1.0 / (1.0 + c)), -c * (1.0 + c) * (second + 1.0 / (c * c) + (1.0 + c) ** -2)

    x = increasing_root(
        balance, 0.0, lower=-_MAX_LOG_ODDS, upper=_MAX_LOG_ODDS, stride=1.0, enough=lambda _, step: abs(step) < 0.02
    )
    c = exact_beside_one(-1.0 / (1.0 + math.exp(-x)))
    width, height = Saddle.shape(run, c)
    return Saddle(c, width, epsilon, min(0.0, height - c * epsilon))
