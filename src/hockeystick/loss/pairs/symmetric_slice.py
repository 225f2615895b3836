"""Symmetric pairs: the MGF phi is symmetric about w = -1/2, so that both orders of the pair have the same loss.

phi is in closed form, an even function of v = w + 1/2 (docs/mathematics.md, section 1; Lemma 2: the pair is its own reverse).
"""

from abc import abstractmethod
from typing import Self

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray, even_difference, log1p_complex
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT

SERIES = 0.5  # |v a| below which phi - 1 is summed as a series


class SymmetricSlice:
    """Re w = c of a loss that lies between -a and a."""

    def __init__(self, a: float, c: float) -> None:
        self.a, self.c = a, c

    def keep(self, rows: list[int]) -> Self:
        return self

    def cumulant_above(self, points: Array) -> Array:
        value, error = self.log_phi(points + (0.5 + 0j))
        return (value.real + error * SECOND_ORDER)[None, :]

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        value, error = self.log_phi((self.c + 0.5) + 1j * (step * np.arange(nodes)))
        return value[None, :], error[None, :]

    def log_phi(self, v: ComplexArray) -> tuple[ComplexArray, Array]:
        """log phi at w = v - 1/2 with a bound of its error."""
        a = self.a
        v = np.where(v.real < 0.0, -v, v)
        size = np.abs(v) * a
        value = np.empty(v.shape, dtype=np.complex128)
        error = np.empty(v.shape)
        near = (size < SERIES) & (a < 1.0)
        if near.any():
            square = v[near] ** 2
            scale, coefficients = self.series()  # phi - 1 = scale * sum_k coefficient_k (v^2k - 4^-k)
            excess = scale * even_difference(square, coefficients)
            value[near] = log1p_complex(excess)
            lost = (np.abs(square) + 0.25) / np.maximum(np.abs(square - 0.25), 1e-300)  # w (w + 1) = v^2 - 1/4
            error[near] = np.abs(excess) * (3.0 * FUNCTION + (40.0 + 4.0 * lost) * UNIT)
        far = ~near
        if far.any():
            w = np.where(np.abs(v[far]) < 1e-30, 1e-30, v[far])
            factor, relative = self.factor(w, size[far])
            value[far] = (w - 0.5) * a + np.log(factor)
            error[far] = 4.0 * UNIT * (size[far] + a) + relative
        return value, error

    @abstractmethod
    def series(self) -> tuple[float, list[float]]:
        """The scale and the coefficients of phi - 1 in even powers of v."""

    @abstractmethod
    def factor(self, v: ComplexArray, size: Array) -> tuple[ComplexArray, Array]:
        """phi = e^{(v - 1/2) a} times this, and a bound of its relative error; `size` is |v a|, Re v >= 0."""
