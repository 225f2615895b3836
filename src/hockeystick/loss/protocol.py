"""What a privacy loss must offer to be composed and integrated along a vertical contour.

Z = log dP/dQ under P, for one ordered pair (P, Q); phi(w) = E exp(w Z); K = log phi.  A loss is asked for one
step: the count is applied in one place only, `composed.py`.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..numerics.cancellation_free import Array, ComplexArray
from ..numerics.rounding import down, up
from ..numerics.trapezoid import Cells
from .tolerance import Interval as Interval


class ClosedForm(NamedTuple):
    """log delta at one epsilon in closed form, a bound of its error, its slope, and another upper bound if there is one."""

    value: float
    error: float
    slope: float
    top: float = math.inf

    @property
    def low(self) -> float:
        """A certified lower bound of log delta."""
        return down(self.value, self.error)

    @property
    def high(self) -> float:
        """A certified upper bound of log delta."""
        return min(up(self.value, self.error), self.top)


ZERO_DELTA = ClosedForm(-math.inf, 0.0, -math.inf)
"""delta = 0."""


class Slice(Protocol):
    """A loss seen along the vertical line Re w = c, everything certified; arrays have one row for each ordered pair."""

    def keep(self, rows: list[int]) -> "Slice":
        """The same for some of the rows only (a slice of one row stands for all)."""
        ...

    def cumulant_above(self, points: Array) -> Array:
        """Upper bounds of K at real points right of -1, on the same side of 0 as c."""
        ...

    def decay(self, cells: Cells) -> Array:
        """Lower bounds of -log |phi(c+iu) / phi(c)| on cells of u."""
        ...

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        """K(c + i k step) for k < nodes, modulo 2 pi i, and bounds of the relative error of phi there."""
        ...


class Masses(NamedTuple):
    """Logarithms of the P- and Q-masses of Z <= edge_0, edge_0 < Z <= edge_1, ..., Z > edge_n (finite Z only).

    `error` bounds the errors of both.  The cells are those of edges which differ from the given ones by at most the loss's
    `edge_error`; P and Q are taken of the very same ones.
    """

    log_p: Array
    log_q: Array
    error: Array | float


class Binned(Protocol):
    """The part of a loss that a lattice needs: its masses in cells.  Of one ordered pair."""

    @property
    def ceiling(self) -> float:
        """The largest value that Z takes (rounded up), or inf."""
        ...

    @property
    def anchor(self) -> float:
        """A value that a lattice should contain, because much mass sits there."""
        ...

    @property
    def atom_spacing(self) -> float:
        """The distance from the anchor down to the next such value, 0 if there is none."""
        ...

    @property
    def lattice_step(self) -> float:
        """The step of the lattice on which all values lie, 0 if there is none."""
        ...

    def edge_error(self, largest: float) -> float:
        """A bound of the error of the edges, for edges up to this size."""
        ...

    def closed(self, epsilon: float) -> "ClosedForm | None":
        """delta(epsilon) of a single step in closed form, where there is one and it is accurate."""
        ...

    def masses(self, edges: Array) -> Masses:
        """The masses between increasing edges."""
        ...


class Loss(Binned, Protocol):
    """The privacy loss of one step."""

    @property
    def rows(self) -> int:
        """How many ordered pairs it stands for: 1 also where all have the same loss."""
        ...

    def ordered_pair(self, row: int) -> "Loss":
        """The loss of one of them."""
        ...

    @property
    def log_top_mass(self) -> float:
        """log P(Z = ceiling), rounded down; -inf if there is no such atom."""
        ...

    @property
    def nodes_allowed(self) -> int:
        """How many contour nodes are worth their cost."""
        ...

    @property
    def has_slice(self) -> bool:
        """Whether it has a slice."""
        ...

    @property
    def exact(self) -> bool:
        """Whether it is the truth, and not bracketed by other losses."""
        ...

    @property
    def dominating(self) -> "tuple[Loss, ...]":
        """Losses each of which bounds a composition from above; itself if it is exact."""
        ...

    @property
    def members(self) -> "tuple[Loss, ...]":
        """Losses that it may be, which bound a composition from below; itself if it is exact."""
        ...

    @property
    def shift_family(self) -> bool:
        """Whether it may be any of a family of shifted losses, of which the worst depends on the question."""
        ...

    def shifted(self, share: float) -> "Loss":
        """The one that is shifted by this share of its range; itself if there is no family."""
        ...

    @property
    def tight(self) -> bool:
        """Whether some mechanism attains it."""
        ...

    @property
    def has_transform(self) -> bool:
        """Whether K is known off the real axis; if not, only `cumulant_bound` is."""
        ...

    @property
    def ceiling_error(self) -> float:
        """A bound of the relative error of `ceiling`."""
        ...

    @property
    def infinite_mass(self) -> Fraction:
        """P(Z = infinity), exactly; everything else here is about finite Z."""
        ...

    @property
    def infinite_mass_under_q(self) -> Fraction:
        """Q(Z = -infinity), exactly."""
        ...

    @property
    def log_truncated_mass(self) -> float:
        """log of a bound of the P-mass of values that are left out."""
        ...

    @property
    def coarse_estimates(self) -> tuple[float, float]:
        """A lower bound of delta(0), and about the variance of Z: both cheap, to decide where to look."""
        ...

    @property
    def quadratic_limit(self) -> float:
        """A c past which K grows much faster than its second derivative at 0 says, or inf: where a search should begin."""
        ...

    def cumulant_bound(self, c: float) -> float:
        """An upper bound of K(c) for c > 0 in closed form, or inf."""
        ...

    def expand(self, c: float) -> tuple[float, float, float]:
        """K, K', K'' of the first pair at a real c > -1, to a few digits: a guide for the search, never part of an answer."""
        ...

    def mean(self) -> tuple[float, float]:
        """E Z = K'(0), the Kullback-Leibler divergence, and a bound of its error."""
        ...

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        """The slice at Re w = c, so accurate that count steps of it lose nothing.

        Bounds of K are wanted to about `ahead`, which is a hint.
        """
        ...


class Expandable(Protocol):
    """What the width of a contour's bump is found from."""

    def expand(self, c: float) -> tuple[float, float, float]:
        """K, K', K'' at a real point, to a few digits."""
        ...


class SaddleRun(Expandable, Protocol):
    """What a saddle point for an epsilon is found from: a composed loss, or a part of one."""

    def saddle_of_epsilon(self, epsilon: float) -> float:
        """The c that minimises K(c) - c epsilon - log c - log(1+c), to about a percent."""
        ...


class ContourRun(Protocol):
    """What is integrated along a contour: a composed loss, a part of one, or one with noise added."""

    @property
    def nodes_allowed(self) -> int:
        """How many nodes are worth their cost."""
        ...

    def slice(self, c: float, ahead: float) -> Slice:
        """Everything certified along Re w = c, and bounds of K from c to about `ahead`."""
        ...


class ExactLoss:
    """What a loss that is known exactly says of its bounds: they are itself."""

    exact = tight = has_transform = True
    shift_family = False

    @property
    def ceiling_error(self) -> float:
        return 1e-13

    @property
    def dominating(self) -> tuple[Any, ...]:
        return (self,)

    @property
    def members(self) -> tuple[Any, ...]:
        return (self,)

    def shifted(self, share: float) -> Any:
        return self


class WithoutMasses:
    """A loss that has no masses in cells: a Rényi curve, or several ordered pairs at once."""

    anchor = atom_spacing = 0.0

    def edge_error(self, largest: float) -> float:
        raise Inconclusive

    def masses(self, edges: Array) -> Masses:
        raise Inconclusive


class Inconclusive(Exception):
    """No certified bound within what an engine may spend: the next engine is asked."""


def largest(intervals: Iterable[Interval]) -> Interval:
    """The interval of the larger of several unknowns."""
    low = high = -math.inf
    for one in intervals:
        if math.isnan(one[0]) or math.isnan(one[1]):
            return -math.inf, math.inf
        low, high = max(low, one[0]), max(high, one[1])
    return low, high


class Care(IntEnum):
    """How close the ends of delta should be: in a search, as one of several (to nine decimal places), or as the only one."""

    MANY = 0
    CURVE = 1
    ONE = 2


@dataclass(frozen=True)
class StackedSlice:
    """Slices of single ordered pairs as the rows of one."""

    slices: tuple[Slice, ...]

    def keep(self, rows: list[int]) -> "StackedSlice":
        return StackedSlice(tuple(self.slices[row] for row in rows))

    def cumulant_above(self, points: Array) -> Array:
        return np.concatenate([one.cumulant_above(points) for one in self.slices])

    def decay(self, cells: Cells) -> Array:
        return np.concatenate([one.decay(cells) for one in self.slices])

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        values, errors = zip(*(one.values(step, nodes) for one in self.slices), strict=True)
        return np.concatenate(values), np.concatenate(errors)
