"""The loss of an epoch whose large steps are weighed down: below that of the epoch, and by how much.

docs/mathematics/allocation.md, Lemma 47: for every test the weighed delta is at most delta, and delta at most that and the
probability under P that a step is not kept.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray
from ...numerics.trapezoid import Cells
from ..protocol import ClosedForm, ExactLoss, Inconclusive, Slice, WithoutMasses
from .capped import TUNING as LINE
from .capped import Cap, CappedTransform
from .capped_moments import CappedMoments, line_end
from .moments import AllocatedStep


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    sharpness: float = 6.0
    """Of the weight, at least: more takes more nodes, less lets through larger steps."""
    most_sharpness: float = 16.0
    """At most."""
    small: float = 0.12
    """A tilt below which large steps matter so little that the least sharpness serves."""
    beyond: tuple[tuple[float, float], ...] = ((1.0, 1.3), (1.0, 1.03), (0.4, 1.03), (0.15, 1.03), (0.0, 1.3), (0.0, 1.03))
    """How far right of the line its transform is made: a share of the way to the last point, and a factor.  The first that is not
    too large."""
    right: float = 1.3
    """How far right of the line the transform is made for its values: farther allows a longer step."""
    shares: tuple[float, ...] = (0.9, 0.7, 0.45)
    """cos(sharpness theta), theta being how far all steps are turned together to bound the decay."""


TUNING = Tuning()


def log_lost(step: AllocatedStep, cap: Cap) -> float:
    """log of a bound of the probability, when the record takes part, that some step is not kept (Lemma 47).

    1 - chi(x) <= min(1, e^{sharpness (x - place)}), whose mean over the normal law is in closed form.
    """
    t = step.tilt * (1.0 + 2.0 * step.tilt_error)
    alone = _log_lost_one(cap, cap.place - t)
    others = _log_lost_one(cap, cap.place) + math.log(step.steps - 1.0) if step.steps > 1 else -math.inf
    return float(np.logaddexp(alone, others)) + 1e-9


def _log_lost_one(cap: Cap, place: float) -> float:
    from scipy.special import log_ndtr

    r = cap.sharpness
    one = 0.5 * r * r - r * place + float(log_ndtr(place - r))
    return float(np.logaddexp(one, float(log_ndtr(-place)))) + 1e-10 * (1.0 + r * abs(place) + r * r)


def log_lost_left(step: AllocatedStep, cap: Cap, end: float) -> float:
    """The same of steps left of `end` only."""
    from scipy.special import log_ndtr

    t, r = step.tilt * (1.0 + 2.0 * step.tilt_error), cap.sharpness

    def one(place: float, end: float) -> float:
        return 0.5 * r * r - r * place + float(log_ndtr(end - r)) + 1e-10 * (1.0 + r * abs(place) + r * r)

    alone, others = one(cap.place - t, end - t), one(cap.place, end)
    return float(np.logaddexp(alone, others + math.log(step.steps))) + 1e-9


def cap_for(step: AllocatedStep, log_allowed: float) -> Cap:
    """The lowest cap at which no more than this is lost."""
    best = min(math.sqrt(2.0 * max(-log_allowed, 1.0)), TUNING.most_sharpness)  # there the cap is lowest
    sharpness = max(best, TUNING.sharpness) if step.tilt > TUNING.small else TUNING.sharpness
    low, high = 0.0, 4.0
    while log_lost(step, Cap(high, sharpness)) > log_allowed:
        low, high = high, 1.5 * high
        if high > 1e3:
            raise Inconclusive
    for _ in range(30):
        middle = 0.5 * (low + high)
        if log_lost(step, Cap(middle, sharpness)) > log_allowed:
            low = middle
        else:
            high = middle
    return Cap(high, sharpness)


class CappedSlice:
    """The weighed loss along Re w = c."""

    def __init__(self, loss: "CappedLoss", c: float, ahead: float) -> None:
        self.loss, self.c = loss, c
        self._transform = self._made(loss.cap, max(c, ahead))

    def _made(self, cap: Cap, ahead: float) -> CappedTransform:
        """The transform for real orders up to about 1 + ahead."""
        near = self.loss.place(1.0 + self.c)
        far = max(self.loss.place(1.0 + ahead), near)
        turned = line_end(1.0 + self.c, 0.0, 1.0, 1.0, LINE.coarse)
        for share, factor in TUNING.beyond:
            most = factor * (near + share * (far - near)) / self.loss.step.steps
            try:
                return CappedTransform(self.loss.step, cap, most, turned * most, True)
            except Inconclusive:
                continue
        raise Inconclusive

    def keep(self, rows: list[int]) -> "CappedSlice":
        return self

    def cumulant_above(self, points: Array) -> Array:
        return np.array([[self._above(float(c)) for c in points]])

    def _above(self, c: float) -> float:
        """An upper bound of K(c): log F is convex, and 0 at most at order 0."""
        q = math.nextafter(1.0 + c, math.inf)
        bound = self.loss.step.log_moment_bound(q)
        try:
            made = CappedMoments(self._transform, q, self.loss.place(q))
            bound = min(bound, max(0.0, made.log_above()))
            return min(bound, max(0.0, made.log_ends()[1]))
        except Inconclusive:
            return bound

    def decay(self, cells: Cells) -> Array:
        """|F(a + iu)| <= F_share(a) e^{-u t theta + T theta^2/2}, share = cos(sharpness theta) (Lemma 48)."""
        loss, q = self.loss, 1.0 + self.c
        place, steps = loss.place(q), loss.step.steps
        least = CappedMoments(self._transform, q, place).log_ends()[0]
        t = loss.step.tilt * (1.0 - 2.0 * loss.step.tilt_error)
        best = np.zeros(cells.left.shape)
        for share in TUNING.shares:
            theta = math.acos(share) / loss.cap.sharpness * (1.0 - 1e-12)
            try:
                most = CappedMoments(self._made(loss.cap.eased(share), self.c), q, place).log_ends()[1]
            except Inconclusive:
                continue
            turned = np.minimum(theta, cells.left * (t / steps))
            fall = turned * (cells.left * t - 0.5 * steps * turned) * (1.0 - 1e-12) - max(0.0, most - least)
            best = np.maximum(best, fall)
        return best[None, :]

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        loss, q = self.loss, 1.0 + self.c
        place, u = loss.place(q), step * np.arange(nodes)
        most = place * TUNING.right / loss.step.steps
        turned = line_end(q, float(u[-1]), place, 1.0) / loss.step.steps
        value, error = CappedMoments(CappedTransform(loss.step, loss.cap, most, turned), q, place).values(u)
        return value[None, :], error[None, :]


@dataclass(frozen=True)
class CappedLoss(ExactLoss, WithoutMasses):
    """An epoch of an allocation when the record is removed, its steps weighed by chi."""

    step: AllocatedStep
    cap: Cap

    rows = 1
    has_slice = True
    nodes_allowed = 1 << 12
    ceiling = quadratic_limit = math.inf
    log_top_mass = log_truncated_mass = -math.inf
    infinite_mass = infinite_mass_under_q = Fraction(0)
    lattice_step = 0.0

    def ordered_pair(self, row: int) -> "CappedLoss":
        return self

    @cached_property
    def coarse_estimates(self) -> tuple[float, float]:
        variance = math.log1p(math.expm1(min(self.step.tilt**2, 600.0)) / self.step.steps)
        return 0.1 * min(1.0, math.sqrt(variance)), variance

    def cumulant_bound(self, c: float) -> float:
        return self.step.log_moment_bound(1.0 + c)

    @cached_property
    def _coarse(self) -> tuple[Array, Array, Array]:
        t, r = self.step.tilt, self.cap.sharpness
        x = np.arange(-9.0, self.cap.place + 4.0 / r, 0.15)
        log_weight = -0.5 * x * x
        log_weight -= math.log(float(np.exp(log_weight).sum()))
        away = np.expm1(t * x - 0.5 * t * t)
        return log_weight - np.exp(r * (x - self.cap.place)), away, away * away

    def _saddle(self, q: float) -> tuple[float, float, float]:
        """About where s - (q + 1) log s + log E e^{s (L - 1)} is least, log E e^{s (L - 1)} there, and its second derivative."""
        if q in self._saddles:
            return self._saddles[q]
        log_weight, away, square = self._coarse
        steps, goal = self.step.steps, q + 1.0
        near = min(self._saddles, key=lambda one: abs(one - q), default=0.0)
        s = self._saddles[near][0] * goal / (near + 1.0) if near else goal
        for _ in range(60):
            exponent = log_weight + (s / steps) * away
            top = float(exponent.max())
            terms = np.exp(exponent - top)
            total = float(terms.sum())
            mean = float(terms @ away) / total
            spread = max(float(terms @ square) / total - mean * mean, 0.0)
            moved = (goal / s - 1.0 - mean) / (goal / s + s * spread / steps)
            s *= math.exp(max(-1.0, min(1.0, moved)))
            if abs(moved) < 1e-6:
                break
        self._saddles[q] = s, steps * (top + math.log(total)), spread / steps
        return self._saddles[q]

    @cached_property
    def _saddles(self) -> dict[float, tuple[float, float, float]]:
        return {}

    def place(self, q: float) -> float:
        """Where the line for this order is."""
        return self._saddle(q)[0]

    def expand(self, c: float) -> tuple[float, float, float]:
        """By the saddle-point approximation, over the same one of L = 1."""
        q = 1.0 + c
        s, power, spread = self._saddle(q)
        goal = q + 1.0
        bend = s * s * spread
        value = power + (s - goal) - goal * math.log(s / goal) - 0.5 * math.log1p(bend / goal)
        return value, -math.log(s / goal), bend / (goal * (goal + bend))

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        return CappedSlice(self, c, ahead)

    def mean(self) -> tuple[float, float]:
        raise Inconclusive

    def closed(self, epsilon: float) -> ClosedForm | None:
        return None
