"""Runs with losses known by their Rényi curve only: the curves add, and the best order converts them.

The conversion is the optimal one of a single order (Asoodeh et al. 2020, Theorem 3), minimised over real orders.  With infinite
masses p (of P) and q (of Q) the finite parts are conditioned: K'(t) = K(t) - (1+t) log(1-p) + t log(1-q), and
delta = p + (1-p) Theorem3(t + 1, K'(t)/t, eps + log((1-q)/(1-p))).

docs/mathematics.md, section 1: Lemma 3 (Rényi divergences), Lemma 4 (one real point).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from ...numerics.cancellation_free import log_fraction
from ...numerics.rounding import FUNCTION, UNIT, up
from ..composed import ComposedLoss
from ..pairs.atomic import AtomicLoss
from ..pairs.renyi import RenyiLoss
from ..protocol import Inconclusive

_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Tuning:
    """Every order gives a bound; near 1 rounding drowns it."""

    least_order_less_one: float = 1e-9
    """Where K(c)/c is taken for the divergence of order 1."""
    orders_less_one: tuple[float, ...] = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)
    """Of further orders, which bound it too, and are rounded less."""


TUNING = Tuning()


def cumulant_above(run: ComposedLoss, c: float) -> float:
    """An upper bound of the cumulant generating function K(c) of a run of one ordered pair."""
    total = math.fsum(count * _one_above(run, place, c) for place, (_, count) in enumerate(run.terms))
    return total + (len(run.terms) + 2.0) * UNIT * abs(total)


def _one_above(run: ComposedLoss, place: int, c: float) -> float:
    """Of one step, tight where the noise can be integrated."""
    loss, count = run.terms[place]
    bound = loss.cumulant_bound(c)
    if isinstance(loss, RenyiLoss):
        return bound
    try:
        value, error = loss.slice(c, c, count).values(1.0, 1)
    except Inconclusive:
        return bound
    found = float(value[0, 0].real)
    found += float(np.log1p(error[0, 0])) + FUNCTION * abs(found)
    if isinstance(loss, AtomicLoss):
        found = float(np.logaddexp(found, loss.log_omitted(c)))
        found += 2.0 * FUNCTION * abs(found)
    return min(bound, found)


def renyi_bound(run: ComposedLoss, order: float) -> float:
    """The Rényi divergence of this order (1: Kullback-Leibler, inf: the largest loss), rounded up."""
    if not run.terms:
        return 0.0
    if any(single.infinite_mass() for single in run.ordered_pairs()):
        return math.inf
    if math.isinf(order):
        return run.ceiling
    return max(_renyi(single, order - 1.0) for single in run.ordered_pairs())


def _renyi(run: ComposedLoss, c: float) -> float:
    best = math.inf
    if c == 0.0 and run.has_transform:
        best = up(*run.mean())
        if best < math.inf:
            return best
    c = max(c, TUNING.least_order_less_one)
    for point in (
        c,
        *(x for x in TUNING.orders_less_one if x > c),
    ):  # the divergence grows with the order; K(c)/c rounds badly near 0
        total = cumulant_above(run, point)
        best = min(best, total / point)
    return up(best * (1.0 + (len(run.terms) + 16.0) * UNIT))


def _conditioned(run: ComposedLoss) -> tuple[Fraction, float, float]:
    """p, and log(1-p) and log(1-q)."""
    p, q = run.infinite_mass(), run.infinite_mass("Q")
    return p, _log_rest(p), _log_rest(q)


def _log_rest(mass: Fraction) -> float:
    """log(1 - mass)."""
    return math.log1p(-float(mass)) if mass < _HALF else log_fraction(1 - mass)


def _curve(run: ComposedLoss, order: float) -> float:
    """The Rényi divergence of this order of the finite part, rounded up."""
    _, p, q = _conditioned(run)
    t = order - 1.0
    value = cumulant_above(run, t) - (1.0 + t) * p + t * q
    if value == 0.0 and p == q == 0.0:
        return 0.0
    slack = 8.0 * UNIT * ((1.0 + t) * abs(p) + t * abs(q))
    return max(0.0, up((value + slack) / t * (1.0 + 4.0 * UNIT)))


def _kinks(run: ComposedLoss) -> list[float]:
    """The orders at which claims are stated, where a curve bends and a search may pass by."""
    orders: set[float] = set()
    for loss, _ in run.terms:
        if isinstance(loss, RenyiLoss) and loss.kind == "listed":
            orders.update(loss.parameters[: len(loss.parameters) // 2])
    return [order for order in sorted(orders) if _curve(run, order) < math.inf]


def renyi_epsilon(run: ComposedLoss, delta: float) -> float:
    """An epsilon at which delta is reached, over all ordered pairs."""
    from ...conversion.curve import rdp_curve_to_epsilon

    found = 0.0
    for single in run.ordered_pairs():
        p, kept, other = _conditioned(single)
        rest = (Fraction(delta) - p) / (1 - p)
        if rest <= 0:
            return math.inf
        if _curve(single, 1.0 + 1e-9) == math.inf:  # the divergence grows with the order
            return math.inf
        curve, level = partial(_curve, single), min(float(rest) * (1.0 - 2.0 * UNIT), 1.0 - UNIT)
        value, _ = rdp_curve_to_epsilon(curve, level)
        if kinks := _kinks(single):
            value = min(value, rdp_curve_to_epsilon(curve, level, kinks)[0])
        found = max(found, up(value - other + kept, 8.0 * UNIT * (abs(kept) + abs(other))) if kept or other else value)
    return found


def renyi_log_delta(run: ComposedLoss, epsilon: float) -> float:
    """An upper bound of log delta(epsilon), over all ordered pairs."""
    from ...conversion.curve import rdp_curve_to_delta

    found = -math.inf
    for single in run.ordered_pairs():
        p, kept, other = _conditioned(single)
        moved = epsilon + other - kept - 8.0 * UNIT * (abs(other) + abs(kept))
        curve, level = partial(_curve, single), min(max(moved, 0.0), 1e100)
        delta, _ = rdp_curve_to_delta(curve, level)
        if kinks := _kinks(single):
            delta = min(delta, rdp_curve_to_delta(curve, level, kinks)[0])
        if moved < 0.0:  # delta(-x) <= 1 - e^-x (1 - delta(0)) holds for every pair
            delta = -math.expm1(moved) + math.exp(moved) * delta
        total = float(p) + (1.0 - float(p)) * delta
        found = max(found, math.log(min(total * (1.0 + 8.0 * UNIT), 1.0)) + FUNCTION if total > 0.0 else -math.inf)
    return min(found, 0.0)
