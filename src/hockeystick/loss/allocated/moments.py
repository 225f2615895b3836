"""Moments of the likelihood ratio of an allocation at real orders: exact at whole ones, bounds between and below.

With Y_j = exp(t X_j - t^2/2), X_j independent and standard normal, the likelihood ratio of an epoch of T steps is L, the mean of
Y_1, ..., Y_T, and F(q) = E L^q (docs/mathematics/allocation.md, Lemma 40).  log F is convex, and 0 at 0 and 1 (Lemma 43).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from ...numerics.cancellation_free import Array, Numbers
from ...numerics.rounding import FUNCTION, UNIT
from ..protocol import Inconclusive


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    most_orders: int = 400
    """Whole orders up to which moments are computed; beyond, cruder bounds serve."""
    most_exponent: float = 600.0
    """Of the largest moment of one step that is handled as a double."""


TUNING = Tuning()


class AllocatedStep(NamedTuple):
    """An epoch of `steps` Gaussian steps, of which each record takes part in one: its distance over sigma is `tilt`, up to the
    relative `tilt_error`."""

    tilt: float
    steps: int
    tilt_error: float = 4.0 * UNIT

    def log_moment_bound(self, q: float) -> float:
        """An upper bound of log F at any real order.

        Jensen's inequality over the T steps above 1 (joint convexity, the step without allocation), and below 0 the geometric
        mean, L >= exp(t Xbar - t^2/2) (Lemma 43).
        """
        square = self.tilt * self.tilt * (1.0 + 4.0 * self.tilt_error)
        if q >= 1.0:
            return 0.5 * q * (q - 1.0) * square * (1.0 + 8.0 * UNIT)
        if q >= 0.0:
            return 0.0
        return 0.5 * square * (-q + q * q / self.steps) * (1.0 + 8.0 * UNIT)

    def decay(self, u: Array) -> Array:
        """A lower bound of -log |F(a + iu)/F(a)| at every real a (Lemma 43)."""
        tilt = self.tilt * (1.0 - 2.0 * self.tilt_error)
        found: Array = (u * tilt) ** 2 * (0.5 / self.steps * (1.0 - 1e-12))
        return found


def largest_order(step: AllocatedStep) -> int:
    """The largest whole order n for which n-th moments of one step, over steps^n, are doubles."""
    # n (n - 1) t^2/2 - (n - 1) log T <= most
    half, drift = 0.5 * step.tilt * step.tilt, math.log(step.steps)
    ahead = half - drift
    found = 1.0 + (math.sqrt(ahead * ahead + 4.0 * half * TUNING.most_exponent) - ahead) / (2.0 * half)
    return int(min(TUNING.most_orders, found))


def power_coefficients(b: Numbers, steps: int) -> Numbers:
    """The coefficients of (1 + b_1 x + ... + b_n x^n)^steps up to x^n, for each row of b (of which column k - 1 has b_k).

    By the recurrence r_m = (1/m) sum_k ((steps + 1) k - m) b_k r_{m-k}, whose terms are positive for positive b if m <= steps
    + 1; for fewer steps by products.  So with |b_k| in place of b_k it is a bound of the moduli, and rounding errs relative to
    that by at most `power_rounding`.
    """
    rows, n = b.shape
    if n > steps + 1:
        return _by_products(b, steps)
    r = np.zeros((rows, n + 1), dtype=b.dtype)
    r[:, 0] = 1.0
    k = np.arange(1.0, n + 1.0)
    for m in range(1, n + 1):
        weights = ((steps + 1.0) * k[:m] - m) * (1.0 / m)
        r[:, m] = np.einsum("ij,ij->i", b[:, :m] * weights, r[:, m - 1 :: -1] if m > 1 else r[:, :1])
    return r


def _by_products(b: Numbers, steps: int) -> Numbers:
    rows, n = b.shape
    base = np.concatenate((np.ones((rows, 1), dtype=b.dtype), b), axis=1)
    found = np.zeros((rows, n + 1), dtype=b.dtype)
    found[:, 0] = 1.0
    while steps:
        if steps & 1:
            found = _product(found, base)
        steps >>= 1
        if steps:
            base = _product(base, base)
    return found


def _product(one: Numbers, two: Numbers) -> Numbers:
    """Of two polynomials, without what goes beyond their degree."""
    found = np.empty_like(one)
    for m in range(one.shape[1]):
        found[:, m] = np.einsum("ij,ij->i", one[:, : m + 1], two[:, m::-1])
    return found


def power_rounding(n: int, steps: int) -> float:
    """A bound of the rounding error of `power_coefficients`, relative to the coefficients of |b|."""
    if n > steps + 1:  # each product doubles what its factors err by
        return 4.0 * (n + 4.0) * UNIT * steps
    return 0.5 * n * (n + 17.0) * UNIT


def scale_of(n: int) -> float:
    """A factor of x, a power of two, that keeps the coefficients of e^x, and so those of the power, within doubles up to x^n."""
    return 2.0 ** round(math.lgamma(n + 1.0) / (n * math.log(2.0))) if n else 1.0


def unscaled(n: int) -> float:
    """n!/scale^n, rounded once."""
    return float(Fraction(math.factorial(n)) / Fraction(scale_of(n)) ** n)


@lru_cache(maxsize=64)
def _whole_orders(step: AllocatedStep, n: int) -> tuple[float, ...]:
    """Upper bounds of log F at 0, 1, ..., n: F(m) = m! T^-m [x^m] (sum of a_k x^k/k!)^T, a_k = e^{k(k-1)t^2/2}."""
    t, scale = step.tilt, scale_of(n)
    k = np.arange(1.0, n + 1.0)
    factorials = np.add.accumulate(np.log(k))
    logs = 0.5 * k * (k - 1.0) * t * t - factorials + k * math.log(scale / step.steps)
    b = np.exp(logs)[None, :]
    found = power_coefficients(b, step.steps)[0, 1:]
    # a product of b_k with k adding up to n: the parts of its logarithm add up to at most these
    exponent = 0.5 * n * (n - 1.0) * t * t
    size = exponent + float(factorials[-1]) + n * abs(math.log(scale / step.steps))
    error = power_rounding(n, step.steps) + size * ((n + 8.0) * UNIT + 4.0 * FUNCTION) + 4.0 * n * FUNCTION
    error += 4.0 * exponent * step.tilt_error
    values = np.log(found) + factorials - k * math.log(scale)
    return (0.0, *(max(0.0, one) + error for one in values.tolist()))


class Moments:
    """Upper bounds of log F at real orders from 0 up, from whole ones."""

    def __init__(self, step: AllocatedStep) -> None:
        self.step, self.most = step, largest_order(step)

    @cached_property
    def _blocks(self) -> dict[int, tuple[float, ...]]:
        return {}

    def whole(self, n: int) -> float:
        """An upper bound of log F(n)."""
        if n <= 1:
            return 0.0 if n >= 0 else self.step.log_moment_bound(float(n))
        if n > self.most:
            return self.step.log_moment_bound(float(n))
        size = min(self.most, 1 << (n - 1).bit_length())
        if size not in self._blocks:
            self._blocks[size] = _whole_orders(self.step, size)
        return min(self._blocks[size][n], self.step.log_moment_bound(float(n)))

    def above(self, q: float) -> float:
        """An upper bound of log F(q): between whole orders on the chord."""
        if not abs(q) < 1e15:
            raise Inconclusive
        if q < 0.0:
            return self.step.log_moment_bound(q)
        low = math.floor(q)
        if q >= self.most:
            return self.step.log_moment_bound(q)
        share = q - low
        one, two = self.whole(low), self.whole(low + 1) if share else 0.0
        chord = one * (1.0 - share) + two * share
        return min(chord * (1.0 + 8.0 * UNIT) if chord > 0.0 else 0.0, self.step.log_moment_bound(q))
