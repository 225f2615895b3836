"""`hockeystick sweep`: a table over every combination of some parameters."""

import contextlib
import csv
import functools
import itertools
import math
import string
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import typer

from ...checks import meant
from ...errors import BadValue, HockeystickError
from ...mechanism.release import Release
from ...neighbours import Stated
from ...planning.sweep import Bar
from ...planning.sweep import sweep as tabulate
from .. import show
from ..expression import release
from ..options import (
    Json,
    Neighbours,
    relation,
)

_MOST = 10**6
_PATIENCE = 1.0  # seconds for which rows may be held back to be answered together
_LARGEST = 1024  # rows


def sweep(
    template: Annotated[str, typer.Argument(help="A release with names in braces: 'Gaussian(sigma={sigma}) * {steps}'.")],
    grid: Annotated[list[str], typer.Option(help="name=1,2,3 or name=first:last:count; once for each name.")],
    delta: Annotated[float | None, typer.Option(help="Ask for epsilon at this delta.", show_default=False)] = None,
    epsilon: Annotated[float | None, typer.Option(help="Ask for delta at this epsilon.", show_default=False)] = None,
    advantage: Annotated[bool, typer.Option(help="Ask for the advantage of an attacker.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes that share the work.")] = 1,
    neighbours: Neighbours = None,
    json: Json = False,
    json_lines: Annotated[bool, typer.Option("--json-lines", help="One JSON object for each row, as they come.")] = False,
) -> None:
    """A table over every combination of some parameters: CSV on standard output, or JSON columns.

    Rows are written as they come; --json waits for the last one.  Each says at which delta or epsilon it is asked, for which
    neighbours, and why it was refused, if it was: then the exit code is 2 in the end.

    Example: hockeystick sweep 'Gaussian(sigma={sigma}) * {steps}' --grid sigma=5,10 --grid steps=1,10,100 --delta 1e-6
    """
    values = _grid(grid)
    questions = {name: at for name, at in (("epsilon_at_delta", delta), ("delta_at_epsilon", epsilon)) if at is not None}
    if not questions and not advantage:
        raise BadValue("nothing is asked; give --delta (for epsilon there), --epsilon (for delta there) or --advantage.")
    make = functools.partial(_filled, template)
    make(**{name: listed[0] for name, listed in values.items()})  # refused now rather than in every row
    _same_names(template, values)
    asked = relation(neighbours)
    given: dict[str, Any] = {"advantage": advantage, "neighbours": asked, **questions}
    complete = _Completed(make, tuple(values), asked, {f"at_{name.partition('_at_')[2]}": at for name, at in questions.items()})
    with _workers(jobs) as given["executor"]:
        if json:
            rows = list(map(complete.row, _turned(tabulate(make, values, **given))))
            show.machine({name: [row[name] for row in rows] for name in rows[0]})
        else:
            _write(([complete.row(row) for row in some] for some in _rows(make, values, jobs, given)), json_lines)
    if complete.refused:
        raise BadValue(f"rows refused: {complete.refused:,} of {complete.rows:,}; the column error says why.")


class _Completed:
    """What is added to each row: at what it is asked, for which neighbours, and, last, why it was refused."""

    def __init__(self, make: Callable[..., Release], names: tuple[str, ...], asked: Any, at: dict[str, float]) -> None:
        self.make, self.names, self.asked, self.at = make, names, asked, at
        self.rows = self.refused = 0

    def row(self, found: dict[str, Any]) -> dict[str, Any]:
        self.rows += 1
        error = found.pop("error", None)
        self.refused += error is not None
        return {**found, **self.at, "neighbours": self._relation(found), "error": error}

    def _relation(self, found: dict[str, Any]) -> str | None:
        """The relation that was given, else the one that this release states."""
        if not isinstance(self.asked, Stated):
            return str(self.asked)
        try:
            return str(self.make(**{name: found[name] for name in self.names}).stated)
        except HockeystickError:
            return None


@contextlib.contextmanager
def _workers(jobs: int) -> Iterator[Any]:
    """The processes that share the work; what is not begun is dropped where the command is stopped."""
    if jobs <= 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs, initializer=warnings.simplefilter, initargs=("ignore",)) as executor:
        try:
            yield executor
        except BaseException:
            executor.shutdown(cancel_futures=True)
            raise


def _rows(
    make: Callable[..., Release], values: dict[str, list[float]], jobs: int, given: dict[str, Any]
) -> Iterator[list[dict[str, Any]]]:
    """The rows in order, some at a time: the first alone, then more and more while they are quick."""
    bar = Bar(math.prod(map(len, values.values())), None if not sys.stdout.isatty() else False)
    combinations = itertools.product(*values.values())
    first = next(combinations)
    table = tabulate(make, {name: [value] for name, value in zip(values, first, strict=True)}, progress=False, **given)
    yield _turned(table)
    done, size = 1, jobs
    while some := list(itertools.islice(combinations, size)):
        began = time.monotonic()
        table = tabulate(functools.partial(_at, make, tuple(values)), {"at": some}, progress=False, **given)
        named = {name: [one[index] for one in some] for index, name in enumerate(values)}
        yield _turned({**named, **{name: column for name, column in table.items() if name != "at"}})
        done += len(some)
        bar.show(done)
        took = time.monotonic() - began
        size = min(2 * size, _LARGEST) if took < _PATIENCE / 2 else max(jobs, size // 2) if took > _PATIENCE else size
    bar.close()


def _at(make: Callable[..., Release], names: tuple[str, ...], at: tuple[float, ...]) -> Release:
    return make(**dict(zip(names, at, strict=True)))


def _turned(table: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(table, one, strict=True)) for one in zip(*table.values(), strict=True)]


def _write(found: Iterator[list[dict[str, Any]]], json_lines: bool) -> None:
    """Each row as soon as it is there."""
    header: list[str] = []
    for some in found:
        for row in some:
            if json_lines:
                show.machine(row)
                continue
            if not header:
                header = list(row)
                csv.writer(sys.stdout).writerow(header)
            csv.writer(sys.stdout).writerow([row[name] for name in header])
        sys.stdout.flush()


def _grid(given: list[str]) -> dict[str, list[float]]:
    """The values of each name."""
    values: dict[str, list[float]] = {}
    for one in given:
        name, listed = _axis(one)
        if name in values:
            raise BadValue(f"--grid {name} is given twice; allowed: each name once, with all its values.")
        if name in ("neighbours", "at_delta", "at_epsilon"):
            raise BadValue(f"--grid {name} is a column of the answers; allowed: another name.")
        values[name] = listed
    return values


def _same_names(template: str, values: dict[str, list[float]]) -> None:
    """Raised where a name of the grid is none of the release: its values would change nothing."""
    try:
        names = {found for _, found, _, _ in string.Formatter().parse(template) if found}
    except ValueError:
        return  # refused with the template itself
    for name in values:
        if name not in names:
            listed = ", ".join(f"{{{one}}}" for one in sorted(names)) or "none"
            raise BadValue(f"--grid {name} is no name in braces in the release{meant(name, names)}; those are: {listed}.")


def _filled(template: str, **values: Any) -> Release:
    try:
        text = template.format(**{name: repr(value) for name, value in values.items()})
    except (KeyError, IndexError, ValueError) as error:
        raise BadValue(f"{template!r} cannot be filled in ({error}); each name in braces needs a --grid.") from None
    return release(text)


def _axis(given: str) -> tuple[str, list[float]]:
    name, equals, words = given.partition("=")
    try:
        if not equals or not name.isidentifier():
            raise ValueError
        if ":" in words:
            first, last, count = words.split(":")
            a, b, n = _number(first), _number(last), int(count)
            if not 1 <= n <= _MOST:
                raise ValueError
            return name, [a] if n == 1 else [a + (b - a) * i / (n - 1) for i in range(n)]
        return name, [_number(word) for word in words.split(",")]
    except ValueError:
        raise BadValue(f"--grid is {given!r}; allowed: name=1,2,3 or name=first:last:count (at most {_MOST:,}).") from None


def _number(word: str) -> float:
    value = float(word)
    return int(value) if value.is_integer() and "." not in word and abs(value) < 2**53 else value
