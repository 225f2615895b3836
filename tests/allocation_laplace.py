"""delta of an epoch of randomly allocated Laplace noise, written apart from the library: by quadrature, and between two lattices.

Under A the ratio Y of a step is e^Z, where Z has atoms of 1/2 at -a and e^-a/2 at a and the density e^{-(z+a)/2}/4 between them;
its potential is E(Y - K)+ = 1 - e^{-a/2} sqrt(K) for e^-a <= K <= e^a.  delta is E(L - e^eps)+ when a record is removed, and
E(1 - e^eps L)+ when one is added, L the mean of T of them.
"""

import math

import mpmath
import numpy as np

SLACK = 3e-12  # of the transforms of the lattices, which are rounded to nearest


def _potential(a, level):
    if level <= mpmath.exp(-a):
        return 1 - level
    return 1 - mpmath.exp(-a / 2) * mpmath.sqrt(level) if level < mpmath.exp(a) else mpmath.mpf(0)


def _expected(a, function, kinks):
    """E f(Y), f smooth between its kinks."""
    density = lambda z: mpmath.exp(-(z + a) / 2) / 4 * function(mpmath.exp(z))  # noqa: E731
    inside = sorted(z for z in (mpmath.log(k) for k in kinks if k > 0) if -a < z < a)
    return function(mpmath.exp(-a)) / 2 + function(mpmath.exp(a)) * mpmath.exp(-a) / 2 + mpmath.quad(density, [-a, *inside, a])


def _excess(a, steps, level):
    """E(Y_1 + ... + Y_T - level)+ for T = 1, 2, 3."""
    if steps == 1:
        return _potential(a, level)
    ends = [mpmath.exp(-a), mpmath.exp(a)]
    kinks = [level - sum(pick) for pick in _picks(ends, steps - 1)]
    return _expected(a, lambda y: _excess(a, steps - 1, level - y), kinks)


def _picks(ends, count):
    return [[ends[0]] * (count - high) + [ends[1]] * high for high in range(count + 1)]


def delta_by_quadrature(a, steps, epsilon, removal):
    """To about twelve digits, of two or three steps."""
    with mpmath.workdps(20):
        a, level = mpmath.mpf(a), mpmath.exp(mpmath.mpf(epsilon))
        if removal:
            return float(_excess(a, steps, steps * level) / steps)
        # E(1 - level L)+ = level E(L - 1/level)+ + 1 - level
        return float(level * _excess(a, steps, steps / level) / steps + 1 - level)


def _second_differences(potential, h):
    slopes = np.concatenate(([-1.0], np.diff(potential) / h, [0.0]))
    return np.maximum(np.diff(slopes), 0.0)


def _below(points, values):
    """The largest convex function below, on the points."""
    kept = [0]
    for i in range(1, points.size):
        while len(kept) > 1:
            one, two = kept[-2], kept[-1]
            if (values[two] - values[one]) * (points[i] - points[two]) < (values[i] - values[two]) * (points[two] - points[one]):
                break
            kept.pop()
        kept.append(i)
    return np.interp(points, points[kept], values[kept])


def lattices(a, cells):
    """The points, and the masses of a law below and of one above that of Y."""
    h = 2.0 * math.sinh(a) / cells
    points = math.exp(-a) + h * np.arange(cells + 1)
    root = np.sqrt(points)
    potential = 1.0 - math.exp(-0.5 * a) * root
    potential[-1] = 0.0
    chord = math.exp(-0.5 * a) * np.diff(root) ** 2 / (4.0 * (root[1:] + root[:-1]))
    lowered = potential.copy()
    lowered[1:-1] -= np.maximum(chord[1:], chord[:-1])
    # between the ends and their neighbours: no chord above the potential
    lowered[1] = min(lowered[1], potential[1] - 2.0 * chord[0])
    lowered = np.maximum(lowered, np.maximum(1.0 - points, 0.0))
    ends = potential[0], potential[-1]
    lowered[0], lowered[-1] = max(1.0 - points[0], 0.0), 0.0
    assert ends[1] == 0.0
    return points, _second_differences(_below(points, lowered), h), _second_differences(potential, h)


def delta_between(a, steps, epochs, epsilon, removal, cells):
    """A lower and an upper bound."""
    points, *laws = lattices(a, cells)
    size = 1 << (steps * cells).bit_length()
    place = np.linspace(steps * points[0], steps * points[-1], steps * cells + 1) / steps
    return [_delta(_power(law, steps, size, place.size), place, epochs, math.exp(epsilon), removal) for law in laws]


def _power(law, steps, size, count):
    return np.maximum(np.fft.irfft(np.fft.rfft(law, size) ** steps, size)[:count], 0.0)


def _delta(law, place, epochs, level, removal):
    if epochs == 1:
        return float(law @ np.maximum(place - level if removal else 1.0 - level * place, 0.0))
    kept = law > 1e-16
    law, place = law[kept], place[kept]
    total = 0.0
    above, moment = (np.append(np.cumsum(one[::-1])[::-1], 0.0) for one in (law, law * place))
    if removal:
        least = np.searchsorted(place, level / place)
        total = float(law @ (place * moment[least] - level * above[least]))
    else:
        least = np.searchsorted(place, 1.0 / (level * place))
        total = float(law @ ((above[0] - above[least]) - level * place * (moment[0] - moment[least])))
    return total
