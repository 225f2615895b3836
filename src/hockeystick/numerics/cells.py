"""Cells of a half line, growing geometrically, the last one unbounded."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from .series import Array


@dataclass(frozen=True)
class Cells:
    """start * ratio^i <= u <= start * ratio^(i+1) for i < count - 1, and everything beyond.

    >>> Cells(1.0, 2.0, 3).right
    array([ 2.,  4., inf])
    """

    start: float
    ratio: float
    count: int

    @cached_property
    def left(self) -> Array:
        return self.start * self.ratio ** np.arange(self.count)

    @cached_property
    def right(self) -> Array:
        return np.append(self.left[1:], math.inf)

    def last_within(self, limits: Array) -> npt.NDArray[np.int64]:
        """The last cell that ends at or before each limit, -1 where there is none."""
        place = np.floor(np.log(limits * (1.0 / self.start)) * (1.0 / math.log(self.ratio)) - 1e-9)
        return np.clip(place, 0.0, self.count - 1.0).astype(np.int64) - 1
