"""Single-big-jump splitting of sparsely sampled losses of finitely many values: large values split off, the others smoothed.

Of the sampled losses a removal, where Z >= log(1 - q); others may take part.  Q(S < eps, some) is at most the sum over all steps,
and over their large values z, of q(z) Q(S' < eps - z), S' the sum of the others, and by Chernoff's inequality
Q(S' < x) <= e^{rx} (E_Q e^{-rZ})^n for every r > 0.  (E_Q e^{-rZ} is at least 1, so that n need not be one step fewer.)

docs/mathematics.md, section 7b, "Sparse sampling": Lemma 19a with the indicator of a large value, Lemma 19g for the others.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT
from ..composed import ComposedLoss
from ..contour.contour import Saddle
from ..contour.guess import estimate_epsilon, estimate_log_delta
from ..invert import About, certified_ends, settled_epsilon, settled_log_delta
from ..pairs.atomic import AtomicLoss, Atoms
from ..pairs.discrete import SampledAtoms
from ..protocol import Inconclusive
from ..smoothing import SmoothedContour
from .identity import BigJumpIdentity


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof."""

    log_share: float = 17.0
    """-log of what the compensation may be, relative to delta: 4e-8."""
    max_records: float = 1e3
    """Steps with the record, on average, from which nothing need be split off."""
    relative_distance: float = 0.02
    """An epsilon found farther than that from the one that the split was made for is split for anew."""
    attempts: int = 6
    """Places at which each end of epsilon is sought."""


TUNING = Tuning()
_EXPONENTS = 2.0 ** np.arange(-3.0, 12.0, 0.75)
"""The r that are tried, over epsilon."""
_THRESHOLDS = np.geomspace(1.01, 30.0, 80)
"""Those that are tried, over epsilon."""


@dataclass(frozen=True)
class SmallAtoms(AtomicLoss):
    """The smallest values of a loss, so many of them; their masses add up to less than 1."""

    base: AtomicLoss
    number: int

    @property
    def log_truncated_mass(self) -> float:
        return self.base.log_truncated_mass

    @cached_property
    def atoms(self) -> Atoms:
        z, log_p, log_q, error, z_error = self.base.atoms
        return Atoms(z[: self.number], log_p[: self.number], log_q[: self.number], error, z_error)


class AtomsSplit(BigJumpIdentity):
    """A run of one ordered pair, split for epsilons near one; every bound holds for all epsilons."""

    def __init__(self, run: ComposedLoss, epsilon: float, log_delta: float) -> None:
        if not is_sparse_atomic(run) or not (1e-9 < epsilon < 300.0 and log_delta > -600.0):
            raise Inconclusive
        self.epsilon, self.exponents = epsilon, _EXPONENTS / epsilon
        terms = [(loss, count) for loss, count in run.terms if isinstance(loss, AtomicLoss)]
        chernoff = self._chernoff(terms)
        sums = [self._sums_from(loss) for loss, _ in terms]
        for threshold in (_THRESHOLDS * epsilon).tolist():
            numbers = [int(loss.atoms.z.searchsorted(threshold)) for loss, _ in terms]
            above = np.array([sums[i][:, number] + math.log(terms[i][1]) for i, number in enumerate(numbers)])
            self._compensations = chernoff + np.logaddexp.reduce(above, axis=0)
            if float(self._compensations.min()) + epsilon < log_delta - TUNING.log_share:
                break
        else:
            raise Inconclusive
        small = ComposedLoss(tuple((SmallAtoms(loss, n), count) for (loss, count), n in zip(terms, numbers, strict=True)))
        steps = []
        for (loss, count), number in zip(terms, numbers, strict=True):
            p, q = (math.fsum(np.exp(log[number:]).tolist()) for log in (loss.atoms.log_p, loss.atoms.log_q))
            steps.append((p, q, count, loss.atoms.error + 2.0 * FUNCTION + 4.0 * UNIT))
        self.set_large(steps)
        saddle = Saddle.of_epsilon(small, epsilon)
        self.remainder, self.pace = SmoothedContour(small, saddle), saddle.c

    def _chernoff(self, terms: list[tuple[AtomicLoss, int]]) -> Array:
        """log of (E_Q e^{-rZ})^n, rounded up; values whose mass is truncated are at least log(1 - q)."""
        total = np.zeros(self.exponents.size)
        for loss, count in terms:
            z, _, log_q, error, z_error = loss.atoms
            exponent = log_q - self.exponents[:, None] * z
            found = np.logaddexp.reduce(exponent, axis=1)
            if isinstance(loss, SampledAtoms) and loss.log_truncated_mass > -math.inf:
                found = np.logaddexp(found, loss.log_truncated_mass - self.exponents * math.log1p(-loss.rate))
            # each of the sums rounds
            off = (
                error
                + self.exponents * (float(np.abs(z).max()) * (z_error + 8.0 * UNIT))
                + z.size * (FUNCTION + UNIT * np.abs(found))
            )
            total += count * np.maximum(found + off, 0.0)
        total *= 1.0 + 8.0 * UNIT
        return total

    def _sums_from(self, loss: AtomicLoss) -> Array:
        """For each r, log of the sum of q(z) e^{r (epsilon - z)} from each value on, rounded up (Lemma 19a)."""
        z, _, log_q, error, z_error = loss.atoms
        gap = self.epsilon - z * (1.0 - z_error - 8.0 * UNIT)
        logs = log_q + self.exponents[:, None] * np.where(z > 0.0, gap, self.epsilon - 2.0 * z)
        found = np.logaddexp.accumulate(logs[:, ::-1], axis=1)[:, ::-1] + (error + z.size * (FUNCTION + 2e4 * UNIT))
        return np.append(found, np.full((self.exponents.size, 1), -1e4), axis=1)

    def compensation(self, epsilon: float) -> float:
        return math.exp(min(float((self._compensations + self.exponents * (epsilon - self.epsilon)).min()) + 1e-9, 1.0))


def is_sparse_atomic(run: ComposedLoss) -> bool:
    """Whether all losses take finitely many values, some of them sampled, in a removal, and sparsely enough to be worth it."""
    records = 0.0
    for loss, count in run.terms:
        removal = isinstance(loss, SampledAtoms) and loss.removal
        if (
            not isinstance(loss, AtomicLoss)
            or loss.infinite_mass
            or loss.infinite_mass_under_q
            or (loss.log_truncated_mass > -math.inf and not removal)
        ):
            return False
        records += count * loss.rate if isinstance(loss, SampledAtoms) and removal else 0.0
    return run.rows == 1 and 0.0 < records < TUNING.max_records


def atoms_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""

    def split_for(epsilon: float) -> tuple[AtomsSplit, About]:
        split = AtomsSplit(run, epsilon, log_delta)
        return split, split.estimate

    split, epsilon = settled_epsilon(split_for, log_delta, estimate_epsilon(run, log_delta), 1e-6, TUNING.relative_distance)
    return certified_ends(split, log_delta, slack, epsilon, TUNING.attempts)


def atoms_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""

    def split_for(log_delta: float) -> tuple[AtomsSplit, About]:
        split = AtomsSplit(run, epsilon, log_delta)
        return split, split.estimate

    split = settled_log_delta(split_for, epsilon, estimate_log_delta(run, epsilon))
    return split.lower(epsilon), min(0.0, split.upper(epsilon))
