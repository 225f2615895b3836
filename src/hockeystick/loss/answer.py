"""Answers for a relation: each ordered pair is composed by itself, and the larger answer counts."""

import math
from collections.abc import Sequence

import numpy as np

from ..numerics.rounding import FUNCTION, UNIT, up
from .composed import ComposedLoss
from .cumulant import Loss
from .engine import Interval, epsilon_interval, log_delta_interval
from .noise import TooFine


def epsilon_bounds(runs: Sequence[ComposedLoss], delta: float) -> Interval:
    """Both ends of epsilon(delta) >= 0, the larger over the ordered pairs."""
    low = high = 0.0
    for run in runs:
        one = epsilon_interval(run, delta, low)
        low, high = max(low, one[0]), max(high, one[1])
    return low, high


def log_delta_bounds(runs: Sequence[ComposedLoss], epsilon: float) -> Interval:
    """Both ends of log delta(epsilon), the larger over the ordered pairs."""
    low = high = -math.inf
    for run in runs:
        one = log_delta_interval(run, epsilon, low)
        low, high = max(low, one[0]), max(high, one[1])
    return low, high


def renyi(runs: Sequence[ComposedLoss], order: float) -> float:
    """The Rényi divergence of this order (1: Kullback-Leibler, inf: the largest loss), rounded up."""
    return max((_renyi(run, order) for run in runs), default=0.0)


def _renyi(run: ComposedLoss, order: float) -> float:
    if not run.terms:
        return 0.0
    if math.isinf(order):
        return run.ceiling
    c = order - 1.0
    if c == 0.0:
        value, error = run.mean()
        return up(value, error)
    total = math.fsum(count * _cumulant_above(loss, c, count) for loss, count in run.terms)
    return up(total / c * (1.0 + (len(run.terms) + 4.0) * UNIT))


def _cumulant_above(loss: Loss, c: float, count: int) -> float:
    """An upper bound of K(c) for one step, tight where the noise can be integrated."""
    bound = loss.bound(c)
    try:
        value, error = loss.slice(c, c, 0.0, count).values(1.0, 1)
    except TooFine:
        return bound
    found = float(value[0].real)
    return min(bound, found + float(np.log1p(error[0])) + FUNCTION * abs(found))
