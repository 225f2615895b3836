"""log(1 - delta(epsilon)) to relative accuracy where delta is next to 1.

1 - delta(eps) = E min(1, e^{eps - Z}) = e^{K(-t) + t eps} E' min(e^{t (Z - eps)}, e^{(t-1) (Z - eps)}) for 0 < t < 1, where E' is
under the law tilted exponentially by e^{-tZ} and averages what is at most 1.  So Chernoff's bound is e^{K(-t) + t eps}; a density
is integrated on a vertical line with -1 < c < 0 (docs/mathematics.md, Lemma 7a); else the two discrete laws of `lattice.py`,
which bound every composition from both sides, are tilted and convolved (section 7, "1 - delta on a lattice").  Infinite losses
add nothing.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...numerics.convolve import Law, Sum
from ...numerics.rounding import FUNCTION, UNIT, down
from ..composed import ComposedLoss, Expand
from ..contour.complement import complement_saddle
from ..contour.contour import Contour
from ..engines.driver import meet
from ..engines.engine import Proof
from ..lattice.lattice import aligned_step, spread_to_ends
from ..protocol import Inconclusive, Interval, Masses
from ..tolerance import SETTLED


@dataclass(frozen=True)
class Tuning:
    """When 1 - delta is asked by itself, and the lattices for it; nothing here enters a proof."""

    min_log_delta: float = -1.0
    """Below it log(1 - e^log) loses no digit that is worth the cost."""

    known_width: float = 1e-12
    """Ends of log(1 - delta) that delta itself leaves no wider than this are not brought closer."""

    max_cells: int = 1 << 17
    """Of a lattice: one that is finer takes longer than its digits are worth."""

    log_tail: float = 40.0
    """-log of the tilted mass that may lie outside a lattice's window: less shows in the error, more makes the cells wider."""

    threshold_range: float = 0.5
    """How far from epsilon the thresholds of the upper end lie that are tried: the best one is within a cell or so of it."""

    chernoff_exponents: tuple[float, ...] = tuple(2.0**-k for k in range(10))
    """Shares of the room on either side of a tilt that are tried for a Chernoff bound."""


TUNING = Tuning()


def log_complement(run: ComposedLoss, epsilon: float, log_delta: Interval) -> Interval:
    """Both ends of log(1 - delta(epsilon)), epsilon >= 0, given both ends of log delta; of the least one of the ordered pairs.

    >>> from hockeystick.loss.composed import composed
    >>> from hockeystick.loss.pairs.laplace import LaplaceLoss
    >>> low, high = log_complement(composed([(LaplaceLoss(20.0), 50)]), 0.0, (-1e-9, 0.0))
    >>> round(low, 9), high - low < 1e-9
    (-384.127461398, True)
    """
    low, high = log1mexp_ends(log_delta[1])[0], log1mexp_ends(log_delta[0])[1]
    if log_delta[1] < TUNING.min_log_delta or high - low < TUNING.known_width or not run.exact or not run.terms:
        return low, high
    if not run.has_transform:
        return low, high
    found = [_of_one_pair(single, epsilon) for single in run.ordered_pairs()]
    least = Proof(min(one.low for one in found), min(one.high for one in found), sound=all(one.sound for one in found))
    return meet(Proof(low, high), least).ends


def log1mexp_ends(log: float) -> Interval:
    """Both ends of log(1 - e^log) for log <= 0."""
    if log == 0.0:
        return -math.inf, -math.inf
    value = math.log(-math.expm1(log)) if log > -0.7 else math.log1p(-math.exp(log))
    slack = 2.0 * FUNCTION * (1.0 + abs(value)) if log > -0.7 else 2.0 * FUNCTION * (abs(value) + math.exp(log))
    return down(value, slack) if log > -math.inf else 0.0, min(0.0, value + slack)


def _of_one_pair(run: ComposedLoss, epsilon: float) -> Proof:
    """Both ends of log(1 - delta) of one ordered pair."""
    proof = Proof(-math.inf, 0.0)
    if not all(loss.has_slice for loss, _ in run.terms):
        return proof
    try:
        contour = Contour(run, complement_saddle(run, epsilon))
        proof = meet(proof, Proof(-math.inf, contour.markov_log_delta(epsilon)))
        if run.has_decay and contour.evaluate():
            proof = meet(proof, Proof(contour.lower(epsilon), contour.upper(epsilon)))
        else:
            proof = meet(proof, Proof(*_on_lattices(run, -contour.c, epsilon)))
    except Inconclusive:
        return proof
    if run.log_truncated_mass > -math.inf:  # it counts for at most itself
        high = min(0.0, float(np.logaddexp(proof.high, run.log_truncated_mass)) + 4.0 * FUNCTION * (1.0 + abs(proof.high)))
        proof = proof._replace(high=high)
    return proof


def _on_lattices(run: ComposedLoss, t: float, epsilon: float) -> Interval:
    """By the two laws on lattices, tilted by e^{-tZ}; they grow finer until the ends meet, or they are too large."""
    low, high = -math.inf, math.inf
    left, right = _tilted_range(run.expand, t, TUNING.log_tail)
    window = 2.0 * max(right - epsilon, epsilon - left)
    own_size = 1 << max(6, math.ceil(math.log2(window / run.lattice_step))) if run.lattice_step else 0
    for size in [own_size] if own_size else [1 << 12, 1 << 15, TUNING.max_cells]:
        if size > TUNING.max_cells:
            break
        ends = _on_lattice(run, t, epsilon, window, size)
        low, high = max(low, ends[0]), min(high, ends[1])
        if high - low < SETTLED:
            break
    return low, high


def _tilted_range(expand: Expand, t: float, log_tail: float) -> Interval:
    """Where a law tilted by e^{-tZ} has all but about e^-log_tail of its mass: by Chernoff, from the guide, and no proof."""
    value = expand(-t)[0]
    left = max(
        ((expand(-t - more)[0] - value) + log_tail) / -more for more in (share * (1.0 - t) for share in TUNING.chernoff_exponents)
    )
    right = min(((expand(-t + more)[0] - value) + log_tail) / more for more in (share * t for share in TUNING.chernoff_exponents))
    return left, right


def _on_lattice(run: ComposedLoss, t: float, epsilon: float, window: float, size: int) -> Interval:
    """Both ends on one lattice, by the laws of `lattice.py`: each cell's mass at its two ends, and the numbers of the cells."""
    step = aligned_step(run, window / size)
    size *= 1 if run.lattice_step or step * size >= window else 2
    laws: list[list[tuple[Law, int]]] = [[], [], []]  # mass at the ends; P and Q of the cells
    offset = edge_error = 0.0
    for loss, count in run.terms:
        low, high = _tilted_range(loss.expand, t, TUNING.log_tail + 10.0 + math.log(count))
        first = math.floor((low - loss.anchor) / step) - 1
        last = math.ceil((min(high, loss.ceiling) - loss.anchor) / step - 1e-9)
        if last - first > 2 * TUNING.max_cells or max(abs(first), abs(last)) > 1 << 40:
            raise Inconclusive
        z = loss.anchor + step * np.arange(first, max(last, first + 1) + 1)
        reach = max(abs(low), abs(high))
        edge_error += count * (loss.edge_error(reach) + 4.0 * UNIT * (reach + abs(loss.anchor)))
        log_p, log_q, error = loss.masses(z)
        less = Masses(log_p - 2.0 * error, log_q - 2.0 * error, error)
        laws[0].append((spread_to_ends(first, z, less, step, -t)[0], count))
        log_p, log_q, error = loss.masses(z[1:] - 0.5 * step)
        laws[1].append((Law(first, z, log_p + error, -t), count))
        laws[2].append((Law(first, z, log_q + error, 1.0 - t), count))
        offset += count * loss.anchor
    begin = math.floor((epsilon - offset) / step) - size // 2
    if not abs(begin) < 1 << 50:
        raise Inconclusive
    s = offset + step * (begin + np.arange(size)) - epsilon
    edge_error += 8.0 * UNIT * (abs(offset) + abs(begin * step) + abs(epsilon) + size * step)
    # thresholds are tried near epsilon: P counts below, Q above them
    middle = np.exp(np.minimum(t * s, (t - 1.0) * s))
    below = np.where(s <= TUNING.threshold_range, np.exp(t * np.minimum(s, TUNING.threshold_range)), 0.0)
    above = np.where(s >= -TUNING.threshold_range, np.exp((t - 1.0) * np.maximum(s, -TUNING.threshold_range)), 0.0)
    sums = [Sum(one, size, begin) for one in laws]
    edges = epsilon + float(s[0]), epsilon + float(s[-1])
    errors = []
    for found, one, weights in zip(sums, laws, (middle, below, above), strict=True):
        relative = found.rounding + (size + 16.0) * UNIT + 4.0 * FUNCTION
        total = float(found.masses @ weights) * relative + found.error * math.sqrt(float(weights @ weights))
        outside = _outside(one, edges[0], -1.0) + _outside(one, edges[1], 1.0)
        errors.append((total + float(weights.max()) * outside) * (1.0 + 1e-6))
    scales = [found.log_scale + t * epsilon for found in sums]
    slack = 8.0 * UNIT * (max(abs(found.log_scale) for found in sums) + abs(epsilon) + 1.0) + edge_error
    least = float(sums[0].masses @ middle) - errors[0]
    low = scales[0] - slack + math.log(least) - FUNCTION * (1.0 + abs(math.log(least))) if least > 0.0 else -math.inf
    # for every threshold, 1 - delta <= P(S below it) + e^epsilon Q(S above it)
    if not abs(scales[2] - scales[1]) < 1.0:
        return low, math.inf
    shift = math.exp(scales[2] - scales[1])
    terms = np.concatenate(([0.0], np.add.accumulate(sums[1].masses * below)))
    terms[:-1] += shift * np.add.accumulate((sums[2].masses * above)[::-1])[::-1]
    first, last = (int(np.searchsorted(s, edge)) for edge in (-TUNING.threshold_range, TUNING.threshold_range))
    most = (float(terms[first : last + 1].min()) + errors[1] + shift * errors[2]) * (1.0 + 8.0 * FUNCTION)
    return low, scales[1] + slack + math.log(most) + FUNCTION * (1.0 + abs(math.log(most)))


def _outside(laws: list[tuple[Law, int]], edge: float, sign: float) -> float:
    """A bound of the tilted mass of the sum beyond an edge (Chernoff)."""
    best = 1.0
    for share in TUNING.chernoff_exponents:
        total = size = 0.0
        for law, count in laws:
            exponent = (sign * share) * law.z
            top = float(exponent[law.masses > 0.0].max())
            value = top + math.log(float(law.masses @ np.exp(np.minimum(exponent - top, 0.0))))
            total += count * value
            size += count * (abs(value) + share * float(np.abs(law.z).max()) + law.rounding / UNIT + law.z.size)
        best = min(best, math.exp(min(0.0, total - sign * share * edge + 16.0 * UNIT * (size + share * abs(edge)))))
    return best
