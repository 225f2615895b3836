"""A privacy profile turned into pairs: from above by its chords, from below by its tangents, in the variable e^epsilon.

docs/mathematics.md, section 9 (profiles).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property, cmp_to_key
from itertools import pairwise

import numpy as np

from ...errors import BadValue
from ...numerics.cancellation_free import log_ratio
from ...numerics.rounding import FUNCTION, exp_down, exp_up
from .atomic import AtomicLoss
from .bracketed import DominatedLoss
from .discrete import ResponseLoss, SampledAtoms, TabulatedLoss
from .symmetrised_atoms import SymmetrisedAtoms


@dataclass(frozen=True)
class Tuning:
    """More epsilons bring chords and tangents closer to each other, and take longer.  None of it enters a proof."""

    first_points: int = 120
    """Epsilons at which the function is evaluated at first, of each of two kinds: evenly spaced, and geometrically."""
    max_points: int = 3200
    """Epsilons in the end."""
    even_points: int = 1200
    """Evenly spaced ones, if that is more."""
    max_passes: int = 60
    """Refinements between the two."""
    relative_gap: float = 2e-7
    """Of chords and tangents as a share of epsilon: below it nothing is refined."""


TUNING = Tuning()

_NOISE = 1e-6  # up to this share above its convex minorant, a function counts as convex but for rounding
_LARGEST_EPSILON = 700.0  # so that e^epsilon is a double
_SMALLEST, _FAINT = 1e-300, 1e-280
_ROUNDING = Fraction(1, 10**9)  # what the rounding of a function may add to it

Point = tuple[Fraction, Fraction]
Corner = tuple[int, int, int]  # X, Y, W > 0: the point (X / W, Y / W), without the common divisors that fractions look for


@dataclass(frozen=True)
class ProfileLoss(DominatedLoss):
    """delta at most `function` of epsilons >= 0, of both ordered pairs.

    h(x) = delta(log x) of a pair is convex and falls from h(0) = 1 with a slope of at least -1; for x < 1 the other order
    gives h(x) = 1 - x + x h(1/x).
    A piecewise linear h has Q-mass h'(x+) - h'(x-) at the loss log x, P-mass x times that, and its limit
    is P(Z = infinity).
    """

    function: Callable[[list[float]], list[float]]
    rate: float = 1.0  # of the Poisson sample in front of it
    removal: bool = True
    both: bool = False  # the upper half of the removal, for both orders
    low: float | None = None  # the rate of what is attained, if it is not the same

    @cached_property
    def dominating(self) -> tuple[AtomicLoss, ...]:
        return (self._drawn(_law(self._hull(exp_up))),)

    @cached_property
    def members(self) -> tuple[AtomicLoss, ...]:
        law = _law(self._below())
        rate = self.rate if self.low is None else self.low
        return (law if rate == 1.0 else SampledAtoms(law, rate, self.removal),)

    def _below(self) -> list[Corner]:
        """A curve below the convex minorant of the function.

        If the function is convex in e^epsilon where it was evaluated, but for noise, it is taken to be so in between: by
        tangents.  Else all that is known is that it falls.
        """
        noise = self._noise
        # what is next to no double may be rounded to anything
        points = [(x, delta if delta > _FAINT else Fraction(0)) for x, delta in self._points(exp_down)]
        if noise < _NOISE:
            scale = 1 - Fraction(2.0 * noise)
            return _tangents(_points_of(_corners([(x, delta * scale) for x, delta in points])))
        return _corners([(x, after) for (x, _), (_, after) in pairwise([*points, points[-1]])])

    @cached_property
    def _noise(self) -> float:
        """How far the samples lie above their convex minorant: a share."""
        samples = self._samples
        hull = np.array([(x / w, y / w) for x, y, w in self._hull(exp_up)])
        x, delta = np.exp([epsilon for epsilon, _ in samples]), np.array([float(one) for _, one in samples])
        above = (delta - np.interp(x, hull[:, 0], hull[:, 1])) / np.maximum(delta, _FAINT)
        return float(above.max(initial=0.0, where=delta > _FAINT))

    @property
    def vanishes(self) -> bool:
        """Whether the function is 0 from some epsilon on, and not for want of smaller doubles."""
        return not self._samples[-1][1] and min(delta for _, delta in self._samples if delta > 0) > _SMALLEST * 10**20

    def _drawn(self, law: TabulatedLoss) -> AtomicLoss:
        if self.rate == 1.0:
            return law
        found = SampledAtoms(law, self.rate, self.removal)
        return SymmetrisedAtoms(found, self.rate) if self.both else found

    @cached_property
    def _samples(self) -> list[tuple[float, Fraction]]:
        """The profile at many epsilons."""
        far = 1.0
        while far < _LARGEST_EPSILON and self._positive(far):
            far = min(2.0 * far, _LARGEST_EPSILON)
        near = (far * (i / TUNING.first_points) for i in range(TUNING.first_points + 1))
        fine = (far * 10.0 ** (-6.0 * (1.0 - i / TUNING.first_points)) / 10.0 for i in range(TUNING.first_points))
        places, known = [*near, *fine], dict[float, float]()
        for _ in range(TUNING.max_passes):
            known.update(zip(places, self.function(places), strict=True))
            places = _places(sorted(known.items()), TUNING.max_points - len(known))
            if not places:
                break
        if len(known) < TUNING.even_points:  # or it has no bends, or is not convex
            places = [far * (i / TUNING.even_points) for i in range(1, TUNING.even_points)]
            known.update(zip(places, self.function(places), strict=True))
        found = []
        last = Fraction(1)
        for epsilon in sorted(known):
            delta = Fraction(known[epsilon])
            if delta > last * (1 + _ROUNDING) + Fraction(1, 10**15):  # the hull takes the smaller of the two
                raise BadValue(
                    f"function({epsilon!r}) is {float(delta)!r}, above function at a smaller epsilon; "
                    "allowed: a function that never grows."
                )
            last = min(delta, last)
            found.append((epsilon, last))
        return found

    def _positive(self, epsilon: float) -> bool:
        """Whether the profile is above nearly nothing; what is wrong with it is reported in the order of epsilon, later."""
        try:
            return self.function([epsilon])[0] > _SMALLEST
        except ValueError:
            return True

    def _hull(self, exp: Callable[[float], float]) -> list[Corner]:
        """The convex minorant of the samples."""
        return _corners(self._points(exp))

    def _points(self, exp: Callable[[float], float]) -> list[Point]:
        """The samples as exact fractions; `exp` says to which side e^epsilon is rounded."""
        return [(Fraction(exp(epsilon)) if epsilon else Fraction(1), delta) for epsilon, delta in self._samples]


def _places(samples: list[tuple[float, float]], most: int) -> list[float]:
    """More epsilons, at most so many: amid those between which chords and tangents lie farthest apart, as shares of epsilon.

    Far apart matters less where delta is next to nothing.
    """
    epsilon, delta = np.array(samples).T
    delta = np.minimum.accumulate(delta)
    x = np.exp(epsilon)
    slope = np.diff(delta) / np.diff(x)
    before, after = slope - np.append(-1.0, slope[:-1]), np.append(slope[1:], 0.0) - slope
    with np.errstate(all="ignore"):
        gap = before * after * np.diff(x) / ((before + after) * -slope * x[1:])
        rare = np.log(np.maximum(delta[:-1], _SMALLEST)) / math.log(1e-12)
        gap = np.where((before > 0.0) & (after > 0.0) & (slope < 0.0), gap, 0.0) / (epsilon[1:] * (1.0 + rare * rare))
    gap = np.where(np.diff(epsilon) > 1e-12 * epsilon[1:], gap, 0.0)
    worst = np.argsort(gap)[::-1][: max(1, min(most, epsilon.size // 4))]
    worst = worst[gap[worst] > max(TUNING.relative_gap, 0.05 * float(gap.max()))] if most > 0 else worst[:0]
    return [float(0.5 * (epsilon[i] + epsilon[i + 1])) for i in worst]


def claims_loss(claims: tuple[tuple[float, float], ...]) -> AtomicLoss | None:
    """The worst pair that obeys each (epsilon, delta); None if nothing is lost.

    Its profile is the lower convex hull in e^epsilon, here to fifty digits.
    """
    if len(claims) == 1:
        return ResponseLoss(claims[0][0], 2, claims[0][1]) if any(claims[0]) else None
    if (0.0, 0.0) in claims:
        return None
    with localcontext() as context:
        context.prec = 400  # e^epsilon has up to 261 digits before the point
        hull = _corners([(Fraction(Decimal(epsilon).exp()), Fraction(delta)) for epsilon, delta in claims])
    return _law(hull)


def lower_hull(samples: list[Point]) -> list[Point]:
    """The lower convex hull of points (e^epsilon, delta), of (0, 1), and of what they say of the other order."""
    return _points_of(_corners(samples))


def law_of_curve(curve: list[Point]) -> TabulatedLoss:
    """The pair of a piecewise linear, convex, falling curve from (0, 1) that stays level beyond its last point."""
    return _law([_corner(*point) for point in curve])


def _corners(samples: list[Point]) -> list[Corner]:
    given = [_corner(x, delta) for x, delta in samples]
    mirrored: list[Corner] = [(w, x - w + y, x) for x, y, w in reversed(given)]  # (1/x, 1 - 1/x + delta/x) of (x, delta)
    known: list[Corner] = [(0, 1, 1), *mirrored, *given]
    known.sort(key=cmp_to_key(_compared))
    hull: list[Corner] = []
    slopes: list[tuple[int, int]] = []  # to each corner from the one before
    for x, y, w in known:
        corner = (x, y, w)
        if hull:
            x0, y0, w0 = hull[-1]
            if x * w0 == x0 * w:
                continue  # the lower of two came first
            if y * w0 > y0 * w:  # level at most
                corner = (x * w0, y0 * w, w * w0)
        while hull:
            rise, run = _slope(hull[-1], corner)
            if not slopes or slopes[-1][0] * run < rise * slopes[-1][1]:
                slopes.append((rise, run))
                break
            hull.pop()
            slopes.pop()
        hull.append(corner)
    return hull


def _compared(a: Corner, b: Corner) -> int:
    """By x, then by y."""
    return a[0] * b[2] - b[0] * a[2] or a[1] * b[2] - b[1] * a[2]


def _corner(x: Fraction, y: Fraction) -> Corner:
    w = math.lcm(x.denominator, y.denominator)
    return x.numerator * (w // x.denominator), y.numerator * (w // y.denominator), w


def _points_of(hull: list[Corner]) -> list[Point]:
    return [(Fraction(x, w), Fraction(y, w)) for x, y, w in hull]


def _slope(left: Corner, right: Corner) -> tuple[int, int]:
    """Its numerator and its denominator, which is above 0."""
    return right[1] * left[2] - left[1] * right[2], right[0] * left[2] - left[0] * right[2]


def _tangents(hull: list[Point]) -> list[Corner]:
    """The polygon through the points where the chords next to each chord meet.

    It is convex, and below every convex curve through the hull.
    """
    found = list(hull)
    if len(hull) >= 4:
        slopes = [(right[1] - left[1]) / (right[0] - left[0]) for left, right in pairwise(hull)]
        found = hull[:1]
        for b, c, first, last in zip(hull[1:], hull[2:], slopes, slopes[2:], strict=False):
            if first == last:
                continue
            # the chord before b, continued, meets the one after c, continued, between b and c
            x = (c[1] - b[1] + first * b[0] - last * c[0]) / (first - last)
            found.append((x, b[1] + first * (x - b[0])))
        found.append(hull[-1])
    return [_corner(*point) for point in found]


def _law(curve: list[Corner]) -> TabulatedLoss:
    values = []
    slopes = [_slope(left, right) for left, right in pairwise(curve)]
    rise, run = slopes[0]
    lone = 1 + Fraction(rise, run)  # Q-mass at loss -infinity
    for (x, _, w), (rise, run), (higher, length) in zip(curve[1:], slopes, [*slopes[1:], (0, 1)], strict=True):
        mass, over = higher * run - rise * length, run * length
        if mass > 0:
            values.append((log_ratio(x, w), log_ratio(mass * x, over * w), log_ratio(mass, over)))
    largest = max(abs(log) for value in values for log in value)
    _, y, w = curve[-1]
    return TabulatedLoss(tuple(values), Fraction(y, w), max(lone, Fraction(0)), FUNCTION * (2.0 + largest))
