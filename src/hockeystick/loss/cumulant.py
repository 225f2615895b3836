"""What a privacy loss must offer to be composed and integrated along a vertical contour.

Z = log dP/dQ under P, for one ordered pair (P, Q); phi(w) = E exp(w Z); K = log phi.  A loss is asked for one
step: the count is applied in one place only, `composed.py`.
"""

from typing import Protocol

from ..numerics.cells import Cells
from ..numerics.series import Array, ComplexArray


class Slice(Protocol):
    """A loss seen along the vertical line Re w = c, everything certified."""

    def above(self, points: Array) -> Array:
        """Upper bounds of K at real points right of -1."""
        ...

    def decay(self, cells: Cells) -> Array:
        """Lower bounds of -log |phi(c+iu) / phi(c)| on cells of u."""
        ...

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        """K(c + i k step) for k < nodes, modulo 2 pi i, and bounds of the relative error of phi there."""
        ...


class Loss(Protocol):
    """The privacy loss of one step."""

    @property
    def ceiling(self) -> float:
        """The largest value that Z takes (rounded up), or inf."""
        ...

    @property
    def nodes_allowed(self) -> int:
        """How many contour nodes are worth their cost."""
        ...

    def expand(self, c: float) -> tuple[float, float, float]:
        """K, K', K'' at a real point c > -1, to a few digits: a guide for the search, never part of an answer."""
        ...

    def mean(self) -> tuple[float, float]:
        """E Z = K'(0), the Kullback-Leibler divergence, and a bound of its error."""
        ...

    def slice(self, c: float, ahead: float, count: int) -> Slice:
        """The slice at Re w = c, bounds good to about `ahead`, so accurate that count steps of it lose nothing."""
        ...

    def step_log_delta(self, epsilon: float) -> tuple[float, float] | None:
        """log delta(epsilon) of a single step in closed form with a bound of its error, where there is one."""
        ...
