"""Proved decay of a characteristic function f(u) = E e^{iuX}, from what is known of the law of X.

docs/mathematics.md, Lemma 15 (moments) and Lemma 18 (a bound far out, carried to smaller u).
"""

import math

import numpy as np

from .cancellation_free import Array
from .trapezoid import COUNT, RATIO, Cells


def _narrowed(shift: int) -> tuple[int, float]:
    """Cells to the right, and 2 (1 - cos t)/t^2 for the t that is pi so many cells to the left."""
    t = math.pi / RATIO**shift
    return shift, 2.0 * (1.0 - math.cos(t)) / (t * t) * (1.0 - 1e-9)


_NARROWINGS = [_narrowed(shift) for shift in (0, 4, 9)]
_ROWS = np.arange(2)[:, None, None]


def stretched_gap(u: Array, mass: float | Array, variation: float | Array) -> Array:
    """A lower bound of 1 - |f(u)| where |f(v)| <= 1 - mass + variation/v for every v > 0.

    From 1 - |f(n u)|^2 <= n^2 (1 - |f(u)|^2) for whole n (1 - cos(n x) <= n^2 (1 - cos x), averaged over the
    symmetrised law): far out the bound is used itself (n = 1), nearer in it is carried back from n u.  Since both
    hold for every larger u with the same n, the value at the left end of a cell holds on the whole cell.
    """
    best = 1.5 * variation / np.maximum(mass, 1e-200)  # about where (1 - |f(v)|^2) / v^2 is largest
    n = np.maximum(1.0, np.ceil(np.minimum(best / u, 1e15)))
    fall = np.maximum(mass - variation / (n * u), 0.0)
    square = fall * (2.0 - fall) / (n * n)  # 1 - |f(u)|^2 at least
    direct = np.maximum(mass - variation / u, 0.0)
    carried: Array = square / (1.0 + np.sqrt(np.maximum(1.0 - square, 0.0)))
    return np.maximum(direct, carried) * (1.0 - 1e-12)


def moment_gap(cells: Cells, variance: Array, fourth: Array) -> Array:
    """Lower bounds of 1 - |f(u)|^2 on cells of u, from lower bounds of Var X and upper bounds of E (X - X')^4.

    |f(u)|^2 = E cos(u (X - X')) <= 1 - u^2 Var X + u^4 E (X - X')^4 / 24 for independent copies; the bound is concave in u^2,
    so on a cell it is least at an end.  One row for each law.
    """
    square = cells.left * cells.left
    bend = fourth * (1.0 / 24.0)
    gap = square * (variance[:, None] - np.minimum(square * bend[:, None], variance[:, None])) * (1.0 - 1e-12)
    gap[:, :-1] = np.minimum(gap[:, :-1], gap[:, 1:])
    gap[:, -1] = 0.0
    return np.minimum(gap, 1.0)


def spread_gap(cells: Cells, masses: Array, edges: Array, low: Array, high: Array) -> Array:
    """Lower bounds of 1 - |f(u)|^2 on cells of u, from the masses of laws in consecutive intervals, one row for each law.

    1 - |f(u)|^2 = E[1 - cos(u (X - X'))] >= (1 - cos t)/t^2 u^2 E[(X - X')^2; |X - X'| <= t/u] for independent copies and
    t <= pi, of which the best t is taken; two intervals of the law contribute their masses times the square of the distance
    of their conditional means (Jensen), once their farthest points are within t/u.  `masses` are lower bounds of the
    probabilities of the intervals between `edges`; their conditional means lie between `low` and `high`.
    """
    inner = np.maximum(low[:, None, :] - high[:, :, None], 0.0)  # zero unless the column lies right of the row
    outer = edges[:, None, 1:] - edges[:, :-1, None]
    weight = masses[:, None, :] * masses[:, :, None] * inner * inner
    rows = masses.shape[0]
    place = cells.last_within(outer) + (_ROWS[:rows] * (COUNT + 1) + 1)
    collected = np.bincount(place.ravel(), weights=weight.ravel(), minlength=rows * (COUNT + 1)).reshape(rows, COUNT + 1)
    moment = np.add.accumulate(collected[:, :0:-1], axis=1)[:, ::-1]
    best = moment * _NARROWINGS[0][1]
    for shift, factor in _NARROWINGS[1:]:
        best[:, :-shift] = np.maximum(best[:, :-shift], moment[:, shift:] * factor)
    left = cells.left
    return np.minimum(left * left * best, 1.0)
