"""Binomial masses with small relative error, however many trials (Loader 2000).

docs/mathematics.md, section 12; docs/bibliography.md, [L00].
"""

import math
from fractions import Fraction

import numpy as np

from .cancellation_free import Array
from .rounding import FUNCTION, UNIT

_STEEP = 30.0
"""log of the odds beyond which tails are so rare that powers serve better than deviations from the mean."""

_STIRLING = np.array(  # log n! - log(sqrt(2 pi n) (n/e)^n) for n = 1, ..., 15; the first entry is not used
    [
        0.0,
        0.08106146679532726,
        0.0413406959554093,
        0.02767792568499834,
        0.020790672103765093,
        0.016644691189821193,
        0.013876128823070748,
        0.01189670994589177,
        0.010411265261972096,
        0.009255462182712733,
        0.00833056343336287,
        0.007573675487951841,
        0.00694284010720953,
        0.006408994188004207,
        0.0059513701127588475,
        0.005554733551962801,
    ]
)


def log_masses(count: int, size: float, first: int, last: int) -> tuple[Array, Array]:
    """log P(N = first), ..., log P(N = last) of N heads in `count` tosses with odds e^size : 1, and bounds of their errors.

    With n p and n q the means of heads and tails and x the distance from them, the mass is e^-D sqrt(n / (2 pi i (n - i))) up
    to Stirling's errors, D = n p bend(x / n p) + n q bend(-x / n q).  `bend` errs by 4 FUNCTION where it is a series, by 16
    elsewhere; an error of x enters with the slope of D.

    >>> found, error = log_masses(10, 1.0, 9, 10)
    >>> found.round(12).tolist(), bool(error.max() < 1e-13)
    ([-1.830031782188, -3.132616875182], True)
    """
    heads = np.arange(first, last + 1, dtype=float)
    inside = (heads > 0.0) & (heads < count)
    i = np.where(inside, heads, 1.0)
    log_p = -math.log1p(math.exp(-size))
    ends = np.where(heads > 0.0, count * log_p, count * (log_p - size))
    if count == 1:
        return ends, 2.0 * FUNCTION * np.abs(ends) + 1e-300
    found, error = (_steep if size > _STEEP else _near)(count, size, i, count - i)
    return np.where(inside, found, ends), np.where(inside, error, 2.0 * FUNCTION * np.abs(ends) + 1e-300)


def log_fair_masses(count: Array, heads: Array) -> tuple[Array, Array]:
    """log P(N = heads) of N heads in `count` fair tosses, heads >= count / 2, and bounds of their errors.

    >>> found, error = log_fair_masses(np.array([4.0, 3.0]), np.array([2.0, 3.0]))
    >>> np.exp(found).round(12).tolist(), bool(error.max() < 1e-13)
    ([0.375, 0.125], True)
    """
    inside = heads < count
    if not inside.all():
        found, error = np.empty(heads.shape), np.empty(heads.shape)
        found[~inside] = -math.log(2.0) * count[~inside]
        error[~inside] = -2.0 * FUNCTION * found[~inside]
        found[inside], error[inside] = log_fair_masses(count[inside], heads[inside])
        return found, error
    rest = count - heads
    t = (heads - rest) / count
    bends = 0.5 * count * _both_bends(t)
    found = np.log(heads * rest / count * (2.0 * math.pi)) * -0.5 - bends
    found += _stirling(count) - _stirling(heads) - _stirling(rest)
    # an error of t enters with count t artanh t <= 2 bends (1 + log count)
    error = bends * (FUNCTION * 24.0 + 16.0 * UNIT * (1.0 + np.log(count))) + FUNCTION * (8.0 + 2.0 * np.log(count))
    return found, error


def _both_bends(t: Array) -> Array:
    """(1 + t) log(1 + t) + (1 - t) log(1 - t) = the sum of t^2k / (k (2k - 1)), 0 <= t < 1."""
    if t.size == 0 or float(t.max()) >= 0.15:
        return _bend(t) + _bend(-t)
    square = t * t
    series = np.full(t.shape, 1.0 / (9.0 * 17.0))
    for k in range(8, 0, -1):
        series *= square
        series += 1.0 / (k * (2.0 * k - 1.0))
    return series * square


def _near(count: int, size: float, i: Array, rest: Array) -> tuple[Array, Array]:
    """By Loader's formula."""
    small = math.exp(-size)
    p, q = 1.0 / (1.0 + small), small / (1.0 + small)
    shift = 0.5 * count * math.tanh(0.5 * size)  # of the mean from count / 2
    x = (i - 0.5 * count) - shift
    up, down = x / (count * p), -x / (count * q)
    bends = count * p * _bend(up), count * q * _bend(down)
    steep = np.abs(np.log1p(np.maximum(up, -1.0 + UNIT)) - np.log1p(np.maximum(down, -1.0 + UNIT)))
    error = steep * (4.0 * FUNCTION * shift + 4.0 * UNIT * np.abs(x)) + FUNCTION * (8.0 + _logs(count, i, rest))
    error += FUNCTION * (bends[0] * np.where(np.abs(up) < 0.2, 4.0, 24.0) + bends[1] * np.where(np.abs(down) < 0.2, 4.0, 24.0))
    return _spread(count, i, rest) - bends[0] - bends[1], error


def _steep(count: int, size: float, i: Array, rest: Array) -> tuple[Array, Array]:
    """The binomial coefficient times the powers, where tails are rare."""
    ways = -i * np.log1p(-rest / count), rest * (math.log(count) - np.log(rest))
    powers = rest * size + count * math.log1p(math.exp(-size))
    error = 2.0 * FUNCTION * (ways[0] + ways[1] + powers + rest * math.log(count) + 8.0 + _logs(count, i, rest))
    return _spread(count, i, rest) + ways[0] + ways[1] - powers, error


def _spread(count: int, i: Array, rest: Array) -> Array:
    """log of sqrt(n / (2 pi i (n - i))) with Stirling's errors."""
    errors = _stirling(np.array([float(count)])) - _stirling(i) - _stirling(rest)
    found: Array = errors - 0.5 * (np.log(i) + np.log(rest) + (math.log(2.0 * math.pi) - math.log(count)))
    return found


def _logs(count: int, i: Array, rest: Array) -> Array:
    found: Array = np.log(i) + np.log(rest) + math.log(count)
    return found


def _bend(r: Array) -> Array:
    """(1 + r) log(1 + r) - r for r > -1, without cancellation."""
    v = r / (2.0 + r)
    near = np.abs(v) < 0.1
    square = np.where(near, v * v, 0.0)
    series = np.zeros_like(r)
    for odd in range(19, 1, -2):
        series = series * square + 1.0 / odd
    safe = np.where(near, 1.0, np.maximum(r, -1.0 + UNIT))
    found: Array = np.where(near, r * v + 2.0 * (1.0 + r) * v * square * series, (1.0 + safe) * np.log1p(safe) - safe)
    return found


def _stirling(n: Array) -> Array:
    """log n! - log(sqrt(2 pi n) (n/e)^n), to about 1e-17."""
    if n.size and float(n.min()) > 1000.0:
        inverse = 1.0 / n
        return inverse * (1.0 / 12.0 - inverse * inverse * (1.0 / 360.0))
    m = np.maximum(n, 16.0)
    s = 1.0 / (m * m)
    series = (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s * (1 / 1188 - s * 691 / 360360))))) / m
    found: Array = np.where(n < 16.0, _STIRLING[np.minimum(n, 15.0).astype(int)], series)
    return found


def weights_up(count: int, rate: float) -> tuple[float, ...]:
    """The weights of Bin(count, rate), rounded so that more participations are never less likely (Lemma 25)."""
    chance = Fraction(rate)
    exact = [math.comb(count, k) * chance**k * (1 - chance) ** (count - k) for k in range(count + 1)]
    likely = max(range(count + 1), key=lambda k: exact[k])
    found = [
        max(float(one) * (1.0 + 8.0 * UNIT), 1e-300 if one else 0.0) if k > likely else float(one) * (1.0 - 8.0 * UNIT)
        for k, one in enumerate(exact)
    ]
    found[likely] = 0.0
    found[likely] = float(1 - sum(map(Fraction, found)))  # the sum is within one unit of 1
    return tuple(found)
