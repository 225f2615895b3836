"""`hockeystick report`: everything about a run."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from ...checks import meant
from ...errors import BadValue
from ...report.about import About
from .. import show
from ..files import run_of
from ..options import Delta, Json, Neighbours, Run, at_delta, relation

_FORMS = {
    "text": "to_text",
    "json": "to_json",
    "html": "to_page",
    "markdown": "to_markdown",
    "latex": "to_latex",
    "registry": "to_registry",
    "model-card": "to_model_card",
}
_ENDINGS = {
    "": "text",
    ".txt": "text",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".md": "markdown",
    ".tex": "latex",
    ".yaml": "registry",
}


def report(
    run: Run = None,
    delta: Delta = None,
    form: Annotated[
        str | None,
        typer.Option("--format", help=f"One of {', '.join(_FORMS)}; by the ending of --output, else text.", show_default=False),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="A file instead of standard output.", show_default=False)] = None,
    neighbours: Neighbours = None,
    title: Annotated[str | None, typer.Option(help="The title of the report.", show_default=False)] = None,
    dataset: Annotated[str | None, typer.Option(help="The data that the releases are about.", show_default=False)] = None,
    unit: Annotated[str | None, typer.Option(help="What one record stands for.", show_default=False)] = None,
    author: Annotated[str | None, typer.Option(help="Who answers for it.", show_default=False)] = None,
    date: Annotated[str | None, typer.Option(help="Its day, as YYYY-MM-DD.", show_default=False)] = None,
    purpose: Annotated[str | None, typer.Option(help="What the releases are for.", show_default=False)] = None,
    json: Json = False,
) -> None:
    """Everything about a run, with what it rests on and a statement to paste into a paper.

    html is a page to print; registry a record for OpenDP's registry of deployments (YAML), model-card a block for one.  Title,
    data set, unit of privacy and the names of the releases can stand in the run's file, too.

    Example: hockeystick report 'Gaussian(sigma=1.1).poisson(rate=0.01) * 1000' --delta 1e-5 --format latex
    """
    wanted = form_of(form, output, json)
    release, settings = run_of(run or [], neighbours, delta)
    said = {"title": title, "dataset": dataset, "unit": unit, "author": author, "date": date, "purpose": purpose}
    about = replace(settings.get("about") or About(), **{key: value for key, value in said.items() if value is not None})
    made = release.report(at_delta(delta, settings), relation(neighbours, settings), about=about)
    written(made, wanted, output)


def form_of(form: str | None, output: Path | None, json: bool) -> str:
    """The form of a report: as it is asked for, or by the ending of the file."""
    ending = output.suffix.lower() if output else ""
    if form is None and not json and ending not in _ENDINGS:
        raise BadValue(f"--output is {str(output)!r}; allowed: a name that ends in {', '.join(_ENDINGS)[2:]}, or --format.")
    wanted = "json" if json else form or _ENDINGS[ending]
    if wanted not in _FORMS:
        raise BadValue(f"--format is {wanted!r}{meant(wanted, _FORMS)}; allowed: {', '.join(_FORMS)}.")
    if (ours := _ENDINGS.get(ending)) in ("json", "html") and wanted != ours:
        raise BadValue(f"--output is {str(output)!r}, whose ending means {ours}, and the format is {wanted}; allowed: the same.")
    return wanted


def written(made: Any, wanted: str, output: Path | None) -> None:
    """A report in one of its forms, on standard output or in a file."""
    width = max(20, min(show.console().width, 100))
    text = made.to_text(width) if wanted == "text" else getattr(made, _FORMS[wanted])() + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        output.write_text(text, encoding="utf-8")
        show.lines(f"written to {output}")
