"""Exact amounts: fractions, and whole numbers of a unit.  Nothing is lost below an ulp, and nothing is refused for one."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .. import checks
from ..errors import BadType, BadValue

Number = int | float | str | Fraction | Decimal

SHARES = 2**48
"""The units of a limit that is known by its upper end only: small enough to be worth nothing."""

HEADROOM = 2**24
"""So many units more are counted in the promise.  Each charge is rounded up by less than one unit, and by a few roundings of
certified ends: without them ten charges of a tenth would not fit."""

LARGEST = 2**62
"""An amount that fits nowhere, within the whole numbers of databases."""


def exact(name: str, value: Any) -> Fraction:
    """The number that was written: a double is read as its shortest decimal, so that 0.1 + 0.2 is 0.3.

    >>> exact("epsilon", 0.1) + exact("epsilon", "0.2") == exact("epsilon", 0.3)
    True
    """
    allowed = "a finite number from 0 up, such as 0.1 or '1/3'"
    try:
        if isinstance(value, str | Decimal | Fraction) or type(value) is int:
            number = Fraction(value)
        else:
            number = Fraction(repr(checks.real(name, value, allowed)))
    except BadType:
        raise BadType(f"{name} is {value!r} ({type(value).__name__}); allowed: {allowed}.") from None
    except (ValueError, OverflowError, ZeroDivisionError):  # (BadValue is a ValueError)
        raise BadValue(f"{name} is {value!r}; allowed: {allowed}.") from None
    if number < 0:
        raise BadValue(f"{name} is {value!r}; allowed: {allowed}.")
    return number


def share(part: "Fraction | float", whole: Fraction, units: int = SHARES) -> int:
    """The units that a part of the whole takes, rounded up; `LARGEST` where it is far beyond it."""
    if not part:
        return 0
    if part == math.inf or not whole or Fraction(part) * units >= whole * LARGEST:
        return LARGEST
    return math.ceil(Fraction(part) * units / whole)


def float_up(value: Fraction) -> float:
    """The double at or above a fraction."""
    try:
        near = float(value)
    except OverflowError:
        return math.inf
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)


def float_down(value: Fraction) -> float:
    """The double at or below a fraction."""
    try:
        near = float(value)
    except OverflowError:
        return math.nextafter(math.inf, 0.0)
    return near if Fraction(near) <= value else math.nextafter(near, -math.inf)


def double(value: Fraction) -> float:
    """The double that is written like the fraction, or else the one at or below it."""
    near = float(value)
    return near if Fraction(repr(near)) == value else float_down(value)


def root_up(value: Fraction) -> float:
    """A double at or above the square root."""
    near = math.sqrt(float_up(value))
    while math.isfinite(near) and Fraction(near) ** 2 < value:
        near = math.nextafter(near, math.inf)
    return near


def root_down(value: Fraction) -> float:
    """A double at or below the square root."""
    near = math.sqrt(float_down(value))
    while Fraction(near) ** 2 > value:
        near = math.nextafter(near, -math.inf)
    return near


def written(value: Fraction) -> str:
    """A fraction as text that `exact` reads: a decimal where it has one, else p/q."""
    twos = fives = 0
    rest = value.denominator
    while rest % 2 == 0:
        rest, twos = rest // 2, twos + 1
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    digits = max(twos, fives)
    if rest > 1 or digits > 30:
        return str(value)
    text = str(value.numerator * 10**digits // value.denominator).rjust(digits + 1, "0")
    return f"{text[:-digits]}.{text[-digits:]}" if digits else text
