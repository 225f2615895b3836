"""`hockeystick sweep`: a table over every combination of some parameters."""

import contextlib
import csv
import functools
import sys
import warnings
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ...errors import BadValue
from ...mechanism.release import Release
from ...planning.sweep import prepared
from ...planning.sweep import sweep as tabulate
from .. import show
from ..expression import release
from ..options import (
    Json,
    Neighbours,
    relation,
)

_MOST = 10**6


def sweep(
    template: Annotated[str, typer.Argument(help="A release with names in braces: 'Gaussian(sigma={sigma}) * {steps}'.")],
    grid: Annotated[list[str], typer.Option(help="name=1,2,3 or name=first:last:count; once for each name.")],
    delta: Annotated[float | None, typer.Option(help="Ask for epsilon at this delta.", show_default=False)] = None,
    epsilon: Annotated[float | None, typer.Option(help="Ask for delta at this epsilon.", show_default=False)] = None,
    advantage: Annotated[bool, typer.Option(help="Ask for the advantage of an attacker.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes that share the work.")] = 1,
    neighbours: Neighbours = None,
    json: Json = False,
) -> None:
    """A table over every combination of some parameters: CSV on standard output, or JSON columns.

    Example: hockeystick sweep 'Gaussian(sigma={sigma}) * {steps}' --grid sigma=5,10 --grid steps=1,10,100 --delta 1e-6
    """
    values = dict(_axis(one) for one in grid)
    questions = {name: at for name, at in (("epsilon_at_delta", delta), ("delta_at_epsilon", epsilon)) if at is not None}
    if not questions and not advantage:
        raise BadValue("nothing is asked; give --delta (for epsilon there), --epsilon (for delta there) or --advantage.")
    make = functools.partial(_filled, template)
    make(**{name: listed[0] for name, listed in values.items()})  # refused now rather than in every row
    with _shared(jobs) as executor:
        if json:
            asked: dict[str, Any] = {"advantage": advantage, "neighbours": relation(neighbours), **questions}
            show.machine(tabulate(make, values, executor=executor, **asked))
            return
        names, columns, _, rows = prepared(make, values, executor, relation(neighbours), advantage, questions)
        writer = csv.DictWriter(sys.stdout, [*names, *columns, "error"], restval="")
        writer.writeheader()
        for row in rows:  # each as it is answered: what is there stays if the command is stopped
            writer.writerow(row)
            sys.stdout.flush()


@contextlib.contextmanager
def _shared(jobs: int) -> Iterator[Any]:
    """Processes that share the work, if there is more than one; the first of them warns for all."""
    if jobs <= 1:
        yield None
        return
    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(jobs, initializer=warnings.simplefilter, initargs=("ignore",)) as executor:
        yield executor


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
