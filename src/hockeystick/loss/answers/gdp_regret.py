"""How far a mu-GDP curve is from a run: the smallest k with f(x + k) - k <= G_mu(x) for every x, f the run's trade-off curve.

f(x) is the largest of the lines 1 - delta(eps) - e^eps x.  Moved by k such a line is below G_mu exactly if
1 - delta(eps) - k (1 + e^eps) <= min over x of G_mu(x) + e^eps x = 1 - delta_mu(eps).  Hence

    k = sup over eps of (delta_mu(eps) - delta(eps)) / (1 + e^eps),

and, as the other order belongs to -eps with the same quotient, eps >= 0 of both orders is enough.  (The measure is that of
Gomez, Kulynych, Kaissis, Hayes, Balle and Honkela, "(epsilon, delta) considered harmful", 2025; docs/mathematics.md, section 10,
"Regret".)
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass

from ...conversion._kernels.normals import stick
from ...numerics.rounding import FUNCTION, UNIT, exp_down, exp_up, up
from ..protocol import Interval

Profile = Callable[[float], Interval]  # both ends of log delta

_LAST = 34.0  # beyond, the quotient is at most delta_mu/(1 + e^eps) < e^-34


@dataclass(frozen=True)
class Tuning:
    """Of the search for the largest quotient; both ends are certified after every evaluation."""

    max_evaluations: int = 400
    """Of each profile, after which the ends are as far apart as they are."""


TUNING = Tuning()


def regret_ends(forward: Profile, backward: Profile, mu: float, tolerance: float) -> Interval:
    """Both ends of the regret; `forward` is log delta of one order, `backward` that of the other."""
    curve = _Curve(forward, backward, mu)
    points = [0.0, *(2.0**k for k in range(-4, 6)), _LAST]
    for point in points:
        curve.evaluate(point)
    while len(curve.points) < TUNING.max_evaluations:
        ranked = curve.ranked()
        value, place = heapq.nlargest(1, ranked)[0]
        if value <= max(curve.lower, curve.floor) + tolerance or curve.evaluated(place):
            break
        curve.evaluate(place)
    upper = max(curve.lower, max(value for value, _ in curve.ranked()), exp_up(-_LAST))
    return max(0.0, curve.lower), upper


class _Curve:
    """Both profiles as functions of x = e^eps, at the points evaluated so far, those left of 1 by the other order."""

    def __init__(self, forward: Profile, backward: Profile, mu: float) -> None:
        self.forward, self.backward, self.mu = forward, backward, mu
        self.points: list[tuple[float, Interval, Interval]] = []  # x, delta, delta_mu
        self.lower = 0.0
        self.floor = 0.0  # wide intervals prove no upper bound below it

    def evaluate(self, epsilon: float) -> None:
        gaussian = self._gaussian(epsilon)
        x = math.exp(epsilon)
        low, high = self.forward(epsilon)
        self._add(x, (exp_down(low), exp_up(high, 1.0)), gaussian)
        if epsilon:  # delta(-eps) = 1 - e^-eps + e^-eps delta'(eps)
            low, high = self.backward(epsilon)
            self._add(1.0 / x, self._other_order(x, (exp_down(low), exp_up(high, 1.0))), self._other_order(x, gaussian))

    def evaluated(self, epsilon: float) -> bool:
        """Whether this place is, but for rounding, one that was evaluated: wide intervals get no narrower there."""
        return any(abs(x * math.exp(-epsilon) - 1.0) < 1e-13 for x, _, _ in self.points)

    def _gaussian(self, epsilon: float) -> Interval:
        if self.mu == 0.0 or self.mu > 1e7:
            return (0.0, 0.0) if self.mu == 0.0 else (1.0, 1.0)
        value, error, _ = stick(self.mu, epsilon)
        return exp_down(value - error), exp_up(value + error, 1.0)

    @staticmethod
    def _other_order(x: float, ends: Interval) -> Interval:
        low, high = (1.0 - (1.0 - end) / x for end in ends)
        return low - 16.0 * UNIT, high + 16.0 * UNIT

    def _add(self, x: float, delta: Interval, gaussian: Interval) -> None:
        self.points.append((x, delta, gaussian))
        self.points.sort()
        self.lower = max(self.lower, (gaussian[0] - delta[1]) / (1.0 + x) * (1.0 - 4.0 * FUNCTION) - 8.0 * UNIT)
        self.floor = max(self.floor, (gaussian[1] - delta[0]) / (1.0 + x))

    def ranked(self) -> list[tuple[float, float]]:
        """An upper bound of the quotient between each two neighbours, and an epsilon to look at."""
        found = []
        every = self.points
        for i in range(1, len(every) - 2):
            (x0, d0, _), (x1, d1, g1), (x2, d2, g2), (x3, d3, _) = every[i - 1 : i + 3]
            # delta is convex and falls, so it is above its neighbours' chords continued; delta_mu is below its own chord
            left, right = (d1[0] - d0[1]) / (x1 - x0), min((d3[1] - d2[0]) / (x3 - x2), 0.0)
            xs = [x1, x2]
            if left != right:
                cross = (d2[0] - d1[0] + left * x1 - right * x2) / (left - right)
                if x1 < cross < x2:
                    xs.append(cross)
            best = 0.0
            for x in xs:
                top = max(g1[1] + (g2[1] - g1[1]) * ((x - x1) / (x2 - x1)), 0.0)
                bottom = max(d1[0] + left * (x - x1), d2[0] + right * (x - x2))
                best = max(best, up((top - bottom) / (1.0 + x), 1e-12))  # a chord rounds in its position, too
            found.append((best, abs(0.5 * (math.log(x1) + math.log(x2)))))
        return found
