"""How much Gaussian DP a privacy profile gives: the transform G(epsilon) = mu_GDP(epsilon, delta(epsilon)) and its supremum.

G here is the paper "Gaussian Differential Privacy Transformation", section 4, in the corrected form of errata G-E1 to G-E5.  A
mechanism is mu-GDP up to epsilon_head exactly if mu is at least the supremum over the head (Theorem 4.1), and mu-GDP if it is at
least that over all epsilon (Corollary 4.1).
"""

import heapq
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..bounds import Bounds
from ..checks import count, non_negative, positive
from ..errors import BadValue, Unsupported
from ..numerics.rounding import FUNCTION, UNIT, up
from ._kernels.broadcast import Broadcast, broadcast
from ._kernels.gaussian_ends import mu_ends
from ._kernels.normals import checked_epsilon, line_mu, mills
from ._kernels.profiles import checked_profile

if TYPE_CHECKING:
    from ..bounds import Array

MOST_INTERVALS = 1_000_000
MOST_EVALUATIONS = 200_000
_FIRST = 8


def gdp_transform(profile: Callable[[float], float]) -> "Broadcast[[float], float, Array]":
    """G: the function epsilon -> mu_GDP(epsilon, profile(epsilon)), rounded up; inf where the profile is 1.

    Liu et al. 2021, Definition 4.1.

    Parameters
    ----------
    profile : callable
        The privacy profile: maps one epsilon to a delta from 0 to 1.

    Returns
    -------
    callable
        G, a function of a number or an array; its values are rounded up.

    Raises
    ------
    BadType
        If profile is no function, or G is given no real number and no array of them.
    BadValue
        If the profile returns no probability, or G is given an epsilon outside 0 to 1e15.

    Examples
    --------
    >>> gdp_transform(lambda epsilon: 0.5 if epsilon < 1.0 else 0.0)([0.0, 2.0]).round(9)
    array([1.3489795, 0.       ])
    """
    known = checked_profile(profile)

    @broadcast
    def transformed(epsilon: float) -> float:
        epsilon = checked_epsilon(epsilon)
        return mu_ends(epsilon, known(epsilon))[1]

    return transformed


@broadcast
def tail_mu(limsup: float) -> float:
    """The limit superior of G at infinity, sqrt(limsup), rounded up (Liu et al. 2021, Theorem 4.4).

    `limsup` is that of epsilon^2 / (-2 log delta(epsilon)), known by proof: no finite number of values of a profile shows it.
    It may be inf; then, and only then, the mechanism is not GDP for any mu (Liu et al. 2021, Theorem 4.3).

    Parameters
    ----------
    limsup : float or array_like
        From 0 up, or inf.

    Returns
    -------
    float or ndarray
        The limit superior of G, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> tail_mu(0.0), tail_mu(0.25), tail_mu(math.inf)
    (0.0, 0.5, inf)
    """
    if isinstance(limsup, float) and limsup == math.inf:
        return math.inf
    limsup = non_negative("limsup", limsup)
    root = math.sqrt(limsup)
    return root if Fraction(root) ** 2 >= Fraction(limsup) else math.nextafter(root, math.inf)


class _Head:
    """A profile on [0, epsilon_head], as far as it has been asked: values, and both ends of mu there."""

    def __init__(self, profile: Any) -> None:
        self.profile = checked_profile(profile)
        self.delta: dict[float, float] = {}
        self.lower: dict[float, float] = {}
        self.upper: dict[float, float] = {}

    def ask(self, epsilon: float, before: float | None = None, after: float | None = None) -> None:
        """Evaluate the profile; it must not exceed its value at `before`, nor be exceeded by that at `after`."""
        self.delta[epsilon] = self.profile(epsilon)
        for left, right in ((before, epsilon), (epsilon, after)):
            if left is not None and right is not None and self.delta[right] > _raised(self.delta[left]):
                raise BadValue(
                    f"profile({left}) is {self.delta[left]} and profile({right}) is {self.delta[right]}; "
                    "allowed: a profile that does not increase."
                )
        if self.delta[epsilon] == 1.0:
            raise Unsupported(
                f"profile({epsilon}) is 1, to which no mu belongs; missing: a profile below 1 "
                "(refined_profile finds what a naive one implies)."
            )

    def measure(self, epsilon: float) -> None:
        self.lower[epsilon], self.upper[epsilon] = mu_ends(epsilon, self.delta[epsilon])

    def convex_at(self, left: float, epsilon: float, right: float) -> bool:
        """Whether the profile is not visibly above its chord in e^epsilon."""
        share = math.expm1(epsilon - left) / math.expm1(right - left) if right - left < 700.0 else math.exp(epsilon - right)
        chord = self.delta[left] + (self.delta[right] - self.delta[left]) * share
        return self.delta[epsilon] <= _raised(chord)

    def bound(self, left: float, right: float, convex: bool) -> tuple[float, float]:
        """An upper bound of mu between two points, and where to look next."""
        middle = 0.5 * (left + right)
        if self.delta[left] == 0.0:
            return 0.0, middle
        # delta(epsilon) <= delta(left), and mu_GDP grows in epsilon by Mills' ratio at mu/2 + epsilon/mu >= sqrt(2 epsilon)
        best = up(self.upper[left], up(mills(math.sqrt(2.0 * left)) * up(right - left)))
        if not convex:
            return best, middle
        slopes = [self.upper[end] / 2.0 + end / self.upper[end] for end in (left, right) if self.upper[end] > 1e-100]
        if (steep := self.chord_quantile(left, right)) is not None:
            slopes.append(steep)
        place = middle
        for b in slopes:
            value = self.line(left, right, b)
            if value < best:
                best, place = value, value * (b - 0.5 * value)
        margin = 0.1 * (right - left)
        return best, place if left + margin < place < right - margin else middle

    def ranked(self, points: list[float], convex: bool) -> list[tuple[float, float, float, float]]:
        """A heap of the intervals, the one with the largest bound first."""
        heap = []
        for left, right in itertools.pairwise(points):
            value, place = self.bound(left, right, convex)
            heap.append((-value, left, right, place))
        heapq.heapify(heap)
        return heap

    def chord_quantile(self, left: float, right: float) -> float | None:
        """The b with P(N > b) = minus the slope of the chord, roughly."""
        from scipy.special import ndtri_exp

        fall, width = self.delta[left] - self.delta[right], right - left
        if not fall > 0.0:
            return None
        log = math.log(fall) - left - (math.log(math.expm1(width)) if width < 700.0 else width)
        return -float(ndtri_exp(log)) if log < -1e-9 else None

    def line(self, left: float, right: float, b: float) -> float:
        """The mu of the line of slope -P(N > b) through the higher end."""
        ends = ((end, _log_up(self.delta[end])) for end in (left, right))
        return line_mu(tuple(ends), b)


def _log_up(delta: float) -> float:
    """log delta, rounded up."""
    if delta == 0.0:
        return -math.inf
    log = math.log(delta)
    return log - FUNCTION * log


def _raised(delta: float) -> float:
    """What the rounding of a profile may add to it."""
    return delta * (1.0 + 1e-9) + 1e-15


def head_mu_grid(profile: Callable[[float], float], epsilon_head: float, intervals: int) -> Bounds[float]:
    """The supremum of G over [0, epsilon_head] between two staircases on a uniform grid.

    Liu et al. 2021, Theorem 4.6; errata G-E2, G-E3, G-E4, G-E5, and G-E18 for the indices of its Algorithm 3.
    With x_i = i D, D = epsilon_head / intervals: the largest mu_GDP(x_i, delta(x_(i+1))), i <= intervals, and the largest
    mu_GDP(x_(i+1), delta(x_i)), i <= intervals + 1, which asks the profile a little beyond the head.  For privacy profiles they
    differ by sqrt(2 pi) D at most.  `head_mu` needs far fewer evaluations.

    Parameters
    ----------
    profile : callable
        The privacy profile: maps one epsilon to a delta from 0 to 1.
    epsilon_head : float
        The end of the head, above 0, at most 1e15.
    intervals : int
        The number of cells of the grid, from 1 to 1 000 000.

    Returns
    -------
    Bounds
        Both ends of the supremum, the upper one rounded up.

    Raises
    ------
    BadType
        If profile is no function, or another argument no real number.
    BadValue
        If an argument is out of its range, or the profile returns no probability or increases.
    Unsupported
        If the profile is 1 somewhere on the head.

    Examples
    --------
    >>> lower, upper = head_mu_grid(lambda epsilon: max(0.0, -math.expm1(epsilon / 2.0 - 1.0)), 2.0, 20)
    >>> round(lower, 12), round(upper, 12)
    (1.731085278012, 1.868441824758)
    """
    epsilon_head, number = (
        checked_epsilon(positive("epsilon_head", epsilon_head), "epsilon_head"),
        count("intervals", intervals, 1, MOST_INTERVALS),
    )
    head = _Head(profile)
    points = [epsilon_head if i == number else epsilon_head * (i / number) for i in range(number + 3)]
    lower = upper = 0.0
    head.ask(points[0])
    for left, right in itertools.pairwise(points):
        head.ask(right, before=left)
        if left <= epsilon_head:
            lower = max(lower, mu_ends(left, head.delta[right])[0])
        upper = max(upper, mu_ends(right, head.delta[left])[1])
    return Bounds(lower, upper)


def head_mu(profile: Callable[[float], float], epsilon_head: float, tolerance: float) -> Bounds[float]:
    """Both ends, at most `tolerance` apart, of the supremum of G over [0, epsilon_head] (Liu et al. 2021, Theorem 4.1).

    With mu = upper a mechanism that has this profile is (epsilon_head, mu)-head GDP.  `profile` maps one epsilon to a delta.  It
    must not increase, which is checked where it is asked, and it is taken to be convex in e^epsilon between these points, as
    every privacy profile is (so that `upper` holds for the mechanism also if `profile` is only a bound of its own), unless they
    show that it is not: then only Theorem 4.5 and that it does not increase are used, which takes more evaluations.

    Parameters
    ----------
    profile : callable
        The privacy profile: maps one epsilon to a delta from 0 to 1.
    epsilon_head : float
        The end of the head, above 0, at most 1e15.
    tolerance : float
        The width to reach, above 0.

    Returns
    -------
    Bounds
        Both ends of the supremum, at most `tolerance` apart.

    Raises
    ------
    BadType
        If profile is no function, or another argument no real number.
    BadValue
        If an argument is out of its range, or the profile returns no probability or increases.
    Unsupported
        If the profile is 1 somewhere on the head, or 200 000 evaluations do not reach the tolerance.

    Examples
    --------
    >>> bounds = head_mu(lambda epsilon: max(0.0, -math.expm1(epsilon / 2.0 - 1.0)), epsilon_head=2.0, tolerance=1e-9)
    >>> round(bounds.upper, 8), bounds.width <= 1e-9
    (1.80090519, True)
    """
    epsilon_head = checked_epsilon(positive("epsilon_head", epsilon_head), "epsilon_head")
    tolerance = positive("tolerance", tolerance)
    head = _Head(profile)
    points = sorted({epsilon_head * (k / _FIRST) for k in range(_FIRST + 1)})
    for k, point in enumerate(points):
        head.ask(point, before=points[k - 1] if k else None)
        head.measure(point)
    convex = all(head.convex_at(*three) for three in zip(points, points[1:], points[2:], strict=False))
    lower, stuck = max(head.lower.values()), 0.0

    heap = head.ranked(points, convex)
    while heap:
        loose = -heap[0][0] > lower + tolerance * (1.0 - 4.0 * UNIT)
        if not loose and (not convex or len(head.delta) >= 2 * _FIRST):  # some points more, to see whether it is convex
            break
        value, left, right, place = heapq.heappop(heap)
        rounded = -value <= max(head.upper[left], head.upper[right]) * (1.0 + 1e-12)  # no point between can do better
        if (loose and rounded) or not left < place < right or len(head.delta) >= MOST_EVALUATIONS:
            stuck = -value
            break
        head.ask(place, left, right)
        head.measure(place)
        lower = max(lower, head.lower[place])
        if convex and not head.convex_at(left, place, right):
            convex = False
            heap = head.ranked(sorted(head.delta), convex)
            continue
        for start, end in ((left, place), (place, right)):
            bound, following = head.bound(start, end, convex)
            heapq.heappush(heap, (-bound, start, end, following))
    upper = max(stuck, -heap[0][0] if heap else 0.0, max(head.upper.values()))
    if upper - lower > tolerance:
        raise Unsupported(
            f"tolerance is {tolerance} and {len(head.delta)} values of profile leave {upper - lower:.3g}; "
            "missing: a larger tolerance" + ("." if convex else ", or a profile that is convex in e^epsilon.")
        )
    return Bounds(lower, upper)
