"""How the figures look: colours that survive printing and colour blindness (Okabe and Ito), no two curves alike in grey.

Every curve differs from the others in its dashes as well as in its colour; ours is black, solid and thick.
"""

import textwrap
from typing import TYPE_CHECKING, Any

from ...errors import MissingExtra, remedy
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
    below = 0.3 + 0.18 * len(lines)
    room = _ROW * rows
    figure = matplotlib_figure(figsize=(_WIDTH, _HEIGHT + 0.18 * len(lines) + room))
    height = figure.get_size_inches()[1]
    made = figure.add_axes((0.105, (below + 0.55) / height, 0.865, 1.0 - (below + 0.55 + 0.4 + room) / height))
    figure.text(0.5, 0.16 / height, "\n".join(lines), ha="center", va="bottom", fontsize=9, linespacing=1.35)
    return figure, made


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
    axes.legend(**placed, fontsize=9.5, frameon=True, framealpha=0.9, edgecolor="none", handlelength=3.2)
