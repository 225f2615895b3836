"""A picture of the law of the privacy loss (needs the extra `plot`)."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .drawing import cut
from .figures.style import BLUE, OURS, PAPER, canvas, curve, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ..mechanism.questions.privacy_loss import PrivacyLoss

_POINTS, _MANY = 60, 600
_FAR = 6.0  # standard deviations


def law(loss: "PrivacyLoss", release: Any, axes: Any = None) -> "Figure":
    """P(Z > epsilon) with both ends, delta(epsilon) below it, and the normal approximation.

    Parameters
    ----------
    loss : PrivacyLoss
        The law that is drawn.
    release : Release
        Whose law it is.
    axes : matplotlib.axes.Axes, optional
        Where to draw; by default on a figure of its own.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    Unsupported
        If no theorem covers a part of the release under this relation.
    MissingExtra
        If matplotlib is not installed.
    """
    first, last = _range(loss)
    points = np.linspace(first, last, _POINTS if loss.costly else _MANY)
    tails, deltas = loss.tail(points), release.delta(points, loss.neighbours)
    figure, axes = canvas(
        axes,
        f"The privacy loss of the dominating pair of {cut(repr(release), 70)} ({loss.neighbours}).  Its tail is above delta, and "
        "bounds nothing for a mechanism that it dominates: the guarantee is delta.  Certified at the points that the lines join.",
    )
    axes.fill_between(points, tails.lower, tails.upper, color=BLUE, alpha=0.35, linewidth=0.0, label="P(Z > epsilon), both ends")
    curve(axes, points, 0.5 * (tails.lower + tails.upper), PAPER[1], "P(Z > epsilon), of this pair alone")
    curve(axes, points, deltas, OURS, "delta(epsilon), the guarantee")
    if not loss.infinite_mass.upper:
        normal = loss.normal_approximation()
        curve(axes, points, np.array([normal.tail(one) for one in points]), PAPER[0], "central limit theorem: no guarantee")
    axes.set_ylim(0.0, 1.02)
    axes.set_xlim(first, last)
    finish(axes, "The law of the privacy loss", "epsilon", "probability", "upper right")
    return figure


def _range(loss: "PrivacyLoss") -> tuple[float, float]:
    """Where the loss mostly lies."""
    low, high = loss.support
    if not loss.infinite_mass.upper:
        normal = loss.normal_approximation()
        low = max(low, normal.mean - _FAR * normal.deviation)
        high = min(high, normal.mean + _FAR * normal.deviation)
    low, high = (low if low > -math.inf else -high), (high if high < math.inf else -low)
    if not math.isfinite(high - low):
        low, high = -1.0, 1.0
    room = 0.05 * (high - low) + 1e-9
    return low - room, high + room
