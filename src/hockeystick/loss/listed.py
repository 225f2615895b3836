"""Few steps of losses that take finitely many values: all sums are listed."""

import math

import numpy as np

from ..numerics.rounding import FUNCTION, UNIT
from ..numerics.series import Array
from .atomic import AtomicLoss
from .composed import ComposedLoss
from .noise import TooFine
from .plan import estimate, guess
from .search import ends

_MOST, _STEPS = 1 << 18, 300  # sums, and steps
_LIGHT = 40.0  # -log of the share of delta that may be left out


class Listed:
    """Every sum of a run of one ordered pair and its P-mass; every bound holds for all epsilons.

    delta(eps) is the sum of p (1 - e^{eps - z})+.  Values of tiny mass are left out, and bounded by it.
    """

    def __init__(self, run: ComposedLoss, log_delta: float) -> None:
        if run.rows > 1 or not all(isinstance(loss, AtomicLoss) for loss, _ in run.terms):
            raise TooFine
        steps = sum(count for _, count in run.terms)
        if steps > _STEPS:
            raise TooFine
        self.z, self.log_p = np.zeros(1), np.zeros(1)
        self.slip = self.error = 0.0
        self.left_out = run.log_stray
        for loss, count in run.terms:
            assert isinstance(loss, AtomicLoss)
            z, log_p, _, error, z_error = loss.atoms
            kept = log_p > log_delta - _LIGHT - math.log(steps * z.size)
            if not kept.all():
                off = error + 4.0 * FUNCTION * z.size + math.log(count)
                self.left_out = float(np.logaddexp(self.left_out, np.logaddexp.reduce(log_p[~kept]) + off))
            z, log_p = z[kept], log_p[kept]
            if not 0 < math.comb(count + z.size - 1, count) * self.z.size <= _MOST:
                raise TooFine
            self.slip += count * float(np.abs(z).max()) * (z_error + 2.0 * UNIT)
            self.error += count * (error + 2.0 * UNIT * float(np.abs(log_p).max()))
            sums, logs = _repeated(z, log_p, count)
            self.z, self.log_p = (self.z[:, None] + sums).ravel(), (self.log_p[:, None] + logs).ravel()
        order = self.z.argsort()
        self.z, self.log_p = self.z[order], self.log_p[order]
        self.slip += 4.0 * UNIT * float(np.abs(self.z).max()) * (1.0 + math.log2(steps + 1.0))
        self.error += 8.0 * FUNCTION * (1.0 + math.log(steps)) * steps + (self.z.size + 16.0) * UNIT

    def _log_delta(self, epsilon: float) -> tuple[float, float]:
        """log of the sum, and its slope."""
        first = int(self.z.searchsorted(epsilon))
        if first == self.z.size:
            return -math.inf, -1.0
        gap, logs = self.z[first:] - epsilon, self.log_p[first:]
        top = float(logs.max())
        mass = np.exp(logs - top)
        value = float(mass @ -np.expm1(-gap))
        if not value > 0.0:
            return -math.inf, -1.0
        return math.log(value) + top, -float(mass @ np.exp(-gap)) / value

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta and its slope."""
        value, slope = self._log_delta(epsilon)
        return max(value, -1e5), slope

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta(epsilon)."""
        value = self._log_delta(epsilon + self._near(epsilon))[0]
        return value - self.error - 8.0 * UNIT * abs(value) if value > -math.inf else value

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon)."""
        value = self._log_delta(epsilon - self._near(epsilon))[0]
        found = value + self.error + 8.0 * UNIT * abs(value) if value > -math.inf else value
        return float(np.logaddexp(found, self.left_out)) + 4.0 * FUNCTION if self.left_out > -math.inf else found

    def _near(self, epsilon: float) -> float:
        """By how much sums may err."""
        return self.slip + 4.0 * UNIT * abs(epsilon)


def _repeated(z: Array, log_p: Array, count: int) -> tuple[Array, Array]:
    """The sums of `count` values, each multiset once, and log of their probabilities."""
    empty = np.zeros(0)
    found = [(np.zeros(1), np.zeros(1))] + [(empty, empty)] * count  # by the number of values so far
    factorials = [math.lgamma(n + 1.0) for n in range(count + 1)]
    for value, log in zip(z.tolist(), log_p.tolist(), strict=True):
        longer = []
        for total in range(count + 1):
            parts = [
                (found[total - n][0] + n * value, found[total - n][1] + (n * log - factorials[n]))
                for n in range(total + 1)
                if found[total - n][0].size
            ]
            longer.append((np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])))
        found = longer
    return found[count][0], found[count][1] + factorials[count]


def listed_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""
    listed, most = Listed(run, log_delta), run.ceiling
    start = min(guess(run, log_delta), 0.5 * most)
    return ends(listed, log_delta, slack, start, most=most) if start > 0.0 else (-math.inf, math.inf)


def listed_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""
    about = min(estimate(run, epsilon), -1e-9)
    for _ in range(3):
        listed = Listed(run, about)
        low, high = listed.lower(epsilon), min(0.0, listed.upper(epsilon))
        if high - low < 1e-9 or not about - 1.0 > low > -math.inf:
            break
        about = low  # the estimate was too high, and too much was left out
    return low, high
