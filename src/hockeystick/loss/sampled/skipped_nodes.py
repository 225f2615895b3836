"""Nodes left out of a long grid: a far second peak leaves an empty stretch between it and the first.

docs/mathematics.md, Lemma 11 (nodes left out in between).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...numerics.cancellation_free import Array


@dataclass(frozen=True)
class Stretches:
    """Consecutive intervals of z, and how high e^{kL} times the normal density can be on each."""

    edges: Array
    ratio: Array
    share: Array
    noise: float
    log_mass: float

    def heights(self, k: Array) -> Array:
        """log of bounds of the sums over each interval, one row for each real k.

        k L lies below its chord (k > 0, L is convex) or below its tangent at the left end (k < 0), so k L - z^2/2 lies
        below a parabola, whose largest value on the interval is known.
        """
        left, right = self.edges[:-1], self.edges[1:]
        column = k[:, None]
        chord = (self.ratio[1:] - self.ratio[:-1]) / (right - left)
        slope = column * np.where(column > 0.0, chord, self.share[:-1] / self.noise)
        top = np.minimum(np.maximum(slope, left), right)
        return column * self.ratio[:-1] + slope * (top - left) - 0.5 * top * top + self.log_mass

    def skipped(self, k: Array, target: float) -> "SkippedNodes":
        """The intervals on which e^{kL} times the normal density is below e^target for all of these k."""
        return SkippedNodes(self, self.heights(k).max(axis=0) < target)


class SkippedNodes(NamedTuple):
    """What the nodes left out stand for."""

    stretches: Stretches
    light: npt.NDArray[np.bool_]
    """Which of the intervals are left out."""

    def log_sums(self, k: Array) -> Array:
        """log of a bound of what the nodes left out would add to the sum of e^{kL}, for each k."""
        if not self.light.any():
            return np.full(k.shape, -math.inf)
        tallest: Array = self.stretches.heights(k)[:, self.light].max(axis=1)
        return tallest + math.log(self.light.size)
