"""The papers' figures, drawn again with our own exact curves beside theirs, and one of our own (needs the extra `plot`).

Each figure is two functions, the numbers behind its curves and the drawing of them, and has one name, which is that of its
function.  The thick black curve is always the exact one.

Examples
--------
>>> sorted(data("a2"))
['count', 'exact', 'lemma 2', 'moments accountant', 'theorem 3']
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import BadValue
from ...numerics.cancellation_free import Array
from . import paper_g
from .paper_a import a1, a1_data, a2, a2_data, a3, a3_data
from .paper_s import s1, s1_data, s2, s2_data
from .style import trimmed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES: dict[str, tuple[Callable[[], dict[str, Array]], Callable[..., Any]]] = {
    "a1": (a1_data, a1),
    "a2": (a2_data, a2),
    "a3": (a3_data, a3),
    "s1": (s1_data, s1),
    "s2": (s2_data, s2),
    **paper_g.FIGURES,
}


def data(name: str) -> dict[str, Array]:
    """The numbers behind the curves of a figure, as arrays.

    Parameters
    ----------
    name : str
        One of `FIGURES`.

    Returns
    -------
    dict of str to ndarray
        The columns, by their names.

    Raises
    ------
    BadValue
        If there is no such figure.
    """
    return _found(name)[0]()


def draw(name: str, axes: Any = None, title: bool = True, caption: bool = True) -> "Figure":
    """A figure, on axes of its own or on those that are given.

    Parameters
    ----------
    name : str
        One of `FIGURES`.
    axes : matplotlib.axes.Axes, optional
        Where to draw, without a caption; by default on a figure of its own.
    title : bool, default True
        Whether it has titles.
    caption : bool, default True
        Whether a figure of its own has a caption: a paper has one already.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    BadValue
        If there is no such figure.
    MissingExtra
        If matplotlib is not installed.
    """
    figure: Figure = _found(name)[1](axes)
    return figure if axes is not None else trimmed(figure, title, caption)


def save(
    directory: str | Path,
    format: str = "png",  # noqa: A002 (matplotlib's word)
    title: bool = True,
    caption: bool = True,
) -> list[Path]:
    """All figures as files of a directory.

    Parameters
    ----------
    directory : str or path
        Where to write; it is made if it is not there.
    format : str, default "png"
        The kind of the files, as matplotlib knows it.
    title : bool, default True
        Whether they have titles.
    caption : bool, default True
        Whether they have captions.

    Returns
    -------
    list of pathlib.Path
        What was written.

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.
    """
    folder = Path(directory)
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in FIGURES:
        path = folder / f"{name}.{format}"
        draw(name, title=title, caption=caption).savefig(path, format=format, dpi=150)
        paths.append(path)
    return paths


def _found(name: str) -> tuple[Callable[[], dict[str, Array]], Callable[..., Any]]:
    if name not in FIGURES:
        raise BadValue(f"name is {name!r}; allowed: {', '.join(FIGURES)}.")
    return FIGURES[name]
