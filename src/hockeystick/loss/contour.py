"""delta(epsilon) as a contour integral of the cumulant function, with both ends certified.

For c > 0 inside the strip of K (NUMERICS section 2; for the Gaussian case see Zhu, Dong and Wang 2022, section 5),

    delta(eps) = 1/(2 pi)  integral over real u of  exp(K(w) - w eps) / (w (w+1)) du,      w = c + i u.

The trapezoidal rule of step h overshoots by sum over m != 0 of e^{2 pi m c/h} delta(eps + 2 pi m/h) (Poisson
summation), every term of which is non-negative and bounded: delta <= 1 on the left, and on the right
delta(x) <= s^s / (1+s)^{1+s} e^{K(s) - s x} for any s > c (paper S, Proposition 14).  What is cut off beyond the
last node is bounded by the proved decay of |exp K| on cells of u.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ..numerics.series import Array, ComplexArray
from .composed import ComposedLoss, ComposedSlice

TOLERANCE = 36.0  # -log of the relative size allowed to each discretisation error
_CELLS = 1.12 ** np.arange(150)
_RIGHT = np.append(_CELLS[1:], math.inf)
_FORWARD = np.array([0.5, 1.0, 2.0, 3.5, 5.0, 7.0, 9.0, 12.0])


@dataclass(frozen=True)
class LogDelta:
    """log delta at one epsilon: an estimate, its slope, and certified ends (-inf below if nothing is proved)."""

    value: float
    slope: float
    lower: float
    upper: float


def log_markov(s: Array) -> Array:
    """log of s^s / (1+s)^{1+s}: delta(x) <= exp(this + K(s) - s x)."""
    return s * np.log(s) - (1.0 + s) * np.log1p(s)


class Contour:
    """The nodes of one contour, good for all epsilons near the one it was made for."""

    def __init__(self, run: ComposedLoss, c: float, epsilon: float, log_delta: float) -> None:
        k0, _, k2 = run.expand(c)
        self.c = c
        bend = k2 + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2
        width = 1.0 / math.sqrt(bend)  # of the bump in u
        slices = run.slice(c, 16.0 * width, TOLERANCE)
        self._choose_step(slices, epsilon, log_delta, width)
        nodes = self._cut(slices, width, run.nodes_allowed)
        value, error = slices.values(self.step, nodes)
        self.height = float(value[0].real)
        self.height_error = float(error[0])
        u = self.step * np.arange(nodes)
        w = np.empty(nodes, dtype=np.complex128)
        w.real, w.imag = c, u
        kernel = (c * (c + 1.0)) / (w * (w + 1.0))
        self.u = u
        self.anchor = epsilon
        self.weights = kernel * np.exp((value - self.height) - 1j * (u * epsilon))
        self.weights[0] = 0.5
        self.sizes = np.abs(self.weights)
        phase = UNIT * (2.0 * np.abs(value.imag) + 4.0 * u * abs(epsilon) + 2.0 * np.abs(value.real - self.height))
        # the node at u = 0 is the height itself: its error is counted once, there
        error[0] = 0.0
        with np.errstate(over="ignore"):
            relative = np.expm1(np.minimum(error + phase + 3.0 * FUNCTION + 12.0 * UNIT, 600.0))
        self.sum_error = float(self.sizes @ relative) * SECOND_ORDER + nodes * UNIT * float(self.sizes.sum())

    def _choose_step(self, slices: ComposedSlice, epsilon: float, log_delta: float, width: float) -> None:
        c = self.c
        left = 2.0 * math.pi * c / (TOLERANCE - log_delta)
        self.forward = c + _FORWARD * width ** -1.0 if False else c + _FORWARD * self._stretch(width)
        self.forward_log = log_markov(self.forward) + slices.above(self.forward)
        need = TOLERANCE + self.forward_log - self.forward * epsilon - log_delta
        right = 2.0 * math.pi * (self.forward - c) / np.maximum(need, 1e-3)
        self.step = min(left, float(right.max()))

    def _stretch(self, width: float) -> float:
        return width

    def _cut(self, slices: ComposedSlice, width: float, allowed: int) -> int:
        """How many nodes; also bounds what the nodes left out would add to the sum (in units of its first term)."""
        c = self.c
        edges = width * _CELLS
        right = width * _RIGHT
        fall = slices.decay(edges, right)
        with np.errstate(under="ignore"):
            piece = np.exp(-fall) * (1.0 / edges - np.where(right < 1e300, 1.0 / right, 0.0) + self.step / edges**2)
        dropped = np.cumsum(piece[::-1])[::-1] * (c * (c + 1.0) / self.step) * SECOND_ORDER
        wanted = math.exp(-TOLERANCE) * width / self.step
        enough = np.nonzero(dropped <= wanted)[0]
        cell = int(enough[0]) if enough.size else len(edges) - 1
        most = int(np.searchsorted(edges, allowed * self.step)) - 1
        cell = max(0, min(cell, most))
        self.dropped = float(dropped[cell])
        return int(math.ceil(edges[cell] / self.step))

    def at(self, epsilon: float) -> LogDelta:
        """log delta(epsilon) from the nodes at hand."""
        c, move = self.c, epsilon - self.anchor
        turned = self.weights * np.exp((-1j * move) * self.u)
        total = float(turned.real.sum())
        swing = float(self.u @ turned.imag)
        base = self.height - c * epsilon - math.log(c) - math.log1p(c) + math.log(self.step / math.pi)
        sizes = abs(self.height) + abs(c * epsilon) + abs(math.log(c)) + math.log1p(c) + abs(base) + 6.0
        base_error = self.height_error + 8.0 * UNIT * sizes
        moved = float(self.sizes @ (self.u * abs(move))) * 4.0 * UNIT
        lost = self.sum_error + moved
        value = base + math.log(total) if total > 0.0 else -math.inf
        slope = -c + swing / total if total > 0.0 else -c
        high = total + lost + self.dropped
        upper = base + base_error + (math.log(high) if high > 0.0 else -math.inf)
        markov = float((self.forward_log - self.forward * epsilon).min())
        upper = min(upper, markov + 8.0 * UNIT * (abs(markov) + float(self.forward[-1]) * abs(epsilon)))
        # aliases, in units of the first term
        span = 2.0 * math.pi / self.step
        with np.errstate(over="ignore", under="ignore"):
            alias = float(np.exp(np.minimum(self.forward_log - self.forward * epsilon - base - np.log(np.expm1(np.minimum(span * (self.forward - c), 700.0))), 700.0)).min())
        alias += math.exp(min(700.0, -base - span * c)) / -math.expm1(-span * c)
        low = total - lost - self.dropped - alias * (1.0 + 1e-9)
        lower = base - base_error + math.log(low) if low > 0.0 else -math.inf
        return LogDelta(value, slope, lower, upper)
