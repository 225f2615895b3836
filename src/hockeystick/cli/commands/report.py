"""`hockeystick report`: everything about a run."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from ...errors import BadValue
from .. import show
from ..files import run_of
from ..options import Delta, Json, Neighbours, Run, at_delta, relation

_FORMS = ("text", "json", "html", "markdown", "latex")
_ENDINGS = {"": "text", ".txt": "text", ".json": "json", ".html": "html", ".htm": "html", ".md": "markdown", ".tex": "latex"}


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
    made = release.report(at_delta(delta, settings), relation(neighbours, settings), about=settings.get("about"))
    width = max(20, min(show.console().width, 100))
    text = made.to_text(width) if wanted == "text" else getattr(made, f"to_{wanted}")() + "\n"
    if output is None:
        sys.stdout.write(text)
    else:
        page = f'<!doctype html>\n<meta charset="utf-8">\n<title>Privacy report</title>\n{text}' if wanted == "html" else text
        output.write_text(page, encoding="utf-8")
        show.lines(f"written to {output}")
