"""Which data sets count as neighbours, and which ordered pairs must then be composed."""

from typing import Any, Literal

from .errors import BadType, BadValue, Unsupported

Order = Literal["remove", "add", "replace"]
"""An ordered pair (P, Q): in "remove" P has the record and Q lacks it, "add" is the reverse, "replace" changes it."""

RELATIONS = ("add-or-remove", "add", "remove", "replace", "zero-out")
DEFAULT = "add-or-remove"


def orders(neighbours: Any) -> tuple[Order, ...]:
    """The ordered pairs to compose, each by itself; the answer is the larger of theirs.

    >>> orders("add-or-remove")
    ('remove', 'add')
    """
    match checked(neighbours):
        case "add-or-remove":
            return ("remove", "add")
        case "remove":
            return ("remove",)
        case "add":
            return ("add",)
        case "replace":
            return ("replace",)
    raise Unsupported(
        "neighbours='zero-out' is not accounted for yet: the theorems for each sampler are missing; "
        "'add-or-remove' and, for unsampled noise, 'replace' are."
    )


def checked(neighbours: Any) -> str:
    """The relation, if it is one."""
    if not isinstance(neighbours, str):
        raise BadType(f"neighbours is {neighbours!r}; allowed: one of {', '.join(RELATIONS)}.")
    if neighbours not in RELATIONS:
        raise BadValue(f"neighbours is {neighbours!r}; allowed: one of {', '.join(RELATIONS)}.")
    return neighbours
