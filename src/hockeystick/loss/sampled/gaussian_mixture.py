"""Mixtures of normal laws of the same variance, shifted to the right in P and to the left in Q.

docs/mathematics.md: Lemma 24 (replace-one), Lemma 25 (mixtures).

P = p_0 N(0) + sum of p_i N(m_i) and Q = q_0 N(0) + sum of q_j N(-n_j), all moves m_i, n_j > 0 and in units of the noise.
Relative to N(0), log P/N(0) = log(1 + sum of p_i (e^{m_i y - m_i^2/2} - 1)) grows in y and that of Q falls, so Z(y), their
difference, grows: cells of Z are cells of y.

An event of N(0)-mass s has mass at most Phi(Phi^-1(s) + m) under a normal law at distance m, in any dimension, and at least
Phi(Phi^-1(s) - m); half-lines attain all of these together.  So the pair dominates all mixtures of normal laws at these
distances from a common centre (one component against none: Zhu, Dong and Wang 2022, Proposition 30; several: Ganesh 2024).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.normal import log_normal_cells
from ...numerics.rounding import FUNCTION, LOG_NDTR, UNIT, up
from ..pairs.binned import BinnedLoss
from ..protocol import ZERO_DELTA, ClosedForm, Inconclusive, Masses, Slice
from .symmetric_quadrature import SymmetricPair
from .symmetric_slice import symmetric_pair_slice

_FAR = 1e7
_TABLE = np.sinh(np.linspace(-math.asinh(_FAR), math.asinh(_FAR), 1601))
_STEPS = 60
_DUST = 60.0 * math.log(2.0)  # -log of what is next to nothing


class Mixture(NamedTuple):
    """Logarithms of the weights of the moved components, and of the rest, which is N(0).

    `move_error` and `weight_error` bound the relative errors of the moves, and of the weights and the rest.
    """

    log_weights: tuple[float, ...] = ()
    moves: tuple[float, ...] = ()
    log_rest: float = 0.0
    move_error: float = 4.0 * UNIT
    weight_error: float = 4.0 * UNIT

    def _columns(self) -> tuple[Array, Array]:
        return np.array(self.log_weights)[:, None], np.array(self.moves)[:, None]

    def _count(self, last: float) -> int:
        """So many components: the others are next to nothing up to `last`, where N(m) is at most e^{m y - m^2/2} times N(0)."""
        if len(self.moves) == 1:
            return 1
        weights, moves = np.array(self.log_weights), np.array(self.moves)
        grown = weights - self.log_rest + np.maximum(moves * (last - 0.5 * moves), 0.0)
        heavy = np.nonzero(grown >= -_DUST - math.log(len(self.moves)))[0]
        return int(heavy[-1]) + 1 if heavy.size else 1

    def ratio(self, y: Array) -> tuple[Array, Array]:
        """log(mixture / N(0)) at y, and its derivative."""
        if not self.moves or not y.size:
            return np.zeros(y.shape), np.zeros(y.shape)
        count = self._count(float(y.max()))
        weights, moves = (column[:count] for column in self._columns())
        tilt = moves * (y - 0.5 * moves)
        terms = weights + tilt
        high = np.maximum(terms.max(axis=0), self.log_rest)
        scaled = np.exp(terms - high)
        total = scaled.sum(axis=0) + np.exp(self.log_rest - high)
        excess = (np.exp(weights) * np.expm1(np.minimum(tilt, 30.0))).sum(axis=0)
        plain = (excess < -0.5) | (tilt.max(axis=0) > 30.0)
        value = np.where(plain, high + np.log(total), np.log1p(np.maximum(excess, -0.5)))
        return value, (scaled * moves).sum(axis=0) / total

    def exponents(self, left: Array, right: Array) -> tuple[Array, Array]:
        """The largest |e| between left and right, e = log N(m)/N(0) = m y - m^2/2, of a component that counts there; and the
        largest of |e| + m^2/2, by which e may change, relative to a change of m."""
        if not self.moves:
            return np.zeros(left.shape), np.zeros(left.shape)
        weights, moves = self._columns()
        low, high = moves * (left - 0.5 * moves), moves * (right - 0.5 * moves)  # each grows with y, as does the ratio
        counts = weights + high > self.ratio(left)[0] - _DUST - math.log(len(self.moves))
        size = np.maximum(np.abs(low), np.abs(high))
        return np.where(counts, size, 0.0).max(axis=0), np.where(counts, size + 0.5 * moves * moves, 0.0).max(axis=0)

    def cells(self, y: Array) -> tuple[Array, Array]:
        """log masses left of the first y, between them, right of the last, with bounds of their errors.

        Components that are next to nothing up to the last y are left out, but for what lies beyond it.
        """
        from scipy.special import log_ndtr

        found, error = log_normal_cells(y)
        if not self.moves:
            return found, error
        last, listed = float(y[-1]), [found + self.log_rest]
        count = self._count(last)
        for log_weight, move in zip(self.log_weights[:count], self.moves[:count], strict=True):
            masses, off = log_normal_cells(y - move, UNIT, (self.move_error + UNIT) * move)
            listed.append(log_weight + masses)
            error = np.maximum(error, off)
        found = np.logaddexp.reduce(listed, axis=0)
        if count < len(self.moves):
            ahead = np.array(self.moves[count:]) - last
            tails = log_ndtr(ahead)
            found[-1] = np.logaddexp.reduce(np.append(np.array(self.log_weights[count:]) + tails, found[-1]))
            steep = (1.0 + np.abs(ahead)) * ((self.move_error + UNIT) * self.moves[-1] + UNIT * np.abs(ahead))
            error[-1] = max(error[-1], float((LOG_NDTR * (1.0 + np.abs(tails)) + steep).max()))
        more = self.weight_error + math.exp(-_DUST) + (8.0 + len(self.moves)) * FUNCTION
        return found, error + more + 4.0 * UNIT * np.abs(np.maximum(found, -1e6))

    def right_of(self, y: float, sign: float = 1.0) -> tuple[float, float]:
        """The mass right of y, of the mixture moved to the left if sign is -1; and a bound of its relative error."""
        from scipy.special import log_ndtr

        points = np.append(sign * np.array(self.moves), 0.0) - y
        logs = log_ndtr(points)
        masses = np.exp(logs + np.append(self.log_weights, self.log_rest))
        move = max(self.moves, default=0.0) * self.move_error
        size = 1.0 + np.abs(points)
        off = LOG_NDTR * (1.0 + np.abs(logs)) + size * (move + UNIT * size) + 2.0 * FUNCTION * (2.0 + np.abs(logs))
        value = float(masses.sum())
        error = float(masses @ off) / max(value, 1e-300) + self.weight_error + (len(points) + 4.0) * UNIT
        return value, error

    def log_norm(self, k: float) -> float:
        """log of the k-norm of mixture / N(0) under N(0) from above, k > 1 (Minkowski)."""
        logs = [self.log_rest]
        logs += [w + 0.5 * (k - 1.0) * m * m for w, m in zip(self.log_weights, self.moves, strict=True)]
        top = max(logs)
        value = top + math.log(math.fsum(math.exp(x - top) for x in logs))
        return value + 8.0 * FUNCTION * (1.0 + max(map(abs, logs))) + self.weight_error


NORMAL = Mixture()
"""No component moves."""


@dataclass(frozen=True)
class MixtureLoss(BinnedLoss):
    """The loss of P (moved to the right) against Q (moved to the left); exchanged, the two are the reverse order, mirrored."""

    right: Mixture
    left: Mixture = NORMAL
    log_truncated_mass: float = -math.inf
    symmetric: SymmetricPair | None = None  # the same pair, where it is symmetric and has one component: for the contour

    nodes_allowed = 1 << 11

    @property
    def has_slice(self) -> bool:
        return self.symmetric is not None

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        if self.symmetric is None:
            raise Inconclusive
        return symmetric_pair_slice(self.symmetric, -math.inf, self, c, ahead, count)

    @property
    def ceiling(self) -> float:
        if self.right.moves:
            return math.inf
        return up(-self.left.log_rest, 4.0 * FUNCTION * abs(self.left.log_rest))

    @property
    def anchor(self) -> float:
        if self.right.moves and self.left.moves:
            return 0.0
        return self.right.log_rest - self.left.log_rest

    def ratio(self, y: Array) -> tuple[Array, Array]:
        """Z(y) and its derivative."""
        one, first = self.right.ratio(y)
        two, second = self.left.ratio(-y)
        return one - two, first + second

    @cached_property
    def _table(self) -> tuple[Array, Array, Array]:
        """Z at some y, and the sizes of `Mixture.exponents` up to the next."""
        z: Array = np.maximum.accumulate(self.ratio(_TABLE)[0])
        right = self.right.exponents(_TABLE[:-1], _TABLE[1:])
        left = self.left.exponents(-_TABLE[1:], -_TABLE[:-1])
        return z, right[0] + left[0], right[1] + left[1]

    def _exponents(self, largest: float) -> tuple[float, float]:
        """The largest of both sizes, for |Z| up to this."""
        z, size, steep = self._table
        first = max(int(np.searchsorted(z, -largest)) - 1, 0)
        last = int(np.searchsorted(z, largest)) + 1
        return float(size[first:last].max(initial=0.0)), float(steep[first:last].max(initial=0.0))

    def _off(self, largest: float) -> float:
        """A bound of the error of Z(y) as computed, for |Z| up to this size, but for the errors of the parameters."""
        exponent, _ = self._exponents(largest)
        depth = -self.right.log_rest - self.left.log_rest  # neither part of Z is below the logarithm of its rest
        return 4.0 * FUNCTION * (largest + 3.0 * depth) + 4.0 * UNIT * exponent + 2.0 * UNIT

    def edge_error(self, largest: float) -> float:
        _, steep = self._exponents(largest)
        depth = -self.right.log_rest - self.left.log_rest
        moves = max(self.right.move_error, self.left.move_error) * 2.0 * (steep + self._moved)
        weights = max(self.right.weight_error, self.left.weight_error) * (2.0 * largest + 4.0 * depth)
        return 2.0 * self._off(largest) + moves + weights

    @property
    def _moved(self) -> float:
        return max((*self.right.moves[:1], *self.left.moves[:1])) ** 2

    def places(self, z: Array) -> Array:
        """The y at which Z is z, up to `_off`; far out where there is none."""
        table = self._table[0]
        spot = np.clip(np.searchsorted(table, z), 1, table.size - 1)
        low, high = _TABLE[spot - 1].copy(), _TABLE[spot].copy()
        rise = table[spot] - table[spot - 1]
        share = np.clip((z - table[spot - 1]) / np.where(rise > 0.0, rise, 1.0), 0.0, 1.0)
        y = low + (high - low) * np.where(rise > 0.0, share, 0.5)
        within = self._off(float(np.abs(z[np.abs(z) < 1e6]).max(initial=0.0)))
        under, over = z < table[0] - within, z > table[-1] + within
        active = np.nonzero(~(under | over))[0]
        for _ in range(_STEPS):
            value, slope = self.ratio(y[active])
            gap = z[active] - value
            wrong = np.abs(gap) > within
            if not wrong.any():
                break
            active, gap, slope = active[wrong], gap[wrong], slope[wrong]
            here = y[active]
            low[active] = np.where(gap > 0.0, here, low[active])
            high[active] = np.where(gap < 0.0, here, high[active])
            with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
                moved = here + gap / slope
            inside = (moved > low[active]) & (moved < high[active])
            y[active] = np.where(inside, moved, 0.5 * (low[active] + high[active]))
        else:
            raise Inconclusive
        y[under], y[over] = -_FAR, _FAR
        found: Array = np.maximum.accumulate(y)
        return found

    def masses(self, edges: Array) -> Masses:
        y = self.places(edges)
        log_p, p_error = self.right.cells(y)
        log_q, q_error = self.left.cells(-y[::-1])  # mirrored
        return Masses(log_p, log_q[::-1], np.maximum(p_error, q_error[::-1]))

    def closed(self, epsilon: float) -> ClosedForm | None:
        """P(Z > epsilon) - e^epsilon Q(Z > epsilon), half-lines in y; where the threshold is off by a little, little is lost."""
        if epsilon >= self.ceiling:
            return ZERO_DELTA
        if abs(epsilon) > 600.0 or self.log_truncated_mass > -math.inf:
            return None
        try:
            y = float(self.places(np.array([epsilon]))[0])
        except Inconclusive:
            return None
        if abs(y) >= _FAR:
            return None
        p, p_error = self.right.right_of(y)
        q, q_error = self.left.right_of(y, -1.0)
        pay, slip = math.exp(epsilon) * q, self.edge_error(abs(epsilon))
        delta = p - pay
        lost = p * (p_error + slip) + pay * (q_error + slip + 2.0 * FUNCTION)
        if not lost < 1e-6 * delta or pay == 0.0:
            return None
        return ClosedForm(math.log(delta), lost / delta * 1.001 + 4.0 * FUNCTION, -pay / delta)

    def cumulant_bound(self, c: float) -> float:
        """The largest loss; Minkowski's inequality, with Q at least its part at N(0); laws at the greatest distance."""
        apart = max(self.right.moves, default=0.0) + max(self.left.moves, default=0.0)
        plain = 0.5 * c * (c + 1.0) * apart * apart
        norm = (1.0 + c) * self.right.log_norm(1.0 + c) - c * self.left.log_rest
        error = 2.0 * max(self.right.move_error, self.left.move_error) + 16.0 * FUNCTION
        return min(plain, norm * (1.0 + error), c * self.ceiling) * (1.0 + error)
