"""Symmetric pairs of sampled Gaussian noise along the contour: integrals over half the noise, by Gauss's rule on panels.

On v > 0 the pair has the densities p = n e^F and q = n e^G, n the normal density at y = v + start, and Z = F - G grows from
0; for Z < 0 it is mirrored, and what is left of the mass sits at Z = 0 (docs/mathematics.md, Lemma 28).  Two pairs do so:

    replace-one  start 0,    F = f(v), G = f(-v)       a record replaced in a Poisson sample, f = log((1-q) + q e^{m y - m^2/2})
    symmetrised  start m/2,  F = log((1-q) + q e^{m v}), G = 0     the upper half of a removal (see `symmetrised.py`)

so phi(w) is the integral of n e^{(1+w) F - w G} + n e^{(1+w) G - w F}, and the mass at 0.  On an ellipse with foci at the
ends of a panel and imaginary parts up to b (m b <= 1.4) the normal density grows by e^{b^2/2} at most, |e^F| and |e^G| lie
between cos(m b/2) and 1 times their values on the real axis, and their arguments are at most m b.  With M the largest
modulus there and r the sum of the ellipse's semi-axes over half the panel's length l, some polynomial of degree 2n - 1 is
within 2 M r^{1-2n}/(r - 1) on the panel (Trefethen, Approximation theory and approximation practice, Theorem 8.2), and
Gauss's rule of n points integrates it exactly: it errs by at most 8 M l r^{1-2n}/(r - 1).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.mixing import sampled_loss
from ...numerics.normal import LOG_ROOT_TWO_PI, log_tail_bound
from ...numerics.rounding import FUNCTION, UNIT
from ..pairs.atomic import Atoms
from .quadrature import SampledStep

POINTS = 20
_RADII = np.array([1.3, 1.6, 2.0, 2.5, 3.2, 4.5, 6.5, 10.0])
_PARTS = 6
_ANGLE = 1.4


@cache
def _gauss(count: int) -> tuple[Array, Array]:
    from numpy.polynomial.legendre import leggauss

    points, weights = leggauss(count)
    return points, weights


@dataclass(frozen=True)
class SymmetricPair:
    """The pair as functions on v > 0."""

    shape: SampledStep
    replace_one: bool

    @property
    def m(self) -> float:
        return 1.0 / self.shape.noise

    @property
    def start(self) -> float:
        return 0.0 if self.replace_one else 0.5 * self.m

    def parts(self, v: Array) -> tuple[Array, Array]:
        """F and G, also at negative v."""
        m, rate = self.m, self.shape.rate
        if self.replace_one:
            return sampled_loss(m * v - 0.5 * m * m, rate), sampled_loss(-m * v - 0.5 * m * m, rate)
        return sampled_loss(m * v, rate), np.zeros(v.shape)

    def loss(self, v: Array) -> Array:
        """Z at v >= 0, to nearly full relative accuracy."""
        m, rate = self.m, self.shape.rate
        t = np.minimum(m * v, 30.0)
        if self.replace_one:
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
        t = m * v - (0.5 * m * m if self.replace_one else 0.0)
        one = np.exp(np.minimum(t + math.log(rate) - high, 0.0))
        two = np.exp(np.minimum(-m * v - 0.5 * m * m + math.log(rate) - low, 0.0)) if self.replace_one else np.zeros(v.shape)
        return one, two

    def log_tail(self, c: float, v: float) -> float:
        """log of a bound of the integral of both terms beyond v, for real c > -1 (F' <= m; G is between log(1-q) and its
        value at v)."""
        m, y = self.m, v + self.start
        high, low = (float(x[0]) for x in self.parts(np.array([v])))
        floor = math.log1p(-self.shape.rate) if self.replace_one else 0.0

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
        return Ellipses(half, high, self.m * high, f, g, 0.5 * nearest * nearest, self.replace_one)


class Ellipses(NamedTuple):
    """F and G along the real extent of each ellipse, at the ends of short stretches; y^2/2 where it is least on them."""

    half: Array
    high: Array
    turn: Array  # the most that the arguments of e^F and e^G turn
    f: Array
    g: Array
    least: Array
    replace_one: bool

    def log_rule(self, c: float, u: float, points: int = POINTS) -> Array:
        """log of bounds of the error of Gauss's rule for both terms, Re w = c, |Im w| <= u, on each panel."""
        f_left, f_right, g_left, g_right = self.f[..., :-1], self.f[..., 1:], self.g[..., :-1], self.g[..., 1:]
        if c >= 0.0:  # F grows, G falls
            first, second = (1.0 + c) * f_right - c * g_right, (1.0 + c) * g_left - c * f_left
        else:
            first, second = (1.0 + c) * f_right - c * g_left, (1.0 + c) * g_left - c * f_right
        most = (np.maximum(first, second) - self.least).max(axis=-1) + math.log(2.0)
        spin = (2.0 if self.replace_one else 1.0) * u * self.turn
        inner = np.log(np.cos(0.5 * np.minimum(self.turn, _ANGLE)))
        log_m = most + 0.5 * self.high * self.high + spin - 2.0 * max(c, 0.0) * inner
        fall = (2.0 * points - 1.0) * np.log(_RADII) + np.log(_RADII - 1.0)
        bound = log_m + np.log(self.half) - fall + (math.log(8.0) - LOG_ROOT_TWO_PI)
        found: Array = np.where(self.turn <= _ANGLE, bound, math.inf).min(axis=1) + 1e-9
        return found


class PanelNodes:
    """PanelNodes of the whole line as a list of values, for the sums along the contour."""

    infinite_mass = infinite_mass_under_q = Fraction(0)

    def __init__(self, pair: SymmetricPair, edges: Array, log_middle: float, count: int = POINTS) -> None:
        points, weights = _gauss(count)
        half, centre = 0.5 * (edges[1:] - edges[:-1])[:, None], 0.5 * (edges[1:] + edges[:-1])[:, None]
        self.v = v = (centre + half * points).ravel()
        m, y = pair.m, v + pair.start
        base = np.log((half * weights).ravel()) - LOG_ROOT_TWO_PI - 0.5 * y * y
        high, low = pair.parts(v)
        self.z = z = pair.loss(v)
        self.log_p, self.log_q = base + high, base + low
        middle = [log_middle] if log_middle > -math.inf else []
        reach = float(y[-1])
        wobble = pair.shape.noise_error + 4.0 * UNIT
        error = 16.0 * FUNCTION + 6.0 * UNIT * reach * reach + wobble * (2.0 + reach * m + 4.0 * m * float(v[-1]) + 2.0 * m * m)
        z_error = 8.0 * FUNCTION + 2.0 * wobble * (2.0 + 2.0 * m * float(v[-1]) + 2.0 * m * m)
        self.atoms = Atoms(
            np.concatenate((-z[::-1], [0.0] * len(middle), z)),
            np.concatenate((self.log_q[::-1], middle, self.log_p)),
            np.concatenate((self.log_p[::-1], middle, self.log_q)),
            error,
            z_error,
        )
