"""The verbs by name, and the group that they form."""

from collections.abc import Callable
from typing import Any

import typer

from . import asking, moving, setting_up, spending

VERBS: dict[str, Callable[..., None]] = {
    "init": setting_up.init,
    "dataset": setting_up.dataset,
    "account": setting_up.account,
    "amend": setting_up.amend,
    "close": setting_up.close,
    "price": spending.price,
    "spend": spending.spend,
    "reserve": spending.reserve,
    "commit": spending.commit,
    "void": spending.void,
    "status": asking.status,
    "log": asking.log,
    "report": asking.report,
    "verify": moving.verify,
    "head": moving.head,
    "export": moving.export,
    "import": moving.import_,
}


def verbs(whole: Callable[[], None]) -> Any:
    """The group; `whole` says what it is for."""
    from ..app import All, Plain

    made = typer.Typer(cls=All, add_completion=False, rich_markup_mode="rich", no_args_is_help=True)
    made.callback()(whole)
    for name, verb in VERBS.items():
        made.command(name, cls=Plain, no_args_is_help=True)(verb)
    return made
