"""All values of a run of few steps whose losses have finitely many values each.  Used by `law.py`."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

import numpy as np

from ...numerics.cancellation_free import Array, log_fraction
from ...numerics.rounding import FUNCTION, UNIT
from ..composed import ComposedLoss
from ..pairs.atomic import AtomicLoss
from ..protocol import Interval


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    most_sums: int = 50_000
    """Of the values of a run: more take too long to list."""


TUNING = Tuning()


@dataclass(frozen=True)
class Listed:
    """Increasing values, how far each may be off, the logarithms of their masses and a bound of the errors of these."""

    z: Array
    z_error: Array
    log_p: Array
    error: float

    def around(self, epsilon: float) -> tuple[Interval, Interval]:
        """P(Z <= epsilon) and P(epsilon < Z < infinity)."""
        surely, maybe = self.z - self.z_error > epsilon, self.z + self.z_error > epsilon
        p, off = self._masses
        sums = [float(p[chosen].sum()) for chosen in (~maybe, ~surely, surely, maybe)]
        return (sums[0] * (1.0 - off), sums[1] * (1.0 + off)), (sums[2] * (1.0 - off), sums[3] * (1.0 + off))

    @cached_property
    def _masses(self) -> tuple[Array, float]:
        """The masses, and a bound of the relative errors of their sums."""
        p: Array = np.exp(self.log_p)
        return p, math.expm1(self.error + 2.0 * FUNCTION) + (p.size + 4.0) * UNIT

    def joined(self) -> list[tuple[float, float, float]]:
        """Values and both ends of their masses; those within rounding of each other are one."""
        p, off = self._masses
        apart = self.z[1:] - self.z[:-1] > self.z_error[1:] + self.z_error[:-1]
        starts = np.flatnonzero(np.concatenate(([True], apart)))
        sums = np.add.reduceat(p, starts)
        return [
            (float(z), float(mass * (1.0 - off)), float(min(mass * (1.0 + off), 1.0)))
            for z, mass in zip(self.z[starts], sums, strict=True)
        ]


def listed(run: ComposedLoss) -> Listed | None:
    """All values of a run of few steps with finitely many values each; None of others."""
    atoms = [
        (loss.atoms, count) for loss, count in run.terms if isinstance(loss, AtomicLoss) and loss.log_truncated_mass == -math.inf
    ]
    sums = [math.comb(count + one.z.size - 1, count) if one.z.size * count < 10**6 else 10**9 for one, count in atoms]
    if not atoms or len(atoms) < len(run.terms) or math.prod(sums) > TUNING.most_sums:
        return None
    z: Array = np.zeros(1)
    z_error: Array = np.zeros(1)
    log_p: Array = np.zeros(1)
    error = 0.0
    for (values, masses, _, mass_error, relative), count in atoms:
        often = _counts(values.size, count)
        ways = np.array([_log_ways(row) for row in often.tolist()])
        size = often @ np.abs(values)
        one, one_error = often @ values, size * (relative + (values.size + 4.0) * UNIT)
        weight = ways + often @ masses
        error += count * mass_error + float(np.max(np.abs(ways) + often @ np.abs(masses))) * (values.size + 8.0) * UNIT + FUNCTION
        z = np.add.outer(z, one).ravel()
        z_error = np.add.outer(z_error, one_error).ravel() + UNIT * np.abs(z)
        log_p = np.add.outer(log_p, weight).ravel()
    error += len(atoms) * UNIT * float(np.abs(log_p).max())
    order = np.argsort(z)
    return Listed(z[order], z_error[order] * (1.0 + 1e-9), log_p[order], error)


def _counts(values: int, steps: int) -> Array:
    """How often each value may come in so many steps."""
    bars = np.array(list(combinations(range(steps + values - 1), values - 1)), dtype=np.float64).reshape(-1, values - 1)
    ends = np.concatenate((np.full((len(bars), 1), -1.0), bars, np.full((len(bars), 1), steps + values - 1.0)), axis=1)
    found: Array = np.diff(ends, axis=1) - 1.0
    return found


def _log_ways(often: list[float]) -> float:
    """log of the multinomial coefficient, by exact integers."""
    left, ways = 0, 1
    for n in often:
        left += int(n)
        ways *= math.comb(left, int(n))
    return log_fraction(Fraction(ways))
