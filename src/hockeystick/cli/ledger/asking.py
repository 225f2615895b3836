"""Verbs that ask: status, log, report."""

from pathlib import Path
from typing import Annotated, Any

import typer

from .. import show
from ..options import Json
from .options import MaybeName, Name, Where, opened


def status(where: Where, name: MaybeName = None, json: Json = False) -> None:
    """What is promised, taken and left.

    Example: hockeystick ledger status ledger.db survey-2026
    """
    with opened(where) as ledger:
        found = [ledger.account(one).status() for one in ([name] if name else ledger.accounts())]
    shown(found if name is None else found[0], json)


def shown(found: Any, json: bool) -> None:
    """The status of an account, or of many."""
    if json:
        show.machine(found)
        return
    for one in found if isinstance(found, list) else [found]:
        show.rows(f"{one['account']}, of {one['dataset']}", _rows(one))
    if found == []:
        show.lines("There is no account yet.")


def _rows(one: dict[str, Any]) -> list[show.Row]:
    promise, reserve, slack = one["promise"], one["reserve"], one["slack"]
    terms = f"at delta {promise['delta']:g}, {one['neighbours']}, version {one['version']}"
    rows: list[show.Row] = [
        ("promise", f"epsilon {promise['epsilon']:g}", terms),
        ("state", one["state"], _period(one)),
    ]
    for name, line in one["lines"].items():
        held = f", {line['held']} reserved" if line["held"] else ""
        rows.append((name, f"{line['left']:,} of {line['count']:,} left", f"{line['release']}; {line['spent']:,} spent{held}"))
    if reserve["limit"]:
        word = {"gdp": "mu", "pure": "epsilon", "renyi": f"divergence of order {reserve['order']}"}[reserve["kind"]]
        rows.append(("reserve", f"{reserve['left']:.4%} left", f"{word} {reserve['left_limit']:.6g} of {reserve['limit']:.6g}"))
    if slack["limit"]:
        rows.append(("slack", f"{slack['left']:.4%} left", f"of delta {slack['limit']:g}"))
    rows += [("reserved", part["key"], f"counts as made at {part['expires']}") for part in one["reservations"]]
    rows += [(f"part {part}", f"{share:.4%}", "of the reserve, at most") for part, share in one["parts"].items()]
    rows.append(("entries", f"{one['entries']:,}", f"the last has the hash {one['head']}"))
    return rows


def _period(one: dict[str, Any]) -> str:
    found = [f"{word} {one[word][:10]}" for word in ("opens", "closes", "closed") if one[word]]
    return ", ".join([*found, *([one["purpose"]] if one["purpose"] else [])])


def log(
    where: Where,
    name: Name,
    after: Annotated[int, typer.Option(help="Only entries behind this one.")] = 0,
    json: Json = False,
) -> None:
    """The entries of an account, as they were written.

    Example: hockeystick ledger log ledger.db survey-2026
    """
    with opened(where) as ledger:
        found = ledger.account(name).log(after)
    if json:
        show.machine(found)
        return
    rows: list[tuple[str, ...]] = []
    for one in found:
        rows.append((str(one["seq"]), one["kind"], one["time"][:19].replace("T", " "), one["actor"], _what(one)))
    show.table(f"{name}: {len(found):,} entries", ("entry", "kind", "time (UTC)", "actor", "what"), rows)


def _what(one: dict[str, Any]) -> str:
    from ...ledger.rows import what

    return what(one)


def report(
    where: Where,
    name: Name,
    form: Annotated[
        str | None,
        typer.Option("--format", help="As of hockeystick report, or by --output.", show_default=False),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="A file instead of standard output.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """The account as a document: its promise, one row for each release, and what it rests on.

    Example: hockeystick ledger report ledger.db survey-2026 --output survey-2026.html
    """
    from ..commands.report import form_of, written

    wanted = form_of(form, output, json)
    with opened(where) as ledger:
        made = ledger.account(name).report()
    written(made, wanted, output)
