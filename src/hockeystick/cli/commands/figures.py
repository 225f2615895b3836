"""`hockeystick figures`: the figures of the three papers."""

from pathlib import Path
from typing import Annotated

import typer

from ... import __version__
from ...checks import meant
from ...errors import BadValue
from .. import show
from ..options import Json

_SUFFIXES = ("png", "svg", "pdf")


def figures(
    names: Annotated[
        list[str] | None, typer.Argument(help="Which figures; all of them unless given.", show_default=False)
    ] = None,
    output: Annotated[Path, typer.Option(help="The directory for them.")] = Path("figures"),
    form: Annotated[str, typer.Option("--format", help="png, svg or pdf.")] = "png",
    listed: Annotated[bool, typer.Option("--list", help="Only say which there are.")] = False,
    title: Annotated[bool, typer.Option("--title/--no-title", help="Whether it has a title.")] = True,
    caption: Annotated[bool, typer.Option("--caption/--no-caption", help="Whether it has a caption.")] = True,
    json: Json = False,
) -> None:
    """The figures of the three papers, drawn again with the exact curves beside theirs.

    Example: hockeystick figures a1 a2 --output figures
    """
    from ...report import figures as papers

    if form not in _SUFFIXES:
        raise BadValue(f"--format is {form!r}{meant(form, _SUFFIXES)}; allowed: {', '.join(_SUFFIXES)}.")
    wanted = names or list(papers.FIGURES)
    unknown = [one for one in wanted if one not in papers.FIGURES]
    if unknown:
        raise BadValue(
            f"{', '.join(unknown)} is no figure{meant(unknown[0], papers.FIGURES)}; allowed: {', '.join(papers.FIGURES)}."
        )
    paths = []
    if not listed:
        output.mkdir(parents=True, exist_ok=True)
        for one in wanted:
            path = output / f"{one}.{form}"
            papers.draw(one, title=title, caption=caption).savefig(path, format=form, dpi=150)
            paths.append(str(path))
    if json:
        show.machine({"figures": wanted, "written": paths, "version": __version__})
    else:
        show.lines("\n".join(wanted if listed else (f"written to {path}" for path in paths)))
