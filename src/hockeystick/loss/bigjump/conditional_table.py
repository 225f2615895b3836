"""delta of the steps beside a large one, in a table, and the integral over the large one (`conditional.py`).

The edges of the cells err, by at most a slip of the loss.  nu and g grow with the loss, so a slip to the right and one to the
left bound them: delta' is taken at epsilons less by the slip for the upper end, and more by it for the lower one, nu with 1 + its
place and its width scaled by e^-slip and e^slip, and all of it times e^slip and e^-slip.

docs/mathematics.md, section 7a: Lemma 19f (one jump, integrated over).
"""

import math
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.normal import log_tail_bound
from ...numerics.rounding import FUNCTION, SMALLEST, UNIT, exp_up
from ..composed import ComposedLoss
from ..contour.contour import TUNING as CONTOUR_TUNING
from ..contour.contour import Contour, Saddle
from ..contour.vectorised import equally_spaced_contour_ends, markov_log_deltas
from ..lattice.refine import lattice_log_delta
from ..protocol import Inconclusive
from ..sampled.gaussian import SampledGaussianLoss
from .guess import normal_delta


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof."""

    cells: int = 12000
    """Of the losses of the large step: the integral is enclosed to second order in their width."""
    contour_places: tuple[float, ...] = (0.05, 0.15, 0.4)
    """Shares of the largest epsilon of the others for which contours are made first."""
    max_contour_nodes: int = 4000
    """Of a contour, at each of which many epsilons are evaluated; a lattice costs less than more."""
    lattice_cells: int = 6
    """Cells of a lattice to either side of an epsilon."""
    max_refinements: int = 6
    """Contours or lattices made for further epsilons ..."""
    relative_width: float = 1e-7
    """... until the ends of the integral are as close as that."""
    loss_room: float = 1.0
    """How much larger the losses may become than they were for the first epsilon."""


TUNING = Tuning()
CELLS = TUNING.cells
_LATTICE_CELLS = np.arange(-TUNING.lattice_cells, TUNING.lattice_cells + 1)
_FEW_DIGITS, _UNDERFLOW = 1e-300, 1e-290
"""A mass that has lost digits; more than all that underflows."""
_SLACK = 1e-9
"""Relative, of masses: far more than their rounding."""
NONE = 1e-9
"""log of what is allowed for one step that is not among the others."""
_SUM_ERROR = (CELLS + 8.0) * UNIT * 2.0
"""Of adding up the cells."""


class OtherStepsTable:
    """delta of the steps but one at falling epsilons y: its upper end at y - slip, its lower end at y + slip.

    `high_none_large` is an upper end for runs of them without a large step, where that is closer.
    """

    def __init__(self, run: ComposedLoss, loss: SampledGaussianLoss, epsilon: float, y: Array) -> None:
        others = tuple((one, count - (one == loss)) for one, count in run.terms)
        rest = ComposedLoss(tuple((one, count) for one, count in others if count))
        self.loss, self.y, self.largest = loss, y, float(np.abs(epsilon - y).max()) + TUNING.loss_room
        # of the masses, of the differences of epsilons, and of the exponentials
        self.slip = loss.edge_error(self.largest) + 4.0 * UNIT * (float(np.abs(y).max()) + self.largest) + 8.0 * FUNCTION
        self._others, self._refined_at, self._contour_helps = rest, list[float](), True  # a contour
        self._low, self._high = np.full(y.size, -math.inf), np.zeros(y.size)
        with np.errstate(divide="ignore"):
            self._trivial = np.log(np.maximum(-np.expm1(y + self.slip), 0.0))
        self._bound: Array = self._high
        for share in TUNING.contour_places if rest.terms else ():
            self._add_contour(share * float(y[0]))
        self._make_monotone()

    def _add_contour(self, epsilon: float) -> bool:
        """Adds what the contour made for this epsilon proves; whether it proves anything."""
        rest = self._others
        contour = first = Contour(rest, Saddle.of_epsilon(rest, epsilon))
        for share in CONTOUR_TUNING.left_shares:
            if 0 < contour.node_count() <= TUNING.max_contour_nodes:
                break
            contour = Contour(rest, first.saddle.shifted_left(rest, share))
        if not (0 < contour.node_count() <= TUNING.max_contour_nodes and contour.evaluate()):
            return False
        with np.errstate(all="ignore"):
            self._low = np.fmax(self._low, equally_spaced_contour_ends(contour, self.y + self.slip)[0])
            self._high = np.fmin(self._high, equally_spaced_contour_ends(contour, self.y - self.slip)[1])
        return True

    def _add_lattice(self, epsilon: float) -> None:
        """Adds what a lattice made for this epsilon proves."""
        lattice_log_delta(self._others, epsilon)
        for lattice in self._others.lattices[:1]:
            low, high = lattice.log_deltas(self.y + self.slip, self.y - self.slip, _LATTICE_CELLS)
            self._low, self._high = np.fmax(self._low, low), np.fmin(self._high, high)

    def _make_monotone(self) -> None:
        """delta falls in y: both ends are made to."""
        self.high = np.minimum.accumulate(self._high[::-1])[::-1]
        self.low = np.maximum(np.maximum.accumulate(self._low), self._trivial)
        self.high_none_large = np.fmin(self.high, self._bound)

    def refine(self, threshold: float, width: float, epsilon: float, lift: float) -> bool:
        """Adds a contour, or a lattice, where the ends of the integral are farthest apart; whether it did."""
        if not self._others.terms or len(self._refined_at) >= TUNING.max_refinements:
            return False
        with np.errstate(all="ignore"):
            low, high = self._cells(threshold, width, epsilon - self.y, lift)[:2]
        gaps = high - low
        total = float(gaps.sum())
        if not total > TUNING.relative_width * float(low.sum()):
            return False
        # where the terms are, not where nothing is known of them
        if not self._refined_at and not float(low.sum()) > 0.1 * total:
            deviation = math.sqrt(sum(count * one.coarse_estimates[1] for one, count in self._others.terms))
            gaps = gaps * np.exp(np.minimum(-self.high_none_large[:-1], 700.0)) * normal_delta(self.y[:-1], deviation)
        worst = int(gaps.argmax())
        place, known = float(self.y[worst]), self._high[worst] - self._low[worst]
        if any(abs(place - one) < 1e-3 * float(self.y[0] - self.y[-1]) for one in self._refined_at):
            return False
        self._refined_at.append(place)
        with suppress(Inconclusive):
            if self._contour_helps:
                self._contour_helps = self._add_contour(place) and bool(self._high[worst] - self._low[worst] < 0.5 * known)
            if not self._contour_helps:
                self._add_lattice(place)
        self._make_monotone()
        return True

    def bound_none_large(self, contour: Contour) -> None:
        """Bounds `high_none_large`, delta of those steps of which none is large, along the real axis of that of all steps.

        phi(s), for one step, is at most (1 - p)^{1+s}, p the probability that it is large.
        """
        with np.errstate(all="ignore"):
            self._bound = markov_log_deltas(contour, self.y - self.slip) + NONE
        self._make_monotone()

    def integral(self, threshold: float, width: float, epsilon: float, lift: float) -> tuple[float, float]:
        """Both ends of E_Q[nu g(x)] in units of e^-lift."""
        edges = epsilon - self.y  # losses, growing
        if not float(np.abs(edges).max()) <= self.largest:
            raise Inconclusive
        with np.errstate(all="ignore"):  # what is not finite proves nothing
            low, high = self._integral(threshold, width, edges, lift)
        if not math.isfinite(high - low):
            raise Inconclusive
        return low * math.exp(-self.slip), high * math.exp(self.slip)

    def _integral(self, threshold: float, width: float, edges: Array, lift: float) -> tuple[float, float]:
        low, high, start, beyond = self._cells(threshold, width, edges, lift)
        # where g is no double: E_Q nu is at most 1; where nu is none, what is lost is next to no share of delta = E_Q g
        lost = _UNDERFLOW + 32.0 * SMALLEST * math.exp(lift)
        before = exp_up(float(self.high_none_large[0]) + start + lift) * (1.0 + 1e-12)
        return max(float(low.sum()) * (1.0 - _SUM_ERROR) - lost, 0.0), (float(high.sum()) + beyond) * (
            1.0 + _SUM_ERROR
        ) + before + lost

    def _cells(self, threshold: float, width: float, edges: Array, lift: float) -> tuple[Array, Array, float, float]:
        """Of each cell, both ends; log of a bound of nu before the cells, and a bound of what lies beyond them."""
        log_p, log_q, error = self.loss.masses(edges)
        p, q, v = np.exp(log_p + lift), np.exp(log_q + lift), np.exp(edges)  # v = 1 + x
        span, inner, off = np.diff(v), q[1:-1], np.broadcast_to(error, q.shape)[1:-1]
        chord_above, top, bottom = (v * np.exp(log) for log in (self.high_none_large, self.high, self.low))
        rise_above, rise_below = np.diff(chord_above), np.diff(bottom)  # not negative; so is the rise of nu
        # the mean of x within the cell, as a share of it
        mean = np.clip((p[1:-1] / inner - v[:-1]) / span, 0.0, 1.0)
        spread = (2.0 * off + 64.0 * UNIT) * (1.0 + v[:-1] / span) + 2.0 * self.slip * v[1:] / span
        mean_low, mean_high = np.maximum(mean - spread, 0.0), np.minimum(mean + spread, 1.0)
        underflows = inner < _FEW_DIGITS
        # upwards: chords of both, and a mean square at most the mean
        nu, bend, start = _threshold_at(v, threshold, width, math.exp(-self.slip))
        rise = np.diff(nu)
        above = (
            nu[:-1] * chord_above[:-1]
            + mean_high * (rise * chord_above[:-1] + nu[:-1] * rise_above + rise * rise_above)
            + bend * chord_above[1:]
        )
        scale = 1.0 + off + (4.0 * FUNCTION + (1e3 * UNIT if lift else 0.0))  # of log_q + lift, which is not below -1000
        high = np.where(underflows, p[1:-1] * (scale + _SLACK), inner * above * scale)  # where Q's masses underflow, P's
        # downwards: below the chord by a quarter of the difference of the slopes on both sides
        nu, bend, _ = _threshold_at(v, threshold, width, math.exp(self.slip))
        rise = np.diff(nu)
        before = np.concatenate(([0.0], (bottom[1:-1] - top[:-2]) / span[:-1]))
        after = np.concatenate(((top[2:] - bottom[1:-1]) / span[1:], [math.inf]))
        gap = np.minimum((after - np.maximum(before, 0.0)) * (0.25 * span), bottom[1:])
        below = nu[:-1] * bottom[:-1] + mean_low * (rise * bottom[:-1] + nu[:-1] * rise_below) + mean_low**2 * (rise * rise_below)
        below = below * (1.0 - 32.0 * UNIT) - (bend * bottom[1:] + gap * nu[1:]) * (1.0 + 32.0 * UNIT)
        low = np.where(underflows, 0.0, np.maximum(inner * below, 0.0)) * (2.0 - scale)
        return low, high, start, float(p[-1]) * (1.0 + _SLACK)


def _threshold_at(v: Array, threshold: float, width: float, factor: float) -> tuple[Array, Array, float]:
    """nu at x = v - 1, with 1 + its place and its width times the factor, and how far it may lie off its chords.

    Also log of a bound of the first value.
    """
    from scipy.special import ndtr

    width *= factor
    y = (v - (1.0 + threshold) * factor) * (1.0 / width)
    steepest = 1.0 / (width * math.sqrt(2.0 * math.pi))
    slope = np.exp(-0.5 * y * y) * steepest
    # nu is convex up to its place and concave from there on
    peak = np.where((y[:-1] < 0.0) & (y[1:] > 0.0), steepest, np.maximum(slope[:-1], slope[1:]))
    start = min(0.0, log_tail_bound(-float(y[0]) * (1.0 - 1e-12))) if y[0] < 0.0 else 0.0
    return ndtr(y), (2.0 * peak - slope[:-1] - slope[1:]) * (0.25 * np.diff(v)), start
