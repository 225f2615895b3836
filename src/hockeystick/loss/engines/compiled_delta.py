"""log delta of a run of one mechanism from the compiled core."""

import math

import numpy as np

from ...native import ORDERED, core
from ...numerics.rounding import SQUARE_ERROR
from ..composed import ComposedLoss
from ..pairs.gaussian import GaussianLoss
from ..pairs.laplace import LaplaceLoss
from ..protocol import Interval
from ..sampled.gaussian import SampledGaussianLoss


def compiled_log_deltas(run: ComposedLoss, epsilons: list[float]) -> dict[float, Interval]:
    """Both ends of log delta where the core tells them closely, at epsilons that grow; of one mechanism."""
    if core is None or not epsilons or len(run.terms) != 1:
        return {}
    loss, count = run.terms[0]
    wanted = np.array(epsilons)
    low, high = np.empty_like(wanted), np.empty_like(wanted)
    if isinstance(loss, GaussianLoss) and count == 1:
        known = core.gaussian_deltas(math.sqrt(loss.square), SQUARE_ERROR, wanted, low, high)
    elif isinstance(loss, LaplaceLoss):
        known = core.laplace_deltas(loss.a, float(count), wanted, low, high)
    elif isinstance(loss, SampledGaussianLoss) and count > 1:
        shape, pairs = loss.shape, ORDERED.index(loss.removals) + 1
        known = core.sampled_deltas(shape.noise, shape.rate, shape.noise_error, float(count), pairs, wanted, low, high)
    else:
        return {}
    ends = zip(epsilons, low.tolist(), high.tolist(), strict=True)
    return {one: (least, most) for one, least, most in ends if least <= most} if known else {}
