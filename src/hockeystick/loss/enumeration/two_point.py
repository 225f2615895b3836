"""Runs of randomised response and of the worst pairs of claims: sums of independent two-point losses.

docs/mathematics.md, sections 5 and 12; the sums are in `numerics/two_point_sums.py`.
"""

import math

import numpy as np

from ...numerics.rounding import FUNCTION, UNIT
from ...numerics.two_point_sums import TwoPointSum, hockey_stick_root, log_hockey_stick
from ..composed import ComposedLoss
from ..pairs.discrete import ResponseLoss

_MAX_LOSS = 300.0
"""Of one step: its exponentials are doubles, and so are their products with masses."""


def _two_point_sum(run: ComposedLoss) -> tuple[TwoPointSum, float, float] | None:
    """The losses of a run of two-point losses, log P(Z is finite) and a bound of its error; None for any other run."""
    counts: dict[float, int] = {}
    kept = []
    for loss, count in run.terms:
        if not isinstance(loss, ResponseLoss) or loss.categories != 2 or not 0.0 < loss.epsilon < _MAX_LOSS:
            return None
        counts[loss.epsilon] = counts.get(loss.epsilon, 0) + count
        kept.append(count * math.log1p(-loss.delta))
    sizes = sorted(counts)
    log_kept = math.fsum(kept)
    terms = TwoPointSum(np.array(sizes), np.array([float(counts[size]) for size in sizes]))
    return terms, log_kept, 2.0 * FUNCTION * abs(log_kept)


def two_point_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon), the finite part, for epsilon >= 0; the whole line for any other run."""
    found = _two_point_sum(run)
    if found is None or epsilon < 0.0:
        return -math.inf, math.inf
    terms, kept, error = found
    low, high = log_hockey_stick(terms, epsilon)
    slack = error + 2.0 * UNIT * abs(kept)
    return low + kept - slack, high + kept + slack + 2.0 * UNIT * (abs(high) if high > -math.inf else 0.0)


def two_point_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for the logarithm of the finite part of delta known up to slack."""
    found = _two_point_sum(run)
    if found is None:
        return 0.0, math.inf
    terms, kept, error = found
    error += slack + 4.0 * UNIT * (abs(kept) + abs(log_delta))
    if log_delta - kept - error >= 0.0:
        return 0.0, 0.0
    return hockey_stick_root(terms, min(log_delta - kept, -1e-300), error)
