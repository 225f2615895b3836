"""What is printed: rows for people, JSON for machines."""

import json
import math
import os
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import HockeystickError
from ..mechanism.release import Release
from ..mechanism.training import Training
from ..neighbours import DEFAULT
from .expression import release as expression

_NARROW = 70
Row = tuple[str, str] | tuple[str, str, str]


def console() -> Console:
    """Standard output; no colour and no cut lines where it is not a terminal."""
    made = Console(file=sys.stdout, highlight=False, soft_wrap=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made = Console(file=sys.stdout, highlight=False, width=100, color_system=None)
    return made


def name(release: Release) -> str:
    """A release as an expression that the commands take."""
    return repr(release.run if isinstance(release, Training) else release)


def next_commands(release: Release, delta: float | None, neighbours: str, given: Sequence[str] = ()) -> None:
    """The commands that come next, a report and a picture: lines to copy, so they are not wrapped.

    What was given is asked about again, a file by its name; else the release as an expression, if it is one.  A delta that
    nobody gave is left open.
    """
    words = list(given) or [name(release)]
    if console().width < _NARROW or not (given or _readable(release)):
        lines("Next: hockeystick report -h and hockeystick plot -h.")
        return
    plain = neighbours == DEFAULT and not any(one.endswith((".toml", ".json")) for one in words)  # a file may state another
    more = f"--delta {'DELTA' if delta is None else repr(delta)}" + ("" if plain else f" --neighbours {neighbours}")
    sys.stdout.write(f"Next: hockeystick report {shlex.join(words)} {more} --output report.html\n")
    sys.stdout.write(f"      hockeystick plot {shlex.join(words)} {more} --output profile.png\n")
    if delta is None:
        sys.stdout.write("      with a DELTA of yours, well below one over the number of records\n")


def _readable(release: Release) -> bool:
    try:
        return expression(name(release)).parts == release.parts
    except HockeystickError:
        return False


def rows(title: str, found: list[Row]) -> None:
    """A small table: what, its value, and what it means."""
    screen = console()
    screen.print(Text(title, style="bold"))
    narrow = screen.width < _NARROW
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold", max_width=max(10, screen.width // 3))
    table.add_column(overflow="fold", style="bold")
    if not narrow:
        table.add_column(overflow="fold", style="dim")
    for name, value, *meaning in found:
        note = meaning[0] if meaning else ""
        if narrow:
            table.add_row(Text(name), Text(value) + Text(f"\n{note}" if note else "", style="not bold dim"))
        else:
            table.add_row(Text(name), Text(value), Text(note))
    screen.print(table)


def table(title: str, header: tuple[str, ...], found: list[tuple[str, ...]]) -> None:
    """Columns with a header; where the terminal is narrow, one line below the other."""
    screen = console()
    if screen.width < 90:
        rows(title, [(first, second, "; ".join(filter(None, rest))) for first, second, *rest in found])
        return
    screen.print(Text(title, style="bold"))
    grid = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for name in header:
        grid.add_column(name, overflow="fold")
    for one in found:
        grid.add_row(*(Text(word) for word in one))
    screen.print(grid)


def lines(text: str) -> None:
    """Prose, wrapped to the terminal."""
    console().print(Text(text), overflow="fold")


def machine(found: Any) -> None:
    """One JSON object; an infinity is null."""
    sys.stdout.write(json.dumps(_plain(found), ensure_ascii=False, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
