"""A privacy profile turned into pairs: from above by its chords, from below by its tangents, in the variable e^epsilon."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from ..errors import BadValue
from ..numerics.rounding import FUNCTION, exp_down, exp_up
from ..numerics.series import log_fraction
from .atomic import AtomicLoss
from .discrete import ListedLoss, SampledAtoms
from .folded import FoldedAtoms

_POINTS = 1200
_FAR = 700.0
_SMALLEST = 1e-300

Point = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class ProfileLoss:
    """delta(epsilon) at most `function` for epsilon >= 0, of both ordered pairs.

    h(x) = delta(log x) of a pair is convex and falls from h(0) = 1 with a slope of at least -1; for x < 1 the other order
    gives h(x) = 1 - x + x h(1/x).
    A piecewise linear h has Q-mass h'(x+) - h'(x-) at the loss log x, P-mass x times that, and its limit
    is P(Z = infinity).
    """

    function: Callable[[float], float]
    rate: float = 1.0  # of the Poisson sample in front of it
    removal: bool = True
    both: bool = False  # the upper half of the removal, for both orders
    low: float | None = None  # the rate of what is attained, if it is not the same

    rows = 1

    def single(self, row: int) -> "ProfileLoss":
        return self

    @cached_property
    def covers(self) -> tuple[AtomicLoss, ...]:
        return (self._drawn(_law(self._hull(exp_up))),)

    @cached_property
    def members(self) -> tuple[AtomicLoss, ...]:
        law = _law(_tangents(self._hull(exp_down)))
        rate = self.rate if self.low is None else self.low
        return (law if rate == 1.0 else SampledAtoms(law, rate, self.removal),)

    def _drawn(self, law: ListedLoss) -> AtomicLoss:
        if self.rate == 1.0:
            return law
        found = SampledAtoms(law, self.rate, self.removal)
        return FoldedAtoms(found, self.rate) if self.both else found

    @cached_property
    def _samples(self) -> list[tuple[float, Fraction]]:
        """The profile at many epsilons."""
        far = 1.0
        while far < _FAR and self.function(far) > _SMALLEST:
            far = min(2.0 * far, _FAR)
        near = [far * (i / _POINTS) for i in range(_POINTS + 1)]
        fine = [far * 10.0 ** (-6.0 * (1.0 - i / 200)) / 10.0 for i in range(200)]
        found = []
        last = Fraction(1)
        for epsilon in sorted({*near, *fine}):
            delta = Fraction(self.function(epsilon))
            if delta > last:
                raise BadValue(
                    f"function({epsilon!r}) is above function at a smaller epsilon; allowed: a function that never grows."
                )
            last = delta
            found.append((epsilon, delta))
        return found

    def _hull(self, exp: Callable[[float], float]) -> list[Point]:
        """The convex minorant of the samples, as exact fractions; `exp` says to which side e^epsilon is rounded."""
        known = {Fraction(0): Fraction(1)}
        for epsilon, delta in self._samples:
            x = Fraction(exp(epsilon)) if epsilon else Fraction(1)
            known[x] = delta
            if epsilon:
                known[1 / x] = 1 - 1 / x + delta / x
        hull: list[Point] = []
        for x in sorted(known):
            y = known[x]
            if hull and y > hull[-1][1]:
                y = hull[-1][1]
            while len(hull) > 1 and _slope(hull[-2], hull[-1]) >= _slope(hull[-1], (x, y)):
                hull.pop()
            hull.append((x, y))
        return hull


def _slope(left: Point, right: Point) -> Fraction:
    return (right[1] - left[1]) / (right[0] - left[0])


def _tangents(hull: list[Point]) -> list[Point]:
    """The polygon through the points where the chords next to each chord meet.

    It is convex, and below every convex curve through the hull.
    """
    if len(hull) < 4:
        return hull
    found = [hull[0]]
    for a, b, c, d in zip(hull, hull[1:], hull[2:], hull[3:], strict=False):
        first, last = _slope(a, b), _slope(c, d)
        if first == last:
            continue
        # a-b continued meets d-c continued between b and c
        x = (c[1] - b[1] + first * b[0] - last * c[0]) / (first - last)
        found.append((x, b[1] + first * (x - b[0])))
    found.append(hull[-1])
    return found


def _law(curve: list[Point]) -> ListedLoss:
    """The pair of a piecewise linear, convex, falling curve from (0, 1) that stays level beyond its last point."""
    values = []
    slopes = [_slope(left, right) for left, right in pairwise(curve)]
    lone = 1 + slopes[0]  # Q-mass at loss -infinity
    for (x, _), before, after in zip(curve[1:], slopes, [*slopes[1:], Fraction(0)], strict=True):
        mass = after - before
        if mass > 0:
            values.append((log_fraction(x), log_fraction(mass * x), log_fraction(mass)))
    largest = max(abs(log) for value in values for log in value)
    return ListedLoss(tuple(values), curve[-1][1], max(lone, Fraction(0)), FUNCTION * (2.0 + largest))
