"""Gaussian noise: Z is normal with mean mu^2/2 and variance mu^2, so K(w) = (mu^2/2) w (w + 1).

docs/mathematics.md, section 4 (decay) and section 5 (closed forms).
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray
from ...numerics.normal import log_normal_cells, log_shift_delta
from ...numerics.rounding import FUNCTION, SECOND_ORDER, SQUARE_ERROR, UNIT
from ...numerics.trapezoid import Cells
from ..protocol import ClosedForm, ExactLoss, Masses


@dataclass(frozen=True)
class GaussianLoss(ExactLoss):
    """The loss of N(mu, 1) against N(0, 1); `square` is mu^2."""

    square: float

    ceiling = math.inf
    log_top_mass = -math.inf
    nodes_allowed = 1 << 15
    quadratic_limit = math.inf
    rows = 1

    def cumulant_bound(self, c: float) -> float:
        return 0.5 * self.square * c * (c + 1.0) * (1.0 + SQUARE_ERROR + 4.0 * UNIT)

    def expand(self, c: float) -> tuple[float, float, float]:
        return 0.5 * self.square * c * (c + 1.0), self.square * (c + 0.5), self.square

    def mean(self) -> tuple[float, float]:
        return 0.5 * self.square, 0.5 * self.square * SQUARE_ERROR

    def slice(self, c: float, ahead: float, count: int) -> "GaussianSlice":
        return GaussianSlice(self.square, c)

    @property
    def coarse_estimates(self) -> tuple[float, float]:
        return 0.38 * min(1.0, math.sqrt(self.square)), self.square

    def ordered_pair(self, row: int) -> "GaussianLoss":
        return self

    def closed(self, epsilon: float) -> ClosedForm:
        return gaussian_log_delta(math.sqrt(self.square), epsilon)

    anchor = atom_spacing = lattice_step = 0.0
    has_slice = True
    infinite_mass = infinite_mass_under_q = Fraction(0)
    log_truncated_mass = -math.inf

    def edge_error(self, largest: float) -> float:
        return (largest + self.square) * (SQUARE_ERROR + 4.0 * UNIT)

    def masses(self, edges: Array) -> Masses:
        mu = math.sqrt(self.square)
        z = np.minimum(np.maximum(edges / mu - 0.5 * mu, -1e7), 1e7)  # of P's noise; Q's is mu more
        log_p, p_error = log_normal_cells(z)
        log_q, q_error = log_normal_cells(z + mu, UNIT, SQUARE_ERROR * mu)  # mu itself is rounded
        return Masses(log_p, log_q, np.maximum(p_error, q_error))


@dataclass(frozen=True)
class GaussianSlice:
    """K is a polynomial: everything is exact but for rounding."""

    square: float
    c: float

    def keep(self, rows: list[int]) -> "GaussianSlice":
        return self

    def cumulant_above(self, points: Array) -> Array:
        value = 0.5 * self.square * points * (points + 1.0)
        return (value + np.abs(value) * (SQUARE_ERROR + 4.0 * UNIT))[None, :]

    def decay(self, cells: Cells) -> Array:
        return (cells.left * cells.left * (0.5 * self.square * (1.0 - SQUARE_ERROR - 8.0 * UNIT)))[None, :]

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        u = step * np.arange(nodes)
        half = 0.5 * self.square
        value = np.empty(nodes, dtype=np.complex128)
        value.real = half * (self.c * (self.c + 1.0) - u * u)
        value.imag = half * ((2.0 * self.c + 1.0) * u)
        size = half * (self.c * (self.c + 1.0) + (2.0 * self.c + 1.0) * u + u * u)
        return value[None, :], (size * (SQUARE_ERROR + 6.0 * UNIT))[None, :]


def gaussian_log_delta(mu: float, epsilon: float) -> ClosedForm:
    """log delta_mu(epsilon) for any real epsilon.

    Steinke 2022, Corollary 8 (Balle and Wang 2018, Theorem 8).  For epsilon < 0 by symmetry of the pair:
    delta(epsilon) = 1 - e^epsilon + e^epsilon delta(-epsilon).
    """
    if epsilon >= 0.0:
        return ClosedForm(*log_shift_delta(mu, epsilon, SQUARE_ERROR))
    if epsilon < -700.0:
        return ClosedForm(0.0, 1e-300, 0.0)
    value, error, slope = log_shift_delta(mu, -epsilon, SQUARE_ERROR)
    weight = math.exp(epsilon)
    mirrored = weight * math.exp(value)
    total = mirrored - math.expm1(epsilon)
    lost = mirrored / total * (min(error, 1.0) + FUNCTION) if mirrored else 0.0
    return ClosedForm(
        math.log(total),
        lost * SECOND_ORDER + FUNCTION * (4.0 + abs(math.log(total))),
        (mirrored * (1.0 - slope) - weight) / total,
    )
