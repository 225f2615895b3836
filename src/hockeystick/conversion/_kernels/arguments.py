"""Checks of the arguments that the conversions share."""

import math
from typing import Any

from ... import checks
from ...errors import BadValue

LARGEST_ORDER = 1e15
LARGEST = 1e100


def order(value: Any) -> float:
    """A finite Rényi order above 1."""
    return _order(value, f"a Rényi order above 1, at most {LARGEST_ORDER:g}")


def order_or_infinity(value: Any) -> float:
    """A Rényi order above 1, or infinity: the largest loss."""
    if isinstance(value, float) and value == math.inf:
        return math.inf
    return _order(value, f"a Rényi order above 1, at most {LARGEST_ORDER:g}, or inf")


def _order(value: Any, allowed: str) -> float:
    number = checks.real("order", value, allowed)
    if not 1.0 < number <= LARGEST_ORDER:
        raise BadValue(f"order is {number}; allowed: {allowed}.")
    return number


def level(name: str, value: Any) -> float:
    """A privacy parameter such as epsilon, gamma or rho: zero or above."""
    number = checks.non_negative(name, value)
    if number > LARGEST:
        raise BadValue(f"{name} is {number}; allowed: a number from 0 to {LARGEST:g}.")
    return number


def delta(value: Any) -> float:
    """A delta above 0 and below 1."""
    allowed = "a probability above 0 and below 1"
    number = checks.real("delta", value, allowed)
    if not 0.0 < number < 1.0:
        raise BadValue(f"delta is {number}; allowed: {allowed}.")
    return number


def delta_or_zero(value: Any) -> float:
    """A delta from 0 to below 1."""
    allowed = "a probability from 0 to below 1"
    number = checks.probability("delta", value, allowed)
    if number == 1.0:
        raise BadValue(f"delta is {number}; allowed: {allowed}.")
    return number
