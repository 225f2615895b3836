"""Random allocation of steps of finitely many values: the loss of an epoch is that of finitely many values again.

Under A, the law without the record, L = dB/dA is the mean of T independent Y = dP/dQ (docs/mathematics/allocation-steps.md,
Lemmas 50 and 51).
"""

import math
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from ...numerics.cancellation_free import log_fraction, log_ratio
from ...numerics.rounding import FUNCTION, UNIT, up
from ..pairs.atomic import AtomicLoss, Atoms
from .cells import Law
from .enumeration import TUNING as ENUMERATION
from .enumeration import compositions
from .ratios import Step, kept_for, step_of, whole_ratios


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    most_values: int = 12_000
    """Of an epoch that is listed: more are slow to compose."""
    exact_bits: int = 100_000
    """Of a mass to the power of the steps: longer fractions are taken to sixty digits."""


TUNING = Tuning()


def finite_epoch(loss: AtomicLoss, steps: int, kept: int, removal: bool) -> "AllocatedAtoms | None":
    """The loss of an epoch of so many steps; None if it takes too many values."""
    return None if _law(loss, steps, kept) is None else AllocatedAtoms(loss, steps, kept, removal)


@lru_cache(maxsize=32)
def _step(loss: AtomicLoss, kept: int) -> Step | None:
    return kept_for(step_of(loss), kept, TUNING.most_values)


@lru_cache(maxsize=32)
def _law(loss: AtomicLoss, steps: int, kept: int) -> Law | None:
    step = _step(loss, kept)
    return None if step is None else mean_law(step, steps)


def mean_law(step: Step, steps: int) -> Law | None:
    """The law of L for steps of known values; None if it has too many."""
    log_q, (numerators, scale, exact) = step.log_q, whole_ratios(step)
    if step.zero:
        log_q, numerators = np.append(log_q, log_fraction(step.zero)), [*numerators, 0]
    found = compositions(tuple(log_q.tolist()), steps, TUNING.most_values, max(0.0, step.log_ratio(-1)))
    if found is None:
        return None
    whole = steps * scale
    sums = [sum(one * count for one, count in zip(numerators, row, strict=True) if count) for row in found.counts.tolist()]
    # a sum errs by at most 1 for each step, and z relatively by that over the sum, or its distance from the whole
    near = [row for row, one in zip(found.counts.tolist(), sums, strict=True) if one == whole]
    apart = min((min(one, abs(one - whole)) for one in sums if one != whole and one), default=1 << 60)
    known = exact or all(not count or one == scale for row in near for one, count in zip(numerators, row, strict=True))
    if not known or (not exact and apart >> 24 < steps):
        return None  # so near to 1 that log L is not known
    positive = np.array([one > 0 for one in sums])
    z = np.array([log_ratio(one, whole) for one in sums if one > 0])
    log_a = found.log_mass[positive]
    order = np.argsort(z, kind="stable")
    z_error = 4.0 * FUNCTION if exact else 4.0 * FUNCTION + 2 * steps / apart
    log_omitted = float(np.logaddexp(found.log_omitted, step.log_omitted + math.log(steps)))
    return Law(z[order], log_a[order], found.error + steps * step.error + 4.0 * UNIT * ENUMERATION.deep, z_error, log_omitted)


@dataclass(frozen=True)
class AllocatedAtoms(AtomicLoss):
    """An epoch of `steps` steps of this loss (the ordered pair of a removal), the draw kept for `kept` epochs; in a removal the
    mixture is P."""

    base: AtomicLoss
    steps: int
    kept: int
    removal: bool

    @property
    def _one(self) -> Step:
        found = _step(self.base, self.kept)
        assert found is not None
        return found

    @cached_property
    def _masses_alone(self) -> tuple[Fraction, Fraction]:
        """B where A has none, A where B has none."""
        step = self._one
        return step.infinite, power(step.zero, self.steps)

    @property
    def infinite_mass(self) -> Fraction:
        return self._masses_alone[0 if self.removal else 1]

    @property
    def infinite_mass_under_q(self) -> Fraction:
        return self._masses_alone[1 if self.removal else 0]

    @property
    def _epoch(self) -> Law:
        found = _law(self.base, self.steps, self.kept)
        assert found is not None
        return found

    @property
    def log_truncated_mass(self) -> float:
        return self._epoch.log_omitted

    @cached_property
    def ceiling(self) -> float:
        """log L is at most that of the largest ratio, and if it is finite, at least that of the least in one step or in all."""
        step = self._one
        if self.removal:
            return up(step.log_ratio(-1))
        return up(math.log(self.steps) - step.log_ratio(0), 1e-15) if step.zero else up(-step.log_ratio(0))

    def log_omitted(self, c: float) -> float:
        return self._epoch.log_omitted + c * max(self.ceiling, 0.0) * (1.0 + FUNCTION)

    @cached_property
    def atoms(self) -> Atoms:
        z, log_a, error, z_error, _ = self._epoch
        log_b = log_a + z
        error += 2.0 * UNIT * float(np.abs(log_b).max()) + z_error * float(np.abs(z).max())
        if self.removal:
            return Atoms(z, log_b, log_a, error, z_error)
        return Atoms(-z[::-1], log_a[::-1], log_b[::-1], error, z_error)


def power(mass: Fraction, count: int) -> Fraction:
    """mass^count: exactly, or of long fractions to sixty digits."""
    if not mass or count * max(1, mass.denominator.bit_length()) <= TUNING.exact_bits:
        return mass**count
    with localcontext(Context(prec=60, Emax=MAX_EMAX, Emin=MIN_EMIN)):
        return Fraction((Decimal(mass.numerator) / Decimal(mass.denominator)) ** count)
