"""Finite distributions as exact fractions, as users write them."""

import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

from ...errors import BadType, BadValue

_ROUNDED = 1e-9  # how far a sum of doubles may be from 1 for them to be the probabilities that were meant
_NEAREST = Fraction(1, 10**280)  # a likelihood ratio this near to 1 has no double of its own
_ALLOWED = "masses from 0 to 1 that sum to 1: whole numbers, fractions, decimals, texts such as '1/3', or doubles"


def shared_outcomes(p: Any, q: Any) -> tuple[tuple[Any, ...], Any, Any]:
    """The outcomes of both distributions, and what each gives them: two mappings, or two sequences of equal length."""
    if isinstance(p, Mapping) and isinstance(q, Mapping):
        outcomes = tuple(dict.fromkeys([*p, *q]))
        return outcomes, [p.get(one, 0) for one in outcomes], [q.get(one, 0) for one in outcomes]
    for name, given in (("p", p), ("q", q)):
        if isinstance(given, str | bytes | Mapping | set | frozenset) or not hasattr(given, "__iter__"):
            raise BadType(
                f"{name} is {given!r}; allowed: two lists of masses of equal length, two dicts from outcome to mass, or two "
                "densities."
            )
    first, second = list(p), list(q)
    if len(first) != len(second):
        raise BadValue(f"p has {len(first)} masses and q {len(second)}; allowed: as many of each (dicts may differ in outcomes).")
    return tuple(range(len(first))), first, second


def distribution(name: str, given: list[Any]) -> tuple[Fraction, ...]:
    """Exact masses that sum to 1; doubles that do so but for rounding are scaled to do so exactly."""
    masses = [_mass(name, one) for one in given]
    total = sum(masses, Fraction(0))
    if total == 1:
        return tuple(masses)
    rounded = any(isinstance(one, Real) and not isinstance(one, Rational) for one in given)
    if not rounded or abs(total - 1) > _ROUNDED:
        raise BadValue(f"the masses of {name} sum to {float(total)!r}, off by {float(total - 1):g}; allowed: {_ALLOWED}.")
    return tuple(mass / total for mass in masses)


def _mass(name: str, given: Any) -> Fraction:
    """One mass as a fraction, exactly."""
    value = given.item() if type(given).__module__ == "numpy" and hasattr(given, "item") else given
    if isinstance(value, bool) or not isinstance(value, Real | Decimal | str):
        raise BadType(f"a mass of {name} is {given!r} ({type(given).__name__}); allowed: {_ALLOWED}.")
    try:
        mass = Fraction(value)  # type: ignore[arg-type]
    except (ValueError, OverflowError, ZeroDivisionError):
        raise BadValue(f"a mass of {name} is {given!r}; allowed: {_ALLOWED}.") from None
    if not 0 <= mass <= 1 + Fraction(_ROUNDED):
        raise BadValue(f"a mass of {name} is {given!r}; allowed: {_ALLOWED}.")
    return mass


def check_ratios(p: tuple[Fraction, ...], q: tuple[Fraction, ...]) -> None:
    """Raised where the logarithm of a ratio has no double of full accuracy."""
    for one, other in zip(p, q, strict=True):
        if one and other and one != other and abs(one / other - 1) < _NEAREST:
            raise BadValue(
                "two masses of one outcome differ by less than 1e-280 of themselves; allowed: equal masses, or masses that "
                "differ by more."
            )


def nearest_below(value: Fraction) -> float:
    """The largest double that is at most a fraction from 0 up."""
    near = _double(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def nearest_above(value: Fraction) -> float:
    """The smallest double that is at least a fraction."""
    near = _double(value)
    return near if near >= value else math.nextafter(near, math.inf)


def _double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
