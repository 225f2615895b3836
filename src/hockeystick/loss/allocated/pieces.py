"""Parts of one epoch by itself: the transform of the one step that is not kept, and bounds of E e^{-sY}.

docs/mathematics/allocation.md, Lemma 49.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...numerics.cancellation_free import BLOCK, Array, ComplexArray
from ...numerics.normal import log_normal_cells
from ...numerics.rounding import FUNCTION, GAUSS_WEIGHT, SECOND_ORDER, UNIT
from .capped import Cap
from .moments import AllocatedStep


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    width: float = 0.15
    """Of the cells of the noise of the step that is not kept."""
    turn: float = 1.3
    """Of the phase of the weight at the edge of the ellipses of these cells."""
    apart: float = 4.0
    """How far e^{place (Y - Y')} may differ among the cells of one piece."""


TUNING = Tuning()
_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(20)


class Chords:
    """E e^{-sY} from above for s > 0: convex, so at most its chords over cells whose masses and means are kept."""

    def __init__(self, step: AllocatedStep) -> None:
        t = step.tilt
        edges = np.arange(-9.5, 9.5 + t, 0.05)
        y = np.exp(t * edges - 0.5 * t * t)
        mass, mean = (np.exp(log_normal_cells(one)[0]) for one in (edges, edges - t))
        # the first cell begins at Y = 0, the last, where e^{-sY} is less than at its left end, has no right one
        left, right = np.append(0.0, y[:-1]), y
        up = np.clip((mean[:-1] - left * mass[:-1]) / (right - left), 0.0, mass[:-1])
        self.weight = np.append(0.0, up)
        self.weight[:-1] += mass[:-1] - up
        self.weight[-1] += mass[-1]
        self.y = np.append(0.0, y) * (1.0 - (step.tilt_error + 1e-13) * (1.0 + t) * 12.0)

    def log_above(self, s: Array) -> Array:
        found: Array = np.log(np.exp(-s[:, None] * self.y) @ self.weight)
        return found + 1e-9


class Pieces:
    """g(z) = int phi (1 - chi) e^{z (Y - 1)} over cells of the noise."""

    def __init__(self, step: AllocatedStep, cap: Cap, low: float, high: float) -> None:
        t, r = step.tilt, cap.sharpness
        count = max(1, math.ceil((high - low) / TUNING.width))
        self.half, self.first = 0.5 * (high - low) / count, low
        middle = low + self.half * (2.0 * np.arange(count) + 1.0)
        x = middle[:, None] + self.half * _POINTS
        steep = np.exp(np.minimum(r * (x - cap.place), 700.0))
        self.weight = self.half * _WEIGHTS * np.exp(-0.5 * x * x) * -np.expm1(-steep) / math.sqrt(2.0 * math.pi)
        self.away = np.expm1(t * x - 0.5 * t * t)
        slip = (step.tilt_error + 4.0 * UNIT) * t * (1.0 + t + np.abs(x)) + FUNCTION
        self.slip = 2.0 * GAUSS_WEIGHT + UNIT * (x * x + 64.0 + 8.0 * r * (np.abs(x) + abs(cap.place) + 1.0)) + 8.0 * FUNCTION
        self.y_slip = (1.0 + self.away) * slip
        # an ellipse in which the phase of the weight stays below a right angle
        d = min(TUNING.turn / r, 1.2 / t)
        root = d / self.half
        self.radius = root + math.sqrt(root * root + 1.0)
        reach = 0.5 * self.half * (self.radius + 1.0 / self.radius)
        far = middle + reach
        least = np.maximum(middle - reach, 0.0)
        # log of the largest phi (1 - chi) there
        rise = np.minimum(r * (far - cap.place), math.log(2.0))
        self._log_size = 0.5 * d * d - 0.5 * least * least + rise - 0.5 * math.log(2.0 * math.pi)
        self._most = np.exp(t * far - 0.5 * t * t) * (1.0 + 1e-9)
        self._turned = math.sin(t * d) * (1.0 + 1e-9)
        self.places = np.exp(t * middle - 0.5 * t * t)

    def values(self, z: ComplexArray, rows: slice) -> tuple[ComplexArray, Array]:
        """g over these cells, and bounds of its errors."""
        away, weight = self.away[rows].ravel(), self.weight[rows].ravel()
        exponent = z[:, None] * away
        np.minimum(exponent.real, 690.0, out=exponent.real)
        terms = np.exp(exponent) * weight
        size = np.abs(terms)
        value: ComplexArray = np.add.reduceat(terms, np.arange(0, weight.size, BLOCK), axis=1).sum(axis=1)
        error = size @ (self.slip[rows].ravel() + (BLOCK + weight.size / BLOCK + 16.0) * UNIT)
        error += np.abs(z) * (size @ (self.y_slip[rows].ravel() + 8.0 * UNIT * np.abs(away)))
        return value, error * SECOND_ORDER + self.rule(z, rows)

    def rule(self, z: ComplexArray, rows: slice = slice(None)) -> Array:
        """Bounds of Gauss's rule's error over these cells."""
        most = self._most[rows]
        turned = np.abs(z.imag)[:, None] * (self._turned * most)
        log = self._log_size[rows] + z.real[:, None] * (most - 1.0) + turned - 38.0 * math.log(self.radius)
        total: Array = np.exp(np.minimum(log, 700.0)).sum(axis=1)
        return total * (64.0 / 15.0 * self.half / (1.0 - self.radius**-2) * (1.0 + 1e-6))

    @property
    def largest(self) -> float:
        """The largest modulus of Y on the ellipses."""
        return float(self._most.max())

    def groups(self, place: float, jump: float) -> list[slice]:
        """Neighbouring cells that can share a line near this place; those beyond the jump on lines nearer to 0."""
        found, start = [], 0
        for end in range(1, self.places.size + 1):
            one = self.places[start]
            unit = min(place, 3.0 / max(one - jump, 1e-300)) if one > jump else place
            if end == self.places.size or (self.places[end] - one) * unit > TUNING.apart:
                found.append(slice(start, end))
                start = end
        return found
