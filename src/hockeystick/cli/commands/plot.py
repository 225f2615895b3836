"""`hockeystick plot`: pictures of a run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ... import __version__
from ...checks import meant
from ...errors import BadValue
from .. import show
from ..files import run_of, runs_of
from ..options import Delta, Json, Neighbours, Run, at_delta, relation

_KINDS = ("profile", "rounds", "tradeoff", "renyi", "compare")
_SUFFIXES = ("png", "svg", "pdf")


def plot(
    run: Run = None,
    kind: Annotated[str, typer.Option(help=f"One of {', '.join(_KINDS)}; compare draws each run by itself.")] = "profile",
    delta: Delta = None,
    output: Annotated[Path, typer.Option(help="The picture: .png, .svg or .pdf.")] = Path("plot.png"),
    neighbours: Neighbours = None,
    title: Annotated[bool, typer.Option("--title/--no-title", help="Whether it has a title.")] = True,
    caption: Annotated[bool, typer.Option("--caption/--no-caption", help="Whether it has a caption.")] = True,
    json: Json = False,
) -> None:
    """A picture: the profile, epsilon against rounds, the trade-off curve, the Rényi curve, or a comparison of runs.

    Example: hockeystick plot 'Gaussian(sigma=1.1).poisson(rate=0.01) * 1000' --delta 1e-5 --output profile.png
    """
    from ...report import plots
    from ...report.figures.style import trimmed

    if kind not in _KINDS:
        raise BadValue(f"--kind is {kind!r}{meant(kind, _KINDS)}; allowed: {', '.join(_KINDS)}.")
    if output.suffix[1:].lower() not in _SUFFIXES:
        raise BadValue(f"--output is {str(output)!r}; allowed: a name that ends in .png, .svg or .pdf.")
    described = run or []
    figure: Any
    if kind == "compare":
        names = list(dict.fromkeys(described))
        found, settings = runs_of([[one] for one in names], neighbours, delta)
        runs = dict(zip(names, found, strict=True))
        figure = plots.compare(runs, at_delta(delta, settings), neighbours=relation(neighbours, settings))
    else:
        release, settings = run_of(described, neighbours, delta)
        asked = relation(neighbours, settings)
        figure = getattr(plots, kind)(release, at_delta(delta, settings), neighbours=asked)
    trimmed(figure, title, caption).savefig(output, dpi=150)
    if json:
        show.machine({"written": str(output), "kind": kind, "version": __version__})
    else:
        show.lines(f"written to {output}")
