"""Sums of e^{iuL} at equally spaced u."""

import math

import numpy as np

from .series import Array, ComplexArray

_BLOCK = 16
_DIRECT = 64  # values of L up to which a small table is summed at once


def fourier_sums(ratio: Array, weight: Array, step: float, nodes: int) -> ComplexArray:
    """sum_j weight_j e^{i u L_j} at u = 0, step, 2 step, ..., for each row of weights.

    u = (p R + r) step: e^{iuL} is a product of two small tables, and the sum a product of matrices, block by block so that the
    rounding error grows with the block and not with the whole.
    """
    if ratio.size <= _DIRECT and nodes * ratio.size < 4000:
        table: ComplexArray = np.exp(1j * (ratio[:, None] * (step * np.arange(nodes))))
        found: ComplexArray = np.matmul(weight, table)
        return found
    inner = max(1, math.isqrt(nodes))
    outer = -(-nodes // inner)
    blocks = -(-ratio.size // _BLOCK)
    spare = blocks * _BLOCK - ratio.size
    ratio = np.concatenate((ratio, np.zeros(spare))).reshape(blocks, 1, _BLOCK)
    fine = np.swapaxes(np.exp(1j * (np.arange(inner)[:, None] * (step * ratio))), -1, -2)
    coarse = np.exp(1j * (np.arange(outer)[:, None] * (step * inner * ratio)))
    out = np.empty((weight.shape[0], nodes), dtype=np.complex128)
    for row, own in enumerate(weight):
        padded = np.concatenate((own, np.zeros(spare))).reshape(blocks, 1, _BLOCK)
        out[row] = ((coarse * padded) @ fine).sum(axis=0).ravel()[:nodes]
    return out


def added_terms(size: int) -> int:
    """How many terms the rounding error of such a sum of `size` values counts."""
    return size if size <= _DIRECT else _BLOCK + -(-size // _BLOCK)
