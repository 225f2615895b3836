"""Sparsely sampled losses that take finitely many values: large ones are counted apart, the others smeared.

Of the sampled losses a removal, where Z >= log(1 - q); others may take part.  Q(S < eps, some) is at most the sum over all steps,
and over their large values z, of q(z) Q(S' < eps - z), S' the sum of the others, and by Chernoff's inequality
Q(S' < x) <= e^{rx} (E_Q e^{-rZ})^n for every r > 0.  (E_Q e^{-rZ} is at least 1, so that n need not be one step fewer.)
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT
from ..composed import ComposedLoss
from ..contour.contour import Saddle
from ..contour.guess import estimate, guess
from ..invert import About, ends, settled_epsilon, settled_log_delta
from ..pairs.atomic import AtomicLoss, Atoms
from ..pairs.discrete import SampledAtoms
from ..protocol import Inconclusive
from ..smoothing import Smeared
from .identity import Apart

_RATES = 2.0 ** np.arange(-3.0, 12.0, 0.75)  # over epsilon
_CUTS = np.geomspace(1.01, 30.0, 80)  # over epsilon
_SURE = 17.0  # -log of the relative size allowed to what large steps lose
_DENSE = 1e3  # steps with the record, on average, from which nothing need be counted apart
_NEAR, _PLACES = 0.02, 6


@dataclass(frozen=True)
class KeptAtoms(AtomicLoss):
    """The values of a loss up to a number; their masses add up to less than 1."""

    base: AtomicLoss
    number: int

    @property
    def log_truncated_mass(self) -> float:  # type: ignore[override]
        return self.base.log_truncated_mass

    @cached_property
    def atoms(self) -> Atoms:
        z, log_p, log_q, error, z_error = self.base.atoms
        return Atoms(z[: self.number], log_p[: self.number], log_q[: self.number], error, z_error)


class LargeApart(Apart):
    """A run of one ordered pair for epsilons near one; every bound holds for all epsilons."""

    def __init__(self, run: ComposedLoss, epsilon: float, log_delta: float) -> None:
        if not counts_large(run) or not (1e-9 < epsilon < 300.0 and log_delta > -600.0):
            raise Inconclusive
        self.epsilon, self.rates = epsilon, _RATES / epsilon
        terms = [(loss, count) for loss, count in run.terms if isinstance(loss, AtomicLoss)]
        chernoff = self._chernoff(terms)
        sums = [self._from_each_on(loss) for loss, _ in terms]
        for cut in (_CUTS * epsilon).tolist():
            numbers = [int(loss.atoms.z.searchsorted(cut)) for loss, _ in terms]
            far = np.array([sums[i][:, number] + math.log(terms[i][1]) for i, number in enumerate(numbers)])
            self._taken = chernoff + np.logaddexp.reduce(far, axis=0)
            if float(self._taken.min()) + epsilon < log_delta - _SURE:
                break
        else:
            raise Inconclusive
        kept = ComposedLoss(tuple((KeptAtoms(loss, n), count) for (loss, count), n in zip(terms, numbers, strict=True)))
        steps = []
        for (loss, count), number in zip(terms, numbers, strict=True):
            p, q = (math.fsum(np.exp(log[number:]).tolist()) for log in (loss.atoms.log_p, loss.atoms.log_q))
            steps.append((p, q, count, loss.atoms.error + 2.0 * FUNCTION + 4.0 * UNIT))
        self.count_large(steps)
        saddle = Saddle.of_epsilon(kept, epsilon)
        self.inner, self.pace = Smeared(kept, saddle), saddle.c

    def _chernoff(self, terms: list[tuple[AtomicLoss, int]]) -> Array:
        """log of (E_Q e^{-rZ})^n, rounded up; values that are left out are at least log(1 - q)."""
        total = np.zeros(self.rates.size)
        for loss, count in terms:
            z, _, log_q, error, z_error = loss.atoms
            exponent = log_q - self.rates[:, None] * z
            found = np.logaddexp.reduce(exponent, axis=1)
            if isinstance(loss, SampledAtoms) and loss.log_truncated_mass > -math.inf:
                found = np.logaddexp(found, loss.log_truncated_mass - self.rates * math.log1p(-loss.rate))
            # each of the sums rounds
            off = (
                error
                + self.rates * (float(np.abs(z).max()) * (z_error + 8.0 * UNIT))
                + z.size * (FUNCTION + UNIT * np.abs(found))
            )
            total += count * np.maximum(found + off, 0.0)
        total *= 1.0 + 8.0 * UNIT
        return total

    def _from_each_on(self, loss: AtomicLoss) -> Array:
        """For each r, log of the sum of q(z) e^{r (epsilon - z)} from each value on, rounded up."""
        z, _, log_q, error, z_error = loss.atoms
        room = self.epsilon - z * (1.0 - z_error - 8.0 * UNIT)
        logs = log_q + self.rates[:, None] * np.where(z > 0.0, room, self.epsilon - 2.0 * z)
        found = np.logaddexp.accumulate(logs[:, ::-1], axis=1)[:, ::-1] + (error + z.size * (FUNCTION + 2e4 * UNIT))
        return np.append(found, np.full((self.rates.size, 1), -1e4), axis=1)

    def taken(self, epsilon: float) -> float:
        return math.exp(min(float((self._taken + self.rates * (epsilon - self.epsilon)).min()) + 1e-9, 1.0))


def counts_large(run: ComposedLoss) -> bool:
    """Whether all losses take finitely many values, some of them sampled, in a removal, and sparsely enough to be worth it."""
    drawn = 0.0
    for loss, count in run.terms:
        removal = isinstance(loss, SampledAtoms) and loss.removal
        if (
            not isinstance(loss, AtomicLoss)
            or loss.infinite_mass
            or loss.infinite_mass_under_q
            or (loss.log_truncated_mass > -math.inf and not removal)
        ):
            return False
        drawn += count * loss.rate if isinstance(loss, SampledAtoms) and removal else 0.0
    return run.rows == 1 and 0.0 < drawn < _DENSE


def large_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""

    def counted(epsilon: float) -> tuple[LargeApart, About]:
        apart = LargeApart(run, epsilon, log_delta)
        return apart, apart.estimate

    apart, epsilon = settled_epsilon(counted, log_delta, guess(run, log_delta), 1e-6, _NEAR)
    return ends(apart, log_delta, slack, epsilon, _PLACES)


def large_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""

    def counted(log_delta: float) -> tuple[LargeApart, About]:
        apart = LargeApart(run, epsilon, log_delta)
        return apart, apart.estimate

    apart = settled_log_delta(counted, epsilon, estimate(run, epsilon))
    return apart.lower(epsilon), min(0.0, apart.upper(epsilon))
