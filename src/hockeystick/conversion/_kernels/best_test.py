"""The best test of a level: the smallest type-II error beta of a test with type-I error alpha, both ends certified.

The null hypothesis is Q (without the record in the order "remove"), so beta = f(alpha) is the conjugate of the profile:

    1 - f(alpha) = inf over real eps of  T(eps) = delta(eps) + e^eps alpha

(Dong, Roth and Su 2022, Proposition 6; Zhu, Dong and Wang 2022).  Every eps proves f >= 1 - T.  T is convex in x = e^eps, so
chords continued bound it from below between points, and with that f from above: the randomised threshold test of Neyman and
Pearson attains f.  For eps < 0, delta(eps) = 1 - e^eps + e^eps delta'(-eps) with delta' of the other order, so

    1 - T(eps) = e^eps (1 - alpha - delta'(-eps)):

a small beta is found there without cancellation, a small 1 - beta (true-positive rate) where eps >= 0.  Where alpha and beta are
both small, delta is next to 1 on either side: then 1 - delta must be known by itself.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT, down, exp_down, exp_up, up
from .chords import Interval, lowest

Profile = Callable[[float], Interval]  # both ends of log delta, for epsilon >= 0
Rests = tuple[Profile, Profile]  # of log(1 - delta), in both orders

_MOST = 60
_CLOSE = 1e-10
_NONE: Array = np.empty(0)
_FAR = 1400.0
_NEAR = -0.7  # log delta above which 1 - delta is asked for
_NOISE, _IDLE = 20.0, 6  # a gap to how far a value is known that nothing may narrow, and the steps after which that is seen
_SHORT = 8.0  # by so many times what is not known should values differ
_FEW = 16  # corners that are asked at once


class Errors(NamedTuple):
    """Both ends of the type-II error and of the true-positive rate 1 - beta, each accurate where it is small.

    `epsilon` is about the threshold of the loss that the best test goes by, NaN where it is not known.
    """

    beta: Interval
    tpr: Interval
    epsilon: float = math.nan


class _Point(NamedTuple):
    epsilon: float
    tpr: Interval  # of T
    beta: Interval  # of 1 - T


def best_test(
    forward: Profile,
    backward: Profile,
    alpha: float,
    guess: float = 1.0,
    kinks: Array = _NONE,
    rests: Rests | None = None,
) -> Errors:
    """The best test of level alpha, 0 < alpha < 1; `guess` is about the mu of the run, T may have corners at the `kinks`.

    `rests` are asked where delta is next to 1.

    >>> from hockeystick.conversion import gdp_to_log_delta
    >>> profile = lambda epsilon: 2 * (gdp_to_log_delta(2.0, epsilon),)
    >>> print(f"{best_test(profile, profile, 0.5, 2.0).beta[0]:.9f}")
    0.022750132
    """
    curve = _Curve(forward, backward, alpha, kinks, rests)
    points = curve.bracketed(_first(alpha, guess))
    if points[0].epsilon == -_FAR and curve.nothing_left():
        return Errors((0.0, math.ulp(0.0)), (down(1.0), 1.0), -_FAR)
    floors = {False: 0.0, True: -1.0}  # of T, and of -beta: every model is a proof, so the best one found counts
    gaps: list[float] = []
    for step in range(_MOST):
        best = points[_best(points)]
        small = best.epsilon < 0.0 or best.beta[0] < 0.5
        low, place = curve.model(points, small)
        floors[small] = low = max(floors[small], low)
        high, known = (-best.beta[0], best.beta) if small else (best.tpr[1], best.tpr)
        gaps.append(high - low)
        if gaps[-1] <= max(_CLOSE * abs(high), 2.0 * (known[1] - known[0])):
            break
        if gaps[-1] <= _NOISE * (known[1] - known[0]) and step > _IDLE and gaps[-1] > 0.95 * gaps[-1 - _IDLE]:
            break  # what is not known of the profile hides the rest
        place = (curve.smooth(points, small) or place) if step % 3 < 2 else curve.halved(points, place)
        if any(_close(place, point.epsilon) for point in points):
            place = curve.between(points)
        if curve.cornered(best) and not _distinct(points, place, small):
            place = _across(points, place)  # a chord that short says nothing, and would take the place of a longer one
        if any(_close(place, point.epsilon) for point in points):
            break
        points = _narrowed([*points, curve.ask(place)])
    best = points[_best(points)]
    beta = min(-floors[True], up(1.0 - floors[False]))
    tpr = max(floors[False], down(1.0 + floors[True]))
    least, most = max(0.0, best.beta[0]), min(1.0, best.tpr[1])
    return Errors((least, min(1.0, max(beta, least))), (max(0.0, min(tpr, most)), most), best.epsilon)


def _first(alpha: float, mu: float) -> float:
    """Where the best epsilon would be if the run were mu-GDP."""
    from scipy.special import ndtri

    mu = min(max(mu, 1e-6), 40.0)
    return -mu * float(ndtri(max(alpha, 1e-300))) - 0.5 * mu * mu


class _Curve:
    def __init__(self, forward: Profile, backward: Profile, alpha: float, kinks: Array, rests: Rests | None) -> None:
        self.forward, self.backward, self.alpha, self.kinks, self.rests = forward, backward, alpha, kinks, rests
        self.log_alpha = math.log(alpha)

    def ask(self, epsilon: float) -> _Point:
        if epsilon >= 0.0:
            low, high = self.forward(epsilon)
            exponent = epsilon + self.log_alpha
            slack = FUNCTION * abs(self.log_alpha) + UNIT * abs(exponent)
            most = up(exp_up(high) + exp_up(exponent + slack, 1e300))
            least = max(0.0, down(exp_down(low) + exp_down(exponent - slack)))
            beta = down(1.0 - most), up(1.0 - least)
            if self.rests and high > _NEAR and _loose(beta):
                known = self.rests[0](epsilon)
                free = exp_down(known[0]) - exp_up(exponent + slack, 1e300), exp_up(known[1]) - exp_down(exponent - slack)
                beta = max(beta[0], down(free[0])), min(beta[1], up(free[1]))
            return _Point(epsilon, (least, most), beta)
        low, high = self.backward(-epsilon)
        rest = 1.0 - self.alpha
        slack = (0.0 if self.alpha >= 0.5 else UNIT) + 2.0 * UNIT * rest  # 1 - alpha is exact from a half on
        weights = exp_down(epsilon), exp_up(epsilon)
        least, most = rest - exp_up(high, 1.0) - slack, rest - exp_down(low) + slack
        if self.rests and high > _NEAR and _loose((least, most)):
            known = self.rests[1](-epsilon)
            least = max(least, down(exp_down(known[0]) - self.alpha))
            most = min(most, up(exp_up(known[1]) - self.alpha))
        beta = least * weights[0 if least > 0.0 else 1], most * weights[1 if most > 0.0 else 0]
        beta = down(beta[0]), up(beta[1])
        return _Point(epsilon, (down(1.0 - beta[1]), up(1.0 - beta[0])), beta)

    def nothing_left(self) -> bool:
        """Whether beta is 0 up to e^-_FAR: beta is the largest over x = e^epsilon of B(x) = x (1 - alpha - delta(1 / x)), which
        is concave with B(0) = 0 and B(x) <= x, so that it stays below 0 from where it is.
        """
        return down(self.alpha + exp_down(self.backward(_FAR)[0])) >= 1.0

    def cornered(self, point: _Point) -> bool:
        """Whether the point is at a corner."""
        i = int(self.kinks.searchsorted(point.epsilon))
        return any(_close(kink, point.epsilon) for kink in self.kinks[max(0, i - 1) : i + 1].tolist())

    def bracketed(self, start: float) -> list[_Point]:
        """Points of which an inner one is the best."""
        step = 0.05 + 0.05 * abs(start)
        points = [self.ask(start - step), self.ask(start), self.ask(start + step)]
        for _ in range(60):
            best = _best(points)
            if 0 < best < len(points) - 1:
                break
            step *= 2.0
            if best == 0:
                points.insert(0, self.ask(max(points[0].epsilon - step, -_FAR)))
            else:
                points.append(self.ask(min(points[-1].epsilon + step, _FAR)))
            if points[0].epsilon == -_FAR or points[-1].epsilon == _FAR:
                break
        for kink in self.kinks.tolist() if self.kinks.size <= _FEW else ():  # all of them
            if points[0].epsilon < kink < points[-1].epsilon and not any(_close(kink, point.epsilon) for point in points):
                points = sorted([*points, self.ask(kink)])
        return _narrowed(points)

    def model(self, points: list[_Point], small: bool) -> tuple[float, float]:
        """The least value of the chords continued (of T, or of -beta where beta is small), and where it is."""
        middle = _middle(points)
        places, ends = [math.nan] * 5, [(0.0, 0.0)] * 5
        for i, point in enumerate(points, start=2 - middle):
            if abs(point.epsilon - points[middle].epsilon) > 600.0 and i in (0, 4):
                continue  # too far for its chord to say anything
            places[i] = point.epsilon
            ends[i] = (-point.beta[1], -point.beta[0]) if small else point.tpr
        bound, place = lowest(places, ends)
        return down(bound), self._kink(place, points)

    def smooth(self, points: list[_Point], small: bool) -> float | None:
        """Where T has no corner: the vertex of the parabola through three points, or a point close beside it."""
        middle = _best(points)
        if not 0 < middle < len(points) - 1:
            return None
        left, best, right = points[middle - 1 : middle + 2]
        a, b = best.epsilon - left.epsilon, right.epsilon - best.epsilon
        if self.kinks.size and self.kinks.searchsorted(left.epsilon) < self.kinks.searchsorted(right.epsilon, "right"):
            return None
        low, top, high = ((-sum(point.beta) if small else sum(point.tpr)) for point in (left, best, right))
        bend = b * (low - top) + a * (high - top)
        if not bend > 0.0:
            return None
        shift = 0.5 * (b * b * (low - top) - a * a * (high - top)) / bend
        noise = max((point.beta[1] - point.beta[0] if small else point.tpr[1] - point.tpr[0]) for point in (left, best, right))
        least = max(3e-6, math.sqrt(20.0 * noise * a * b * (a + b) / bend))  # nearer, the values do not differ
        if abs(shift) > max(0.02 * min(a, b), least):
            inside = -a + least < shift < b - least
            return best.epsilon + shift if inside else None
        near = max(10.0 * abs(shift), least)
        if max(a, b) < 4.0 * near:
            return None
        return best.epsilon - near if a > b else best.epsilon + near

    def halved(self, points: list[_Point], place: float) -> float:
        """The middle of the wider side, where that is no matter of rounding: one side may shrink too slowly."""
        left, best, right = (point.epsilon for point in points[_middle(points) - 1 : _middle(points) + 2])
        wide, narrow = (left, right) if best - left > right - best else (right, left)
        return self._kink(self.between(points), points) if abs(best - wide) > 20.0 * abs(best - narrow) else place

    @staticmethod
    def between(points: list[_Point]) -> float:
        """The middle of the wider side of the best point."""
        left, best, right = (point.epsilon for point in points[_middle(points) - 1 : _middle(points) + 2])
        return 0.5 * (best + (left if best - left > right - best else right))

    def _kink(self, place: float, points: list[_Point]) -> float:
        """The next kink that has not been asked, if one lies between the same two points."""
        known = sorted(point.epsilon for point in points)
        right = bisect_left(known, place)
        if not 0 < right < len(known):
            return place
        i = int(self.kinks.searchsorted(place))
        inside = [float(k) for k in self.kinks[max(0, i - 1) : i + 1] if known[right - 1] < k < known[right]]
        return min(inside, key=lambda kink: abs(kink - place)) if inside else place


def _best(points: list[_Point]) -> int:
    """The index of the point with the smallest T, by beta where that is the smaller."""
    if max(point.beta[0] for point in points) < 0.5:
        return max(range(len(points)), key=lambda i: points[i].beta[0])
    return min(range(len(points)), key=lambda i: points[i].tpr[1])


def _distinct(points: list[_Point], place: float, small: bool) -> bool:
    """Whether a value there would differ from the best one by more than what is not known of them."""
    middle = _middle(points)
    best, beside = points[middle], points[middle + (1 if place > points[middle].epsilon else -1)]
    (low, high), (least, most) = (point.beta if small else point.tpr for point in (best, beside))
    share = (place - best.epsilon) / (beside.epsilon - best.epsilon)
    return abs(0.5 * (low + high - least - most)) * share > _SHORT * max(high - low, most - least) or share > 1.0


def _across(points: list[_Point], place: float) -> float:
    """The middle of the other side of the best point."""
    middle = _middle(points)
    best = points[middle].epsilon
    return 0.5 * (best + points[middle + (-1 if place > best else 1)].epsilon)


def _loose(ends: Interval) -> bool:
    """Whether nine digits are not known."""
    return ends[1] - ends[0] > 1e-9 * abs(ends[1])


def _close(one: float, other: float) -> bool:
    """Whether two epsilons are too near each other for a chord."""
    return abs(one - other) <= 1e-12 * (1.0 + abs(one))


def _middle(points: list[_Point]) -> int:
    """The best, or the nearest to it that has neighbours."""
    return min(max(_best(points), 1), len(points) - 2)


def _narrowed(points: list[_Point]) -> list[_Point]:
    """The best point and, on each side, up to two neighbours."""
    ranked = sorted(set(points))
    i = _middle(ranked)
    return ranked[max(0, i - 2) : i + 3]
