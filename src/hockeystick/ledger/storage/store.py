"""The data base: how it is opened, and its transactions.

SQLite: write-ahead log, synchronous=FULL, BEGIN IMMEDIATE, so that a writer holds the lock before it reads what it decides by.
PostgreSQL: the rows of the accounts are locked in the order of their names (SELECT ... FOR UPDATE), so nobody waits in a circle.
"""

import os
import random
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import BadValue, MissingExtra, Unavailable, remedy

try:
    import sqlalchemy as sa
    from sqlalchemy.engine import Connection, Engine
    from sqlalchemy.exc import DBAPIError, IntegrityError, InterfaceError, NoSuchModuleError, OperationalError, SQLAlchemyError
except ImportError:
    raise MissingExtra(f"the ledger needs SQLAlchemy and Alembic; install them: {remedy('ledger')}.") from None

from ..chain.entries import Entry, stamp
from .place import local, place
from .schema import VERSION, account, dataset, entry

PATIENCE = 60.0
"""Seconds for which a writer waits for the lock; then it is refused, and nothing was written."""
TRIES = 6
"""How often a transaction is tried where the server was gone: a key is charged once however often it is sent."""
_ASK_AGAIN = (0.001, 0.012)
"""Seconds between two questions for SQLite's lock: as few commits take, so that it is not long free while all wait."""
_OLDEST_SQLITE = (3, 37, 0)  # STRICT tables
_GONE = ("40001", "40P01", "57P01", "57P02", "57P03", "08000", "08001", "08003", "08004", "08006")
"""States of SQL: serialisation, deadlock, shutdown, crash, starting up, and connections that failed."""


class Store:
    """A data base with the tables of the ledger; made there if there are none yet."""

    def __init__(self, where: object, make: bool = True, check: bool = True) -> None:
        self.place = place(where)
        self.clock: Any = None
        self._engine, self._process = self._connected(), os.getpid()
        try:
            if check:
                self._check(make)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """Where it is, without a password."""
        return str(self.place) if isinstance(self.place, Path) else sa.engine.make_url(self.place).render_as_string()

    @property
    def is_file(self) -> bool:
        """Whether it is SQLite."""
        return isinstance(self.place, Path)

    @property
    def engine(self) -> Engine:
        """SQLAlchemy's; a process that was forked off makes its own connections."""
        if self._process != os.getpid():
            self._engine.dispose(close=False)
            self._process = os.getpid()
        return self._engine

    def close(self) -> None:
        """Closes the connections."""
        self.engine.dispose()

    def _connected(self) -> Engine:
        if isinstance(self.place, Path):
            local(self.place)
            return _sqlite(self.place)
        try:
            return _postgresql(self.place)
        except (ImportError, NoSuchModuleError):
            raise MissingExtra(f"a ledger in PostgreSQL needs psycopg; install it: {remedy('postgresql')}.") from None
        except (SQLAlchemyError, ValueError) as error:
            raise BadValue(f"the URL of the ledger cannot be read ({error}); allowed: postgresql://user@host/database.") from None

    def _check(self, make: bool) -> None:
        """Raised where the tables are of another version, or missing though they should be there."""
        if not make and isinstance(self.place, Path) and not self.place.exists():
            raise BadValue(f"there is no ledger at {self.name}; make one: hockeystick ledger init {self.name}.")
        found = self.version()
        if found is None and not make:
            raise BadValue(f"there is no ledger at {self.name}; make one: hockeystick ledger init {self.name}.")
        if found is None:
            self.upgrade()
        elif found > VERSION:
            raise BadValue(f"{self.name} has the form {found}, newer than {VERSION}; a newer hockeystick reads it.")
        elif found < VERSION:
            raise BadValue(f"{self.name} has the older form {found}; bring it to {VERSION}: hockeystick ledger init {self.name}.")

    def version(self) -> str | None:
        """The form of the tables that are there, if any are."""
        with self.reading() as connection:
            if not sa.inspect(connection).has_table("alembic_version"):
                return None
            found = connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
            return None if found is None else str(found)

    def upgrade(self) -> None:
        """Makes the tables, or brings them to the newest version; one process does, the others wait for it."""
        from .migrations import upgrade

        with self.writing() as connection:
            if not self.is_file:
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(20261119)"))
            upgrade(connection)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A transaction that sees one state of the data base throughout."""
        with _said(self.name), self._transaction(writes=False) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that writes all or nothing."""
        with _said(self.name), self._transaction(writes=True) as connection:
            yield connection

    @contextmanager
    def _transaction(self, writes: bool) -> Iterator[Connection]:
        with self.engine.connect() as connection:
            options: dict[str, Any] = {"writes": writes}
            if not self.is_file and not writes:
                options["isolation_level"] = "REPEATABLE READ"
            connection = connection.execution_options(**options)
            with connection.begin():
                yield connection

    def tried(self, work: Any) -> Any:
        """What `work` gives, a function of a connection, in one transaction; tried again where the server was gone."""
        wait = 0.05
        for left in reversed(range(TRIES)):
            try:
                with self.writing() as connection:
                    return work(connection)
            except Unavailable as error:
                if not (left and error.again):
                    raise
            except IntegrityError:  # another writer made the same account or key meanwhile: it is seen now
                if not left:
                    raise
            time.sleep(wait)
            wait *= 2.0
        raise AssertionError

    def now(self, connection: Connection, rows: Sequence[Any] = ()) -> str:
        """The time: of the server, where many machines have many clocks; locked rows bring it along."""
        if self.clock is not None:
            return stamp(self.clock())
        if self.is_file:
            return stamp(time.time())
        if rows:
            return stamp(float(rows[0].clock))
        return stamp(float(connection.execute(sa.text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one()))


def _sqlite(path: Path) -> Engine:
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        raise BadValue(f"SQLite is {sqlite3.sqlite_version}; needed: 3.37 or newer, which comes with a newer Python.")
    made = sa.create_engine(sa.URL.create("sqlite", database=str(path)), connect_args={"timeout": PATIENCE})

    @sa.event.listens_for(made, "connect")
    def _(connection: Any, record: Any) -> None:
        connection.isolation_level = None  # the driver begins nothing of its own accord
        _write_ahead(connection, path)
        for pragma in ("synchronous=FULL", "foreign_keys=ON", "trusted_schema=OFF"):
            connection.execute(f"PRAGMA {pragma}")

    @sa.event.listens_for(made, "begin")
    def _(connection: Connection) -> None:
        if connection.get_execution_options().get("writes"):
            _wait_for_the_lock(connection.connection.driver_connection)
        else:
            connection.exec_driver_sql("BEGIN")

    return made


def _wait_for_the_lock(connection: Any) -> None:
    """BEGIN IMMEDIATE as soon as it can be.  SQLite's own waiting asks the less often the longer it has waited, so that with many
    writers one may never have its turn; here all who wait ask equally often."""
    last = time.monotonic() + PATIENCE
    while True:
        connection.execute("PRAGMA busy_timeout=0")
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if ("locked" not in str(error) and "busy" not in str(error)) or time.monotonic() > last:
                raise
            time.sleep(random.uniform(*_ASK_AGAIN))  # noqa: S311
        else:
            return
        finally:
            connection.execute(f"PRAGMA busy_timeout={round(PATIENCE * 1000)}")


def _write_ahead(connection: Any, path: Path) -> None:
    """The write-ahead log; while another process turns it on, SQLite does not wait but says that it is busy."""
    for wait in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0):
        try:
            (mode,) = connection.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) and "busy" not in str(error):
                raise
            time.sleep(wait)
            continue
        if mode != "wal":
            raise BadValue(
                f"SQLite keeps no write-ahead log for {str(path)!r} but {mode!r}; allowed: a file on a disk of this machine."
            )
        return
    raise sqlite3.OperationalError("database is locked")


def _postgresql(url: str) -> Engine:
    made = sa.create_engine(url, pool_pre_ping=False, connect_args={"connect_timeout": 10})

    @sa.event.listens_for(made, "connect")
    def _(connection: Any, record: Any) -> None:
        _durable(connection)

    return made


def _durable(connection: Any) -> None:
    """A server that keeps what it acknowledged, whatever happens to it."""
    with connection.cursor() as cursor:
        for name in ("fsync", "full_page_writes"):
            if cursor.execute(f"SHOW {name}").fetchone()[0] != "on":
                raise BadValue(f"the server has {name}=off, so that a crash loses what was charged; allowed: {name}=on.")
        if cursor.execute("SHOW synchronous_commit").fetchone()[0] == "off":
            cursor.execute("SET synchronous_commit = on")
    connection.commit()


@contextmanager
def _said(name: str) -> Iterator[None]:
    """Errors of the data base in our words."""
    try:
        yield
    except IntegrityError:
        raise
    except (OperationalError, InterfaceError, sqlite3.OperationalError) as error:
        said = error if isinstance(error, sqlite3.OperationalError) else error.orig
        state = getattr(said, "sqlstate", None)
        found = Unavailable(
            f"the ledger at {name} did not answer ({str(said).strip()}); whether something was charged is not known: "
            "send the same request with the same key again, which charges once."
        )
        found.again = "sqlite" not in type(said).__module__ and (state is None or state in _GONE)
        raise found from error
    except DBAPIError as error:
        raise BadValue(f"{name} is no ledger, or a damaged one ({str(error.orig).strip()}).") from error


def row_of(one: Entry) -> dict[str, Any]:
    """An entry as a row."""
    return dict(vars(one))


def entries_of(connection: Connection, name: str, after: int = 0) -> Iterator[Entry]:
    """The entries of an account in their order."""
    wanted = sa.select(entry).where(entry.c.account == name, entry.c.seq > after).order_by(entry.c.seq)
    for row in connection.execution_options(yield_per=1000).execute(wanted):
        yield entry_of(row)


def entry_of(row: Any) -> Entry:
    """A row as an entry."""
    return Entry(row.account, row.seq, row.kind, row.key, row.request, row.settles, bytes(row.body), row.previous, row.hash)


def datasets_of(connection: Connection) -> list[Any]:
    """The rows of the data sets."""
    return list(connection.execute(sa.select(dataset).order_by(dataset.c.name)))


# The statements of a spend are built once: building them takes longer than what the data base does with them.
_ACCOUNT = sa.select(account).where(account.c.name == sa.bindparam("name"))
_ACCOUNTS = sa.select(account).where(account.c.name.in_(sa.bindparam("names", expanding=True))).order_by(account.c.name)
_CLOCK: sa.Label[Any] = sa.literal_column("extract(epoch FROM clock_timestamp())").label("clock")
_LOCKED = {statement: statement.with_for_update() for statement in (_ACCOUNT, _ACCOUNTS)}
_LOCKED_WITH_CLOCK = {statement: locked.add_columns(_CLOCK) for statement, locked in _LOCKED.items()}
_BY_KEY = sa.select(entry).where(entry.c.account == sa.bindparam("name"), entry.c.key == sa.bindparam("key"))
_INSERT = sa.insert(entry)
_UPDATE = (
    sa.update(account)
    .where(account.c.name == sa.bindparam("which"))
    .values({name: sa.bindparam(name) for name in ("seq", "head", "totals")})
)


def accounts_of(connection: Connection, names: Sequence[str] | None = None, locked: bool = False) -> list[Any]:
    """The rows of accounts by name; locked in that order."""
    if names is None:
        return list(connection.execute(sa.select(account).order_by(account.c.name)))
    one = len(names) == 1
    statement = _ACCOUNT if one else _ACCOUNTS
    given: dict[str, Any] = {"name": names[0]} if one else {"names": list(names)}
    if locked:
        statement = (_LOCKED if connection.dialect.name == "sqlite" else _LOCKED_WITH_CLOCK)[statement]
    return list(connection.execute(statement, given))


def by_key(connection: Connection, key: str, names: Sequence[str]) -> list[Entry]:
    """The entries with a key, in the order of their accounts."""
    found = [row for name in sorted(names) for row in connection.execute(_BY_KEY, {"name": name, "key": key})]
    return [entry_of(row) for row in found]


def written(connection: Connection, name: str, added: Sequence[Entry], totals: str) -> None:
    """Entries behind those of an account, and its row."""
    connection.execute(_INSERT, row_of(added[0]) if len(added) == 1 else [row_of(one) for one in added])
    connection.execute(_UPDATE, {"which": name, "seq": added[-1].seq, "head": added[-1].hash, "totals": totals})
