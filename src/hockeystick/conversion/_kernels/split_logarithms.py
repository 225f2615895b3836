"""Logarithms split into a multiple of 2^-16, of which sums are exact, and a remainder."""

import functools
from decimal import Decimal, localcontext

import numpy as np

from ...numerics.cancellation_free import Array

STEP = 2.0**-16
_BITS = 128


@functools.lru_cache(maxsize=256)
def split_logarithms(rate: float) -> tuple[tuple[float, float], ...]:
    """log(rate), log(1 - rate) and log(2), split."""
    with localcontext() as context:
        context.prec = 60
        logs = [number.ln() for number in (Decimal(rate), Decimal(1) - Decimal(rate), Decimal(2))]
        coarse = [round(float(log) / STEP) * STEP for log in logs]
        return tuple((high, float(log - Decimal(high))) for log, high in zip(logs, coarse, strict=True))


def log_factorials(size: int) -> tuple[Array, Array]:
    """log k!, split, for k below a size that is at least the one asked for."""
    return _log_factorial_table(max(256, 1 << (size - 1).bit_length()))


@functools.lru_cache(maxsize=4)
def _log_factorial_table(size: int) -> tuple[Array, Array]:
    """By whole numbers in units of 2^-128: log k - log(k - 1) = 2 artanh(1 / (2 k - 1)).  The error is below size^2 of them."""
    one = 1 << _BITS
    log = total = 0
    coarse, fine = np.zeros(size), np.zeros(size)
    for k in range(2, size):
        odd = 2 * k - 1
        term, square, degree = 2 * one // odd, odd * odd, 1
        while term:
            log += term // degree
            term //= square
            degree += 2
        total += log
        multiple = total >> (_BITS - 16)
        coarse[k] = multiple * STEP
        fine[k] = (total - (multiple << (_BITS - 16))) / one
    return coarse, fine
