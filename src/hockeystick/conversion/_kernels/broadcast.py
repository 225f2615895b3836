"""Functions of scalars, made to take arrays."""

import functools
import re
import typing
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from ...errors import BadType, BadValue

if TYPE_CHECKING:
    from ...bounds import Array, Floats

    Function = Callable[..., float]

P = ParamSpec("P")
One = TypeVar("One", covariant=True)
Many = TypeVar("Many", covariant=True)

_PAPER = r"(?:(?:Asoodeh|Liu) et al\. \d{4}|Steinke 2022), "
_CITATION = re.compile(
    rf"\(((?:[^()]*; )?{_PAPER}[^()]*)\)|^ +({_PAPER}.*?)\.(?:  |$)", re.MULTILINE
)  # in brackets, or by itself


class Broadcast(Protocol[P, One, Many]):
    """A function of numbers that takes arrays as well: numbers give what it gives, an array among them gives arrays."""

    @overload
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> One: ...
    @overload
    def __call__(self, *args: "float | Floats | Function", **kwargs: "float | Floats | Function") -> Many: ...


@overload
def broadcast(function: "Callable[P, float]") -> "Broadcast[P, float, Array]": ...
@overload
def broadcast(function: "Callable[P, tuple[float, float]]") -> "Broadcast[P, tuple[float, float], tuple[Array, Array]]": ...
@overload
def broadcast(
    function: "Callable[P, tuple[float, float, float]]",
) -> "Broadcast[P, tuple[float, float, float], tuple[Array, Array, Array]]": ...
def broadcast(function: Callable[..., Any]) -> Any:
    """Let a function of scalars, which returns a float or a tuple of floats, take arrays as well.

    Numbers alone give what the function gives; lists, tuples and arrays follow NumPy's broadcasting and give an array
    (or a tuple of arrays) of the common shape.  Checks nothing: every element is handed to the function as it came.  An error
    that a value is not allowed is given the theorem that the function cites.

    >>> @broadcast
    ... def half(x: float) -> float:
    ...     return x / 2
    >>> half(3.0), half([1.0, 2.0])
    (1.5, array([0.5, 1. ]))
    """

    return vectorised(None)(function)


Vector = Callable[..., Any]
"""A function of arrays of doubles of one shape; it may return None, then every element is asked for by itself."""


def vectorised(vector: Vector | None) -> "Callable[[Callable[P, float]], Broadcast[P, float, Array]]":
    """`broadcast` with a function for whole arrays, which is asked first where all arguments are numbers or arrays of numbers."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            try:
                return _each(function, vector, args, kwargs)
            except BadValue as error:
                cited = _CITATION.search(function.__doc__ or "")
                theorem = cited and " ".join((cited[1] or cited[2]).split())
                if not theorem or theorem in str(error):
                    raise
                raise BadValue(f"{error}  ({theorem}.)") from None

        return wrapped

    return decorate


def _each(function: Callable[..., Any], vector: Vector | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not any(map(_is_array, args)) and not any(map(_is_array, kwargs.values())):
        return function(*args, **kwargs)
    if vector is not None and (found := _at_once(function, vector, args, kwargs)) is not None:
        return found
    given = [_objects(value) for value in (*args, *kwargs.values())]
    try:
        grid = np.broadcast_arrays(*given)
    except ValueError:
        shapes = ", ".join(str(value.shape) for value in given)
        raise BadValue(f"the arguments have shapes {shapes}; allowed: shapes that NumPy can broadcast together.") from None
    shape, names, first = grid[0].shape, list(kwargs), len(args)
    rows = [
        function(*row[:first], **dict(zip(names, row[first:], strict=True)))
        for row in zip(*(one.ravel().tolist() for one in grid), strict=True)
    ]
    if width := _width(function, rows):
        return tuple(np.array([row[k] for row in rows], dtype=float).reshape(shape) for k in range(width))
    return np.array(rows, dtype=float).reshape(shape)


def _at_once(function: Callable[..., Any], vector: Vector, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """All elements by the function of arrays, in the order of the arguments of the function of scalars; or None."""
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    if len(args) > len(names) or set(given) != set(names):
        return None
    if any(isinstance(value, list | tuple | bool) for value in given.values()):  # a list may hide a boolean
        return None
    arrays = [np.asarray(given[name]) for name in names]
    if any(array.dtype.kind not in "fiu" or array.dtype.itemsize > 8 for array in arrays):
        return None
    try:
        return vector(*np.broadcast_arrays(*(array.astype(float) for array in arrays)))
    except ValueError:
        return None


def _is_array(value: Any) -> bool:
    if type(value) is float:
        return False
    return isinstance(value, list | tuple) or (hasattr(value, "__array__") and np.ndim(value) > 0)


def _objects(value: Any) -> np.ndarray[Any, np.dtype[np.object_]]:
    """As an array of Python objects, so that the checks see a boolean as a boolean."""
    try:
        return np.asarray(value, dtype=object)
    except ValueError:
        raise BadType(f"{value!r} is not an array of numbers; allowed: a number or a rectangular array of numbers.") from None


def _width(function: Callable[..., Any], rows: list[Any]) -> int:
    """How many values one call returns, 0 for a float; from the annotation where an empty array asked for none."""
    if rows:
        return len(rows[0]) if isinstance(rows[0], tuple) else 0
    returned = typing.get_type_hints(function).get("return")
    return len(typing.get_args(returned)) if typing.get_origin(returned) is tuple else 0
