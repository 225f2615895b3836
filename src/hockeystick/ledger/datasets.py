"""Data sets: whose privacy is kept, against which neighbours, and which are disjoint parts of another."""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import IntegrityError

from ..checks import meant
from ..errors import BadValue
from ..filters.costs import relation
from ..neighbours import Relation
from .chain.entries import FORM, parsed, sha256, text
from .storage.schema import dataset
from .storage.store import Store
from .terms import sentence, word


@dataclass(frozen=True)
class Dataset:
    """Whose privacy is kept: the unit, the neighbouring relation, and whether it is one of the disjoint parts of another."""

    name: str
    unit: str
    neighbours: Relation
    description: str
    partition_of: str | None
    key: str | None
    actor: str
    time: str
    hash: str


def add(store: Store, given: dict[str, Any]) -> Dataset:
    """Writes a data set down; the same one again is no error.

    Raises
    ------
    BadValue
        If there is another one of this name, or it cannot be a part of the one that is named.
    """
    said = _checked(given)

    def work(connection: Connection) -> Dataset:
        if said["partition_of"] is not None:
            _part(get(connection, said["partition_of"]), said)
        body = text({**said, "form": FORM, "time": store.now(connection)})
        connection.execute(sa.insert(dataset).values(name=said["name"], body=body, hash=sha256(body)))
        return get(connection, said["name"])

    try:
        with store.writing() as connection:
            return work(connection)
    except IntegrityError:
        with store.reading() as connection:
            found = get(connection, said["name"])
        if {name: getattr(found, name) for name in said if name != "actor"} == {k: v for k, v in said.items() if k != "actor"}:
            return found
        raise BadValue(f"there is another data set {said['name']!r}: {found}; a data set never changes.") from None


def _checked(given: dict[str, Any]) -> dict[str, Any]:
    name = word("name", given["name"])
    part, key = given["partition_of"], given["key"]
    if (part is None) != (key is None):
        raise BadValue(
            f"partition_of is {part!r} and key {key!r}; allowed: both, the data set of which this is a part, and the column that "
            "says to which part a record belongs."
        )
    neighbours = relation(given["neighbours"])
    if part is not None and neighbours == "replace":
        raise BadValue(
            f"neighbours is 'replace' and partition_of {part!r}; allowed for parts: add-or-remove, or zero-out with the key left "
            "as it is.  A record that is replaced can move from one part to another: one loses a record, the other gains one."
        )
    return {
        "name": name,
        "unit": sentence("unit", given["unit"]) if given["unit"] else _no_unit(name),
        "neighbours": neighbours,
        "description": sentence("description", given["description"]),
        "partition_of": None if part is None else word("partition_of", part),
        "key": None if key is None else word("key", key),
        "actor": word("actor", given["actor"]),
    }


def _no_unit(name: str) -> str:
    raise BadValue(f"unit is empty; allowed: what one record of {name!r} stands for, such as 'one person with all visits'.")


def _part(whole: Dataset, said: dict[str, Any]) -> None:
    if said["neighbours"] != whole.neighbours:
        raise BadValue(
            f"neighbours is {said['neighbours']!r}, and that of {whole.name!r} is {whole.neighbours!r}; allowed: the same, since "
            "what is released about a part is released about the whole."
        )


def get(connection: Connection, name: str) -> Dataset:
    """The data set of a name.

    Raises
    ------
    BadValue
        If there is none.
    """
    row = connection.execute(sa.select(dataset).where(dataset.c.name == name)).one_or_none()
    if row is None:
        names = sorted(connection.execute(sa.select(dataset.c.name)).scalars())
        known = f"; there are: {', '.join(names[:20])}" if names else "; there is none yet: ledger.add_dataset(...)"
        raise BadValue(f"there is no data set {name!r}{meant(name, names)}{known}.")
    return of_row(row)


def of_row(row: Any) -> Dataset:
    """A row as a data set."""
    said = parsed(bytes(row.body))
    said.pop("form")
    return Dataset(**said, hash=row.hash)
