"""What is shown: report, plot, figures."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import BadValue
from . import show
from .files import run_of
from .options import Delta, Json, Neighbours, Run, at_delta, relation

_FORMS = ("text", "json", "html", "markdown", "latex")
_ENDINGS = {"": "text", ".txt": "text", ".json": "json", ".html": "html", ".htm": "html", ".md": "markdown", ".tex": "latex"}
_KINDS = ("profile", "rounds", "tradeoff", "renyi", "compare")
_SUFFIXES = ("png", "svg", "pdf")


def report(
    run: Run = None,
    delta: Delta = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help=f"One of {', '.join(_FORMS)}; by the ending of --output, else text.", show_default=False),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="A file instead of standard output.", show_default=False)] = None,
    neighbours: Neighbours = None,
    json: Json = False,
) -> None:
    """Everything about a run, with what it rests on and a statement to paste into a paper.

    Example: hockeystick report 'Gaussian(sigma=1.1).poisson(rate=0.01) * 1000' --delta 1e-5 --format latex
    """
    ending = output.suffix.lower() if output else ""
    if form is None and not json and ending not in _ENDINGS:
        raise BadValue(f"--output is {str(output)!r}; allowed: a name that ends in {', '.join(_ENDINGS)[2:]}, or --format.")
    wanted = "json" if json else form or _ENDINGS[ending]
    if wanted not in _FORMS:
        raise BadValue(f"--format is {wanted!r}; allowed: {', '.join(_FORMS)}.")
    release, settings = run_of(run or [], neighbours)
    made = release.report(at_delta(delta, settings), relation(neighbours, settings))
    width = max(20, min(show.console().width, 100))
    text = made.to_text(width) if wanted == "text" else getattr(made, f"to_{wanted}")() + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        page = f'<!doctype html>\n<meta charset="utf-8">\n<title>Privacy report</title>\n{text}' if wanted == "html" else text
        output.write_text(page, encoding="utf-8")
        show.lines(f"written to {output}")


def plot(
    run: Run = None,
    kind: Annotated[str, typer.Option(help=f"One of {', '.join(_KINDS)}; compare draws each run by itself.")] = "profile",
    delta: Delta = None,
    output: Annotated[Path, typer.Option(help="The picture: .png, .svg or .pdf.")] = Path("plot.png"),
    neighbours: Neighbours = None,
    json: Json = False,
) -> None:
    """A picture: the profile, epsilon against rounds, the trade-off curve, the Rényi curve, or a comparison of runs.

    Example: hockeystick plot 'Gaussian(sigma=1.1).poisson(rate=0.01) * 1000' --delta 1e-5 --output profile.png
    """
    from ..report import plots

    if kind not in _KINDS:
        raise BadValue(f"--kind is {kind!r}; allowed: {', '.join(_KINDS)}.")
    if output.suffix[1:].lower() not in _SUFFIXES:
        raise BadValue(f"--output is {str(output)!r}; allowed: a name that ends in .png, .svg or .pdf.")
    described = run or []
    figure: Any
    if kind == "compare":
        runs = {one: run_of([one], neighbours)[0] for one in described}
        settings = run_of(described[:1], neighbours)[1] if described else {}
        figure = plots.compare(runs, at_delta(delta, settings), neighbours=relation(neighbours, settings))
    else:
        release, settings = run_of(described, neighbours)
        asked = relation(neighbours, settings)
        figure = getattr(plots, kind)(release, at_delta(delta, settings), neighbours=asked)
    figure.savefig(output, dpi=150)
    if json:
        show.machine({"written": str(output), "kind": kind, "version": __version__})
    else:
        show.lines(f"written to {output}")


def figures(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which figures; all of them unless given.", show_default=False)
    ] = None,
    output: Annotated[Path, typer.Option(help="The directory for them.")] = Path("figures"),
    form: Annotated[str, typer.Option("--format", help="png, svg or pdf.")] = "png",
    listed: Annotated[bool, typer.Option("--list", help="Only say which there are.")] = False,
    json: Json = False,
) -> None:
    """The figures of the three papers, drawn again with the exact curves beside theirs.

    Example: hockeystick figures a1 a2 --output figures
    """
    from ..report import figures as papers

    if form not in _SUFFIXES:
        raise BadValue(f"--format is {form!r}; allowed: {', '.join(_SUFFIXES)}.")
    wanted = names or list(papers.FIGURES)
    unknown = [one for one in wanted if one not in papers.FIGURES]
    if unknown:
        raise BadValue(f"{', '.join(unknown)} is no figure; allowed: {', '.join(papers.FIGURES)}.")
    paths = []
    if not listed:
        output.mkdir(parents=True, exist_ok=True)
        for one in wanted:
            path = output / f"{one}.{form}"
            papers.draw(one).savefig(path, format=form, dpi=150)
            paths.append(str(path))
    if json:
        show.machine({"figures": wanted, "written": paths, "version": __version__})
    else:
        show.lines("\n".join(wanted if listed else (f"written to {path}" for path in paths)))
