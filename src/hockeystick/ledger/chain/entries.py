"""Entries of the ledger: JSON text as it is stored, and the chain of hashes over the stored bytes, one chain for each account.

What is hashed is what is stored, byte for byte; nothing is written anew to be hashed, so no two writers can differ in how.
"""

import datetime
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from ...checks import distinct
from ...errors import BadValue

FORM = 1
"""The version of the form of an entry; docs/ledger.schema.json describes it."""
KINDS = ("open", "reserve", "commit", "void", "expire", "amend", "close", "note")
FIRST = "0" * 64
"""What stands for the previous hash in the first entry of an account."""
_DOMAIN = b"hockeystick ledger 1\n"


@dataclass(frozen=True)
class Entry:
    """One row: its place, what is looked up, the text that is hashed, and the two hashes."""

    account: str
    seq: int
    kind: str
    key: str | None
    request: str | None
    settles: int | None
    body: bytes
    previous: str
    hash: str

    def said(self) -> dict[str, Any]:
        """The body as plain values.

        Raises
        ------
        BadValue
            If it is no JSON object, or has a key twice.
        """
        return parsed(self.body)


def text(found: dict[str, Any]) -> bytes:
    """The one JSON text of plain values: keys sorted, no spaces, ASCII only."""
    return json.dumps(found, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def parsed(body: bytes) -> dict[str, Any]:
    """Plain values of a stored text."""
    try:
        found = json.loads(body.decode("utf-8"), object_pairs_hook=distinct)
    except (ValueError, RecursionError) as error:
        raise BadValue(f"the body is no JSON text ({error}).") from None
    if not isinstance(found, dict):
        raise BadValue("the body is no JSON object.")
    return found


def digest(previous: str, body: bytes) -> str:
    """The hash of an entry: SHA-256 over the hash before it and the stored bytes."""
    return hashlib.sha256(_DOMAIN + previous.encode("ascii") + b"\n" + body).hexdigest()


def made(account: str, seq: int, previous: str, said: dict[str, Any]) -> Entry:
    """The entry with this content, at its place in the chain."""
    body = text({**said, "form": FORM, "account": account, "seq": seq})
    return Entry(
        account,
        seq,
        said["kind"],
        said.get("key"),
        said.get("request"),
        said.get("settles"),
        body,
        previous,
        digest(previous, body),
    )


def sha256(found: str | bytes | dict[str, Any]) -> str:
    """SHA-256 in hexadecimal, of plain values over their one JSON text."""
    if isinstance(found, dict):
        found = text(found)
    return hashlib.sha256(found.encode("utf-8") if isinstance(found, str) else found).hexdigest()


def stamp(seconds: float) -> str:
    """A time as it is written: UTC with microseconds, so that text sorts as time does."""
    moment = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def later(moment: str, seconds: float) -> str:
    """A written time, so much later."""
    return stamp(datetime.datetime.fromisoformat(moment).timestamp() + seconds)
