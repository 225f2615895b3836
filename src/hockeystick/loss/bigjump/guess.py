"""About where epsilon of a sparse run lies, by the principle of one big jump: no more than a guess.

Small losses add up to something normal, and at most one step adds a large loss to them.
"""

import math
from collections.abc import Callable

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.normal import LOG_ROOT_TWO_PI
from ...numerics.roots import bracketed
from ..composed import ComposedLoss
from ..pairs.gaussian import GaussianLoss
from ..sampled.gaussian import SampledGaussianLoss
from .identity import lift_of

_SMALL = 0.25  # of epsilon
_SPACING, _BEFORE, _BEYOND = 0.05, 8.0, 4.0  # of the nodes of the noise, and how far they reach
_LEAST, _MOST, _CLOSE = 1e-7, 300.0, 1e-3  # of epsilon; of its logarithm
_NODES = 20_000
FAINT = -715.0  # log delta: less is no double, or one with few digits


def jumped_epsilon(run: ComposedLoss, log_delta: float) -> float | None:
    """About the epsilon at which delta has this logarithm; none if the principle does not serve."""
    about = _about(run, log_delta) if log_delta > FAINT else None
    if about is None:
        return None
    least, most = math.log(_LEAST), math.log(_MOST)
    left, right = bracketed(lambda x: log_delta - about(math.exp(x)), least, most, _CLOSE)
    return math.exp(0.5 * (left + right)) if least < left and right < most else None


def jumped_log_delta(run: ComposedLoss, epsilon: float) -> float | None:
    """About log delta(epsilon), if it is not too small a number; none likewise."""
    about = _about(run, FAINT)
    return None if about is None else max(about(epsilon), FAINT)


def _about(run: ComposedLoss, least: float) -> Callable[[float], float] | None:
    """log delta, down to this; none if there are other losses than sampled Gaussian steps in the order "remove" and Gaussian
    ones."""
    normal, losses, weights, lift = 0.0, [], [], lift_of(least)
    for loss, count in run.terms:
        if isinstance(loss, GaussianLoss):
            normal += count * loss.square
        elif isinstance(loss, SampledGaussianLoss) and loss.removals == (True,):
            shape = loss.shape
            spacing = _SPACING * min(shape.noise, 3.0)
            last = 1.0 / shape.noise + math.sqrt(2.0 * max(math.log(count) - least, 0.0)) + _BEYOND
            if not (last + _BEFORE) / spacing < _NODES:
                return None
            z = np.arange(-_BEFORE, last, spacing)
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

    def about(epsilon: float) -> float:
        first = int(loss_of.searchsorted(_SMALL * epsilon))
        deviation = math.sqrt(max(float(squares[first]), 1e-30))
        with np.errstate(all="ignore"):
            deltas = normal_delta(np.append(epsilon, epsilon - loss_of[first:]), deviation)
            return math.log(max(float(deltas[0]) * math.exp(lift) + float(weight[first:] @ deltas[1:]), 1e-300)) - lift

    return about


def normal_delta(epsilon: Array, mu: float) -> Array:
    """delta of Gaussian noise, to a few digits."""
    from scipy.special import log_ndtr, ndtr

    a = epsilon * (1.0 / mu) - 0.5 * mu
    found: Array = np.maximum(ndtr(-a) - np.exp(np.minimum(epsilon + log_ndtr(-a - mu), 1.0)), 0.0)
    return found
