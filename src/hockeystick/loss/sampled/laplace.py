"""Poisson-sampled Laplace noise along a contour.

With z the loss of the noise itself under Q (atoms 1/2 at -a and e^-a/2 at a, the density e^{-(z+a)/2}/4 between them),
x = q (e^z - 1), L = log(1 + x) and M(k) = E e^{kL}, phi(w) is M(1 + w) in a removal and M(-w) in an addition, as for Gaussian
noise (`gaussian.py`).  The density is integrated by Gauss's rule on panels: analytic for |Im z| < pi, and on Bernstein's ellipse
around a panel bounded as in docs/mathematics.md, section 3a; so M is that of a list of atoms, but for the error of the rule.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray
from ...numerics.decay import spread_gap, stretched_gap
from ...numerics.rounding import FUNCTION, UNIT
from ...numerics.trapezoid import Cells
from ..pairs.atomic import AtomicSlice, Atoms
from ..pairs.laplace import LaplaceLoss
from ..protocol import Inconclusive, Slice
from .binned import SampledLoss

_ORDER = 20  # nodes of a panel
_PLACES, _WEIGHTS = np.polynomial.legendre.leggauss(_ORDER)
_RADII = np.array([1.5, 2.0, 3.0, 4.5, 7.0])[:, None]  # of the ellipses
_GAUSS = 1500.0 * UNIT  # relative, of the weights as NumPy has them: more than twice what a test finds
_MOST = 64  # panels
_FINE = 36.0  # -log of the rule's error times the count
_BINS = 96


class Panels:
    """The law of z in a list: its two atoms and the nodes of Gauss's rule."""

    infinite_mass = infinite_mass_under_q = Fraction(0)

    def __init__(self, a: float, rate: float, removal: bool, panels: int) -> None:
        self.a, self.rate, self.removal = a, rate, removal
        self.edges = np.linspace(-a, a, panels + 1)
        half = 0.5 * (self.edges[1] - self.edges[0])
        inner = (0.5 * (self.edges[:-1] + self.edges[1:])[:, None] + half * _PLACES).ravel()
        self.half, self.z = float(half), np.concatenate(([-a], inner, [a]))
        log_density = np.tile(np.log(half * _WEIGHTS), panels) - 0.5 * (inner + a) - math.log(4.0)
        self.log_q = np.concatenate(([-math.log(2.0)], log_density, [-a - math.log(2.0)]))
        self.ratio = np.log1p(rate * np.expm1(self.z))

    @cached_property
    def atoms(self) -> Atoms:
        mixed = self.log_q + self.ratio
        error = _GAUSS + 8.0 * FUNCTION + 8.0 * UNIT * (1.0 + self.a)
        # z errs by a few units of a, and dL/dz = q e^z/(1 + x)
        moved = self.rate * np.exp(self.z - self.ratio) * (self.a / np.abs(self.ratio))
        off = 8.0 * FUNCTION + 8.0 * UNIT * (1.0 + float(moved.max()))
        if self.removal:
            return Atoms(self.ratio, mixed, self.log_q, error, off)
        return Atoms(-self.ratio[::-1], self.log_q[::-1], mixed[::-1], error, off)

    def log_rule(self, k: float, reach: float) -> float:
        """log of a bound of the error of the rule for e^{kL}, |Im k| <= reach: 8 M l r^{1-2n}/(r - 1) on a panel of length 2l."""
        wide, tall = 0.5 * self.half * (_RADII + 1.0 / _RADII), 0.5 * self.half * (_RADII - 1.0 / _RADII)
        middle = 0.5 * (self.edges[:-1] + self.edges[1:])
        left, right = middle - wide, middle + wide
        ends = [np.log1p(self.rate * np.expm1(np.minimum(end, 600.0))) for end in (left, right)]
        share = 1.0 - (1.0 - self.rate) * np.exp(-ends[1])  # of the sampled part, largest at the right end
        turn = np.minimum(tall, 1.5)
        arg = np.arctan2(share * np.sin(turn), 1.0 - share * (1.0 - np.cos(turn)))
        height = (k * ends[1] if k > 0.0 else k * (ends[0] + np.log(np.cos(0.5 * turn)))) - 0.5 * (left + self.a) + reach * arg
        height = np.where(tall < 1.5, height, math.inf)
        logs = height + math.log(2.0 * self.half) - (2.0 * _ORDER - 1.0) * np.log(_RADII) - np.log(_RADII - 1.0)
        return float(np.logaddexp.reduce(logs.min(axis=0))) + 1e-9


class SampledLaplaceSlice:
    """M along Re w = c."""

    def __init__(self, loss: "SampledLaplaceLoss", c: float, ahead: float, count: int) -> None:
        self.loss, self.c, self.count = loss, c, count
        self.k = 1.0 + c if loss.removal else -c
        self._lay(0.0, max(abs(self.k), 1.0 + ahead if loss.removal else 1.0))

    def _lay(self, reach: float, size: float) -> None:
        """Panels on which the rule is good for imaginary parts up to `reach`."""
        panels = max(1, math.ceil(self.loss.base.a))
        log_count = math.log(self.count)
        # n K far below 1 wants relative accuracy, not absolute
        faint = max(0.0, -log_count - math.log(max(abs(self.loss.expand(self.c)[0]), 1e-300)))
        goal = -_FINE - log_count - math.log(2.0 + size + reach) - faint
        while True:
            self.nodes = Panels(self.loss.base.a, self.loss.rate, self.loss.removal, panels)
            if max(self.nodes.log_rule(self.k, reach), self.nodes.log_rule(1.0, 0.0)) < goal:
                break
            panels *= 2
            if panels > _MOST:
                raise Inconclusive
        self.sums = AtomicSlice(self.nodes, self.c)

    def keep(self, rows: list[int]) -> "SampledLaplaceSlice":
        return self

    def _lost(self, k: float, reach: float) -> float:
        """A bound of the error of the rule for e^{kL} - 1 - k x."""
        still = math.exp(max(self.nodes.log_rule(0.0, 0.0), self.nodes.log_rule(1.0, 0.0)))
        return math.exp(min(self.nodes.log_rule(k, reach), 600.0)) + (1.0 + 2.0 * (abs(k) + reach)) * still

    def cumulant_above(self, points: Array) -> Array:
        found = self.sums.cumulant_above(points)[0]
        lost = [self._lost(1.0 + point if self.loss.removal else -point, 0.0) for point in points.tolist()]
        bound: Array = np.logaddexp(found, np.log(lost)) + 4.0 * FUNCTION
        return bound[None, :]

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        reach = step * (nodes - 1)
        self._lay(reach, abs(self.k))
        value, error = self.sums.values(step, nodes)
        return value, error + self._lost(self.k, reach) * np.exp(-value.real) * (1.0 + 1e-6)

    def decay(self, cells: Cells) -> Array:
        """By the spread of the tilted law; far out, since the transform of a density that falls and then rises is below V/u."""
        loss, k = self.loss, self.k
        a, rate = loss.base.a, loss.rate
        log_phi = float(self.cumulant_above(np.array([self.c]))[0, 0])
        z = np.linspace(-a, a, _BINS + 1)
        ratio = np.log1p(rate * np.expm1(z))
        least = k * (ratio[:-1] if k > 0.0 else ratio[1:])
        inner = np.log(-np.expm1(0.5 * (z[:-1] - z[1:]))) - math.log(2.0) - 0.5 * (z[:-1] + a) + least
        ends = np.array([-math.log(2.0) + k * ratio[0], -a - math.log(2.0) + k * ratio[-1]]) - log_phi
        masses = np.exp(np.concatenate((ends[:1], inner - log_phi, ends[1:]))) * (1.0 - 1e-9)
        edges = np.concatenate((ratio[:1], ratio, ratio[-1:]))
        gap = spread_gap(cells, masses[None, :], edges[None, :], edges[None, :-1], edges[None, 1:])[0] * (1.0 - 1e-9)
        near = 1.0 - np.sqrt(np.maximum(1.0 - gap, 0.0))
        # the density of L is that of z over L' = q e^z/(1 + x)
        steep = np.array([ratio[0] + a, ratio[-1] - a]) - math.log(rate)
        peaks = np.exp(np.array([0.0, -a]) - math.log(4.0) + k * ratio[[0, -1]] - log_phi + steep)
        rest = max(0.0, float(masses[1:-1].sum()))
        far = stretched_gap(cells.left, rest, 2.0 * float(peaks.sum()) * (1.0 + 1e-9))
        best = np.minimum(np.maximum(near, far), 1.0 - 1e-15) * (1.0 - 1e-9)
        found: Array = -np.log1p(-best)
        return found[None, :]


@dataclass(frozen=True)
class SampledLaplaceLoss(SampledLoss):
    """A sampled step of Laplace noise; the lattice answers for a few of them, the contour for many."""

    base: LaplaceLoss
    has_slice = True
    nodes_allowed = 1 << 12

    def expand(self, c: float) -> tuple[float, float, float]:
        k = 1.0 + c if self.removal else -c
        if not abs(k) * self._list.ratio[-1] < 600.0:
            return super().expand(c)
        ratio, weight = self._list.ratio, np.exp(self._list.log_q)
        grown = weight * np.exp(k * ratio)
        excess = float(grown.sum() - weight.sum()) - k * float(weight @ np.expm1(ratio))
        first, second = float(grown @ ratio) - float(weight @ np.expm1(ratio)), float(grown @ (ratio * ratio))
        total = max(1.0 + excess, 1e-300)
        lean = first / total
        return math.log(total), lean if self.removal else -lean, max(second / total - lean * lean, 1e-300)

    @cached_property
    def _list(self) -> Panels:
        return Panels(self.base.a, self.rate, self.removal, max(1, min(math.ceil(self.base.a), _MOST)))

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        if self.base.a > 0.5 * _MOST:
            raise Inconclusive
        return SampledLaplaceSlice(self, c, ahead, count)
