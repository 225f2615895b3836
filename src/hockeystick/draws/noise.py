"""Noise on numbers: its law is met exactly, and only what goes out is rounded (docs/mathematics.md, section 17, Lemma 39).

Each function has its reference here, for one draw, and the compiled core draws arrays (`native/draws.py`).
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..native import draws as loops
from .lazy import Digits, Exponential, coin
from .source import Words

GRID_BITS = 40  # what goes out is a whole number of steps of 2^-40 times the power of two that is next below the noise
FRACTION_BITS = 64  # of the noise are drawn before it is asked on which step of the grid the sum is: else the first try fails
Doubles = npt.NDArray[np.float64]


def grid_of(spread: float) -> int:
    """The exponent of the power of two that is the spacing of the grid, for noise of this scale.

    >>> grid_of(1.0), grid_of(0.9)
    (-40, -41)
    """
    return math.frexp(spread)[1] - 1 - GRID_BITS


def double(steps: int, grid: int) -> float:
    """steps * 2^grid, rounded to the nearest double; infinite beyond the largest."""
    try:
        return float(steps << grid) if grid >= 0 else steps / (1 << -grid)
    except OverflowError:
        return math.copysign(math.inf, steps)


def _on_grid(value: float, grid: int, spread: float, size: Exponential, negative: bool) -> float:
    """value + spread * size, or -, exactly, rounded to the nearest step of the grid."""
    step = Fraction(2) ** grid
    half = Fraction(value) / step + Fraction(1, 2)
    return double(size.times(Fraction(spread) / step, FRACTION_BITS, half, -1 if negative else 1), grid)


def laplace(value: float, scale: float, words: Digits) -> float:
    """value + Z, Z of density e^(-|z|/scale) / (2 scale), on the grid of the scale."""
    negative, size = coin(words), Exponential(words)
    return _on_grid(value, grid_of(scale), scale, size, negative)


def gaussian(value: float, sigma: float, words: Digits) -> float:
    """value + Z, Z normal of standard deviation sigma, on the grid of sigma (Lemma 36)."""
    while True:
        size = Exponential(words)
        if _half_square_below(size, Exponential(words)):
            return _on_grid(value, grid_of(sigma), sigma, size, coin(words))


def _half_square_below(one: Exponential, other: Exponential) -> bool:
    """Whether (one - 1)^2 / 2 < other."""
    while True:
        unit = 1 << one.size
        ends = abs(one.low - unit), abs(one.low + 1 - unit)  # 1 is never inside
        if max(ends) ** 2 <= other.low * unit * 2:
            return True
        if min(ends) ** 2 >= (other.low + 1) * unit * 2:
            return False
        one.refine()
        other.refine()


def discrete_laplace(scale: Fraction, words: Digits, least: int = 0) -> int:
    """A whole number z with a probability proportional to e^(-|z|/scale) (Lemma 35)."""
    while True:
        negative = coin(words)
        size = Exponential(words).times(scale, least)
        if size or not negative:
            return -size if negative else size


def discrete_gaussian(sigma: Fraction, words: Digits) -> int:
    """A whole number z with a probability proportional to e^(-z^2 / (2 sigma^2)) (Lemma 36)."""
    scale = Fraction(math.floor(sigma) + 1)
    square = sigma * sigma
    while True:
        found = discrete_laplace(scale, words)
        if Exponential(words).exceeds((abs(found) - square / scale) ** 2 / (2 * square)):
            return found


def laplaces(values: Doubles, scale: float, words: Words) -> Doubles:
    """`laplace` of each value."""
    out = np.empty_like(values)
    loops.laplace(values, scale, grid_of(scale), out, words, lambda place: laplace(float(values[place]), scale, words))
    return out


def gaussians(values: Doubles, sigma: float, words: Words) -> Doubles:
    """`gaussian` of each value."""
    out = np.empty_like(values)
    loops.gaussian(values, sigma, grid_of(sigma), out, words, lambda place: gaussian(float(values[place]), sigma, words))
    return out


def discrete_laplaces(scale: Fraction, size: int, words: Words, least: int = 0) -> npt.NDArray[Any]:
    """So many draws; of Python's whole numbers if one is beyond 64 bits."""
    return loops.discrete_laplace(scale, least, size, words, lambda _: discrete_laplace(scale, words, least))


def discrete_gaussians(sigma: float, size: int, words: Words) -> npt.NDArray[Any]:
    """So many draws; of Python's whole numbers if one is beyond 64 bits."""
    exact = Fraction(sigma)
    return loops.discrete_gaussian(sigma, size, words, lambda _: discrete_gaussian(exact, words))
