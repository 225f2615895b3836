"""Verbs that charge: price, spend, reserve, commit, void."""

from typing import Annotated, Any

import typer

from ...errors import OverBudget
from .. import show
from ..options import Json
from .options import Actor, Also, Count, Key, Name, Note, What, Where, meant, opened, receipts, who


def price(where: Where, name: Name, what: What, count: Count = 1, json: Json = False) -> None:
    """What a release would take, without charging it; exit code 3 if it does not fit.

    Example: hockeystick ledger price ledger.db survey-2026 'Laplace(scale=30)'
    """
    with opened(where) as ledger:
        account = ledger.account(name)
        found = account.price(meant(account, what), count)
    if json:
        show.machine(found)
    else:
        asked, left = found["asked"], found["left"]
        rows: list[show.Row] = [(line, f"{uses}", f"of {left['lines'][line]} left") for line, uses in asked["lines"].items()]
        for word in ("reserve", "slack"):
            if asked[word]:
                rows.append((word, f"{asked[word]:.4%}", f"of the whole; {left[word]:.4%} is left"))
        rows.append(("fits", f"{found['fits']:,}", "of it, made one by one; one entry with --count is cheaper"))
        show.rows(f"{what}{f' * {count}' if count > 1 else ''} in {name}", rows)
    if not found["within_budget"]:
        raise OverBudget(f"{what} does not fit {name!r}.")


def spend(
    where: Where,
    name: Name,
    what: What,
    key: Key,
    count: Count = 1,
    also: Also = None,
    actor: Actor = None,
    note: Note = "",
    json: Json = False,
) -> None:
    """Charges a release; exit code 3, and nothing charged, if it does not fit.

    Example: hockeystick ledger spend ledger.db survey-2026 histogram --key 2026-03
    """
    with opened(where, json) as ledger:
        accounts = {one: meant(ledger.account(one), what) for one in (name, *(also or ()))}
        found = ledger.spend(accounts, key=key, actor=who(actor), count=count, note=note)
        receipts(ledger, found, json, "charged")


def reserve(
    where: Where,
    name: Name,
    what: What,
    key: Key,
    count: Count = 1,
    also: Also = None,
    timeout: Annotated[float, typer.Option(help="Seconds after which it counts as made.")] = 3600.0,
    actor: Actor = None,
    note: Note = "",
    json: Json = False,
) -> None:
    """Sets a release aside, to be committed or given back; after the time-out it counts as made.

    Example: hockeystick ledger reserve ledger.db survey-2026 histogram --key 2026-04
    """
    with opened(where, json) as ledger:
        accounts = {one: meant(ledger.account(one), what) for one in (name, *(also or ()))}
        found = ledger.reserve(accounts, key=key, actor=who(actor), count=count, timeout=timeout, note=note)
        receipts(ledger, found, json, "reserved")


def commit(where: Where, name: Name, key: Key, actor: Actor = None, note: Note = "", json: Json = False) -> None:
    """States that what was reserved has been released.

    Example: hockeystick ledger commit ledger.db survey-2026 --key 2026-04
    """
    with opened(where) as ledger:
        found: Any = ledger.account(name).commit(key, actor=who(actor), note=note)
        receipts(ledger, [found], json, "committed")


def void(
    where: Where,
    name: Name,
    key: Key,
    token: Annotated[str, typer.Option(help="What reserving returned.", show_default=False)],
    not_read: Annotated[bool, typer.Option("--not-read", help="The statement that the data were not read.")] = False,
    actor: Actor = None,
    note: Note = "",
    json: Json = False,
) -> None:
    """Gives back what was reserved, if the data were not read.

    Example: hockeystick ledger void ledger.db survey-2026 --key 2026-05 --token TOKEN --not-read
    """
    with opened(where) as ledger:
        found: Any = ledger.account(name).void(key, token=token, actor=who(actor), not_read=not_read, note=note)
        receipts(ledger, [found], json, "given back")
