"""Both ends of a certified answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .errors import BadType, BadValue

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Floats = Sequence[float] | Sequence[Sequence[float]] | NDArray[Any]
    """What is taken where an array of numbers may be given."""

End = TypeVar("End", float, "Array")


@dataclass(frozen=True, init=False)
class Bounds(Generic[End]):
    """lower <= truth <= upper; floats, or arrays where the question was asked of an array.

    The truth is the value of the composed pair that the mechanisms state.

    Parameters
    ----------
    lower : float or ndarray
        The certified lower end.
    upper : float or ndarray
        The certified upper end, nowhere below the lower one.
    tight : bool, default True
        Whether some mechanism attains the truth (it says nothing about the width of the interval, which `width` tells).

    Raises
    ------
    BadType
        If an end is neither a real number nor an array.
    BadValue
        If an end is NaN, or the lower one is above the upper one.

    Examples
    --------
    >>> lower, upper = Bounds(1.0, 2.0)
    >>> Bounds(1.0, 2.0).width
    1.0
    >>> print(Bounds(1.0, 2.0))
    1 <= truth <= 2
    """

    lower: End
    upper: End
    tight: bool = True

    def __init__(self, lower: End, upper: End, tight: bool = True) -> None:
        if type(lower) is not float or type(upper) is not float or not lower <= upper:  # sooner for two floats, as most are
            _check(lower, upper)
        own = self.__dict__  # sooner than attribute by attribute
        own["lower"], own["upper"], own["tight"] = lower, upper, tight

    def __iter__(self) -> Iterator[End]:
        return iter((self.lower, self.upper))

    def __contains__(self, value: float) -> bool:
        if hasattr(self.lower, "__len__"):
            raise BadType("these bounds are arrays; compare with .lower and .upper entry by entry.")
        return bool(self.lower <= value <= self.upper)

    def __str__(self) -> str:
        if hasattr(self.lower, "__len__"):
            return f"lower {self.lower}, upper {self.upper}{'' if self.tight else ', not known to be tight'}"
        from .report.numbers import down_text, up_text

        ends = f"{down_text(float(self.lower), 10)} <= truth <= {up_text(float(self.upper), 10)}"
        return ends if self.tight else f"{ends}, the upper end not known to be tight"

    def _repr_html_(self) -> str:
        from .report.page import bounds_html

        return bounds_html(self)

    @property
    def width(self) -> End:
        """upper - lower, which is how well the truth is known.

        Returns
        -------
        float or ndarray
            The difference of the ends; NaN where both are the same infinity.
        """
        return self.upper - self.lower


def _check(lower: Any, upper: Any) -> None:
    for name, value in (("lower", lower), ("upper", upper)):
        if isinstance(value, bool) or not (isinstance(value, Real) or hasattr(value, "__array__")):
            raise BadType(f"{name} is {value!r}; allowed: a number, or an array of numbers.")
    ordered = lower <= upper
    if not (ordered.all() if hasattr(ordered, "all") else ordered):
        raise BadValue(f"lower is {lower!r} and upper is {upper!r}; allowed: numbers, lower <= upper.")
