"""The one place that chooses how a composed loss is answered, and joins the proofs into an interval.

Closed form where there is one (Gaussian noise alone; a single step), else the contour, else what stands in for it
(`stand_ins.py`); what holds for every run (`certain.py`) bounds the answer from both sides where they prove too little.

The ordered pairs of a relation are composed each by itself, and the larger answer counts.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction

import numpy as np

from ...errors import Unsupported
from ...native import core
from ...numerics.cancellation_free import log_fraction
from ...numerics.roots import certified_end, increasing_root
from ...numerics.rounding import FUNCTION, LARGEST, UNIT, down, exp_down, up
from ..bigjump.thresholds import parts
from ..bounds.elementary import at_least, certain, epsilon_at_least, near_one, trivial, unsampled, without_bounded
from ..bounds.renyi import cumulant_above, renyi_epsilon, renyi_log_delta
from ..composed import ComposedLoss
from ..contour.contour import Contour, Saddle, contours
from ..pairs.discrete import ResponseLoss
from ..pairs.gaussian import GaussianLoss
from ..pairs.laplace import LaplaceLoss
from ..pairs.laplace_closed import few_laplace
from ..pairs.renyi import RenyiLoss
from ..protocol import Care, Closed, Inconclusive, Interval, largest
from ..sampled.gaussian import SampledGaussianLoss
from .attained import best_member
from .bounded_part import beside_bounded
from .compiled import around, close, gaussian_epsilon, laplace_epsilon, response_epsilon, sampled_epsilon
from .compiled_delta import compiled_log_deltas
from .registry import closer_epsilon, closer_log_delta

_ORDERS = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3)  # less 1
_CLOSE = 1e-9  # ends with which one is content
_WIDE = 1e-6  # ends with which one is not
_HOPELESS = 2e-9  # ends of two ordered pairs that are not as close for one of them
_FAR = 1e120  # no question is asked of the engines beyond this epsilon


def log_delta_interval(run: ComposedLoss, epsilon: float, care: Care = Care.MANY) -> Interval:
    """Both ends of log delta(epsilon)."""
    return _bounded(run, lambda one: _log_delta(one, epsilon, care))


def epsilon_interval(run: ComposedLoss, delta: float) -> Interval:
    """Both ends of the smallest epsilon >= 0 with delta(epsilon) <= delta."""
    return _bounded(run, lambda one: _epsilon(one, delta))


def _bounded(run: ComposedLoss, ask: Callable[[ComposedLoss], Interval]) -> Interval:
    """The answer for a run, or from what bounds it and what it may be."""
    if run.exact:
        return ask(run)
    low = best_member(run, lambda one: ask(one)[0])
    high = min(ask(one)[1] for one in run.variants("covers"))
    return _agreed(low, high)


def _agreed(low: float, high: float) -> Interval:
    """Both ends; those that contradict each other, a mistake of ours if not of rounding, are exchanged."""
    return min(low, high), max(low, high)


def _log_delta(run: ComposedLoss, epsilon: float, care: Care) -> Interval:
    """Of a run whose losses are all exact, or all bounds of it; P(Z = infinity) is added to the finite part."""
    if any(isinstance(loss, RenyiLoss) for loss, _ in run.terms):
        return -math.inf, renyi_log_delta(run, epsilon)
    if not run.ends:
        low, high = _finite_log_delta(run, epsilon, care)
    else:
        ends = []
        for single in run.singles():
            low, high = _finite_log_delta(single, epsilon, care)
            if mass := single.infinite():
                sure = log_fraction(mass)
                slack = 8.0 * UNIT * (1.0 + abs(sure))
                low, high = float(np.logaddexp(low, sure - slack)) - slack, float(np.logaddexp(high, sure + slack)) + slack
            ends.append((low, min(high, 0.0)))
        low, high = largest((*ends, trivial(epsilon)))
    stray = run.log_stray
    if high < 0.0 and stray > -math.inf:
        high = float(np.logaddexp(high, stray))
        high += 4.0 * FUNCTION * (1.0 + abs(high))
    return min(low, high), high


def _finite_log_delta(run: ComposedLoss, epsilon: float, care: Care) -> Interval:
    """Both ends of log E(1 - e^{epsilon - Z})+ over finite Z."""
    if found := compiled_log_deltas(run, [epsilon]):
        return found[epsilon]
    low, high = largest(certain(single, epsilon) for single in run.singles())
    if not run.terms or high - low < 1e-14:
        return low, high
    if epsilon > _FAR:
        return -math.inf, _finite_log_delta(run, _FAR, care)[1]  # delta falls in epsilon
    closed = [_closed(single, epsilon) for single in run.singles()]
    if all(found is not None for found in closed):
        ends = largest((found.low, found.high) for found in closed if found)
        low, high = max(low, ends[0]), min(high, ends[1])
    else:
        if run.fades:
            try:
                for contour in contours(run, Contour(run, Saddle.of_epsilon(run, epsilon))):
                    high = min(high, contour.markov(epsilon))
                    if contour.lay() and (not contour.short(epsilon) or contour.lay(every=True)):
                        low, high = max(low, contour.lower(epsilon)), min(high, contour.upper(epsilon))
                    if high - low < _CLOSE:
                        break
                if low < -1e-3 and high > -0.5 and not run.infinite():  # it is of the whole, not of the finite part
                    low = max(low, near_one(run, epsilon))
            except Inconclusive:
                if (plain := unsampled(run)) != run:
                    high = min(high, _finite_log_delta(plain, epsilon, care)[1])
        if low < high - 1e-9 and run.rows > 1:  # each ordered pair by itself may prove more
            ends = largest(_finite_log_delta(single, epsilon, care) for single in run.singles())
            low, high = max(low, ends[0]), min(high, ends[1])
        elif low < high - 1e-9:
            low, high = closer_log_delta(run, epsilon, care, (low, high))
            low = max(low, at_least(run, epsilon))
            if low < high - _WIDE and (apart := without_bounded(run)):
                high = min(high, _finite_log_delta(apart[1], down(epsilon - apart[0].ceiling), care)[1])
            if low < high - 1.0 and not run.infinite():
                high = min(high, renyi_log_delta(run, epsilon))
    low, high = _agreed(low, high)
    return low, high if high == -math.inf else max(high, -LARGEST)


def _epsilon(run: ComposedLoss, delta: float) -> Interval:
    """Of a run whose losses are all exact, or all bounds of it."""
    if delta >= 1.0 or not run.terms:
        return 0.0, 0.0
    if any(isinstance(loss, RenyiLoss) for loss, _ in run.terms):
        return 0.0, renyi_epsilon(run, delta)
    told = _at_once(run, delta) if delta > 0.0 else None
    if near := close(told):
        return near
    found = _with_infinite(run, delta)
    return (max(found[0], told[0]), min(found[1], told[1])) if told else found


def _with_infinite(run: ComposedLoss, delta: float) -> Interval:
    """The same; what P(Z = infinity) leaves of delta is for the finite part."""
    if not run.ends:
        return _finite_epsilon(run, math.log(delta) if delta else -math.inf)
    ends = []
    for single in run.singles():
        # exact, so that it is known whether delta is below the infinite mass, or equal to it
        rest = Fraction(delta) - single.infinite()
        if rest < 0:
            return math.inf, math.inf
        ends.append(_finite_epsilon(single, log_fraction(rest) if rest else -math.inf))
    return largest(ends)


def _at_once(run: ComposedLoss, delta: float) -> Interval | None:
    """What is told without a search."""
    loss, count = run.terms[0]
    if len(run.terms) > 1:
        return None
    if isinstance(loss, ResponseLoss) and loss.categories == 2 and not loss.delta:
        return response_epsilon(loss.epsilon, count, delta)
    if count == 1 and isinstance(loss, GaussianLoss):
        return gaussian_epsilon(loss.square, delta)
    return laplace_epsilon(loss.a, count, delta) if isinstance(loss, LaplaceLoss) else None


def _finite_epsilon(run: ComposedLoss, log_delta: float, floor: float = 0.0, most: float | None = None) -> Interval:
    """Both ends of the smallest epsilon >= 0 at which the finite part of delta is at most this.

    Below `floor` the ends need not be close.  If an upper end `most` is given, a contour would not prove more (if it is inf, it
    is the last resort).
    """
    ceiling = run.ceiling
    if log_delta == -math.inf:
        return max(0.0, min(run.surely, ceiling)), max(0.0, ceiling)
    slack, target = FUNCTION * abs(log_delta), around(log_delta)
    sparse = all(math.log(max(count * loss.rough[0], 1e-300)) < log_delta for loss, count in run.terms)
    if sparse and largest(certain(single, 0.0) for single in run.singles())[1] <= target[0]:
        return 0.0, 0.0
    low, high = 0.0, ceiling if most is None else min(most, ceiling)
    try:
        if has_closed(run):
            low, high = largest(by_closed_form(single, log_delta, target) for single in run.singles())
        elif run.fades and most is None:
            low, high = by_contour(run, log_delta, target, floor)
    except Inconclusive:
        if (plain := unsampled(run)) != run:
            high = _finite_epsilon(plain, log_delta)[1]
    if low < high * (1.0 - 1e-9) and run.rows > 1:  # each ordered pair by itself may prove more
        ends = -math.inf, -math.inf
        for row, single in enumerate(run.singles()):  # the contour was laid for the first
            known = high if row == 0 and low < high * (1.0 - _HOPELESS) else None
            ends = largest((ends, _finite_epsilon(single, log_delta, max(floor, ends[0]), known)))
        low, high = max(low, ends[0]), min(high, ends[1])
    else:
        if floor and high > floor:  # that may be all that is asked
            high = min(high, beside_bounded(run, log_delta, _finite_epsilon)[1])
        low, high = closer_epsilon(run, log_delta, slack, floor, (low, high))
        if most == math.inf and low < high * (1.0 - _CLOSE):
            with suppress(Inconclusive):
                ends = by_contour(run, log_delta, target, floor)
                low, high = max(low, ends[0]), min(high, ends[1])
        if low < high * (1.0 - _WIDE) and high > floor:
            ends = beside_bounded(run, log_delta, _finite_epsilon, high)
            low, high = max(low, ends[0]), min(high, ends[1])
        if low < high * (1.0 - 1e-3) and high > floor:
            low = max(low, epsilon_at_least(run, target[1]))
        if low < 0.99 * high and high > floor and target[0] > -700.0:
            with suppress(Unsupported):  # no order may have a finite bound
                high = min(high, renyi_epsilon(run, exp_down(target[0])))
    low, high = _agreed(low, min(high, ceiling))
    return max(0.0, low), max(0.0, high)


def renyi_bound(run: ComposedLoss, order: float) -> float:
    """The Rényi divergence of this order (1: Kullback-Leibler, inf: the largest loss), rounded up."""
    if not run.terms:
        return 0.0
    if any(single.infinite() for single in run.singles()):
        return math.inf
    if math.isinf(order):
        return run.ceiling
    return max(_renyi(single, order - 1.0) for single in run.singles())


def _renyi(run: ComposedLoss, c: float) -> float:
    best = math.inf
    if c == 0.0 and not any(isinstance(loss, RenyiLoss) for loss, _ in run.terms):
        best = up(*run.mean())
        if best < math.inf:
            return best
    c = max(c, 1e-9)
    for point in (c, *(x for x in _ORDERS if x > c)):  # the divergence grows with the order; K(c)/c rounds badly near 0
        total = cumulant_above(run, point)
        best = min(best, total / point)
    return up(best * (1.0 + (len(run.terms) + 16.0) * UNIT))


def _closed(run: ComposedLoss, epsilon: float) -> Closed | None:
    """The closed form of a run of one step (Gaussian parts are one step, whatever their number) or few of Laplace noise."""
    if len(run.terms) != 1:
        return None
    loss, count = run.terms[0]
    if count == 1:
        return loss.closed(epsilon)
    return few_laplace(loss.a, count, epsilon) if isinstance(loss, LaplaceLoss) else None


def has_closed(run: ComposedLoss) -> bool:
    """Whether every ordered pair has a closed form."""
    loss, count = run.terms[0]
    if len(run.terms) > 1 or (count > 1 and not isinstance(loss, LaplaceLoss)):
        return False
    return all(_closed(single, 0.0) is not None for single in run.singles())


def by_contour(run: ComposedLoss, log_delta: float, target: Interval, floor: float = 0.0) -> Interval:
    """By the contour."""
    if (found := _compiled(run, log_delta, floor)) is not None:
        return found
    if run.rows > 1 and core is not None and len(run.terms) == 1 and parts(run.singles()[0]):
        return 0.0, math.inf  # sooner found by marks
    first = Contour(run, Saddle.of_delta(run, log_delta))
    low, high = 0.0, first.markov_epsilon(target[0])
    if high <= floor:
        return low, high
    for contour in contours(run, first):
        ends = _on_contour(contour, log_delta, target)
        low, high = max(low, ends[0]), min(high, ends[1])
        if high - low < _CLOSE * high:
            break
    return low, high


def _compiled(run: ComposedLoss, log_delta: float, floor: float) -> Interval | None:
    """The same in one go, for a sampled Gaussian mechanism whose first contour proves close ends."""
    if len(run.terms) > 1 or not isinstance(loss := run.terms[0][0], SampledGaussianLoss):
        return None
    shape = loss.shape.noise, loss.shape.rate, loss.shape.noise_error
    return sampled_epsilon(shape, run.terms[0][1], loss.removals, log_delta, floor)


def _on_contour(contour: Contour, log_delta: float, target: Interval) -> Interval:
    """What one contour proves."""
    top = contour.markov_epsilon(target[0])
    if not contour.lay():
        return 0.0, top

    def gap(epsilon: float) -> tuple[float, float]:
        value, slope = contour.estimate(epsilon)
        return log_delta - value, -slope

    def search(start: float) -> float:
        return increasing_root(gap, start, enough=lambda _, step: abs(step) * contour.c < 1e-8, steps=30)

    guess = search(contour.saddle.epsilon)
    if contour.short(guess):
        if not contour.lay(every=True):
            return 0.0, top
        guess = search(guess)
    ahead = (contour.error(guess) + target[1] - target[0]) / contour.c  # about where the proofs will end
    return (
        certified_end(lambda e: contour.lower(e) - target[1], guess - ahead, -contour.c),
        min(top, certified_end(lambda e: target[0] - contour.upper(e), guess + ahead, contour.c)),
    )


def by_closed_form(run: ComposedLoss, log_delta: float, target: Interval) -> Interval:
    """By the closed form of a single step."""
    loss = run.terms[0][0]
    known: dict[float, Closed] = {}

    def at(epsilon: float) -> Closed:
        if epsilon not in known:
            known[epsilon] = _closed(run, epsilon) or Closed(-LARGEST, math.inf, -math.inf)
        return known[epsilon]

    def gap(epsilon: float) -> tuple[float, float]:
        found = at(epsilon)
        return min(log_delta - found.value, LARGEST), -found.slope

    guess = 0.0
    beyond = run.ceiling
    if at(0.0).value > log_delta:
        if beyond == math.inf:  # Markov's inequality, at the best power of two: it falls and then grows

            def bound(n: int) -> float:
                return (loss.bound(2.0**n) - target[0]) / 2.0**n

            best = round(0.5 * math.log2(-2.0 * log_delta / max(loss.rough[1], 1e-36)))  # as of Gaussian noise
            near = [bound(n) for n in range(best - 2, best + 3)]
            if not min(near) < min(near[0], near[-1]):
                best = min(range(-60, 61, 6), key=bound)
                near = [bound(n) for n in range(best - 5, best + 6)]
            beyond = min(near) * (1.0 + 4.0 * UNIT)
        start = min(beyond, run.ceiling * 0.5)
        if (top := run.terms[0][1] * loss.log_top_mass) > log_delta:  # delta is at least that of the largest sum alone
            start = max(start, run.ceiling + math.log1p(-math.exp(log_delta - top)))
        guess = increasing_root(gap, start, lower=0.0, upper=run.ceiling)
    slope = -at(guess).slope
    if not slope > 0.0:  # there is nothing to go by
        raise Inconclusive
    low = certified_end(lambda epsilon: at(epsilon).low - target[1], guess, -slope)
    high = certified_end(lambda epsilon: target[0] - at(epsilon).high, guess, slope)
    return low, min(high, beyond)
