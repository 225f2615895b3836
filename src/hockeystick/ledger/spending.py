"""Spending from an account: at once, or reserved first and then committed or given back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..errors import BadValue, NotRead, Unavailable
from ..mechanism.release import Release
from .receipt import HOUR, Receipt
from .terms import word

if TYPE_CHECKING:
    from .ledger import Ledger


class Spending:
    """What an account takes."""

    _ledger: "Ledger"
    name: str

    def spend(self, release: Release | str, *, key: str, actor: str, count: int = 1, note: str = "") -> Receipt:
        """Charges a release: a planned line by its name, or any release from the reserve.

        Parameters
        ----------
        release : Release or str
            What is released, or the name of the planned line that it is one of.
        key : str
            The name of this execution: sent again it is charged once, and another request with it is an error.
        actor : str
            Who releases it.
        count : int, default 1
            How often it is released.
        note : str, default ""
            What else is to be kept of it.

        Returns
        -------
        Receipt
            What was taken; `replayed` if the key had been charged before.

        Raises
        ------
        OverBudget
            If it does not fit; nothing was charged.
        BadValue
            If the key was used for another request, or the account is closed, or its period is not now.
        BadType
            If an argument is of another type.
        Unsupported
            If no theorem prices the release.
        Unavailable
            If the ledger did not answer.
        """
        return self._ledger._take("commit", {self.name: release}, key, actor, count, note)[0]

    def reserve(
        self, release: Release | str, *, key: str, actor: str, count: int = 1, timeout: float = HOUR, note: str = ""
    ) -> Receipt:
        """Sets a release aside, to be committed or given back; after the time-out it counts as made.

        Parameters
        ----------
        release : Release or str
            What is to be released, or the name of its planned line.
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
        Receipt
            With the `token` that can give it back; none where the key had been used before.

        Raises
        ------
        OverBudget
            If it does not fit; nothing was set aside.
        BadValue
            If the key was used for another request, or the account is closed, or its period is not now.
        BadType
            If an argument is of another type.
        """
        return self._ledger._take("reserve", {self.name: release}, key, actor, count, note, timeout)[0]

    def commit(self, key: str, *, actor: str, note: str = "") -> Receipt:
        """States that what was reserved has been released.

        Parameters
        ----------
        key : str
            The key of the reservation.
        actor : str
            Who says so.
        note : str, default ""
            What else is to be kept.

        Returns
        -------
        Receipt
            The entry; of one that had timed out that of its expiry.

        Raises
        ------
        BadValue
            If nothing is reserved with this key, or it was given back.
        """
        return self._ledger._settle("commit", self.name, key, actor, None, note)[0]

    def void(self, key: str, *, token: str, actor: str, not_read: bool = False, note: str = "") -> Receipt:
        """Gives back what was reserved, by the holder of its token, who states that the data were not read.

        Parameters
        ----------
        key : str
            The key of the reservation.
        token : str
            What `reserve` returned.
        actor : str
            Who says so.
        not_read : bool, default False
            The statement that the data were not read; without it nothing is given back.
        note : str, default ""
            Why.

        Returns
        -------
        Receipt
            The entry.

        Raises
        ------
        BadValue
            If the token is another one, the statement is missing, or the reservation was committed or has timed out.
        """
        if not_read is not True:
            raise BadValue("not_read is False; allowed: True, the statement that the data were not read; else commit.")
        return self._ledger._settle("void", self.name, key, actor, word("token", token), note)[0]

    @contextmanager
    def reserved(
        self, release: Release | str, *, key: str, actor: str, count: int = 1, timeout: float = HOUR, note: str = ""
    ) -> Iterator[Receipt]:
        """For `with`: reserves, runs the body once, and commits, also if the body raises, unless it raises `hs.NotRead`.

        Parameters
        ----------
        release : Release or str
            What the body releases, or the name of its planned line.
        key : str
            The name of this execution; the body of a key that was used before is not run.
        actor : str
            Who releases it.
        count : int, default 1
            How often it is released.
        timeout : float, default 3600
            Seconds after which it counts as made, whatever becomes of the body.
        note : str, default ""
            What else is to be kept.

        Yields
        ------
        Receipt
            Of the reservation.

        Raises
        ------
        OverBudget
            If it does not fit; the body is not run.
        BadValue
            If the key was used before; the body is not run.
        NotRead
            As the body raised it, after what was reserved has been given back.
        """
        made = self.reserve(release, key=key, actor=actor, count=count, timeout=timeout, note=note)
        if made.replayed or made.token is None:
            raise BadValue(
                f"the key {key!r} was used at {made.time} by entry {made.seq} of {self.name!r}, and a key authorises one "
                "execution; if it was not made, take a new key, which is charged anew."
            )
        try:
            yield made
        except NotRead as error:
            why = "".join(one if one.isprintable() else " " for one in str(error)[:1000])
            self.void(key, token=made.token, actor=actor, not_read=True, note=why)
            raise
        except BaseException:
            self._committed(key, actor)
            raise
        self.commit(key, actor=actor)

    def _committed(self, key: str, actor: str) -> None:
        """Commits while an error is on its way; where the ledger does not answer, the time-out commits."""
        try:
            self.commit(key, actor=actor)
        except (Unavailable, BadValue):
            return
