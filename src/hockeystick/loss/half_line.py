"""Symmetric pairs of sampled Gaussian noise along the contour: integrals over half the noise, by Gauss's rule on panels.

On v > 0 the pair has the densities p = n e^F and q = n e^G, n the normal density at y = v + start, and Z = F - G grows from
0; for Z < 0 it is mirrored, and what is left of the mass sits at Z = 0.  Two pairs have this form:

    opposed  start 0,    F = f(v), G = f(-v)       a record replaced in a Poisson sample, f = log((1-q) + q e^{m y - m^2/2})
    folded   start m/2,  F = log((1-q) + q e^{m v}), G = 0     the upper half of a removal (see `folded.py`)

so phi(w) is the integral of n e^{(1+w) F - w G} + n e^{(1+w) G - w F}, and the mass at 0.  On an ellipse with foci at the
ends of a panel and imaginary parts up to b (m b <= 1.4) the normal density grows by e^{b^2/2} at most, |e^F| and |e^G| lie
between cos(m b/2) and 1 times their values on the real axis, and their arguments are at most m b.  With M the largest
modulus there and r the sum of the ellipse's semi-axes over half the panel's length l, some polynomial of degree 2n - 1 is
within 2 M r^{1-2n}/(r - 1) on the panel (Trefethen, Approximation theory and approximation practice, Theorem 8.2), and
Gauss's rule of n points integrates it exactly: it errs by at most 8 M l r^{1-2n}/(r - 1).
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..numerics.cells import Cells
from ..numerics.normal import log_tail_bound
from ..numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ..numerics.series import Array, ComplexArray, log1p_complex, power_sums, series_degree
from ..numerics.transform import moment_gap, spread_gap, stretched_gap
from .amplified import drawn
from .atomic import AtomicSlice, Atoms
from .noise import LOG_ROOT_TWO_PI, Shape

_POINTS = 20
_MOST = 160  # panels
_FINE = 34.0  # -log of the rule's error times the count
_RADII = np.array([1.3, 1.6, 2.0, 2.5, 3.2, 4.5, 6.5, 10.0])
_PARTS = 6
_BINS = 64
_FEW = 6
_ANGLE = 1.4
_CUTS = np.array([0.1, 0.5, 2.0, 10.0, 100.0, 1000.0])


@cache
def _gauss(count: int) -> tuple[Array, Array]:
    from numpy.polynomial.legendre import leggauss

    points, weights = leggauss(count)
    return points, weights


@dataclass(frozen=True)
class HalfLine:
    """The pair as functions on v > 0."""

    shape: Shape
    opposed: bool

    @property
    def m(self) -> float:
        return 1.0 / self.shape.noise

    @property
    def start(self) -> float:
        return 0.0 if self.opposed else 0.5 * self.m

    def parts(self, v: Array) -> tuple[Array, Array]:
        """F and G, also at negative v."""
        m, rate = self.m, self.shape.rate
        if self.opposed:
            return drawn(m * v - 0.5 * m * m, rate), drawn(-m * v - 0.5 * m * m, rate)
        return drawn(m * v, rate), np.zeros(v.shape)

    def loss(self, v: Array) -> Array:
        """Z at v >= 0, to nearly full relative accuracy."""
        m, rate = self.m, self.shape.rate
        t = np.minimum(m * v, 30.0)
        if self.opposed:
            below = 1.0 - rate + rate * np.exp(-t - 0.5 * m * m)
            near = np.log1p((2.0 * rate * math.exp(-0.5 * m * m)) * np.sinh(t) / below)
        else:
            near = np.log1p(rate * np.expm1(t))
        high, low = self.parts(v)
        return np.where(m * v > 30.0, high - low, near)

    def shares(self, v: Array) -> tuple[Array, Array]:
        """F'/m and -G'/m."""
        m, rate = self.m, self.shape.rate
        high, low = self.parts(v)
        t = m * v - (0.5 * m * m if self.opposed else 0.0)
        one = np.exp(np.minimum(t + math.log(rate) - high, 0.0))
        two = np.exp(np.minimum(-m * v - 0.5 * m * m + math.log(rate) - low, 0.0)) if self.opposed else np.zeros(v.shape)
        return one, two

    def log_tail(self, c: float, v: float) -> float:
        """log of a bound of the integral of both terms beyond v, for real c > -1 (F' <= m; G is between log(1-q) and its
        value at v)."""
        m, y = self.m, v + self.start
        high, low = (float(x[0]) for x in self.parts(np.array([v])))
        floor = math.log1p(-self.shape.rate) if self.opposed else 0.0

        def grown(k: float) -> float:
            """Of e^{kF}."""
            return k * (high - m * y) + 0.5 * k * k * m * m + log_tail_bound(y - k * m)

        if c >= 0.0:
            first, second = grown(1.0 + c) - c * floor, (1.0 + c) * low - c * high + log_tail_bound(y)
        else:
            first, second = grown(1.0 + c) - c * low, (1.0 + c) * low + grown(-c)
        top = max(first, second)
        return top + math.log(2.0) + 8.0 * FUNCTION * (1.0 + abs(top) + (1.0 + abs(c)) ** 2 * m * m)

    def ellipses(self, edges: Array) -> "Ellipses":
        """Ellipses of several sizes around the panels between these edges."""
        half = 0.5 * (edges[1:] - edges[:-1])[:, None]
        middle = 0.5 * (edges[1:] + edges[:-1])[:, None]
        long, high = half * (_RADII + 1.0 / _RADII) * 0.5, half * (_RADII - 1.0 / _RADII) * 0.5
        place = middle[..., None] + long[..., None] * np.linspace(-1.0, 1.0, _PARTS + 1)
        f, g = self.parts(place)
        y = place + self.start
        left, right = y[..., :-1], y[..., 1:]
        nearest = np.where((left < 0.0) & (right > 0.0), 0.0, np.minimum(np.abs(left), np.abs(right)))
        return Ellipses(half, high, self.m * high, f, g, 0.5 * nearest * nearest, self.opposed)


class Ellipses(NamedTuple):
    """F and G along the real extent of each ellipse, at the ends of short stretches; y^2/2 where it is least on them."""

    half: Array
    high: Array
    turn: Array  # the most that the arguments of e^F and e^G turn
    f: Array
    g: Array
    least: Array
    opposed: bool

    def log_rule(self, c: float, u: float, points: int = _POINTS) -> Array:
        """log of bounds of the error of Gauss's rule for both terms, Re w = c, |Im w| <= u, on each panel."""
        f_left, f_right, g_left, g_right = self.f[..., :-1], self.f[..., 1:], self.g[..., :-1], self.g[..., 1:]
        if c >= 0.0:  # F grows, G falls
            first, second = (1.0 + c) * f_right - c * g_right, (1.0 + c) * g_left - c * f_left
        else:
            first, second = (1.0 + c) * f_right - c * g_left, (1.0 + c) * g_left - c * f_right
        most = (np.maximum(first, second) - self.least).max(axis=-1) + math.log(2.0)
        spin = (2.0 if self.opposed else 1.0) * u * self.turn
        inner = np.log(np.cos(0.5 * np.minimum(self.turn, _ANGLE)))
        log_m = most + 0.5 * self.high * self.high + spin - 2.0 * max(c, 0.0) * inner
        fall = (2.0 * points - 1.0) * np.log(_RADII) + np.log(_RADII - 1.0)
        bound = log_m + np.log(self.half) - fall + (math.log(8.0) - LOG_ROOT_TWO_PI)
        found: Array = np.where(self.turn <= _ANGLE, bound, math.inf).min(axis=1) + 1e-9
        return found


class _Nodes:
    """Nodes of the whole line as a list of values, for the sums along the contour."""

    infinite = lone = 0.0

    def __init__(self, line: HalfLine, edges: Array, log_middle: float, count: int = _POINTS) -> None:
        points, weights = _gauss(count)
        half, centre = 0.5 * (edges[1:] - edges[:-1])[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
        self.v = v = (centre + half * points).ravel()
        m, y = line.m, v + line.start
        base = np.log((half * weights).ravel()) - LOG_ROOT_TWO_PI - 0.5 * y * y
        high, low = line.parts(v)
        self.z = z = line.loss(v)
        self.log_p, self.log_q = base + high, base + low
        middle = [log_middle] if log_middle > -math.inf else []
        reach = float(y[-1])
        wobble = line.shape.noise_error + 4.0 * UNIT
        error = 16.0 * FUNCTION + 6.0 * UNIT * reach * reach + wobble * (2.0 + reach * m + 4.0 * m * float(v[-1]) + 2.0 * m * m)
        z_error = 8.0 * FUNCTION + 2.0 * wobble * (2.0 + 2.0 * m * float(v[-1]) + 2.0 * m * m)
        self.atoms = Atoms(
            np.concatenate((-z[::-1], [0.0] * len(middle), z)),
            np.concatenate((self.log_q[::-1], middle, self.log_p)),
            np.concatenate((self.log_p[::-1], middle, self.log_q)),
            error,
            z_error,
        )


class HalfLineSlice:
    """Both halves along Re w = c."""

    def __init__(self, line: HalfLine, log_middle: float, c: float, ahead: float, reach: float, count: int, level: float) -> None:
        self.line, self.c, self.middle = line, c, log_middle
        self.log_count = math.log(count)
        # n K far below 1 wants relative accuracy, not absolute
        faint = max(0.0, -self.log_count - math.log(max(abs(level), 1e-300)))
        self.goal = -(self.log_count + _FINE + math.log(2.0 + abs(c) + reach) + faint) + min(level, 0.0)
        self.far = max(c, ahead)
        self._lay(reach)

    def _lay(self, reach: float) -> None:
        """Panels so short that the rule is good for |u| up to `reach`, so far that nothing is left out."""
        line, self.reach = self.line, reach
        end = 6.0
        while end < 1e4 and max(line.log_tail(self.c, end), line.log_tail(0.0, end)) > self.goal - 1.0:
            end *= 1.15
        edges = np.linspace(0.0, end, max(4, math.ceil(0.5 * end)) + 1)
        for attempt in range(12):
            self.ellipses = line.ellipses(edges)
            wide = self.ellipses.log_rule(self.c, reach) > self.goal - math.log(_MOST)
            if not wide.any() or edges.size > _MOST or attempt == 11:
                break
            edges = np.sort(np.concatenate((edges, 0.5 * (edges[:-1] + edges[1:])[wide])))
        self.edges, self.good = edges, not wide.any()
        still = np.append(self.ellipses.log_rule(0.0, 0.0), line.log_tail(0.0, end))
        self.still = math.exp(min(float(np.logaddexp.reduce(still)), 600.0))
        self.nodes = _Nodes(line, self.edges, self.middle)
        self.sums = AtomicSlice(self.nodes, self.c)  # type: ignore[arg-type]

    def keep(self, rows: list[int]) -> "HalfLineSlice":
        return self

    def _lost(self, c: float, u: float, size: float) -> float:
        """A bound of what the rule and the end lose of phi - 1, |1 + w| at most `size`."""
        line, end = self.line, float(self.edges[-1])
        grown = np.logaddexp.reduce(np.append(self.ellipses.log_rule(c, u), line.log_tail(c, end)))
        return math.exp(min(float(grown), 600.0)) + (1.0 + 2.0 * size) * self.still

    def above(self, points: Array) -> Array:
        if not self.good:
            return np.full((1, points.size), math.inf)
        found = self.sums.above(points)[0]
        lost = [self._lost(c, 0.0, 1.0 + abs(c)) for c in points.tolist()]
        bound: Array = np.logaddexp(found, np.log(lost)) + 4.0 * FUNCTION
        return bound[None, :]

    def decay(self, cells: Cells) -> Array:
        if not self.good:
            return np.zeros((1, cells.left.size))
        nodes, c = self.nodes, self.c
        z = nodes.z
        log_phi = float(self.sums.above(np.array([c]))[0, 0])
        right, left = np.exp(nodes.log_p + c * z - log_phi), np.exp(nodes.log_q - c * z - log_phi)
        still = math.exp(min(self.middle - log_phi, 0.0))
        end = float(self.edges[-1])
        # beyond the end Z^4 <= (4/(e s))^4 e^{sZ}
        far = min(self.line.log_tail(c + x, end) + 4.0 * math.log(4.0 / (math.e * x)) for x in (1.0, 0.3, 0.1, 0.03, 0.01))
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
        line, c = self.line, self.c
        old = self.nodes
        weights = np.logaddexp(old.log_p + c * old.z, old.log_q - c * old.z) - log_phi
        heavy = np.nonzero(weights > -self.log_count - 14.0)[0]
        end = 1.02 * float(old.v[heavy[-1]]) if heavy.size else float(self.edges[-1])
        edges = np.linspace(0.0, end, _BINS + 1)
        nodes = _Nodes(line, edges, -math.inf, _FEW)
        ends, z = line.loss(edges), nodes.z
        lost = math.exp(min(float(line.ellipses(edges).log_rule(c, 0.0, _FEW).max()) - log_phi, 600.0))
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
        line, c, m = self.line, self.c, self.line.m
        one, two = line.shares(self.nodes.v)
        y = self.nodes.v + line.start
        s, bend = one + two, m * (one * (1.0 - one) - two * (1.0 - two))
        forth = -y + m * ((1.0 + c) * one + c * two)
        back = -y - m * ((1.0 + c) * two + c * one)
        first, second = line.shares(np.zeros(1))
        at = float((first + second)[0])
        high, low = (float(x[0]) for x in line.parts(np.zeros(1)))
        edge = math.exp(-0.5 * line.start**2 - LOG_ROOT_TWO_PI - log_phi)
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
        excess, rounding = self._excess((1.0 + c) + 1j * u, size, math.log(lost) - 2.0)
        magnitude = np.maximum(np.abs(1.0 + excess), 1e-290)
        error = (2.0 * lost + rounding + 8.0 * UNIT * np.abs(excess)) * (SECOND_ORDER / magnitude)
        return log1p_complex(excess)[None, :], error[None, :]

    def _excess(self, k: ComplexArray, size: float, spare: float) -> tuple[ComplexArray, Array]:
        """phi - 1 = sum of q (e^{kz} - 1 - k (e^z - 1)) over the nodes, as a series where |kz| <= 1; |k| is at most `size`.

        Nodes that weigh less than e^spare together are left out.
        """
        z, log_p, log_q, error, z_error = self.nodes.atoms
        weight = np.logaddexp(log_p + self.c * z, math.log(1.0 + 2.0 * size) + np.logaddexp(log_p, log_q))
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
            tilted = np.exp(log_p[~small] + self.c * z)
            total += _transform(z, tilted, float(k.imag[1]) if k.size > 1 else 0.0, k.size)
            total -= float(q.sum()) + k * float((p - q).sum())
            off = error + 6.0 * FUNCTION + (z.size + 16.0) * UNIT
            lost += float(tilted.sum() + q.sum()) * off + reach * (
                float((p + q).sum()) * off + float(tilted @ np.abs(z)) * (z_error + 8.0 * UNIT)
            )
        return total, lost


def _transform(z: Array, weights: Array, step: float, nodes: int) -> ComplexArray:
    """Sums of weights e^{iuz} at u = 0, step, 2 step, ...: with u = (a n + b) step a product of two small tables."""
    inner = max(1, math.isqrt(nodes))
    outer = -(-nodes // inner)
    fine = np.exp(1j * (step * np.arange(inner)[:, None] * z))
    coarse = np.exp(1j * (step * inner * np.arange(outer)[:, None] * z)) * weights
    found: ComplexArray = (coarse @ fine.T).ravel()[:nodes]
    return found


def half_line_slice(line: HalfLine, log_middle: float, loss: Any, c: float, ahead: float, count: int) -> HalfLineSlice:
    """A slice so accurate that `count` steps of it lose nothing; it proves nothing where that would take too many nodes."""
    level, _, bend = loss.expand(c)
    reach = 12.0 / math.sqrt(count * bend + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2)  # a dozen widths of the bump
    return HalfLineSlice(line, log_middle, c, ahead, reach, count, level if abs(level) > 1e-300 else 1e-300)
