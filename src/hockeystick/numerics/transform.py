"""Proved decay of a characteristic function f(u) = E e^{iuX}, from what is known of the law of X."""

import numpy as np

from .series import Array


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
