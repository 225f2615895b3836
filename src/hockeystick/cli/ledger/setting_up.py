"""Verbs that set a ledger up: init, dataset, account, amend, close."""

from typing import Annotated, Any

import typer

from ...errors import BadValue
from .. import show
from ..options import Json
from .options import Actor, Where, line, opened, who

Lines = Annotated[
    list[str] | None,
    typer.Option(
        "--line",
        help="A planned line, NAME=RELEASE * COUNT: 'histogram=Laplace(scale=30) * 12'; once for each.",
        show_default=False,
    ),
]


def init(where: Where, json: Json = False) -> None:
    """Makes a ledger, or brings an older one to the present form.

    Example: hockeystick ledger init ledger.db
    """
    from ...ledger.storage.store import Store

    store = Store(where, check=False)
    before = store.version()
    store.upgrade()
    found = {"ledger": store.name, "form": store.version(), "before": before}
    store.close()
    if json:
        show.machine(found)
    else:
        was = {None: "made", found["form"]: "there already, and as it should be"}.get(before, f"brought from form {before}")
        show.lines(f"{found['ledger']} is {was}.  Next: hockeystick ledger dataset {where} NAME --unit 'one person'")


def dataset(
    where: Where,
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="A new data set; else all are listed.", show_default=False)
    ] = None,
    unit: Annotated[str, typer.Option(help="What one record stands for.", show_default=False)] = "",
    neighbours: Annotated[str, typer.Option(help="add-or-remove, replace or zero-out.")] = "add-or-remove",
    description: Annotated[str, typer.Option(help="What else is to be known.", show_default=False)] = "",
    partition_of: Annotated[
        str | None, typer.Option(help="The data set of which it is a disjoint part.", show_default=False)
    ] = None,
    key: Annotated[str | None, typer.Option(help="Of a part: the column that says which.", show_default=False)] = None,
    actor: Actor = None,
    json: Json = False,
) -> None:
    """Writes down whose privacy is kept, or lists the data sets.

    Example: hockeystick ledger dataset ledger.db survey --unit 'one person'
    """
    with opened(where, json) as ledger:
        if name is not None:
            relation: Any = neighbours
            ledger.add_dataset(
                name,
                unit=unit,
                neighbours=relation,
                description=description,
                partition_of=partition_of,
                key=key,
                actor=who(actor),
            )
        found = [one for one in ledger.datasets() if name in (None, one.name)]
    if json:
        shown = [dict(vars(one)) for one in found]
        show.machine(shown if name is None else shown[0])
        return
    for one in found:
        part = f"a part of {one.partition_of} by {one.key}" if one.partition_of else ""
        show.rows(one.name, [("unit", one.unit, one.description), ("neighbours", one.neighbours, part)])
    if not found:
        show.lines("There is no data set yet.")


def account(
    where: Where,
    name: Annotated[
        str | None, typer.Argument(metavar="[ACCOUNT]", help="A new account; else all are listed.", show_default=False)
    ] = None,
    dataset: Annotated[str | None, typer.Option(help="Whose privacy it keeps.", show_default=False)] = None,
    epsilon: Annotated[float | None, typer.Option(help="Epsilon of the promise.", show_default=False)] = None,
    delta: Annotated[float | None, typer.Option(help="Delta of the promise.", show_default=False)] = None,
    plan: Lines = None,
    reserve: Annotated[str, typer.Option(help="How the unplanned is counted: gdp, pure or renyi.")] = "gdp",
    slack: Annotated[
        float | None, typer.Option(help="The part of delta for entries; a tenth unless given.", show_default=False)
    ] = None,
    order: Annotated[float | None, typer.Option(help="The order of a renyi reserve.", show_default=False)] = None,
    opens: Annotated[str | None, typer.Option(help="The day the period begins.", show_default=False)] = None,
    closes: Annotated[str | None, typer.Option(help="The day it ends.", show_default=False)] = None,
    purpose: Annotated[str, typer.Option(help="What it is for.", show_default=False)] = "",
    within: Annotated[str | None, typer.Option(help="Of a part: the account of the whole.", show_default=False)] = None,
    actor: Actor = None,
    json: Json = False,
) -> None:
    """Opens an account: a promise, what is planned, and what that leaves as a reserve; or lists the accounts.

    Example: hockeystick ledger account ledger.db survey-2026 --dataset survey --epsilon 2 --delta 1e-6 --line 'histogram=DiscreteGaussian(sigma=20) * 12'
    """  # noqa: E501
    from .asking import shown

    with opened(where, json) as ledger:
        if name is None:
            found = [ledger.account(one).status() for one in ledger.accounts()]
        else:
            given: dict[str, Any] = {"dataset": dataset, "epsilon": epsilon, "delta": delta}
            if missing := [f"--{word}" for word, value in given.items() if value is None]:
                raise BadValue(f"missing: {', '.join(missing)}; an account is a promise about a data set.")
            given["plan"] = [line(one) for one in plan or []]
            given |= {"reserve": reserve, "slack": slack, "order": order, "opens": opens, "closes": closes}
            made = ledger.open_account(name, **given, purpose=purpose, within=within, actor=who(actor))
            found = [made.status()]
    shown(found if name is None else found[0], json)


def amend(
    where: Where,
    name: Annotated[str, typer.Argument(metavar="ACCOUNT", help="The account.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why.", show_default=False)],
    epsilon: Annotated[float | None, typer.Option(help="Epsilon of the new promise.", show_default=False)] = None,
    delta: Annotated[float | None, typer.Option(help="Delta of the new promise.", show_default=False)] = None,
    plan: Lines = None,
    closes: Annotated[str | None, typer.Option(help="The day the period ends.", show_default=False)] = None,
    purpose: Annotated[str | None, typer.Option(help="What it is for.", show_default=False)] = None,
    actor: Actor = None,
    json: Json = False,
) -> None:
    """A new version of the terms, with who and why; what was taken stays taken.

    A --line that is planned gets the new count, another one is added; the others stay as they are.

    Example: hockeystick ledger amend ledger.db survey-2026 --epsilon 3 --reason 'the board decided so'
    """
    from .asking import shown

    with opened(where, json) as ledger:
        found = ledger.account(name)
        given = {"epsilon": epsilon, "delta": delta, "closes": closes, "purpose": purpose}
        changes: dict[str, Any] = {word: value for word, value in given.items() if value is not None}
        if plan:
            planned = {one.name: (one.name, one.release, one.count) for one in found.terms.plan}
            changes["plan"] = list({**planned, **{one[0]: one for one in map(line, plan)}}.values())
        found.amend(actor=who(actor), reason=reason, **changes)
        status = found.status()
    shown(status, json)


def close(
    where: Where,
    name: Annotated[str, typer.Argument(metavar="ACCOUNT", help="The account.", show_default=False)],
    reason: Annotated[str, typer.Option(help="Why.", show_default=False)] = "",
    actor: Actor = None,
    json: Json = False,
) -> None:
    """Ends an account: nothing more is charged to it.

    Example: hockeystick ledger close ledger.db survey-2026 --reason 'the year is over'
    """
    from .asking import shown

    with opened(where, json) as ledger:
        found = ledger.account(name)
        found.close(actor=who(actor), reason=reason)
        status = found.status()
    shown(status, json)
