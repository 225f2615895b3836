"""Runs whose large steps are counted apart: for a step's loss so large that the others hardly ever take it back.

With "some" the event that some step is large, for every epsilon

    delta = P(some) - e^eps Q(some)  +  e^eps E_Q[(1 - e^{S-eps})+; some]  +  E[(1 - e^{eps-S})+; none large].

The first two are closed forms; the third is at most e^eps Q(S < eps, some); the last is of a run without large losses.

Where delta is so small that what is smaller still is no double, all of them are counted in units of e^-lift.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable

from ...numerics.rounding import FUNCTION, UNIT, exp_up
from ..invert import ProfileBounds

_SMALL = -500.0  # the logarithm of what may be small, but not as small as doubles can be


def lift_of(log_delta: float) -> float:
    """The lift with which this delta is no smaller than that."""
    return max(0.0, _SMALL - log_delta)


class Apart(ABC):
    """Tells log delta near one epsilon; `inner` tells that of the last term, which falls at least as fast as `pace` says."""

    inner: ProfileBounds
    pace: float
    lift = 0.0

    def count_large(self, steps: Iterable[tuple[float, float, int, float]]) -> None:
        """P(some) and Q(some), from those of each step, and a bound of their relative errors, from those of the steps.

        As P = 1 - prod (1 - p)^n >= (1 - P) sum n p, an error of p by the share e is one of P by the share
        sum n p e / sum n p at most, over 1 - p.
        """
        listed = list(steps)
        totals = [math.fsum(one[-2] * one[place] for one in listed) for place in (0, 1)]
        errors = [math.fsum(one[-2] * one[place] * one[-1] for one in listed) for place in (0, 1)]
        error = max((off / total for off, total in zip(errors, totals, strict=True) if total > 0.0), default=1.0)
        if not self.lift:
            error /= 1.0 - max(max(one[:2]) for one in listed)
        self.count_error = error * (1.0 + 1e-6) + 4.0 * FUNCTION + (len(listed) + 8.0) * UNIT
        if self.lift:  # hardly ever more than one
            self.p, self.q = totals
            self.count_error += (self.p + self.q) * exp_up(-self.lift)
        else:
            log_p, log_q = (math.fsum(one[-2] * math.log1p(-one[place]) for one in listed) for place in (0, 1))
            self.p, self.q = -math.expm1(log_p), -math.expm1(log_q)

    @abstractmethod
    def taken(self, epsilon: float) -> float:
        """A bound of Q(S < eps, some); it need not be smaller than Q(some)."""

    def beside(self, epsilon: float) -> float:
        """A bound of what else adds to delta."""
        return 0.0

    def _sides(self, epsilon: float) -> tuple[float, float, float]:
        """P(some) - e^eps Q(some), a bound of its error, and a bound of what else may add to delta."""
        pay = math.exp(min(epsilon, 600.0))  # no more is asked than an upper bound, where it is larger
        away = self.q * pay
        error = (self.p + away) * (self.count_error + 4.0 * FUNCTION)
        rest = min(self.q * (1.0 + 2.0 * self.count_error), self.taken(epsilon)) * pay + self.beside(epsilon)
        return self.p - away, error, rest * (1.0 + 1e-9)

    def _ends(self, epsilon: float) -> tuple[float, float]:
        """Both ends of what there is besides the last term."""
        some, error, rest = self._sides(epsilon)
        return some - error, some + error + rest

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta and its slope, uncertified."""
        some, _, _ = self._sides(epsilon)
        value, slope = self.inner.estimate(epsilon)
        inner = self._raised(value)
        away = self.q * math.exp(min(epsilon, 600.0))
        if not some + inner > 0.0:  # the steps called large are not large there
            some = away = 0.0
        total = max(some + inner, 1e-300)
        return math.log(total) - self.lift, min((inner * slope - away) / total, -1e-3 * self.pace)

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta(epsilon)."""
        if epsilon > 600.0:
            return -math.inf
        total = self._ends(epsilon)[0] + self._raised(self.inner.lower(epsilon)) * (1.0 - self._rounding)
        if not total > 0.0:
            return -math.inf
        value = math.log(total)
        return value - self.lift - 4.0 * FUNCTION * (1.0 + abs(value) + self.lift)

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon)."""
        total = self._ends(epsilon)[1] + self._raised(self.inner.upper(epsilon)) * (1.0 + self._rounding)
        value = math.log(max(total, 1e-300))
        return value - self.lift + 4.0 * FUNCTION * (1.0 + abs(value) + self.lift)

    def _raised(self, log: float) -> float:
        """e^log, not above e, in units of e^-lift."""
        return math.exp(min(log, 1.0) + self.lift)

    @property
    def _rounding(self) -> float:
        """A bound of its relative error, where that matters: log is not below -1000."""
        return 2.0 * FUNCTION + (1e3 * UNIT if self.lift else 0.0)
