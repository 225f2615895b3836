"""A composed privacy loss: K = sum of count * K_j.  The one place that multiplies by a count.

docs/mathematics/contour.md, Lemma 1: composition.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np

from ..numerics.cancellation_free import Array, ComplexArray
from ..numerics.roots import increasing_root
from ..numerics.rounding import LARGEST, UNIT
from ..numerics.trapezoid import Cells
from .bins import CoarseLoss
from .pairs.atomic import AtomicLoss
from .pairs.bracketed import BracketedLoss
from .pairs.gaussian import GaussianLoss
from .protocol import Loss, Slice

Expand = Callable[[float], tuple[float, float, float]]


@dataclass(frozen=True)
class Tuning:
    """Of the search for a saddle point, which no proof depends on, and of exact fractions."""

    min_saddle: float = 1e-9
    """Nearer to 0 K has no digits left, and delta is next to 1."""
    max_saddle: float = 1e15
    """Saddle points beyond are not worth looking at."""
    log_prefactor_ignored: float = 7.0
    """Of the saddle-point approximation: up to here it is ignored, which leads to the left, where there are fewer nodes."""
    max_exact_steps: int = 40
    """The infinite mass of so many steps is an exact fraction; of more, to sixty digits, or it would be too long."""


TUNING = Tuning()


def composed(uses: Iterable[tuple[Loss, int]]) -> "ComposedLoss":
    """Losses with their counts: equal ones merge, Gaussian ones add up to one."""
    squares: list[float] = []
    counts: dict[Loss, int] = {}
    for loss, count in uses:
        if isinstance(loss, GaussianLoss):
            squares.append(count * loss.square)
        else:
            counts[loss] = counts.get(loss, 0) + count
    terms = list(counts.items())
    if len(terms) > 1:
        terms.sort(key=lambda item: repr(item[0]))
    if squares:
        terms.insert(0, (GaussianLoss(math.fsum(squares)), 1))
    return ComposedLoss(tuple(terms))


@dataclass(frozen=True)
class ComposedLoss:
    """Losses with their counts, for the ordered pairs of a relation (the rows), each composed by itself."""

    terms: tuple[tuple[Loss, int], ...]
    _coarse: dict[tuple[Loss, float], CoarseLoss] = field(default_factory=dict, compare=False, repr=False)
    _variants: "dict[str, list[ComposedLoss]]" = field(default_factory=dict, compare=False, repr=False)
    lattices: list[Any] = field(default_factory=list, compare=False, repr=False)  # that were made for it
    core_answers: dict[tuple[str, float], tuple[float, ...] | None] = field(default_factory=dict, compare=False, repr=False)
    """What the compiled core said of an epsilon at a delta, or of log delta at an epsilon, so that it is asked once."""

    @property
    def rows(self) -> int:
        """How many ordered pairs are composed."""
        return max((loss.rows for loss, _ in self.terms), default=1)

    def ordered_pairs(self) -> "list[ComposedLoss]":
        """The run of each ordered pair."""
        return [self] if self.rows == 1 else self._singles

    @cached_property
    def _singles(self) -> "list[ComposedLoss]":
        return [ComposedLoss(tuple((loss.ordered_pair(row), count) for loss, count in self.terms)) for row in range(self.rows)]

    def variants(self, kind: Literal["dominating", "members"]) -> "list[ComposedLoss]":
        """Runs that bound this one from above, or that it may be; itself where every loss is exact."""
        if kind not in self._variants:
            self._variants[kind] = self._varied(kind)
        return self._variants[kind]

    def _varied(self, kind: str) -> "list[ComposedLoss]":
        choices = [loss.dominating if kind == "dominating" else loss.members for loss, _ in self.terms]
        found = []
        for place in range(max((1, *map(len, choices)))):
            uses = zip(choices, self.terms, strict=True)
            found.append(composed((choice[min(place, len(choice) - 1)], count) for choice, (_, count) in uses if choice))
        return found

    @property
    def slow_members(self) -> bool:
        """Whether what it may be is too slow for a search."""
        return any(isinstance(loss, BracketedLoss) and loss.slow_members for loss, _ in self.terms)

    def sooner(self, place: int) -> "ComposedLoss | None":
        """A run that the dominating one of this place dominates, and that is answered sooner; None where there is none."""
        uses, found = [], False
        for loss, count in self.terms:
            at = min(place, len(loss.dominating) - 1)
            quick = loss.sooner[at] if isinstance(loss, BracketedLoss) and at < len(loss.sooner) else None
            found = found or quick is not None
            uses.append((loss.dominating[at] if quick is None else quick, count))
        return composed(uses) if found else None

    def shifted(self, share: float) -> "ComposedLoss | None":
        """The run whose bounded ranges are all shifted by this share; None if it has none."""
        if not any(loss.shift_family for loss, _ in self.terms):
            return None
        return composed((loss.shifted(share), count) for loss, count in self.terms).variants("members")[0]

    @property
    def exact(self) -> bool:
        """Whether the composed pair is the truth, and not one of several bounds."""
        return all(loss.exact for loss, _ in self.terms)

    @property
    def tight(self) -> bool:
        """Whether some mechanism attains the composed pair."""
        return all(loss.tight for loss, _ in self.terms)

    @property
    def has_transform(self) -> bool:
        """Whether K is known off the real axis; if not, only the conversion of its Rényi curve answers."""
        return all(loss.has_transform for loss, _ in self.terms)

    @property
    def has_decay(self) -> bool:
        """Whether a contour may be cut off: every loss has a slice, and one of them a density."""
        return all(loss.has_slice for loss, _ in self.terms) and not all(isinstance(loss, AtomicLoss) for loss, _ in self.terms)

    @property
    def lattice_step(self) -> float:
        """The step of the lattice that all losses share, or 0."""
        steps = {loss.lattice_step for loss, _ in self.terms}
        return steps.pop() if len(steps) == 1 else 0.0

    @property
    def log_truncated_mass(self) -> float:
        """log of a bound of the P-mass that the losses leave out."""
        return max(
            (loss.log_truncated_mass + math.log(count) + math.log(len(self.terms)) for loss, count in self.terms),
            default=-math.inf,
        )

    @property
    def has_infinite_loss(self) -> bool:
        """Whether any ordered pair has an infinite loss."""
        return any(loss.ordered_pair(row).infinite_mass for loss, _ in self.terms for row in range(loss.rows))

    def infinite_mass(self, under: Literal["P", "Q"] = "P") -> Fraction:
        """P(Z = infinity), or Q(Z = -infinity): exactly, or for many steps to very many digits."""
        found = [(loss.infinite_mass if under == "P" else loss.infinite_mass_under_q, count) for loss, count in self.terms]
        masses = [(one, count) for one, count in found if one]
        if sum(count for _, count in masses) <= TUNING.max_exact_steps:
            return 1 - math.prod(((1 - one) ** count for one, count in masses), start=Fraction(1))
        digits = max(_zeros(one) for one, _ in masses)
        with localcontext() as context:
            context.prec = 60 + 2 * digits
            kept = Decimal(1)
            for one, count in masses:
                kept *= (1 - Decimal(one.numerator) / Decimal(one.denominator)) ** count
            return Fraction(1 - kept)

    @cached_property
    def ceiling(self) -> float:
        """The largest loss: the sum of the parts' exactly, then rounded up."""
        tops = [(loss.ceiling, count) for loss, count in self.terms]
        if any(math.isinf(top) for top, _ in tops):
            return math.inf
        exact = sum((Fraction(top) * count for top, count in tops), Fraction(0))
        near = float(exact) if exact < Fraction(LARGEST) else math.inf
        return near if near >= exact else math.nextafter(near, math.inf)

    @property
    def ceiling_below(self) -> float:
        """At most the largest loss."""
        exact = len(self.terms) == 1 and self.terms[0][1] == 1 and self.ceiling < math.inf
        tops = [count * loss.ceiling * (1.0 - loss.ceiling_error) for loss, count in self.terms]
        if any(math.isinf(top) for top in tops):
            return math.inf
        total = math.fsum(tops)
        return total if exact else total - 4.0 * UNIT * sum(map(abs, tops))

    @property
    def log_top_mass(self) -> float:
        """log P(Z = ceiling), rounded down."""
        return sum(count * loss.log_top_mass for loss, count in self.terms) * (1.0 + (len(self.terms) + 1) * UNIT)

    @property
    def nodes_allowed(self) -> int:
        most = min(loss.nodes_allowed for loss, _ in self.terms)
        atoms = [loss.log_top_mass > -math.inf for loss, _ in self.terms]
        if any(atoms) and not all(atoms):  # a lattice would follow only the atoms
            most *= 4
        return max(1024, most // (1 + len(self.terms) // 8))

    @property
    def quadratic_limit(self) -> float:
        """Up to where K of every loss is about quadratic: a search for a saddle point begins there at the latest."""
        return min(loss.quadratic_limit for loss, _ in self.terms)

    def coarse(self, loss: Loss, near: float = 0.0) -> CoarseLoss:
        """A loss on a coarse scale, finer near some epsilon."""
        if (loss, near) not in self._coarse:
            self._coarse[loss, near] = CoarseLoss(loss, near)
        return self._coarse[loss, near]

    def expand(self, c: float) -> tuple[float, float, float]:
        """K, K', K'' at a real point, to a few digits."""
        value = first = second = 0.0
        for loss, count in self.terms:
            k0, k1, k2 = loss.expand(c)
            value, first, second = value + count * k0, first + count * k1, second + count * k2
        return value, first, second

    def coarse_expand(self, c: float, cap: float = math.inf, near: float = 0.0) -> tuple[float, float, float]:
        """The same from the coarse scale, at any c, with the losses above `cap` lowered to it."""
        value = first = second = 0.0
        for loss, count in self.terms:
            k0, k1, k2 = self.coarse(loss, near).expand(c, cap)
            value, first, second = value + count * k0, first + count * k1, second + count * k2
        return value, first, second

    def mean(self) -> tuple[float, float]:
        """E Z and a bound of its error."""
        value = error = 0.0
        for loss, count in self.terms:
            one, one_error = loss.mean()
            value, error = value + count * one, error + count * one_error
        return value, error + (len(self.terms) + 2) * UNIT * value

    def slice(self, c: float, ahead: float) -> "ComposedSlice":
        """Everything certified along Re w = c, and bounds of K from c to about `ahead`."""
        return ComposedSlice(tuple((loss.slice(c, ahead, count), count) for loss, count in self.terms))

    def saddle_of_delta(self, log_delta: float, start: float | None = None, expand: Expand | None = None) -> float:
        """The saddle point c at whose epsilon delta is about this, to about a percent; or somewhat left of it.

        Of the saddle-point approximation 1/sqrt(2 pi bend) is left out unless it is large: there are fewer nodes left of the
        saddle point, if not too far.
        """

        expand = expand or self.expand

        def balance(x: float) -> tuple[float, float]:
            c = math.exp(x)
            k0, k1, k2 = expand(c)
            bend = c * c * k2 + 1.0 + (c / (1.0 + c)) ** 2
            cost, slope = c * k1 - k0 + x + math.log1p(c) - 1.0 - c / (1.0 + c), bend
            if (large := x - 0.5 * math.log(2.0 * math.pi * bend) - TUNING.log_prefactor_ignored) > 0.0:
                cost, slope = cost - large, slope - (1.0 + (c / (1.0 + c)) ** 3) / bend  # but for the third derivative
            if cost > 0.0 and log_delta < 0.0:  # logarithms make a power of c a straight line
                return math.log(-cost / log_delta), slope / cost
            return cost + log_delta, slope

        if start is None:
            variance = sum(count * loss.coarse_estimates[1] for loss, count in self.terms)
            start = min(math.sqrt(2.0 * max(-log_delta, 1.0) / max(variance, 1e-300)), self.quadratic_limit)
        return self._saddle(balance, start, expand)

    def saddle_of_epsilon(self, epsilon: float, start: float | None = None, expand: Expand | None = None) -> float:
        """The c that minimises K(c) - c epsilon - log c - log(1+c), to about a percent."""

        expand = expand or self.expand

        def balance(x: float) -> tuple[float, float]:
            c = math.exp(x)
            _, k1, k2 = expand(c)
            return k1 - epsilon - 1.0 / c - 1.0 / (1.0 + c), c * (k2 + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2)

        if start is None:
            _, mean, variance = expand(0.0)
            start = max(epsilon - mean, math.sqrt(variance)) / max(variance, 1e-300)
            start = min(start, self.quadratic_limit)
        return self._saddle(balance, start, expand)

    @staticmethod
    def _saddle(balance: Callable[[float], tuple[float, float]], start: float, expand: Expand) -> float:
        def enough(x: float, step: float) -> bool:
            """Within a fraction of the width of the bump: nothing is gained by going nearer.  (To the right K may bend up.)"""
            c = math.exp(x)
            return -0.5 < step < 0.02 and (c * step) ** 2 * (expand(c)[2] + 1.0 / (c * c)) < 0.1

        low, high = math.log(TUNING.min_saddle), math.log(TUNING.max_saddle)
        first = min(max(math.log(max(start, 1e-300)), low), high)
        found = increasing_root(balance, first, lower=low, upper=high, stride=1.0, enough=enough, steps=60)
        if low < found < high and abs(balance(found)[0]) > 1.0:  # a steep place may look like the end
            found = increasing_root(balance, found, lower=low, upper=high, stride=1.0, tolerance=1e-3, steps=60)
        return math.exp(found)


def _zeros(mass: Fraction) -> int:
    """About how many zeros follow the point of a probability, which may be below the smallest double."""
    near = float(mass)
    return max(0, -math.floor(math.log10(near))) if near else (mass.denominator.bit_length() - mass.numerator.bit_length()) // 3


@dataclass(frozen=True)
class ComposedSlice:
    """Slices with their counts."""

    slices: tuple[tuple[Slice, int], ...]

    def keep(self, rows: list[int]) -> "ComposedSlice":
        """The same for some of the rows only."""
        return ComposedSlice(tuple((one.keep(rows), count) for one, count in self.slices))

    def cumulant_above(self, points: Array) -> Array:
        """Upper bounds of K at real points."""
        total: Array = np.zeros((1, 1))
        size: Array = np.zeros((1, 1))
        for one, count in self.slices:
            value = count * one.cumulant_above(points)
            total, size = total + value, size + np.abs(value)
        return total + (len(self.slices) + 2) * UNIT * size

    def decay(self, cells: Cells) -> Array:
        """Lower bounds of -log |phi(c+iu)/phi(c)| of the whole run on cells of u, the least over the rows."""
        total: Array = np.zeros((1, 1))
        for one, count in self.slices:
            total = total + count * one.decay(cells)
        least: Array = total.min(axis=0)
        return least * (1.0 - (len(self.slices) + 2) * UNIT)

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        """K at the nodes modulo 2 pi i, and a bound of log(1 + relative error) of its exponential."""
        total: ComplexArray = np.zeros((1, 1), dtype=np.complex128)
        error: Array = np.zeros((1, 1))
        for one, count in self.slices:
            value, relative = one.values(step, nodes)
            total = total + count * value
            error = error + count * (relative + 2.0 * UNIT * np.abs(value))
        return total, error + len(self.slices) * UNIT * np.abs(total)
