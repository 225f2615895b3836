"""hs.Ledger: privacy budgets that many people and machines share, in a file or in PostgreSQL."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..neighbours import Relation
from .account import Account
from .sharing import Sharing
from .terms import word

if TYPE_CHECKING:
    from .chain.verify import Verified
    from .datasets import Dataset


class Ledger(Sharing):
    """A ledger of privacy budgets: persistent, exact, shared by any number of writers, and verified by its chain of hashes.

    A file of SQLite, made if there is none, or a database of PostgreSQL by its URL.  Close it, or use it in `with`.

    Parameters
    ----------
    where : str or path
        The name of a file on a disk of this machine, or a URL such as postgresql://user@host/database.
    make : bool, default True
        Whether to make the ledger where there is none.

    Raises
    ------
    BadType
        If where is no text.
    BadValue
        If the place is a network file system, is no ledger, or has one of another version.
    MissingExtra
        If SQLAlchemy or Alembic is not installed; of PostgreSQL also psycopg.
    Unavailable
        If the server does not answer.

    Examples
    --------
    >>> import tempfile, pathlib, hockeystick as hs
    >>> folder = tempfile.TemporaryDirectory()
    >>> with hs.Ledger(pathlib.Path(folder.name) / "ledger.db") as ledger:
    ...     _ = ledger.add_dataset("survey", unit="one person", actor="ada")
    ...     account = ledger.open_account(
    ...         "2026", dataset="survey", epsilon=1.0, delta=1e-6, plan=[("counts", hs.Laplace(scale=20.0), 4)], actor="ada"
    ...     )
    ...     _ = account.spend("counts", key="2026-03", actor="bob")
    ...     account.remaining("counts")
    3
    >>> folder.cleanup()
    """

    def __init__(self, where: str | PathLike[str], make: bool = True) -> None:
        from .storage.store import Store  # which needs the extra

        self._store = Store(where, make)
        from .book import Book

        self._book = Book(self._store)

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Ledger({self._store.name!r})"

    def close(self) -> None:
        """Closes the connections."""
        self._store.close()

    def add_dataset(
        self,
        name: str,
        *,
        unit: str,
        neighbours: Relation = "add-or-remove",
        description: str = "",
        partition_of: str | None = None,
        key: str | None = None,
        actor: str = "unnamed",
    ) -> "Dataset":
        """Writes down whose privacy is kept; the same again is no error, and it never changes.

        Parameters
        ----------
        name : str
            What it is called.
        unit : str
            What one record stands for, such as "one person with all visits".
        neighbours : Relation, default "add-or-remove"
            The neighbouring relation: that, "replace" or "zero-out".
        description : str, default ""
            What else is to be known of it.
        partition_of : str, optional
            The data set of which this is one of the disjoint parts; its accounts are charged to one of the whole.
        key : str, optional
            Of a part: the column that says to which part a record belongs.
        actor : str, default "unnamed"
            Who writes it down.

        Returns
        -------
        Dataset
            What was written.

        Raises
        ------
        BadType
            If an argument is no text.
        BadValue
            If there is another one of this name, or it cannot be a part of the one that is named.
        """
        from .datasets import add

        given = {"name": name, "unit": unit, "neighbours": neighbours, "description": description}
        return add(self._store, {**given, "partition_of": partition_of, "key": key, "actor": actor})

    def datasets(self) -> "list[Dataset]":
        """The data sets.

        Returns
        -------
        list of Dataset
            In the order of their names.
        """
        from .datasets import of_row
        from .storage.store import datasets_of

        with self._store.reading() as connection:
            return [of_row(row) for row in datasets_of(connection)]

    def open_account(
        self,
        name: str,
        *,
        dataset: str,
        epsilon: float,
        delta: float,
        actor: str,
        plan: Any = (),
        reserve: str = "gdp",
        slack: float | None = None,
        order: float | None = None,
        opens: Any = None,
        closes: Any = None,
        purpose: str = "",
        within: str | None = None,
    ) -> Account:
        """Opens an account: a promise, the releases that are planned, and what the promise leaves beside them as a reserve.

        Parameters
        ----------
        name : str
            What it is called.
        dataset : str
            Whose privacy it keeps.
        epsilon : float
            The epsilon of the promise.
        delta : float
            The delta of the promise.
        actor : str
            Who opens it.
        plan : list of (str, Release, int), optional
            The planned lines: a name, a release, and how often it may be made (once unless given).
        reserve : str, default "gdp"
            How the unplanned is counted: "gdp", "pure", or "renyi" at one order.
        slack : float, optional
            The part of delta for releases that are Gaussian DP up to a delta only; a tenth of delta unless given.
        order : float, optional
            The order of a Rényi reserve.
        opens : str or date, optional
            When the period begins.
        closes : str or date, optional
            When it ends.
        purpose : str, default ""
            What the account is for.
        within : str, optional
            Of a part: the account of the whole that it is charged to.

        Returns
        -------
        Account
            The account.

        Raises
        ------
        OverBudget
            If the plan alone is more than is promised, or a part more than is left of the whole.
        BadValue
            If there is an account of this name, no such data set, or a number is out of its range.
        BadType
            If an argument is of another type.
        """
        from .opening import open_account

        given = {"epsilon": epsilon, "delta": delta, "plan": plan, "reserve": reserve, "slack": slack, "order": order}
        given |= {"opens": opens, "closes": closes, "purpose": purpose, "within": within}
        open_account(self._book, word("name", name), dataset, given, word("actor", actor))
        return Account(self, name)

    def account(self, name: str) -> Account:
        """An account by its name.

        Parameters
        ----------
        name : str
            What it is called.

        Returns
        -------
        Account
            The account.

        Raises
        ------
        BadValue
            If there is none of this name.
        """
        return Account(self, name)

    def accounts(self) -> list[str]:
        """The names of the accounts.

        Returns
        -------
        list of str
            In their order.
        """
        return self._book.names()

    def verify(self, heads: Mapping[str, Any] | None = None) -> "Verified":
        """Reads every entry again: the hashes, the order, the sums, and what each account says of itself.

        Parameters
        ----------
        heads : dict of str, optional
            What `head` gave at an earlier time: the entries up to there must be the same.

        Returns
        -------
        Verified
            How much was read, and the digest of all heads.

        Raises
        ------
        Tampered
            If an entry is not the one that was written; the message names it.
        """
        from .chain.verify import verified
        from .storage.exchange import records

        return verified(records(self._store), heads)

    def head(self) -> dict[str, Any]:
        """The last hash of every account, and one digest of them all: publish it, and the past cannot be rewritten unnoticed.

        Returns
        -------
        dict of str
            `digest`, and `accounts` with the number of entries and the hash of each.
        """
        from .chain.verify import heads
        from .storage.store import accounts_of

        with self._store.reading() as connection:
            return heads({row.name: (row.seq, row.head) for row in accounts_of(connection)})

    def export(self, path: str | PathLike[str]) -> int:
        """Writes everything as JSON Lines, which `verify` reads without a data base (docs/ledger.schema.json).

        Parameters
        ----------
        path : str or path
            The file; one that is there is replaced when all is written.

        Returns
        -------
        int
            The number of lines.

        Raises
        ------
        Tampered
            If a stored text is no text any more.
        """
        from .storage.exchange import export

        return export(self._store, Path(path))

    def import_(self, path: str | PathLike[str]) -> dict[str, int]:
        """Adds what an export has and this ledger has not: whole accounts, and later entries of those that are here.

        Parameters
        ----------
        path : str or path
            What `export` wrote.

        Returns
        -------
        dict of str
            How many data sets, accounts and entries were added.

        Raises
        ------
        Tampered
            If the export is not what was written.
        BadValue
            If it is no export, or an account went on differently here and there.
        """
        from .storage.exchange import import_

        return import_(self._store, Path(path))
