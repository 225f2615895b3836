"""First guesses of epsilon and delta by the saddle-point approximation.  Nothing of it is part of a proof."""

import math

from ..bins import SCALES
from ..composed import ComposedLoss


def estimate_log_delta(run: ComposedLoss, epsilon: float) -> float:
    """log delta by the saddle-point approximation, with the largest losses capped."""
    cap = likely_cap(run, epsilon)
    c = run.saddle_of_epsilon(epsilon, expand=lambda c: run.coarse_expand(c, cap))
    value, _, second = run.coarse_expand(c, cap)
    bend = second + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2
    return value - c * epsilon - math.log(c) - math.log1p(c) - 0.5 * math.log(2.0 * math.pi * bend)


def estimate_epsilon(run: ComposedLoss, log_delta: float) -> float:
    """About where epsilon lies."""
    points: list[float] = SCALES[run.ceiling > SCALES].tolist() or [1e-13]
    _, mean, variance = run.coarse_expand(0.0)
    sure = mean - 2.0 * math.sqrt(variance) if log_delta < -1.0 else 0.0  # delta is nearly 1 up to here
    low, high = 0, len(points) - 1
    while high - low > 1:
        middle = (low + high) // 2
        if points[middle] < sure or estimate_log_delta(run, points[middle]) > log_delta:
            low = middle
        else:
            high = middle
    left, right = points[low], points[high]
    for _ in range(3):
        between = 0.5 * (left + right)
        if estimate_log_delta(run, between) > log_delta:
            left = between
        else:
            right = between
    return right


def saddle_point_epsilon(run: ComposedLoss, log_delta: float) -> float:
    """About where epsilon lies if many steps add up: by the saddle-point approximation."""
    c = run.saddle_of_delta(log_delta, expand=run.coarse_expand)
    value, _, second = run.coarse_expand(c)
    bend = second + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2
    found = (value - log_delta - math.log(c) - math.log1p(c) - 0.5 * math.log(2.0 * math.pi * bend)) / c
    return max(min(found, run.ceiling), 1e-13)


def likely_cap(run: ComposedLoss, epsilon: float) -> float:
    """A loss of one step that lifts the sum above epsilon, whatever the others are likely to do; not below what they are."""
    _, mean, variance = run.coarse_expand(0.0)
    deviation = math.sqrt(variance)
    return max(1.2 * max(epsilon, 0.0) + max(0.0, 8.0 * deviation - mean), mean + deviation)
