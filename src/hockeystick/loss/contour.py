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

from ..numerics.cells import COUNT, RATIO, Cells
from ..numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ..numerics.series import Array
from .composed import ComposedLoss
from .noise import TooFine

TOLERANCE = 33.0  # -log of the relative size allowed to each discretisation error
_FEW = 40  # nodes beyond which a more thorough proof of the decay pays
_FORWARD = np.array([0.0, 1.0, 2.5, 6.0])


@dataclass(frozen=True)
class Saddle:
    """Where the integrand is flattest: the point c, the width of the bump along u, and about what is found there."""

    c: float
    width: float
    epsilon: float
    log_delta: float

    @property
    def ahead(self) -> float:
        """How far right of c bounds of K are wanted."""
        return self.c + float(_FORWARD[-1]) * self.width

    @staticmethod
    def of_delta(run: ComposedLoss, log_delta: float, start: float | None = None) -> "Saddle":
        """For the epsilon at which delta has this logarithm."""
        c = run.saddle_of_delta(log_delta, start)
        k0, _, k2 = run.expand(c)
        bend = k2 + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2
        height = k0 - math.log(c) - math.log1p(c) - 0.5 * math.log(2.0 * math.pi * bend)
        return Saddle(c, 1.0 / math.sqrt(bend), (height - log_delta) / c, log_delta)

    @staticmethod
    def of_epsilon(run: ComposedLoss, epsilon: float, start: float | None = None) -> "Saddle":
        """For delta at this epsilon."""
        c = run.saddle_of_epsilon(epsilon, start)
        k0, _, k2 = run.expand(c)
        bend = k2 + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2
        height = k0 - math.log(c) - math.log1p(c) - 0.5 * math.log(2.0 * math.pi * bend)
        return Saddle(c, 1.0 / math.sqrt(bend), epsilon, min(0.0, height - c * epsilon))


def log_markov(s: Array) -> Array:
    """log of s^s / (1+s)^{1+s}: delta(x) <= exp(this + K(s) - s x)."""
    return s * np.log(s) - (1.0 + s) * np.log1p(s)


class Contour:
    """One contour, good for all epsilons near the one it was made for: bounds from the real axis; once laid, from its nodes."""

    def __init__(self, run: ComposedLoss, saddle: Saddle) -> None:
        self.c = saddle.c
        self.saddle, self.nodes_allowed = saddle, run.nodes_allowed
        self.slices = run.slice(saddle.c, saddle.ahead, 12.0 * saddle.width)
        self.forward = self.c + _FORWARD * saddle.width
        self.forward_log = log_markov(self.forward) + self.slices.above(self.forward)

    def lay(self) -> bool:
        """Lays the nodes; False if they could not prove anything."""
        c, epsilon = self.c, self.saddle.epsilon
        if c * abs(epsilon) * UNIT > 0.01 or not math.isfinite(float(self.forward_log[0])):
            return False  # rounding alone would drown the answer
        self._choose_step(epsilon, self.saddle.log_delta)
        nodes = self._cut(self.saddle.width)
        if self.dropped > self.saddle.width / self.step:
            return False
        try:
            value, error = self.slices.values(self.step, nodes)
        except TooFine:
            return False
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
        sizes = np.abs(self.weights)
        self.lever = float(sizes @ u)
        phase = UNIT * (2.0 * np.abs(value.imag) + 4.0 * u * abs(epsilon) + 2.0 * np.abs(value.real - self.height))
        # the node at u = 0 is the height itself: its error is counted once, there
        error[0] = 0.0
        relative = np.expm1(np.minimum(error + phase + 3.0 * FUNCTION + 12.0 * UNIT, 600.0))
        self.sum_error = float(sizes @ relative) * SECOND_ORDER + nodes * UNIT * float(sizes.sum())
        return True

    def _choose_step(self, epsilon: float, log_delta: float) -> None:
        c = self.c
        left = 2.0 * math.pi * c / (TOLERANCE - log_delta)
        need = TOLERANCE + self.forward_log - self.forward * epsilon - log_delta
        right = 2.0 * math.pi * (self.forward - c)[1:] / np.maximum(need[1:], 1e-3)
        self.step = min(left, max(float(right.max()), 1e-3 * left))

    def _cut(self, width: float) -> int:
        """How many nodes; also bounds what the nodes left out would add to the sum (in units of its first term)."""
        nodes = self._cut_by(width, thorough=False)
        return self._cut_by(width, thorough=True) if nodes > _FEW else nodes

    def _cut_by(self, width: float, thorough: bool) -> int:
        cells = Cells(width)
        beyond = cells.sums_beyond(np.exp(-self.slices.decay(cells, thorough)), self.step)
        dropped = beyond * (self.c * (self.c + 1.0) / self.step * SECOND_ORDER)
        wanted = math.exp(-TOLERANCE) * width / self.step
        most = int(math.log(max(self.nodes_allowed * self.step / width, 1.0)) / math.log(RATIO))
        cell = min(int((dropped > wanted).sum()), COUNT - 1, most)  # dropped falls from cell to cell
        self.dropped = float(dropped[cell])
        return math.ceil(width * RATIO**cell / self.step)

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta(epsilon) and its slope, uncertified: what the search for an epsilon goes by."""
        total, swing = self._sum(epsilon)
        if total <= 0.0:
            return -math.inf, -self.c
        self.total = total
        return self._scale(epsilon) + math.log(total), -self.c + swing / total

    def error(self, epsilon: float) -> float:
        """About how far the certified ends of log delta(epsilon) lie from the estimate."""
        return self._scale_error(epsilon, self.saddle.log_delta) + 1.001 * (self.sum_error + self.dropped) / self.total

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon)."""
        high = self._sum(epsilon)[0] + self.sum_error + self._moved(epsilon) + self.dropped
        scale = self._scale(epsilon)
        bound = scale + self._scale_error(epsilon, scale) + math.log(high) if high > 0.0 else math.inf
        return min(bound, self.markov(epsilon))

    def markov(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon) from the real axis alone (paper S, Proposition 14)."""
        bound = float((self.forward_log - self.forward * epsilon).min())
        return bound + 8.0 * UNIT * (abs(bound) + float(self.forward[-1]) * abs(epsilon) + 1.0)

    def markov_epsilon(self, log_delta: float) -> float:
        """An epsilon at which `markov` is at most log_delta."""
        epsilon = float(((self.forward_log - log_delta) / self.forward).min())
        return epsilon + 16.0 * UNIT * (abs(epsilon) + abs(log_delta) / self.c + 1.0 / self.c)

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta(epsilon), -inf if nothing is proved."""
        scale = self._scale(epsilon)
        span = 2.0 * math.pi / self.step
        aliased = (self.forward_log - self.forward * epsilon - span * (self.forward - self.c) - scale)[1:]
        beyond = math.exp(min(700.0, float(aliased.min()))) / -math.expm1(-span * float(self.forward[1] - self.c))
        before = math.exp(min(700.0, -scale - span * self.c)) / -math.expm1(-span * self.c)
        low = self._sum(epsilon)[0] - self.sum_error - self._moved(epsilon) - self.dropped
        low -= (beyond + before) * (1.0 + 1e-9)
        return scale - self._scale_error(epsilon, scale) + math.log(low) if low > 0.0 else -math.inf

    def _sum(self, epsilon: float) -> tuple[float, float]:
        """The sum over the nodes in units of its first term, and its derivative in epsilon beyond the factor."""
        turned = self.weights * np.exp((-1j * (epsilon - self.anchor)) * self.u)
        return float(turned.real.sum()), float(self.u @ turned.imag)

    def _scale(self, epsilon: float) -> float:
        c = self.c
        return self.height - c * epsilon - math.log(c) - math.log1p(c) + math.log(self.step / math.pi)

    def _scale_error(self, epsilon: float, scale: float) -> float:
        c = self.c
        size = abs(self.height) + abs(c * epsilon) + abs(math.log(c)) + math.log1p(c) + abs(math.log(self.step))
        return self.height_error + 8.0 * UNIT * (size + abs(scale) + 6.0)

    def _moved(self, epsilon: float) -> float:
        return self.lever * abs(epsilon - self.anchor) * 4.0 * UNIT
