"""Laplace noise: Z has atoms at +a and -a (a = sensitivity / scale) and a density between them.

With v = w + 1/2, phi(w) = exp(-a/2) (cosh(v a) + sinh(v a) / (2 v)), an even function of v: both orders of the
pair have the same loss.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray
from ...numerics.decay import stretched_gap
from ...numerics.rounding import FUNCTION, UNIT, up
from ...numerics.trapezoid import Cells
from ..protocol import ZERO_DELTA, ClosedForm, ExactLoss, Masses
from .symmetric_slice import SERIES, SymmetricSlice

_TERMS = 10


@dataclass(frozen=True)
class LaplaceLoss(ExactLoss):
    """The loss of Laplace noise shifted by `a` of its scales."""

    a: float

    log_top_mass = -math.log(2.0) * (1.0 + 2.0 * UNIT)
    ceiling_error = 8.0 * UNIT  # a is rounded, and up
    nodes_allowed = 1 << 12
    quadratic_limit = math.inf
    rows = 1
    lattice_step = 0.0
    has_slice = True
    infinite_mass = infinite_mass_under_q = Fraction(0)
    log_truncated_mass = -math.inf

    @property
    def ceiling(self) -> float:
        return up(self.a)

    def cumulant_bound(self, c: float) -> float:
        return self.ceiling * c * (1.0 + 2.0 * UNIT)

    def expand(self, c: float) -> tuple[float, float, float]:
        a, v = self.a, c + 0.5
        if abs(v) * a < SERIES:
            if a > 1.0:  # phi = e^{-a/2} (1 + a/2 + v^2 (a^2/2 + a^3/12) + ...)
                bend = (a * a / 2.0 + a**3 / 12.0) / (1.0 + 0.5 * a)
                return math.log1p(0.5 * a) - 0.5 * a + bend * v * v, 2.0 * bend * v, 2.0 * bend
            scale = math.exp(-0.5 * a) * (a * a / 2.0 + a**3 / 12.0) * (1.0 + (v * v + 0.25) * a * a / 12.0)
            return math.log1p(c * (c + 1.0) * scale), 2.0 * v * scale, 2.0 * scale
        v = abs(v)
        e = math.exp(-2.0 * v * a)
        psi = 0.5 * (1.0 + e) + (1.0 - e) / (4.0 * v)
        first = (-a * e + a * e / (2.0 * v) - (1.0 - e) / (4.0 * v * v)) / psi
        second = (2.0 * a * a * e - a * a * e / v - a * e / (v * v) + (1.0 - e) / (2.0 * v**3)) / psi
        value = (v - 0.5) * a + math.log(psi)
        return value, math.copysign(a + first, c + 0.5), max(second - first * first, 1e-300)

    def mean(self) -> tuple[float, float]:
        # E Z = a + exp(-a) - 1
        a = self.a
        value = a + math.expm1(-a) if a > 1e-2 else a * a * (0.5 - a * (1 / 6 - a * (1 / 24 - a * (1 / 120 - a / 720))))
        return value, (4.0 * a * FUNCTION if a > 1e-2 else value * 1e-14)

    def slice(self, c: float, ahead: float, count: int) -> "LaplaceSlice":
        return LaplaceSlice(self.a, c)

    @property
    def coarse_estimates(self) -> tuple[float, float]:
        return 0.39 * min(1.0, self.a), min(self.a, 1.0) * self.a

    def ordered_pair(self, row: int) -> "LaplaceLoss":
        return self

    def closed(self, epsilon: float) -> ClosedForm:
        """delta = 1 - e^{(epsilon - a)/2} for |epsilon| <= a; 0 above; 1 - e^epsilon below -a."""
        a = self.a
        half = 1.0 if epsilon < -a else 0.5
        exponent = epsilon if epsilon < -a else 0.5 * (epsilon - a)
        slack = 2.0 * UNIT * (abs(epsilon) + a)  # of the exponent
        if exponent > -8.0 * slack:
            if exponent > 8.0 * slack:
                return ZERO_DELTA
            top = math.log(18.0 * slack)  # delta is between 0 and about 16 slack
            return ClosedForm(top, math.inf, -1.0 / slack, top)
        delta = -math.expm1(exponent)
        slope = math.exp(exponent) / delta
        error = FUNCTION * (2.0 + abs(math.log(delta))) + 1.3 * slack * slope
        return ClosedForm(math.log(delta), error, -half * slope)

    @property
    def anchor(self) -> float:
        return self.a

    @property
    def atom_spacing(self) -> float:
        return 2.0 * self.a

    def edge_error(self, largest: float) -> float:
        return 8.0 * UNIT * self.a

    def masses(self, edges: Array) -> Masses:
        """P(Z <= z) = e^{(z - a)/2} / 2 and Q(Z > z) = e^{-(z + a)/2} / 2 for -a <= z < a."""
        a, below, above = self.a, math.log(0.5), -self.a
        points = np.concatenate(([-a], np.minimum(np.maximum(edges, -a), a), [a]))
        left, right = points[:-1], points[1:]
        with np.errstate(divide="ignore"):
            wide = np.log(-np.expm1(0.5 * (left - right))) + math.log(0.5)
        log_p, log_q = 0.5 * (right - a) + wide, -0.5 * (left + a) + wide
        smooth = log_p.copy()
        bottom, top = int(np.searchsorted(edges, -a)), int(np.searchsorted(edges, a))
        for place, p, q in ((bottom, below - a, below), (top, below, below + above)):
            log_p[place], log_q[place] = np.logaddexp(log_p[place], p), np.logaddexp(log_q[place], q)
        with np.errstate(divide="ignore", invalid="ignore"):
            off = np.minimum(4.0 * UNIT * a / (right - left), 1.0) * np.exp(smooth - log_p)
        off = np.where(smooth > -math.inf, off, 0.0)
        return Masses(log_p, log_q, 4.0 * FUNCTION + 4.0 * UNIT * (1.0 + a + np.abs(np.maximum(wide, -1e3))) + off)


class LaplaceSlice(SymmetricSlice):
    """The atoms keep |phi| from vanishing, the density makes it fall."""

    def __init__(self, a: float, c: float) -> None:
        super().__init__(a, c)
        value, error = self.log_phi(np.array([c + 0.5 + 0j]))
        log_phi, slack = float(value[0].real), 1.0 + 1e-12 + 8.0 * UNIT * abs(c + 1.0) * a + 2.0 * float(error[0])
        self._top = 0.5 * math.exp(c * a - log_phi) * slack  # tilted mass of the atom at +a
        self._bottom = 0.5 * math.exp(-(c + 1.0) * a - log_phi) * slack
        # the rest has a monotone density, at most half of `peak` and so |its transform| <= peak / u (Lemma 18 carries it inwards)
        self._peak = max(self._top, self._bottom)
        self._rest = max(0.0, 1.0 - self._top - self._bottom)

    def decay(self, cells: Cells) -> Array:
        left, right = cells.left, cells.right
        atoms = self._top + self._bottom
        turns_left, turns_right = left * (self.a / math.pi), right * (self.a / math.pi)
        sine = np.minimum(np.sin(left * self.a) ** 2, np.sin(np.where(right < 1e300, right, 0.0) * self.a) ** 2)
        sine = np.where(np.floor(turns_left) == np.floor(turns_right), sine, 0.0) * (1.0 - 1e-9)
        pair = np.sqrt(np.maximum(atoms * atoms - 4.0 * self._top * self._bottom * sine, 0.0))
        direct = np.minimum(1.0, pair + np.minimum(1.0 - atoms, self._peak / left) if atoms < 1.0 else pair)
        # phi/phi(c) = top e^{iua} (1 + 1/(2v)) + bottom e^{-iua} (1 - 1/(2v)): the first factor falls in u, the other is below 1
        norm = 1.0 / (left * left + (self.c + 0.5) ** 2) if self.c > 0.0 else np.inf
        direct = np.minimum(direct, self._top * np.sqrt(1.0 + (self.c + 0.75) * norm) + self._bottom)
        gap = np.maximum(1.0 - direct, stretched_gap(left, self._rest, self._peak))
        return (np.log1p(-np.minimum(gap, 1.0 - 1e-15)) * (-1.0 + 4e-12))[None, :]

    def series(self) -> tuple[float, list[float]]:
        a = self.a
        terms = [a ** (2 * k) / math.factorial(2 * k) * (1.0 + a / (2.0 * (2 * k + 1))) for k in range(1, _TERMS)]
        return math.exp(-0.5 * a), terms

    def factor(self, v: ComplexArray, size: Array) -> tuple[ComplexArray, Array]:
        decayed = np.exp(-2.0 * self.a * v)
        psi = 0.5 * (1.0 + decayed) - np.expm1(-2.0 * self.a * v) / (4.0 * v)
        return psi, (4.0 * FUNCTION + 4.0 * UNIT * size) / np.abs(psi)
