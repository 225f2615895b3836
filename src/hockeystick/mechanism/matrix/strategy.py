"""Strategy matrices of matrix mechanisms: trees, Toeplitz matrices, and any lower triangular one."""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ... import checks
from ...bounds import Bounds
from ...errors import BadType, BadValue, Unsupported
from ...numerics.rounding import UNIT
from ..made import Made
from .entries import MOST_DENSE, buffered, entry, lower, materialized, real_array, square_root, written

if TYPE_CHECKING:
    from ...bounds import Array

FORMS = ("dense", "toeplitz", "tree")
MOST = 10**6
_SEARCHED = 512
_SHOWN = 8
SAME = 1e-9  # ends that differ by this part of themselves differ by rounding only


@dataclass(frozen=True, repr=False)
class Strategy(metaclass=Made):
    """The matrix C of a matrix mechanism, which releases C x + z: x the sums of the steps, z independent noise.

    Made by one of `Strategy.tree`, `.square_root`, `.toeplitz`, `.blt`, `.dense`, or read from another library by `.of`.

    Parameters
    ----------
    form : {"dense", "toeplitz", "tree"}
        How the numbers are meant.
    iterations : int
        The steps, which are the columns.
    numbers : sequence of float
        dense: the rows of the lower triangle, one after the other; toeplitz: the first entries of the first column; tree: none.

    Raises
    ------
    BadType
        If form is no text, iterations no number, or numbers no sequence of them.
    BadValue
        If one is out of its range, or their count does not fit.

    Examples
    --------
    >>> Strategy.toeplitz((1.0, 0.5), iterations=3).matrix()
    array([[1. , 0. , 0. ],
           [0.5, 1. , 0. ],
           [0. , 0.5, 1. ]])
    """

    form: str
    iterations: int
    numbers: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.form, str):
            raise BadType(f"form is {self.form!r}; allowed: one of {', '.join(FORMS)}.")
        if self.form not in FORMS:
            raise BadValue(f"form is {self.form!r}; allowed: one of {', '.join(FORMS)}{checks.meant(self.form, FORMS)}.")
        most = MOST_DENSE if self.form == "dense" else MOST
        steps = checks.count("iterations", self.iterations, least=1, most=most)
        numbers = tuple(entry(one) for one in checks.listed("numbers", self.numbers))
        wanted = {"dense": (steps * (steps + 1) // 2,) * 2, "toeplitz": (1, steps), "tree": (0, 0)}[self.form]
        if not wanted[0] <= len(numbers) <= wanted[1]:
            raise BadValue(f"{self.form} of {steps} iterations has {len(numbers)} numbers; allowed: {wanted[0]} to {wanted[1]}.")
        if self.form != "tree" and not any(numbers):
            raise BadValue("all entries of the strategy are 0; allowed: a matrix with another one, else nothing is released.")
        object.__setattr__(self, "iterations", steps)
        object.__setattr__(self, "numbers", numbers)

    @classmethod
    def dense(cls, matrix: Any) -> "Strategy":
        """Any lower triangular matrix, as a list of rows or an array.

        Parameters
        ----------
        matrix : array_like
            The rows; entries above the diagonal are 0.

        Returns
        -------
        Strategy
            The strategy.

        Raises
        ------
        BadType
            If matrix is no array of real numbers.
        BadValue
            If it is not square, not lower triangular, larger than 2048, or an entry is out of range.
        """
        return cls("dense", *lower(real_array("matrix", matrix, 2)))

    @classmethod
    def toeplitz(cls, coefficients: Sequence[float], iterations: int) -> "Strategy":
        """The lower triangular Toeplitz matrix whose first column begins with these numbers and goes on with zeros.

        Parameters
        ----------
        coefficients : sequence of float
            The bands, the diagonal first; at most as many as iterations.
        iterations : int
            The steps of the run.

        Returns
        -------
        Strategy
            The strategy.

        Raises
        ------
        BadType
            If coefficients is no sequence of real numbers, or iterations no number.
        BadValue
            If one is out of its range.
        """
        return cls("toeplitz", iterations, tuple(checks.listed("coefficients", coefficients)))

    @classmethod
    def square_root(cls, iterations: int, bands: int | None = None) -> "Strategy":
        """The Toeplitz square root of the matrix of prefix sums, cut after `bands` bands: entries binomial(2m, m) / 4^m.

        Parameters
        ----------
        iterations : int
            The steps of the run.
        bands : int, optional
            How many bands are kept; by default all.

        Returns
        -------
        Strategy
            The strategy.

        Raises
        ------
        BadType
            If an argument is no number.
        BadValue
            If one is out of its range.

        Examples
        --------
        >>> Strategy.square_root(iterations=8, bands=3).numbers
        (1.0, 0.5, 0.375)
        """
        steps = checks.count("iterations", iterations, least=1, most=MOST)
        kept = steps if bands is None else checks.count("bands", bands, least=1, most=steps)
        return cls("toeplitz", steps, square_root(kept))

    @classmethod
    def blt(cls, decays: Sequence[float], scales: Sequence[float], iterations: int) -> "Strategy":
        """A buffered linear Toeplitz matrix: 1 on the diagonal, then the sum of scales[i] decays[i]^(m - 1) in band m.

        Parameters
        ----------
        decays : sequence of float
            The decay of each buffer.
        scales : sequence of float
            With what each buffer is read.
        iterations : int
            The steps of the run.

        Returns
        -------
        Strategy
            The strategy, its entries rounded to doubles; entries below 1e-100 are 0.

        Raises
        ------
        BadType
            If decays or scales is no sequence of real numbers, or iterations no number.
        BadValue
            If one is out of its range, or there are not as many scales as decays.
        """
        steps = checks.count("iterations", iterations, least=1, most=MOST)
        return cls("toeplitz", steps, buffered(decays, scales, steps))

    @classmethod
    def tree(cls, iterations: int) -> "Strategy":
        """The binary tree of DP-FTRL: a row for each node whose steps are all there, its sum; released when it is complete.

        How nodes are combined into prefix sums (the plain way, or with less variance by Honaker) changes nothing about
        privacy.  Trees that are started anew each epoch are `MatrixMechanism(Strategy.tree(n), ...) * epochs`.

        Parameters
        ----------
        iterations : int
            The steps of the run, which are the leaves.

        Returns
        -------
        Strategy
            The strategy.

        Raises
        ------
        BadType
            If iterations is no number.
        BadValue
            If it is out of its range.

        Examples
        --------
        >>> round(Strategy.tree(iterations=4).sensitivity(participations=1).upper ** 2, 9)
        3.0
        """
        return cls("tree", iterations)

    @classmethod
    def of(cls, strategy: Any, iterations: int | None = None) -> "Strategy":
        """What another library describes: an array of two dimensions, Toeplitz coefficients, or an object of JAX Privacy.

        Objects are known by what they offer: `buf_decay` and `output_scale` (BufferedToeplitz) or `materialize`
        (StreamingMatrix, ColumnNormalizedBanded).

        Parameters
        ----------
        strategy : object
            A `Strategy`, a square array, a sequence of Toeplitz coefficients, or such an object.
        iterations : int, optional
            The steps of the run, where the object does not say it.

        Returns
        -------
        Strategy
            The strategy.

        Raises
        ------
        BadType
            If it is nothing of that.
        BadValue
            If iterations is missing, does not fit, or a number is out of its range.
        """
        if isinstance(strategy, Strategy):
            found = strategy
        elif hasattr(strategy, "buf_decay") and hasattr(strategy, "output_scale"):
            if iterations is None:
                raise BadValue("iterations is missing: a buffered Toeplitz matrix does not say it; give iterations.")
            parts = [real_array(name, getattr(strategy, name), None).ravel() for name in ("buf_decay", "output_scale")]
            found = cls.blt(parts[0].tolist(), parts[1].tolist(), iterations)
        elif hasattr(strategy, "materialize"):
            found = cls.dense(materialized(strategy, iterations))
        else:
            array = real_array("strategy", strategy, None)
            if array.ndim == 1 and iterations is None:
                raise BadValue("iterations is missing: Toeplitz coefficients do not say it; Strategy.toeplitz takes it.")
            found = cls.toeplitz(array.tolist(), iterations or 0) if array.ndim == 1 else cls.dense(array)
        if iterations is not None and found.iterations != iterations:
            raise BadValue(f"iterations is {iterations}, and the strategy has {found.iterations}; allowed: the same.")
        return found

    def matrix(self) -> "Array":
        """C with its rows in the order in which they are released; a tree has more rows than columns.

        Returns
        -------
        ndarray
            The entries.

        Raises
        ------
        Unsupported
            If it is larger than 2048 steps.
        """
        if self.iterations > MOST_DENSE:
            raise Unsupported(
                f"{self!r} is not written out: {self.iterations} columns are too many; allowed: at most {MOST_DENSE}."
            )
        return written(self.form, self.iterations, self.numbers)

    def sensitivity(self, participations: int, separation: int = 1, exactly: bool = False) -> Bounds[float]:
        """How far one record moves C x, in units of the norm of one contribution.

        The record takes part in at most `participations` steps, any two at least `separation` apart (1: any steps), with a
        vector of norm at most 1 in each: the largest |sum of c_i x_i| over such patterns and vectors.

        Parameters
        ----------
        participations : int
            In how many steps a record takes part at most.
        separation : int, default 1
            How many steps lie between two of them at least, the second counted.
        exactly : bool, default False
            Whether each next one comes exactly so many steps later, as in epochs of the same order.

        Returns
        -------
        Bounds
            The certified ends; `tight` says that they are the same but for rounding.

        Raises
        ------
        BadType
            If a number is none, or exactly is no bool.
        BadValue
            If a number is out of its range.

        Examples
        --------
        >>> Strategy.square_root(iterations=100, bands=10).sensitivity(participations=5, separation=20).tight
        True
        """
        low, high = self._squares(participations, separation, exactly)
        return Bounds(math.sqrt(low) * (1.0 - 4.0 * UNIT), math.sqrt(high) * (1.0 + 4.0 * UNIT), high <= low * (1.0 + SAME))

    def _squares(self, participations: int, separation: int, exactly: bool) -> tuple[float, float]:
        """Both ends of the squared sensitivity."""
        most = checks.count("participations", participations, least=1)
        apart = checks.count("separation", separation, least=1)
        return _squares(self, most, min(apart, self.iterations), checks.flag("exactly", exactly))

    def __repr__(self) -> str:
        if self.form == "tree":
            return f"Strategy.tree(iterations={self.iterations})"
        bands = len(self.numbers)
        if self.form == "toeplitz" and bands > 1 and self.numbers == square_root(bands):
            return f"Strategy.square_root(iterations={self.iterations}, bands={bands})"
        shown = ", ".join(map(repr, self.numbers[:_SHOWN]))
        if bands > _SHOWN:
            return f"Strategy({self.form!r}, iterations={self.iterations}, numbers=({shown}, ... {bands} in all))"
        return f"Strategy({self.form!r}, iterations={self.iterations}, numbers=({shown}{',' if bands == 1 else ''}))"


@functools.lru_cache(maxsize=64)
def _squares(strategy: Strategy, most: int, apart: int, exactly: bool) -> tuple[float, float]:
    """Both ends of the squared sensitivity: the best of what is proved."""
    import numpy as np

    from ...numerics import participation

    steps = strategy.iterations
    if strategy.form == "dense":
        return participation.dense(strategy.matrix(), most, apart, exactly)
    if strategy.form == "tree":
        found = participation.tree(steps, most, apart)
    else:
        found = participation.toeplitz(np.array(strategy.numbers), steps, most, apart)
    if steps > _SEARCHED or found[1] <= found[0] * (1.0 + SAME):
        return found
    other = participation.dense(strategy.matrix(), most, apart, exactly)
    return max(found[0], other[0]), min(found[1], other[1])
