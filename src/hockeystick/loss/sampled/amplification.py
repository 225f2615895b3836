"""What Poisson sampling does to the pair of a single step: amplification of masses and of the hockey stick.

docs/mathematics.md, section 5 (one sampled Gaussian step).
"""

import math
from collections.abc import Callable

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.mixing import unsampled_loss
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ..protocol import ZERO_DELTA, Binned, ClosedForm, Masses


def sampled_masses(base: Binned, rate: float, removal: bool, edges: Array, lone: float = 0.0) -> Masses:
    """The masses of a Poisson-sampled step, in terms of those of the step itself, P against Q.

    Removal: (1-q) Q + q P against Q, Z' = log(1 - q + q e^Z); a Q-mass `lone` where P has none goes to log(1-q).
    Addition, P being the output without the record: P against (1-q) P + q Q, Z' = -log(1 - q + q e^-Z); a P-mass `lone`
    where Q has none goes to -log(1-q).  (Zhu, Dong and Wang 2022, Theorem 11.)
    """
    sign = 1.0 if removal else -1.0
    rest = math.log1p(-rate)
    inner = np.maximum.accumulate(sign * unsampled_loss(sign * edges, rate))  # rounding must not undo the order
    log_p, log_q, error = base.masses(inner)
    mixed = np.logaddexp(rest + (log_q if removal else log_p), math.log(rate) + (log_p if removal else log_q))
    if lone > 0.0:
        place = int(np.searchsorted(edges, sign * rest))
        share = math.log(lone)
        mixed[place] = np.logaddexp(mixed[place], rest + share)
        pure = (log_q if removal else log_p).copy()
        pure[place] = np.logaddexp(pure[place], share)
        log_p, log_q = (log_p, pure) if removal else (pure, log_q)
    off = error + 4.0 * FUNCTION + 4.0 * UNIT * np.abs(np.maximum(mixed, -1e6))
    return Masses(mixed, log_q, off) if removal else Masses(log_p, mixed, off)


def sampled_slip(rate: float, largest: float) -> float:
    """A bound of the error of the edges of `sampled_masses`: of expm1, a quotient, log1p and their inverses."""
    return 8.0 * FUNCTION * (largest + rate) + 4.0 * UNIT


def sampled_closed(base: Callable[[float], ClosedForm | None], q: float, removal: bool, epsilon: float) -> ClosedForm | None:
    """delta of one sampled step from that of the step itself (Li, Qardaji and Su 2012; Zhu, Dong and Wang 2022, Proposition 30).

    remove: q delta(log((e^eps - 1 + q)/q)) if e^eps > 1 - q, else 1 - e^eps;
    add:    (1 - (1-q) e^eps) delta(log(q e^eps / (1 - (1-q) e^eps))) if that weight is positive, else 0.
    """
    if epsilon > 650.0:
        if not removal:
            return ZERO_DELTA
        inner, outer, pace, drag = epsilon - math.log(q), math.log(q), 1.0, 0.0
        inner_error = outer_error = FUNCTION * (abs(outer) + epsilon)
    elif removal:
        ratio = math.expm1(epsilon) / q
        if ratio <= -1.0 + 1e-6:
            if ratio > -1.0 - 1e-6:
                return None
            delta = -math.expm1(epsilon)  # the mixture is never below 1 - q times the other
            value = math.log(delta)
            return ClosedForm(value, 2.0 * FUNCTION * (1.0 + abs(value)), -math.exp(epsilon) / delta)
        inner, outer = math.log1p(ratio), math.log(q)
        pace, drag = math.exp(epsilon) / (q * (1.0 + ratio)), 0.0
        inner_error = abs(ratio / (1.0 + ratio)) * (FUNCTION + 2.0 * UNIT) + FUNCTION * abs(inner)
        outer_error = FUNCTION * abs(outer)
    else:
        excess = math.expm1(epsilon)
        weight = q - (1.0 - q) * excess  # 1 - (1-q) e^eps
        lost = (q + abs(excess)) * (FUNCTION + 4.0 * UNIT)
        if weight <= -lost:
            return ZERO_DELTA
        if weight <= 1e6 * lost:
            return None
        ratio = excess / weight  # q e^eps / weight - 1
        inner, outer = math.log1p(max(ratio, -0.75)), math.log(weight)
        pace, drag = 1.0 / weight, (1.0 - q) * math.exp(epsilon) / weight
        off = lost / weight * SECOND_ORDER
        inner_error = abs(ratio) / (1.0 + max(ratio, -0.75)) * (FUNCTION + 2.0 * UNIT + off) + FUNCTION * abs(inner)
        if ratio < -0.5:
            inner = epsilon + math.log(q / weight)
            inner_error = off + FUNCTION * (1.0 + abs(epsilon) + abs(inner))
        outer_error = off + FUNCTION * abs(outer)
    found, ahead = base(inner), base(inner + inner_error)
    if found == ZERO_DELTA:
        return ZERO_DELTA
    if found is None or ahead is None or not found.error < 1.0 or not ahead.error < 1.0:
        return None
    total = found.value + outer
    # log delta is concave
    error = found.error + inner_error * abs(ahead.slope) * SECOND_ORDER + outer_error + 2.0 * UNIT * abs(total)
    return ClosedForm(total, error, found.slope * pace - drag)
