"""Cells of a half line, growing geometrically, the last one unbounded."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .cancellation_free import Array

RATIO, COUNT = 1.25, 97
LEFT = RATIO ** np.arange(COUNT)
_RIGHT = np.append(LEFT[1:], math.inf)
SPAN = 1.0 / LEFT - np.append(1.0 / LEFT[1:], 0.0)
SQUARE = 1.0 / LEFT**2


@dataclass(frozen=True)
class Cells:
    """start * RATIO^i <= u <= start * RATIO^(i+1) for i < COUNT - 1, and everything beyond.

    >>> Cells(2.0).left[:2], Cells(2.0).right[-1]
    (array([2. , 2.5]), np.float64(inf))
    """

    start: float

    @property
    def left(self) -> Array:
        return self.start * LEFT

    @property
    def right(self) -> Array:
        return self.start * _RIGHT

    def sums_beyond(self, bounds: Array, step: float) -> Array:
        """Bounds of sum of f(u)/u^2 * step over the multiples u of step beyond the left end of each cell.

        `bounds` are upper bounds of f on the cells; on a cell the sum is at most the integral and one term more.
        """
        piece = bounds * (SPAN * (1.0 / self.start) + SQUARE * (step / self.start**2))
        return np.add.accumulate(piece[::-1])[::-1]

    def last_within(self, lengths: Array) -> npt.NDArray[np.intp]:
        """The last cell whose u are all at most pi / length, -1 where there is none (or the length is not positive)."""
        # a little more than the exact threshold, and one for rounding down towards 0 and past -1
        start = math.log(math.pi / self.start) / math.log(RATIO) - 1e-6
        place = np.log(np.maximum(lengths, 1e-300)) * (-1.0 / math.log(RATIO)) + start
        return np.minimum(np.maximum(place, 0.0), COUNT - 1.0).astype(np.intp) - 1
