"""Sums of many different two-point variables: the law smoothed by a little Gaussian noise, and integrated along a line.

Let X be N(v/2, v), independent, so that E e^-X = 1.  (1 - e^x y)+ is convex in y, so the hockey stick of Z + X, h(x) =
E(1 - e^(x - Z - X))+, is at least that of Z, and with mu^2 = v it exceeds it by E D(x - Z), where D is that of X less that of 0:

    D(e) = phi(t) (m(t) - m(t + mu)) <= mu (1 + mu) phi(t),    t = e / mu - mu / 2,   mu <= 0.3,

with m the Mills ratio, whose slope is at least -1 above 0 and at least -1 - 1.3 mu from -mu/2 on.  So the excess is at most
(1 + mu) v times the density of Z + N(0, v) at x - v/2.  Along the line w = c + i u, with K the cumulant generating function of Z,

    h(x) = 1/(2 pi) integral of e^(K(w) + v w (w + 1) / 2 - w x) / (w (w + 1)) du.

The trapezoidal rule of step h' gives the sum over m of e^(2 pi m c / h') h(x + 2 pi m / h') (Poisson summation), all of it
positive: an upper bound.  Beyond the last node the Gaussian factor bounds what is left.  docs/mathematics.md, section 12.
"""

import math
from dataclasses import dataclass

import numpy as np

from .cancellation_free import Array
from .rounding import FUNCTION, UNIT, exp_up, up
from .two_point_sums import TwoPointSum

GOAL = 1e-6
"""The width of log h that is asked for."""


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: it decides where the nodes lie and how many there are."""

    max_nodes: int = 1 << 20
    log_tail: float = 24.0
    """-log of the relative size that the aliasing error may have."""
    log_vanished: float = -55.0
    """log of a modulus of the transform from which on nodes are bounded together and not evaluated."""
    max_block: int = 1 << 16
    """Sines of so many products of a size and a node at once."""
    points_ahead: tuple[float, ...] = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)
    """Right of c, over the width of the saddle point: of the real points that bound the aliases there the best one counts."""
    last_deviation: float = 7.5
    """Where the Gaussian factor ends the line: e^-28 there."""


TUNING = Tuning()


def smoothed_sum(terms: TwoPointSum, c: float, x: float, log_level: float) -> "SmoothedSum":
    """The law with so little noise that both ends are within the goal at x, or with as many nodes as are allowed."""
    variance = 0.7 * GOAL / (c * (1.0 + c))
    best = SmoothedSum(terms, c, x, log_level, variance)
    for _ in range(4):
        low, high, _ = best.hockey_stick(x)
        width = high - low
        if width <= 0.9 * GOAL or best.nodes >= TUNING.max_nodes:
            break
        variance *= min(max((0.4 * GOAL / width) ** 2, 1e-4), 0.25)
        best = SmoothedSum(terms, c, x, log_level, variance)
    return best


class SmoothedSum:
    """The transform of Z at the nodes of one line, over its value at u = 0."""

    tolerance = 1e-11

    def __init__(self, terms: TwoPointSum, c: float, x: float, log_level: float, variance: float) -> None:
        self.terms, self.c = terms, c
        self.step = 2.0 * math.pi / self._period(x, log_level)
        self.variance = max(variance, (TUNING.last_deviation / (self.step * (TUNING.max_nodes - 1))) ** 2)
        self.nodes = min(math.ceil(TUNING.last_deviation / (self.step * math.sqrt(self.variance))) + 1, TUNING.max_nodes)
        self.value, self.error = terms.cumulant(c)
        self.u, self.log_size, self.angle, self.truncated = self._evaluate()

    def _period(self, x: float, log_level: float) -> float:
        """A period so long that the aliases are far in the tails on both sides (nothing of it is part of a proof)."""
        value, c = self.terms.cumulant(self.c)[0], self.c
        left = (TUNING.log_tail - log_level) / c
        width = 1.0 / math.sqrt(self.terms.second_derivative(c) + 1.0 / (c * c))
        right = min(
            (self.terms.cumulant(c + more)[0] - log_level - (c + more) * x + TUNING.log_tail) / more
            for more in self._points_ahead(width)
        )
        bump = 4.0 * math.sqrt(2.0 * TUNING.log_tail * self.terms.second_derivative(c))
        return max(left, right, bump) if math.isfinite(value) else left

    def _points_ahead(self, width: float) -> list[float]:
        return [factor * width for factor in TUNING.points_ahead]

    def _evaluate(self) -> tuple[Array, Array, Array, float]:
        """The nodes that matter, the logarithm of the size and the angle of the transform there; and a bound of the others' sum.

        One variable contributes 1 - tau + tau e^(-2 i size u) and the angle size * u, where tau < 1/2 is its chance of -size
        under the tilt: log of its size is log(1 - 4 tau (1 - tau) sin^2(size u)) / 2.
        """
        size, count = self.terms.sizes, self.terms.counts
        tau = 1.0 / (1.0 + np.exp(np.minimum((2.0 * self.c + 1.0) * size, 700.0)))
        order = np.argsort(-count * tau * (1.0 - tau))
        size, count, tau = size[order], count[order], tau[order]
        kept: list[tuple[Array, Array, Array]] = []
        truncated, start, width = 0.0, 0, 256
        while start < self.nodes:
            u = self.step * np.arange(start, min(start + width, self.nodes))
            log_size, angle = np.zeros(u.size), np.zeros(u.size)
            at, vanished = 0, False
            while at < size.size and not vanished:
                part = slice(at, at + max(8, TUNING.max_block // u.size))
                sine, cosine = np.sin(np.outer(size[part], u)), np.cos(np.outer(size[part], u))
                t = tau[part, None]
                square = sine * sine
                log_size += 0.5 * (count[part] @ np.log1p(-4.0 * t * (1.0 - t) * square))
                angle -= count[part] @ np.arctan2(2.0 * t * sine * cosine, 1.0 - 2.0 * t * square)
                at = part.stop
                vanished = bool(log_size.max() < TUNING.log_vanished)
            if vanished:
                truncated += math.exp(float(log_size.max())) * u.size / float(u[0] * u[0] + self.c * self.c)
            else:
                kept.append((u, log_size, angle))
            start, width = start + u.size, min(2 * width, 1 << 14)
        u, log_size, angle = (np.concatenate([one[k] for one in kept]) for k in range(3))
        return u, log_size, angle, truncated

    def _line(self, x: float, shift: float) -> tuple[Array, Array]:
        """Sizes and angles of e^(K(w) + v w (w + shift) / 2 - w x), over e^(K(c) + v c (c + shift) / 2 - c x)."""
        v, c, u = self.variance, self.c, self.u
        sizes = np.exp(self.log_size - 0.5 * v * u * u)
        return sizes, self.angle + u * (self.terms.total - x + 0.5 * v * (2.0 * c + shift))

    def _rounding(self) -> float:
        """A bound of the rounding errors of the sums over nodes with the weight 1/(u^2 + c^2), times h / pi.

        Angles err by a few UNIT of u times all sizes, sizes by at most 1/e of that of their logarithm.
        """
        u, c = self.u, self.c
        reach = self.terms.total + abs(self.variance * (2.0 * c + 1.0))
        each = (64.0 * u * reach + 64.0) * UNIT
        return float(np.sum(each / (u * u + c * c))) * self.step / math.pi

    def hockey_stick(self, x: float) -> tuple[float, float, float]:
        """Both ends of log h(x), and the derivative of the logarithm."""
        v, c, u, h = self.variance, self.c, self.u, self.step
        sizes, angles = self._line(x, 1.0)
        w = c + 1j * u
        weights = np.full(u.size, h / math.pi)
        weights[0] *= 0.5
        terms = sizes * np.exp(1j * angles) / (w * (w + 1.0)) * weights
        total = float(np.sum(terms.real))
        slope = -float(np.sum((terms * w).real))
        reach = h * self.nodes
        deep = math.exp(-0.5 * v * (reach - h) ** 2)
        lost = (deep / (v * (reach - h) ** 3) + self.truncated * h) / math.pi * (1.0 + 1e-6) + self._rounding()
        lost += 64.0 * UNIT * float(np.sum(np.abs(terms)))
        base = self.value + 0.5 * v * c * (c + 1.0) - c * x
        slack = self.error + 8.0 * UNIT * (self.value + c * (abs(x) + v * (c + 1.0))) + 4.0 * FUNCTION
        high = math.log(total + lost) + base + slack if total + lost > 0.0 else -math.inf
        rest = total - lost - self._aliasing_error(x, base) - self._smoothing_error(x)
        low = math.log(rest) + base - slack if rest > 0.0 else -math.inf
        return low, min(high, 0.0), slope / total if total > 0.0 and slope < 0.0 else -1.0

    def _aliasing_error(self, x: float, base: float) -> float:
        """What the trapezoidal rule has added, over e^base (docs/mathematics.md, Lemma 6: aliasing error)."""
        c, period = self.c, 2.0 * math.pi / self.step
        left = exp_up(-base) / math.expm1(min(c * period, 700.0))
        right = math.inf
        for more in self._points_ahead(1.0 / math.sqrt(self.terms.second_derivative(c) + 1.0 / (c * c))):
            s = c + more
            log_top = self.terms.chernoff(s, x) + 0.5 * self.variance * s * (s + 1.0) - base
            log_top += s * math.log(s) - (1.0 + s) * math.log1p(s)
            right = min(right, exp_up(log_top) / math.expm1(min(more * period, 700.0)))
        return (left + right) * (1.0 + 1e-6)

    def _smoothing_error(self, x: float) -> float:
        """What the smoothing may have added, over the same factor as the total: (1 + mu) v density(x - v / 2)."""
        v, c, u, h = self.variance, self.c, self.u, self.step
        if v > 0.09:
            return math.inf
        sizes, angles = self._line(x - 0.5 * v, 0.0)
        weights = np.full(u.size, h / math.pi)
        weights[0] *= 0.5
        density = float(np.sum(sizes * np.cos(angles) * weights))
        reach = h * (self.nodes - 1)
        far = (u * u + c * c).max()
        density += (math.exp(-0.5 * v * reach * reach) / (v * reach) + self.truncated * h * far) / math.pi
        density += float(np.sum(sizes * (64.0 * u * (self.terms.total + 1.0) + 64.0))) * UNIT * h / math.pi
        # the factors of the two lines are the same: v c^2 / 2 + c v / 2 = v c (c + 1) / 2
        return up((1.0 + math.sqrt(v)) * v * density * (1.0 + 1e-6))
