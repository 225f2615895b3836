"""Checks of parameters: what was given, what is allowed, what to do.  One function per kind of number."""

import math
import numbers
import sys
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from .errors import BadType, BadValue, LargeDelta

MOST_STEPS = 2**53
LARGE_DELTA = 1e-3
"""Above it a delta is warned of where no number of records is known."""


def real(name: str, value: Any, allowed: str) -> float:
    """A finite real number as a float; booleans, strings and complex numbers are not real numbers here."""
    if type(value) is not float:
        value = _converted(name, value, allowed)
    if not math.isfinite(value):
        raise BadValue(f"{name} is {value}; allowed: {allowed}.")
    return float(value)


def _converted(name: str, value: Any, allowed: str) -> float:
    if type(value).__name__ == "ndarray" and value.ndim == 0:
        value = value.item()
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_") or not isinstance(value, numbers.Real):
        raise BadType(f"{name} is {value!r} ({type(value).__name__}); allowed: {allowed}.")
    try:
        return float(value)
    except OverflowError:
        raise BadValue(f"{name} is too large for a double; allowed: {allowed}.") from None


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    if type(value) is float and 0.0 < value < math.inf:
        return value
    allowed = "a finite number above 0"
    number = real(name, value, allowed)
    if not number > 0.0:
        raise BadValue(f"{name} is {number}; allowed: {allowed}.")
    return number


def non_negative(name: str, value: Any) -> float:
    """A finite number, zero or above."""
    number = real(name, value, "a number from 0 up")
    if number < 0.0:
        raise BadValue(f"{name} is {number}; allowed: a number from 0 up.")
    return number


def at_most(name: str, number: float, most: float) -> float:
    """A number that must not be too large."""
    if number > most:
        raise BadValue(f"{name} is {number}; allowed: at most {most:g}.")
    return number


def probability(name: str, value: Any, allowed: str = "a number from 0 to 1") -> float:
    """A number from 0 to 1."""
    if type(value) is float and 0.0 <= value <= 1.0:
        return value
    number = real(name, value, allowed)
    if not 0.0 <= number <= 1.0:
        raise BadValue(f"{name} is {number}; allowed: {allowed}.")
    return number


def rate(name: str, value: Any) -> float:
    """The probability with which a record is drawn."""
    return probability(name, value, "a probability from 0 to 1 (for batches of b out of n records, b / n)")


def count(name: str, value: Any, least: int = 0, most: int = MOST_STEPS) -> int:
    """A whole number; whole floats such as 1e6 are taken, fractions and booleans are not."""
    if type(value) is int and least <= value <= most:
        return value
    allowed = f"a whole number from {least} to {most}"
    number = value if type(value) is int else real(name, value, allowed)
    if number != (whole := int(number)) or not least <= whole <= most:
        shown = value if type(value) is not int or abs(whole) < 10**40 else "a number of more than forty digits"
        raise BadValue(f"{name} is {shown}; allowed: {allowed}.")
    return whole


def flag(name: str, value: Any) -> bool:
    """True or False, not what merely counts as one, such as the word "no"."""
    if type(value).__name__ not in ("bool", "bool_"):
        raise BadType(f"{name} is {value!r} ({type(value).__name__}); allowed: True or False.")
    return bool(value)


def fits(value: float) -> bool:
    """Whether its square is an ordinary double."""
    return 1e-100 <= value <= 1e100


def ratio(name: str, numerator: float, denominator: float) -> float:
    """numerator / denominator, kept where its square is an ordinary double."""
    value = numerator / denominator
    if not fits(value):
        raise BadValue(f"{name} is {numerator} / {denominator}; allowed: a quotient from 1e-100 to 1e100.")
    return value


def meant(given: str, allowed: Iterable[str]) -> str:
    """Which of the names may be meant, for a message about one that is not known.

    >>> meant("epsilonn", ("epsilon", "delta"))
    ' (did you mean epsilon?)'
    """
    from difflib import get_close_matches

    names = {name.lower(): name for name in allowed}
    near = get_close_matches(given.lower().replace("_", "-"), names, n=1) or get_close_matches(given.lower(), names, n=1)
    return f" (did you mean {names[near[0]]}?)" if near else ""


def refuse_unknown(what: str, data: Mapping[str, Any], allowed: Iterable[str]) -> None:
    """Raised where a key is none of those that are known; the message says which may be meant."""
    known = tuple(allowed)
    unknown = sorted({str(key) for key in data} - set(known))
    if unknown:
        raise BadValue(f"{what} has unknown keys {', '.join(unknown)}{meant(unknown[0], known)}; allowed: {', '.join(known)}.")


def given(value: float) -> str:
    """A number that was given, such as a delta, as it is: a rounded one would be another claim.

    >>> given(1e-5), given(1.23456789e-5)
    ('1e-05', '1.23456789e-05')
    """
    if isinstance(value, int):
        return str(value)
    short = f"{float(value):g}"
    return short if float(short) == value else repr(float(value))


def distinct(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, each key once: of a key given twice the reader of JSON would keep the last and say nothing."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise BadValue(f"the key {key!r} is given twice in one object; allowed: each key once.")
        found[key] = value
    return found


def listed(name: str, values: Any, allowed: str = "a sequence of numbers") -> list[Any]:
    """A sequence as a list; a set keeps no order and one of equals, a dict would lose its values."""
    if isinstance(values, set | frozenset | Mapping):
        raise BadType(f"{name} is a {type(values).__name__}; allowed: {allowed}, in order (a list).")
    try:
        return list(values)
    except TypeError:
        raise BadType(f"{name} is {values!r}; allowed: {allowed}.") from None


def _share(delta: float) -> str:
    """Of how many records one is published, rounded to the larger share."""
    every = math.floor(1.0 / delta)
    return f"one of every {every:,} records" if every > 1 else "every record"


def large_delta(delta: float, records: int | None = None) -> str | None:
    """Why a delta promises too little, if it does: of so many records, or of any number.

    >>> large_delta(1e-6, 60_000) is large_delta(1e-3) is None
    True
    """
    if not delta > (LARGE_DELTA if records is None else 1.0 / records):
        return None
    at = given(delta)
    if records is None:
        return (
            f"delta is {at}, above {LARGE_DELTA:g}: publishing each record whole with that probability is (0, {at})-DP"
            f", so the guarantee may give up {_share(delta)}.  Ask at a delta well below one "
            "over the number of records."
        )
    return (
        f"delta is {at}, above one over the number of records, 1/{records} = {1.0 / records:.3g}: publishing one of them "
        f"whole, drawn at random, is (0, 1/{records})-DP, which the guarantee does not rule out.  Ask at a delta well below that."
    )


def warn_of_large(delta: float, records: int | None = None) -> None:
    """Warn of a delta that promises too little, at the line that asked from outside."""
    words = large_delta(delta, records)
    if words is not None:
        warn(words, LargeDelta)


def warn(words: str, category: type[Warning]) -> None:
    """A warning for the nearest caller outside of this library."""
    frame, level = sys._getframe(1), 2
    within = (__name__.partition(".")[0], "functools")  # a cached property stands between two functions of ours
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in within:
        frame, level = frame.f_back, level + 1
    warnings.warn(words, category, stacklevel=level)
