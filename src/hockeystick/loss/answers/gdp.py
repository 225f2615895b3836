"""Gaussian DP of a run: the supremum over epsilon of the transform G(epsilon) = mu_GDP(epsilon, delta(epsilon)), both ends.

G is the transform of Liu et al. (2021), section 4.  A pair obeys a mu exactly if delta(eps) <= delta_mu(eps) for
eps >= 0 in both orders: for eps < 0, delta(eps) = 1 - e^eps + e^eps delta'(-eps) with delta' of the other order, and delta_mu
obeys the same with itself.  So add, remove and add-or-remove have the same mu.

Lemmas are those of docs/mathematics.md; the above is Lemma 20.  The head is searched: the profile is convex in e^eps, so between
two points it is below the chord of their upper ends, and delta_mu, convex too, must pass above a line (Lemma 21, `line_mu`).  Far
out Lemma 4 with the exponent of the left point bounds log delta by a straight line, and log delta_mu is concave, so the two ends
decide.  The tail is proved in `gdp_tail.py` (Lemma 22); of Gaussian noise, sampled or not, mu is known (Lemma 23).
"""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ...checks import given
from ...conversion._kernels.normals import line_mu, mills, mu_bounds
from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, SQUARE_ERROR, UNIT, down, up
from ..bounds.renyi import cumulant_above
from ..composed import ComposedLoss
from ..engines.driver import epsilon_proof, log_delta_proof, meet
from ..engines.engine import Proof
from ..pairs.atomic import AtomicLoss
from ..pairs.gaussian import GaussianLoss
from ..pairs.profile import ProfileLoss
from ..protocol import Care, Inconclusive, Interval
from .gdp_tail import UNKNOWN_TAIL, Tail, tails


@dataclass(frozen=True)
class Tuning:
    """How many evaluations of delta a search may spend; nothing here enters a proof."""

    max_evaluations: int = 600
    """After which the ends are as far apart as they are: profiles with many corners take most."""

    free_evaluations: int = 64
    """So many are spent to be closer than asked: most searches end before."""

    max_evaluations_of_bounds: int = 60
    """Of a run that is known by bounds only, each of which takes several engines."""

    relative_width_of_bounds: float = 1e-5
    """As close as such a bound is looked for: its distance from the truth is larger."""


TUNING = Tuning()


class Peak(NamedTuple):
    """Both ends of the supremum, an epsilon that reaches the lower one (inf: the limit), and the evaluations it took."""

    lower: float
    upper: float
    epsilon: float
    evaluations: int
    reason: str = ""


class Head:
    """The profile at the epsilons evaluated so far: both ends of log delta and of mu."""

    def __init__(self, run: ComposedLoss, bounds: list[Tail]) -> None:
        self.run = run
        self.dominating = [run] if run.exact else run.variants("dominating")
        self.tails = bounds
        self.kinks = kinks(run)
        self.log: dict[float, Interval] = {}
        self.mu: dict[float, Interval] = {}

    def evaluate(self, epsilon: float) -> Interval:
        """Both ends of mu there; of a run that is known by bounds only the upper end is worth its cost, the lower is 0."""
        tail = Proof(-math.inf, min(0.0, max(tail.log_bound(epsilon) for tail in self.tails)))
        return self.record(epsilon, *meet(tail, log_delta_proof(self.run, epsilon, upper_only=not self.run.exact)).ends)

    def record(self, epsilon: float, low: float, high: float) -> Interval:
        """Record both ends of log delta."""
        self.log[epsilon] = low, high
        self.mu[epsilon] = mu_ends(epsilon, low)[0], mu_ends(epsilon, high)[1]
        return self.mu[epsilon]

    def bound(self, left: float, right: float) -> tuple[float, float]:
        """An upper bound of mu between two points, and where to look next."""
        middle = math.sqrt(left * right) if right > 4.0 * left > 0.0 else 0.5 * (left + right)
        if self.log[left][1] == -math.inf:
            return 0.0, middle
        # delta falls, and mu_GDP grows in epsilon by Mills' ratio at mu/2 + epsilon/mu >= sqrt(2 epsilon)
        best, place = up(self.mu[left][1], up(mills(math.sqrt(2.0 * left)) * up(right - left))), middle
        ends = tuple((end, self.log[end][1]) for end in (left, right))
        for b in self._slopes(left, right):
            value = line_mu(ends, b)
            if value < best:
                best, place = value, value * (b - 0.5 * value)
        if best > max(self.mu[left][1], self.mu[right][1]) * 1.05 and left > 0.0:
            best = min(best, self._along_a_line(left, right))
        margin = 0.1 * (right - left)
        place = place if left + margin < place < right - margin else middle
        return best, self._kink(left, place, right)

    def _kink(self, left: float, place: float, right: float) -> float:
        """The kink of the profile next to a place, if there is one inside: from kink to kink the chord is the profile."""
        i = int(self.kinks.searchsorted(place))
        margin = 1e-9 * (right - left) + 1e-12 * right
        inside = [float(kink) for kink in self.kinks[max(0, i - 1) : i + 1] if left + margin < kink < right - margin]
        return min(inside, key=lambda kink: abs(kink - place)) if inside else place

    def _slopes(self, left: float, right: float) -> list[float]:
        """Quantiles b for Lemma 21 (the head): those of delta_mu at both ends, and that of the chord's slope; guides."""
        from scipy.special import ndtri_exp

        found = [0.5 * mu + end / mu for end in (left, right) if 1e-100 < (mu := self.mu[end][1]) < 1e7]
        high, low = self.log[left][1], self.log[right][1]
        if high > low:
            fall = math.log(-math.expm1(low - high)) if low > -math.inf else 0.0
            width = right - left
            log = high + fall - left - (math.log(math.expm1(width)) if width < 700.0 else width)
            if log < -1e-9:
                found.append(-float(ndtri_exp(log)))
        return found

    def _along_a_line(self, left: float, right: float) -> float:
        """By Lemma 4 with one exponent c: log delta(eps) <= log c^c/(1+c)^{1+c} + K(c) - c eps, largest mu at an end."""
        try:
            c = self._exponent(left)
        except Inconclusive:
            return math.inf
        if not 0.0 < c < 1e12:
            return math.inf
        total = -math.inf
        for one in self.dominating[:1]:
            total = max(cumulant_above(single, c) for single in one.ordered_pairs())
        if not total < math.inf:
            return math.inf
        factor = -math.log1p(c) - c * math.log1p(1.0 / c)
        found = 0.0
        for end in (left, right):
            value = total - c * end + factor
            log = min(0.0, up(value, 8.0 * FUNCTION * (1.0 + abs(total) + c * end + abs(factor))))
            found = max(found, mu_ends(end, log)[1])
        return found

    def _exponent(self, epsilon: float) -> float:
        """About the c that serves best: a guide."""
        if not all(one.has_transform for one in self.dominating):
            square = max(tail.square for tail in self.tails)
            return epsilon / square - 0.5 if square > 0.0 else 0.0
        return self.dominating[0].saddle_of_epsilon(epsilon)


def kinks(run: ComposedLoss) -> Array:
    """Where the profile of a run of atoms has its kinks, if they are easily found: a guide."""
    if not run.exact or run.rows > 1 or not all(isinstance(loss, AtomicLoss) for loss, _ in run.terms):
        return np.empty(0)
    first = run.terms[0][0] if run.terms else None
    if isinstance(first, AtomicLoss) and len(run.terms) == 1 and run.terms[0][1] == 1:
        z: Array = first.atoms.z
        return np.unique(z[z > 0.0])
    top = math.fsum(count * float(loss.atoms.z[-1]) for loss, count in run.terms if isinstance(loss, AtomicLoss))
    if not run.lattice_step or not top / run.lattice_step < 1e6:
        return np.empty(0)
    return np.arange(top % run.lattice_step, top, run.lattice_step)


def mu_ends(epsilon: float, log_delta: float) -> Interval:
    """Both ends of the mu with log delta_mu(epsilon) = log_delta."""
    if log_delta == -math.inf:
        return 0.0, 0.0
    if log_delta >= 0.0:
        return 0.0, math.inf  # nearly 1: no upper end is known
    return mu_bounds(epsilon, log_delta, log_delta)


def gaussian_dp(run: ComposedLoss, delta: float, tolerance: float) -> Peak:
    """Both ends of the smallest mu with delta(eps) <= max(delta_mu(eps), delta) for every eps >= 0; `run` has all orders."""
    if not run.terms:
        return Peak(0.0, 0.0, 0.0, 0, "nothing is lost")
    if delta > 0.0:
        plain = len(run.terms) == 1 and isinstance(run.terms[0][0], GaussianLoss)
        if plain and log_delta_proof(run, 0.0).low > math.log(delta) * (1.0 - FUNCTION):  # it is delta_mu itself
            return gaussian_dp(run, 0.0, tolerance)
        return _up_to(run, delta, tolerance)
    bounds = [tail for one in ([run] if run.exact else run.variants("dominating")[:1]) for tail in tails(one)]
    unknown = next((tail.reason for tail in bounds if tail.reason), "")
    if any(isinstance(loss, ProfileLoss) and not loss.vanishes for loss, _ in run.terms):
        unknown = UNKNOWN_TAIL
    if unknown:
        certain = run.exact and any(single.infinite_mass() for single in run.ordered_pairs())
        return Peak(math.inf if certain else 0.0, math.inf, math.inf, 0, unknown)
    limit = max(bounds, key=lambda tail: tail.limit)
    least = down(math.sqrt(limit.square) * (1.0 - 2.0 * SQUARE_ERROR - 64.0 * UNIT)) if limit.attained and run.exact else 0.0
    if limit.only_gaussian:
        why = "Gaussian noise: mu is sensitivity / sigma, and squares add"
        if limit.sampled:
            why = (
                "sampled Gaussian noise keeps the tail of the unsampled noise (Liu et al. 2021, section 5.3), so this mu "
                "is that of the run without sampling; mu(delta=...) says what the run is for every delta that matters"
            )
        return Peak(max(0.0, least), limit.limit, math.inf, 0, why)
    return _whole(run, bounds, max(0.0, least), tolerance)


def _whole(run: ComposedLoss, bounds: list[Tail], least: float, tolerance: float) -> Peak:
    head = Head(run, bounds)
    first = head.evaluate(0.0)
    unit = max(first[1] if first[1] < 1e6 else 1.0, 1e-12)
    top = max(tail.top_loss if tail.square == 0.0 else math.inf for tail in bounds)
    point = 0.25 * (unit + 0.5 * unit * unit)
    for _ in range(6):
        if point < top:
            head.evaluate(point)
        point *= 2.0
    lower = max(least, max(low for low, _ in head.mu.values()))
    target = lower if run.exact else max(high for _, high in head.mu.values())
    target, far = _beyond(bounds, max(target, max(tail.limit for tail in bounds)), unit, tolerance)
    if far == math.inf:
        return Peak(lower, math.inf, 0.0, len(head.log), "no proof of the tail was found")
    beyond = max(target if tail.square > 0.0 else 0.0 for tail in bounds)
    while point < far:
        head.evaluate(point)
        point *= 2.0
    last = far if far == top else far * (1.0 + 1e-15)
    if far == top:
        head.record(far, -math.inf, -math.inf)
    else:
        head.evaluate(last)
    found = search(head, last, least, tolerance)
    upper = max(found.upper, beyond if far < top else 0.0)
    reason = f"the supremum over all epsilon: searched up to {last:.4g}, beyond it by proof"
    lower, upper = meet(Proof(found.lower, math.inf), Proof(0.0, upper)).ends
    return found._replace(lower=max(lower, 0.0), upper=upper, reason=reason)


def _beyond(bounds: list[Tail], least: float, unit: float, tolerance: float) -> tuple[float, float]:
    """A mu, as small as it takes no long way, and an epsilon from which on delta is at most delta_mu."""
    choices = [least * (1.0 + 4.0 * UNIT), least + 0.5 * tolerance]
    (near, first), (mu, far) = ((mu, max(tail.dominated_from(mu, unit) for tail in bounds)) for mu in choices)
    return (near, first) if first <= 4.0 * far else (mu, far)


def _up_to(run: ComposedLoss, delta: float, tolerance: float) -> Peak:
    """The supremum over the epsilons with delta(epsilon) > delta."""
    near, far = epsilon_proof(run, delta).ends
    if far == math.inf:
        return Peak(math.inf if near == math.inf else 0.0, math.inf, math.inf, 0, f"delta(epsilon) stays above {given(delta)}")
    if far == 0.0:
        return Peak(0.0, 0.0, 0.0, 0, f"delta(0) is at most {given(delta)}")
    log = math.log(delta)
    slack = FUNCTION * abs(log)
    head = Head(run, [Tail(0.0, math.inf)])
    first = head.evaluate(0.0)
    point = 0.25 * (first[1] + 0.5 * first[1] * first[1]) if first[1] < 1e6 else far
    point = max(point, 1e-3 * far)
    while point < 0.75 * far:
        head.evaluate(point)
        point *= 2.0
    head.record(far, log - slack, log + slack)
    head.mu[far] = mu_ends(near, log - slack)[0] if near > 0.0 else 0.0, head.mu[far][1]
    found = search(head, far, 0.0, tolerance)
    first_tail = tails(run)[:1] if run.exact else []
    whole = max((tail.limit if tail.only_gaussian else math.inf for tail in first_tail), default=math.inf)
    return found._replace(
        upper=min(found.upper, whole), reason=f"the supremum over the epsilons with delta(epsilon) > {given(delta)}"
    )


def gaussian_head(run: ComposedLoss, last: float, tolerance: float) -> tuple[Peak, float]:
    """The supremum of G from 0 to `last`, and an upper bound of log delta there."""
    head = Head(run, [Tail(0.0, math.inf)])
    first = head.evaluate(0.0)
    point = max(0.25 * (first[1] + 0.5 * first[1] * first[1]), 1e-3 * last) if first[1] < 1e6 else last
    while point < 0.75 * last:
        head.evaluate(point)
        point *= 2.0
    head.evaluate(last)
    return search(head, last, 0.0, tolerance), head.log[last][1]


def search(head: Head, last: float, least: float, tolerance: float) -> Peak:
    """Both ends of the supremum from 0 to `last`, at most `tolerance` apart where the profile is known that well."""
    points = sorted(point for point in head.mu if point <= last)
    heap: list[tuple[float, float, float, float]] = []

    def push(left: float, right: float) -> None:
        value, place = head.bound(left, right)
        heapq.heappush(heap, (-value, left, right, place))

    for left, right in pairwise(points):
        push(left, right)
    lower, where = max(((head.mu[point][0], point) for point in points), default=(0.0, 0.0))
    if least > lower:
        lower, where = least, math.inf
    most = TUNING.max_evaluations if head.run.exact else TUNING.max_evaluations_of_bounds
    while heap and len(head.log) < most:
        value, left, right, place = heap[0]
        goal = lower
        if not head.run.exact:
            goal = max(high for _, high in head.mu.values())
            goal += TUNING.relative_width_of_bounds * goal
        close = min(tolerance, 2e-14 * goal) if len(head.log) < TUNING.free_evaluations else tolerance
        if -value <= goal + close * (1.0 - 4.0 * UNIT):
            break
        least, known = max((head.mu[end] for end in (left, right)), key=lambda ends: ends[1])
        unsure = known - least if head.run.exact else 0.0
        stuck = known > goal and -value - known <= max(0.1 * close, 0.5 * unsure)
        if stuck or not left < place < right:
            break  # delta at the two ends is not known any better
        heapq.heappop(heap)
        low, _ = head.evaluate(place)
        if low > lower:
            lower, where = low, place
        push(left, place)
        push(place, right)
    upper = max(-heap[0][0] if heap else 0.0, max(high for _, high in head.mu.values()))
    if not head.run.exact:  # its lower end is expensive, so it is asked for once, where the upper one is largest
        place = max(head.mu, key=lambda point: head.mu[point][1])
        low = mu_ends(place, log_delta_proof(head.run, place).low)[0]
        if low > lower:
            lower, where = low, place
    return Peak(lower, upper, where, len(head.log))


def profile_ends(run: ComposedLoss, care: Care = Care.MANY, upper_only: bool = False) -> Callable[[float], Interval]:
    """log delta of a run, evaluated once at each epsilon."""
    known: dict[float, Interval] = {}

    def ask(epsilon: float) -> Interval:
        if epsilon not in known:
            known[epsilon] = log_delta_proof(run, epsilon, care, upper_only or run.slow_members).ends
        return known[epsilon]

    return ask
