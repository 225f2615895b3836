"""log(1 - delta(epsilon)) to relative accuracy where delta is next to 1.

1 - delta(eps) = E min(1, e^{eps - Z}) = e^{K(-t) + t eps} E' min(e^{t (Z - eps)}, e^{(t-1) (Z - eps)}) for 0 < t < 1, where E' is
under the law tilted by e^{-tZ} and what it averages is at most 1.  So Chernoff's bound is e^{K(-t) + t eps}; a density is
integrated along a contour with -1 < c < 0 (`contour.py`); else the laws of `lattice.py`, which bound every composition from both
sides, are tilted and summed.  Infinite losses add nothing.
"""

import math

import numpy as np

from ...numerics.convolve import Law, Sum
from ...numerics.rounding import FUNCTION, UNIT, down
from ..composed import ComposedLoss, Expand
from ..contour.contour import Contour, Saddle
from ..lattice.lattice import aligned, spread
from ..protocol import Inconclusive, Masses

Interval = tuple[float, float]

_NEAR = -1.0  # log delta above which it is worth the cost
_MOST = 1 << 17
_TOLERANCE = 40.0  # -log of what may lie outside a lattice's window
_BAND = 0.5
_SHARES = tuple(2.0**-k for k in range(10))


def log_complement(run: ComposedLoss, epsilon: float, log_delta: Interval) -> Interval:
    """Both ends of log(1 - delta(epsilon)), epsilon >= 0, given both ends of log delta; of the least one of the ordered pairs.

    >>> from hockeystick.loss.composed import composed
    >>> from hockeystick.loss.pairs.laplace import LaplaceLoss
    >>> low, high = log_complement(composed([(LaplaceLoss(20.0), 50)]), 0.0, (-1e-9, 0.0))
    >>> round(low, 9), high - low < 1e-9
    (-384.127461398, True)
    """
    low, high = log_of_rest(log_delta[1])[0], log_of_rest(log_delta[0])[1]
    if log_delta[1] < _NEAR or high - low < 1e-12 or not run.exact or not run.terms:
        return low, high
    if not run.has_transform:
        return low, high
    least = most = math.inf
    for single in run.ordered_pairs():
        ends = _single(single, epsilon)
        least, most = min(least, ends[0]), min(most, ends[1])
    return max(low, least), min(high, most)


def log_of_rest(log: float) -> Interval:
    """Both ends of log(1 - e^log) for log <= 0."""
    if log == 0.0:
        return -math.inf, -math.inf
    value = math.log(-math.expm1(log)) if log > -0.7 else math.log1p(-math.exp(log))
    slack = 2.0 * FUNCTION * (1.0 + abs(value)) if log > -0.7 else 2.0 * FUNCTION * (abs(value) + math.exp(log))
    return down(value, slack) if log > -math.inf else 0.0, min(0.0, value + slack)


def _single(run: ComposedLoss, epsilon: float) -> Interval:
    """Of one ordered pair."""
    low, high = -math.inf, 0.0
    if not all(loss.has_slice for loss, _ in run.terms):
        return low, high
    try:
        contour = Contour(run, Saddle.of_complement(run, epsilon))
        high = min(high, contour.markov(epsilon))
        if run.has_decay and contour.lay():
            low, high = contour.lower(epsilon), min(high, contour.upper(epsilon))
        else:
            ends = _lattice(run, -contour.c, epsilon)
            low, high = ends[0], min(high, ends[1])
    except Inconclusive:
        return low, high
    if run.log_truncated_mass > -math.inf:  # of what is left out at most its mass
        high = min(0.0, float(np.logaddexp(high, run.log_truncated_mass)) + 4.0 * FUNCTION * (1.0 + abs(high)))
    return min(low, high), max(low, high)


def _lattice(run: ComposedLoss, t: float, epsilon: float) -> Interval:
    """By laws on a lattice, tilted by e^{-tZ}; it grows finer until the ends meet, or it is too large."""
    low, high = -math.inf, math.inf
    left, right = _range(run.expand, t, _TOLERANCE)
    window = 2.0 * max(right - epsilon, epsilon - left)
    native = 1 << max(6, math.ceil(math.log2(window / run.lattice_step))) if run.lattice_step else 0
    for size in [native] if native else [1 << 12, 1 << 15, _MOST]:
        if size > _MOST:
            break
        ends = _laid(run, t, epsilon, window, size)
        low, high = max(low, ends[0]), min(high, ends[1])
        if high - low < 1e-9:
            break
    return low, high


def _range(expand: Expand, t: float, lead: float) -> Interval:
    """Where a law tilted by e^{-tZ} has all but about e^-lead of its mass: by Chernoff, from the guide, and no proof."""
    value = expand(-t)[0]
    left = max(((expand(-t - more)[0] - value) + lead) / -more for more in (share * (1.0 - t) for share in _SHARES))
    right = min(((expand(-t + more)[0] - value) + lead) / more for more in (share * t for share in _SHARES))
    return left, right


def _laid(run: ComposedLoss, t: float, epsilon: float, window: float, size: int) -> Interval:
    """Both ends by the two laws of `lattice.py`: each cell's mass at its two ends, and the numbers of the cells."""
    parts = run.terms
    step = aligned(run, window / size)
    size *= 1 if run.lattice_step or step * size >= window else 2
    laws: list[list[tuple[Law, int]]] = [[], [], []]  # mass at the ends; P and Q of the cells
    offset = slip = 0.0
    for (loss, count), (exact, _) in zip(parts, run.terms, strict=True):
        low, high = _range(exact.expand, t, _TOLERANCE + 10.0 + math.log(count))
        first = math.floor((low - loss.anchor) / step) - 1
        last = math.ceil((min(high, loss.ceiling) - loss.anchor) / step - 1e-9)
        if last - first > 2 * _MOST or max(abs(first), abs(last)) > 1 << 40:
            raise Inconclusive
        z = loss.anchor + step * np.arange(first, max(last, first + 1) + 1)
        reach = max(abs(low), abs(high))
        slip += count * (loss.edge_error(reach) + 4.0 * UNIT * (reach + abs(loss.anchor)))
        log_p, log_q, error = loss.masses(z)
        less = Masses(log_p - 2.0 * error, log_q - 2.0 * error, error)
        laws[0].append((spread(first, z, less, step, -t)[0], count))
        log_p, log_q, error = loss.masses(z[1:] - 0.5 * step)
        laws[1].append((Law(first, z, log_p + error, -t), count))
        laws[2].append((Law(first, z, log_q + error, 1.0 - t), count))
        offset += count * loss.anchor
    begin = math.floor((epsilon - offset) / step) - size // 2
    if not abs(begin) < 1 << 50:
        raise Inconclusive
    s = offset + step * (begin + np.arange(size)) - epsilon
    slip += 8.0 * UNIT * (abs(offset) + abs(begin * step) + abs(epsilon) + size * step)
    # thresholds are tried within _BAND of epsilon: P counts below, Q above them
    middle = np.exp(np.minimum(t * s, (t - 1.0) * s))
    below = np.where(s <= _BAND, np.exp(t * np.minimum(s, _BAND)), 0.0)
    above = np.where(s >= -_BAND, np.exp((t - 1.0) * np.maximum(s, -_BAND)), 0.0)
    sums = [Sum(one, size, begin) for one in laws]
    edges = epsilon + float(s[0]), epsilon + float(s[-1])
    lost = []
    for found, one, weights in zip(sums, laws, (middle, below, above), strict=True):
        relative = found.rounding + (size + 16.0) * UNIT + 4.0 * FUNCTION
        total = float(found.masses @ weights) * relative + found.error * math.sqrt(float(weights @ weights))
        outside = _outside(one, edges[0], -1.0) + _outside(one, edges[1], 1.0)
        lost.append((total + float(weights.max()) * outside) * (1.0 + 1e-6))
    scales = [found.log_scale + t * epsilon for found in sums]
    slack = 8.0 * UNIT * (max(abs(found.log_scale) for found in sums) + abs(epsilon) + 1.0) + slip
    least = float(sums[0].masses @ middle) - lost[0]
    low = scales[0] - slack + math.log(least) - FUNCTION * (1.0 + abs(math.log(least))) if least > 0.0 else -math.inf
    # for every threshold, 1 - delta <= P(S below it) + e^epsilon Q(S above it)
    if not abs(scales[2] - scales[1]) < 1.0:
        return low, math.inf
    shift = math.exp(scales[2] - scales[1])
    terms = np.concatenate(([0.0], np.add.accumulate(sums[1].masses * below)))
    terms[:-1] += shift * np.add.accumulate((sums[2].masses * above)[::-1])[::-1]
    first, last = (int(np.searchsorted(s, edge)) for edge in (-_BAND, _BAND))
    most = (float(terms[first : last + 1].min()) + lost[1] + shift * lost[2]) * (1.0 + 8.0 * FUNCTION)
    return low, scales[1] + slack + math.log(most) + FUNCTION * (1.0 + abs(math.log(most)))


def _outside(laws: list[tuple[Law, int]], edge: float, sign: float) -> float:
    """A bound of the tilted mass of the sum beyond an edge."""
    best = 1.0
    for share in _SHARES:
        total = size = 0.0
        for law, count in laws:
            exponent = (sign * share) * law.z
            top = float(exponent[law.masses > 0.0].max())
            value = top + math.log(float(law.masses @ np.exp(np.minimum(exponent - top, 0.0))))
            total += count * value
            size += count * (abs(value) + share * float(np.abs(law.z).max()) + law.rounding / UNIT + law.z.size)
        best = min(best, math.exp(min(0.0, total - sign * share * edge + 16.0 * UNIT * (size + share * abs(edge)))))
    return best
