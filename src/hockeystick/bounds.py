"""Both ends of a certified answer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .errors import BadType


@dataclass(frozen=True, init=False)
class Bounds:
    """lower <= truth <= upper; floats, or arrays where the question was asked of an array.

    The truth is the value of the composed pair that the mechanisms state; `tight` says that some mechanism attains that value
    (it says nothing about the width of the interval, which `width` tells).

    >>> lower, upper = Bounds(1.0, 2.0)
    >>> Bounds(1.0, 2.0).width
    1.0
    """

    lower: Any
    upper: Any
    tight: bool = True

    def __init__(self, lower: Any, upper: Any, tight: bool = True) -> None:
        own = vars(self)  # sooner than attribute by attribute, as every answer is one of these
        own["lower"], own["upper"], own["tight"] = lower, upper, tight

    def __iter__(self) -> Iterator[Any]:
        return iter((self.lower, self.upper))

    def __contains__(self, value: float) -> bool:
        if hasattr(self.lower, "__len__"):
            raise BadType("these bounds are arrays; compare with .lower and .upper entry by entry.")
        return bool(self.lower <= value <= self.upper)

    @property
    def width(self) -> Any:
        """upper - lower."""
        return self.upper - self.lower
