"""One step of finitely many values, as an allocation needs it: the likelihood ratios Y = dP/dQ and their masses under Q.

The values are known exactly, as fractions or as logarithms of fractions, so that sums of ratios near 1 keep their digits
(docs/mathematics/allocation-steps.md, Lemma 51).
"""

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT
from ..own.finite import FiniteLoss
from ..pairs.atomic import AtomicLoss
from ..pairs.discrete import DiscreteGaussianLoss, DiscreteLaplaceLoss, ResponseLoss
from .enumeration import TUNING as ENUMERATION
from .enumeration import compositions


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: the errors that follow are counted."""

    bits: int = 160
    """Of a ratio less 1, besides those before its square, and before the least ratio."""
    exact_bits: int = 2000
    """Of common denominators that are taken as they are."""


TUNING = Tuning()


@dataclass(frozen=True)
class Step:
    """Increasing values, exactly: ratios, or if `logs` their logarithms; log of their masses under Q and a bound of the errors of
    these; the masses that either law has alone; log of a bound of the P- and of the Q-mass left out."""

    values: tuple[Fraction, ...]
    logs: bool
    log_q: Array
    error: float
    infinite: Fraction
    zero: Fraction
    log_omitted: float = -math.inf

    def log_ratio(self, place: int) -> float:
        """The logarithm of a ratio, to nearly full accuracy."""
        value = self.values[place]
        if self.logs:
            return float(value)
        from ...numerics.cancellation_free import log_fraction

        return log_fraction(value)


def _exact_logs(loss: AtomicLoss) -> list[Fraction]:
    """The values of Z as the fractions that they are."""
    if isinstance(loss, ResponseLoss):
        epsilon = Fraction(loss.epsilon)
        return [-epsilon, epsilon] if loss.categories == 2 else [-epsilon, Fraction(0), epsilon]
    if isinstance(loss, DiscreteLaplaceLoss):
        return [(2 * x - loss.move) / Fraction(loss.scale) for x in range(loss.move + 1)]
    assert isinstance(loss, DiscreteGaussianLoss)
    unit, size = loss.move / Fraction(loss.sigma) ** 2, loss.atoms.z.size
    first = -((size - 1 - loss.move) // 2)
    return [unit * (first + i - Fraction(loss.move, 2)) for i in range(size)]


def is_listed(loss: Any) -> bool:
    """Whether its values are known exactly."""
    return isinstance(loss, FiniteLoss | ResponseLoss | DiscreteLaplaceLoss | DiscreteGaussianLoss)


@lru_cache(maxsize=32)
def step_of(loss: AtomicLoss) -> Step:
    """Of the loss of a removal."""
    _, log_p, log_q, error, _ = loss.atoms
    exact = list(loss.ratios) if isinstance(loss, FiniteLoss) else _exact_logs(loss)
    weight = np.maximum(log_p, log_q)
    kept = weight > -ENUMERATION.deep
    left_out = [loss.log_truncated_mass]
    if not kept.all():
        left_out.append(float(weight[~kept].max()) + math.log(kept.size) + 1e-9)
    values = tuple(exact[i] for i in np.nonzero(kept)[0].tolist())
    alone = loss.infinite_mass, loss.infinite_mass_under_q
    return Step(values, not isinstance(loss, FiniteLoss), log_q[kept], error, *alone, _summed(left_out))


def kept_for(step: Step, epochs: int, most: int) -> Step | None:
    """Of a step composed with itself so often (Lemma 50); None if there are more than `most` ways to its values."""
    if epochs == 1:
        return step
    lift = epochs * max(abs(step.log_ratio(0)), abs(step.log_ratio(-1)))
    found = compositions(tuple(step.log_q.tolist()), epochs, most, lift)
    if found is None:
        return None
    joined: dict[Fraction, list[float]] = {}
    for row, log_mass in zip(found.counts.tolist(), found.log_mass.tolist(), strict=True):
        uses = [(one, count) for one, count in zip(step.values, row, strict=True) if count]
        value = (
            sum((one * count for one, count in uses), Fraction(0)) if step.logs else math.prod(one**count for one, count in uses)
        )
        joined.setdefault(Fraction(value), []).append(log_mass)
    order = sorted(joined)
    log_q = np.array([float(np.logaddexp.reduce(joined[one])) for one in order])
    error = (
        found.error + epochs * step.error + 8.0 * FUNCTION * (1.0 + math.log(found.log_mass.size)) + 2.0 * UNIT * ENUMERATION.deep
    )
    log_omitted = _summed([found.log_omitted, step.log_omitted + math.log(epochs)])
    infinite, zero = (1 - (1 - one) ** epochs for one in (step.infinite, step.zero))
    return Step(tuple(order), step.logs, log_q, error, infinite, zero, log_omitted)


def _summed(logs: list[float]) -> float:
    """log of a bound of a sum."""
    return float(np.logaddexp.reduce(logs)) + 1e-9 if max(logs) > -math.inf else -math.inf


def whole_ratios(step: Step) -> tuple[list[int], int, bool]:
    """The ratios as whole numbers over one denominator, and whether they are exact; if not, each errs by at most 1.

    So many bits that those of a sum of ratios less 1 survive where the terms of first order cancel.
    """
    if not step.logs:
        scale = math.lcm(*(one.denominator for one in step.values))
        if scale.bit_length() <= TUNING.exact_bits:
            return [int(one * scale) for one in step.values], scale, True
    away = [abs(one if step.logs else one - 1) for one in step.values]
    least = min((one for one in away if one), default=Fraction(1))
    bits = TUNING.bits + 2 * max(0, least.denominator.bit_length() - least.numerator.bit_length())
    bits += max(0, math.ceil(-1.45 * step.log_ratio(0)))
    scale = 1 << bits
    if not step.logs:
        return [round(one * scale) for one in step.values], scale, False
    largest = max((float(one) for one in step.values), default=0.0)
    digits = 20 + math.ceil(0.302 * bits + max(0.0, largest) / 2.3)
    with localcontext(Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        found = [(Decimal(one.numerator) / Decimal(one.denominator)).exp() * scale for one in step.values]
        return [int(one.to_integral_value()) for one in found], scale, False
