"""The sum of T independent ratios Y on an even grid, by the fast Fourier transform, with relative errors far out into its tails.

The law of Y is given on the points y_0 + k h, the last of which is the largest ratio.  Tilted by e^{theta y} a transform has
small relative errors about the tilted mean; several tilts cover the sum from the middle outwards.  What they do not reach is
bounded by Chernoff's bound (docs/mathematics/allocation-steps.md, Lemma 52).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...numerics.cancellation_free import Array
from ...numerics.convolve import Law, Sum
from ...numerics.rounding import FUNCTION, UNIT


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    close: float = 3e-8
    """Relative error of a mass that asks for no other tilt."""
    rise: float = 50.0
    """The same, over that of the largest mass: where sums are long, all of them err more."""
    poor: float = 1e-5
    """Relative error of masses that are used where tilts do not help."""
    soon: float = 100.0
    """-log of the mass at which a law that is not known farther out is cut off too soon."""
    deep: float = 230.0
    """-log of a mass beyond which no tilt is tried."""
    most_tilts: int = 16
    """On either side of the middle."""
    ahead: float = 2.0
    """Standard deviations from the first mass that is not known to the mean of the next tilt."""


TUNING = Tuning()


class StepGrid(NamedTuple):
    """One step: y - 1 at the points, log of their masses under Q, and a bound of the errors of these."""

    away: Array
    log_q: Array
    error: float


class SumGrid(NamedTuple):
    """The sum of T steps: (sum of y - 1)/T at each point; log of its mass; bounds of the absolute errors over it, whose
    squares add up over points (times the number of tilts), and of a relative one besides; the points that are known, from
    `first` to before `last`; log of bounds of what lies below and above them."""

    away: Array
    log_mass: Array
    noise: Array
    error: float
    tilts: int
    first: int
    last: int
    log_below: float
    log_above: float


def _cumulant(step: StepGrid, theta: float) -> tuple[float, float, float]:
    """log E e^{theta (Y - 1)}, its mean and variance under the tilt."""
    exponent = step.log_q + theta * step.away
    top = float(exponent.max())
    weight = np.exp(exponent - top)
    total = float(weight.sum())
    mean = float(weight @ step.away) / total
    return top + math.log(total), mean, float(weight @ (step.away - mean) ** 2) / total


def summed(step: StepGrid, steps: int) -> SumGrid:
    """The law of the sum."""
    cells = step.away.size - 1
    size = 1 << max(1, (steps * cells).bit_length())
    h = float(step.away[-1] - step.away[0]) / cells
    away = (steps * float(step.away[0]) + h * np.arange(steps * cells + 1)) / steps
    log_mass, noise = np.full(away.size, -math.inf), np.full(away.size, math.inf)
    chernoff: list[tuple[float, float]] = []
    worst = 0.0

    def tilted(theta: float) -> None:
        nonlocal worst
        law = Law(0, step.away, step.log_q, theta)
        found = Sum([(law, steps)], size, 0)
        exponent = theta * steps * away
        masses = found.masses[: away.size]
        with np.errstate(divide="ignore"):
            relative = found.error / masses
            log = np.log(masses) + (found.log_scale - exponent)
        better = relative < noise
        log_mass[better], noise[better] = log[better], relative[better]
        rounding = found.rounding + 8.0 * UNIT * (float(np.abs(exponent).max()) + abs(found.log_scale)) + 2.0 * FUNCTION
        worst = max(worst, rounding + steps * step.error)
        chernoff.append((theta, found.log_scale))

    tilted(0.0)
    middle = int(log_mass.argmax())
    close = max(TUNING.close, TUNING.rise * float(noise[middle]))
    for side in (1, -1):
        for _ in range(TUNING.most_tilts):
            place = _unknown(log_mass, noise, middle, side, close)
            if place is None:
                break
            before = noise[place]
            tilted(_next_tilt(step, steps, float(away[place]), side))
            if not noise[place] < 0.5 * before:
                break
    first, last = _around(noise <= 10.0 * close, middle)
    wide = _around(noise <= max(TUNING.poor, 10.0 * close), middle)
    # a law that is cut off soon is worse than one with errors
    if first and log_mass[first] > -TUNING.soon:
        first = wide[0]
    if last < away.size and log_mass[last - 1] > -TUNING.soon:
        last = wide[1]
    slack = worst + 1e-9
    above = (
        min((log - theta * steps * float(away[last]) for theta, log in chernoff if theta >= 0.0), default=0.0)
        if last < away.size
        else -math.inf
    )
    below = (
        min((log - theta * steps * float(away[first - 1]) for theta, log in chernoff if theta <= 0.0), default=0.0)
        if first
        else -math.inf
    )
    return SumGrid(away, log_mass, noise, worst, len(chernoff), first, last, below + slack, above + slack)


def _unknown(log_mass: Array, noise: Array, middle: int, side: int, close: float) -> int | None:
    """The first point to one side that is not known closely; None if there is none, or it is too rare."""
    bad = noise[middle:] > close if side > 0 else noise[middle::-1] > close
    if not bad.any():
        return None
    place = middle + side * int(bad.argmax())
    near = log_mass[place - side]
    return place if place != middle and near > -TUNING.deep else None


def _around(known: npt.NDArray[np.bool_], middle: int) -> tuple[int, int]:
    """The stretch of known points that contains the middle."""
    right, left = ~known[middle:], ~known[middle::-1]
    last = middle + int(right.argmax()) if right.any() else known.size
    first = middle - int(left.argmax()) + 1 if left.any() else 0
    return first, last


def _next_tilt(step: StepGrid, steps: int, place: float, side: int) -> float:
    """A tilt whose mean lies some standard deviations beyond a place."""

    def beyond(theta: float) -> bool:
        _, mean, variance = _cumulant(step, side * theta)
        return side * (mean - place) * steps > TUNING.ahead * math.sqrt(steps * variance)

    high = 1e-3 / max(float(np.abs(step.away).max()), 1e-300)
    for _ in range(200):
        if beyond(high):
            break
        high *= 2.0
    low = 0.0
    for _ in range(12):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if beyond(middle) else (middle, high)
    return side * high
