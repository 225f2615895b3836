"""`hockeystick compose`: epsilon of several releases together."""

from typing import Annotated

import typer

from ..answer import answer
from ..files import EXAMPLE, run_of
from ..options import Budget, Delta, Json, Neighbours, Run, at_delta, relation


def compose(
    run: Run = None,
    delta: Delta = None,
    epsilon: Budget = None,
    neighbours: Neighbours = None,
    example: Annotated[bool, typer.Option("--example", help="Print an example of a run file (TOML) and stop.")] = False,
    json: Json = False,
) -> None:
    """Epsilon of several releases together, described by expressions or in a TOML or JSON file.

    Example: hockeystick compose 'Gaussian(sigma=20) * 100' 'Laplace(scale=50)' --delta 1e-6

    A run file has the keys neighbours, delta, steps (a list of expressions),
    and tables step (release, count) and dpsgd (the options of that command).
    It serves report, plot, explain and rounds, too.

    To begin with one: hockeystick compose --example > run.toml
    """
    if example:
        typer.echo(EXAMPLE, nl=False)
        return
    release, settings = run_of(run or [], neighbours, delta)
    answer(
        release,
        at_delta(delta, settings),
        relation(neighbours, settings),
        json,
        epsilon,
        given=() if "-" in (run or ()) else run or (),
    )
