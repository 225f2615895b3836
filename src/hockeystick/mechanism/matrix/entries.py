"""The entries of a strategy matrix: read from arrays and objects of other libraries, and written out."""

from typing import TYPE_CHECKING, Any

from ... import checks
from ...errors import BadType, BadValue

if TYPE_CHECKING:
    from ...bounds import Array

MOST_DENSE = 2048
"""Iterations of a matrix that is given entry by entry: four million numbers."""
SMALLEST, LARGEST = 1e-100, 1e100


def entry(value: Any) -> float:
    """A number whose products with others of its kind are ordinary doubles."""
    number = checks.real("an entry of the strategy", value, f"0, or a number from {SMALLEST:g} to {LARGEST:g} or minus that")
    if number and not SMALLEST <= abs(number) <= LARGEST:
        raise BadValue(
            f"an entry of the strategy is {number}; allowed: 0, or a number from {SMALLEST:g} to {LARGEST:g} or minus that."
        )
    return number + 0.0  # no minus zero


def real_array(name: str, value: Any, dimensions: int | None) -> Any:
    """An array of doubles with so many dimensions, or with one or two."""
    import numpy as np

    try:
        array = np.asarray(value)
    except (TypeError, ValueError):
        raise BadType(f"{name} is {value!r}; allowed: an array of real numbers.") from None
    if array.dtype.kind not in "iuf" or (array.ndim not in (1, 2) if dimensions is None else array.ndim != dimensions):
        shape = f"{dimensions} dimensions" if dimensions else "one or two dimensions"
        raise BadType(f"{name} is an array of {array.dtype} and shape {array.shape}; allowed: real numbers in {shape}.")
    return array.astype(float)


def lower(array: Any) -> tuple[int, tuple[float, ...]]:
    """The size, and the lower triangle row by row."""
    import numpy as np

    if array.shape[0] != array.shape[1] or not 1 <= len(array) <= MOST_DENSE:
        raise BadValue(f"matrix has the shape {array.shape}; allowed: as many rows as columns, from 1 to {MOST_DENSE}.")
    above = np.argwhere(np.triu(array, 1))
    if len(above):
        row, column = above[0].tolist()
        raise BadValue(
            f"matrix is not lower triangular: row {row} uses step {column}, which comes after it; allowed: zeros above the "
            "diagonal, since row i is released at step i."
        )
    return len(array), tuple(array[np.tril_indices(len(array))].tolist())


def materialized(strategy: Any, iterations: int | None) -> Any:
    """The matrix of an object that can write it out, with its size or without."""
    own = getattr(strategy, "n", iterations)
    if hasattr(strategy, "n"):
        return real_array("strategy", strategy.materialize(), 2)
    if own is None:
        raise BadValue("iterations is missing: a streaming matrix does not say it; give iterations.")
    return real_array("strategy", strategy.materialize(own), 2)


def written(form: str, steps: int, numbers: tuple[float, ...]) -> "Array":
    """The whole matrix; the nodes of a tree in the order in which they are complete."""
    import numpy as np

    if form == "tree":
        nodes = sorted(((place + 1) << level, level) for level in range(steps.bit_length()) for place in range(steps >> level))
        found = np.zeros((len(nodes), steps))
        for row, (end, level) in enumerate(nodes):
            found[row, end - (1 << level) : end] = 1.0
        return found
    found = np.zeros((steps, steps))
    if form == "dense":
        found[np.tril_indices(steps)] = numbers
        return found
    for band, number in enumerate(numbers):
        found[np.arange(band, steps), np.arange(steps - band)] = number
    return found


def square_root(bands: int) -> tuple[float, ...]:
    """binomial(2m, m) / 4^m for m below `bands`."""
    found = [1.0]
    for m in range(1, bands):
        found.append(found[-1] * (2 * m - 1) / (2 * m))
    return tuple(found)


def buffered(decays: Any, scales: Any, steps: int) -> tuple[float, ...]:
    """1, then the sums of scales[i] decays[i]^(m - 1)."""
    import math

    falls = [checks.real("a decay", one, "a finite number") for one in checks.listed("decays", decays)]
    reads = [checks.real("a scale", one, "a finite number") for one in checks.listed("scales", scales)]
    if len(falls) != len(reads):
        raise BadValue(f"{len(falls)} decays and {len(reads)} scales are given; allowed: as many of each.")
    found = [1.0]
    for _ in range(1, steps):
        number = math.fsum(reads) if all(map(math.isfinite, reads)) else math.inf
        found.append(number if abs(number) >= SMALLEST else 0.0)
        reads = [one * fall for one, fall in zip(reads, falls, strict=True)]
    return tuple(found)
