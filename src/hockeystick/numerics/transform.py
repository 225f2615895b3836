"""Proved decay of a characteristic function f(u) = E e^{iuX}, from what is known of the law of X."""

import math

import numpy as np

from .cells import Cells
from .series import Array

BINS = 48
_TRIANGLE = np.triu_indices(BINS, 1)


def stretched_gap(u: Array, mass: float | Array, variation: float | Array) -> Array:
    """A lower bound of 1 - |f(u)| where |f(v)| <= 1 - mass + variation/v for every v > 0.

    From 1 - |f(n u)|^2 <= n^2 (1 - |f(u)|^2) for whole n (1 - cos(n x) <= n^2 (1 - cos x), averaged over the
    symmetrised law): far out the bound is used itself (n = 1), nearer in it is carried back from n u.  Since both
    hold for every larger u with the same n, the value at the left end of a cell holds on the whole cell.
    """
    best = 1.5 * variation / np.maximum(mass, 1e-300)  # about where (1 - |f(v)|^2) / v^2 is largest
    n = np.maximum(1.0, np.ceil(np.minimum(best / u, 1e15)))
    fall = np.maximum(mass - variation / (n * u), 0.0)
    square = fall * (2.0 - fall) / (n * n)  # 1 - |f(u)|^2 at least
    direct = np.maximum(mass - variation / u, 0.0)
    return np.maximum(direct, square / (1.0 + np.sqrt(np.maximum(1.0 - square, 0.0)))) * (1.0 - 1e-12)


def spread_gap(cells: Cells, masses: Array, edges: Array, low: Array, high: Array) -> Array:
    """Lower bounds of 1 - |f(u)|^2 on cells of u, from the masses of a law in consecutive intervals.

    1 - |f(u)|^2 = 2 E sin^2(u (X - X')/2) >= (2/pi^2) u^2 E[(X - X')^2; |X - X'| <= pi/u] for independent copies;
    two intervals of the law contribute their masses times the square of the distance of their conditional means
    (Jensen), once their farthest points are within pi/u.  `masses` are lower bounds of the probabilities of the
    BINS intervals between `edges`; their conditional means lie between `low` and `high`.
    """
    first, second = _TRIANGLE
    inner = np.maximum(low[second] - high[first], 0.0)
    outer = edges[second + 1] - edges[first]
    weight = masses[first] * masses[second] * (inner * inner)
    place = cells.last_within((math.pi * (1.0 - 1e-12)) / outer)
    collected = np.bincount(place + 1, weights=weight, minlength=cells.count + 1)
    moment = 2.0 * np.cumsum(collected[:0:-1])[::-1]
    gap = (2.0 / math.pi**2) * cells.left * cells.left * moment * (1.0 - 1e-9)
    return np.minimum(gap, 1.0)


def exponential_offset(rate: Array, width: float) -> Array:
    """Mean of the law with density proportional to e^{rate x} on [-width/2, width/2].

    >>> print(exponential_offset(np.array([0.0, 1.2, -1e9]), 2.0))
    [ 0.          0.36617722 -1.        ]
    """
    y = rate * (0.5 * width)
    small = np.abs(y) < 1e-2
    safe = np.where(small, 1.0, y)
    return 0.5 * width * np.where(small, y / 3.0, 1.0 / np.tanh(safe) - 1.0 / safe)
