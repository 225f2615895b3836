"""What an attacker learns from the largest of several noisy sums, one of which the record moves: a lower end for shuffled passes.

docs/mathematics/truncated.md, Lemma 56.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.normal import LOG_ROOT_TWO_PI
from ...numerics.rounding import FUNCTION, LOG_NDTR, UNIT
from ..pairs.binned import BinnedLoss
from ..protocol import ZERO_DELTA, ClosedForm, Masses


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: whatever the slices are, what is seen is the slice of the largest sum."""

    slices_per_noise: float = 24.0
    """Of the largest sum: more tell more, and cost time."""
    ahead: float = 13.0
    """Of the noise, beyond the farther mean: what lies there is one slice, of a probability of 1e-38."""
    behind: float = 60.0
    """-log of the probability of the lowest slice."""
    most: int = 4000
    """Slices: more are wider ones."""


TUNING = Tuning()


class _Slices(NamedTuple):
    z: Array  # increasing
    log_p: Array
    log_q: Array
    error: float  # of the logarithms of masses


@dataclass(frozen=True)
class LargestLoss(BinnedLoss):
    """The largest of `steps` normal variables of standard deviation `noise`, one with the mean `far` in P and `near` in Q, in
    slices; `reversed` exchanges P and Q."""

    steps: int
    noise: float
    noise_error: float
    far: float
    near: float
    reversed: bool = False

    nodes_allowed = 1

    def _log_below(self, c: Array, mean: float) -> tuple[Array, Array]:
        """log P(largest <= c) and a bound of its error."""
        from scipy.special import log_ndtr

        total, error = np.zeros(c.shape), np.zeros(c.shape)
        for shift, count in ((mean, 1), (0.0, self.steps - 1)):
            x = (c - shift) / self.noise
            one = log_ndtr(x)
            slope = np.exp(np.minimum(-0.5 * x * x - LOG_ROOT_TWO_PI - one, 700.0))
            off = (np.abs(x) + shift / self.noise) * (self.noise_error + 4.0 * UNIT) * slope
            total += count * one
            error += count * (off * 1.01 + (LOG_NDTR + 2.0 * UNIT) * np.abs(one))
        return total, error

    def _masses_of(self, c: Array, mean: float) -> tuple[Array, Array]:
        """log masses of the slices up to the first c, between them, and from the last on, and bounds of their errors."""
        below, off = self._log_below(c, mean)
        top, top_off = np.append(below, 0.0), np.append(off, 0.0)
        low, low_off = np.append(-math.inf, below), np.append(0.0, off)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            fall = np.maximum(top - low, 0.0)
            found = top + np.log(-np.expm1(-fall))
            steep = np.where(np.isinf(fall), 0.0, 1.0 / np.expm1(np.minimum(fall, 700.0)))
            error = top_off + (top_off + low_off) * steep
        return found, error * 1.01 + FUNCTION * (8.0 + np.abs(np.maximum(found, -1e6)))

    @cached_property
    def slices(self) -> _Slices:
        """Those that are known well; the others are merged with a neighbour by leaving out the edge between them."""
        low, high = -40.0 * self.noise, max(self.far, self.near) + TUNING.ahead * self.noise
        places = np.linspace(low, high, 4000)
        logs = np.minimum(self._log_below(places, self.far)[0], self._log_below(places, self.near)[0])
        low = float(places[max(int(np.searchsorted(logs, -TUNING.behind)) - 1, 0)])
        count = min(TUNING.most, max(8, math.ceil((high - low) / self.noise * TUNING.slices_per_noise)))
        c = np.linspace(low, high, count)
        p, p_off = self._masses_of(c, self.far)
        q, q_off = self._masses_of(c, self.near)
        error = float(max(p_off.max(), q_off.max()))
        if self.reversed:
            p, q = q, p
        order = np.argsort(p - q, kind="stable")
        return _Slices((p - q)[order], p[order], q[order], error)

    @property
    def ceiling(self) -> float:
        found = self.slices
        return float(found.z[-1]) + 2.0 * found.error + 4.0 * UNIT * abs(float(found.z[-1]))

    def edge_error(self, largest: float) -> float:
        return 2.0 * self.slices.error + 4.0 * UNIT * largest

    def masses(self, edges: Array) -> Masses:
        z, log_p, log_q, error = self.slices
        cell = np.searchsorted(edges, z)  # left < z <= right
        found = []
        for logs in (log_p, log_q):
            total = np.zeros(edges.size + 1)
            np.add.at(total, cell, np.exp(logs))
            with np.errstate(divide="ignore"):
                found.append(np.log(total))
        return Masses(found[0], found[1], error + 8.0 * FUNCTION + UNIT * z.size)

    def closed(self, epsilon: float) -> ClosedForm | None:
        z, log_p, log_q, error = self.slices
        if epsilon >= self.ceiling:
            return ZERO_DELTA
        if abs(epsilon) > 600.0:
            return None
        over = z > epsilon
        p, paid = np.exp(log_p[over]), np.exp(log_q[over] + epsilon)
        delta, size = float((p - paid).sum()), float((p + paid).sum())
        lost = size * (error * 1.01 + 8.0 * FUNCTION + UNIT * z.size)
        lost += float(np.exp(log_p[np.abs(z - epsilon) < 4.0 * error]).sum()) * 8.0 * error
        return ClosedForm(math.log(delta), 1.01 * lost / delta, -float(paid.sum()) / delta) if lost < 1e-3 * delta else None
