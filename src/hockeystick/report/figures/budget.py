"""A picture of a budget over time: what was taken of each planned line and of the reserve (needs the extra `plot`)."""

import datetime
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..drawing import cut
from .style import GREY, OURS, PAPER, canvas, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Points = Sequence[tuple[str, float]]
_MOST = len(PAPER)  # lines whose dashes differ


def budget(name: str, reserve: Points, lines: Mapping[str, Points], marks: Points, axes: Any = None) -> "Figure":
    """Shares that were taken, against time: of the reserve, and of the planned lines that were used most.

    Parameters
    ----------
    name : str
        The account.
    reserve : sequence of (str, float)
        Times, as written, and the share of the reserve from there on; none where there is no reserve.
    lines : dict of str
        The same for planned lines.
    marks : sequence of (str, float)
        Times at which the terms were changed, and the epsilon from there on.
    axes : matplotlib.axes.Axes, optional
        Where to draw; by default on a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    MissingExtra
        If matplotlib is not installed.
    """
    most = sorted(lines, key=lambda one: -lines[one][-1][1])
    shown, hidden = most[:_MOST], len(most[_MOST:])
    words = f"  {hidden} more planned lines are not shown." if hidden else ""
    figure, axes = canvas(
        axes,
        f"What was taken of the account {cut(name, 60)}, reservations included, as shares of what the promise allows.  It "
        f"holds whatever was chosen; where a curve is at 100 %, nothing more is granted of it.{words}",
        rows=len(shown) + bool(reserve),
    )
    ends = [points[-1][0] for points in (*lines.values(), reserve) if points]
    last = max(ends, default="")
    for one, style in zip(shown, PAPER, strict=False):
        _steps(axes, lines[one], last, f"{cut(one, 40)} (planned)", style)
    if reserve:
        _steps(axes, reserve, last, "the reserve", OURS)
    for time, epsilon in marks:
        axes.axvline(_moment(time), color=GREY, linewidth=1.0, linestyle=":")
        place = {"xycoords": ("data", "axes fraction"), "rotation": 90, "ha": "right", "va": "top"}
        axes.annotate(f"epsilon {epsilon:g}", (_moment(time), 0.97), fontsize=9, color=GREY, **place)
    axes.axhline(1.0, color=GREY, linewidth=1.0)
    axes.set_ylim(0.0, 1.04)
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    _days(axes)
    finish(axes, f"The budget of {cut(name, 40)}", "time (UTC)", "taken", "above")
    return figure


def _moment(time: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(time)


def _steps(axes: Any, points: Points, last: str, label: str, style: dict[str, Any]) -> None:
    """Level until the next change, and to the end of all of them."""
    times = [_moment(time) for time, _ in points] + [_moment(last)]
    shares = [share for _, share in points]
    axes.step(times, [*shares, shares[-1]], where="post", label=label, **style)


def _days(axes: Any) -> None:
    """Few, short dates."""
    from matplotlib import dates

    made: Any = dates  # matplotlib has no types here
    locator = made.AutoDateLocator(maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(made.ConciseDateFormatter(locator))
