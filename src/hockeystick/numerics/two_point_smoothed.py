"""Sums of many different signs: the law smoothed_sum by a little Gaussian noise, and integrated along a line.

Let X be N(v/2, v), independent, so that E e^-X = 1.  (1 - e^x y)+ is convex in y, so stick(x) of Z + X is at least that of Z, and
with mu^2 = v it exceeds it by E D(x - Z), where D is the stick of X less that of 0:

    D(e) = phi(t) (m(t) - m(t + mu)) <= mu (1 + mu) phi(t),    t = e / mu - mu / 2,   mu <= 0.3,

with m the Mills ratio, whose slope is at least -1 above 0 and at least -1 - 1.3 mu from -mu/2 on.  So the excess is at most
(1 + mu) v times the density of Z + N(0, v) at x - v/2.  Along the line w = c + i u, with K the cumulant of Z,

    stick of Z + X at x = 1/(2 pi) integral of e^(K(w) + v w (w + 1) / 2 - w x) / (w (w + 1)) du.

The trapezoidal rule of step h gives sum over m of e^(2 pi m c / h) stick(x + 2 pi m / h), all of it positive: an upper
bound.  Beyond the last node the Gaussian factor bounds what is left.
"""

import math

import numpy as np

from .cancellation_free import Array
from .rounding import FUNCTION, UNIT, exp_up, up
from .two_point_sums import TwoPointSum

GOAL = 1e-6
_MOST = 1 << 20
_ROOM = 24.0  # -log of the relative size allowed to what is left out
_FADED = -55.0
_CELL = 1 << 16
_AHEAD = (0.1, 0.3, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)


def smoothed_sum(signs: TwoPointSum, c: float, x: float, log_level: float) -> "SmoothedSum":
    """The law with so little noise that both ends are within the goal at x, or with as many nodes as are allowed."""
    variance = 0.7 * GOAL / (c * (1.0 + c))
    best = SmoothedSum(signs, c, x, log_level, variance)
    for _ in range(4):
        low, high, _ = best.stick(x)
        width = high - low
        if width <= 0.9 * GOAL or best.nodes >= _MOST:
            break
        variance *= min(max((0.4 * GOAL / width) ** 2, 1e-4), 0.25)
        best = SmoothedSum(signs, c, x, log_level, variance)
    return best


class SmoothedSum:
    """The transform of Z at the nodes of one line, over its value at u = 0."""

    tolerance = 1e-11

    def __init__(self, signs: TwoPointSum, c: float, x: float, log_level: float, variance: float) -> None:
        self.signs, self.c = signs, c
        self.step = 2.0 * math.pi / self._period(x, log_level)
        self.variance = max(variance, (7.5 / (self.step * (_MOST - 1))) ** 2)
        self.nodes = min(math.ceil(7.5 / (self.step * math.sqrt(self.variance))) + 1, _MOST)
        self.value, self.error = signs.cumulant(c)
        self.u, self.log_size, self.turn, self.dropped = self._lay()

    def _period(self, x: float, log_level: float) -> float:
        """So long that its other multiples are far in the tails on both sides (nothing of it is part of a proof)."""
        value, c = self.signs.cumulant(self.c)[0], self.c
        left = (_ROOM - log_level) / c
        width = 1.0 / math.sqrt(self.signs.bend(c) + 1.0 / (c * c))
        right = min((self.signs.cumulant(c + more)[0] - log_level - (c + more) * x + _ROOM) / more for more in self._ahead(width))
        bump = 4.0 * math.sqrt(2.0 * _ROOM * self.signs.bend(c))
        return max(left, right, bump) if math.isfinite(value) else left

    def _ahead(self, width: float) -> list[float]:
        return [factor * width for factor in _AHEAD]

    def _lay(self) -> tuple[Array, Array, Array, float]:
        """The nodes that matter, the logarithm of the size and the angle of the transform there; and a bound of the others' sum.

        One sign contributes 1 - tau + tau e^(-2 i size u) and the turn size * u, where tau < 1/2 is its chance of -size under
        the tilt: log of its size is log(1 - 4 tau (1 - tau) sin^2(size u)) / 2.
        """
        size, count = self.signs.sizes, self.signs.counts
        tau = 1.0 / (1.0 + np.exp(np.minimum((2.0 * self.c + 1.0) * size, 700.0)))
        order = np.argsort(-count * tau * (1.0 - tau))
        size, count, tau = size[order], count[order], tau[order]
        kept: list[tuple[Array, Array, Array]] = []
        dropped, start, width = 0.0, 0, 256
        while start < self.nodes:
            u = self.step * np.arange(start, min(start + width, self.nodes))
            log_size, turn = np.zeros(u.size), np.zeros(u.size)
            at, faded = 0, False
            while at < size.size and not faded:
                part = slice(at, at + max(8, _CELL // u.size))
                sine, cosine = np.sin(np.outer(size[part], u)), np.cos(np.outer(size[part], u))
                t = tau[part, None]
                square = sine * sine
                log_size += 0.5 * (count[part] @ np.log1p(-4.0 * t * (1.0 - t) * square))
                turn -= count[part] @ np.arctan2(2.0 * t * sine * cosine, 1.0 - 2.0 * t * square)
                at = part.stop
                faded = bool(log_size.max() < _FADED)
            if faded:
                dropped += math.exp(float(log_size.max())) * u.size / float(u[0] * u[0] + self.c * self.c)
            else:
                kept.append((u, log_size, turn))
            start, width = start + u.size, min(2 * width, 1 << 14)
        u, log_size, turn = (np.concatenate([one[k] for one in kept]) for k in range(3))
        return u, log_size, turn, dropped

    def _line(self, x: float, shift: float) -> tuple[Array, Array]:
        """Sizes and angles of e^(K(w) + v w (w + shift) / 2 - w x), over e^(K(c) + v c (c + shift) / 2 - c x)."""
        v, c, u = self.variance, self.c, self.u
        sizes = np.exp(self.log_size - 0.5 * v * u * u)
        return sizes, self.turn + u * (self.signs.total - x + 0.5 * v * (2.0 * c + shift))

    def _rounding(self) -> float:
        """A bound of the rounding errors of the sums over nodes with the weight 1/(u^2 + c^2), times h / pi.

        Angles err by a few UNIT of u times all sizes, sizes by at most 1/e of that of their logarithm.
        """
        u, c = self.u, self.c
        reach = self.signs.total + abs(self.variance * (2.0 * c + 1.0))
        each = (64.0 * u * reach + 64.0) * UNIT
        return float(np.sum(each / (u * u + c * c))) * self.step / math.pi

    def stick(self, x: float) -> tuple[float, float, float]:
        """Both ends of log stick(x), and the derivative of the logarithm."""
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
        cut = (deep / (v * (reach - h) ** 3) + self.dropped * h) / math.pi * (1.0 + 1e-6) + self._rounding()
        cut += 64.0 * UNIT * float(np.sum(np.abs(terms)))
        base = self.value + 0.5 * v * c * (c + 1.0) - c * x
        slack = self.error + 8.0 * UNIT * (self.value + c * (abs(x) + v * (c + 1.0))) + 4.0 * FUNCTION
        high = math.log(total + cut) + base + slack if total + cut > 0.0 else -math.inf
        rest = total - cut - self._alias(x, base) - self._excess(x)
        low = math.log(rest) + base - slack if rest > 0.0 else -math.inf
        return min(low, high), min(high, 0.0), slope / total if total > 0.0 and slope < 0.0 else -1.0

    def _alias(self, x: float, base: float) -> float:
        """What the trapezoidal rule has added, over e^base."""
        c, period = self.c, 2.0 * math.pi / self.step
        left = exp_up(-base) / math.expm1(min(c * period, 700.0))
        right = math.inf
        for more in self._ahead(1.0 / math.sqrt(self.signs.bend(c) + 1.0 / (c * c))):
            s = c + more
            log_top = self.signs.chernoff(s, x) + 0.5 * self.variance * s * (s + 1.0) - base
            log_top += s * math.log(s) - (1.0 + s) * math.log1p(s)
            right = min(right, exp_up(log_top) / math.expm1(min(more * period, 700.0)))
        return (left + right) * (1.0 + 1e-6)

    def _excess(self, x: float) -> float:
        """What the noise may have added, over the same factor as the total: (1 + mu) v density(x - v / 2)."""
        v, c, u, h = self.variance, self.c, self.u, self.step
        if v > 0.09:
            return math.inf
        sizes, angles = self._line(x - 0.5 * v, 0.0)
        weights = np.full(u.size, h / math.pi)
        weights[0] *= 0.5
        density = float(np.sum(sizes * np.cos(angles) * weights))
        reach = h * (self.nodes - 1)
        far = (u * u + c * c).max()
        density += (math.exp(-0.5 * v * reach * reach) / (v * reach) + self.dropped * h * far) / math.pi
        density += float(np.sum(sizes * (64.0 * u * (self.signs.total + 1.0) + 64.0))) * UNIT * h / math.pi
        # the factors of the two lines are the same: v c^2 / 2 + c v / 2 = v c (c + 1) / 2
        return up((1.0 + math.sqrt(v)) * v * density * (1.0 + 1e-6))
