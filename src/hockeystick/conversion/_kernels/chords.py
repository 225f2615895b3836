"""A convex function from below, between points where it is known: by its chords, continued.

Of five points the middle one is about the lowest.  On either side of it the function lies above the chord from the other side,
and above that through the two next points.  Where these two lines cross would be the lowest place; to be sure of it whatever the
rounding, a weighted mean of the lines is taken, with weights such that it is nearly level: it is nowhere above both lines, and
lowest at an end of the stretch.
"""

import math

from ...numerics.rounding import FUNCTION, UNIT

Interval = tuple[float, float]

_FAR = 600.0


def lowest(epsilons: list[float], ends: list[Interval]) -> tuple[float, float]:
    """A lower bound of a function that is convex in e^epsilon, and where to ask next.

    Five points, both ends of the value at each; the outer two may be missing (no number).

    >>> epsilons = [math.log(x) for x in (0.5, 0.8, 1.0, 1.25, 2.0)]
    >>> bound, place = lowest(epsilons, [((math.exp(e) - 1.1) ** 2,) * 2 for e in epsilons])
    >>> print(f"{bound:.4f} {math.exp(place):.4f}")  # a parabola, whose least value is 0
    -0.0590 1.1724
    """
    least, place = math.inf, epsilons[2]
    for inner, outer, beyond in ((1, 0, 3), (3, 4, 1)):
        stretch = _Stretch(epsilons, ends, inner, outer, beyond)
        bound, away = stretch.lowest()
        if bound < least:
            least, place = bound, epsilons[2] + away
        least = min(least, stretch.outside())
    return min(ends[2][0], least), place


class _Stretch:
    """Between the middle point and its neighbour on one side; places are given by d = e^(epsilon - middle) - 1."""

    def __init__(self, epsilons: list[float], ends: list[Interval], inner: int, outer: int, beyond: int) -> None:
        middle = epsilons[2]
        self.away, self.best, self.inner = epsilons[inner] - middle, ends[2], ends[inner]
        self.outer = None if math.isnan(epsilons[outer]) else ends[outer]
        self.far = self.away > _FAR
        self.width = math.expm1(min(self.away, _FAR))
        # of the chord from the other side; were a far point nearer, it would be steeper
        self.slope = (ends[beyond][1] - ends[2][0]) / math.expm1(min(epsilons[beyond] - middle, _FAR))
        self.further = 0.0  # from the neighbour to the next point
        if self.outer and not self.far:
            self.further = math.exp(self.away) * math.expm1(min(epsilons[outer] - epsilons[inner], _FAR))
        # how far lengths and slopes may err, relatively
        self.error = 8.0 * FUNCTION + 4.0 * UNIT * max(abs(one - middle) for one in epsilons if not math.isnan(one))

    def lowest(self) -> tuple[float, float]:
        """A lower bound on the stretch, and about where it is (the logarithm of 1 + d)."""
        place = 0.5 * self.away
        if self.far:
            return self.best[0] if self.slope >= 0.0 else -math.inf, place
        bound = self._mean(1.0, 0.0)
        if not self.outer or self.further == 0.0:
            return bound, place
        other = (self.outer[1] - self.inner[0]) / self.further
        if not math.isfinite(other):
            return bound, place
        bound = max(bound, self._mean(0.0, other))
        if (self.slope < 0.0) != (other < 0.0):
            weight = other / (other - self.slope)
            bound = max(bound, self._mean(weight, other))
        if self.slope != other:
            cross = (self.inner[0] - other * self.width - self.best[0]) / (self.slope - other)
            if 0.0 < cross / self.width < 1.0:
                place = math.log1p(cross)
        return bound, place

    def _mean(self, weight: float, other: float) -> float:
        """The lower end of a weighted mean of the two lines."""
        rest = 1.0 - weight
        here = weight * self.best[0] + rest * (self.inner[0] - other * self.width)
        there = weight * (self.best[0] + self.slope * self.width) + rest * self.inner[0]
        tilt = (weight * abs(self.slope) + rest * abs(other)) * abs(self.width)
        size = weight * abs(self.best[0]) + rest * abs(self.inner[0])
        return min(here, there) - (4.0 * self.error * tilt + 8.0 * UNIT * size)

    def outside(self) -> float:
        """A lower bound beyond the neighbour: inf if it is surely higher, for then all beyond is, too."""
        if self.inner[0] >= self.best[1]:
            return math.inf
        if not self.outer or self.outer[0] < self.inner[1] or self.far:
            return -math.inf  # nothing is sure
        drop = (self.inner[0] - self.best[1]) / self.width * self.further
        bound = min(self.inner[0], self.inner[0] + drop)
        return bound - (4.0 * self.error * abs(drop) + 4.0 * UNIT * abs(self.inner[0]))
