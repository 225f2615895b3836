"""Elementary bounds of delta, which hold for every run, however little the contour and the lattice prove.

delta(eps) >= delta of any step of the run;  >= 1 - e^eps;  >= P(Z = ceiling) (1 - e^{eps - ceiling})
delta(eps) >= P(T = b) delta'(eps - b), T <= b the losses of some of the steps, delta' of the others
delta(eps) <= sum of the steps' delta(0) + max(0, 1 - e^eps);  = 0 from the ceiling on;  <= 1
delta(eps) <= P(T > b - t) delta'(eps - b) + delta'(eps - b + t)
delta(eps) <= that of the run with every sampled step replaced by the step itself (sampling is post-processing:
              a fresh draw of the noise stands in for the answer with probability 1 - q)

docs/mathematics.md, section 6 (Lemma 19: sampling is post-processing), section 7c (Lemma 19h: bounded losses beside others).
"""

import math

import numpy as np

from ...numerics.rounding import FUNCTION, UNIT
from ..composed import ComposedLoss, composed
from ..pairs.gaussian import GaussianLoss
from ..protocol import Interval
from ..sampled.gaussian import SampledGaussianLoss

_FEW_DIGITS = 1e-290


def trivial(epsilon: float) -> Interval:
    """log(1 - e^epsilon), which is delta of a pair of equal laws; for epsilon < 0."""
    if epsilon >= 0.0:
        return -math.inf, -math.inf
    value = math.log(-math.expm1(max(epsilon, -800.0)))
    slack = 2.0 * FUNCTION * (1.0 + abs(value))
    return value - slack, min(0.0, value + slack)


def elementary_bounds(run: ComposedLoss, epsilon: float) -> Interval:
    """Bounds of log delta(epsilon) that hold for every run: the steps' total variation distances add up."""
    if epsilon >= run.ceiling:
        return -math.inf, -math.inf
    low, high = trivial(epsilon)
    total = -math.expm1(max(epsilon, -800.0)) if epsilon < 0.0 else 0.0
    if run.infinite_mass():
        low = -math.inf  # that is a bound of the whole, not of the finite part
    if not run.terms:
        return low, high
    logs = [math.log(total)] if total else []
    for loss, count in run.terms:
        single = loss.closed(0.0)
        if single is None:
            return low, 0.0
        total += count * math.exp(min(single.high, 1.0))
        if total > 1.0:
            break
        logs.append(math.log(count) + single.high)
    # exponentials next to the smallest double have few digits, or none
    value = math.log(min(total, 2.0)) if total > _FEW_DIGITS else float(np.logaddexp.reduce(logs))
    if value == -math.inf:
        return low, -700.0
    return low, min(0.0, value + len(run.terms) * UNIT + 4.0 * FUNCTION * (1.0 + abs(value)))


def at_least(run: ComposedLoss, epsilon: float) -> float:
    """A lower bound of log delta(epsilon), the finite part, from single steps and from the largest loss."""
    low = -math.inf
    if not run.infinite_mass() and not run.infinite_mass("Q"):  # else the other steps must be finite, too
        for loss, _ in run.terms:
            single = loss.closed(epsilon)
            if single is not None:
                low = max(low, single.low)
    top = run.ceiling_below
    if epsilon < top < math.inf and run.log_top_mass > -math.inf:  # atoms of unbounded losses are truncated
        part, mass = math.log(-math.expm1(epsilon - top)), run.log_top_mass
        low = max(low, mass + part - 4.0 * FUNCTION * (1.0 + abs(mass) + abs(part)))
    return low


def epsilon_at_least(run: ComposedLoss, target: float) -> float:
    """An epsilon at which single steps, or the largest loss, already have log delta(epsilon) >= target."""
    low, high = 0.0, min(run.ceiling, 1e300)
    if at_least(run, 0.0) < target:
        return 0.0
    for _ in range(1100):
        if high - low <= 1e-9 * high:
            break
        middle = 0.5 * (low + high) if low > 0.25 * high else max(math.sqrt(max(low, 1e-12) * high), 1e-12)
        if at_least(run, middle) >= target:
            low = middle
        else:
            high = middle
    return low


def near_one(run: ComposedLoss, epsilon: float) -> float:
    """A lower bound of log delta where delta is nearly 1, by Chernoff's inequality.

    1 - delta = E min(1, e^{eps - Z}) <= e^{K(-t) + t eps} for 0 <= t <= 1.
    """
    _, mean, variance = run.expand(0.0)
    t = 1.0 - (1.0 - min(0.5, max((mean - epsilon) / variance, 1e-6)))  # 1 - t is exact
    bound = float(run.slice(-t, -t).cumulant_above(np.array([-t])).min()) + t * epsilon + 8.0 * UNIT * abs(epsilon)
    return (
        math.log1p(-math.exp(bound)) * (1.0 + 2.0 * FUNCTION) - 1e4 * FUNCTION * math.exp(bound) if bound < -1e-3 else -math.inf
    )


def without_bounded(run: ComposedLoss) -> tuple[ComposedLoss, ComposedLoss] | None:
    """The steps of bounded loss, sampled Gaussian ones excepted, and the others; none if either are missing."""
    bounded = [term for term in run.terms if term[0].ceiling < math.inf and not isinstance(term[0], SampledGaussianLoss)]
    if not 0 < len(bounded) < len(run.terms):
        return None
    return composed(bounded), composed([term for term in run.terms if term not in bounded])


def log_near_top(run: ComposedLoss, distance: float) -> float:
    """An upper bound of log P(no loss is farther than this from its largest) (docs/mathematics.md, Lemma 19h)."""
    total = 0.0
    for loss, count in run.terms:
        edge = loss.ceiling - distance
        edge -= loss.edge_error(2.0 * max(loss.ceiling, abs(edge))) + 4.0 * UNIT * (loss.ceiling + distance)
        log_p, _, error = loss.masses(np.array([edge]))
        total += count * (float(log_p[1]) + (error if isinstance(error, float) else float(error[1])))
    return min(0.0, total + 1e-12 * (1.0 + abs(total)))


def unsampled(run: ComposedLoss) -> ComposedLoss:
    """The run with every sampled Gaussian step replaced by the Gaussian step itself, which dominates it (Lemma 19)."""
    uses = [
        (GaussianLoss(loss.shape.noise**-2) if isinstance(loss, SampledGaussianLoss) else loss, count)
        for loss, count in run.terms
    ]
    return composed(uses)
