"""A sampled Gaussian step on plain nodes of its noise, to a few digits: what the guide for the thresholds sums; no proof."""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from ...native import loops
from ...native.loops import loop
from ...numerics.cancellation_free import Array
from ...numerics.normal import LOG_ROOT_TWO_PI
from ..protocol import Inconclusive
from ..sampled.quadrature import SampledStep


@dataclass(frozen=True)
class Tuning:
    """The nodes: the guide finds about the thresholds from them, and every proof has nodes of its own."""

    spacing: float = 0.03
    """Over the noise, or over 6 if that is more: thresholds are a few per cent of x wide."""
    start: float = -8.0
    """The noise at which they begin: left of it there is less than 1e-15 of it."""
    max_nodes: float = 20_000.0
    """Memory for a few rows of them; where more would be needed, the thresholds are not looked for."""


TUNING = Tuning()


def _threshold_at(x: Array, high: float, width: float) -> Array:
    """g((x - high)/width)."""
    from scipy.special import ndtr

    found: Array = ndtr((x - high) * (1.0 / width))
    return found


@loop(loops.threshold_sums)
def _pieces(x: Array, table: Array, cuts: Array, high: float, width: float) -> Array:
    """For each row the sums of its entries times the threshold's share, from each of the places `cuts` to the next."""
    found = np.empty((len(table), cuts.size))
    share, ends = _threshold_at(x, high, width), [*cuts.astype(int).tolist(), x.size]
    for piece, (first, last) in enumerate(itertools.pairwise(ends)):
        found[:, piece] = table[:, first:last] @ share[first:last]
    return found


class CoarseStep:
    """One step on plain nodes of the noise."""

    def __init__(self, shape: SampledStep, count: int, last: float, lift: float) -> None:
        self.shape, self.count = shape, count
        spacing = TUNING.spacing * min(shape.noise, 6.0)
        if not 0.0 < (last - TUNING.start) / spacing < TUNING.max_nodes:
            raise Inconclusive
        z = np.arange(TUNING.start, last, spacing)
        self.ratio, _ = shape.ratios(z)
        self.x = np.expm1(self.ratio)
        self.log_weight = math.log(spacing) - LOG_ROOT_TWO_PI - 0.5 * z * z
        self.weight, self.lifted = np.exp(self.log_weight), np.exp(self.log_weight + lift)
        self.flat = np.stack((self.weight, self.weight * self.x))

    def above(self, high: float, width: float) -> Array:
        """The share of each outcome above a soft threshold."""
        return _threshold_at(self.x, high, width)

    def pieces(self, table: Array, cuts: Array, high: float, width: float) -> Array:
        """For each row the sums of its entries times the threshold's share, from each of the places `cuts` to the next."""
        return _pieces(self.x, table, cuts, high, width)

    def remainder(self, k: Array) -> Array:
        """e^{kL} - 1 - k x, weighted, one row for each k."""
        column = k[:, None]
        exponent = column * self.ratio
        with np.errstate(over="ignore"):
            far = np.minimum(np.exp(exponent + self.log_weight), 1e300)
        near = np.expm1(np.minimum(exponent, 30.0)) * self.weight
        found: Array = np.where(exponent < 30.0, near, far) - column * (self.x * self.weight)
        return found
