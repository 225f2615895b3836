"""What a contour tells at many epsilons at once."""

import math

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import UNIT
from ...numerics.trapezoid import added_terms, fourier_sums
from .contour import TUNING, Contour


def estimates(contour: Contour, epsilons: Array) -> tuple[Array, Array, Array]:
    """`Contour.estimate` and `Contour.error` for many epsilons."""
    angle = contour.u[:, None] * (epsilons - contour.anchor)
    cosine, sine = np.cos(angle), np.sin(angle)
    real, imaginary = contour.weights.real, contour.weights.imag
    total = np.maximum(real @ cosine + imaginary @ sine, 1e-300)
    swing = (imaginary * contour.u) @ cosine - (real * contour.u) @ sine
    value = np.array(contour.log_scale)[:, None] - contour.c * epsilons + np.log(total)
    best = value.argmax(axis=0)[None, :]
    lost = contour.sum_error[0] + contour.truncation_error + 2.0 * math.exp(-TUNING.log_tolerance)
    size = 16.0 * UNIT * (np.abs(contour.c * epsilons) + abs(contour.saddle.log_delta))
    slope = np.take_along_axis(swing / total, best, 0)[0] - contour.c
    return np.take_along_axis(value, best, 0)[0], slope, (contour.height_error[0] + lost / total[0]) * 1.001 + size


def contour_ends(contour: Contour, epsilons: Array) -> tuple[Array, Array]:
    """`Contour.lower` and `Contour.upper` for many epsilons; every ordered pair is laid."""
    return _ends(contour, epsilons, *_totals(contour, epsilons))


def equally_spaced_contour_ends(contour: Contour, epsilons: Array) -> tuple[Array, Array]:
    """Likewise in less time, for epsilons that fall in equal steps, up to rounding."""
    return _ends(contour, epsilons, *_even_totals(contour, epsilons))


def _ends(contour: Contour, epsilons: Array, total: Array, off: Array) -> tuple[Array, Array]:
    """Both from the sums at the epsilons, and bounds of what rounding adds to their errors."""
    c, span, size = contour.c, 2.0 * math.pi / contour.step, np.abs(epsilons)
    scale = np.array(contour.log_scale)[:, None] - c * epsilons
    error = np.array(contour.height_error)[:, None] + (8.0 * UNIT) * (np.abs(scale) + abs(c) * size)
    lost = np.array(contour.sum_error)[:, None] + off + contour.truncation_error
    ahead = np.array(contour.points_ahead)
    levels, slack = _markovs(contour, epsilons)
    high = np.minimum(levels.min(axis=1) + slack, scale + error + np.log(np.maximum(total + lost, 1e-300)))
    far = span * np.abs(ahead[1:] - c)
    aliased = (levels[:, 1:] - far[:, None]).min(axis=1) + (slack + 8.0 * UNIT * float(far[-1]))
    near = float(far[0]), span * abs(c)
    if not min(near) > 0.0:
        return np.full(epsilons.shape, -math.inf), high.max(axis=0)
    beyond = np.exp(np.minimum(aliased - scale, 700.0)) * ((1.0 + 1e-9) / -math.expm1(-near[0]))
    before = np.exp(np.minimum(-near[1] - scale, 700.0)) * ((1.0 + 1e-9) / -math.expm1(-near[1]))
    rest = total - lost - (beyond + before)
    low = np.where(rest > 0.0, scale - error + np.log(np.maximum(rest, 1e-300)), -math.inf)
    return low.max(axis=0), high.max(axis=0)


def _totals(contour: Contour, epsilons: Array) -> tuple[Array, Array]:
    """The sums of the contour at some epsilons, and bounds of what rounding adds to their errors."""
    moved = epsilons - contour.anchor
    angle = contour.u[:, None] * moved
    total = contour.weights.real @ np.cos(angle) + contour.weights.imag @ np.sin(angle)
    return total, np.array(contour.abs_moment)[:, None] * (4.0 * UNIT * np.abs(moved))


def _even_totals(contour: Contour, epsilons: Array) -> tuple[Array, Array]:
    """Likewise by the tables of `fourier_sums`: e^{-iu(eps - anchor)} is e^{-iu(first - anchor)} e^{iu(first - eps)}."""
    first, length = float(epsilons[0]), float(epsilons[0] - epsilons[-1])
    count = epsilons.size
    weights = contour.weights * np.exp((-1j * (first - contour.anchor)) * contour.u)
    rows = weights.shape[0]
    sums = fourier_sums(contour.u, np.concatenate((weights.real, weights.imag)), length / (count - 1), count)
    total = sums[:rows].real - sums[rows:].imag
    # of the places, of the angles, and of the sums
    places = 8.0 * UNIT * (float(np.abs(epsilons).max()) + abs(contour.anchor)) + 8.0 * UNIT * length
    summed = 2.0 * (added_terms(contour.u.size, count) + 16.0) * UNIT
    off = np.array(contour.abs_moment) * places + np.abs(contour.weights).sum(axis=1) * summed
    return total, off[:, None]


def markov_log_deltas(contour: Contour, epsilons: Array) -> Array:
    """`Contour.markov` for many epsilons."""
    levels, slack = _markovs(contour, epsilons)
    found: Array = levels.min(axis=1).max(axis=0) + slack
    return found


def _markovs(contour: Contour, epsilons: Array) -> tuple[Array, Array]:
    """For each pair, each point ahead and each epsilon, a bound of log delta but for a slack, one for each epsilon."""
    ahead = np.array(contour.points_ahead)
    slack = (8.0 * UNIT) * (abs(contour.points_ahead[-1]) * np.abs(epsilons) + contour.size_ahead)
    return np.array(contour.log_markov_ahead)[:, :, None] - ahead[:, None] * epsilons, slack
