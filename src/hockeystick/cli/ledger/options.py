"""What the verbs of the ledger share: where it is, who acts, and how a refusal is printed."""

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...errors import BadValue, OverBudget
from ...mechanism.release import Release
from .. import show
from ..expression import release as expression

if TYPE_CHECKING:
    from ...ledger.account import Account
    from ...ledger.ledger import Ledger

Where = Annotated[str, typer.Argument(metavar="LEDGER", help="A file, or postgresql://user@host/database.", show_default=False)]
Name = Annotated[str, typer.Argument(metavar="ACCOUNT", help="The name of the account.", show_default=False)]
MaybeName = Annotated[str | None, typer.Argument(metavar="[ACCOUNT]", help="One account; else all.", show_default=False)]
What = Annotated[
    str,
    typer.Argument(
        metavar="RELEASE", help="A planned line by its name, or a release such as 'Laplace(scale=30)'.", show_default=False
    ),
]
Key = Annotated[str, typer.Option(help="The name of this execution: sent again, it is charged once.", show_default=False)]
Actor = Annotated[str | None, typer.Option(help="Who acts; the name of the user unless given.", show_default=False)]
Count = Annotated[int, typer.Option(help="How often it is released.")]
Note = Annotated[str, typer.Option(help="What else is to be kept of it.", show_default=False)]
Also = Annotated[
    list[str] | None,
    typer.Option(help="Another account that is charged for the same release, or nothing is; once for each.", show_default=False),
]


@contextmanager
def opened(where: str, json: bool = False) -> "Iterator[Ledger]":
    """The ledger that is there; a refusal is also printed for machines, if they asked."""
    from ...ledger.ledger import Ledger

    with Ledger(where, make=False) as ledger:
        try:
            yield ledger
        except OverBudget as error:
            if json:
                show.machine({"refused": str(error), **error.refusal})
            raise


def who(actor: str | None) -> str:
    """Who acts."""
    if actor is not None:
        return actor
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        raise BadValue("--actor is missing, and this system does not say who you are; allowed: a name.") from None


def meant(account: "Account", what: str) -> Release | str:
    """A planned line, if there is one of this name; else a release."""
    lines = account.terms.lines
    if what in lines:
        return what
    try:
        return expression(what)
    except BadValue as error:
        if what.replace("-", "_").replace(" ", "_").isidentifier():
            from ...checks import meant as near

            known = ", ".join(lines) or "none"
            raise BadValue(f"{account.name!r} has no planned line {what!r}{near(what, lines)}; planned: {known}.") from None
        raise error from None


def line(text: str) -> tuple[str, Release, int]:
    """A planned line, NAME=RELEASE, whose last factor is how often it may be made."""
    name, separator, rest = text.partition("=")
    if not separator or "(" in name:
        raise BadValue(f"--line is {text!r}; allowed: NAME=RELEASE * COUNT, as in --line 'histogram=Laplace(scale=30) * 12'.")
    found = expression(rest)
    if len(found.parts) == 1:
        ((mechanism, count),) = found.parts
        return name.strip(), mechanism, count
    return name.strip(), found, 1


def receipts(ledger: "Ledger", found: list[Any], json: bool, words: str) -> None:
    """What was charged, for people or machines."""
    from ...ledger.refusal import shares
    from ...ledger.state import Charge

    if json:
        show.machine(found[0].to_dict() if len(found) == 1 else [one.to_dict() for one in found])
        return
    for one in found:
        rows: list[show.Row] = [("entry", f"{one.seq}", f"{one.kind}, {one.time}"), ("key", one.key)]
        rows += [(name, f"{count} x", "of the plan") for name, count in one.lines.items()]
        if one.reserve or one.slack:
            taken = shares(Charge({}, one.reserve, one.slack), ledger.account(one.account).terms.reserve)
            rows.append(("reserve", f"{taken['reserve']:.4%}", f"of the whole, and {taken['slack']:.4%} of the slack"))
        if one.expires:
            rows.append(("expires", one.expires, "then it counts as made"))
        if one.token:
            rows.append(("token", one.token, "gives it back, if the data were not read: keep it"))
        rows.append(("hash", one.hash))
        show.rows(f"{one.account}: {words}{' before; this is the first answer again' if one.replayed else ''}", rows)
