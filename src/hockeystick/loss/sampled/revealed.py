"""A step that says which of several samples was drawn, or that it drew nothing: a public mixture with a contour of its own.

docs/mathematics/truncated.md, Lemma 54a: phi - 1 is the mean of the components' phi - 1, so that nothing cancels.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ...native import ORDERED
from ...numerics.cancellation_free import Array, ComplexArray, expm1_complex, log1p_complex
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ...numerics.trapezoid import Cells
from ..pairs.ordered import OrderedPairsLoss
from ..pairs.public_mixture import PublicMixtureLoss
from ..protocol import ClosedForm, Inconclusive, Masses, Slice
from .gaussian import SampledGaussianLoss


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    plain: float = 300.0
    """Of K, beyond which phi is written by its logarithm: e^K must stay a double."""
    faint: float = 1e-9
    """A weight of nothing below which it goes to the first loss, which dominates none: its error would count for more."""


TUNING = Tuning()


@dataclass(frozen=True)
class RevealedLoss(PublicMixtureLoss):
    """Loss i with probability weights[i], none with the rest; the weights err by `weight_error`, relative to themselves."""

    weights: tuple[float, ...] = ()

    @staticmethod
    def of(losses: "tuple[Any, ...]", weights: tuple[float, ...], weight_error: float) -> "RevealedLoss":
        """Of losses of one ordered pair each, with positive weights that add up to 1 at most."""
        if (rest := 1.0 - math.fsum(weights)) < TUNING.faint:
            weights = (weights[0] + max(rest, 0.0), *weights[1:])
        logs = tuple(map(math.log, weights))
        error = weight_error + FUNCTION * (1.0 + max(map(abs, logs)))
        truncated = max(loss.log_truncated_mass for loss in losses)
        return RevealedLoss(losses, logs, error, truncated, weights)

    @property
    def nothing(self) -> float:
        """The weight of no loss at all."""
        rest = 1.0 - math.fsum(self.weights)
        return rest if rest >= 0.5 * TUNING.faint else 0.0

    @property
    def has_slice(self) -> bool:
        return all(loss.has_slice for loss in self.losses)

    @property
    def nodes_allowed(self) -> int:
        return int(min(loss.nodes_allowed for loss in self.losses))

    @property
    def infinite_mass(self) -> Fraction:
        return self._mean([loss.infinite_mass for loss in self.losses])

    @property
    def infinite_mass_under_q(self) -> Fraction:
        return self._mean([loss.infinite_mass_under_q for loss in self.losses])

    def _mean(self, masses: list[Fraction]) -> Fraction:
        """From above."""
        if not any(masses):
            return Fraction(0)
        return sum((Fraction(w) * one for w, one in zip(self.weights, masses, strict=True)), Fraction(0)) * (
            1 + Fraction(self.weight_error)
        )

    @property
    def anchor(self) -> float:
        return float(self.losses[0].anchor)

    @property
    def quadratic_limit(self) -> float:
        return float(min(loss.quadratic_limit for loss in self.losses))

    @property
    def coarse_estimates(self) -> tuple[float, float]:
        found = [loss.coarse_estimates for loss in self.losses]
        first, second = (
            math.fsum(w * one for w, one in zip(self.weights, each, strict=True)) for each in zip(*found, strict=True)
        )
        return first, second

    def masses(self, edges: Array) -> Masses:
        found = super().masses(edges)
        if not self.nothing:
            return found
        cell = int(np.searchsorted(edges, 0.0))  # left < 0 <= right
        for logs in (found.log_p, found.log_q):
            logs[cell] = np.logaddexp(logs[cell], math.log(self.nothing))
        error = found.error + np.zeros(edges.size + 1)
        error[cell] += 2.0 * self._slip / self.nothing + 4.0 * FUNCTION
        return found._replace(error=error)

    @property
    def _slip(self) -> float:
        """By how much the weight of nothing may err."""
        return self.weight_error * math.fsum(self.weights) + 4.0 * UNIT

    def closed(self, epsilon: float) -> ClosedForm | None:
        inner = super().closed(epsilon)
        if inner is None or epsilon >= 0.0 or not self.nothing:
            return inner
        flat = -self.nothing * math.expm1(epsilon)  # of equal laws
        value = float(np.logaddexp(inner.value, math.log(flat)))
        share = math.exp(inner.value - value)
        error = inner.error + self._slip / self.nothing + FUNCTION * (8.0 + abs(value) + abs(inner.value) + abs(math.log(flat)))
        return ClosedForm(value, error, share * inner.slope - self.nothing * math.exp(epsilon - value))

    def cumulant_bound(self, c: float) -> float:
        return _above(np.array([[loss.cumulant_bound(c)] for loss in self.losses]), self.weights, self.weight_error).item()

    def expand(self, c: float) -> tuple[float, float, float]:
        jets = [loss.expand(c) for loss in self.losses]
        top = max(0.0, *(k0 for k0, _, _ in jets))
        shares = [w * math.exp(k0 - top) for w, (k0, _, _) in zip(self.weights, jets, strict=True)]
        total = math.fsum(shares) + self.nothing * math.exp(-top)
        if top < 1.0:
            value = math.log1p(math.fsum(w * math.expm1(k0) for w, (k0, _, _) in zip(self.weights, jets, strict=True)))
        else:
            value = top + math.log(total)
        first = math.fsum(s * k1 for s, (_, k1, _) in zip(shares, jets, strict=True)) / total
        second = math.fsum(s * (k2 + k1 * k1) for s, (_, k1, k2) in zip(shares, jets, strict=True)) / total
        return value, first, max(second - first * first, 1e-300)

    def mean(self) -> tuple[float, float]:
        found = [loss.mean() for loss in self.losses]
        value = math.fsum(w * one for w, (one, _) in zip(self.weights, found, strict=True))
        error = math.fsum(w * one for w, (_, one) in zip(self.weights, found, strict=True))
        return value, error * (1.0 + self.weight_error) + value * (self.weight_error + 4.0 * UNIT)

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        if not self.has_slice:
            raise Inconclusive
        return RevealedSlice(tuple(loss.slice(c, ahead, count) for loss in self.losses), self.weights, self.weight_error, c)


def _above(cumulants: Array, weights: tuple[float, ...], weight_error: float) -> Array:
    """Upper bounds of log(1 + sum of w (e^K - 1)) from those of K, a row for each component."""
    column = np.array(weights)[:, None]
    if float(cumulants.max()) < 1.0:
        moved = column * np.expm1(cumulants)
        size = np.abs(moved).sum(axis=0)
        excess = moved.sum(axis=0) + size * (weight_error + 4.0 * FUNCTION)
        found: Array = np.log1p(np.maximum(excess, -1.0 + UNIT))
        found += np.abs(found) * (2.0 * FUNCTION)
        return found
    nothing = max(0.0, 1.0 - math.fsum(weights)) + weight_error + 4.0 * UNIT
    logs = np.vstack((np.log(column) + cumulants, np.full((1, cumulants.shape[1]), math.log(nothing))))
    found = np.logaddexp.reduce(logs, axis=0)
    found += weight_error + FUNCTION * (8.0 + np.abs(found) + np.abs(logs).max(axis=0))
    return found


def revealed_parts(loss: Any) -> tuple[tuple[float, ...], tuple[bool, ...]] | None:
    """What the core needs to know of steps of two sampled Gaussian ones, and of which rows the mixture is P; None for others."""
    rows: tuple[Any, ...] = loss.losses if isinstance(loss, OrderedPairsLoss) else (loss,)
    first, found = rows[0], []
    for row in rows:
        if not isinstance(row, RevealedLoss) or len(row.losses) != 2 or row.weights != first.weights:
            return None
        if not all(isinstance(one, SampledGaussianLoss) for one in row.losses):
            return None
        found.append((row.losses[0].shape, row.losses[1].shape, row.losses[0].removal == row.losses[1].removal))
    if not found[0][2] or len(set(found)) > 1:
        return None
    one, two, _ = found[0]
    removals = tuple(row.losses[0].removal for row in rows)
    if removals not in ORDERED:
        return None
    weights, errors = first.weights, (max(one.noise_error, two.noise_error), first.weight_error)
    return (one.noise, one.rate, weights[0], two.noise, two.rate, weights[1], *errors), removals


@dataclass(frozen=True)
class RevealedSlice:
    """The same along Re w = c; slices of one row each."""

    slices: tuple[Slice, ...]
    weights: tuple[float, ...]
    weight_error: float
    c: float

    def keep(self, rows: list[int]) -> "RevealedSlice":
        return self

    def cumulant_above(self, points: Array) -> Array:
        return _above(np.vstack([one.cumulant_above(points) for one in self.slices]), self.weights, self.weight_error)[None, :]

    def decay(self, cells: Cells) -> Array:
        """|phi(c + iu)| is at most the sum of w phi_i(c) e^{-decay_i(u)} and the weight of nothing."""
        here = np.array([self.c])
        most = float(self.cumulant_above(here)[0, 0])
        gap: Array = np.zeros((1, cells.left.size))
        for one, weight in zip(self.slices, self.weights, strict=True):
            value, error = one.values(0.0, 1)
            share = math.log(weight) + float(value[0, 0].real) - most
            share -= float(error[0, 0]) * SECOND_ORDER + self.weight_error + FUNCTION * (8.0 + abs(most) + abs(share))
            if float(error[0, 0]) < 1e-3:
                gap = gap - math.exp(min(share, 0.0)) * np.expm1(-one.decay(cells))
        found: Array = -np.log1p(-np.minimum(gap, 1.0 - 1e-15)) * (1.0 - 1e-12)
        return np.maximum(found, 0.0)

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        found = [one.values(step, nodes) for one in self.slices]
        top = max(float(value.real.max()) for value, _ in found)
        if top > TUNING.plain:
            return self._by_logarithms(found, top)
        total, lost = np.zeros((1, nodes), dtype=np.complex128), np.zeros((1, nodes))
        for (value, error), weight in zip(found, self.weights, strict=True):
            excess = expm1_complex(value)
            total = total + weight * excess
            size = np.abs(excess)
            lost = lost + weight * ((1.0 + size) * error * SECOND_ORDER + size * (self.weight_error + 4.0 * FUNCTION))
        magnitude = np.maximum(np.abs(1.0 + total), 1e-290)
        return log1p_complex(total), (lost + 16.0 * UNIT * np.abs(total)) * (SECOND_ORDER / magnitude)

    def _by_logarithms(self, found: list[tuple[ComplexArray, Array]], top: float) -> tuple[ComplexArray, Array]:
        nothing = max(0.0, 1.0 - math.fsum(self.weights)) * math.exp(-top)
        phi, lost = np.zeros(found[0][0].shape, dtype=np.complex128) + nothing, np.zeros(found[0][1].shape)
        for (value, error), weight in zip(found, self.weights, strict=True):
            grown = weight * np.exp(value - top)
            phi = phi + grown
            lost = lost + np.abs(grown) * (error * SECOND_ORDER + self.weight_error + FUNCTION * (8.0 + top))
        lost = lost + (self.weight_error + 4.0 * UNIT) * math.exp(-top) + 8.0 * UNIT * np.abs(phi)
        magnitude = np.maximum(np.abs(phi), 1e-290)
        return np.log(magnitude) + top + 1j * np.angle(phi), lost / magnitude * SECOND_ORDER + 4.0 * UNIT * top
