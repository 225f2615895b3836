"""Certified ends of epsilon and of log delta from contours: which ones are evaluated, and the search for epsilon on each."""

import math

from ...numerics.roots import certified_end, increasing_root
from ..bounds.elementary import near_one
from ..composed import ComposedLoss
from ..protocol import Interval
from ..tolerance import SETTLED
from .contour import Contour, Saddle, contours

_NEAR_ONE, _HALF = -1e-3, -0.5  # log delta: above the first 1 - delta is what counts; the second is known there in any case


def contour_epsilon(run: ComposedLoss, log_delta: float, target: Interval, floor: float = 0.0) -> Interval:
    """Both ends of epsilon for the log delta that lies within `target`; nothing more is done once it is at most `floor`."""
    first = Contour(run, Saddle.of_delta(run, log_delta))
    low, high = 0.0, first.markov_epsilon(target[0])
    if high <= floor:
        return low, high
    for contour in contours(run, first):
        ends = _on_contour(contour, log_delta, target)
        low, high = max(low, ends[0]), min(high, ends[1])
        if high - low < SETTLED * high:
            break
    return low, high


def contour_log_delta(run: ComposedLoss, epsilon: float) -> Interval:
    """Both ends of log delta(epsilon)."""
    low, high = -math.inf, math.inf
    for contour in contours(run, Contour(run, Saddle.of_epsilon(run, epsilon))):
        high = min(high, contour.markov(epsilon))
        if contour.lay() and (not contour.short(epsilon) or contour.lay(every=True)):
            low, high = max(low, contour.lower(epsilon)), min(high, contour.upper(epsilon))
        if high - low < SETTLED:
            break
    if low < _NEAR_ONE and high > _HALF and not run.infinite_mass():  # the bound is of the whole, not of the finite part
        low = max(low, near_one(run, epsilon))
    return low, high


def _on_contour(contour: Contour, log_delta: float, target: Interval) -> Interval:
    """What one contour proves."""
    top = contour.markov_epsilon(target[0])
    if not contour.lay():
        return 0.0, top

    def gap(epsilon: float) -> tuple[float, float]:
        value, slope = contour.estimate(epsilon)
        return log_delta - value, -slope

    def search(start: float) -> float:
        return increasing_root(gap, start, enough=lambda _, step: abs(step) * contour.c < 1e-8, steps=30)

    guess = search(contour.saddle.epsilon)
    if contour.short(guess):
        if not contour.lay(every=True):
            return 0.0, top
        guess = search(guess)
    ahead = (contour.error(guess) + target[1] - target[0]) / contour.c  # about where the proofs will end
    return (
        certified_end(lambda e: contour.lower(e) - target[1], guess - ahead, -contour.c),
        min(top, certified_end(lambda e: target[0] - contour.upper(e), guess + ahead, contour.c)),
    )
