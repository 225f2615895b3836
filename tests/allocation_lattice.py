"""delta of one or two epochs of a random allocation between two lattices in convex order, without a contour.

delta is E f of the likelihood ratio L = (Y_1 + ... + Y_T)/T of an epoch (of L L' for two), f convex in every Y.  A law on the
grid kh that is above that of Y in convex order gives a larger delta, one below it a smaller one.  The potential of Y is
C(K) = E(Y - K)+, a closed form; a law is given by its potential, piecewise linear with knots on the grid:

* above: through the points (kh, C(kh)).  Beyond the last point Y is lowered to it, which loses C(cap) an epoch when a record is
  removed, and nothing when it is added.
* below: through points lower by h^2/8 times the largest density nearby, so that no chord is above C; of these the convex
  minorant.

Sums of T by the fast Fourier transform in double precision: `SLACK` is for its rounding, and for what wraps around.
"""

import math

import numpy as np
from scipy.special import ndtr

SLACK = 2e-12


def _potential(t, points):
    with np.errstate(divide="ignore"):
        d = (0.5 * t * t - np.log(points)) / t
    return np.where(points > 0.0, ndtr(d) - points * ndtr(d - t), 1.0)


def _density(t, y):
    x = (np.log(y) + 0.5 * t * t) / t
    return np.exp(-0.5 * x * x) / (math.sqrt(2.0 * math.pi) * t * y)


def _masses(potential, h):
    """The law with this potential on the grid: its second differences."""
    slopes = np.concatenate(([-1.0], np.diff(potential) / h, [0.0]))
    return np.maximum(np.diff(slopes), 0.0)


def _above(t, h, count):
    grid = h * np.arange(count + 1)
    potential = _potential(t, grid)
    return _masses(potential, h), float(potential[-1])


def _below(t, h, count):
    grid = h * np.arange(count + 1)
    potential = _potential(t, grid)
    # the density is unimodal: on a cell it is at most what it is at an end, or at its mode
    ends = _density(t, np.maximum(grid, 1e-300))
    cell = np.maximum(ends[:-1], ends[1:])
    mode = math.exp(-1.5 * t * t)
    place = int(mode / h)
    if place < count:
        cell[place] = max(cell[place], float(_density(t, np.array([mode]))[0]))
    drop = np.zeros(count + 1)
    drop[1:-1] = h * h / 8.0 * np.maximum(cell[:-1], cell[1:])
    drop[1] = max(drop[1], potential[1] - (1.0 - h))
    lowered = np.maximum(potential - drop, np.maximum(1.0 - grid, 0.0))
    lowered[0], lowered[-1] = 1.0, 0.0
    return _masses(_minorant(grid, lowered), h)


def _minorant(x, y):
    """The greatest convex function below, on the grid."""
    kept = [0]
    for i in range(1, x.size):
        while len(kept) > 1:
            a, b = kept[-2], kept[-1]
            if (y[b] - y[a]) * (x[i] - x[b]) < (y[i] - y[b]) * (x[b] - x[a]):
                break
            kept.pop()
        kept.append(i)
    return np.interp(x, x[kept], y[kept])


def _summed(masses, steps, h, cap):
    """The law of the mean of `steps` of them."""
    reach = cap + steps * (1.0 + 8.0 / math.sqrt(steps))
    size = 1 << math.ceil(math.log2(max(reach / h, 2.0 * masses.size)))
    spectrum = np.fft.rfft(masses, size) ** steps
    found = np.maximum(np.fft.irfft(spectrum, size), 0.0)
    last = np.nonzero(found > 1e-19)[0][-1] + 1
    return found[:last], h * np.arange(last) / steps


def _delta(law, points, epochs, a, removal):
    """E(L - a)+ or E(1 - aL)+, L the product of `epochs` independent ones."""
    if epochs == 2:
        order = np.flatnonzero(law > 1e-15)
        mass, place = law[order], points[order]
        tail, moment = np.append(np.cumsum(law[::-1])[::-1], 0.0), np.append(np.cumsum((law * points)[::-1])[::-1], 0.0)
        if removal:
            least = np.searchsorted(points, a / np.maximum(place, 1e-300))
            total = float(mass @ (place * moment[least] - a * tail[least]))
        else:
            least = np.searchsorted(points, 1.0 / (a * np.maximum(place, 1e-300)))
            below, first = law.sum() - tail[least], (law @ points) - moment[least]
            total = float(mass @ (below - a * place * first))
        return total
    return float(law @ np.maximum(points - a if removal else 1.0 - a * points, 0.0))


def delta_between(sigma, steps, epochs, epsilon, removal, h=0.004, cap_mass=1e-13):
    """A lower and an upper bound of delta."""
    t, cap = 1.0 / sigma, 1.0
    while float(_potential(t, np.array([cap]))[0]) > cap_mass:
        cap *= 1.1
    count = math.ceil(cap / h)
    a = math.exp(epsilon)
    upper, lost = _above(t, h, count)
    law, points = _summed(upper, steps, h, cap)
    high = _delta(law, points, epochs, a, removal) + (epochs * lost if removal else 0.0)
    law, points = _summed(_below(t, h, count), steps, h, cap)
    return _delta(law, points, epochs, a, removal) - SLACK, high + SLACK
