"""Trade-off curves: the smallest type-II error beta of a test with type-I error alpha, from other guarantees and to them.

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
from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .. import checks
from ..errors import BadType, BadValue
from ..numerics.rounding import FUNCTION, UNIT, down, exp_down, exp_up, up
from ..numerics.series import Array
from . import arguments
from .broadcast import broadcast
from .curve import best_order, checked_curve, listed_orders
from .group import probability
from .normals import quantile
from .order import checked_profile

Interval = tuple[float, float]
Profile = Callable[[float], Interval]  # both ends of log delta, for epsilon >= 0
Rests = tuple[Profile, Profile]  # of log(1 - delta), in both orders

_MOST = 60
_CLOSE = 1e-10
_NONE: Array = np.empty(0)
_FAR = 1400.0
_NEAR = -0.7  # log delta above which 1 - delta is asked for


@broadcast
def approx_tradeoff(epsilon: float, delta: float, alpha: float) -> float:
    """max(0, 1 - delta - e^epsilon alpha, e^-epsilon (1 - delta - alpha)), rounded down: what (epsilon, delta)-DP says of tests.

    No test of level alpha has a smaller second error (Wasserman and Zhou 2010; Dong, Roth and Su 2022, Proposition 3).

    >>> round(approx_tradeoff(epsilon=1.0, delta=1e-5, alpha=0.5), 9)
    0.183936042
    """
    epsilon, delta, alpha = arguments.level("epsilon", epsilon), probability("delta", delta), probability("alpha", alpha)
    rest = Fraction(1) - Fraction(delta)
    first = rest - Fraction(exp_up(epsilon + math.log(alpha) + FUNCTION * (epsilon + 800.0), 2.0)) if alpha else rest
    if alpha and epsilon < 700.0:
        first = max(first, rest - Fraction(exp_up(epsilon)) * Fraction(alpha))
    second = Fraction(exp_down(-epsilon)) * (rest - Fraction(alpha))
    return max(0.0, down(float(max(first, second))))


@broadcast
def rdp_tradeoff(order: float, gamma: float, alpha: float) -> float:
    """The smallest second error that Rényi divergences of this order, at most gamma in both directions, allow; rounded down.

    A test makes two-point laws (1 - beta, beta) and (alpha, 1 - alpha) of a pair, whose divergences are no larger (data
    processing); and that pair of two points obeys the claim itself, so nothing better follows from one order.

    >>> round(rdp_tradeoff(order=4.0, gamma=2.0, alpha=0.01), 9)
    0.8583257
    """
    order, gamma, alpha = arguments.order(order), arguments.level("gamma", gamma), probability("alpha", alpha)
    return _renyi_error(order, gamma, alpha)


def _renyi_error(order: float, gamma: float, alpha: float) -> float:
    if alpha == 1.0 or gamma == math.inf:
        return 0.0
    if alpha == 0.0:
        return 1.0  # a finite divergence: the laws have the same null sets
    yes, no = math.log(alpha), math.log1p(-alpha)
    budget = (order - 1.0) * gamma * (1.0 + 4.0 * UNIT)

    def excluded(log_beta: float) -> bool:
        """Whether a test with this second error is surely against the claim, in one direction or the other."""
        caught = math.log(-math.expm1(log_beta)) if log_beta < 0.0 else -math.inf
        size = abs(yes) + abs(no) + abs(caught) + abs(log_beta)
        slack = (2.0 * order * FUNCTION) * (size + 4.0)
        for p, q in (((caught, log_beta), (yes, no)), ((yes, no), (caught, log_beta))):
            terms = [order * one + (1.0 - order) * other for one, other in zip(p, q, strict=True)]
            total = max(terms) + math.log1p(math.exp(min(terms) - max(terms)))
            if total > budget + slack:
                return True
        return False

    low, high = -745.0, no  # 1 - alpha is what a blind test has
    if not excluded(low):
        return 0.0
    while True:
        middle = 0.5 * (low + high)
        if not low < middle < high or high - low < 1e-16 * abs(low):
            return exp_down(low)
        low, high = (middle, high) if excluded(middle) else (low, middle)


def rdp_curve_tradeoff(rdp: Callable[[float], float], alpha: Any, orders: Iterable[float] | None = None) -> Any:
    """The largest `rdp_tradeoff` over the orders of a Rényi curve, rounded down, and the order that attains it.

    Any order is a proof; real orders are searched unless `orders` are listed.

    >>> beta, order = rdp_curve_tradeoff(lambda order: 0.5 * order, alpha=0.01)
    >>> round(beta, 6), round(order, 2)
    (0.875411, 2.91)
    """
    curve, listed = checked_curve(rdp), listed_orders(orders)

    @broadcast
    def answer(alpha: float) -> tuple[float, float]:
        alpha = probability("alpha", alpha)
        if listed is not None:
            return max((_renyi_error(order, curve(order), alpha), order) for order in listed)
        _, t = best_order(lambda t: -_renyi_error(1.0 + t, curve(1.0 + t), alpha))
        return _renyi_error(1.0 + t, curve(1.0 + t), alpha), 1.0 + t

    return answer(alpha)


def profile_tradeoff(profile: Callable[[float], float], alpha: Any) -> Any:
    """The smallest second error that a privacy profile, of both orders, allows at level alpha; rounded down.

    The supremum over real epsilon of 1 - delta(epsilon) - e^epsilon alpha; any epsilon is a proof.

    >>> round(profile_tradeoff(lambda epsilon: max(0.0, -math.expm1((epsilon - 1.0) / 2.0)), alpha=0.1), 9)
    0.728171817
    """
    known = checked_profile(profile)

    def logarithm(epsilon: float) -> Interval:
        delta = known(epsilon)
        log = math.log(delta) if delta else -math.inf
        return (log, log) if log == -math.inf else (log + FUNCTION * log, min(0.0, log - FUNCTION * log))

    @broadcast
    def answer(alpha: float) -> float:
        alpha = probability("alpha", alpha)
        if alpha in (0.0, 1.0):
            return 0.0 if alpha else max(0.0, down(1.0 - known(600.0)))
        return max(0.0, best_test(logarithm, logarithm, alpha).beta[0])

    return answer(alpha)


def tradeoff_to_delta(tradeoff: Callable[[float], float], epsilon: Any) -> Any:
    """delta(epsilon) = max over alpha of 1 - f(alpha) - e^epsilon alpha for a convex trade-off curve f; rounded up.

    Between the levels asked f is above its chords continued, so what is returned is never below the maximum.

    >>> from hockeystick.conversion import gdp_tradeoff
    >>> round(tradeoff_to_delta(lambda alpha: gdp_tradeoff(1.0, alpha), epsilon=1.0), 9)
    0.126936738
    """
    if not callable(tradeoff):
        raise BadType(f"tradeoff is {tradeoff!r} ({type(tradeoff).__name__}); allowed: a function alpha -> beta.")

    def checked(alpha: float) -> float:
        beta = probability(f"tradeoff({alpha})", tradeoff(alpha))
        if beta > 1.0 - alpha + 4.0 * UNIT:
            raise BadValue(f"tradeoff({alpha}) is {beta}; allowed: at most {1.0 - alpha}, which a blind test attains.")
        return beta

    @broadcast
    def answer(epsilon: float) -> float:
        weight = exp_down(min(arguments.level("epsilon", epsilon), 700.0))
        return _conjugate(checked, weight)

    return answer(epsilon)


def _conjugate(f: Callable[[float], float], weight: float) -> float:
    """An upper bound of max 1 - f(a) - weight a over 0 <= a <= 1/weight."""
    last = min(1.0, 1.0 / weight)
    points = [(a, f(a)) for a in (0.0, *(last * 2.0**-k for k in range(30, 0, -3)), last)]
    for _ in range(120):
        best = max(1.0 - beta - weight * a for a, beta in points)
        bound, place = 0.0, 0.0
        for i, ((a1, b1), (a2, b2)) in enumerate(pairwise(points)):
            candidates = [a1, a2]
            left = (b1 - points[i - 1][1]) / (a1 - points[i - 1][0]) if i > 0 else -math.inf
            right = (points[i + 2][1] - b2) / (points[i + 2][0] - a2) if i + 2 < len(points) else 0.0
            if left > -math.inf and left != right:
                cross = (b2 - b1 + left * a1 - right * a2) / (left - right)
                candidates += [cross] if a1 < cross < a2 else []
            for a in candidates:
                floor = max(b1 + left * (a - a1) if left > -math.inf else 0.0, b2 + right * (a - a2), 0.0)
                floor = max(floor, b1 if a == a1 else 0.0)
                bound, place = max((bound, place), (1.0 - floor - weight * a, a if a1 < a < a2 else 0.5 * (a1 + a2)))
        if bound <= best + 1e-12 * best + 1e-16 or any(place == a for a, _ in points):
            break
        points = sorted([*points, (place, f(place))])
    return min(1.0, max(0.0, up(bound, 16.0 * UNIT)))


@broadcast
def mu_of_test(alpha: float, beta: float) -> float:
    """The mu that a test with these errors proves at least: Phi^-1(1 - alpha) - Phi^-1(beta), rounded down; 0 if it proves none.

    >>> round(mu_of_test(alpha=0.5, beta=0.022750131948), 9)
    2.0
    """
    alpha, beta = probability("alpha", alpha), probability("beta", beta)
    if alpha == 0.0 or beta == 0.0:
        return math.inf if alpha < 1.0 and beta < 1.0 else 0.0
    if alpha == 1.0 or beta == 1.0:
        return 0.0
    total = 0.0
    for error in (alpha, beta):  # -Phi^-1 of each
        log = math.log(error if error <= 0.5 else 1.0 - error)
        if error <= 0.5:
            total = down(total + quantile(log - FUNCTION * log, -1.0))
        else:
            total = down(total - quantile(log + FUNCTION * log, 1.0))
    return max(0.0, total)


@broadcast
def gdp_mu_clt_approximation(rate: float, sigma: float, steps: float) -> float:
    """rate sqrt(steps (e^(1/sigma^2) - 1)): the limit of mu for many steps of small rate.  An approximation, not a guarantee.

    Poisson-sampled Gaussian noise (Bu, Dong, Long and Su 2020); the truth may lie on either side.  `mu(delta=...)` of a run is
    certified.

    >>> round(gdp_mu_clt_approximation(rate=0.328, sigma=9.4, steps=2000), 6)
    1.564916
    """
    rate, sigma = checks.rate("rate", rate), checks.positive("sigma", sigma)
    steps = checks.count("steps", steps)
    square = 1.0 / sigma / sigma
    if square > 700.0:
        return math.inf if rate and steps else 0.0
    return rate * math.sqrt(steps * math.expm1(square))


class Errors(NamedTuple):
    """Both ends of the type-II error and of the true-positive rate 1 - beta, each accurate where it is small.

    `epsilon` is about the threshold of the loss that the best test goes by, NaN where it is not told.
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
    for step in range(_MOST):
        best = points[_best(points)]
        small = best.epsilon < 0.0 or best.beta[0] < 0.5
        low, place = curve.model(points, small)
        floors[small] = low = max(floors[small], low)
        high, known = (-best.beta[0], best.beta) if small else (best.tpr[1], best.tpr)
        if high - low <= max(_CLOSE * abs(high), 3.0 * (known[1] - known[0])):
            break
        place = (curve.smooth(points, small) or place) if step % 3 < 2 else curve.halved(points, place)
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
            if self.rests and high > _NEAR:
                known = self.rests[0](epsilon)
                free = exp_down(known[0]) - exp_up(exponent + slack, 1e300), exp_up(known[1]) - exp_down(exponent - slack)
                beta = max(beta[0], down(free[0])), min(beta[1], up(free[1]))
            return _Point(epsilon, (least, most), beta)
        low, high = self.backward(-epsilon)
        rest = 1.0 - self.alpha
        slack = (0.0 if self.alpha >= 0.5 else UNIT) + 2.0 * UNIT * rest  # 1 - alpha is exact from a half on
        weights = exp_down(epsilon), exp_up(epsilon)
        least, most = rest - exp_up(high, 1.0) - slack, rest - exp_down(low) + slack
        if self.rests and high > _NEAR:
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
        return _narrowed(points)

    def model(self, points: list[_Point], small: bool) -> tuple[float, float]:
        """The least value of the chords continued (of T, or of -beta where beta is small), and where it is."""
        middle = _middle(points)
        scale = points[middle].epsilon
        xs, ends = [math.nan] * 5, [(0.0, 0.0)] * 5
        for i, point in enumerate(points, start=2 - middle):
            away = point.epsilon - scale
            if abs(away) > 600.0 and i in (0, 4):
                continue  # too far for its chord to say anything
            xs[i] = math.exp(min(max(away, -600.0), 600.0))  # a nearer place makes chords steeper: the safe side
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
        least = max(3e-6, math.sqrt(20.0 * noise * a * b * (a + b) / bend))  # nearer, the values cannot be told apart
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
        return self._kink(0.5 * (best + wide), points) if abs(best - wide) > 20.0 * abs(best - narrow) else place

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
    """The index of the point with the smallest T, told by beta where that is the smaller."""
    if max(point.beta[0] for point in points) < 0.5:
        return max(range(len(points)), key=lambda i: points[i].beta[0])
    return min(range(len(points)), key=lambda i: points[i].tpr[1])


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
