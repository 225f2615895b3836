"""What the ledger answers to a release: where its entry stands, and what was taken."""

from dataclasses import dataclass
from typing import Any

from ..checks import positive
from ..errors import BadValue
from .chain.entries import Entry

HOUR = 3600.0


@dataclass(frozen=True)
class Receipt:
    """What an entry of the ledger says of a release: where it stands, and what was taken.

    Parameters
    ----------
    account : str
        The account.
    key : str
        The key of the release.
    seq : int
        The number of the entry in its account.
    kind : str
        "commit", "reserve", "void", or "expire" where the time-out has committed.
    lines : dict of str
        Uses of planned lines.
    reserve : int
        Units of the reserve.
    slack : int
        Units of the slack.
    time : str
        When it was written.
    hash : str
        Its hash, which ends the chain so far.
    replayed : bool, default False
        Whether the key had been used for the same request before: then this is the first answer again.
    expires : str, optional
        Of a reservation: when it counts as made.
    token : str, optional
        Of a reservation: what gives it back; only whoever reserved has it.
    """

    account: str
    key: str
    seq: int
    kind: str
    lines: dict[str, int]
    reserve: int
    slack: int
    time: str
    hash: str
    replayed: bool = False
    expires: str | None = None
    token: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values.

        Returns
        -------
        dict of str
            Texts and whole numbers; the reserve and the slack in whole units of the account.
        """
        return dict(vars(self))


def receipt(entry: Entry, replayed: bool, token: str | None = None, first: Entry | None = None) -> Receipt:
    """The receipt for an entry; for one that settles a reservation with what was reserved."""
    said = entry.said()
    charge = (
        said["charge"] if "charge" in said else (first or entry).said().get("charge", {"lines": {}, "reserve": 0, "slack": 0})
    )
    key = entry.key or said.get("of") or ""
    return Receipt(
        account=entry.account,
        key=key,
        seq=entry.seq,
        kind=entry.kind,
        **charge,
        time=said["time"],
        hash=entry.hash,
        replayed=replayed,
        expires=said.get("expires"),
        token=None if replayed else token,
    )


def seconds(timeout: Any) -> float:
    """A time-out: above 0, and up to a hundred days."""
    found = positive("timeout", timeout)
    if found > 8_640_000.0:
        raise BadValue(f"timeout is {found:g} seconds; allowed: up to 8,640,000, a hundred days.")
    return found
