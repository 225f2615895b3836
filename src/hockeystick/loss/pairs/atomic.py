"""Losses that take finitely many values: exact sums along the contour, exact masses on a lattice."""

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray, exp_remainder, log1p_complex, power_sums, series_degree
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT, up
from ...numerics.trapezoid import Cells, added_terms, fourier_sums
from ..protocol import ZERO_DELTA, ClosedForm, ExactLoss, Masses, Slice

_TABLE = 1 << 16  # so many terms are written down


class Atoms(NamedTuple):
    """Increasing values of Z and the logarithms of their masses under P and Q, with bounds of the errors of each."""

    z: Array
    log_p: Array
    log_q: Array
    error: float = 8.0 * FUNCTION
    z_error: float = 4.0 * UNIT  # relative


class FinitelySupported(Protocol):
    """What the sums along the contour need: the values, P(Z = infinity) and Q(Z = -infinity)."""

    @property
    def atoms(self) -> Atoms: ...
    @property
    def infinite_mass(self) -> Fraction: ...
    @property
    def infinite_mass_under_q(self) -> Fraction: ...


class AtomicLoss(ExactLoss, ABC):
    """A loss of one ordered pair with finitely many values."""

    rows = 1
    quadratic_limit = math.inf
    nodes_allowed = 1 << 12
    has_slice = True

    @property
    @abstractmethod
    def atoms(self) -> Atoms: ...

    @property
    def infinite_mass(self) -> Fraction:
        return Fraction(0)

    @property
    def infinite_mass_under_q(self) -> Fraction:
        return Fraction(0)

    @property
    def lattice_step(self) -> float:
        return 0.0

    @property
    def log_truncated_mass(self) -> float:
        return -math.inf

    def ordered_pair(self, row: int) -> "AtomicLoss":
        return self

    @cached_property
    def ceiling(self) -> float:
        top = float(self.atoms.z[-1])
        return up(top, abs(top) * self.atoms.z_error) if self.atoms.z_error else top

    @property
    def ceiling_error(self) -> float:
        """By how much of itself the ceiling may exceed the largest value."""
        return 2.0 * self.atoms.z_error + 4.0 * FUNCTION if self.atoms.z_error else 0.0

    @property
    def log_top_mass(self) -> float:
        return float(self.atoms.log_p[-1]) - self.atoms.error

    @cached_property
    def coarse_estimates(self) -> tuple[float, float]:
        at_zero = self.closed(0.0)
        return 0.99 * math.exp(min(at_zero.value, 0.0)), self.expand(0.0)[2]

    @property
    def anchor(self) -> float:
        return float(self.atoms.z[-1])

    @cached_property
    def atom_spacing(self) -> float:
        if self.lattice_step:
            return self.lattice_step
        z, log_p, _, _, _ = self.atoms
        if z.size < 2:
            return 0.0
        return float(z[-1] - z[int(log_p[:-1].argmax())])

    def edge_error(self, largest: float) -> float:
        if self.atoms.z_error > 1e-6:  # a value beyond the largest that matters might be taken for a smaller one
            return math.inf
        return (self.atoms.z_error * largest + float(self._near(np.array(largest)))) * (1.0 + 1e-3)

    def _near(self, size: Array) -> Array:
        """By how much a value of this size may exceed an edge that is meant to be that value."""
        found: Array = (self.atoms.z_error + 8.0 * UNIT) * size + 8.0 * UNIT * abs(self.anchor)
        return found

    def masses(self, edges: Array) -> Masses:
        z, log_p, log_q, error, _ = self.atoms
        place = np.searchsorted(edges, z - self._near(np.abs(z)))
        out_p, out_q = np.full(edges.size + 1, -math.inf), np.full(edges.size + 1, -math.inf)
        np.logaddexp.at(out_p, place, log_p)
        np.logaddexp.at(out_q, place, log_q)
        return Masses(out_p, out_q, error + 4.0 * FUNCTION * (1.0 + math.log2(1.0 + z.size)))

    def log_omitted(self, c: float) -> float:
        """log of a bound of E[e^{cZ}; Z among the values left out], for c > 0."""
        return -math.inf

    def cumulant_bound(self, c: float) -> float:
        return c * self.ceiling * (1.0 + 2.0 * UNIT) if self.ceiling > 0.0 else 0.0

    def expand(self, c: float) -> tuple[float, float, float]:
        z, log_p, _, _, _ = self.atoms
        exponent = log_p + c * z
        top = float(exponent.max())
        weight = np.exp(exponent - top)
        total = float(weight.sum())
        mean = float(weight @ z) / total
        return top + math.log(total), mean, max(float(weight @ (z - mean) ** 2) / total, 1e-300)

    def mean(self) -> tuple[float, float]:
        """E Z = sum of q (z e^z - e^z + 1), every term of which is non-negative."""
        if self.infinite_mass:
            return math.inf, 0.0
        z, log_p, log_q, error, z_error = self.atoms
        p, q = np.exp(log_p), np.exp(log_q)
        terms = np.where(
            np.abs(z) < 1.0, q * (z * np.expm1(np.minimum(z, 1.0)) - exp_remainder(np.minimum(z, 1.0))), p * (z - 1.0) + q
        )
        off = float((p * np.abs(z)) @ (np.abs(z) * z_error)) + float(
            (p * np.abs(z) + p + q) @ np.where(np.abs(z) < 1.0, 0.0, error + 4.0 * UNIT)
        )
        value = float(terms.sum()) + float(self.infinite_mass_under_q)
        return value, off + value * (error + (z.size + 16.0) * UNIT + 4.0 * FUNCTION)

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        return AtomicSlice(self, c)

    def closed(self, epsilon: float) -> ClosedForm:
        """The sum of p (1 - e^{epsilon - z}) over the values above epsilon."""
        z, log_p, _, error, z_error = self.atoms
        first = int(np.searchsorted(z, epsilon - 3.0 * z_error * abs(epsilon)))  # with those that may lie above it in truth
        if epsilon >= self.ceiling or first == z.size:
            return ZERO_DELTA
        gap, log_mass = np.maximum(z[first:] - epsilon, 0.0), log_p[first:]
        top = float(log_mass.max())
        mass = np.exp(log_mass - top)
        kept = np.exp(-gap)
        value = float(mass @ -np.expm1(-gap))
        near = (z_error + UNIT) * (np.abs(z[first:]) + abs(epsilon))
        off = float((mass * np.minimum(kept, 1.0)) @ near) * 1.01
        if not off < 0.5 * value:
            edge = math.log(value + 2.0 * off + 1e-300) + top + 1.0
            return ClosedForm(edge, math.inf, -math.inf, edge)
        relative = off / value * 1.5 + error + (gap.size + 8.0) * UNIT + 2.0 * FUNCTION
        log_value = math.log(value) + top
        return ClosedForm(log_value, relative + 4.0 * UNIT * (abs(log_value) + abs(top)), -float(mass @ kept) / value)


def excess_sums(atoms: Atoms, c: float, k: ComplexArray, size: float, spare: float) -> tuple[ComplexArray, Array]:
    """The sum of q (e^{kz} - 1 - k (e^z - 1)), as a series where |kz| <= 1, and bounds of its error.

    For k = 1 + c + iu at equally spaced u from 0 on, |k| <= size.  Values that weigh less than e^spare together are left out.
    """
    z, log_p, log_q, error, z_error = atoms
    weight = np.logaddexp(log_p + c * z, math.log(1.0 + 2.0 * size) + np.logaddexp(log_p, log_q))
    kept = weight > spare - math.log(z.size)
    z, log_p, log_q = z[kept], log_p[kept], log_q[kept]
    p, q = np.exp(log_p), np.exp(log_q)
    small = np.abs(z) * max(1.0, size) <= 1.0
    reach = np.abs(k)
    factor = k * (k - 1.0)
    total: ComplexArray = np.zeros(k.shape, dtype=np.complex128)
    lost: Array = np.zeros(k.shape)
    if small.any():
        degree, cut = series_degree(1.0)
        sums = power_sums(z[small], q[small], degree)
        square = float(q[small] @ (z[small] ** 2))
        tails = np.add.accumulate(sums[::-1])[::-1]  # of m from i + 2 on
        for tail in tails[::-1].tolist():
            total = total * k + tail
        total *= factor
        relative = math.e * (error + 4.0 * z_error + (degree + small.sum() + 32.0) * UNIT) + cut
        lost += np.abs(factor) * (square * relative)
    if not small.all():
        z, p, q = z[~small], p[~small], q[~small]
        tilted = np.exp(log_p[~small] + c * z)
        total += fourier_sums(z, tilted[None, :], float(k.imag[1]) if k.size > 1 else 0.0, k.size)[0]
        total -= float(q.sum()) + k * float((p - q).sum())
        off = error + 6.0 * FUNCTION + (added_terms(z.size, k.size) + 16.0) * UNIT
        lost += float(tilted.sum() + q.sum()) * off + reach * (
            float((p + q).sum()) * off + float(tilted @ np.abs(z)) * (z_error + 8.0 * UNIT)
        )
    return total, lost


class AtomicSlice:
    """phi(w) = sum of p e^{w z}; no decay is proved, except on a lattice, where the transform is periodic anyway."""

    def __init__(self, loss: FinitelySupported, c: float) -> None:
        self.loss, self.c = loss, c

    def keep(self, rows: list[int]) -> "AtomicSlice":
        return self

    def cumulant_above(self, points: Array) -> Array:
        z, log_p, _, error, z_error = self.loss.atoms
        exponent = points[:, None] * z + log_p
        top = exponent.max(axis=1)
        value = top + np.log(np.exp(exponent - top[:, None]).sum(axis=1))
        size = np.abs(points) * float(np.abs(z).max())
        slack = size * (z_error + 4.0 * UNIT) + error + (z.size + 16.0) * UNIT + 4.0 * UNIT * np.abs(value)
        found: Array = (value + slack)[None, :]
        return found

    def decay(self, cells: Cells) -> Array:
        return np.zeros((1, cells.left.size))

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        """phi = Q(finite) + k (P - Q)(finite) + sum of q (e^{kz} - 1 - k (e^z - 1)), k = 1 + w: accurate however small K is."""
        z, log_p, log_q, error, z_error = self.loss.atoms
        if abs(1.0 + self.c) * float(np.abs(z).max()) > 300.0:
            return self._plain(step * np.arange(nodes))
        k = (1.0 + self.c) + 1j * (step * np.arange(nodes))
        size = np.abs(k)
        if nodes * z.size > _TABLE:
            spare = -60.0 - math.log(nodes)
            total, lost = excess_sums(self.loss.atoms, self.c, k, float(size[-1]), spare)
            lost += math.exp(spare)
        else:
            q, p = np.exp(log_q), np.exp(log_p)
            plain, bent = exp_remainder(z), exp_remainder(k[:, None] * z)
            total = (bent - k[:, None] * plain) @ q
            magnitude = np.abs(bent) @ q + size * float(plain @ q)
            lost = magnitude * (error + (z.size + 24.0) * UNIT + 2.0 * FUNCTION)
            # each value errs by z_error |z|: |k| |e^{kz} - e^z| times that
            lost += size * (float((np.exp((1.0 + self.c) * z + log_q) + p) @ np.abs(z)) * (z_error + 2.0 * UNIT))
        finite = -float(self.loss.infinite_mass_under_q) + k * float(self.loss.infinite_mass_under_q - self.loss.infinite_mass)
        total += finite
        lost += 4.0 * UNIT * np.abs(finite)
        magnitude = np.maximum(np.abs(1.0 + total), 1e-290)
        return log1p_complex(total)[None, :], ((lost + 8.0 * UNIT * np.abs(total)) * (SECOND_ORDER / magnitude))[None, :]

    def _plain(self, u: Array) -> tuple[ComplexArray, Array]:
        """log of the sum of p e^{wz}, scaled by its largest term: for large K."""
        z, log_p, _, error, z_error = self.loss.atoms
        exponent = log_p + self.c * z
        top = float(exponent.max())
        weight = np.exp(exponent - top)
        phi: ComplexArray = np.exp(1j * (u[:, None] * z)) @ weight
        size = float(weight @ (np.abs(log_p) + abs(self.c) * np.abs(z))) + float(weight.sum()) * (abs(top) + z.size + 16.0)
        lost: Array = (abs(self.c) + u) * float(weight @ np.abs(z)) * (z_error + 2.0 * UNIT)
        lost = lost + (2.0 * UNIT * size + float(weight.sum()) * (error + 4.0 * FUNCTION))
        magnitude = np.maximum(np.abs(phi), 1e-290)
        value = 1j * np.angle(phi)
        value += np.log(magnitude) + top
        return value[None, :], (lost * (SECOND_ORDER / magnitude) + 2.0 * UNIT * abs(top))[None, :]
