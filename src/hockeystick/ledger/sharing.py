"""One release charged to several accounts, in one transaction: to all of them, or to none."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import BadType
from ..mechanism.release import Release
from .receipt import HOUR, Receipt, receipt, seconds
from .terms import sentence, word

if TYPE_CHECKING:
    from .book import Book


class Sharing:
    """What a ledger does with several accounts at once."""

    _book: "Book"

    def spend(
        self, accounts: Mapping[str, Release | str], *, key: str, actor: str, count: int = 1, note: str = ""
    ) -> list[Receipt]:
        """Charges one release to several accounts, all of them or none: several data sets, or a period and a lifetime.

        Parameters
        ----------
        accounts : dict of str
            By the account: the release, or the name of its planned line there.
        key : str
            The name of this execution.
        actor : str
            Who releases it.
        count : int, default 1
            How often it is released.
        note : str, default ""
            What else is to be kept of it.

        Returns
        -------
        list of Receipt
            In the order of the accounts' names.

        Raises
        ------
        OverBudget
            If it does not fit one of them; nothing was charged.
        BadValue
            If the key was used for another request, or an account is closed.
        BadType
            If an argument is of another type.
        """
        return self._take("commit", accounts, key, actor, count, note)

    def reserve(
        self,
        accounts: Mapping[str, Release | str],
        *,
        key: str,
        actor: str,
        count: int = 1,
        timeout: float = HOUR,
        note: str = "",
    ) -> list[Receipt]:
        """Sets one release aside in several accounts, in all of them or none; committing or giving back ends it in all.

        Parameters
        ----------
        accounts : dict of str
            By the account: the release, or the name of its planned line there.
        key : str
            The name of this execution.
        actor : str
            Who releases it.
        count : int, default 1
            How often it is released.
        timeout : float, default 3600
            Seconds after which it counts as made.
        note : str, default ""
            What else is to be kept of it.

        Returns
        -------
        list of Receipt
            In the order of the accounts' names, each with the token.

        Raises
        ------
        OverBudget
            If it does not fit one of them; nothing was set aside.
        BadValue
            If the key was used for another request, or an account is closed.
        BadType
            If an argument is of another type.
        """
        return self._take("reserve", accounts, key, actor, count, note, timeout)

    # What accounts ask for

    def _take(
        self, kind: str, accounts: Any, key: str, actor: str, count: int, note: str, timeout: float | None = None
    ) -> list[Receipt]:
        from .book import Changed, Refused, token
        from .pricing import priced
        from .refusal import refused

        if not isinstance(accounts, Mapping) or not accounts:
            raise BadType(f"accounts is {accounts!r}; allowed: a dictionary such as {{'survey-2026': Laplace(scale=30)}}.")
        for name in accounts:
            word("account", name)
        key, actor, note = word("key", key), word("actor", actor), sentence("note", note)
        wait = 0.0 if timeout is None else seconds(timeout)
        mine = token()
        while True:
            found = {name: priced(name, self._book.last(name), one, count) for name, one in accounts.items()}
            request = {"verb": kind, "actor": actor, "timeout": wait, "note": note}
            request["accounts"] = {name: one.what for name, one in found.items()}
            try:
                answers = self._book.take(kind, found, key, request, actor, mine, wait)
            except Changed:
                self._book.forget(list(accounts))
                continue
            except Refused as error:
                release, state = accounts[error.account], error.state
                self._book.forget(list(accounts))
                again = priced(error.account, state, release, count)
                if again.charge != error.wanted and not state.lacks(again.charge):
                    continue  # with less of the slack it fits
                said = f"{release!r}{f' * {count}' if count > 1 else ''} does not fit {error.account!r}"
                one = priced(error.account, state, release, 1).charge
                made = None if isinstance(release, str) else release * count
                raise refused(said, error.account, state, error.wanted, one, made) from None
            return [receipt(one, replayed, mine if kind == "reserve" else None) for one, replayed in answers]

    def _settle(self, kind: str, name: str, key: str, actor: str, token: str | None, note: str) -> list[Receipt]:
        found = self._book.settle(kind, word("key", key), name, word("actor", actor), token, sentence("note", note))
        firsts = {one.account: one for one in self._book.by_key(key, [one.account for one, _ in found])}
        made = [receipt(one, replayed, None, firsts[one.account]) for one, replayed in found]
        return sorted(made, key=lambda one: one.account != name)
