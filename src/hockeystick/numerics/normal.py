"""The hockey stick of two unit normal laws at distance mu, and masses of cells, in logarithms.

docs/mathematics.md, section 5 (Gaussian noise).
"""

import math

import numpy as np

from .cancellation_free import Array
from .rounding import ERFCX, FUNCTION, LARGEST, LOG_NDTR, UNIT

_ROOT_HALF = math.sqrt(0.5)
_LOG_TWO = math.log(2.0)
LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_FAR = 1e7  # beyond it there is nothing
_STEP = 0.07
_NODES = np.exp(np.arange(-19.0, 4.4, _STEP))


def log_tail_bound(x: float) -> float:
    """An upper bound of log P(N > x): -x^2/2 - log 2 for x >= 0, else 0.

    >>> log_tail_bound(-1.0)
    0.0
    """
    return -0.5 * x * x - math.log(2.0) if x >= 0.0 else 0.0


def close_mills_gap(middle: float, mu: float) -> tuple[float, float]:
    """(R(middle - mu/2) - R(middle + mu/2)) / sqrt(2 pi), R Mills' ratio, middle >= 0, without cancellation.

    R(x) is the integral of e^{-t^2/2 - x t} over t > 0, so the difference is that of e^{-t^2/2 - middle t} 2 sinh(mu t/2),
    which is positive: the trapezoidal rule in log t, on a strip of half-width pi/8 on which the integrand is at most four
    times as large, errs by less than 8 e^{-2 pi (pi/8)/step} < 1e-14 of the value; the ends left out are below e^-35 of it.
    Returns the value and a bound of its relative error, for mu < 0.1 or middle > 10 mu.

    >>> value, error = close_mills_gap(2.0, 1e-3)
    >>> print(f"{value:.12e}", error < 4e-14)
    6.273827963116e-05 True
    """
    t = _NODES * (1.0 / (1.0 + middle))
    values = np.exp(t * (-0.5 * t - middle)) * np.sinh((0.5 * mu) * t) * t
    value = 2.0 * _STEP * float(values.sum()) / math.sqrt(2.0 * math.pi)
    # an exponent at which the integrand matters is below 40
    return value, 1.2e-14 + (40.0 * 4.0 + 40.0) * UNIT + 3.0 * FUNCTION


def log_shift_delta(mu: float, x: float, mu_error: float = 4.0 * UNIT) -> tuple[float, float, float]:
    """log of delta = P(N > a) - e^x P(N > a + mu) with a = x/mu - mu/2, for x >= 0 and mu > 0.

    Returns (log delta, a bound of its absolute error, d log delta / d x).  With Mills' ratio
    R(t) = sqrt(pi/2) erfcx(t/sqrt 2), delta = phi(a) (R(a) - R(a + mu)); far to the left its complement
    P(N < a) + phi(a) R(a + mu) is summed instead.  `mu_error` is the relative error of mu itself.

    >>> value, error, slope = log_shift_delta(1.0, 1.0)
    >>> print(f"{math.exp(value):.12f}", error < 2e-14)
    0.126936737507 True
    """
    from scipy.special import erfcx

    middle, half = x / mu, 0.5 * mu
    a, b = middle - half, middle + half
    if a > 1e30:  # the logarithm of the factor of e^{-a^2/2} is below 2000 here
        if a > 1.8e154:
            return -LARGEST, math.inf, -math.inf  # below nearly every double
        lost = (2.0 * mu_error + 8.0 * UNIT) * (middle + half) / a  # relative, of a
        return -0.5 * a * a if a < 1e154 else -(0.5 * a) * a, a * (a * lost) + 2000.0, -a / mu
    # error of a and b: rounding, and mu's own error, of which |da/dmu| mu = middle + half
    shift = (mu_error + 2.0 * UNIT) * (middle + half)
    right = 0.5 * float(erfcx(b * _ROOT_HALF))
    exponent_error = abs(a) * shift + 2.0 * UNIT * a * a + FUNCTION
    if a >= -1.0:
        # |R'/R| = 1/R(t) - t falls in t, is below 1.3 at -1 and below 1/t for t > 0
        lean = shift * (1.0 / (a - shift) if a > 1.0 + 2.0 * shift else 1.3 + shift)
        left = 0.5 * float(erfcx(a * _ROOT_HALF))
        gap = left - right
        if gap < 0.05 * left:
            gap, gap_error = close_mills_gap(middle, mu)
            # d log gap: at most twice that of R itself in the middle, and once in mu
            off = gap_error + 4.0 * lean + mu_error
        else:
            off = (left + right) / gap * (ERFCX + 4.0 * UNIT + math.expm1(min(lean, 700.0)))
        part, power = math.frexp(gap)  # so that the logarithm errs by FUNCTION at most, and the rest by three roundings
        factor = math.log(part) + power * _LOG_TWO
        error = exponent_error + FUNCTION + 3.0 * UNIT * abs(factor) + (-math.log1p(-off) if off < 0.5 else math.inf)
        value = factor - 0.5 * a * a
        return value, error + 2.0 * UNIT * abs(value), -right / gap
    if a + shift < -40.0:
        return 0.0, 1e-300, 0.0
    if shift > 1.0:
        return 0.0, math.inf, 0.0
    weight = math.exp(-0.5 * a * a)
    complement = weight * (0.5 * float(erfcx(-a * _ROOT_HALF)) + right)
    most = complement * math.exp(min(700.0, exponent_error + 2.0 * ERFCX + shift * (2.0 + shift)))
    error = (most - complement) / (1.0 - most) if most < 1.0 else math.inf
    value = math.log1p(-complement)
    return value, error + 2.0 * FUNCTION * abs(value) + 1e-300, -weight * right / (1.0 - complement)


def log_normal_cells(edges: Array, wobble: float = 0.0, shift: float = 0.0) -> tuple[Array, Array]:
    """log of the masses of the unit normal law left of the first edge, between the edges, and right of the last.

    Also bounds of the errors of these logarithms; `wobble` bounds the relative error of each edge, `shift` an error that all of
    them share.  Narrow cells by Taylor's series about the middle (its fourth term is below 3e-16 of the first), the others by
    differences of the nearer tail, whose logarithm has a slope of at most 1 + |edge|.

    >>> value, error = log_normal_cells(np.array([-1.0, 0.0, 1e-3, 40.0]))
    >>> print(np.exp(value[:3]), value[4].round(6), bool(error.max() < 1e-11))
    [0.15865525 0.34134475 0.00039894] -804.608442 True
    """
    from scipy.special import log_ndtr

    points = np.concatenate(([-_FAR], np.minimum(np.maximum(edges, -_FAR), _FAR), [_FAR]))
    left, right = points[:-1], points[1:]
    middle, width = 0.5 * (left + right), right - left
    size, square, thin = np.abs(middle), middle * middle, width * width
    narrow = width * (1.0 + size) < 0.02
    with np.errstate(divide="ignore", invalid="ignore"):
        series = (square - 1.0) * (1.0 / 24.0) + ((square - 6.0) * square + 3.0) * thin * (1.0 / 1920.0)
        value = np.log(width) - 0.5 * square - LOG_ROOT_TWO_PI + np.log1p(np.where(narrow, series * thin, 0.0))
        # a width is a difference of edges: exact but for the edges' own errors
        error = UNIT * (6.0 * square + 32.0) + wobble * (size + width) * (2.0 / width + size) + shift * (size + width)
    if not narrow.all():
        wide = ~narrow
        flip = middle[wide] < 0.0
        near = np.where(flip, -right[wide], left[wide])  # the tails beyond these, near < far
        far = np.where(flip, -left[wide], right[wide])
        tail, rest = log_ndtr(-near), log_ndtr(-far)
        share = -np.expm1(rest - tail)
        steep = 1.0 + np.abs(near)
        off = LOG_NDTR * (2.0 + np.abs(tail)) + steep * (shift + wobble * np.abs(near))
        off += (LOG_NDTR * np.abs(rest) + wobble * far * (1.0 + far)) * (1.0 - share)
        with np.errstate(divide="ignore"):
            value[wide], error[wide] = tail + np.log(share), off / share
    empty = ~(width > 0.0) | (value < -1e13)
    return np.where(empty, -math.inf, value), np.where(empty, 0.0, error)
