"""The big-jump identity: the part of delta of runs with a large step in closed form, since the others hardly ever compensate it.

With "some" the event that some step is large, for every epsilon

    delta = P(some) - e^eps Q(some)  +  e^eps E_Q[(1 - e^{S-eps})+; some]  +  E[(1 - e^{eps-S})+; none large].

The first two are closed forms; the third, the compensation, is at most e^eps Q(S < eps, some); the last, the remainder, is of a
run without large losses (docs/mathematics.md, section 7a, Lemma 19a).

Where delta is so small that what is smaller still is no double, all of them are counted in units of e^-lift.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable

from ...numerics.rounding import FUNCTION, UNIT, exp_up
from ..invert import ProfileBounds

_LOG_SMALLEST = -500.0
"""delta is no smaller in its unit: so shares of it down to e^-200 are still doubles."""
_MAX_EPSILON = 600.0
"""e^epsilon is a double up to it; of larger ones there is only an upper bound."""


def lift_of(log_delta: float) -> float:
    """The lift with which this delta is no smaller than that."""
    return max(0.0, _LOG_SMALLEST - log_delta)


class BigJumpIdentity(ABC):
    """A proof of log delta near one epsilon; `remainder` is one of the last term, whose logarithm falls by at least `pace`."""

    remainder: ProfileBounds
    pace: float
    lift = 0.0

    def set_large(self, steps: Iterable[tuple[float, float, int, float]]) -> None:
        """P(some) and Q(some), from those of each step, and a bound of their relative errors, from those of the steps.

        As P = 1 - prod (1 - p)^n >= (1 - P) sum n p, an error of p by the share e is one of P by the share
        sum n p e / sum n p at most, over 1 - p.
        """
        each = list(steps)
        totals = [math.fsum(one[-2] * one[place] for one in each) for place in (0, 1)]
        errors = [math.fsum(one[-2] * one[place] * one[-1] for one in each) for place in (0, 1)]
        error = max((off / total for off, total in zip(errors, totals, strict=True) if total > 0.0), default=1.0)
        if not self.lift:
            error /= 1.0 - max(max(one[:2]) for one in each)
        self.large_error = error * (1.0 + 1e-6) + 4.0 * FUNCTION + (len(each) + 8.0) * UNIT
        if self.lift:  # hardly ever more than one
            self.p, self.q = totals
            self.large_error += (self.p + self.q) * exp_up(-self.lift)
        else:
            log_p, log_q = (math.fsum(one[-2] * math.log1p(-one[place]) for one in each) for place in (0, 1))
            self.p, self.q = -math.expm1(log_p), -math.expm1(log_q)

    @abstractmethod
    def compensation(self, epsilon: float) -> float:
        """A bound of Q(S < eps, some); it need not be smaller than Q(some).  docs/mathematics.md, Lemma 19a."""

    def left_out(self, epsilon: float) -> float:
        """A bound of what was left out of the remainder."""
        return 0.0

    def _sides(self, epsilon: float) -> tuple[float, float, float]:
        """P(some) - e^eps Q(some), a bound of its error, and a bound of what else may add to delta."""
        factor = math.exp(min(epsilon, _MAX_EPSILON))
        weighted_q = self.q * factor
        error = (self.p + weighted_q) * (self.large_error + 4.0 * FUNCTION)
        rest = min(self.q * (1.0 + 2.0 * self.large_error), self.compensation(epsilon)) * factor + self.left_out(epsilon)
        return self.p - weighted_q, error, rest * (1.0 + 1e-9)

    def _ends(self, epsilon: float) -> tuple[float, float]:
        """Both ends of all terms but the remainder."""
        some, error, rest = self._sides(epsilon)
        return some - error, some + error + rest

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta and its slope, uncertified."""
        some, _, _ = self._sides(epsilon)
        value, slope = self.remainder.estimate(epsilon)
        rest = self._in_units(value)
        weighted_q = self.q * math.exp(min(epsilon, _MAX_EPSILON))
        if not some + rest > 0.0:  # the steps that count as large are not large there
            some = weighted_q = 0.0
        total = max(some + rest, 1e-300)
        return math.log(total) - self.lift, min((rest * slope - weighted_q) / total, -1e-3 * self.pace)

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta(epsilon)."""
        if epsilon > _MAX_EPSILON:
            return -math.inf
        total = self._ends(epsilon)[0] + self._in_units(self.remainder.lower(epsilon)) * (1.0 - self._rounding)
        if not total > 0.0:
            return -math.inf
        value = math.log(total)
        return value - self.lift - 4.0 * FUNCTION * (1.0 + abs(value) + self.lift)

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon)."""
        total = self._ends(epsilon)[1] + self._in_units(self.remainder.upper(epsilon)) * (1.0 + self._rounding)
        value = math.log(max(total, 1e-300))
        return value - self.lift + 4.0 * FUNCTION * (1.0 + abs(value) + self.lift)

    def _in_units(self, log: float) -> float:
        """e^log, not above e, in units of e^-lift."""
        return math.exp(min(log, 1.0) + self.lift)

    @property
    def _rounding(self) -> float:
        """A bound of its relative error, where that matters: log is not below -1000."""
        return 2.0 * FUNCTION + (1e3 * UNIT if self.lift else 0.0)
