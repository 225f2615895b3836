"""The saddle point for 1 - delta, where delta is next to 1 (docs/mathematics/contour.md, Lemma 7a: 1 - delta)."""

import math
from dataclasses import dataclass

from ...numerics.roots import increasing_root
from ..protocol import Expandable
from .contour import Saddle, exact_beside_one


@dataclass(frozen=True)
class Tuning:
    """Of the search for the saddle point; every point of the strip gives a proof."""

    max_log_odds: float = 20.0
    """Of -c against 1 + c: nearer to an end of the strip nothing is gained."""
    accuracy: float = 0.02
    """Of the log odds: a saddle point that is nearer proves no more."""


TUNING = Tuning()


def complement_saddle(run: Expandable, epsilon: float) -> Saddle:
    """Between -1 and 0, where K(c) - c epsilon - log(-c (1+c)) is least; it is convex."""

    def balance(x: float) -> tuple[float, float]:
        c = -1.0 / (1.0 + math.exp(-x))
        _, first, second = run.expand(c)
        return -(first - epsilon - 1.0 / c - 1.0 / (1.0 + c)), -c * (1.0 + c) * (second + 1.0 / (c * c) + (1.0 + c) ** -2)

    x = increasing_root(
        balance,
        0.0,
        lower=-TUNING.max_log_odds,
        upper=TUNING.max_log_odds,
        stride=1.0,
        enough=lambda _, step: abs(step) < TUNING.accuracy,
    )
    c = exact_beside_one(-1.0 / (1.0 + math.exp(-x)))
    width, height = Saddle.shape(run, c)
    return Saddle(c, width, epsilon, min(0.0, height - c * epsilon))
