"""How the figures look: colours that survive printing and colour blindness (Okabe and Ito), no two curves alike in grey.

Every curve differs from the others in its dashes as well as in its colour; ours is black, solid and thick.
"""

import textwrap
from typing import TYPE_CHECKING, Any

from ...errors import BadType, MissingExtra, remedy
from ...numerics.cancellation_free import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLACK, BLUE, RED, GREEN, ORANGE, PURPLE = "#000000", "#0072b2", "#d55e00", "#009e73", "#e69f00", "#cc79a7"
GREY = "#888888"

OURS = {"color": BLACK, "linestyle": "-", "linewidth": 2.4, "zorder": 3.0}
PAPER = (
    {"color": RED, "linestyle": "--", "linewidth": 1.8},
    {"color": BLUE, "linestyle": "-.", "linewidth": 1.8},
    {"color": GREEN, "linestyle": (0, (1, 1.2)), "linewidth": 2.2},
    {"color": PURPLE, "linestyle": (0, (6, 1.5, 1, 1.5, 1, 1.5)), "linewidth": 1.6},
    {"color": ORANGE, "linestyle": "-", "linewidth": 1.2},
)
"""The curves of a paper, in the order in which they are drawn."""

_WIDTH, _HEIGHT = 7.2, 5.6
_ROW = 0.22
"""The height of a row of a legend above the axes."""
_LINE, _TITLE = 0.18, 0.3
"""The heights of a line of a caption, and of a title, in inches."""
_CAPTION = "caption"


def matplotlib_figure(**options: Any) -> Any:
    """A figure of matplotlib's, which is an extra."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra(f"figures are drawn with matplotlib, which is not installed; {remedy('plot')}.") from None
    return Figure(**options)


def canvas(axes: "Axes | None", caption: str, rows: int = 0) -> "tuple[Figure, Axes]":
    """The axes to draw on; new ones have the caption below them, and above room for a legend of so many rows."""
    if axes is not None:
        figure: Any = axes.get_figure()
        return figure, axes
    lines = textwrap.wrap(caption, 90)
    below = 0.3 + _LINE * len(lines)
    room = _ROW * rows
    figure = matplotlib_figure(figsize=(_WIDTH, _HEIGHT + _LINE * len(lines) + room))
    height = figure.get_size_inches()[1]
    made = figure.add_axes((0.105, (below + 0.55) / height, 0.865, 1.0 - (below + 0.55 + 0.4 + room) / height))
    words = figure.text(0.5, 0.16 / height, "\n".join(lines), ha="center", va="bottom", fontsize=9, linespacing=1.35)
    words.set_gid(_CAPTION)
    return figure, made


def below_panels(figure: Any, caption: str, panels: int) -> None:
    """A caption below a row of panels, whose layout keeps room for it."""
    if caption:
        text = "\n" + "\n".join(textwrap.wrap(caption, 88 * panels))
        figure.supxlabel(text, fontsize=9, linespacing=1.35).set_gid(_CAPTION)


def trimmed(figure: "Figure", title: bool = True, caption: bool = True) -> "Figure":
    """A figure without its title or its caption, and without the room for them, for a paper that has its own.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What one of the functions of `plots` or `figures.draw` has made; it is changed.
    title : bool, default True
        Whether the titles stay.
    caption : bool, default True
        Whether the caption stays.

    Returns
    -------
    matplotlib.figure.Figure
        The same figure.

    Raises
    ------
    BadType
        If figure is none of matplotlib's.
    """
    if not hasattr(figure, "get_size_inches"):
        raise BadType(f"figure is {figure!r}; allowed: a figure of matplotlib's, as plots.profile(run, delta) makes it.")
    below = above = 0.0
    if not caption:
        for words in [one for one in figure.texts if one.get_gid() == _CAPTION]:
            lines = words.get_text().strip().count("\n") + 1
            below += 0.1 + _LINE * lines
            words.set_text("")
    if not title:
        above = _TITLE
        for axes in figure.axes:
            axes.set_title("", loc="left")
    width, height = figure.get_size_inches()
    left = height - below - above
    for axes in figure.axes if figure.get_layout_engine() is None else ():
        x, y, across, along = axes.get_position().bounds
        axes.set_position((x, (y * height - below) / left, across, along * height / left))
    figure.set_size_inches(width, left)
    return figure


def curve(axes: "Axes", x: Array, y: Array, style: dict[str, Any], label: str = "") -> None:
    """One curve, in the legend if it has a label."""
    axes.plot(x, y, label=label or "_", **style)


def finish(axes: "Axes", title: str, x: str, y: str, legend: Any = "best") -> None:
    """Labels, a light grid, and the legend; "above" is where a canvas has left room."""
    rows = len(axes.get_legend_handles_labels()[1]) if legend == "above" else 0
    axes.set_title(title, fontsize=11, loc="left", pad=6.0 + 72.0 * _ROW * rows)
    axes.set_xlabel(x, fontsize=11)
    axes.set_ylabel(y, fontsize=11)
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    placed: dict[str, Any] = {"loc": legend}
    if rows:
        placed = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "borderaxespad": 0.2, "labelspacing": 0.35}
    if legend == "above" and not rows:
        return  # nothing is drawn that has a name
    axes.legend(**placed, fontsize=9.5, frameon=True, framealpha=0.9, edgecolor="none", handlelength=3.2)
