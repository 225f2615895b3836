"""delta(epsilon) as a contour integral of the cumulant function, with both ends certified.

For c > 0 inside the strip of K (docs/mathematics.md, section 2),

    delta(eps) = 1/(2 pi)  integral over real u of  exp(K(w) - w eps) / (w (w+1)) du,      w = c + i u.

The trapezoidal rule of step h overshoots by sum over m != 0 of e^{2 pi m c/h} delta(eps + 2 pi m/h) (Poisson
summation), every term of which is non-negative and bounded: delta <= 1 on the left, and on the right
delta(x) <= s^s / (1+s)^{1+s} e^{K(s) - s x} for any s > c (paper S, Proposition 14).  What is cut off beyond the
last node is bounded by the proved decay of |exp K| on cells of u.

For -1 < c < 0 the same integral is -(1 - delta(eps)), to relative accuracy however small that is: 1 - delta(eps) = E min(1,
e^{eps - Z}), and min(1, e^x) e^{-tx} has the transform 1/(s (1 - s)) on 0 < s < 1.  The rule overshoots by the same sum with
1 - delta in place of delta; 1 - delta <= 1 bounds it on the right, and on the left 1 - delta(x) <= e^{K(s) - s x} for
-1 <= s < c, where K(-1) <= 0.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...native import loops
from ...native.loops import loop
from ...numerics.cancellation_free import Array, ComplexArray
from ...numerics.roots import increasing_root
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ...numerics.trapezoid import COUNT, RATIO, Cells
from ..composed import ComposedLoss
from ..protocol import Inconclusive

TOLERANCE = 29.0  # -log of the relative size allowed to each discretisation error
FORWARD = (0.0, 0.4, 1.2, 3.0, 6.5)
_MANY, SHARES = 250, (0.75, 0.55)  # nodes; of the saddle point
_EDGE = 20.0  # log of the odds of -c between -1 and 0

_Terms = tuple[ComplexArray, Array, list[float], list[float], list[float]]


@loop(loops.terms)
def _terms(value: ComplexArray, error: Array, step: float, c: float, epsilon: float) -> _Terms | None:
    """From K at the nodes and its errors: the terms of the sum, in units of the first one's size, and bounds of their errors; for
    each row K at the first node, the sum of |term| u and that of the errors.  None if rounding has drowned the first one.
    """
    nodes = value.shape[1]
    u = step * np.arange(nodes)
    height: list[float] = value[:, 0].real.tolist()
    w = np.empty(nodes, dtype=np.complex128)
    w.real, w.imag = c, u
    kernel = (c * (c + 1.0)) / (w * (w + 1.0))
    kernel[0] = 0.5
    value -= np.array(height)[:, None]
    first = error[:, :1]
    if float(value.real.max()) > 1.0 or not float(first.max()) < 1.0:
        return None
    error = error + UNIT * (2.0 * np.abs(value) + (4.0 * abs(epsilon) * u + (12.0 + 3.0 * FUNCTION / UNIT)))
    value.imag -= u * epsilon
    weights = kernel * np.exp(value)
    sizes = np.abs(weights)
    relative = np.expm1(np.minimum(error, 600.0))
    errors: Array = sizes * (relative * SECOND_ORDER + 2.0 * nodes * UNIT)  # of the terms
    if float(error.max()) > 600.0:  # |phi(c + iu)| <= phi(c), which is told up to e^error
        most = np.abs(kernel) * np.exp(np.minimum(value.real + error, first)) * SECOND_ORDER
        errors = np.where(error > 600.0, most + sizes, errors)
    return weights, errors, height, (sizes @ u).tolist(), errors.sum(axis=1).tolist()


@loop(loops.cut)
def _cut(decay: Array, width: float, step: float, wanted: float, most: int) -> tuple[int, float]:
    """The cell of u beyond which the terms may be dropped, by how the transform decays, and a bound of their sum."""
    beyond = Cells(width).sums_beyond(np.exp(-decay), step)
    cell = min(int((beyond > wanted).sum()), COUNT - 1, most)  # what is dropped falls from cell to cell
    return cell, float(beyond[cell])


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
        return max(0.0, self.c + FORWARD[-1] * self.width)

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

    def back(self, run: ComposedLoss, share: float) -> "Saddle":
        """Nearer to 0, with this saddle among the places where K is bounded ahead.

        Where large steps are rare K bends sharply up, and there the saddle is: its bump is narrow, so that many nodes are needed.
        Left of it the terms are larger than their sum, but few.
        """
        c = _even(share * self.c)
        width = min(Saddle._shape(run, c)[0], (self.c - c) / FORWARD[2])
        return Saddle(c, width, self.epsilon, self.log_delta)

    @staticmethod
    def of_complement(run: ComposedLoss, epsilon: float) -> "Saddle":
        """For 1 - delta at this epsilon: between -1 and 0, where K(c) - c epsilon - log(-c (1+c)) is least; it is convex."""

        def balance(x: float) -> tuple[float, float]:
            c = -1.0 / (1.0 + math.exp(-x))
            _, first, second = run.expand(c)
            return -(first - epsilon - 1.0 / c - 1.0 / (1.0 + c)), -c * (1.0 + c) * (second + 1.0 / (c * c) + (1.0 + c) ** -2)

        x = increasing_root(balance, 0.0, lower=-_EDGE, upper=_EDGE, stride=1.0, enough=lambda _, step: abs(step) < 0.02)
        c = _even(-1.0 / (1.0 + math.exp(-x)))
        width, height = Saddle._shape(run, c)
        return Saddle(c, width, epsilon, min(0.0, height - c * epsilon))

    @staticmethod
    def _shape(run: ComposedLoss, c: float) -> tuple[float, float]:
        """The width, and log delta + c epsilon by the saddle-point approximation."""
        value, _, second = run.expand(c)
        bend = second + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2
        return 1.0 / math.sqrt(bend), value - math.log(abs(c)) - math.log1p(c) - 0.5 * math.log(2.0 * math.pi * bend)


def _even(c: float) -> float:
    """A number near c for which 1 + c is exact, so that both orders of a pair see the same contour."""
    return (1.0 + c) - 1.0


def log_markov(s: float) -> float:
    """log of s^s / (1+s)^{1+s}: delta(x) <= exp(this + K(s) - s x)."""
    return -math.log1p(s) - s * math.log1p(1.0 / s)


def contours(run: ComposedLoss, first: "Contour") -> "Iterator[Contour]":
    """The one through the saddle; if that takes many nodes, first some with few of them, left of it."""
    if not 0 < first.planned() <= _MANY:
        for share in SHARES:
            other = Contour(run, first.saddle.back(run, share))
            if 0 < other.planned() <= _MANY:
                yield other
    yield first


class Contour:
    """One contour, good for all epsilons near the one it was made for: bounds from the real axis; once laid, from its nodes.

    What it tells is delta, or 1 - delta if c is negative (then of a run of one ordered pair).

    The ordered pairs of the run share its nodes, but for those whose delta is far below the first one's: of them the bound from
    the real axis is enough.  What is told is the largest delta among all.  What there is one of for each pair is a list, not an
    array: there are only one or two of them.
    """

    def __init__(self, run: ComposedLoss, saddle: Saddle) -> None:
        self.c, self.step = saddle.c, 0.0
        self._planned: bool | None = None
        self.saddle, self.nodes_allowed = saddle, run.nodes_allowed
        self.slices = run.slice(saddle.c, saddle.ahead)
        if self.c > 0.0:
            self.forward = [self.c + step * saddle.width for step in FORWARD]
            markov = [log_markov(s) for s in self.forward]
        else:  # away from 0 here, too, but not as far as -1
            room = 1.0 + self.c
            self.forward = [max(-1.0, self.c + room * math.expm1(-step * saddle.width / room)) for step in FORWARD]
            markov = [0.0 for _ in self.forward]
        above = self.slices.cumulant_above(np.array(self.forward)).tolist()
        if self.c < 0.0:
            self.forward, markov, above = [*self.forward, -1.0], [*markov, 0.0], [[*row, 0.0] for row in above]
        # markov is negative: rounded up
        self.forward_log = [[m * (1.0 - 2.0 * FUNCTION) + k for m, k in zip(markov, row, strict=True)] for row in above]
        largest = max(max(abs(one) for one in row) for row in self.forward_log)
        self.forward_size = largest + max(abs(m) for m in markov) + 1.0

    def planned(self, every: bool = False) -> int:
        """How many nodes there will be, for every pair or for those that seem to matter; 0 if they could not prove anything."""
        if self._planned != every:
            self._planned, self.nodes = every, self._plan(every)
        return self.nodes

    def _plan(self, every: bool) -> int:
        c, epsilon = self.c, self.saddle.epsilon
        if abs(c * epsilon) * UNIT > 0.01 or not all(math.isfinite(row[0]) for row in self.forward_log):
            return 0  # rounding alone would drown the answer
        pairs = len(self.forward_log)
        if every or pairs == 1:
            self.rows = list(range(pairs))
        else:
            near = self._markov_epsilons(self.saddle.log_delta)
            self.rows = [row for row in range(pairs) if row == 0 or near[row] >= epsilon - 0.5 / c]
        self.absent = [row for row in range(pairs) if row not in self.rows]
        self.live = self.slices.keep(self.rows) if self.absent else self.slices
        self._choose_step(epsilon, self.saddle.log_delta)
        nodes = self._cut(self.saddle.width)
        return nodes if self.dropped <= 1e-8 * self.saddle.width / self.step else 0  # the lattice will do better

    def lay(self, every: bool = False) -> bool:
        """Lays the nodes, for every pair or for those that seem to matter; False if they could not prove anything."""
        c, epsilon, nodes = self.c, self.saddle.epsilon, self.planned(every)
        if not nodes:
            return False
        try:
            value, error = self.live.values(self.step, nodes)
        except Inconclusive:
            return False
        self.anchor = epsilon
        self.u = self.step * np.arange(nodes)
        first = error[:, 0].tolist()
        if not self._weigh(value, error):
            return False  # |phi| is largest at u = 0: rounding has drowned it
        base = abs(math.log(abs(c))) + abs(math.log1p(c)) + abs(math.log(self.step)) + 6.0
        # the height is a number taken out of every term, not an estimate: errors of K count in the terms
        self.height_error = [8.0 * UNIT * (abs(height) + base) for height in self.height]
        # what is dropped is relative to the truth of the first term
        for row, off in enumerate(first):
            self.sum_error[row] += self.dropped * math.expm1(off)
        scale = math.log(self.step / math.pi) - math.log(abs(c)) - math.log1p(c)
        self.fixed = [height + scale for height in self.height]
        return True

    def _weigh(self, value: ComplexArray, error: Array) -> bool:
        """The terms of the sum at the anchor, in units of the first one's size, and bounds of their errors."""
        if (found := _terms(value, error, self.step, self.c, self.anchor)) is None:
            return False
        self.weights, self.errors, self.height, self.lever, self.sum_error = found
        return True

    def _choose_step(self, epsilon: float, log_delta: float) -> None:
        c, right = self.c, 0.0
        left = 2.0 * math.pi * abs(c) / (TOLERANCE - log_delta)
        for place, s in enumerate(self.forward[1:], start=1):
            need = max(self.forward_log[row][place] for row in self.rows) - s * epsilon + (TOLERANCE - log_delta)
            right = max(right, 2.0 * math.pi * abs(s - c) / max(need, 1e-3))
        self.step = min(left, max(right, 1e-3 * left))

    def _cut(self, width: float) -> int:
        """How many nodes; also bounds what the nodes left out would add to the sum (in units of its first term)."""
        cells = Cells(width)
        decay = self.live.decay(cells)
        factor = abs(self.c) * (self.c + 1.0) / self.step * SECOND_ORDER
        wanted = math.exp(-TOLERANCE) * width / self.step / factor
        most = int(math.log(max(self.nodes_allowed * self.step / width, 1.0)) / math.log(RATIO))
        cell, rest = _cut(decay, width, self.step, wanted, most)
        self.dropped = rest * factor
        return math.ceil(width * RATIO**cell / self.step)

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta(epsilon) and its slope, uncertified: what the search for an epsilon goes by."""
        totals, swings = self._moments(epsilon)
        best = (-math.inf, -self.c)
        for total, swing, fixed in zip(totals, swings, self.fixed, strict=True):
            if total > 0.0:
                best = max(best, (fixed - self.c * epsilon + math.log(total), swing / total - self.c))
        self.total: float = max(totals[0], 1e-300)
        return best

    def error(self, epsilon: float) -> float:
        """About how far the certified ends of log delta(epsilon) lie from the last estimate."""
        size = 8.0 * UNIT * (2.0 * abs(self.c * epsilon) + abs(self.saddle.log_delta))
        lost = self.sum_error[0] + self.dropped + 2.0 * math.exp(-TOLERANCE)
        error: float = (self.height_error[0] + lost / self.total) * 1.001 + size
        return error

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon)."""
        proved = self._markovs(epsilon)
        for row, (total, lost, scale, error) in zip(self.rows, self._sums(epsilon), strict=True):
            proved[row] = min(proved[row], scale + error + math.log(max(total + lost, 1e-300)))
        return max(proved)

    def _markovs(self, epsilon: float) -> list[float]:
        """Certified upper bounds of log delta(epsilon) from the real axis alone, one for each ordered pair."""
        slack = 8.0 * UNIT * (self.forward_size + abs(self.forward[-1] * epsilon))
        return [min(one - s * epsilon for one, s in zip(row, self.forward, strict=True)) + slack for row in self.forward_log]

    def _markov_epsilons(self, log_delta: float) -> list[float]:
        """Epsilons at which these bounds are at most log_delta."""
        found = [min((one - log_delta) / s for one, s in zip(row, self.forward, strict=True)) for row in self.forward_log]
        slack = (self.forward_size + abs(log_delta)) / self.c
        return [epsilon + 16.0 * UNIT * (abs(epsilon) + slack) for epsilon in found]

    def short(self, epsilon: float) -> bool:
        """Whether a pair that was left out may matter at this epsilon after all."""
        if not self.absent:
            return False
        proved = self._markovs(epsilon)
        return max(proved[row] for row in self.absent) > self.lower(epsilon)

    def markov(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon) from the real axis alone (paper S, Proposition 14)."""
        return max(self._markovs(epsilon))

    def markov_epsilon(self, log_delta: float) -> float:
        """An epsilon at which `markov` is at most log_delta."""
        return max(self._markov_epsilons(log_delta))

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta(epsilon), -inf if nothing is proved."""
        span = 2.0 * math.pi / self.step
        ahead = abs(self.forward[-1] - self.c)
        slack = 8.0 * UNIT * (self.forward_size + abs(self.forward[-1] * epsilon) + span * ahead)
        near = abs(self.forward[1] - self.c), abs(self.c)
        if not all(span * one > 0.0 for one in near):
            return -math.inf
        wrap = [(1.0 + 1e-9) / -math.expm1(-span * one) for one in near]
        best = -math.inf
        for row, (total, lost, scale, error) in zip(self.rows, self._sums(epsilon), strict=True):
            terms = zip(self.forward_log[row], self.forward, strict=True)
            next(terms)
            aliased = min(one - s * epsilon - span * abs(s - self.c) for one, s in terms) + slack
            beyond = math.exp(min(aliased - scale, 700.0)) * wrap[0]
            before = math.exp(min(-scale - span * near[1], 700.0)) * wrap[1]
            low = total - lost - (beyond + before)
            if low > 0.0:
                best = max(best, scale - error + math.log(low))
        return best

    def weighed(self, epsilon: float, factor: ComplexArray) -> tuple[float, float]:
        """The sum at this epsilon with every term times a factor, and a bound of the error that its terms bring in.

        Of the first ordered pair, in units of e^{fixed - c epsilon}.
        """
        size = np.abs(factor)
        moved = abs(epsilon - self.anchor) * 4.0 * UNIT
        off = float(self.errors[0] @ size) + float(np.abs(self.weights[0]) @ (size * self.u)) * moved
        return float((self._turned(epsilon)[0] * factor).real.sum()), off * (1.0 + 1e-9)

    @loop(loops.sums)
    def _moments(self, epsilon: float) -> tuple[list[float], list[float]]:
        """The real parts of the terms at this epsilon, summed, and the imaginary parts times u."""
        turned = self._turned(epsilon)
        return turned.real.sum(axis=1).tolist(), (turned.imag @ self.u).tolist()

    def _turned(self, epsilon: float) -> ComplexArray:
        """The terms of the sum at this epsilon, in units of the first."""
        turned: ComplexArray = self.weights * np.exp((-1j * (epsilon - self.anchor)) * self.u)
        return turned

    def _sums(self, epsilon: float) -> Iterator[tuple[float, float, float, float]]:
        """For each pair that is laid: the sum, a bound of its error, the logarithm of its unit, and a bound of its error."""
        moved = abs(epsilon - self.anchor) * 4.0 * UNIT
        rows = zip(self._moments(epsilon)[0], self.sum_error, self.lever, self.fixed, self.height_error, strict=True)
        for total, error, lever, fixed, height_error in rows:
            scale = fixed - self.c * epsilon
            lost = error + lever * moved + self.dropped
            yield total, lost, scale, height_error + 8.0 * UNIT * (abs(scale) + abs(self.c * epsilon))
