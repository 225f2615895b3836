"""delta(epsilon) as a contour integral of the cumulant function, with both ends certified.

For c > 0 inside the strip of K (docs/mathematics.md, section 2),

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
from ..numerics.series import Array, ComplexArray
from .composed import ComposedLoss
from .noise import TooFine

TOLERANCE = 33.0  # -log of the relative size allowed to each discretisation error
_FEW = 40  # nodes beyond which a more thorough proof of the decay pays
_FORWARD = np.array([0.0, 0.4, 1.2, 3.0, 6.5])


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
    def of_delta(run: ComposedLoss, log_delta: float) -> "Saddle":
        """For the epsilon at which delta has this logarithm."""
        c = _even(run.saddle_of_delta(log_delta))
        width, height = Saddle._shape(run, c)
        return Saddle(c, width, (height - log_delta) / c, log_delta)

    @staticmethod
    def of_epsilon(run: ComposedLoss, epsilon: float) -> "Saddle":
        """For delta at this epsilon."""
        c = _even(run.saddle_of_epsilon(epsilon))
        width, height = Saddle._shape(run, c)
        return Saddle(c, width, epsilon, min(0.0, height - c * epsilon))

    @staticmethod
    def _shape(run: ComposedLoss, c: float) -> tuple[float, float]:
        """The width, and log delta + c epsilon by the saddle-point approximation."""
        value, _, second = run.expand(c)
        bend = second + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2
        return 1.0 / math.sqrt(bend), value - math.log(c) - math.log1p(c) - 0.5 * math.log(2.0 * math.pi * bend)


def _even(c: float) -> float:
    """A number near c for which 1 + c is exact, so that both orders of a pair see the same contour."""
    return (1.0 + c) - 1.0


def log_markov(s: Array) -> Array:
    """log of s^s / (1+s)^{1+s}: delta(x) <= exp(this + K(s) - s x)."""
    value: Array = -np.log1p(s) - s * np.log1p(1.0 / s)
    return value


class Contour:
    """One contour, good for all epsilons near the one it was made for: bounds from the real axis; once laid, from its nodes.

    The ordered pairs of the run share its nodes, but for those whose delta is far below the first one's: of them the bound from
    the real axis is enough.  What is told is the largest delta among all.
    """

    def __init__(self, run: ComposedLoss, saddle: Saddle) -> None:
        self.c = saddle.c
        self.saddle, self.nodes_allowed = saddle, run.nodes_allowed
        self.slices = run.slice(saddle.c, saddle.ahead, 12.0 * saddle.width)
        self.forward = self.c + _FORWARD * saddle.width
        markov = log_markov(self.forward)
        self.forward_log = markov * (1.0 - 2.0 * FUNCTION) + self.slices.above(self.forward)  # markov is negative: rounded up
        self.forward_size = float(np.abs(self.forward_log).max()) + float(np.abs(markov).max()) + 1.0

    def lay(self, every: bool = False) -> bool:
        """Lays the nodes, for every pair or for those that seem to matter; False if they could not prove anything."""
        c, epsilon = self.c, self.saddle.epsilon
        if c * abs(epsilon) * UNIT > 0.01 or not math.isfinite(float(self.forward_log[:, 0].max())):
            return False  # rounding alone would drown the answer
        far = self._markov_epsilons(self.saddle.log_delta) < epsilon - 0.5 / c
        self.rows = [0, *(row for row in range(1, far.size) if every or not far[row])]
        self.live = self.slices.keep(self.rows) if len(self.rows) < far.size else self.slices
        self.ahead_log = self.forward_log[self.rows, 1:]
        self._choose_step(epsilon, self.saddle.log_delta)
        nodes = self._cut(self.saddle.width)
        if self.dropped > 1e-8 * self.saddle.width / self.step:
            return False  # the lattice will do better
        try:
            value, error = self.live.values(self.step, nodes)
        except TooFine:
            return False
        self.height = value[:, 0].real.copy()
        self.u = u = self.step * np.arange(nodes)
        w = np.empty(nodes, dtype=np.complex128)
        w.real, w.imag = c, u
        kernel = (c * (c + 1.0)) / (w * (w + 1.0))
        kernel[0] = 0.5
        value -= self.height[:, None]
        if float(value.real.max()) > 1.0:
            return False  # |phi| is largest at u = 0: rounding has drowned it
        phase = UNIT * (2.0 * np.abs(value) + (4.0 * abs(epsilon) * u + 12.0) + 3.0 * FUNCTION / UNIT)
        value -= 1j * (u * epsilon)
        self.anchor = epsilon
        self.weights = kernel * np.exp(value)
        sizes = np.abs(self.weights)
        self.lever = sizes @ u
        base = abs(math.log(c)) + math.log1p(c) + abs(math.log(self.step)) + 6.0
        # the height is a number taken out of every term, not an estimate: errors of K count in the terms
        self.height_error = 8.0 * UNIT * (np.abs(self.height) + base)
        relative = np.expm1(np.minimum(error + phase, 600.0))
        self.sum_error = (sizes * (relative * SECOND_ORDER + nodes * UNIT)).sum(axis=1)
        self._fixed = self.height - math.log(c) - math.log1p(c) + math.log(self.step / math.pi)
        return True

    def _choose_step(self, epsilon: float, log_delta: float) -> None:
        c = self.c
        left = 2.0 * math.pi * c / (TOLERANCE - log_delta)
        need = self.ahead_log.max(axis=0) - self.forward[1:] * epsilon + (TOLERANCE - log_delta)
        right = (2.0 * math.pi) * (self.forward[1:] - c) / np.maximum(need, 1e-3)
        self.step = min(left, max(float(right.max()), 1e-3 * left))

    def _cut(self, width: float) -> int:
        """How many nodes; also bounds what the nodes left out would add to the sum (in units of its first term)."""
        nodes = self._cut_by(width, thorough=False)
        return nodes if nodes <= _FEW else self._cut_by(width, thorough=True)

    def _cut_by(self, width: float, thorough: bool) -> int:
        cells = Cells(width)
        beyond = cells.sums_beyond(np.exp(-self.live.decay(cells, thorough)), self.step)
        dropped = beyond * (self.c * (self.c + 1.0) / self.step * SECOND_ORDER)
        wanted = math.exp(-TOLERANCE) * width / self.step
        most = int(math.log(max(self.nodes_allowed * self.step / width, 1.0)) / math.log(RATIO))
        cell = min(int((dropped > wanted).sum()), COUNT - 1, most)  # dropped falls from cell to cell
        self.dropped = float(dropped[cell])
        return math.ceil(width * RATIO**cell / self.step)

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta(epsilon) and its slope, uncertified: what the search for an epsilon goes by."""
        turned = self._turned(epsilon)
        totals, swings = turned.real.sum(axis=1).tolist(), (turned.imag @ self.u).tolist()
        best = (-math.inf, -self.c)
        for total, swing, fixed in zip(totals, swings, self._fixed.tolist(), strict=True):
            if total > 0.0:
                best = max(best, (fixed - self.c * epsilon + math.log(total), swing / total - self.c))
        self.total: float = max(totals[0], 1e-300)
        return best

    def error(self, epsilon: float) -> float:
        """About how far the certified ends of log delta(epsilon) lie from the last estimate."""
        size = 8.0 * UNIT * (2.0 * abs(self.c * epsilon) + abs(self.saddle.log_delta))
        lost = (float(self.sum_error[0]) + self.dropped) / self.total
        return (float(self.height_error[0]) + lost) * 1.001 + size

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon)."""
        high = self._turned(epsilon).real.sum(axis=1) + self._lost(epsilon)
        scale = self._fixed - self.c * epsilon
        bound = scale + self._scale_error(epsilon, scale) + np.log(np.maximum(high, 1e-300))
        proved = self._markovs(epsilon)
        proved[self.rows] = np.minimum(proved[self.rows], bound)
        return float(proved.max())

    def _markovs(self, epsilon: float) -> Array:
        """Certified upper bounds of log delta(epsilon) from the real axis alone, one for each ordered pair."""
        bounds: Array = (self.forward_log - self.forward * epsilon).min(axis=1)
        return bounds + 8.0 * UNIT * (self.forward_size + float(self.forward[-1]) * abs(epsilon))

    def _markov_epsilons(self, log_delta: float) -> Array:
        """Epsilons at which these bounds are at most log_delta."""
        epsilons: Array = ((self.forward_log - log_delta) / self.forward).min(axis=1)
        return epsilons + 16.0 * UNIT * (np.abs(epsilons) + (self.forward_size + abs(log_delta)) / self.c)

    def short(self, epsilon: float) -> bool:
        """Whether a pair that was left out may matter at this epsilon after all."""
        absent = [row for row in range(self.forward_log.shape[0]) if row not in self.rows]
        return bool(absent) and float(self._markovs(epsilon)[absent].max()) > self.lower(epsilon)

    def markov(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon) from the real axis alone (paper S, Proposition 14)."""
        return float(self._markovs(epsilon).max())

    def markov_epsilon(self, log_delta: float) -> float:
        """An epsilon at which `markov` is at most log_delta."""
        return float(self._markov_epsilons(log_delta).max())

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta(epsilon), -inf if nothing is proved."""
        scale = self._fixed - self.c * epsilon
        span = 2.0 * math.pi / self.step
        ahead = self.forward[1:] - self.c
        aliased = (self.ahead_log - self.forward[1:] * epsilon - span * ahead).min(axis=1)
        aliased = aliased + 8.0 * UNIT * (self.forward_size + float(self.forward[-1]) * abs(epsilon) + span * float(ahead[-1]))
        beyond = np.exp(np.minimum(aliased - scale, 700.0)) / -math.expm1(-span * float(ahead[0]))
        before = np.exp(np.minimum(-scale - span * self.c, 700.0)) / -math.expm1(-span * self.c)
        low = self._turned(epsilon).real.sum(axis=1) - self._lost(epsilon) - (beyond + before) * (1.0 + 1e-9)
        error = self._scale_error(epsilon, scale)
        proved = [float(s - e) + math.log(x) for s, e, x in zip(scale, error, low, strict=True) if x > 0.0]
        return max(proved, default=-math.inf)

    def _turned(self, epsilon: float) -> ComplexArray:
        """The terms of the sum at this epsilon, in units of the first."""
        turned: ComplexArray = self.weights * np.exp((-1j * (epsilon - self.anchor)) * self.u)
        return turned

    def _lost(self, epsilon: float) -> Array:
        """Bounds of the errors of the sums, in the same units."""
        moved: Array = self.lever * (abs(epsilon - self.anchor) * 4.0 * UNIT)
        lost: Array = self.sum_error + (moved + self.dropped)
        return lost

    def _scale_error(self, epsilon: float, scale: Array) -> Array:
        return self.height_error + 8.0 * UNIT * (np.abs(scale) + abs(self.c * epsilon))
