"""One account of a ledger: spending, reserving, and what is left."""

from typing import TYPE_CHECKING, Any

from ..errors import BadValue
from ..filters.amounts import float_down
from ..mechanism.release import Release
from .spending import Spending
from .terms import Terms, planned_line, sentence, word

if TYPE_CHECKING:
    from .ledger import Ledger
    from .report import AccountReport
    from .state import State


class Account(Spending):
    """A budget for one data set: planned lines and a reserve, within one promise that no order of releases exceeds.

    Made by `ledger.open_account(...)` and `ledger.account(name)`.  It keeps nothing: every answer is read from the ledger.

    Parameters
    ----------
    ledger : Ledger
        Where it is kept.
    name : str
        What it is called.

    Raises
    ------
    BadType
        If name is no text.
    BadValue
        If there is no account of this name.
    """

    def __init__(self, ledger: "Ledger", name: str) -> None:
        self._ledger, self.name = ledger, word("account", name)
        self._state()

    def __repr__(self) -> str:
        return f"Account({self.name!r}, in {self._ledger!r})"

    def _state(self) -> "State":
        return self._ledger._book.state(self.name)[0]

    @property
    def terms(self) -> Terms:
        """What the account promises, in its present version.

        Returns
        -------
        Terms
            A frozen description.
        """
        return self._state().terms

    @property
    def reserve_mu(self) -> float:
        """What the promise leaves for the unplanned, as mu of Gaussian DP.

        Returns
        -------
        float
            The whole of the reserve.

        Raises
        ------
        BadValue
            If the reserve is of another kind.
        """
        reserve = self.terms.reserve
        if reserve.kind != "gdp":
            raise BadValue(f"the reserve of {self.name!r} is {reserve.kind!r}, which has no mu; its limit is {reserve.limit}.")
        return float_down(reserve.limit)

    def price(self, release: Release | str, count: int = 1) -> dict[str, Any]:
        """What a release would take, without charging it.

        Parameters
        ----------
        release : Release or str
            A release, or the name of a planned line.
        count : int, default 1
            How often it is released.

        Returns
        -------
        dict of str
            Uses of planned lines, shares of the reserve and of the slack, whether it fits, and how many still would.

        Raises
        ------
        BadValue
            If there is no line of this name.
        BadType
            If release is no release.
        """
        from .pricing import priced
        from .refusal import fits, shares

        state = self._state()
        charge = priced(self.name, state, release, count).charge
        one = priced(self.name, state, release, 1).charge
        return {
            "account": self.name,
            "asked": shares(charge, state.terms.reserve),
            "left": shares(state.left, state.terms.reserve),
            "within_budget": not state.lacks(charge),
            "fits": fits(one, state.left),
        }

    def fits(self, release: Release | str) -> int:
        """How many of a release still fit, made one by one.

        Parameters
        ----------
        release : Release or str
            A release, or the name of a planned line.

        Returns
        -------
        int
            The most.

        Raises
        ------
        BadValue
            If there is no line of this name.
        BadType
            If release is no release.
        """
        return int(self.price(release)["fits"])

    def remaining(self, line: str) -> int:
        """How many uses of a planned line are left.

        Parameters
        ----------
        line : str
            Its name.

        Returns
        -------
        int
            The count.

        Raises
        ------
        BadValue
            If there is no line of this name.
        """
        state = self._state()
        return state.left.lines[planned_line(self.name, state.terms, line).name]

    def status(self) -> dict[str, Any]:
        """What is promised, what is taken, and what is left.

        Returns
        -------
        dict of str
            Plain values; shares of the reserve and of the slack are from 0 to 1.
        """
        from .status import status

        return status(self.name, *self._ledger._book.state(self.name))

    def log(self, after: int = 0) -> list[dict[str, Any]]:
        """The entries of the account, as they were written.

        Parameters
        ----------
        after : int, default 0
            Only those behind this one.

        Returns
        -------
        list of dict
            Each with its hash.

        Raises
        ------
        BadValue
            If an entry is no JSON text.
        """
        from .storage.store import entries_of

        with self._ledger._store.reading() as connection:
            return [{**one.said(), "hash": one.hash} for one in entries_of(connection, self.name, after)]

    def report(self) -> "AccountReport":
        """The account as a document, with one row for each release.

        Returns
        -------
        AccountReport
            As text, JSON, HTML, a page to print, Markdown, LaTeX, a record for a registry, a block for a model card; `.plot()`.

        Raises
        ------
        BadValue
            If an entry is no JSON text any more.
        """
        from .datasets import get
        from .report import AccountReport
        from .status import status
        from .storage.store import accounts_of, entries_of

        book = self._ledger._book
        with book.store.reading() as connection:
            (row,) = accounts_of(connection, [self.name])
            entries = list(entries_of(connection, self.name))
            return AccountReport(
                self.name, get(connection, row.dataset), status(self.name, book.of_row(connection, row), row), entries
            )

    def plot(self) -> Any:
        """What was taken of the budget, over time (needs the extra `plot`).

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        """
        return self.report().plot()

    def amend(self, *, actor: str, reason: str, **changes: Any) -> "Account":
        """A new version of the terms, with who and why; what was taken stays taken.

        Parameters
        ----------
        actor : str
            Who changes them.
        reason : str
            Why.
        **changes : Any
            epsilon, delta, slack, plan, opens, closes or purpose; the plan keeps its lines, with their counts or higher ones.

        Returns
        -------
        Account
            This account.

        Raises
        ------
        BadValue
            If a change is not allowed, or promises less than was taken.
        OverBudget
            If the plan does not fit the new promise.
        """
        from ..checks import refuse_unknown
        from .opening import amend

        refuse_unknown("amend", changes, ("epsilon", "delta", "slack", "plan", "opens", "closes", "purpose"))
        if not changes:
            raise BadValue("amend has no changes; allowed: epsilon=..., delta=..., plan=..., and others.")
        if not sentence("reason", reason).strip():
            raise BadValue("reason is empty; allowed: why the terms change.")
        amend(self._ledger._book, self.name, changes, word("actor", actor), reason)
        return self

    def close(self, *, actor: str, reason: str = "") -> None:
        """Ends the account: nothing more is charged to it; what is reserved can still be committed or given back.

        Parameters
        ----------
        actor : str
            Who closes it.
        reason : str, default ""
            Why.

        Raises
        ------
        BadValue
            If it is closed.
        """
        said = {"kind": "close", "actor": word("actor", actor), "reason": sentence("reason", reason)}
        self._ledger._book.add(self.name, said)

    def note(self, text: str, *, actor: str) -> None:
        """Writes a remark into the log.

        Parameters
        ----------
        text : str
            The remark.
        actor : str
            Who makes it.

        Raises
        ------
        BadType
            If text is no text.
        BadValue
            If it is empty.
        """
        if not sentence("text", text).strip():
            raise BadValue("text is empty; allowed: a remark.")
        said = {"kind": "note", "actor": word("actor", actor), "note": text}
        self._ledger._book.add(self.name, said)
