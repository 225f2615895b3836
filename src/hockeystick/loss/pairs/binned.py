"""Losses available only through binned probabilities: the lattice answers for them, bounds of K come from many bins."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.normal import log_normal_cells
from ...numerics.rounding import FUNCTION, SQUARE_ERROR, UNIT, up
from ..bins import CoarseLoss
from ..protocol import ClosedForm, ExactLoss, Inconclusive, Masses, Slice


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    bound_cells: int = 20_000
    """From which K is bounded on the real axis: fewer bound it less closely."""


TUNING = Tuning()


class BinnedLoss(ExactLoss, ABC):
    """A loss of one ordered pair without a slice; guides come from a coarse scale."""

    rows = 1
    lattice_step = 0.0
    log_top_mass = -math.inf

    @property
    def quadratic_limit(self) -> float:
        return math.inf

    @property
    def nodes_allowed(self) -> int:
        return 1

    @property
    def infinite_mass(self) -> Fraction:
        return Fraction(0)

    @property
    def infinite_mass_under_q(self) -> Fraction:
        return Fraction(0)

    @property
    def has_slice(self) -> bool:
        return False

    @property
    def log_truncated_mass(self) -> float:
        return -math.inf

    @property
    def anchor(self) -> float:
        return 0.0

    @property
    def atom_spacing(self) -> float:
        return 0.0

    @property
    @abstractmethod
    def ceiling(self) -> float: ...

    @abstractmethod
    def edge_error(self, largest: float) -> float: ...

    @abstractmethod
    def masses(self, edges: Array) -> Masses: ...

    @cached_property
    def coarse(self) -> CoarseLoss:
        return CoarseLoss(self)

    @cached_property
    def coarse_estimates(self) -> tuple[float, float]:
        return 0.5 * math.exp(float(self.coarse.log_delta(np.zeros(1))[0])), self.expand(0.0)[2]

    def ordered_pair(self, row: int) -> "BinnedLoss":
        return self

    def expand(self, c: float) -> tuple[float, float, float]:
        return self.coarse.expand(c)

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        raise Inconclusive

    def closed(self, epsilon: float) -> ClosedForm | None:
        return None

    def cumulant_bound(self, c: float) -> float:
        """From the masses of many cells, each moved to its two ends: e^{cZ} is convex in e^-Z."""
        z, log_p, right, error = self._ends()
        if z.size == 0:
            return math.inf
        left, moved = log_p + c * z[:-1], log_p + c * z[1:]
        with np.errstate(divide="ignore"):
            both = np.logaddexp(left + np.log1p(-right), moved + np.log(right))
        value = float(np.logaddexp.reduce(both))
        rounding = (
            error
            + 64.0 * FUNCTION
            + UNIT * (z.size + 8.0 * (abs(value) + c * float(np.abs(z).max())))
            + c * self.edge_error(float(np.abs(z).max()))
        )
        return up(value + rounding)

    def mean(self) -> tuple[float, float]:
        """E Z, between 0 and what the masses moved to the ends of their cells give (-log is convex)."""
        z, log_p, right, error = self._ends()
        if z.size == 0 or self.infinite_mass:
            return math.inf, 0.0
        p = np.exp(log_p)
        value = float(p @ (z[:-1] * (1.0 - right) + z[1:] * right))
        off = float(p @ np.abs(z[1:])) * (error + (z.size + 8.0) * UNIT) + self.edge_error(float(np.abs(z).max()))
        return max(value, 0.0), off

    def _ends(self) -> tuple[Array, Array, Array, float]:
        """Edges from the lowest loss to the highest, masses of the cells, and the share that goes to the right end."""
        low, _ = self.coarse.range(-60.0)
        if not self.ceiling < math.inf:
            return np.empty(0), np.empty(0), np.empty(0), 0.0
        z = np.linspace(low - 1e-9 * abs(low), self.ceiling, TUNING.bound_cells)
        log_p, log_q, error = self.masses(z)
        off = float(np.max(error))
        log_p[1] = np.logaddexp(log_p[0], log_p[1])  # what lies below moves up
        inner_p, inner_q = log_p[1:-1], log_q[1:-1]
        with np.errstate(invalid="ignore", over="ignore"):
            mean = np.exp(np.minimum(z[:-1] + inner_q - inner_p, 1.0))
        right = (1.0 - mean * (1.0 - 2.0 * off)) / -np.expm1(z[:-1] - z[1:])
        return z, inner_p, np.where(inner_p > -math.inf, np.clip(right, 0.0, 1.0), 0.0), off


@dataclass(frozen=True)
class WideDiscreteGaussianLoss(BinnedLoss):
    """Discrete Gaussian noise of large sigma: a sum of e^{-x^2/(2 sigma^2)} over consecutive integers is the integral from half a
    unit before to half a unit behind, up to (1 + x^2/sigma^2)/(24 sigma^2) of it (the midpoint rule)."""

    sigma: float
    move: int

    ceiling = math.inf

    def edge_error(self, largest: float) -> float:
        return 16.0 * UNIT * (largest + (self.move / self.sigma) ** 2)

    def mean(self) -> tuple[float, float]:
        """The noise is symmetric, and Z is a line: half the square of move / sigma."""
        middle = 0.5 * (self.move / self.sigma) ** 2
        return middle, middle * SQUARE_ERROR

    def cumulant_bound(self, c: float) -> float:
        """That of the continuous noise (Canonne, Kamath and Steinke 2020, Proposition 5)."""
        return 0.5 * (self.move / self.sigma) ** 2 * c * (c + 1.0) * (1.0 + 16.0 * UNIT)

    def masses(self, edges: Array) -> Masses:
        # the last whole output of each cell
        y = np.floor(np.clip(edges * (self.sigma**2 / self.move) + 0.5 * self.move, -1e15, 1e15)) + 0.5
        z = y / self.sigma
        log_q, q_error = log_normal_cells(z, UNIT)
        shift = self.move / self.sigma
        log_p, p_error = log_normal_cells(z - shift, 2.0 * UNIT, 2.0 * UNIT * shift)
        size = np.abs(z)
        # beyond an edge the mean of x^2 is at most (|edge| + 2)^2
        far = np.maximum(np.append(size, size[-1:]), np.append(size[:1], size)) + 3.0 + shift
        rule = 1.1 * (1.0 + far * far) / (24.0 * self.sigma**2)
        return Masses(log_p, log_q, np.maximum(p_error, q_error) + np.minimum(rule, 1.0))
