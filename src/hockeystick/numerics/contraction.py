"""The last iterate of contractions: the least sum of squares of docs/mathematics/matrix.md, Lemma 61."""

import math

from .rounding import UNIT

ROOM = 256.0 * UNIT
"""Relative error of the root of `least_energy`: some ten functions and thirty operations, none of which cancels."""


def least_energy(factor: float, steps: int, batches: int) -> float:
    """The least sum of squares of Lemma 61, in units of one record's move: up to `ROOM` relative."""
    if batches == 1:
        return _contracted(factor, 1, steps) * _tanh_ratio(factor, steps)
    epochs = -(-steps // batches)
    if epochs == 1 or factor == 0.0:
        return 1.0
    before = math.exp(2.0 * (batches - 1) * math.log(factor)) * _contracted(factor, batches, epochs - 1)
    return 1.0 + before * _tanh_ratio(factor, batches * (epochs - 1))


def _contracted(factor: float, batches: int, times: int) -> float:
    """(1 - c^2) / (1 - c^l)^2, times what the limit c = 1 leaves over."""
    if factor == 1.0:
        return times / batches
    return (1.0 - factor) * (1.0 + factor) / _lost(factor, batches) ** 2


def _tanh_ratio(factor: float, power: int) -> float:
    """(1 - c^p) / (1 + c^p); in the limit c = 1 what is left of it is counted by `_contracted`."""
    if factor in (0.0, 1.0):
        return 1.0
    lost = _lost(factor, power)
    return lost / (2.0 - lost)


def _lost(factor: float, power: int) -> float:
    """1 - c^p without cancellation."""
    return 1.0 if factor == 0.0 else -math.expm1(power * math.log1p(factor - 1.0))
