"""Export and import: JSON Lines, one object a line, which say what the tables say; docs/ledger.schema.json is the schema."""

import base64
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ...errors import BadValue
from ..chain.entries import Entry
from ..chain.export_file import EXPORT, FORM, read_records
from ..chain.verify import heads, verified
from .schema import account, dataset, entry
from .store import Store, accounts_of, datasets_of, entries_of, row_of


def records(store: Store) -> Iterator[tuple[str, Any]]:
    """Everything that is stored, as one state of it: data sets, accounts, then the entries of each account."""
    with store.reading() as connection:
        for row in datasets_of(connection):
            yield "dataset", {"name": row.name, "body": bytes(row.body), "hash": row.hash}
        names = []
        for row in accounts_of(connection):
            names.append(row.name)
            yield "account", {name: getattr(row, name) for name in ("name", "dataset", "seq", "head", "totals")}
        strays = sa.select(entry.c.account).where(entry.c.account.not_in(sa.select(account.c.name))).distinct()
        for name in sorted({*names, *connection.execute(strays).scalars()}):
            yield from (("entry", one) for one in entries_of(connection, name))


def export(store: Store, path: Path) -> int:
    """Writes everything; the file is there when all of it is."""
    part = path.with_name(f"{path.name}.part")
    count = 1
    ends: dict[str, tuple[int, str]] = {}
    with part.open("w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps({EXPORT: FORM}) + "\n")
        for kind, one in records(store):
            if kind == "account":
                ends[one["name"]] = (one["seq"], one["head"])
            file.write(json.dumps(_line(kind, one), ensure_ascii=True) + "\n")
            count += 1
        file.write(json.dumps({"end": heads(ends)["digest"], "lines": count + 1}) + "\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    return count + 1


def _line(kind: str, one: Any) -> dict[str, Any]:
    found = row_of(one) if isinstance(one, Entry) else dict(one)
    if "body" in found:
        body = found.pop("body")
        try:
            found["body"] = body.decode("ascii")
        except UnicodeDecodeError:  # only where somebody changed it: `verify` says so
            found["body_base64"] = base64.b64encode(body).decode("ascii")
    return {kind: found}


def import_(store: Store, path: Path) -> dict[str, int]:
    """Adds what is not there yet; an account that is there is only ever continued."""
    verified(read_records(path))
    added = {"datasets": 0, "accounts": 0, "entries": 0}

    def work(connection: Connection) -> dict[str, int]:
        found = dict.fromkeys(added, 0)
        rows: dict[str, Any] = {}
        here: dict[str, Any] = {}
        for kind, one in read_records(path):
            if kind == "dataset":
                found["datasets"] += _dataset(connection, one)
            elif kind == "account":
                rows[one["name"]] = one
                here[one["name"]] = next(iter(accounts_of(connection, [one["name"]], locked=True)), None)
                if here[one["name"]] is None:
                    connection.execute(sa.insert(account).values(**one))
                    found["accounts"] += 1
            else:
                found["entries"] += _entry(connection, one, here[one.account])
        for name, row in here.items():
            if row is not None and rows[name]["seq"] > row.seq:
                connection.execute(sa.update(account).where(account.c.name == name).values(**rows[name]))
        return found

    found: dict[str, int] = store.tried(work)
    return found


def _dataset(connection: Connection, one: dict[str, Any]) -> int:
    row = connection.execute(sa.select(dataset).where(dataset.c.name == one["name"])).one_or_none()
    if row is None:
        connection.execute(sa.insert(dataset).values(**one))
        return 1
    if bytes(row.body) != one["body"]:
        raise BadValue(f"the data set {one['name']!r} is another one here; nothing was imported.")
    return 0


def _entry(connection: Connection, one: Entry, row: Any) -> int:
    if row is not None and one.seq <= row.seq:
        wanted = sa.select(entry.c.hash).where(entry.c.account == one.account, entry.c.seq == one.seq)
        if connection.execute(wanted).scalar() != one.hash:
            raise BadValue(
                f"account {one.account!r} went on differently here and there from entry {one.seq} on; nothing was imported.  One "
                "account is written in one ledger only."
            )
        return 0
    connection.execute(sa.insert(entry).values(**row_of(one)))
    return 1
