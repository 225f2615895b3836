"""Which data sets count as neighbours, and which ordered pairs must then be composed."""

from typing import Any, Literal, cast, get_args

from .checks import meant
from .errors import BadType, BadValue

Order = Literal["remove", "add", "replace", "erase", "restore"]
"""An ordered pair (P, Q).

"remove": P has the record and Q lacks it, "add" is the reverse.  "replace" changes it.  "erase": a null record, which
contributes nothing, stands in Q where P has the record; "restore" is the reverse.
"""

Relation = Literal["add-or-remove", "add", "remove", "replace", "zero-out"]
"""How two neighbouring data sets differ: by a record that is added or removed, replaced, or zeroed out."""

RELATIONS: tuple[Relation, ...] = get_args(Relation)
DEFAULT: Relation = "add-or-remove"


class Stated(str):
    """A question without a relation: it is asked for the one that the release states, by default add-or-remove."""

    __slots__ = ()


STATED = cast(Relation, Stated(DEFAULT))

ORDERS: dict[str, tuple[Order, ...]] = {
    "add-or-remove": ("remove", "add"),
    "add": ("add",),
    "remove": ("remove",),
    "replace": ("replace",),
    "zero-out": ("erase", "restore"),
}

"""The ordered pairs of each relation, to be composed each by itself; the answer is the larger of theirs."""

REVERSED: dict[str, Relation] = {"add": "remove", "remove": "add"}
"""The relation with the other order, where each has one."""

RECORD_IN_P = ("remove", "erase")
"""The orders where P is the output with the record, and Q lacks it."""


def orders(neighbours: Any) -> tuple[Order, ...]:
    """The ordered pairs to compose, each by itself; the answer is the larger of theirs.

    >>> orders("add-or-remove")
    ('remove', 'add')
    """
    known = ORDERS.get(neighbours) if isinstance(neighbours, str) else None
    return known or ORDERS[checked(neighbours)]


def same_size(wanted: tuple[Order, ...]) -> bool:
    """Whether the neighbours have equally many records."""
    return "remove" not in wanted and "add" not in wanted


def checked(neighbours: Any) -> Relation:
    """The relation, if it is one."""
    if not isinstance(neighbours, str):
        raise BadType(f"neighbours is {neighbours!r}; allowed: one of {', '.join(RELATIONS)}.")
    if neighbours not in RELATIONS:
        raise BadValue(f"neighbours is {neighbours!r}{meant(neighbours, RELATIONS)}; allowed: one of {', '.join(RELATIONS)}.")
    return neighbours
