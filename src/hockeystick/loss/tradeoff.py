"""The trade-off curve of a run: the smallest type-II error beta of a test with type-I error alpha, both ends.

The null hypothesis is Q (without the record in the order "remove"), so beta = f(alpha) is the conjugate of the profile:

    1 - f(alpha) = inf over real eps of  T(eps) = delta(eps) + e^eps alpha

(Dong, Roth and Su 2022, Proposition 6; Zhu, Dong and Wang 2022).  Every eps proves f >= 1 - T.  T is convex in x = e^eps, so
chords continued bound it from below between points, and with that f from above: the randomised threshold test of Neyman and
Pearson attains f.  For eps < 0, delta(eps) = 1 - e^eps + e^eps delta'(-eps) with delta' of the other order, so

    1 - T(eps) = e^eps (1 - alpha - delta'(-eps)):

a small beta is found there without cancellation, a small 1 - beta (true-positive rate) where eps >= 0.
"""

import math
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..conversion.gdp import error_ends
from ..numerics.rounding import FUNCTION, UNIT, down, exp_down, exp_up, up
from ..numerics.series import Array
from .composed import ComposedLoss
from .gaussian import SQUARE_ERROR, GaussianLoss
from .gdp import kinks

Interval = tuple[float, float]
Profile = Callable[[float], Interval]  # both ends of log delta, for epsilon >= 0

_MOST = 60
_CLOSE = 1e-10
_NONE: Array = np.empty(0)
_FAR = 1400.0


class Errors(NamedTuple):
    """Both ends of the type-II error and of the true-positive rate 1 - beta, each accurate where it is small."""

    beta: Interval
    tpr: Interval


class _Point(NamedTuple):
    epsilon: float
    tpr: Interval  # of T
    beta: Interval  # of 1 - T


def tester(run: ComposedLoss, forward: Profile, backward: Profile) -> Callable[[float], Errors]:
    """The best test of each level from 0 to 1 for a run; `forward` and `backward` are its profiles in the two orders."""
    corners = kinks(run)
    tops = [single.ceiling for single in run.singles()] if run.exact else []
    corners = np.unique(np.concatenate((corners, -corners, [end for top in tops if top < 1e9 for end in (top, -top)])))
    alone = run.terms[0][0] if len(run.terms) == 1 else None
    mu = math.sqrt(alone.square) if isinstance(alone, GaussianLoss) else 0.0
    guess: list[float] = []

    def test(alpha: float) -> Errors:
        if mu or not run.terms or alpha == 1.0:  # in closed form
            return Errors(*error_ends(mu * (1.0 - SQUARE_ERROR), mu * (1.0 + SQUARE_ERROR), alpha))
        if alpha == 0.0:
            return _surely(run)
        if not guess:
            high = forward(0.0)[1]
            guess.append(math.exp(high) * math.sqrt(2.0 * math.pi) if high < -1.0 else 2.0)
        return best_test(forward, backward, alpha, guess[0], corners)

    return test


def _surely(run: ComposedLoss) -> Errors:
    """Without a false accusation only infinite losses tell."""
    mass = max(float(single.infinite()) for one in run.variants("covers")[:1] for single in one.singles())
    if mass == 0.0:
        return Errors((1.0, 1.0), (0.0, 0.0))
    low = max(0.0, down(mass)) if run.exact else 0.0
    return Errors((down(1.0 - up(mass)), up(1.0 - low) if low else 1.0), (low, up(mass)))


def best_test(forward: Profile, backward: Profile, alpha: float, guess: float = 1.0, kinks: Array = _NONE) -> Errors:
    """The best test of level alpha, 0 < alpha < 1; `guess` is about the mu of the run, T may have corners at the `kinks`.

    >>> from hockeystick.conversion import gdp_to_log_delta
    >>> profile = lambda epsilon: 2 * (gdp_to_log_delta(2.0, epsilon),)
    >>> print(f"{best_test(profile, profile, 0.5, 2.0).beta[0]:.9f}")
    0.022750132
    """
    curve = _Curve(forward, backward, alpha, kinks)
    points = curve.bracketed(_first(alpha, guess))
    for _ in range(_MOST):
        best = points[_best(points)]
        small = best.epsilon < 0.0
        low, place = curve.model(points, small)
        high = best.tpr[1] if not small else -best.beta[0]
        if not high - low > _CLOSE * abs(high) or place in (point.epsilon for point in points):
            break
        known = best.tpr if not small else best.beta
        if high - low <= 3.0 * (known[1] - known[0]):
            break
        points = _narrowed([*points, curve.ask(place)])
    best = points[_best(points)]
    small = best.epsilon < 0.0
    low, _ = curve.model(points, small)
    if small:
        top = min(1.0, max(-low, best.beta[0]))
        return Errors((best.beta[0], top), (max(0.0, down(1.0 - top)), best.tpr[1]))
    low = max(0.0, min(low, best.tpr[1]))
    return Errors((best.beta[0], min(1.0, up(1.0 - low))), (low, best.tpr[1]))


def _first(alpha: float, mu: float) -> float:
    """Where the best epsilon would be if the run were mu-GDP."""
    from scipy.special import ndtri

    mu = min(max(mu, 1e-6), 1e3)
    return -mu * float(ndtri(max(alpha, 1e-300))) - 0.5 * mu * mu


class _Curve:
    def __init__(self, forward: Profile, backward: Profile, alpha: float, kinks: Array) -> None:
        self.forward, self.backward, self.alpha, self.kinks = forward, backward, alpha, kinks
        self.log_alpha = math.log(alpha)

    def ask(self, epsilon: float) -> _Point:
        if epsilon >= 0.0:
            low, high = self.forward(epsilon)
            exponent = epsilon + self.log_alpha
            slack = FUNCTION * abs(self.log_alpha) + UNIT * abs(exponent)
            most = up(exp_up(high) + exp_up(exponent + slack, 1e300))
            least = max(0.0, down(exp_down(low) + exp_down(exponent - slack)))
            return _Point(epsilon, (least, most), (down(1.0 - most), up(1.0 - least)))
        low, high = self.backward(-epsilon)
        rest = 1.0 - self.alpha
        slack = UNIT + 4.0 * UNIT * rest
        weights = exp_down(epsilon), exp_up(epsilon)
        least, most = rest - exp_up(high, 1.0) - slack, rest - exp_down(low) + slack
        beta = least * weights[0 if least > 0.0 else 1], most * weights[1 if most > 0.0 else 0]
        beta = down(beta[0]), up(beta[1])
        return _Point(epsilon, (down(1.0 - beta[1]), up(1.0 - beta[0])), beta)

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
            if abs(points[0].epsilon) == _FAR or points[-1].epsilon == _FAR:
                break
        return _narrowed(points)

    def model(self, points: list[_Point], small: bool) -> tuple[float, float]:
        """The least value of the chords continued (of T, or of -beta where beta is small), and where it is."""
        middle = _best(points)
        scale = points[middle].epsilon
        xs, ends = [math.nan] * 5, [(0.0, 0.0)] * 5
        for i, point in enumerate(points, start=2 - middle):
            xs[i] = math.exp(min(point.epsilon - scale, 600.0))
            ends[i] = (-point.beta[1], -point.beta[0]) if small else point.tpr
        least, place = ends[2][0], scale
        best = math.inf
        for inner, outer, beyond in ((1, 0, 3), (3, 4, 1)):
            # between the best point and its neighbour: above the chord from the far side, and above that from this side
            slope = (ends[2][0] - ends[beyond][1]) / (xs[2] - xs[beyond])
            other = -math.inf if math.isnan(xs[outer]) else (ends[inner][0] - ends[outer][1]) / (xs[inner] - xs[outer])
            candidates = [xs[inner], xs[2]]
            if math.isfinite(other) and other != slope:
                cross = (ends[inner][0] - ends[2][0] + slope * xs[2] - other * xs[inner]) / (slope - other)
                if min(candidates) < cross < max(candidates):
                    candidates.append(cross)
            at, where = math.inf, xs[inner]
            for x in candidates:
                value = ends[2][0] + slope * (x - xs[2])
                if math.isfinite(other):
                    value = max(value, ends[inner][0] + other * (x - xs[inner]))
                at, where = min((at, where), (value, x))
            if where == xs[inner]:
                where = math.sqrt(xs[inner] * xs[2])
            if at < best:
                best, place = at, scale + math.log(where)
            best = min(best, _outside(xs, ends, inner, outer))
        least = min(least, best)
        return down(least, 1e-14 * abs(least)), self._kink(place, points)

    def _kink(self, place: float, points: list[_Point]) -> float:
        """The next kink that has not been asked, if one lies between the same two points."""
        known = sorted(point.epsilon for point in points)
        right = bisect_left(known, place)
        if not 0 < right < len(known):
            return place
        i = int(self.kinks.searchsorted(place))
        inside = [float(k) for k in self.kinks[max(0, i - 1) : i + 1] if known[right - 1] < k < known[right]]
        return min(inside, key=lambda kink: abs(kink - place)) if inside else place


def _outside(xs: list[float], ends: list[Interval], inner: int, outer: int) -> float:
    """A lower bound beyond a neighbour of the best point: inf if it is surely higher, for then all beyond is, too."""
    if ends[inner][0] >= ends[2][1]:
        return math.inf
    if math.isnan(xs[outer]) or ends[outer][0] < ends[inner][1]:
        return -1.0  # nothing is sure
    slope = (ends[inner][0] - ends[2][1]) / (xs[inner] - xs[2])
    return min(ends[inner][0], ends[inner][0] + slope * (xs[outer] - xs[inner]))


def _best(points: list[_Point]) -> int:
    """The index of the point with the smallest T; where all epsilons are negative, with the largest beta."""
    if all(point.epsilon < 0.0 for point in points):
        return max(range(len(points)), key=lambda i: points[i].beta[0])
    return min(range(len(points)), key=lambda i: points[i].tpr[1])


def _narrowed(points: list[_Point]) -> list[_Point]:
    """The best point and, on each side, up to two neighbours."""
    ranked = sorted(set(points))
    i = min(max(_best(ranked), 1), len(ranked) - 2)
    return ranked[max(0, i - 2) : i + 3]
