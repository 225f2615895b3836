"""What a refusal says: what is left, how many of the release still fit, and the noise that would fit."""

import math
from functools import lru_cache
from typing import Any

from ..errors import OverBudget
from ..filters import Left, Price, Reserve, noise_that_fits
from ..mechanism.release import Release
from .state import Charge, State


def percent(amount: int, whole: int, up: bool) -> str:
    """A share of the whole, on the safe side."""
    share = amount * 10**6 / whole if whole else 0.0
    return f"{(math.ceil(share) if up else math.floor(share)) / 10**4:g} %"


def left_of(state: State) -> Left:
    """What is left of the reserve and of the slack."""
    left = state.left
    return Left(left.reserve, left.slack)


def fits(charge: Charge, left: Charge) -> int:
    """How often a charge still fits, made one by one."""
    lines = [left.lines.get(name, 0) // count for name, count in charge.lines.items()]
    return min([*lines, Left(left.reserve, left.slack).times(Price(charge.reserve, charge.slack, 0.0))])


def shares(charge: Charge, reserve: Reserve) -> dict[str, Any]:
    """A charge as plain values: uses of lines, and shares of the whole reserve and of the whole slack."""
    found: dict[str, Any] = {"lines": charge.lines}
    for name, amount, whole in (
        ("reserve", charge.reserve, reserve.capacity),
        ("slack", charge.slack, reserve.slack_capacity),
    ):
        found[name] = amount / whole if whole else (math.inf if amount else 0.0)
    return found


@lru_cache(maxsize=256)
def would_fit(reserve: Reserve, release: Release, left: Left) -> Release | None:
    """The release with the least noise that fits what is left; None if there is none."""
    return noise_that_fits(reserve, release, left) if left.amount > 0 else None


def refused(words: str, name: str, state: State, wanted: Charge, one: Charge, release: Release | None = None) -> OverBudget:
    """The error for a charge that does not fit; `one` is that of a single use of the release."""
    reserve, count = state.terms.reserve, fits(one, state.left)
    other = would_fit(reserve, release, left_of(state)) if release is not None else None
    parts = [words, "nothing was charged", f"{count} of it still fit{'s' if count == 1 else ''}"]
    if other is not None:
        parts.append(f"with more noise: {other!r}")
    error = OverBudget(f"{'; '.join(parts)}.  {left_words(state)}")
    error.refusal = {
        "account": name,
        "asked": shares(wanted, reserve),
        "left": shares(state.left, reserve),
        "fits": count,
        "would_fit": None if other is None else repr(other),
    }
    return error


def left_words(state: State) -> str:
    """What is left, in words."""
    left, terms = state.left, state.terms
    found = [f"{left.lines[line.name]} of {line.count} {line.name!r}" for line in terms.plan]
    if terms.reserve.capacity:
        found.append(f"{percent(left.reserve, terms.reserve.capacity, up=False)} of the reserve")
    if terms.reserve.slack_capacity:
        found.append(f"{percent(left.slack, terms.reserve.slack_capacity, up=False)} of the slack")
    return f"Left: {', '.join(found) or 'nothing'}."
