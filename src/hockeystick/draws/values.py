"""What may be released: numbers as they are, to the last bit, or an error.  Rounding may move two data sets apart (Lemma 39)."""

import math
import numbers
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadType, BadValue

Shape = tuple[int, ...] | None  # None: a single number
_EXACT = 2**53  # whole numbers up to it are doubles
_REAL = "a finite number, or an array of such"
_SCORES = "a sequence of finite numbers"
_WHOLE = "a whole number, or an array of such (round before you state the sensitivity, not after)"


def reals(name: str, value: Any) -> tuple[npt.NDArray[np.float64], Shape]:
    """The numbers as doubles that are equal to them, in a row, and their shape."""
    grid = _array(name, value, _REAL)
    if (grid.dtype.kind == "f" and grid.dtype.itemsize <= 8) or _within(grid, _EXACT):
        plain = grid.astype(np.float64).ravel()
        if not np.isfinite(plain).all():
            raise BadValue(f"{name} is, or holds, {plain[~np.isfinite(plain)][0]}; allowed: {_REAL}.")
    else:
        plain = np.array([_real(name, one) for one in grid.ravel().tolist()], dtype=np.float64)
    return plain, grid.shape if isinstance(value, np.ndarray) or grid.ndim else None


def wholes(name: str, value: Any) -> tuple[npt.NDArray[Any], Shape]:
    """Whole numbers in a row, of 64 bits where they fit with room to spare, else of Python's own, and their shape."""
    grid = _array(name, value, _WHOLE)
    plain = grid.ravel()
    if _within(grid, 2**62):
        found: npt.NDArray[Any] = plain.astype(np.int64)
    else:
        listed = [_whole(name, one) for one in plain.tolist()]
        fits = all(-(2**62) <= one <= 2**62 for one in listed)
        found = np.array(listed, dtype=np.int64 if fits else object)
    return found, grid.shape if isinstance(value, np.ndarray) or grid.ndim else None


def places(name: str, value: Any, count: int) -> tuple[npt.NDArray[np.int64], Shape]:
    """Categories, from 0 to count - 1."""
    found, shape = wholes(name, value)
    wrong = [one for one in found.tolist() if not 0 <= one < count]
    if wrong:
        raise BadValue(f"{name} is, or holds, {wrong[0]}; allowed: categories, from 0 to {count - 1}.")
    return found.astype(np.int64), shape


def shaped(found: npt.NDArray[Any], shape: Shape) -> Any:
    """A number where one was given, else an array of the shape that was given."""
    return found.tolist()[0] if shape is None else found.reshape(shape)


def sums(values: npt.NDArray[Any], noise: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Whole numbers added; of Python's own if a sum is beyond 64 bits.

    The sums alone say which: a kind that depended on the value or on the noise would tell something of the value.
    """
    if values.dtype == noise.dtype == np.int64 and not (noise.size and int(np.abs(noise).max()) >= 2**62):
        found: npt.NDArray[Any] = values + noise  # 2^62 and less than 2^62: within 64 bits
        return found
    exact = [one + other for one, other in zip(values.tolist(), noise.tolist(), strict=True)]
    return np.array(exact, dtype=np.int64 if all(-(2**63) <= one < 2**63 for one in exact) else object)


def scores(name: str, value: Any) -> list[Any]:
    """Finite numbers in a row, at least one: doubles, or fractions if one is none."""
    grid = _array(name, value, _SCORES)
    if grid.ndim != 1 or not grid.size:
        raise BadValue(f"{name} has the shape {grid.shape}; allowed: a sequence of at least one number.")
    if _within(grid, _EXACT) or (grid.dtype.kind == "f" and grid.dtype.itemsize <= 8 and np.isfinite(grid).all()):
        found: list[Any] = grid.astype(np.float64).tolist()
        return found
    return [_fraction(name, _exact(name, one, _SCORES, lambda number: number)) for one in grid.tolist()]


def _fraction(name: str, one: Any) -> Fraction:
    """A finite real number as the fraction that it is."""
    if isinstance(one, numbers.Rational):
        return Fraction(int(one.numerator), int(one.denominator))
    if not hasattr(one, "as_integer_ratio"):  # floating-point numbers of all lengths have it
        raise BadType(f"{name} is, or holds, {one!r} ({type(one).__name__}); allowed: {_SCORES}, such as float(...) of each.")
    above, below = one.as_integer_ratio()
    return Fraction(int(above), int(below))


def _within(grid: npt.NDArray[Any], most: int) -> bool:
    """Whether they are whole numbers of the processor, none of them farther from 0."""
    return grid.dtype.kind in "iu" and (not grid.size or (int(grid.min()) >= -most and int(grid.max()) <= most))


def _masked(value: Any) -> bool:
    """Whether it is, or holds, an array of which something may be masked."""
    if isinstance(value, list | tuple):
        kinds = set(map(type, value))
        return any(issubclass(kind, list | tuple | np.ma.MaskedArray) for kind in kinds) and any(map(_masked, value))
    return isinstance(value, np.ma.MaskedArray)


def _array(name: str, value: Any, allowed: str) -> npt.NDArray[Any]:
    if _masked(value):
        raise BadType(
            f"{name} is, or holds, a masked array; allowed: {allowed}.  Fill or drop what is masked, as .filled(0) or "
            ".compressed() does."
        )
    try:
        grid = np.asarray(value)
        if grid.dtype.kind not in "fiu":  # such as whole numbers beyond 64 bits, fractions, truth values among numbers
            grid = np.asarray(value, dtype=object)
        elif not isinstance(value, np.ndarray) and grid.ndim:
            listed = np.asarray(value, dtype=object)  # a list of numbers of several kinds may have been rounded to one kind
            kinds = set(map(type, listed.ravel().tolist()))
            grid = grid if kinds <= {float} or kinds <= {int} else listed
    except (ValueError, OverflowError):
        raise BadType(f"{name} is {value!r}; allowed: {allowed}.") from None
    except (TypeError, RuntimeError) as why:  # such as of a tensor that records its gradient, or of a kind that NumPy lacks
        raise BadType(f"{name} is a {type(value).__name__} that NumPy cannot read ({why}); allowed: {allowed}.") from None
    return grid


def _exact(name: str, one: Any, allowed: str, made: Callable[[Any], Any]) -> Any:
    """made(one) of a finite real number, which must be equal to it."""
    if isinstance(one, bool | np.bool_) or not isinstance(one, numbers.Real):
        raise BadType(f"{name} is, or holds, {one!r} ({type(one).__name__}); allowed: {allowed}.")
    if isinstance(one, numbers.Rational) or math.isfinite(one):
        try:
            found = made(one)
        except OverflowError:
            found = None
        if found is not None and found == one:
            return found
        raise BadValue(
            f"{name} is, or holds, {one}, which is no double; allowed: {allowed}, as doubles (round before you state the "
            "sensitivity)."
        )
    raise BadValue(f"{name} is, or holds, {one}; allowed: {allowed}.")


def _real(name: str, one: Any) -> float:
    found: float = _exact(name, one, _REAL, float)
    return found


def _whole(name: str, one: Any) -> int:
    def made(number: Any) -> int:
        if number != int(number) or (not isinstance(number, numbers.Integral) and abs(number) > _EXACT):
            raise BadValue(f"{name} is, or holds, {number}; allowed: {_WHOLE}.")
        return int(number)

    found: int = _exact(name, one, _WHOLE, made)
    return found
