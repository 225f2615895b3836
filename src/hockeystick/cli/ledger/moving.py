"""Verbs that verify and move a ledger: verify, head, export, import."""

from pathlib import Path
from typing import Annotated

import typer

from .. import show
from ..options import Json
from .options import Where, opened

Other = Annotated[Path, typer.Argument(metavar="FILE", help="The file of JSON Lines.", show_default=False)]


def verify(
    where: Annotated[str, typer.Argument(metavar="LEDGER|EXPORT", help="A ledger, or a file of its export.", show_default=False)],
    published: Annotated[
        Path | None,
        typer.Option("--head", help="What `head --json` wrote earlier, which must still be so.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Reads every entry again: hashes, order, sums.  What was changed is named, and the exit code is 2.

    Example: hockeystick ledger verify ledger.db
    """
    from ...ledger.chain.export_file import head_of, is_export, verify_export

    before = None if published is None else head_of(published)
    path = Path(where)
    if path.is_file() and is_export(path):
        found = verify_export(path, before)
    else:
        with opened(where) as ledger:
            found = ledger.verify(before)
    if json:
        show.machine(found.to_dict())
        return
    show.lines(f"As they were written: entries {found.entries:,}, accounts {found.accounts:,}.  Digest: {found.digest}")


def head(where: Where, json: Json = False) -> None:
    """One digest of the last hashes of all accounts: publish it, and the past cannot be rewritten unnoticed.

    Example: hockeystick ledger head ledger.db --json
    """
    with opened(where) as ledger:
        found = ledger.head()
    if json:
        show.machine(found)
        return
    show.rows(found["digest"], [(name, f"{one['entries']:,}", one["hash"]) for name, one in found["accounts"].items()])


def export(where: Where, output: Other, json: Json = False) -> None:
    """Writes everything as JSON Lines, which verify reads without a data base.

    Example: hockeystick ledger export ledger.db ledger.jsonl
    """
    with opened(where) as ledger:
        count = ledger.export(output)
    show.machine({"file": str(output), "lines": count}) if json else show.lines(f"{count:,} lines are written to {output}.")


def import_(where: Where, given: Other, json: Json = False) -> None:
    """Adds what an export has and this ledger has not.

    Example: hockeystick ledger import ledger.db ledger.jsonl
    """
    with opened(where) as ledger:
        found = ledger.import_(given)
    if json:
        show.machine(found)
        return
    show.lines(f"Added: data sets {found['datasets']:,}, accounts {found['accounts']:,}, entries {found['entries']:,}.")
