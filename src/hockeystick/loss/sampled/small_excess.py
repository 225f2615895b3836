"""The nodes of a grid of the noise, split by the size of k L: E[e^{kL} - 1 - k x] to relative accuracy, however small it is."""

import math
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.cancellation_free import Array, power_sums, series_degree
from ...numerics.rounding import UNIT

if TYPE_CHECKING:
    from .quadrature import Grid

_SMALL = 1.0  # |k L| below which a node goes into the power sums


class Split:
    """The nodes of a grid in two kinds, for |k| <= size, size >= 1: those with |L| size <= 1, and the others.

    Over the first kind, sum of weight (e^{kL} - 1 - k x) = k (k - 1) times a polynomial in k, whose coefficients `tails` and
    whose error, `small_error` times |k (k - 1)|, do not depend on k.  Of the others the sums of weight and of weight * x are
    kept, with the error of their sum, `far_error[0] + |k| far_error[1]`.
    """

    def __init__(self, grid: "Grid", size: float) -> None:
        self.size = size
        bound = _SMALL / size
        first, last = int(grid.ratio.searchsorted(-bound)), int(grid.ratio.searchsorted(bound))
        t_error, ratio_error = grid.ratio_errors()
        weight = np.exp(grid.base)
        self.tails, self.small_error = power_tails(
            grid.ratio[first:last], weight[first:last], grid.z[first:last], ratio_error[first:last], size
        )
        self.far = last - first < grid.z.size
        if self.far:
            pick = np.concatenate((np.arange(first), np.arange(last, grid.z.size)))
            self.base, self.z, self.ratio, self.ratio_error = (
                grid.base[pick],
                grid.z[pick],
                grid.ratio[pick],
                ratio_error[pick],
            )
            noise, rate = grid.shape.noise, grid.shape.rate
            grown = np.exp(self.base + (self.z - 0.5 / noise) * (1.0 / noise))
            light = weight[pick]
            self.mass = math.fsum(light.tolist())
            self.drift = rate * (math.fsum(grown.tolist()) - self.mass)  # weight * x
            each = UNIT * (20.0 + self.z * self.z) + t_error[pick]
            self.far_error = float(light @ each), rate * float((grown + light) @ each)


def power_tails(ratio: Array, weight: Array, z: Array, ratio_error: Array, size: float) -> tuple[Array, float]:
    """sum_m S_m (k^m - k) = k (k-1) sum_i T_i k^i, S_m = sum of weight L^m/m!, T_i the sum of S_m over m >= i + 2."""
    if not ratio.size:
        return np.zeros(1), 0.0
    widest = size * max(abs(float(ratio[0])), abs(float(ratio[-1])))
    degree, remainder = series_degree(max(widest, 1e-300))
    tails = np.add.accumulate(power_sums(ratio, weight, degree)[::-1])[::-1]
    pull = weight * np.abs(ratio)
    square = float(pull @ np.abs(ratio))
    spread = float(pull @ (ratio_error + UNIT * np.abs(ratio) * z * z))
    rounding = (ratio.size + 4.0 * degree + 30.0) * UNIT + remainder
    # |sum| <= e/2 |k (k-1)| sum of weight L^2, and the integrand's slope in L is at most e |L k (k-1)|
    return tails, 1.36 * square * rounding + 2.72 * spread
