"""The sum of the contributions of records, each no larger than it may be, added up without any rounding.

Floating-point sums round, and what they round to depends on all records: taking one away may move the sum farther than the record
is large (Casacuberta, Shoemate, Vadhan and Wagaman 2022).  Here each contribution by itself is clipped and rounded towards 0, to
a grid 2^40 times finer than the sensitivity, which leaves it within its bound; whole numbers of steps add up exactly (Lemma 39).
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadValue
from .noise import Doubles, double, grid_of

_ROWS = 1 << 20  # added at once: their sums are below 2^62
_FEW = 32  # numbers other than 0 in a row whose norm is looked at exactly if it is about the sensitivity, such as one 1


def clipped_sum(
    rows: Doubles, times: npt.NDArray[np.int64], sensitivity: float, norm: int, spread: float
) -> tuple[list[int], int]:
    """The sum of times[i] * rows[i] in steps, and the exponent of the step; `rows` is two-dimensional, `norm` 1 or 2.

    Steps need not be finer than 2^-50 of the noise, of the scale `spread`.
    """
    if not np.isfinite(rows).all():
        raise BadValue("records hold a contribution that is NaN or infinite; allowed: finite numbers.")
    grid = max(grid_of(sensitivity), grid_of(spread) - 10)
    total = [0] * rows.shape[1]
    for first in range(0, len(rows), _ROWS):
        part = _clipped(rows[first : first + _ROWS], sensitivity, norm)
        steps = np.trunc(np.ldexp(part, -grid)).astype(np.int64)
        for one in set(times[first : first + _ROWS].tolist()) - {0}:
            summed = steps[times[first : first + _ROWS] == one].sum(axis=0).tolist()
            total = [sofar + one * more for sofar, more in zip(total, summed, strict=True)]
    return total, grid


def _clipped(rows: Doubles, sensitivity: float, norm: int) -> Doubles:
    """Rows of larger norm scaled down, a little too much rather than too little."""
    if rows.shape[1] == 1:
        return np.clip(rows, -sensitivity, sensitivity)
    largest = np.abs(rows).max(axis=1, initial=0.0)
    unit = np.where(largest > 0.0, largest, 1.0)
    shares = rows / unit[:, None]  # so that no square is beyond the doubles
    near = np.sqrt((shares * shares).sum(axis=1)) if norm == 2 else np.abs(shares).sum(axis=1)
    slack = 1.0 + (rows.shape[1] + 16) * 2.0**-51  # relative, more than the rounding of all that is here
    with np.errstate(over="ignore"):
        over = near * slack * unit > sensitivity
        known = near / slack * unit > sensitivity
    for row in np.flatnonzero(over & ~known & ((rows != 0.0).sum(axis=1) <= _FEW)).tolist():
        over[row] = not _within(rows[row], sensitivity, norm)
    out = rows.copy()
    out[over] = shares[over] * (sensitivity / (near[over] * slack))[:, None]
    return out


def _within(row: Doubles, sensitivity: float, norm: int) -> bool:
    """Whether the norm of the row is at most the sensitivity, exactly."""
    return sum(abs(Fraction(one)) ** norm for one in row.tolist() if one) <= Fraction(sensitivity) ** norm


def noisy_sum(total: list[int], grid: int, noise: Any, spread: float) -> Doubles:
    """The sum, in steps of 2^grid, plus noise, rounded once: noise(values) has the noise of that spread added on its own grid."""
    own = grid_of(spread)
    shift = max(0, own - grid)
    whole = [(one >> shift) << max(0, grid - own) for one in total]  # in steps of the noise's grid
    rest = np.array([math.ldexp(one - ((one >> shift) << shift), grid) for one in total])
    found = noise(rest).tolist()
    return np.array([double(int(Fraction(one) / Fraction(2) ** own) + base, own) for one, base in zip(found, whole, strict=True)])
