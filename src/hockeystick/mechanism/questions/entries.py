"""A question asked of a number, or of each entry of an array."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from ...errors import BadType


def each(
    name: str,
    value: Any,
    check: Callable[[str, Any], float],
    ends: Callable[[float], Any],
    many: Callable[[list[float]], Sequence[Any]] | None = None,
) -> tuple[Any, Any]:
    """Both ends for a number, or for each entry of an array, once it is checked; `many` answers several at a time.

    >>> each("alpha", [1, 4.0], lambda name, x: x, lambda x: (x, 2.0 * x))
    (array([1., 4.]), array([2., 8.]))
    """
    if not isinstance(value, list | tuple | range) and not hasattr(value, "__array__"):
        low, high = ends(check(name, value))
        return low, high
    import numpy as np

    if hasattr(value, "__array__") and np.ndim(value) == 0:
        low, high = ends(check(name, value))
        return low, high
    try:
        entries = np.asarray(value)
    except ValueError:
        entries = np.asarray(None)
    if entries.dtype.kind not in "fiu":
        raise BadType(f"{name} is {value!r}; allowed: a number or an array of numbers.")
    checked = [check(name, entry) for entry in entries.astype(float).ravel().tolist()]
    found = np.array([tuple(one) for one in (many(checked) if many else map(ends, checked))]).reshape(-1, 2)
    return found[:, 0].reshape(entries.shape), found[:, 1].reshape(entries.shape)


def flat(value: Any) -> list[float]:
    """A number or the entries of an array, as a list."""
    import numpy as np

    return cast("list[float]", np.ravel(value).tolist())
