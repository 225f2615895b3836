"""Sums of independent two-point variables: Z is a sum of values +size or -size, each +size with odds e^size : 1.

What is asked for is the hockey stick h(x) = E(1 - e^(x - Z))+, and where it falls to a given level; both ends, in logarithms.
Where the support is small it is enumerated by halves (`meet_in_middle.py`), else the law is smoothed by Gaussian noise
(`two_point_smoothed.py`).  docs/mathematics.md, section 12.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from .cancellation_free import Array
from .roots import increasing_root
from .rounding import FUNCTION, UNIT

Ends = tuple[float, float]


@dataclass(frozen=True, eq=False)
class TwoPointSum:
    """Distinct `sizes` above 0 and how often each occurs, with what does not depend on the question."""

    sizes: Array
    counts: Array

    @cached_property
    def total(self) -> float:
        """The largest sum."""
        return math.fsum((self.sizes * self.counts).tolist())

    def cumulant(self, c: float) -> tuple[float, float]:
        """log E e^(c Z) and a bound of its error, for c > 0.

        E e^(c Z) is the product of cosh((c + 1/2) size) / cosh(size / 2), where the ratio of two cosh near 1 is
        1 + 2 sinh((c + 1) size / 2) sinh(c size / 2) / cosh(size / 2).
        """
        size = self.sizes
        large = (c + 1.0) * size > 2.0
        s = np.where(large, 0.0, size)
        near = np.log1p(2.0 * np.sinh(0.5 * (c + 1.0) * s) * np.sinh(0.5 * c * s) / np.cosh(0.5 * s))
        far = c * size + np.log1p(np.exp(-(2.0 * c + 1.0) * size)) - np.log1p(np.exp(-size))
        value = math.fsum((self.counts * np.where(large, far, near)).tolist())
        return value, 16.0 * FUNCTION * value

    def derivative(self, c: float) -> float:
        """The derivative of the cumulant, about."""
        return float(self.counts @ (self.sizes * np.tanh((c + 0.5) * self.sizes)))

    def second_derivative(self, c: float) -> float:
        """The second derivative, about."""
        return float(self.counts @ (self.sizes / np.cosh(np.minimum((c + 0.5) * self.sizes, 300.0))) ** 2)

    def tilt(self, x: float) -> float:
        """The c at which e^(cumulant - c x) / (c (c + 1)) is smallest, about; any c > 0 is good for a bound."""

        def gap(y: float) -> tuple[float, float]:
            c = math.exp(y)
            value = self.derivative(c) - x - 1.0 / c - 1.0 / (1.0 + c)
            return value, c * self.second_derivative(c) + 1.0 / c + c / (1.0 + c) ** 2

        return self._limited(math.exp(increasing_root(gap, 0.0, lower=-60.0, upper=60.0, tolerance=1e-6, stride=3.0)))

    def tilt_of_level(self, log_level: float) -> float:
        """The c at which (cumulant - log(c (c + 1)) - log_level) / c is smallest, about."""

        def gap(y: float) -> tuple[float, float]:
            c = math.exp(y)
            value = c * self.derivative(c) - 1.0 - c / (1.0 + c) - self.cumulant(c)[0] + math.log(c) + math.log1p(c) + log_level
            return value, c * (c * self.second_derivative(c) + 1.0 / c + 1.0 / (1.0 + c) - 1.0 / (1.0 + c) ** 2)

        return self._limited(math.exp(increasing_root(gap, 0.0, lower=-60.0, upper=60.0, tolerance=1e-6, stride=3.0)))

    def _limited(self, c: float) -> float:
        """No larger c than needed: beyond it nothing but the largest sum would count."""
        return min(c, 40.0 / float(self.sizes.min()))

    def guess(self, c: float, log_level: float) -> float:
        """About where h falls to a level: the saddle-point approximation."""
        bend = self.second_derivative(c) + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2
        found = self.cumulant(c)[0] - log_level - math.log(c) - math.log1p(c) - 0.5 * math.log(2.0 * math.pi * bend)
        return min(max(found / c, 0.0), self.total)

    def chernoff(self, c: float, x: float) -> float:
        """log of e^(cumulant - c x), rounded up: P(Z > x) times that of a set under the tilted law bounds P of both."""
        value, error = self.cumulant(c)
        return value - c * x + error + 4.0 * UNIT * (abs(value) + abs(c * x))


class TiltedLaw(Protocol):
    """The law under one exponential tilt, good for x near the place that the tilt was chosen for."""

    tolerance: float  # of a search, relatively

    def hockey_stick(self, x: float) -> tuple[float, float, float]:
        """Both ends of log h(x), and the derivative of the logarithm."""
        ...


def tilted_law(terms: TwoPointSum, c: float, x: float, log_level: float) -> TiltedLaw:
    """By enumeration of the support if it is small, else smoothed until the ends are within 1e-6, as far as that goes."""
    from .meet_in_middle import EnumeratedSum
    from .two_point_smoothed import smoothed_sum

    return EnumeratedSum.of(terms, c) or smoothed_sum(terms, c, x, log_level)


def log_hockey_stick(terms: TwoPointSum, x: float) -> Ends:
    """Both ends of log h(x), h(x) = E(1 - e^(x - Z))+, for x >= 0.

    >>> low, high = log_hockey_stick(TwoPointSum(np.array([1.0]), np.array([1.0])), 0.0)
    >>> round(math.exp(low), 12) == round(math.exp(high), 12) == round(math.tanh(0.5), 12)
    True
    """
    if x >= terms.total * (1.0 + 4.0 * UNIT):
        return -math.inf, -math.inf
    c = terms.tilt(x)
    bend = terms.second_derivative(c) + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2
    level = terms.chernoff(c, x) - math.log(c) - math.log1p(c) - 0.5 * math.log(2.0 * math.pi * bend)
    low, high, _ = tilted_law(terms, c, x, min(level, 0.0)).hockey_stick(x)
    return low, high


def hockey_stick_root(terms: TwoPointSum, log_level: float, slack: float = 0.0) -> Ends:
    """Both ends of the smallest x >= 0 with log h(x) at most a level that is known up to slack.

    >>> low, high = hockey_stick_root(TwoPointSum(np.array([0.5, 1.0]), np.array([1.0, 2.0])), math.log(0.01))
    >>> round(low, 9), round(high, 9)
    (2.469479243, 2.469479243)
    """
    c = terms.tilt_of_level(log_level)
    guess = terms.guess(c, log_level)
    law = tilted_law(terms, c, guess, log_level)
    top = terms.total * (1.0 + 4.0 * UNIT)
    if law.hockey_stick(0.0)[1] <= log_level - slack:
        return 0.0, 0.0

    def solve(end: int, level: float, start: float) -> float:
        def gap(x: float) -> tuple[float, float]:
            found = law.hockey_stick(x)
            return (level - found[end], -found[2]) if found[end] > -math.inf else (math.inf, 0.0)

        x = increasing_root(gap, min(start, top), lower=0.0, upper=top, tolerance=law.tolerance, steps=60)
        return min(max(x, 0.0), top)

    high = solve(1, log_level - slack, guess)
    pad = law.tolerance * high + 1e-300
    while law.hockey_stick(high)[1] > log_level - slack:  # the last step of the search may have ended below
        if high >= top:
            return 0.0, top
        high, pad = min(high + pad, top), 2.0 * pad
    low = solve(0, log_level + slack, high)
    pad = law.tolerance * low + 1e-300
    while low > 0.0 and law.hockey_stick(low)[0] < log_level + slack:
        low, pad = max(low - pad, 0.0), 2.0 * pad
    return low, high
