"""The loops that questions go through, in C: each stands in for a reference in NumPy; which of the two serves is decided here.

The reference stands beside the proof, in the module of its mathematics, and names its loop with the decorator `loop`.  Where the
core is absent the reference is what one gets; else calls go by `core` in this module, the one switch that tests turn.
"""

import math
from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from . import core as _core

core: Any = _core
_P = ParamSpec("_P")
_R = TypeVar("_R")
_Array = npt.NDArray[np.float64]
_ComplexArray = npt.NDArray[np.complex128]
CELLS = 97  # of u: numerics/trapezoid.py


def loop(compiled: Callable[..., Any], when: Callable[..., bool] | None = None) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """A decorator for the reference of a loop: `compiled`, of the same arguments, answers instead where the core is there.

    If `when` is given, it says for which arguments; the others are the reference's.
    """

    def chosen(reference: Callable[_P, _R]) -> Callable[_P, _R]:
        if core is None:
            return reference

        @wraps(reference)
        def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
            if core is None or (when is not None and not when(*args, **kwargs)):
                return reference(*args, **kwargs)
            return cast("_R", compiled(*args, **kwargs))

        return call

    return chosen


class _Shape(Protocol):
    @property
    def noise(self) -> float: ...
    @property
    def rate(self) -> float: ...


class _Nodes(Protocol):
    """`Nodes` of loss/sampled/quadrature.py; `rows` are its arrays as one, where the core has placed the nodes."""

    shape: Any
    step: float
    rows: _Array | None
    z: _Array
    ratio: _Array
    share: _Array
    base: _Array


class _Grid(_Nodes, Protocol):
    low: float
    least: float
    most: float
    lead: float
    reach: float

    @property
    def numbers(self) -> _Array: ...


class _Slice(Protocol):
    k: _Array


class _Contour(Protocol):
    weights: _ComplexArray
    step: float
    anchor: float


class _Cells(Protocol):
    """`ThresholdedCells` of loss/bigjump/cells.py."""

    shape: Any
    thresholds: Any
    edges: _Array
    x: _Array
    share: _Array
    left: float


# Nodes of the noise: loss/sampled/quadrature.py


def place_nodes(nodes: _Nodes, low: float, count: int) -> None:
    """Fills in z, L, r and log of the weights."""
    nodes.rows = rows = np.empty((4, count))
    core.place_nodes(rows, low, nodes.step, nodes.shape.noise, nodes.shape.rate)
    nodes.z, nodes.ratio, nodes.share, nodes.base = rows


def placed_by_core(nodes: _Nodes, *_: object) -> bool:
    """Whether the core has placed these nodes; long grids with gaps are NumPy's."""
    return nodes.rows is not None


def tilted_sums(nodes: _Nodes, k: float, shift: float = 0.0) -> tuple[float, float, float, float]:
    """The sums of e^{k L + base - shift} times 1, L, L^2 and r."""
    return cast("tuple[float, float, float, float]", core.tilted_sums(nodes.rows, k, shift))


def right_edge(shape: _Shape, k: float, target: float) -> float:
    """A z whose right tail is below e^target; inf: there is none."""
    return cast("float", core.right_edge(shape.noise, shape.rate, k, target))


def choose_step(grid: _Grid, level: float) -> tuple[float, float]:
    """The longest step of the rule, and log of its error; 0: there is none."""
    ends = grid.low, grid.least, grid.most
    return cast("tuple[float, float]", core.choose_step(grid.shape.noise, grid.shape.rate, *ends, grid.lead, grid.reach, level))


# One sampled step along a vertical line: loss/sampled/gaussian_slice.py


def grid_by_core(line: _Slice, grid: _Grid, *_: object) -> bool:
    """Whether the core has placed the grid's nodes."""
    return grid.rows is not None


def cumulant_above(line: _Slice, grid: _Grid, k: _Array) -> _Array:
    """Upper bounds of log M at real k."""
    out: _Array = np.empty_like(k)
    core.cumulant_above(grid.rows, grid.numbers, k, out)
    return out


def decay(line: _Slice, grid: _Grid, cells: Any) -> _Array:
    """Lower bounds of -log |phi(c + iu)/phi(c)| on cells of u."""
    found = np.empty((line.k.size, CELLS))
    core.decay(grid.rows, grid.numbers, line.k, cells.start, found)
    return found


def excess(line: _Slice, grid: _Grid, step: float, nodes: int) -> tuple[_ComplexArray, _Array]:
    """log M along the line by E[e^{kL} - 1 - k x], and its errors."""
    value, error = np.empty((line.k.size, nodes), dtype=np.complex128), np.empty((line.k.size, nodes))
    core.excess(grid.rows, grid.numbers, line.k, step, nodes, value, error)
    return value, error


# The contour's sum: loss/contour/contour.py


def terms(value: _ComplexArray, error: _Array, step: float, c: float, epsilon: float) -> tuple[Any, ...] | None:
    """The terms, bounds of their errors, and for each row the height, the sum of |term| u and the sum of the errors.

    None: they prove nothing.
    """
    weights, errors = np.empty_like(value), np.empty_like(error)
    found = core.terms(value, error, len(value), step, c, epsilon, weights, errors)
    return None if found is None else (weights, errors, *found)


def truncate(decay: _Array, width: float, step: float, wanted: float, most: int) -> tuple[int, float]:
    """The cell of u beyond which the terms may be dropped, and a bound of their sum."""
    return cast("tuple[int, float]", core.truncate(decay, width, step, wanted, most))


def sums(contour: _Contour, epsilon: float) -> tuple[list[float], list[float]]:
    """The real parts of the terms at an epsilon, summed, and the imaginary parts times u."""
    weights = contour.weights
    return cast("tuple[list[float], list[float]]", core.sums(weights, len(weights), contour.step, epsilon - contour.anchor))


# A step with soft thresholds: loss/bigjump/cells.py, loss/bigjump/path.py and loss/bigjump/coarse.py


def remainder_sum(ratio: _Array, x: _Array, weight: _Array, k: float) -> float:
    """A bound of the sum over cells of e^weight times the remainder e^{kL} - 1 - k x."""
    return float(core.remainder_sum(ratio, x, weight, k))


def log_modulus_above(cells: _Cells, part: slice, tilt: _Array, k: float, last_x: float, u: _Array) -> _Array:
    """Bounds of log |mid(k + iu)| for each u and beyond."""
    found = np.empty(u.size)
    rows, numbers = _broad_rows(cells, part, tilt, np.full(tilt.size, -math.inf), 0.0)
    core.log_modulus_above(rows, numbers, k, last_x, math.log(cells.left), u, found)
    return found


def rule(
    cells: _Cells, large: bool, part: slice, tilt: _Array, log_goal: float, plain: _Array | None, reach: float, beyond: float
) -> tuple[float, float]:
    """About the longest step at which the rule errs by at most e^log_goal, and a bound of its error; 0: there is none."""
    rows, numbers = _broad_rows(cells, part, tilt, np.full(tilt.size, -math.inf) if plain is None else plain, reach)
    return cast("tuple[float, float]", core.rule(rows, numbers, large, log_goal, beyond))


def _broad_rows(cells: _Cells, part: slice, tilt: _Array, plain: _Array, reach: float) -> tuple[_Array, _Array]:
    """The broad cells as the core takes them: five rows and seven numbers."""
    edges, thresholds, shape = cells.edges[part], cells.thresholds, cells.shape
    rows = np.empty((5, edges.size))
    rows[0], rows[1], rows[2] = edges, cells.x[part] + shape.rate, cells.share[part]
    rows[3, :-1], rows[4, :-1] = tilt, plain
    soft = thresholds.high, thresholds.high_width, thresholds.low, thresholds.low_width
    return rows, np.array((shape.noise, shape.rate, reach, *soft))


def threshold_sums(x: _Array, table: _Array, cuts: _Array, high: float, width: float) -> _Array:
    """For each row the sums of its entries times g((x - high)/width), from each of the places `cuts` to the next."""
    found = np.empty((len(table), cuts.size))
    core.threshold_sums(x, table, cuts, high, width, found)
    return found
