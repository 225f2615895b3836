"""Closed forms of delta: a single step (Gaussian parts are one step, whatever their number), or few steps of Laplace noise."""

import math

from ...numerics.roots import certified_end, increasing_root
from ...numerics.rounding import LARGEST, UNIT
from ..composed import ComposedLoss
from ..pairs.laplace import LaplaceLoss
from ..pairs.laplace_closed import few_laplace_steps
from ..protocol import ClosedForm, Inconclusive, Interval


def closed_form(run: ComposedLoss, epsilon: float) -> ClosedForm | None:
    """delta at one epsilon of a run of one ordered pair."""
    if len(run.terms) != 1:
        return None
    loss, count = run.terms[0]
    if count == 1:
        return loss.closed(epsilon)
    return few_laplace_steps(loss.a, count, epsilon) if isinstance(loss, LaplaceLoss) else None


def has_closed(run: ComposedLoss) -> bool:
    """Whether every ordered pair has a closed form."""
    if len(run.terms) != 1:
        return False
    loss, count = run.terms[0]
    if count > 1 and not isinstance(loss, LaplaceLoss):
        return False
    return all(closed_form(single, 0.0) is not None for single in run.ordered_pairs())


def closed_epsilon(run: ComposedLoss, log_delta: float, target: Interval) -> Interval:
    """Both ends of epsilon of one ordered pair, for the log delta that lies within `target`."""
    loss = run.terms[0][0]
    known: dict[float, ClosedForm] = {}

    def at(epsilon: float) -> ClosedForm:
        if epsilon not in known:
            known[epsilon] = closed_form(run, epsilon) or ClosedForm(-LARGEST, math.inf, -math.inf)
        return known[epsilon]

    def gap(epsilon: float) -> tuple[float, float]:
        found = at(epsilon)
        return min(log_delta - found.value, LARGEST), -found.slope

    guess = 0.0
    beyond = run.ceiling
    if at(0.0).value > log_delta:
        if beyond == math.inf:  # Markov's inequality, at the best power of two: it falls and then grows

            def bound(n: int) -> float:
                return (loss.cumulant_bound(2.0**n) - target[0]) / 2.0**n

            best = round(0.5 * math.log2(-2.0 * log_delta / max(loss.coarse_estimates[1], 1e-36)))  # as of Gaussian noise
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
