"""Discrete Gaussian noise on a vector of whole numbers, known by the sum of squares that a record adds to it.

docs/mathematics/own.md, Lemma 34c: no way to split the sum over the coordinates is worst for every epsilon, so the pointwise
maximum of the one-step profiles is composed.
"""

import math
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT, up
from .atomic import AtomicLoss, Atoms
from .bracketed import BracketedLoss
from .discrete import DiscreteGaussianLoss, TabulatedLoss
from .profile import law_of_curve, lower_hull
from .renyi import RenyiLoss


@dataclass(frozen=True)
class Tuning:
    """What is listed; beyond it the Rényi curve, which bounds every split, takes the place of the maximum.

    None of it enters a proof: every bound holds whatever is chosen here.
    """

    max_splits: int = 64
    """More ways to split a norm make the maximum dearer and hardly larger."""
    max_values: int = 40_000
    """Values of one split: memory and time of its profile."""
    max_products: int = 10**9
    """Of all convolutions of one split: about a second."""
    max_listed: float = 4096.0
    """The largest sigma whose values are listed for a lower end."""
    max_nodes: int = 1500
    """Points of the maximum, one in several lattice points if there are more: chords between them are above it."""
    coarse_step: float = 0.05
    """Of the lattice: from here on the points between lattice points count where one split takes over from another."""
    depth: float = 640.0
    """-log of the mass beyond which a coordinate is left out: products of what is kept are doubles where they matter."""
    faint: float = 1e-290
    """Masses of sums below it are left out."""
    last: float = 1e-250
    """The maximum is listed down to this delta, which stays as an infinite loss."""


TUNING = Tuning()


def vector_loss(sigma: float, square: int) -> AtomicLoss | BracketedLoss:
    """The loss of one release to whose answer a record adds a vector of whole numbers with at most this sum of squares."""
    if square == 1:
        return DiscreteGaussianLoss(sigma, 1)
    found = splits(square, TUNING.max_splits) if _fits(sigma, square) else None
    if found is None:
        curve = RenyiLoss("zcdp", (up(0.5 * square / sigma**2 * (1.0 + 8.0 * UNIT)),))
        move = math.isqrt(square)  # of one number: attained
        listed = 1e-2 <= sigma <= TUNING.max_listed and move <= TUNING.max_values
        return BracketedLoss((curve,), (DiscreteGaussianLoss(sigma, move),) if listed else ())
    each = tuple(MovedVectorLoss(sigma, one) for one in found)
    return each[0] if len(each) == 1 else BracketedLoss((worst_of(each),), each)


def _fits(sigma: float, square: int) -> bool:
    """Whether the values of every split can be listed; that of ones has the most coordinates, none has a larger sum."""
    reach = 2.0 * _reach(sigma) + 1.0
    values = reach * square
    return sigma >= 1e-2 and values <= TUNING.max_values and reach * values * square <= TUNING.max_products


def _reach(sigma: float) -> int:
    return math.ceil(sigma * math.sqrt(2.0 * TUNING.depth)) + 1


def splits(square: int, most: int, largest: int | None = None) -> list[tuple[int, ...]] | None:
    """The falling lists of whole numbers whose squares add up to `square`; None if there are more than so many.

    >>> splits(5, 10), splits(100, 10)
    ([(2, 1), (1, 1, 1, 1, 1)], None)
    """
    if square == 0:
        return [()]
    found: list[tuple[int, ...]] = []
    for first in range(min(math.isqrt(square), largest or square), 0, -1):
        rest = splits(square - first * first, most - len(found), first)
        if rest is None or len(found) + len(rest) > most:
            return None
        found += [(first, *one) for one in rest]
    return found


@dataclass(frozen=True)
class MovedVectorLoss(AtomicLoss):
    """Independent discrete Gaussian noise on several numbers, each moved by its own whole number: Z = (T + square / 2) / sigma^2.

    T is the sum of the moves times the noises, so all splits of one sum of squares have their losses on one lattice.
    """

    sigma: float
    moves: tuple[int, ...]

    ceiling = math.inf
    log_top_mass = -math.inf

    @property
    def square(self) -> int:
        """The sum of the squares of the moves."""
        return sum(move * move for move in self.moves)

    @property
    def lattice_step(self) -> float:
        return math.gcd(*self.moves) / self.sigma**2

    @property
    def log_truncated_mass(self) -> float:
        """Each coordinate beyond its reach by the tail of a subgaussian law, and the values that are fainter than doubles."""
        return float(
            np.logaddexp(math.log(4.0 * len(self.moves)) - TUNING.depth, math.log(2.0 * TUNING.max_values * TUNING.faint))
        )

    @cached_property
    def law(self) -> tuple[Array, Array, float]:
        """The values of T, their masses, and the relative error of these."""
        reach = _reach(self.sigma)
        x = np.arange(-reach, reach + 1.0)
        one = np.exp(-(0.5 / self.sigma**2) * x * x)
        one /= math.fsum(one.tolist())
        total = np.ones(1)
        for move in self.moves:
            spread = np.zeros((one.size - 1) * move + 1)
            spread[::move] = one
            total = np.convolve(total, spread)  # sums of positive terms
        t = np.arange(total.size) - (total.size - 1) // 2
        kept = total > TUNING.faint
        each = 8.0 * FUNCTION + 8.0 * UNIT * TUNING.depth + 4.0 * one.size * UNIT
        return t[kept].astype(float), total[kept], len(self.moves) * each

    @cached_property
    def atoms(self) -> Atoms:
        t, mass, error = self.law
        z = (t + 0.5 * self.square) / self.sigma**2
        log_p = np.log(mass)
        # Q-mass e^-z times the P-mass: exactly, but for the rounding of z and of the logarithm
        error += FUNCTION * (1.0 + TUNING.depth) + 8.0 * UNIT * float(np.abs(z).max())
        return Atoms(z, log_p, log_p - z, error, 8.0 * UNIT)

    def cumulant_bound(self, c: float) -> float:
        """The Rényi bound of continuous noise (Canonne, Kamath and Steinke 2020, Proposition 5), coordinate by coordinate."""
        return 0.5 * self.square / self.sigma**2 * c * (c + 1.0) * (1.0 + 16.0 * UNIT)

    def log_omitted(self, c: float) -> float:
        """E[e^{cZ}; a coordinate is beyond its reach] by Chernoff, and what the faint values can weigh."""
        ahead = max(_reach(self.sigma) - c * max(self.moves), 0.0)
        far = self.cumulant_bound(c) - 0.5 * (ahead / self.sigma) ** 2 * (1.0 - 1e-9) + math.log(4.0 * len(self.moves))
        top = (_reach(self.sigma) * sum(self.moves) + 0.5 * self.square) / self.sigma**2
        return float(np.logaddexp(far, math.log(2.0 * TUNING.max_values * TUNING.faint) + c * top * (1.0 + 1e-9)))

    def profile_at(self, points: Array) -> Array:
        """Upper bounds of delta at the losses (u / sigma^2), u of the lattice of all splits, from 0 up.

        delta at a lattice point is the sum over the points s from there on of (e^h - 1) R(s), h the step, with
        R(s) = sum over u > s of e^{-h (u - s)} P(u), a recurrence of positive terms.
        """
        from scipy.signal import lfilter

        t, mass, error = self.law
        place = np.rint(t - t[0]).astype(int)
        p = np.zeros(place[-1] + 2)
        p[place] = mass
        h = 1.0 / self.sigma**2
        fall = math.exp(-h)
        above = lfilter([0.0, fall], [1.0, -fall], p[::-1])[::-1]
        delta = math.expm1(h) * np.cumsum(above[::-1])[::-1]
        slack = (
            1.0 + error + (16.0 * p.size + 16.0) * (UNIT + FUNCTION * UNIT) + 64.0 * FUNCTION + (1e-14 + 4.0 * UNIT * h) * p.size
        )
        at = np.rint(points - 0.5 * self.square - t[0]).astype(int)
        inside = np.clip(at, 0, p.size - 1)
        found: Array = np.where(at < p.size, delta[inside], 0.0) * slack + math.exp(self.log_truncated_mass)
        return found


@dataclass(frozen=True)
class WorstSplitLoss(AtomicLoss):
    """The pair whose profile is the chords, between lattice points, of the largest profile of all splits."""

    values: tuple[tuple[float, float, float], ...]
    step: float
    beyond: Fraction
    error: float

    @property
    def infinite_mass(self) -> Fraction:
        return self.beyond

    infinite_mass_under_q = infinite_mass

    @property
    def lattice_step(self) -> float:
        return self.step

    @cached_property
    def atoms(self) -> Atoms:
        z, log_p, log_q = np.array(self.values).T
        return Atoms(z, log_p, log_q, self.error, 16.0 * UNIT)


def worst_of(each: tuple[MovedVectorLoss, ...]) -> "WorstSplitLoss | TabulatedLoss":
    """The pointwise maximum of their profiles: itself where the lattice is coarse, else chords between lattice points."""
    sigma, square = each[0].sigma, each[0].square
    last = max(float(loss.law[0][-1]) for loss in each) + 0.5 * square
    wide = max(1, math.ceil(last / TUNING.max_nodes))
    wide += (wide % 2 == 0) * (square % 2)  # so that the mirror image of the points are points
    u = np.arange(0.5 * wide * (square % 2), last + wide, wide)
    every = np.array([loss.profile_at(u) for loss in each])
    count = min(int(np.searchsorted(-every.max(axis=0), -TUNING.last)) + 1, u.size)
    h = 1 / Fraction(sigma) ** 2
    coarse = wide == 1 and float(h) > TUNING.coarse_step
    points, xs = [], _exponentials([Fraction(float(place)) * h for place in u[:count]])
    for k, x in enumerate(xs):
        points.append((x, Fraction(min(float(every[:, k].max()), 1.0))))
        if coarse and k + 1 < count:
            points += _crossing(every[:, k], every[:, k + 1], x, xs[k + 1])
    law = law_of_curve(lower_hull(points))
    if coarse:
        return law
    step = wide * float(h)
    offset = 0.5 * (square % 2)
    snapped = tuple(((round(z / step - offset) + offset) * step, log_p, log_q) for z, log_p, log_q in law.values)
    return WorstSplitLoss(snapped, step, law.infinite_mass, law.error + 8.0 * FUNCTION)


def _exponentials(losses: list[Fraction]) -> list[Fraction]:
    """e^z to more than fifty digits."""
    with localcontext() as context:
        context.prec = 60 + int(losses[-1] / 2)
        return [Fraction((Decimal(z.numerator) / Decimal(z.denominator)).exp()) if z else Fraction(1) for z in losses]


def _crossing(here: Array, there: Array, x: Fraction, after: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Where the split that is worst at a lattice point meets the one that is worst at the next; in between each is a line."""
    first, second = int(here.argmax()), int(there.argmax())
    a, b = Fraction(float(here[first] - here[second])), Fraction(float(there[second] - there[first]))
    if first == second or a <= 0 or b <= 0:
        return []
    share = a / (a + b)
    worst = max(Fraction(float(one)) * (1 - share) + Fraction(float(two)) * share for one, two in zip(here, there, strict=True))
    return [(x + (after - x) * share, min(worst, Fraction(1)))]
