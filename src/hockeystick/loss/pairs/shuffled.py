"""Shuffled local reports: the pair that dominates them, and one that some of them attain.

With m = 1 + C clones the pair of `CloneLoss` is P = B(j) (1 + h t), Q = B(j) (1 - h t), where B is the law of the number j of
heads in m fair tosses, t = (2j - m)/m and h = tanh(epsilon/2): docs/mathematics.md, Lemmas 29 and 30.  Its hockey stick is E f(t)
with f convex, so a law above that of t in convex order gives a pair that dominates it; and one of the same form, so that
compositions are dominated, too.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...numerics.binomial import log_masses
from ...numerics.convex_order import sign_means
from ...numerics.rounding import FUNCTION, UNIT
from .atomic import AtomicLoss, Atoms

_DEEP = 700.0


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    max_groups: int = 1 << 12
    """Of neighbouring counts that are merged, of each sign: fewer lose more of delta, more cost lattice cells."""


TUNING = Tuning()


@dataclass(frozen=True)
class CloneLoss(AtomicLoss):
    """A report among `others`, each of which is a clone with odds 1 : e^size; with probability `idle` nothing is learned.

    A larger size and a smaller idle are worse: that is how both should be rounded.
    """

    epsilon: float
    others: int
    size: float
    idle: float = 0.0

    @property
    def ceiling(self) -> float:
        return self.epsilon

    @cached_property
    def atoms(self) -> Atoms:
        t, rest, mass, error = sign_means(self.others, self.size)
        slope, flat = math.tanh(0.5 * self.epsilon), 2.0 / (math.exp(self.epsilon) + 1.0)  # h and 1 - h
        busy = mass * (1.0 - self.idle)
        if self.idle:
            if t[0] > 0.0:
                t, rest, busy = np.append(0.0, t), np.append(1.0, rest), np.append(0.0, busy)
            busy[0] += 0.5 * self.idle
        high, low = 1.0 + slope * t, rest + flat * t
        z = np.log1p(2.0 * slope * t / low)
        z[-1] = self.epsilon
        log_mass = np.log(busy)
        log_p, log_q = log_mass + np.log(high), log_mass + np.log(low)
        zero = [math.log(2.0) + log_mass[0]] if t[0] == 0.0 else []
        first = len(zero)
        return Atoms(
            np.concatenate((-z[first:][::-1], [0.0] * first, z[first:])),
            np.concatenate((log_q[first:][::-1], zero, log_p[first:])),
            np.concatenate((log_p[first:][::-1], zero, log_q[first:])),
            error + 16.0 * FUNCTION + 4.0 * UNIT * _DEEP,
            16.0 * FUNCTION,
        )


@dataclass(frozen=True)
class BystanderLoss(AtomicLoss):
    """What an attacker learns from randomised response who counts one answer, which no other report holds.

    The answer comes with probability r = 1/(e^epsilon + categories - 1) from each of the others and from the report in Q, with
    e^epsilon r in P: j has the law Q = Bin(n, r), and dP/dQ = 1 + (j/n - r)(1 - categories r)/(r (1 - r)).  r is rounded up:
    randomised response of a smaller epsilon is that of a larger one with some answers drawn anew.  Neighbouring j are
    merged where there are many.
    """

    epsilon: float
    categories: int
    others: int
    reversed: bool = False

    @property
    def log_truncated_mass(self) -> float:
        """Where there are many reports the rounding of rare values would cost more than they add."""
        return -650.0 if self.others < 10_000 else -200.0

    @cached_property
    def atoms(self) -> Atoms:
        n = self.others + 1
        deep = -self.log_truncated_mass + 20.0
        r = (1.0 + 16.0 * FUNCTION) / (math.exp(self.epsilon) + (self.categories - 1.0))
        exact = Fraction(r)
        lift = float(1 - self.categories * exact)
        if lift <= 0.0:  # epsilon is lost in rounding
            return Atoms(np.zeros(1), np.zeros(1), np.zeros(1))
        size = math.log1p(float(1 - 2 * exact) / r)  # of (1 - r) / r
        mean = n * r
        reach = 1.5 * math.sqrt(2.0 * deep * mean) + 2.0 * deep
        low, high = max(0, math.floor(mean - reach)), min(n, math.ceil(mean + reach))
        log_q, error = log_masses(n, size, n - high, n - low)
        whole = round(n * exact)
        away = np.arange(low, high + 1.0) - whole - float(n * exact - whole)  # j - n r
        log_q, error = log_q[::-1], error[::-1] + 16.0 * UNIT * np.abs(away) * (1.0 + abs(size))
        kept = log_q > -deep
        away, q, off = away[kept], np.exp(log_q[kept]), float(error[kept].max())
        width = max(1.0, 2.0 * float(np.abs(away).max()) / TUNING.max_groups)
        group = np.floor(np.abs(away) / width) * np.sign(away) + np.where(away < 0.0, -1.0, 0.0)  # of one sign
        _, start = np.unique(group, return_index=True)
        mass = np.add.reduceat(q, start)
        middle = np.add.reduceat(q * away, start) / mass
        share = (middle + float(n * exact)) / n  # j/n
        tilt = middle / n * (lift / (r * (1.0 - r)))
        likely = np.maximum(share, 0.0) * (float(1 - (self.categories - 1) * exact) / r)
        likely += np.maximum(1.0 - share, 0.0) * ((self.categories - 1.0) * r / (1.0 - r))
        z = np.where(np.abs(tilt) < 0.5, np.log1p(np.maximum(tilt, -0.6)), np.log(likely))
        log_q = np.log(mass)
        error_all = off + FUNCTION * (deep + 16.0) + UNIT * float(away.size)
        z_error = 64.0 * FUNCTION + 4.0 * UNIT * float(away.size)
        if self.reversed:
            return Atoms(-z[::-1], log_q[::-1], (log_q + z)[::-1], error_all, z_error)
        return Atoms(z, log_q + z, log_q, error_all, z_error)
