"""Random allocation of Laplace noise: the loss of an epoch between two laws of finitely many values.

Y = dP/dQ lies between e^-a and e^a, with atoms at both; C(K) = E(Y - K)+ is 1 - e^{-a/2} sqrt(K) between them
(docs/mathematics/allocation-steps.md, Lemma 52).
"""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ...numerics.rounding import FUNCTION, UNIT
from ..pairs.atomic import AtomicLoss, Atoms
from ..pairs.bracketed import BracketedLoss
from ..pairs.laplace import LaplaceLoss
from ..pairs.ordered import ordered_pairs
from .cells import Law, law_above, law_below
from .grid import StepGrid, summed


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    shrink: float = 2e-7
    """Of L - 1 that a grid should be fine enough for: epsilon is off by about as much of itself."""
    most_points: tuple[int, int] = (1 << 18, 1 << 19)
    """Of the sum, and of one whose steps have few."""
    few_points: int = 1 << 11
    """Of a step."""
    largest: float = 12.0
    """Of a: beyond it the grid is too coarse for the least ratios, and the step itself is the bound."""
    faint: float = 600.0
    """-log of the probability of the largest loss from which it is not looked at by itself."""
    coarse: float = 1e-3
    """Of the shrinking: beyond it the step itself may be the better bound."""


TUNING = Tuning()


def step_grid(a: float, cells: int) -> tuple[StepGrid, float]:
    """A law above that of Y on so many cells; what L - 1 must shrink by for one below."""
    h = 2.0 * math.sinh(a) / cells
    away = h * (np.arange(cells + 1) - cells / (1.0 + math.exp(a)))
    root = np.sqrt(np.maximum(1.0 + away, math.exp(-a)))
    scale = math.exp(-0.5 * a)
    mass = np.empty(cells + 1)
    # second differences of -sqrt(K) over h
    mass[1:-1] = 2.0 * h * scale / ((root[:-2] + root[2:]) * (root[1:-1] + root[:-2]) * (root[1:-1] + root[2:]))
    mass[0], mass[-1] = 1.0 - scale / (root[0] + root[1]), scale / (root[-1] + root[-2])
    # roots err by that of 1 + away, over itself
    slip = 8.0 * UNIT * (1.0 + math.exp(a)) + 24.0 * UNIT + 4.0 * FUNCTION
    rise = scale * h * h / (4.0 * (root[:-1] + root[1:]) ** 3)  # of a chord of C over C
    more = 1.0 - 0.5 * scale * (root + 1.0 / root)  # P(Y > K) - Q(Y > K)
    least = np.maximum(np.minimum(more[:-1], more[1:]), -0.5 * math.expm1(-a)) * (1.0 - 1e-6)
    shrink = float((rise / least).max()) * (1.0 + 1e-6) + 64.0 * UNIT * a / -math.expm1(-a)
    return StepGrid(away, np.log(mass), slip), shrink / (1.0 + shrink) if shrink < 1e-3 else min(shrink, 1.0)


def _cells(a: float, steps: int) -> int:
    shrink = step_grid(a, 1000)[1]  # which falls like the square
    wanted = math.ceil(1000.0 * math.sqrt(shrink / TUNING.shrink))
    some, more = (most // steps for most in TUNING.most_points)
    return max(2, min(wanted, max(some, min(TUNING.few_points, more))))


@lru_cache(maxsize=16)
def laws(a: float, steps: int) -> tuple[Law | None, Law | None, float]:
    """Above and below; what the latter was shrunk by."""
    wide = a * (1.0 + 8.0 * UNIT)  # a is rounded
    step, shrink = step_grid(wide, _cells(a, steps))
    found = summed(step, steps)
    ends = -wide, wide
    return law_above(step, found, ends), law_below(step, found, ends, shrink), shrink


@dataclass(frozen=True)
class LaplaceEpoch(AtomicLoss):
    """A law above or below the loss of an epoch of Laplace noise that is moved by `a`; in a removal the mixture is P."""

    a: float
    steps: int
    removal: bool
    above: bool

    @cached_property
    def atoms(self) -> Atoms:
        above, below, _ = laws(self.a, self.steps)
        found = above if self.above else below
        assert found is not None
        z, log_a, error, z_error, _ = found
        log_b = log_a + z
        error += 2.0 * UNIT * float(np.abs(log_b).max()) + z_error * float(np.abs(z).max())
        if self.removal:
            return Atoms(z, log_b, log_a, error, z_error)
        return Atoms(-z[::-1], log_a[::-1], log_b[::-1], error, z_error)


@dataclass(frozen=True)
class LargestLoss(AtomicLoss):
    """Only whether the loss of an epoch is the largest one: every step has its largest ratio, or its least one."""

    a: float
    steps: int
    removal: bool

    @cached_property
    def atoms(self) -> Atoms:
        log_a = -self.steps * (math.log(2.0) + (self.a if self.removal else 0.0))
        z = self.a if self.removal else -self.a
        rest = -math.exp(log_a) * math.expm1(z) / -math.expm1(log_a)  # the mean of what is left, less 1
        values = sorted([(z, log_a), (math.log1p(rest), math.log(-math.expm1(log_a)))])
        both, masses = np.array(values).T
        error = 8.0 * UNIT * self.steps * (1.0 + self.a) + 32.0 * FUNCTION * (1.0 + self.a)
        if self.removal:
            return Atoms(both, masses + both, masses, error, error)
        return Atoms(-both[::-1], masses[::-1], (masses + both)[::-1], error, error)


def laplace_epoch(loss: LaplaceLoss, steps: int, removals: tuple[bool, ...]) -> Any:
    """The loss of an epoch, between both laws; beside the step itself, which bounds every epoch, where they are far apart."""
    a = loss.a
    near = min(a, TUNING.largest)  # less noise is worse
    above, below, shrink = laws(near, steps)
    low = [LaplaceEpoch(near, steps, removal, False) for removal in removals]
    members: tuple[Any, ...] = () if below is None else (ordered_pairs(list(low)),)
    if steps * (near + math.log(2.0)) < TUNING.faint:
        members += (ordered_pairs([LargestLoss(near, steps, removal) for removal in removals]),)
    if above is None or a > near:
        return BracketedLoss((loss,), members)
    high = ordered_pairs([LaplaceEpoch(a, steps, removal, True) for removal in removals])
    return BracketedLoss((high,) if shrink < TUNING.coarse else (high, loss), members, tight=True)
