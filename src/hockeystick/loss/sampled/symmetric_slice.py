"""Symmetric pairs of sampled Gaussian noise along a vertical line: bounds ahead, proved decay, and the values of K."""

import math
from typing import Any

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray, log1p_complex
from ...numerics.decay import moment_gap, spread_gap, stretched_gap
from ...numerics.normal import LOG_ROOT_TWO_PI
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ...numerics.trapezoid import Cells
from ..pairs.atomic import AtomicSlice, excess_sums
from .symmetric_quadrature import PanelNodes, SymmetricPair

_MOST = 160  # panels
_FINE = 34.0  # -log of the rule's error times the count
_BINS = 64
_FEW = 6
_CUTS = np.array([0.1, 0.5, 2.0, 10.0, 100.0, 1000.0])


class SymmetricPairSlice:
    """Both halves along Re w = c."""

    def __init__(
        self, pair: SymmetricPair, log_middle: float, c: float, ahead: float, reach: float, count: int, level: float
    ) -> None:
        self.pair, self.c, self.middle = pair, c, log_middle
        self.log_count = math.log(count)
        # n K far below 1 wants relative accuracy, not absolute
        faint = max(0.0, -self.log_count - math.log(max(abs(level), 1e-300)))
        self.goal = -(self.log_count + _FINE + math.log(2.0 + abs(c) + reach) + faint) + min(level, 0.0)
        self.far = max(c, ahead)
        self._lay(reach)

    def _lay(self, reach: float) -> None:
        """Panels so short that the rule is good for |u| up to `reach`, so far that nothing is left out."""
        pair, self.reach = self.pair, reach
        end = 6.0
        while end < 1e4 and max(pair.log_tail(self.c, end), pair.log_tail(0.0, end)) > self.goal - 1.0:
            end *= 1.15
        edges = np.linspace(0.0, end, max(4, math.ceil(0.5 * end)) + 1)
        for attempt in range(12):
            self.ellipses = pair.ellipses(edges)
            wide = self.ellipses.log_rule(self.c, reach) > self.goal - math.log(_MOST)
            if not wide.any() or edges.size > _MOST or attempt == 11:
                break
            edges = np.sort(np.concatenate((edges, 0.5 * (edges[:-1] + edges[1:])[wide])))
        self.edges, self.good = edges, not wide.any()
        still = np.append(self.ellipses.log_rule(0.0, 0.0), pair.log_tail(0.0, end))
        self.still = math.exp(min(float(np.logaddexp.reduce(still)), 600.0))
        self.nodes = PanelNodes(pair, self.edges, self.middle)
        self.sums = AtomicSlice(self.nodes, self.c)

    def keep(self, rows: list[int]) -> "SymmetricPairSlice":
        return self

    def _lost(self, c: float, u: float, size: float) -> float:
        """A bound of what the rule and the end lose of phi - 1, |1 + w| at most `size`."""
        pair, end = self.pair, float(self.edges[-1])
        grown = np.logaddexp.reduce(np.append(self.ellipses.log_rule(c, u), pair.log_tail(c, end)))
        return math.exp(min(float(grown), 600.0)) + (1.0 + 2.0 * size) * self.still

    def cumulant_above(self, points: Array) -> Array:
        if not self.good:
            return np.full((1, points.size), math.inf)
        found = self.sums.cumulant_above(points)[0]
        lost = [self._lost(c, 0.0, 1.0 + abs(c)) for c in points.tolist()]
        bound: Array = np.logaddexp(found, np.log(lost)) + 4.0 * FUNCTION
        return bound[None, :]

    def decay(self, cells: Cells) -> Array:
        if not self.good:
            return np.zeros((1, cells.left.size))
        nodes, c = self.nodes, self.c
        z = nodes.z
        log_phi = float(self.sums.cumulant_above(np.array([c]))[0, 0])
        right, left = np.exp(nodes.log_p + c * z - log_phi), np.exp(nodes.log_q - c * z - log_phi)
        still = math.exp(min(self.middle - log_phi, 0.0))
        end = float(self.edges[-1])
        # beyond the end Z^4 <= (4/(e s))^4 e^{sZ}
        far = min(self.pair.log_tail(c + x, end) + 4.0 * math.log(4.0 / (math.e * x)) for x in (1.0, 0.3, 0.1, 0.03, 0.01))
        lost = (self._lost(c, 0.0, 1.0) + math.exp(min(far, 600.0))) * math.exp(-log_phi) + 1e-12
        gap = moment_gap(cells, *self._moments(z, right, left, still, lost))
        smooth = self._smooth_gap(cells.left, right, left, lost, log_phi)
        gap = np.maximum(gap, smooth * (2.0 - smooth))
        gap = np.maximum(gap, spread_gap(cells, *self._binned(log_phi, still)))
        found: Array = np.log1p(-np.minimum(gap, 1.0 - 1e-15)) * (-0.5 * (1.0 - 1e-12))
        return found

    def _moments(self, z: Array, right: Array, left: Array, still: float, lost: float) -> tuple[Array, Array]:
        total = float(right.sum() + left.sum()) + still
        mean = float((right - left) @ z) / total
        ahead, behind = (z - mean) ** 2, (z + mean) ** 2
        variance = (float(right @ ahead + left @ behind) + still * mean * mean) / total
        fourth = (float(right @ ahead**2 + left @ behind**2) + still * mean**4) / total
        size = 3.0 + 2.0 * float(z[-1]) + abs(mean)  # of |Z - mean| on the ellipses
        low = max(0.0, variance * (1.0 - 1e-9) - lost * size**2)
        wide = variance * (1.0 + 1e-9) + lost * size**2
        top = 2.0 * (fourth * (1.0 + 1e-9) + lost * size**4) + 6.0 * wide * wide
        return np.array([low]), np.array([top])

    def _binned(self, log_phi: float, still: float) -> tuple[Array, Array, Array, Array]:
        """The tilted law on short panels of their own: lower bounds of masses, Z at the ends, bounds of the means of Z."""
        pair, c = self.pair, self.c
        old = self.nodes
        weights = np.logaddexp(old.log_p + c * old.z, old.log_q - c * old.z) - log_phi
        heavy = np.nonzero(weights > -self.log_count - 14.0)[0]
        end = 1.02 * float(old.v[heavy[-1]]) if heavy.size else float(self.edges[-1])
        edges = np.linspace(0.0, end, _BINS + 1)
        nodes = PanelNodes(pair, edges, -math.inf, _FEW)
        ends, z = pair.loss(edges), nodes.z
        lost = math.exp(min(float(pair.ellipses(edges).log_rule(c, 0.0, _FEW).max()) - log_phi, 600.0))
        size = 3.0 + 2.0 * float(ends[-1])
        sides = []
        for tilted in (np.exp(nodes.log_q - c * z - log_phi), np.exp(nodes.log_p + c * z - log_phi)):
            mass = tilted.reshape(_BINS, -1).sum(axis=1)
            off = (1e-9 * mass + min(lost, 1e100)) / np.maximum(mass, 1e-150) * size
            mean = (tilted * z).reshape(_BINS, -1).sum(axis=1) / np.maximum(mass, 1e-150)
            sides.append((np.maximum(mass * (1.0 - 1e-9) - lost, 0.0), mean - off, mean + off))
        (mass, low, high), (mass_right, low_right, high_right) = sides
        return (
            np.concatenate((mass[::-1], [still * (1.0 - 1e-9)], mass_right))[None, :],
            np.concatenate((-ends[::-1], ends))[None, :],
            np.concatenate((-high[::-1], [0.0], low_right))[None, :],
            np.concatenate((-low[::-1], [0.0], high_right))[None, :],
        )

    def _smooth_gap(self, u: Array, right: Array, left: Array, lost: float, log_phi: float) -> Array:
        """Integration by parts against a soft cut s/(s + r), s = Z'/m: |f(u)| <= 1 - E[s/(s+r)] + V/u.

        With g one of the two tilted densities, G = g/(m (s + r)) has G' = g psi, psi = ((log g)' - s'/(s + r))/(m (s + r));
        V is the sum of G(0) and the integral of |G'| over both.  On the ellipses Re s >= 0, so |s + r| >= r.
        """
        pair, c, m = self.pair, self.c, self.pair.m
        one, two = pair.shares(self.nodes.v)
        y = self.nodes.v + pair.start
        s, bend = one + two, m * (one * (1.0 - one) - two * (1.0 - two))
        forth = -y + m * ((1.0 + c) * one + c * two)
        back = -y - m * ((1.0 + c) * two + c * one)
        first, second = pair.shares(np.zeros(1))
        at = float((first + second)[0])
        high, low = (float(x[0]) for x in pair.parts(np.zeros(1)))
        edge = math.exp(-0.5 * pair.start**2 - LOG_ROOT_TWO_PI - log_phi)
        edge *= math.exp((1.0 + c) * high - c * low) + math.exp((1.0 + c) * low - c * high)
        size = float(np.abs(y).max()) + 2.0 * m * (2.0 + abs(c)) + 4.0
        best: Array = np.zeros(u.shape)
        for cut in (_CUTS * at).tolist():
            inverse = 1.0 / (s + cut)
            mass = float((right + left) @ (s * inverse)) * (1.0 - 1e-9) - lost
            turned = float(right @ ((forth - bend * inverse) * inverse) ** 2 + left @ ((back - bend * inverse) * inverse) ** 2)
            turned += lost * (2.0 * size / cut) ** 2
            variation = (edge / (at + cut) + math.sqrt(turned * (1.0 + 1e-9) * (1.0 + lost))) / m * (1.0 + 1e-9)
            best = np.maximum(best, stretched_gap(u, max(mass, 0.0), variation))
        return best[None, :]

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        frequency = step * (nodes - 1)
        if frequency > self.reach:
            self._lay(frequency)
        if not self.good:
            return np.zeros((1, nodes), dtype=np.complex128), np.full((1, nodes), math.inf)
        c, u = self.c, step * np.arange(nodes)
        size = math.hypot(1.0 + c, frequency)
        lost = self._lost(c, frequency, size)
        z, log_p, _, _, _ = self.nodes.atoms
        if float((log_p + c * z).max()) > 300.0 or (1.0 + c) * float(z[-1]) > 600.0:
            value, error = self.sums.values(step, nodes)
            return value, error + lost * SECOND_ORDER * np.exp(-np.maximum(value.real, -600.0))
        excess, rounding = excess_sums(self.nodes.atoms, c, (1.0 + c) + 1j * u, size, math.log(lost) - 2.0)
        magnitude = np.maximum(np.abs(1.0 + excess), 1e-290)
        error = (2.0 * lost + rounding + 8.0 * UNIT * np.abs(excess)) * (SECOND_ORDER / magnitude)
        return log1p_complex(excess)[None, :], error[None, :]


def symmetric_pair_slice(
    pair: SymmetricPair, log_middle: float, loss: Any, c: float, ahead: float, count: int
) -> SymmetricPairSlice:
    """A slice so accurate that `count` steps of it lose nothing; it proves nothing where that would take too many nodes."""
    level, _, bend = loss.expand(c)
    reach = 12.0 / math.sqrt(count * bend + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2)  # a dozen widths of the bump
    return SymmetricPairSlice(pair, log_middle, c, ahead, reach, count, level if abs(level) > 1e-300 else 1e-300)
