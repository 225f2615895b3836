"""A first guess of epsilon of a sparse run, by the single-big-jump principle; never part of a proof.

Small losses add up to something normal, and at most one step adds a large loss to them (docs/mathematics.md, section 7a).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.normal import LOG_ROOT_TWO_PI
from ...numerics.roots import bracketed
from ..composed import ComposedLoss
from ..pairs.gaussian import GaussianLoss
from ..sampled.gaussian import SampledGaussianLoss
from .identity import lift_of

LEAST_LOG_DELTA = -715.0
"""Less is no double, or one with few digits."""


@dataclass(frozen=True)
class Tuning:
    """The guess is within a tenth (a test): better ones would not save work, worse ones cost a second split."""

    small_share: float = 0.25
    """Losses below this share of epsilon are taken as normal in sum, larger ones as single jumps."""
    spacing: float = 0.05
    """Of the nodes, over the noise or over 3 if that is more."""
    deviations_before: float = 8.0
    """How far the nodes reach to the left."""
    deviations_beyond: float = 4.0
    """How far they reach beyond the noise of probability delta over the count."""
    max_nodes: int = 20_000
    """Memory for a few rows of them; the guess is left to others where more would be needed."""
    least_epsilon: float = 1e-7
    """Below it, sums of small losses are all that there is."""
    most_epsilon: float = 300.0
    """Above it e^epsilon has no room left among the doubles."""
    log_accuracy: float = 1e-3
    """Of log epsilon."""


TUNING = Tuning()


def guess_epsilon(run: ComposedLoss, log_delta: float) -> float | None:
    """About the epsilon at which delta has this logarithm; none if the principle does not serve."""
    log_delta_at = _log_delta_near(run, log_delta) if log_delta > LEAST_LOG_DELTA else None
    if log_delta_at is None:
        return None
    least, most = math.log(TUNING.least_epsilon), math.log(TUNING.most_epsilon)
    left, right = bracketed(lambda x: log_delta - log_delta_at(math.exp(x)), least, most, TUNING.log_accuracy)
    return math.exp(0.5 * (left + right)) if least < left and right < most else None


def guess_log_delta(run: ComposedLoss, epsilon: float) -> float | None:
    """About log delta(epsilon), if it is not too small a number; none likewise."""
    log_delta_at = _log_delta_near(run, LEAST_LOG_DELTA)
    return None if log_delta_at is None else max(log_delta_at(epsilon), LEAST_LOG_DELTA)


def _log_delta_near(run: ComposedLoss, least: float) -> Callable[[float], float] | None:
    """log delta, down to this; none if there are other losses than sampled Gaussian steps in the order "remove" and Gaussian
    ones."""
    normal, losses, weights, lift = 0.0, [], [], lift_of(least)
    for loss, count in run.terms:
        if isinstance(loss, GaussianLoss):
            normal += count * loss.square
        elif isinstance(loss, SampledGaussianLoss) and loss.removals == (True,):
            shape = loss.shape
            spacing = TUNING.spacing * min(shape.noise, 3.0)
            last = 1.0 / shape.noise + math.sqrt(2.0 * max(math.log(count) - least, 0.0)) + TUNING.deviations_beyond
            if not (last + TUNING.deviations_before) / spacing < TUNING.max_nodes:
                return None
            z = np.arange(-TUNING.deviations_before, last, spacing)
            ratio, _ = shape.ratios(z)
            losses.append(ratio)
            weights.append(ratio - 0.5 * z * z + (math.log(count * spacing) - LOG_ROOT_TWO_PI))
        else:
            return None
    if not losses:
        return None
    loss_of = np.concatenate(losses)
    order = np.argsort(loss_of)
    loss_of, weight = loss_of[order], np.exp(np.concatenate(weights)[order] + lift)
    squares = np.add.accumulate(np.append(normal, weight * loss_of * loss_of * math.exp(-lift)))

    def log_delta_at(epsilon: float) -> float:
        first = int(loss_of.searchsorted(TUNING.small_share * epsilon))
        deviation = math.sqrt(max(float(squares[first]), 1e-30))
        with np.errstate(all="ignore"):
            deltas = normal_delta(np.append(epsilon, epsilon - loss_of[first:]), deviation)
            return math.log(max(float(deltas[0]) * math.exp(lift) + float(weight[first:] @ deltas[1:]), 1e-300)) - lift

    return log_delta_at


def normal_delta(epsilon: Array, mu: float) -> Array:
    """delta of Gaussian noise, to a few digits."""
    from scipy.special import log_ndtr, ndtr

    a = epsilon * (1.0 / mu) - 0.5 * mu
    found: Array = np.maximum(ndtr(-a) - np.exp(np.minimum(epsilon + log_ndtr(-a - mu), 1.0)), 0.0)
    return found
