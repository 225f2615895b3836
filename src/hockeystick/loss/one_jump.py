"""Sparse sampling between the normal bulk and the single large loss: the large step is integrated over, the others as they come.

With nu the mark of a large step (`parted_cells.py`) and n steps, for every epsilon

    delta = E[(1 - e^{eps-S})+; none large] + n E[nu (1 - e^{eps-S})+] - (what two large steps count twice),

the last at most n^2 (E nu)^2.  Given the loss L of the marked step, what is left is delta of the other n - 1 steps:

    E[nu (1 - e^{eps-S})+] = E_Q[nu g(x)],    g(x) = (1 + x) delta'(eps - log(1 + x)),    e^L = 1 + x.

delta' is convex in e^eps, so g is convex in x (a perspective), and it grows.  On each cell of a fine partition g lies below its
chord, and above it by no more than a quarter of the cell times the difference of the neighbouring slopes; the same of nu, whose
slope is known (docs/mathematics.md, section 7a).
"""

import math

import numpy as np

from ..numerics.rounding import FUNCTION, UNIT, exp_up
from ..numerics.series import Array
from .composed import ComposedLoss
from .contour import Saddle, contours
from .contour_many import contour_ends
from .noise import TooFine
from .parted import Parted
from .parted_marks import Sketch, parts
from .plan import estimate, guess
from .sampled import SampledGaussianLoss
from .search import ends, root

_CELLS = 12000
_PLACES = (0.05, 0.15, 0.4)  # of the others' epsilons, where contours are laid
_NODES = 1000
_DENSE = 1e6  # draws of the record, on average
_NEAR, _TRIES = 0.02, 6
_FEW, _TINY = 1e-300, 1e-290  # a mass that has lost digits; more than all that underflows
_SLACK = 1e-9  # relative, of the sums: far more than their rounding


class _Rest:
    """delta of the steps but one, at some epsilons y from above to below."""

    def __init__(self, run: ComposedLoss, loss: SampledGaussianLoss, y: Array) -> None:
        others = tuple((one, count - (one == loss)) for one, count in run.terms)
        rest = ComposedLoss(tuple((one, count) for one, count in others if count))
        self.loss, self.y = loss, y
        low, high = np.full(y.size, -math.inf), np.zeros(y.size)
        for share in _PLACES if rest.terms else ():
            contour = next(contours(rest, Saddle.of_epsilon(rest, share * float(y[0]))))
            if not (0 < contour.planned() <= _NODES and contour.lay()):
                raise TooFine
            with np.errstate(all="ignore"):
                one, two = contour_ends(contour, y)
            low, high = np.fmax(low, one), np.fmin(high, two)
        # delta falls in y
        self.high = np.minimum.accumulate(high[::-1])[::-1]
        with np.errstate(divide="ignore"):
            self.low = np.maximum(np.maximum.accumulate(low), np.log(np.maximum(-np.expm1(y), 0.0)))


class OneJump(Parted):
    """A run near one epsilon, the large step of which is integrated over."""

    def __init__(self, sketch: Sketch) -> None:
        least, most = sketch.span
        y = np.linspace(most, least, _CELLS + 1)
        tables = [_Rest(sketch.run, loss, y) for loss, _ in sketch.marked]
        with np.errstate(all="ignore"):  # what is not finite proves nothing
            super().__init__(sketch)
        if not all(map(math.isfinite, (*self.contour.sum_error, *self.contour.fixed))):
            raise TooFine
        self._rests = [(table, *one) for table, one in zip(tables, self.steps, strict=True)]
        # the edges of the cells err: a mark that matters has a slope of less than 40 over its width, and delta hardly falls
        # faster than the contour's terms
        slip = max(rest.loss.slip(float(np.abs(sketch.epsilon - y).max())) for rest, _, _ in self._rests)
        if not slip * (40.0 * (1.0 + sketch.marks.high) / sketch.marks.high_width + 4.0 * self.pace) < _SLACK:
            raise TooFine
        # P(two are large)
        self._twice = math.fsum(count * (step.q + step.drift) for step, count in self.steps) ** 2 * (1.0 + 1e-6)

    def _bound_taken(self) -> None:
        self._taken = []

    def _jump(self, epsilon: float) -> tuple[float, float]:
        """Both ends of n E[nu (1 - e^{eps-S})+], over all steps."""
        low = high = 0.0
        for rest, step, count in self._rests:
            one, two = _integral(rest, step.marks.high, step.marks.high_width, epsilon)
            low, high = low + count * one, high + count * two
        return low * (1.0 - _SLACK), high * (1.0 + _SLACK)

    def _sides(self, epsilon: float) -> tuple[float, float, float]:
        low, high = self._jump(epsilon)
        middle = 0.5 * (low + high)
        return middle, 0.5 * (high - low) + self._twice, self.beside(epsilon)

    def estimate(self, epsilon: float) -> tuple[float, float]:
        width = 1e-4 / self.pace
        values = []
        for place in (epsilon, epsilon + width):
            total = self._sides(place)[0] + math.exp(min(self.inner.estimate(place)[0], 1.0))
            values.append(math.log(max(total, 1e-300)))
        return values[0], min((values[1] - values[0]) / width, -1e-3 * self.pace)


def _integral(rest: _Rest, mark: float, width: float, epsilon: float) -> tuple[float, float]:
    """Both ends of E_Q[nu g(x)]."""
    from scipy.special import ndtr

    edges = epsilon - rest.y  # losses, growing
    log_p, log_q, error = rest.loss.masses(edges)
    v = np.exp(edges)  # 1 + x
    span = np.diff(v)
    with np.errstate(under="ignore", over="ignore"):
        p, q = np.exp(log_p), np.exp(log_q)
        turn = (v - 1.0 - mark) * (1.0 / width)
        nu = ndtr(turn)
        slope = np.exp(-0.5 * turn * turn) * (1.0 / (width * math.sqrt(2.0 * math.pi)))
        top, bottom = v * np.exp(rest.high), v * np.exp(rest.low)
    inner = q[1:-1]
    where = np.clip((p[1:-1] / np.maximum(inner, 1e-320) - v[:-1]) / span, 0.0, 1.0)  # the mean of x within the cell
    off = (2.0 * (error if isinstance(error, float) else error[1:-1]) + 64.0 * UNIT) * (1.0 + v[:-1] / span)
    mean_low, mean_high = np.maximum(where - off, 0.0), np.minimum(where + off, 1.0)
    peak = np.where(
        (turn[:-1] < 0.0) & (turn[1:] > 0.0), 1.0 / (width * math.sqrt(2.0 * math.pi)), np.maximum(slope[:-1], slope[1:])
    )
    bend = (2.0 * peak - slope[:-1] - slope[1:]) * (0.25 * span)  # nu is convex up to the mark and concave from there on
    rise, over, under = np.diff(nu), np.diff(top), np.diff(bottom)  # none is negative
    # upwards: chords of both, and a mean square at most the mean
    most = nu[:-1] * top[:-1] + mean_high * (rise * top[:-1] + nu[:-1] * over + rise * over) + bend * top[1:]
    # downwards: below the chord by a quarter of the difference of the slopes on both sides
    before = np.concatenate(([0.0], (bottom[1:-1] - top[:-2]) / span[:-1]))
    after = np.concatenate(((top[2:] - bottom[1:-1]) / span[1:], [math.inf]))
    gap = np.minimum((after - np.maximum(before, 0.0)) * (0.25 * span), bottom[1:])
    least = nu[:-1] * bottom[:-1] + mean_low * (rise * bottom[:-1] + nu[:-1] * under) + mean_low**2 * (rise * under)
    least -= bend * bottom[1:] + gap * nu[1:]
    scale = 1.0 + (error if isinstance(error, float) else error[1:-1]) + 4.0 * FUNCTION
    high = float((inner * most) @ scale) + float(nu[0]) * exp_up(float(rest.high[0]))
    high += (float(p[-1]) + float(p[1:-1][inner < _FEW].sum())) * (1.0 + _SLACK)  # beyond, and where Q's masses underflow
    low = float(np.maximum(inner * least, 0.0) @ (2.0 - scale))
    return low, high + _TINY


def jump_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""
    if not parts(run, _DENSE):
        raise TooFine
    epsilon = guess(run, log_delta)
    for _ in range(_TRIES):
        found = OneJump(Sketch(run, epsilon, log_delta, jump=True))
        reached = root(found.estimate, log_delta, epsilon, 1e-6)
        if abs(reached - epsilon) < _NEAR * epsilon:
            return ends(found, log_delta, slack, reached)
        epsilon = reached
    raise TooFine


def jump_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""
    if not parts(run, _DENSE):
        raise TooFine
    level = min(estimate(run, epsilon), -1.0)
    for _ in range(_TRIES):
        found = OneJump(Sketch(run, epsilon, level, jump=True))
        reached = found.estimate(epsilon)[0]
        if abs(reached - level) < 1.0:
            return found.lower(epsilon), min(0.0, found.upper(epsilon))
        level = reached
    raise TooFine
