"""The trapezoidal rule: its nodes, values e^{iuL} at equally spaced u, and what lies beyond the last u.

docs/mathematics.md: Lemma 7 (truncation error) for the cells, section 14 for the rounding.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .cancellation_free import BLOCK, Array, ComplexArray

_TABLE = 30_000  # entries of a table that is worth writing down
_PIECE = 4096  # values at a time
_LONG = 16  # rows from which a table is a product
_DEEPER = 24  # two exponentials and two products more, in units
RATIO, COUNT = 1.25, 97
LEFT = RATIO ** np.arange(COUNT)
_RIGHT = np.append(LEFT[1:], math.inf)
SPAN = 1.0 / LEFT - np.append(1.0 / LEFT[1:], 0.0)
SQUARE = 1.0 / LEFT**2


def exact_places(low: float, step: float) -> tuple[float, float]:
    """Both to nine digits, rounded down, such that low + step * n is exact for whole n below 2^20 or so."""
    unit = 2.0 ** (math.frexp(step)[1] - 30)
    return math.floor(low / unit) * unit, math.floor(step / unit) * unit


def fourier_sums(ratio: Array, weight: Array, step: float, nodes: int) -> ComplexArray:
    """sum_j weight_j e^{i u L_j} at u = 0, step, 2 step, ..., for each row of weights.

    u = (p R + r) step: e^{iuL} is a product of two small tables, each a product of two smaller ones where it is long, and the sum
    a product of matrices, block by block so that the rounding error grows with the block and not with the whole; a piece of many
    blocks at a time, so that the tables stay small.
    """
    block = _block(ratio.size)
    piece = -(-_PIECE // block) * block
    found = _piece(ratio[:piece], weight[:, :piece], step, nodes, block, ratio.size)
    for start in range(piece, ratio.size, piece):
        some = slice(start, start + piece)
        found += _piece(ratio[some], weight[:, some], step, nodes, block, ratio.size)
    return found


def _piece(ratio: Array, weight: Array, step: float, nodes: int, block: int, whole: int) -> ComplexArray:
    inner = max(1, math.isqrt(nodes))
    outer = -(-nodes // inner)
    angle = step * ratio
    coarse, fine = _turns(outer, inner, angle), _turns(inner, 1, angle)
    rows, size = weight.shape[0], ratio.size
    if nodes * whole < _TABLE:
        left: ComplexArray = weight.astype(np.complex128)
        right: ComplexArray = (coarse[:, None, :] * fine).reshape(outer * inner, size)
    else:
        left, right = (weight[:, None, :] * coarse).reshape(rows * outer, size), fine
    found: ComplexArray = left[:, :block] @ right[:, :block].T
    for start in range(block, size, block):
        found += left[:, start : start + block] @ right[:, start : start + block].T
    return found.reshape(rows, -1)[:, :nodes]


def _turns(count: int, stride: int, angle: Array) -> ComplexArray:
    """e^{i n stride angle} for n < count, a row for each n."""
    if count > _LONG:
        inner = math.isqrt(count)
        outer = -(-count // inner)
        table = _turns(outer, stride * inner, angle)[:, None, :] * _turns(inner, stride, angle)
        return table.reshape(outer * inner, angle.size)[:count]
    turned = np.arange(0.0, count * stride, stride)[:, None] * angle
    found = np.empty(turned.shape, dtype=np.complex128)
    np.cos(turned, out=found.real)
    np.sin(turned, out=found.imag)
    return found


def _block(size: int) -> int:
    return max(BLOCK, math.isqrt(size))


def added_terms(size: int, nodes: int) -> int:
    """How many terms the rounding error of such a sum of `size` values counts, with those of two further exponentials."""
    block = _block(size)
    # products of two tables have two terms in each of their parts; of real weights with one there is one in each
    factor = 1 if nodes * size < _TABLE else 3
    return factor * (min(size, block) + -(-size // block)) + (_DEEPER if nodes >= _LONG * _LONG else 0)


@dataclass(frozen=True)
class Cells:
    """start * RATIO^i <= u <= start * RATIO^(i+1) for i < COUNT - 1, and everything beyond.

    >>> Cells(2.0).left[:2], Cells(2.0).right[-1]
    (array([2. , 2.5]), np.float64(inf))
    """

    start: float

    @property
    def left(self) -> Array:
        return self.start * LEFT

    @property
    def right(self) -> Array:
        return self.start * _RIGHT

    def sums_beyond(self, bounds: Array, step: float) -> Array:
        """Bounds of sum of f(u)/u^2 * step over the multiples u of step beyond the left end of each cell.

        `bounds` are upper bounds of f on the cells; on a cell the sum is at most the integral and one term more.
        """
        piece = bounds * (SPAN * (1.0 / self.start) + SQUARE * (step / self.start**2))
        return np.add.accumulate(piece[::-1])[::-1]

    def last_within(self, lengths: Array) -> npt.NDArray[np.intp]:
        """The last cell whose u are all at most pi / length, -1 where there is none (or the length is not positive)."""
        # a little more than the exact threshold, and one for rounding down towards 0 and past -1
        start = math.log(math.pi / self.start) / math.log(RATIO) - 1e-6
        place = np.log(np.maximum(lengths, 1e-300)) * (-1.0 / math.log(RATIO)) + start
        return np.minimum(np.maximum(place, 0.0), COUNT - 1.0).astype(np.intp) - 1
