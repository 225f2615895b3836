"""What is written into the ledger: entries are only ever added, in one transaction over all accounts that they concern."""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from ..checks import meant
from ..errors import BadValue
from .chain.entries import FIRST, Entry, made, parsed, sha256, text
from .pricing import Priced
from .state import Charge, Misfit, State, charge, opened
from .storage.schema import account, entry
from .storage.store import Store, accounts_of, by_key, entry_of, row_of, written
from .terms import Terms, read

_ENDS = {
    "void": "was given back",
    "commit": "was committed, and a key authorises one execution",
    "expire": "has timed out, which counts as made, and a key authorises one execution",
}


class Changed(Exception):
    """The terms were amended while a release was priced: it is priced again."""


class Refused(Exception):
    """A charge that does not fit; `account` and its state say what is left."""

    def __init__(self, name: str, state: State, wanted: Charge) -> None:
        super().__init__(name)
        self.account, self.state, self.wanted = name, state, wanted


class Book:
    """The accounts of a store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._terms: dict[tuple[str, int], Terms] = {}
        self._last: dict[str, State] = {}

    # Reading

    def names(self) -> list[str]:
        """Every account."""
        with self.store.reading() as connection:
            return [row.name for row in accounts_of(connection)]

    def state(self, name: str) -> tuple[State, Any]:
        """An account as it is, and its row."""
        with self.store.reading() as connection:
            return self._state(connection, name, accounts_of(connection, [name]))

    def _state(self, connection: Connection, name: str, rows: list[Any]) -> tuple[State, Any]:
        if not rows:
            names = connection.execute(sa.select(account.c.name)).scalars().all()
            known = f"; there are: {', '.join(sorted(names)[:20])}" if names else "; there is none yet: ledger.open_account(...)"
            raise BadValue(f"there is no account {name!r}{meant(name, names)}{known}.")
        return self.of_row(connection, rows[0]), rows[0]

    def of_row(self, connection: Connection, row: Any) -> State:
        """The state that a row of `account` has; its terms stand in an entry, which does not change."""
        totals = parsed(row.totals.encode())
        at = totals["terms_at"]
        key = row.name, at
        if key not in self._terms:
            wanted = sa.select(entry.c.body).where(entry.c.account == row.name, entry.c.seq == at)
            self._terms[key] = read(parsed(bytes(connection.execute(wanted).scalar_one()))["terms"])
        held, parts = totals["held"], totals["parts"]
        return State(self._terms[key], at, charge(totals["spent"]), held, parts, totals["time"], totals["closed"])

    def last(self, name: str) -> State:
        """An account as it was last seen; `take` finds out whether its terms were amended since, or less is left."""
        if name not in self._last:
            self._last[name] = self.state(name)[0]
        return self._last[name]

    def forget(self, names: list[str]) -> None:
        """Has these accounts read again."""
        for name in names:
            self._last.pop(name, None)

    def by_key(self, key: str, names: list[str]) -> list[Entry]:
        """The entries with a key, in these accounts."""
        with self.store.reading() as connection:
            return by_key(connection, key, names)

    # Writing

    def locked(self, names: list[str], work: "Callable[[Page], Any]") -> Any:
        """What `work` gives, a function of the locked accounts, in one transaction."""

        def within(connection: Connection) -> Any:
            page = Page(self, connection, sorted(set(names)))
            found = work(page)
            page.write()
            return found

        return self.store.tried(within)

    def take(
        self, kind: str, priced: Mapping[str, Priced], key: str, request: dict[str, Any], actor: str, token: str, seconds: float
    ) -> list[tuple[Entry, bool]]:
        """A release charged to all of these accounts or to none; each entry, and whether it stood there before.

        Raises
        ------
        Refused
            If it does not fit one of them.
        Changed
            If the terms of one were amended since it was priced.
        BadValue
            If the key was used for another request, or an account is closed or not open yet.
        """
        wanted = sha256(request)

        def work(page: Page) -> list[tuple[Entry, bool]]:
            before = by_key(page.connection, key, sorted(priced))
            if before:
                found = _replayed(before, priced, key, wanted, sha256(token))
                page.refuse_ended(before)
                return found
            page.expire()
            found = []
            for name in sorted(priced):
                one, others = priced[name], sorted(set(priced) - {name})
                state = page.states[name]
                if state.terms.version != one.version:
                    raise Changed
                said: dict[str, Any] = {"kind": kind, "key": key, "request": wanted, "actor": actor, "token": sha256(token)}
                said |= {"charge": one.charge.said(), "what": one.what, "with": others}
                if request["note"]:
                    said["note"] = request["note"]
                if kind == "reserve":
                    said["expires"] = page.after(seconds)
                if state.closed is None and state.lacks(one.charge):
                    raise Refused(name, state, one.charge)
                found.append((page.add(name, said), False))
            return found

        answers: list[tuple[Entry, bool]] = self.locked(list(priced), work)
        return answers

    def add(self, name: str, said: dict[str, Any]) -> None:
        """One more entry of an account that charges nothing."""

        def work(page: Page) -> None:
            page.expire()
            page.add(name, said)

        self.locked([name], work)

    def settle(self, kind: str, key: str, name: str, actor: str, token: str | None, why: str) -> list[tuple[Entry, bool]]:
        """Ends the reservation of a key in this account and in those beside it; each entry, and whether it stood there before."""
        found = self.by_key(key, [name])
        if not found:
            raise BadValue(f"nothing is reserved with the key {key!r} in {name!r}.")
        names = sorted({name, *found[0].said().get("with", [])})

        def work(page: Page) -> list[tuple[Entry, bool]]:
            before = by_key(page.connection, key, names)
            if any(one.kind != "reserve" for one in before):
                if kind == "commit":
                    return [(one, True) for one in before]  # spent at once
                raise BadValue(f"the key {key!r} was spent at once in {name!r}, not reserved; that is final.")
            page.expire()
            return [self._ended(page, one, kind, actor, token, why) for one in before]

        answers: list[tuple[Entry, bool]] = self.locked(names, work)
        return answers

    @staticmethod
    def _ended(page: "Page", one: Entry, kind: str, actor: str, token: str | None, why: str) -> tuple[Entry, bool]:
        state = page.states[one.account]
        if str(one.seq) not in state.held:
            last = page.settled(one)
            if last.kind == kind or (kind, last.kind) == ("commit", "expire"):
                return last, True
            how = {"commit": "committed", "expire": "committed by its time-out", "void": "given back"}[last.kind]
            raise BadValue(f"the reservation {one.key!r} of {one.account!r} was {how} at {last.said()['time']}; that is final.")
        said = {"kind": kind, "key": None, "of": one.key, "settles": one.seq, "actor": actor, "note": why}
        if kind == "void":
            if token is None or sha256(token) != state.held[str(one.seq)]["token"]:
                raise BadValue(
                    f"the token is not the one that reserving {one.key!r} returned; only its holder can say that the "
                    "data were not read."
                )
            said |= {"token": token, "statement": "not read"}
        return page.add(one.account, said), False


class Page:
    """Accounts that are locked, and what is written below their entries in this transaction."""

    def __init__(self, book: Book, connection: Connection, names: list[str]) -> None:
        self.connection, self.rows, self.states = connection, {}, {}
        for row in accounts_of(connection, names, locked=True):
            self.rows[row.name], self.states[row.name] = row, book.of_row(connection, row)
        for name in names:
            if name not in self.rows:
                book._state(connection, name, [])
        self.time = book.store.now(connection, list(self.rows.values()))
        self._added: dict[str, list[Entry]] = {name: [] for name in names}

    def after(self, seconds: float) -> str:
        """So many seconds from now."""
        from .chain.entries import later

        return later(self.time, seconds)

    def add(self, name: str, said: dict[str, Any]) -> Entry:
        """One more entry of an account, if it may come next."""
        state, row = self.states[name], self.rows[name]
        added = self._added[name]
        seq, previous = row.seq + len(added) + 1, added[-1].hash if added else row.head
        said = {"key": None, **said, "time": max(self.time, state.time)}
        try:
            self.states[name] = state.after(seq, said)
        except Misfit as error:
            raise BadValue(f"account {name!r}: {error}") from None
        one = made(name, seq, previous, said)
        added.append(one)
        return one

    def expire(self) -> None:
        """Reservations whose time is over count as made: fail closed."""
        for name, state in self.states.items():
            for seq in state.expired(max(self.time, state.time)):
                said = {"kind": "expire", "of": state.held[seq]["key"], "settles": int(seq), "actor": "the ledger"}
                self.add(name, said)

    def refuse_ended(self, entries: list[Entry]) -> None:
        """The first answer does not hold any more where the reservation has ended: a key authorises one execution."""
        for one in entries:
            state, seq = self.states[one.account], str(one.seq)
            if one.kind != "reserve" or (seq in state.held and seq not in state.expired(max(self.time, state.time))):
                continue
            end = _ENDS["expire" if seq in state.held else self.settled(one).kind]
            raise BadValue(f"the reservation {one.key!r} of {one.account!r} {end}; allowed: a new key, which is charged anew.")

    def settled(self, one: Entry) -> Entry:
        """The entry that ended a reservation."""
        for added in self._added[one.account]:
            if added.settles == one.seq:
                return added
        wanted = sa.select(entry).where(entry.c.account == one.account, entry.c.settles == one.seq)
        return entry_of(self.connection.execute(wanted).one())

    def write(self) -> None:
        """All of it."""
        for name, added in self._added.items():
            if added:
                written(self.connection, name, added, text(self.states[name].said()).decode())


def first(connection: Connection, name: str, said: dict[str, Any]) -> Entry:
    """Opens an account: its row and its first entry."""
    state = opened(1, said)
    one = made(name, 1, FIRST, said)
    values = {"name": name, "dataset": state.terms.dataset, "seq": 1, "head": one.hash, "totals": text(state.said()).decode()}
    connection.execute(sa.insert(account).values(**values))
    connection.execute(sa.insert(entry).values(**row_of(one)))
    return one


def token() -> str:
    """What only its holder knows: with it a reservation can be given back."""
    return secrets.token_hex(16)


def _replayed(before: list[Entry], priced: Mapping[str, Priced], key: str, wanted: str, token: str) -> list[tuple[Entry, bool]]:
    if {one.account for one in before} != set(priced) or any(one.request != wanted for one in before):
        one = before[0]
        raise BadValue(
            f"the key {key!r} was used for another request, entry {one.seq} of {one.account!r} by {one.said()['actor']!r}; "
            "allowed: the same request again, or a new key."
        )
    return [(one, one.said()["token"] != token) for one in before]
