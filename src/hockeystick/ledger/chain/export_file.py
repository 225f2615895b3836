"""An export as it is read: JSON Lines, without a data base."""

import base64
import json
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from ...checks import distinct
from ...errors import BadValue, Tampered
from .entries import Entry
from .verify import Verified, heads, verified

EXPORT = "hockeystick_ledger_export"
FORM = 1
_WORD, _NUMBER = (str, type(None)), (int, type(None))
_FIELDS: dict[str, dict[str, Any]] = {
    "dataset": {"name": str, "body": bytes, "hash": str},
    "account": {"name": str, "dataset": str, "seq": int, "head": str, "totals": str},
    "entry": {
        **dict.fromkeys(("account", "kind", "previous", "hash"), str),
        "seq": int,
        "key": _WORD,
        "request": _WORD,
        "settles": _NUMBER,
        "body": bytes,
    },
}


def verify_export(path: str | PathLike[str], before: dict[str, Any] | None = None) -> Verified:
    """Verifies a file that `Ledger.export` wrote; no data base is needed.

    Parameters
    ----------
    path : str or path
        The file.
    before : dict of str, optional
        What `Ledger.head` gave at an earlier time.

    Returns
    -------
    Verified
        How much was read, and the digest of all heads.

    Raises
    ------
    Tampered
        If a line is not the one that was written, or is missing; the message names the entry.
    BadValue
        If it is no export.
    """
    return verified(read_records(Path(path)), before)


def is_export(path: Path) -> bool:
    """Whether a file begins as an export does."""
    with path.open("rb") as file:
        return file.read(80).lstrip().startswith(b'{"' + EXPORT.encode())


def head_of(path: Path) -> dict[str, Any]:
    """What `head` says, read from a file of its JSON."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BadValue(f"{str(path)!r} is no JSON ({error}); allowed: what `hockeystick ledger head --json` wrote.") from None
    if not isinstance(found, dict):
        raise BadValue(f"{str(path)!r} is no answer of `hockeystick ledger head --json`.")
    return found


def read_records(path: Path) -> Iterator[tuple[str, Any]]:
    """The records of an export; its first and its last line say what it is and that nothing is missing."""
    ends: dict[str, tuple[int, str]] = {}
    number, last = 0, None
    with path.open("rb") as file:
        for number, raw in enumerate(file, 1):
            if last is not None:
                raise _damaged(path, number, "it stands behind the last line")
            found = _object(path, number, raw)
            if number == 1:
                if found != {EXPORT: FORM}:
                    raise BadValue(
                        f"{str(path)!r} is no export of a ledger in the form {FORM}; allowed: what `ledger.export` wrote."
                    )
                continue
            if "end" in found:
                last = found
                continue
            kind, one = _record(path, number, found)
            if kind == "account":
                ends[one["name"]] = (one["seq"], one["head"])
            yield kind, one
    if number == 0:
        raise BadValue(f"{str(path)!r} is empty; allowed: what `ledger.export` wrote.")
    if last is None or last.get("lines") != number or last["end"] != heads(ends)["digest"]:
        raise _damaged(path, number, "lines before the end are missing, or added")


def _object(path: Path, number: int, raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw.decode("utf-8"), object_pairs_hook=distinct)
    except (ValueError, RecursionError):
        raise _damaged(path, number, "it is no JSON") from None
    if not isinstance(found, dict):
        raise _damaged(path, number, "it is no JSON object")
    return found


def _record(path: Path, number: int, found: dict[str, Any]) -> tuple[str, Any]:
    kind = next(iter(found), "")
    one = found.get(kind)
    if len(found) != 1 or kind not in _FIELDS or not isinstance(one, dict):
        raise _damaged(path, number, "it is no data set, account or entry")
    try:
        body = base64.b64decode(one.pop("body_base64"), validate=True) if "body_base64" in one else one.get("body")
        if "body" in _FIELDS[kind]:
            one["body"] = body.encode("utf-8") if isinstance(body, str) else body
    except (ValueError, TypeError):
        raise _damaged(path, number, "its text cannot be read") from None
    wrong = [
        name for name, kinds in _FIELDS[kind].items() if not isinstance(one.get(name), kinds) or isinstance(one.get(name), bool)
    ]
    if wrong or set(one) != set(_FIELDS[kind]):
        raise _damaged(path, number, f"its fields are not those of {kind}")
    return kind, Entry(**one) if kind == "entry" else one


def _damaged(path: Path, number: int, why: str) -> Tampered:
    error = Tampered(f"line {number} of {str(path)!r}: {why}.")
    error.findings = (str(error),)
    return error
