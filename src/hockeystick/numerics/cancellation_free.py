"""Differences of elementary functions, and expectations of them, without cancellation.

docs/mathematics.md, Lemma 12 (no cancellation) and Lemma 14 (Kullback-Leibler divergence).
"""

import math
from fractions import Fraction
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from .rounding import FUNCTION, UNIT

Array = npt.NDArray[np.floating[Any]]
Numbers = TypeVar("Numbers", npt.NDArray[np.floating[Any]], npt.NDArray[np.complexfloating[Any, Any]])
ComplexArray = npt.NDArray[np.complexfloating[Any, Any]]

BLOCK = 32  # terms that are summed at once
_SMALL = 1.0  # |k L| below which a node goes into the power sums
_INVERSE_FACTORIALS = np.array([1.0 / math.factorial(k) for k in range(2, 60)])


def exp_remainder(y: Numbers) -> Numbers:
    """exp(y) - 1 - y, real or complex, to nearly full relative accuracy.

    >>> print(exp_remainder(np.array([1e-9, 1.0])))
    [5.00000000e-19 7.18281828e-01]
    """
    small = np.abs(y) < 0.5
    z = np.where(small, y, 0.0)
    series = np.zeros_like(z)
    for inverse in _INVERSE_FACTORIALS[14::-1]:
        series = series * z + inverse
    return np.where(small, series * z * z, np.expm1(y) - y)


def blocked_sum(values: Array) -> float:
    """The sum, with an error below BLOCK * UNIT relative to the sum of the magnitudes, however many there are.

    >>> blocked_sum(np.full(1000, 0.5))
    500.0
    """
    return math.fsum(np.add.reduceat(values, np.arange(0, values.size, BLOCK)).tolist())


def power_sums(y: Array, weights: Array, degree: int) -> Array:
    """sum_j weights_j y_j^k / k! for k = 2 .. degree.

    >>> print(power_sums(np.array([1.0, 2.0]), np.array([1.0, 1.0]), 3))
    [2.5 1.5]
    """
    powers = np.empty((degree - 1, y.size))
    powers[:] = y
    powers[0] = y * y
    sums: Array = np.multiply.accumulate(powers, axis=0) @ weights
    sums *= _INVERSE_FACTORIALS[: degree - 1]
    return sums


def series_degree(y: float) -> tuple[int, float]:
    """How many terms of sum_m (m - 1) y^m / m!, m >= 2, reach double precision for 0 < y <= 1.

    Returns the degree and a bound of the remainder relative to y^2 / 2.

    >>> series_degree(0.5)[0]
    16
    """
    degree, term = 2, y / 3.0  # term = 2 y^(degree - 1) / (degree + 1)!
    while degree * term > 2.0**-55:
        degree += 1
        term *= y / (degree + 1)
    return degree, degree * term / (1.0 - 2.0 * y / (degree + 2))


def even_difference(square: ComplexArray, coefficients: list[float]) -> ComplexArray:
    """sum_k coefficients_k (x^k - 4^-k) for k = 1, 2, ..., with the factor x - 1/4 taken out of every term.

    >>> print(even_difference(np.array([0.5 + 0j]), [1.0, 2.0])[0].real)
    0.625
    """
    total = np.zeros_like(square)
    partial = np.ones_like(square)  # (x^k - 4^-k) / (x - 1/4)
    for power, coefficient in enumerate(coefficients, start=1):
        total += partial * coefficient
        partial = partial * square + 0.25**power
    return total * (square - 0.25)


def log_mixed_above(x: float, rate: float) -> float:
    """An upper bound of log(1 - q + q e^x), to some 1e-12, for x >= 0, also where e^x is no double, and whatever the rate q > 0.

    >>> print(round(log_mixed_above(2.0, 0.1), 9), round(log_mixed_above(1e3, 0.1), 9), log_mixed_above(620.0, 1e-280) < 1.9e-11)
    0.494028708 997.697414907 True
    """
    if x < 600.0:
        return math.log1p(rate * math.expm1(x)) * (1.0 + 8.0 * FUNCTION)
    odds = x + math.log(rate) + 1e-12  # log of the rate errs by less
    return (max(odds, 0.0) + math.log1p(math.exp(-abs(odds)))) * (1.0 + 8.0 * FUNCTION)


def log_fraction(value: Fraction) -> float:
    """log of a positive fraction, also where it is no double.

    >>> print(round(log_fraction(Fraction(1, 10**400)), 9))
    -921.034037198
    """
    return log_ratio(value.numerator, value.denominator)


def log_ratio(numerator: int, denominator: int) -> float:
    """log of the ratio of two whole numbers above 0, also where it is no double.

    >>> print(round(log_ratio(7 * 10**400, 7), 9), log_ratio(10**20 + 1, 10**20) == 1e-20)
    921.034037198 True
    """
    if numerator < 2 * denominator and denominator < 2 * numerator:
        return math.log1p((numerator - denominator) / denominator)
    shift = numerator.bit_length() - denominator.bit_length()
    scaled = numerator / (denominator << shift) if shift > 0 else (numerator << -shift) / denominator
    return math.log(scaled) + shift * math.log(2.0)


def expm1_complex(value: ComplexArray) -> ComplexArray:
    """e^value - 1 without cancellation.

    >>> print(expm1_complex(np.array([1e-20 + 0j]))[0].real)
    1e-20
    """
    grown = np.expm1(value.real)
    half = np.sin(0.5 * value.imag)
    found = np.empty_like(value)
    found.real = grown - (2.0 * half * half) * (1.0 + grown)
    found.imag = (1.0 + grown) * np.sin(value.imag)
    return found


def log1p_complex(z: ComplexArray) -> ComplexArray:
    """log(1 + z) with an error of a few units relative to |z / (1 + z)| (NumPy's own loses it for small z).

    >>> print(log1p_complex(np.array([1e-20 + 0j]))[0].real)
    1e-20
    """
    out = np.empty_like(z)
    square = 2.0 * z.real + (z.real * z.real + z.imag * z.imag)  # |1 + z|^2 - 1
    out.real = 0.5 * np.log1p(np.maximum(square, -0.75))
    out.imag = np.arctan2(z.imag, 1.0 + z.real)
    far = square < -0.75
    if far.any():
        out.real[far] = np.log(np.maximum(np.abs(1.0 + z[far]), 1e-290))
    return out


def gain_terms(ratio: Array, weight: Array, grown: Array) -> Array:
    """Of L e^L - x, which is never negative: the terms of its expectation."""
    near = np.minimum(ratio, 1.0)
    small = weight * (near * np.expm1(near) - exp_remainder(near))
    found: Array = np.where(ratio < 1.0, small, grown * (ratio - 1.0) + weight)
    return found


def loss_terms(ratio: Array, weight: Array, grown: Array) -> Array:
    """Of x - L, which is never negative."""
    small = weight * exp_remainder(np.minimum(ratio, 1.0))
    found: Array = np.where(ratio < 1.0, small, grown - weight * (1.0 + ratio))
    return found


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


class NoiseStep(Protocol):
    """L(z) = log(1 + x), x = q (e^t - 1), t = (z - 1/(2 noise)) / noise."""

    @property
    def noise(self) -> float: ...
    @property
    def rate(self) -> float: ...


class WeightedNodes(Protocol):
    """Nodes z with the logarithms of their weights (`base`) and the values of L (`ratio`), which grow."""

    @property
    def shape(self) -> NoiseStep: ...
    @property
    def z(self) -> Array: ...
    @property
    def ratio(self) -> Array: ...
    @property
    def base(self) -> Array: ...
    def ratio_errors(self) -> tuple[Array, Array]:
        """Bounds of the errors of t and of L."""
        ...


class ExcessSums:
    """E[e^{kL} - 1 - k x] to relative accuracy, however small it is (docs/mathematics.md, Lemma 12), for |k| <= size, size >= 1.

    The nodes are of two kinds: those with |L| size <= 1, and the others.  Over the first kind, the sum of
    weight (e^{kL} - 1 - k x) is k (k - 1) times a polynomial in k, whose coefficients `tails` and whose error,
    `small_error` times |k (k - 1)|, do not depend on k.  Of the others the sums of weight and of weight * x are kept,
    with the error of their sum, `far_error[0] + |k| far_error[1]`.
    """

    def __init__(self, nodes: WeightedNodes, size: float) -> None:
        self.size = size
        bound = _SMALL / size
        first, last = int(nodes.ratio.searchsorted(-bound)), int(nodes.ratio.searchsorted(bound))
        t_error, ratio_error = nodes.ratio_errors()
        weight = np.exp(nodes.base)
        self.tails, self.small_error = power_tails(
            nodes.ratio[first:last], weight[first:last], nodes.z[first:last], ratio_error[first:last], size
        )
        self.far = last - first < nodes.z.size
        if self.far:
            pick = np.concatenate((np.arange(first), np.arange(last, nodes.z.size)))
            self.base, self.z, self.ratio = nodes.base[pick], nodes.z[pick], nodes.ratio[pick]
            self.ratio_error = ratio_error[pick]
            noise, rate = nodes.shape.noise, nodes.shape.rate
            grown = np.exp(self.base + (self.z - 0.5 / noise) * (1.0 / noise))
            light = weight[pick]
            self.mass = math.fsum(light.tolist())
            self.drift = rate * (math.fsum(grown.tolist()) - self.mass)  # weight * x
            each = UNIT * (20.0 + self.z * self.z) + t_error[pick]
            self.far_error = float(light @ each), rate * float((grown + light) @ each)
