"""A certified curve between the points at which it was asked, so that what is drawn is nowhere better than what is known.

A profile falls in epsilon and is convex in e^epsilon, being a supremum of P(S) - e^epsilon Q(S) over events S; a trade-off curve
falls and is convex in alpha.  So the chord of two upper ends is above the curve between them, and what continues the chord of a
neighbouring interval (from an upper end through a lower one) is below it.  Where the two are far enough apart to be seen,
more points are asked.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..numerics.cancellation_free import Array

Ask = Callable[[Array], tuple[Array, Array]]

_FIRST, _MOST, _DRAWN, _SEEN = 25, 100, 1600, 0.003
_SLACK = 1e-12  # the rounding of what is computed here, far below a line's width


class Band(NamedTuple):
    """Both ends of a falling curve: between one point and the next the upper end is at most that of the first, the lower end
    at least that of the second.
    """

    points: Array
    lower: Array
    upper: Array

    def apart(self, scale: Callable[[Array], Array]) -> float:
        """How far the ends are apart, as the scale has it, but for a hundredth of the axis (a jump is no band)."""
        gaps = scale(self.upper)[:-1] - scale(self.lower)[:-1]
        order = np.argsort(-gaps)
        beyond = np.cumsum(np.diff(self.points)[order]) > 0.01 * (self.points[-1] - self.points[0])
        return float(gaps[order][beyond].max())


def band(ask: Ask, first: float, last: float, scale: Callable[[Array], Array], exponential: bool = False) -> Band:
    """The band of a falling curve that is convex in its argument (`exponential`: in e to the argument).

    `ask` gives both ends at some points, `scale` says where a value is drawn, from 0 to 1.

    >>> drawn = band(lambda x: (1.0 / (1.0 + x), 1.0 / (1.0 + x)), 0.0, 4.0, lambda y: y)
    >>> truth = 1.0 / (1.0 + drawn.points)
    >>> bool(np.all(drawn.lower <= truth) and np.all(truth <= drawn.upper)), drawn.apart(lambda y: y) < 0.01
    (True, True)
    """
    points = np.linspace(first, last, _FIRST)
    lower, upper = ask(points)
    least = (last - first) / 2000.0
    while True:
        found = _between(points, lower, upper, exponential)
        width = _excess(found, points, lower, upper, scale)
        wide = np.flatnonzero((width > _SEEN) & (np.diff(points) > least))
        wide = wide[np.argsort(-width[wide])][: _MOST - len(points)]
        if not len(wide):
            return found
        middles = 0.5 * (points[wide] + points[wide + 1])
        low, high = ask(middles)
        places = np.argsort(np.concatenate([points, middles]))
        points = np.concatenate([points, middles])[places]
        lower, upper = np.concatenate([lower, low])[places], np.concatenate([upper, high])[places]


def _excess(found: Band, points: Array, lower: Array, upper: Array, scale: Callable[[Array], Array]) -> Array:
    """How far what is drawn lies outside the lines that join the points, in each interval."""
    above = scale(found.upper) - np.interp(found.points, points, scale(upper))
    below = np.interp(found.points, points, scale(lower)) - scale(found.lower)
    each: Array = np.maximum(above, below)[:-1].reshape(len(points) - 1, -1).max(axis=1)
    return each


def _between(points: Array, lower: Array, upper: Array, exponential: bool) -> Band:
    a, b = points[:-1, None], points[1:, None]
    within = -(-_DRAWN // len(a))
    inside = a + (b - a) * np.arange(within) / within
    with np.errstate(over="ignore", invalid="ignore"):
        above = _line(inside, a, upper[:-1, None], b, upper[1:, None], exponential)
        above = np.minimum(above * (1.0 + _SLACK), upper[:-1, None])
        below = np.broadcast_to(lower[1:, None], inside.shape).copy()
        below[:, 0] = lower[:-1]
        before = _line(inside[1:], a[:-1], upper[:-2, None], b[:-1], lower[1:-1, None], exponential)
        after = _line(inside[:-1], a[1:], lower[1:-1, None], b[1:], upper[2:, None], exponential)
        for rows, line in ((slice(1, None), before), (slice(None, -1), after)):
            below[rows] = np.fmax(below[rows], line - _SLACK * np.abs(line) - _SLACK * above[rows])
    # both ends as answered where it was asked, the rest as proved, and not above the upper end by rounding
    return Band(
        np.append(inside.ravel(), points[-1]),
        np.append(np.minimum(below, above).ravel(), lower[-1]),
        np.append(above.ravel(), upper[-1]),
    )


def _line(x: Array, a: Array, at_a: Array, b: Array, at_b: Array, exponential: bool) -> Any:
    share = np.exp(x - b) * np.expm1(a - x) / np.expm1(a - b) if exponential else (x - a) / (b - a)
    return at_a * (1.0 - share) + at_b * share
