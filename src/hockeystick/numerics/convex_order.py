"""The mean of one sign and of a random number of others: laws above it in convex order, on few points.

docs/mathematics.md, Lemma 30 (the pair as means of signs).

M = (s_0 + s_1 + ... + s_C) / (1 + C) with fair signs s_i and C tosses of `others` that show heads.  E f(M) of a convex f falls
in C (the mean of m + 1 signs, given that of all, is a fair guess of the mean of m: Jensen).  So it grows when

    C becomes smaller: blocks of C go to their least value, with weights whose partial sums are at least P(C < c);
    mass moves to both sides, its mean kept: to the points of a grid, and to +-1 what is too rare for a double.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .binomial import log_fair_masses, log_masses
from .cancellation_free import Array
from .rounding import FUNCTION, UNIT

_DEEP = 700.0  # -log of the mass that goes to the ends
_EXACT = 1 << 17  # so many values of C are summed one by one
_PAIRS = 300_000  # of a number of signs and their sum
_FEW = 1 << 13
_GRID = 1 << 13
_SPARE = 1e-290


class SignMeans(NamedTuple):
    """Points from 0 to 1 and their distances from 1; the mass of each, which is also that of its mirror image (at 0 half of the
    whole); a bound of the relative errors of the masses."""

    t: Array
    rest: Array
    mass: Array
    error: float


@lru_cache(maxsize=32)
def sign_means(others: int, size: float) -> SignMeans:
    """A law above that of M, with odds e^size : 1 of tails.

    >>> found = sign_means(2, 0.0)  # C = 0, 1, 2 with probabilities 1/4, 1/2, 1/4
    >>> [round(x, 12) for x in found.t.tolist()], [round(x, 12) for x in found.mass.tolist()]
    ([0.0, 0.333333333333, 1.0], [0.125, 0.09375, 0.28125])
    """
    least, weight = blocks(others, size)
    m = least + 1.0
    first = np.ceil(0.5 * m)
    last = np.minimum(m, np.floor(0.5 * m + np.sqrt(0.5 * _DEEP * m)) + 1.0)  # P(M > x) <= e^{-m x^2/2}
    counts = (last - first).astype(int) + 1
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    j = np.repeat(first, counts) + (np.arange(int(counts.sum())) - starts)
    many = np.repeat(m, counts)
    log_mass, error = log_fair_masses(many, j)
    log_mass += np.repeat(np.log(np.maximum(weight, 1e-320)), counts)
    kept = log_mass > -_DEEP
    j, many, log_mass = j[kept], many[kept], log_mass[kept]
    off = float(error[kept].max()) + FUNCTION * (2.0 * _DEEP + 8.0) + least.size * UNIT
    mass = np.exp(log_mass) * np.where(2.0 * j == many, 0.5, 1.0)
    t, rest = (2.0 * j - many) / many, 2.0 * (many - j) / many
    if t.size <= _FEW:
        t, place = np.unique(t, return_inverse=True)
        mass, rest = _added(place, mass, t.size), 1.0 - t
        most = float(np.bincount(place).max())
    else:
        t, mass, most = _on_grid(t, mass, math.asinh(math.sqrt(float(many @ mass) / float(mass.sum())) / 20.0))
        rest = 1.0 - t
    if t[-1] < 1.0:
        t, rest, mass = np.append(t, 1.0), np.append(rest, 0.0), np.append(mass, 0.0)
    mass[-1] += _SPARE  # more than what was left out, here and in the blocks
    kept = mass > 0.0
    found = SignMeans(t[kept], rest[kept], mass[kept], off + (most + 8.0) * UNIT)
    for part in found[:3]:
        part.flags.writeable = False
    return found


def _on_grid(t: Array, mass: Array, bend: float) -> tuple[Array, Array, float]:
    """Each mass on the two points around it; a little more goes outwards than rounding may take away."""
    grid = np.sinh(bend * np.linspace(0.0, 1.0, _GRID + 1)) / math.sinh(bend)
    grid[-1] = 1.0
    place = np.minimum(np.searchsorted(grid, t, side="right") - 1, _GRID - 1)
    # t errs by 2 units, at most _GRID widths of a cell
    share = np.minimum((t - grid[place]) / (grid[place + 1] - grid[place]) + 16.0 * _GRID * UNIT, 1.0)
    out = _added(place, mass * (1.0 - share), _GRID + 1) + _added(place + 1, mass * share, _GRID + 1)
    return grid, out, 2.0 * float(np.bincount(place).max())


def _added(place: Any, mass: Array, size: int) -> Array:
    return np.asarray(np.bincount(place, mass, size), dtype=float)


def blocks(others: int, size: float) -> tuple[Array, Array]:
    """Least values of blocks of C, and weights whose partial sums are at least the probabilities of the blocks so far, up to
    what is too rare for a double."""
    if others == 0:
        return np.zeros(1), np.ones(1)
    tails = 1.0 / (1.0 + math.exp(-size)) if size > -700.0 else 0.0
    heads = 1.0 / (1.0 + math.exp(size)) if size < 700.0 else 0.0
    mean = others * heads * (1.0 - 8.0 * FUNCTION)
    wide = math.sqrt(mean * tails)
    low = max(0, math.floor(mean - math.sqrt(2.0 * _DEEP * mean)))
    high = min(others, math.ceil(mean + 8.0 * wide + 30.0))
    room = max(9, int(_PAIRS / math.sqrt(0.5 * _DEEP * (mean + 1.0))))
    nodes = np.arange(low, high + 1.0)
    if nodes.size > room:
        x = np.sinh(4.0 * np.linspace(-1.0, 1.0, room)) / math.sinh(4.0)
        placed = mean + np.where(x < 0.0, x * (mean - low), x * (high - mean))
        nodes = np.unique(np.clip(np.floor(placed), low, high))
    if high - low < _EXACT:
        log_mass, error = _heads(others, size, low, high)
        below = np.concatenate(([0.0], np.add.accumulate(np.exp(log_mass) * (1.0 + error + 2.0 * FUNCTION))))
        total = below[(nodes - low).astype(int)] * (1.0 + 2.0 * (high - low + 8.0) * UNIT)
    else:  # Chernoff: P(C < c) <= e^{-(mean - c)^2 / (2 mean)}
        total = np.exp(-0.5 * np.maximum(mean - nodes, 0.0) ** 2 / mean * (1.0 - 16.0 * FUNCTION)) * (1.0 + 4.0 * FUNCTION)
    if low > 0:
        nodes = np.concatenate(([0.0], nodes))
        total = np.concatenate(([0.0], total + math.exp(-_DEEP + 1.0)))
    total = np.minimum(np.maximum.accumulate(total * (1.0 + 1e-13)), 1.0)
    weight = np.diff(np.append(total, 1.0))
    return nodes[weight > 0.0], weight[weight > 0.0]


def _heads(others: int, size: float, low: int, high: int) -> tuple[Array, Array]:
    """log P(C = low), ..., log P(C = high), and bounds of their errors."""
    if size < 0.0:
        return log_masses(others, -size, low, high)
    log_mass, error = log_masses(others, size, others - high, others - low)
    return log_mass[::-1], error[::-1]
