"""delta(epsilon) as a contour integral of the cumulant generating function, with both ends certified.

docs/mathematics/contour.md: Lemma 5 is the integral along w = c + i u for c > 0, Lemma 6 the aliasing error of the trapezoidal
rule (every term of it non-negative, bounded by delta <= 1 on the left and by Lemma 4 on the right), Lemma 7 the truncation error
(by the proved decay of |exp K| on cells of u), Lemma 7a the same for 1 - delta with -1 < c < 0; section 14 the rounding.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...native import loops
from ...native.loops import loop
from ...numerics.cancellation_free import Array, ComplexArray
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ...numerics.trapezoid import COUNT, RATIO, Cells
from ..composed import ComposedLoss
from ..protocol import ContourRun, Expandable, Inconclusive, SaddleRun


@dataclass(frozen=True)
class Tuning:
    """What no proof depends on.  The compiled core has the same numbers, and a test compares them."""

    log_tolerance: float = 29.0
    """-log of the relative size allowed to the aliasing and truncation errors, 2.5e-13: less takes more nodes for nothing, as the
    rounding of a thousand steps is more than that (docs/mathematics/example.md)."""
    widths_ahead: tuple[float, ...] = (0.0, 0.4, 1.2, 3.0, 6.5)
    """Where K is bounded right of c, in widths of the bump: Lemma 4 is sharp at near ones, far ones allow a long step."""
    max_nodes_at_saddle: int = 250
    """With more, contours left of the saddle point are tried first: they take fewer nodes, but digits cancel."""
    left_shares: tuple[float, ...] = (0.75, 0.55)
    """Where those are, in shares of the saddle point: a hundred nodes suffice there (docs/mathematics/contour.md, Lemma 5)."""
    max_truncation: float = 1e-8
    """Relative to the sum: if the nodes allowed leave out more, a lattice does better."""


TUNING = Tuning()

_Terms = tuple[ComplexArray, Array, list[float], list[float], list[float]]


@loop(loops.terms)
def _terms(value: ComplexArray, error: Array, step: float, c: float, epsilon: float) -> _Terms | None:
    """From K at the nodes and its errors: the terms of the sum, in units of the first one's size, and bounds of their errors; for
    each row K at the first node, the sum of |term| u and that of the errors.  None if rounding exceeds the first one.
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
    if float(error.max()) > 600.0:  # |phi(c + iu)| <= phi(c), which is known up to e^error
        most = np.abs(kernel) * np.exp(np.minimum(value.real + error, first)) * SECOND_ORDER
        errors = np.where(error > 600.0, most + sizes, errors)
    return weights, errors, height, (sizes @ u).tolist(), errors.sum(axis=1).tolist()


@loop(loops.truncate)
def _truncation(decay: Array, width: float, step: float, wanted: float, most: int) -> tuple[int, float]:
    """The cell of u beyond which the sum may be truncated, by the decay of phi, and a bound of the rest (Lemma 7)."""
    beyond = Cells(width).sums_beyond(np.exp(-decay), step)
    cell = min(int((beyond > wanted).sum()), COUNT - 1, most)  # the rest falls from cell to cell
    return cell, float(beyond[cell])


@dataclass(frozen=True)
class Saddle:
    """A saddle point c of the integrand, the width of its bump along u, and about the epsilon and log delta it is for."""

    c: float
    width: float
    epsilon: float
    log_delta: float

    @property
    def ahead(self) -> float:
        """How far right of c bounds of K are wanted."""
        return max(0.0, self.c + TUNING.widths_ahead[-1] * self.width)

    @staticmethod
    def of_delta(run: ComposedLoss, log_delta: float) -> "Saddle":
        """For the epsilon at which delta has this logarithm."""
        c = exact_beside_one(run.saddle_of_delta(log_delta))
        width, height = Saddle.shape(run, c)
        return Saddle(c, width, (height - log_delta) / c, log_delta)

    @staticmethod
    def of_epsilon(run: SaddleRun, epsilon: float) -> "Saddle":
        """For delta at this epsilon."""
        c = exact_beside_one(run.saddle_of_epsilon(epsilon))
        width, height = Saddle.shape(run, c)
        return Saddle(c, width, epsilon, min(0.0, height - c * epsilon))

    def shifted_left(self, run: Expandable, share: float) -> "Saddle":
        """Nearer to 0, with this saddle point among the places where K is bounded ahead.

        Where large steps are rare K bends sharply up, and the saddle point is there: its bump is narrow, so that many nodes are
        needed.  Left of it the terms are larger than their sum, but few.
        """
        c = exact_beside_one(share * self.c)
        width = min(Saddle.shape(run, c)[0], (self.c - c) / TUNING.widths_ahead[2])
        return Saddle(c, width, self.epsilon, self.log_delta)

    @staticmethod
    def shape(run: Expandable, c: float) -> tuple[float, float]:
        """The width, and log delta + c epsilon by the saddle-point approximation."""
        value, _, second = run.expand(c)
        bend = second + 1.0 / (c * c) + 1.0 / (1.0 + c) ** 2
        return 1.0 / math.sqrt(bend), value - math.log(abs(c)) - math.log1p(c) - 0.5 * math.log(2.0 * math.pi * bend)


def exact_beside_one(c: float) -> float:
    """A number near c for which 1 + c is exact, so that both orders of a pair see the same contour."""
    return (1.0 + c) - 1.0


def log_markov_constant(s: float) -> float:
    """log of s^s / (1+s)^{1+s}: delta(x) <= exp(this + K(s) - s x) (docs/mathematics/contour.md, Lemma 4: one real point)."""
    return -math.log1p(s) - s * math.log1p(1.0 / s)


def candidate_contours(run: ComposedLoss, first: "Contour") -> "Iterator[Contour]":
    """The one through the saddle point; if that takes many nodes, first some with few of them, left of it."""
    if not 0 < first.node_count() <= TUNING.max_nodes_at_saddle:
        for share in TUNING.left_shares:
            other = Contour(run, first.saddle.shifted_left(run, share))
            if 0 < other.node_count() <= TUNING.max_nodes_at_saddle:
                yield other
    yield first


class Contour:
    """One contour, good for all epsilons near the one it was made for: bounds from the real axis; once evaluated, from its nodes.

    They are of delta, or of 1 - delta if c is negative (then for one ordered pair only).

    The ordered pairs of the run share its nodes, but for those whose delta is far below the first one's: of them Markov's
    inequality is enough.  The largest delta among all is bounded.  Attributes with one entry for each pair are lists, not
    arrays: there are only one or two of them.
    """

    def __init__(self, run: ContourRun, saddle: Saddle) -> None:
        self.c, self.step = saddle.c, 0.0
        self._planned_pairs: bool | None = None
        self.saddle, self.nodes_allowed = saddle, run.nodes_allowed
        self.slices = run.slice(saddle.c, saddle.ahead)
        if self.c > 0.0:
            self.points_ahead = [self.c + step * saddle.width for step in TUNING.widths_ahead]
            markov = [log_markov_constant(s) for s in self.points_ahead]
        else:  # away from 0 here, too, but not as far as -1
            room = 1.0 + self.c
            self.points_ahead = [
                max(-1.0, self.c + room * math.expm1(-step * saddle.width / room)) for step in TUNING.widths_ahead
            ]
            markov = [0.0 for _ in self.points_ahead]
        above = self.slices.cumulant_above(np.array(self.points_ahead)).tolist()
        if self.c < 0.0:
            self.points_ahead, markov, above = [*self.points_ahead, -1.0], [*markov, 0.0], [[*row, 0.0] for row in above]
        # markov is negative: rounded up
        self.log_markov_ahead = [[m * (1.0 - 2.0 * FUNCTION) + k for m, k in zip(markov, row, strict=True)] for row in above]
        largest = max(max(abs(one) for one in row) for row in self.log_markov_ahead)
        self.size_ahead = largest + max(abs(m) for m in markov) + 1.0

    def node_count(self, every_pair: bool = False) -> int:
        """How many nodes there will be, for every pair or for those that seem to matter; 0 if they could not prove anything."""
        if self._planned_pairs != every_pair:
            self._planned_pairs, self.nodes = every_pair, self._plan(every_pair)
        return self.nodes

    def _plan(self, every_pair: bool) -> int:
        c, epsilon = self.c, self.saddle.epsilon
        if abs(c * epsilon) * UNIT > 0.01 or not all(math.isfinite(row[0]) for row in self.log_markov_ahead):
            return 0  # rounding alone would exceed the answer
        pairs = len(self.log_markov_ahead)
        if every_pair or pairs == 1:
            self.used_rows = list(range(pairs))
        else:
            near = self.markov_epsilons(self.saddle.log_delta)
            self.used_rows = [row for row in range(pairs) if row == 0 or near[row] >= epsilon - 0.5 / c]
        self.omitted_rows = [row for row in range(pairs) if row not in self.used_rows]
        self.used_slices = self.slices.keep(self.used_rows) if self.omitted_rows else self.slices
        self._choose_step(epsilon, self.saddle.log_delta)
        nodes = self._truncate(self.saddle.width)
        return nodes if self.truncation_error <= TUNING.max_truncation * self.saddle.width / self.step else 0

    def evaluate(self, every_pair: bool = False) -> bool:
        """Evaluates the integrand at the nodes, of every pair or of those that seem to matter; False if that proves nothing."""
        c, epsilon, nodes = self.c, self.saddle.epsilon, self.node_count(every_pair)
        if not nodes:
            return False
        try:
            value, error = self.used_slices.values(self.step, nodes)
        except Inconclusive:
            return False
        self.anchor = epsilon
        self.u = self.step * np.arange(nodes)
        first = error[:, 0].tolist()
        if not self._weigh(value, error):
            return False  # |phi| is largest at u = 0: rounding exceeds it
        base = abs(math.log(abs(c))) + abs(math.log1p(c)) + abs(math.log(self.step)) + 6.0
        # the height is a number taken out of every term, not an estimate: errors of K count in the terms
        self.height_error = [8.0 * UNIT * (abs(height) + base) for height in self.height]
        # the truncation error is relative to the true first term
        for row, off in enumerate(first):
            self.sum_error[row] += self.truncation_error * math.expm1(off)
        scale = math.log(self.step / math.pi) - math.log(abs(c)) - math.log1p(c)
        self.log_scale = [height + scale for height in self.height]
        return True

    def _weigh(self, value: ComplexArray, error: Array) -> bool:
        """The terms of the sum at the anchor, in units of the first one's size, and bounds of their errors."""
        if (found := _terms(value, error, self.step, self.c, self.anchor)) is None:
            return False
        self.weights, self.errors, self.height, self.abs_moment, self.sum_error = found
        return True

    def _choose_step(self, epsilon: float, log_delta: float) -> None:
        """The longest step whose aliasing error is about as small as wanted (docs/mathematics/contour.md, Lemma 6)."""
        c, right, needed = self.c, 0.0, TUNING.log_tolerance - log_delta
        left = 2.0 * math.pi * abs(c) / needed
        for place, s in enumerate(self.points_ahead[1:], start=1):
            need = (
                max(self.log_markov_ahead[row][place] for row in self.used_rows)
                - s * epsilon
                + (TUNING.log_tolerance - log_delta)
            )
            right = max(right, 2.0 * math.pi * abs(s - c) / max(need, 1e-3))
        self.step = min(left, max(right, 1e-3 * left))

    def _truncate(self, width: float) -> int:
        """How many nodes; also the truncation error, in units of the first term (docs/mathematics/contour.md, Lemma 7)."""
        cells = Cells(width)
        decay = self.used_slices.decay(cells)
        factor = abs(self.c) * (self.c + 1.0) / self.step * SECOND_ORDER
        wanted = math.exp(-TUNING.log_tolerance) * width / self.step / factor
        most = int(math.log(max(self.nodes_allowed * self.step / width, 1.0)) / math.log(RATIO))
        cell, rest = _truncation(decay, width, self.step, wanted, most)
        self.truncation_error = rest * factor
        return math.ceil(width * RATIO**cell / self.step)

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta(epsilon) and its slope, uncertified: the search for an epsilon follows it."""
        totals, slopes = self._moments(epsilon)
        best = (-math.inf, -self.c)
        for total, slope, log_scale in zip(totals, slopes, self.log_scale, strict=True):
            if total > 0.0:
                best = max(best, (log_scale - self.c * epsilon + math.log(total), slope / total - self.c))
        self.total: float = max(totals[0], 1e-300)
        return best

    def error(self, epsilon: float) -> float:
        """About how far the certified ends of log delta(epsilon) lie from the last estimate."""
        size = 8.0 * UNIT * (2.0 * abs(self.c * epsilon) + abs(self.saddle.log_delta))
        lost = self.sum_error[0] + self.truncation_error + 2.0 * math.exp(-TUNING.log_tolerance)
        error: float = (self.height_error[0] + lost / self.total) * 1.001 + size
        return error

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon)."""
        proved = self._markov_log_deltas(epsilon)
        for row, (total, lost, scale, error) in zip(self.used_rows, self._sums(epsilon), strict=True):
            proved[row] = min(proved[row], scale + error + math.log(max(total + lost, 1e-300)))
        return max(proved)

    def _markov_log_deltas(self, epsilon: float) -> list[float]:
        """Markov's inequality for each ordered pair: certified upper bounds of log delta(epsilon) from the real axis alone."""
        slack = 8.0 * UNIT * (self.size_ahead + abs(self.points_ahead[-1] * epsilon))
        return [
            min(one - s * epsilon for one, s in zip(row, self.points_ahead, strict=True)) + slack for row in self.log_markov_ahead
        ]

    def markov_epsilons(self, log_delta: float) -> list[float]:
        """Epsilons at which these bounds are at most log_delta."""
        found = [
            min((one - log_delta) / s for one, s in zip(row, self.points_ahead, strict=True)) for row in self.log_markov_ahead
        ]
        slack = (self.size_ahead + abs(log_delta)) / self.c
        return [epsilon + 16.0 * UNIT * (abs(epsilon) + slack) for epsilon in found]

    def misses_pair(self, epsilon: float) -> bool:
        """Whether a pair that was left out may matter at this epsilon after all."""
        if not self.omitted_rows:
            return False
        proved = self._markov_log_deltas(epsilon)
        return max(proved[row] for row in self.omitted_rows) > self.lower(epsilon)

    def markov_log_delta(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon) from the real axis alone (docs/mathematics/contour.md, Lemma 4)."""
        return max(self._markov_log_deltas(epsilon))

    def markov_epsilon(self, log_delta: float) -> float:
        """An epsilon at which `markov_log_delta` is at most log_delta."""
        return max(self.markov_epsilons(log_delta))

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta(epsilon), -inf if nothing is proved: less the aliasing error (Lemma 6)."""
        span = 2.0 * math.pi / self.step
        ahead = abs(self.points_ahead[-1] - self.c)
        slack = 8.0 * UNIT * (self.size_ahead + abs(self.points_ahead[-1] * epsilon) + span * ahead)
        near = abs(self.points_ahead[1] - self.c), abs(self.c)
        if not all(span * one > 0.0 for one in near):
            return -math.inf
        wrap = [(1.0 + 1e-9) / -math.expm1(-span * one) for one in near]
        best = -math.inf
        for row, (total, lost, scale, error) in zip(self.used_rows, self._sums(epsilon), strict=True):
            terms = zip(self.log_markov_ahead[row], self.points_ahead, strict=True)
            next(terms)
            aliased = min(one - s * epsilon - span * abs(s - self.c) for one, s in terms) + slack
            beyond = math.exp(min(aliased - scale, 700.0)) * wrap[0]
            before = math.exp(min(-scale - span * near[1], 700.0)) * wrap[1]
            low = total - lost - (beyond + before)
            if low > 0.0:
                best = max(best, scale - error + math.log(low))
        return best

    @loop(loops.sums)
    def _moments(self, epsilon: float) -> tuple[list[float], list[float]]:
        """The real parts of the terms at this epsilon, summed, and the imaginary parts times u."""
        turned = self.terms_at(epsilon)
        return turned.real.sum(axis=1).tolist(), (turned.imag @ self.u).tolist()

    def terms_at(self, epsilon: float) -> ComplexArray:
        """The terms of the sum at this epsilon, in units of the first."""
        turned: ComplexArray = self.weights * np.exp((-1j * (epsilon - self.anchor)) * self.u)
        return turned

    def _sums(self, epsilon: float) -> Iterator[tuple[float, float, float, float]]:
        """For each pair that is evaluated: the sum, a bound of its error, the logarithm of its unit, and a bound of its error."""
        moved = abs(epsilon - self.anchor) * 4.0 * UNIT
        rows = zip(self._moments(epsilon)[0], self.sum_error, self.abs_moment, self.log_scale, self.height_error, strict=True)
        for total, error, abs_moment, log_scale, height_error in rows:
            scale = log_scale - self.c * epsilon
            lost = error + abs_moment * moved + self.truncation_error
            yield total, lost, scale, height_error + 8.0 * UNIT * (abs(scale) + abs(self.c * epsilon))
