"""The steps beside a large one, and the integral over it (`one_jump.py`): what is known of their delta, in a table.

The edges of the cells err, by at most a slip of the loss.  nu and g grow with the loss, so a slip to the right and one to the
left bound them: delta' is taken at epsilons less by the slip for the upper end, and more by it for the lower one, nu with 1 + its
place and its width scaled by e^-slip and e^slip, and all of it times e^slip and e^-slip.
"""

import math
from contextlib import suppress

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.normal import log_tail_bound
from ...numerics.rounding import FUNCTION, SMALLEST, UNIT, exp_up
from ..composed import ComposedLoss
from ..contour.contour import SHARES, Contour, Saddle
from ..contour.vectorised import even_contour_ends, markovs
from ..lattice.refine import lattice_log_delta
from ..protocol import Inconclusive
from ..sampled.gaussian import SampledGaussianLoss
from .guess import normal_delta

CELLS = 12000
_PLACES = (0.05, 0.15, 0.4)  # of the others' epsilons, where contours are laid first
_NODES = 4000
_NEAR = np.arange(-6, 7)  # cells of a lattice
_LOOKS, _CLOSE = 6, 1e-7  # further places, and ends with which one is content
_FEW, _TINY = 1e-300, 1e-290  # a mass that has lost digits; more than all that underflows
_SLACK = 1e-9  # relative, of masses: far more than their rounding
NONE = 1e-9  # log of what is allowed for one step that is not among the others
_SUMS = (CELLS + 8.0) * UNIT * 2.0  # of adding up the cells
_ROOM = 1.0  # how much larger the losses may become than they were for the first epsilon


class Rest:
    """delta of the steps but one at epsilons y from above to below: its upper end at y - slip, its lower end at y + slip."""

    def __init__(self, run: ComposedLoss, loss: SampledGaussianLoss, epsilon: float, y: Array) -> None:
        others = tuple((one, count - (one == loss)) for one, count in run.terms)
        rest = ComposedLoss(tuple((one, count) for one, count in others if count))
        self.loss, self.y, self.largest = loss, y, float(np.abs(epsilon - y).max()) + _ROOM
        # of the masses, of the differences of epsilons, and of the exponentials
        self.slip = loss.edge_error(self.largest) + 4.0 * UNIT * (float(np.abs(y).max()) + self.largest) + 8.0 * FUNCTION
        self._rest, self._looked, self._helps = rest, list[float](), True  # a contour
        self._low, self._high = np.full(y.size, -math.inf), np.zeros(y.size)
        with np.errstate(divide="ignore"):
            self._sure = np.log(np.maximum(-np.expm1(y + self.slip), 0.0))
        self._bound: Array = self._high
        for share in _PLACES if rest.terms else ():
            self._by_contour(share * float(y[0]))
        self._settle()

    def _by_contour(self, epsilon: float) -> bool:
        """Learns what a contour tells that is laid for this epsilon."""
        rest = self._rest
        contour = first = Contour(rest, Saddle.of_epsilon(rest, epsilon))
        for share in SHARES:
            if 0 < contour.planned() <= _NODES:
                break
            contour = Contour(rest, first.saddle.back(rest, share))
        if not (0 < contour.planned() <= _NODES and contour.lay()):
            return False
        with np.errstate(all="ignore"):
            self._low = np.fmax(self._low, even_contour_ends(contour, self.y + self.slip)[0])
            self._high = np.fmin(self._high, even_contour_ends(contour, self.y - self.slip)[1])
        return True

    def _by_lattice(self, epsilon: float) -> None:
        """Likewise."""
        lattice_log_delta(self._rest, epsilon)
        for lattice in self._rest.lattices[:1]:
            low, high = lattice.log_deltas(self.y + self.slip, self.y - self.slip, _NEAR)
            self._low, self._high = np.fmax(self._low, low), np.fmin(self._high, high)

    def _settle(self) -> None:
        """delta falls in y."""
        self.high = np.minimum.accumulate(self._high[::-1])[::-1]
        self.low = np.maximum(np.maximum.accumulate(self._low), self._sure)
        self.alone = np.fmin(self.high, self._bound)

    def look(self, mark: float, width: float, epsilon: float, lift: float) -> bool:
        """Learns more where that matters most; whether it did."""
        if not self._rest.terms or len(self._looked) >= _LOOKS:
            return False
        with np.errstate(all="ignore"):
            low, high = self._terms(mark, width, epsilon - self.y, lift)[:2]
        gaps = high - low
        total = float(gaps.sum())
        if not total > _CLOSE * float(low.sum()):
            return False
        # where the terms are, not where nothing is known of them
        if not self._looked and not float(low.sum()) > 0.1 * total:
            deviation = math.sqrt(sum(count * one.coarse_estimates[1] for one, count in self._rest.terms))
            gaps = gaps * np.exp(np.minimum(-self.alone[:-1], 700.0)) * normal_delta(self.y[:-1], deviation)
        worst = int(gaps.argmax())
        place, known = float(self.y[worst]), self._high[worst] - self._low[worst]
        if any(abs(place - one) < 1e-3 * float(self.y[0] - self.y[-1]) for one in self._looked):
            return False
        self._looked.append(place)
        with suppress(Inconclusive):
            if self._helps:
                self._helps = self._by_contour(place) and bool(self._high[worst] - self._low[worst] < 0.5 * known)
            if not self._helps:
                self._by_lattice(place)
        self._settle()
        return True

    def with_none_large(self, contour: Contour) -> None:
        """Bounds `alone`, delta of those steps of which none is large, along the real axis of that of all steps.

        phi(s), for one step, is at least (1 - p)^{1+s}, p the probability that it is large.
        """
        with np.errstate(all="ignore"):
            self._bound = markovs(contour, self.y - self.slip) + NONE
        self._settle()

    def integral(self, mark: float, width: float, epsilon: float, lift: float) -> tuple[float, float]:
        """Both ends of E_Q[nu g(x)] in units of e^-lift."""
        edges = epsilon - self.y  # losses, growing
        if not float(np.abs(edges).max()) <= self.largest:
            raise Inconclusive
        with np.errstate(all="ignore"):  # what is not finite proves nothing
            low, high = self._integral(mark, width, edges, lift)
        if not math.isfinite(high - low):
            raise Inconclusive
        return low * math.exp(-self.slip), high * math.exp(self.slip)

    def _integral(self, mark: float, width: float, edges: Array, lift: float) -> tuple[float, float]:
        low, high, start, beyond = self._terms(mark, width, edges, lift)
        # where g is no double: E_Q nu is at most 1; where nu is none, what is lost is next to no share of delta = E_Q g
        lost = _TINY + 32.0 * SMALLEST * math.exp(lift)
        before = exp_up(float(self.alone[0]) + start + lift) * (1.0 + 1e-12)
        return max(float(low.sum()) * (1.0 - _SUMS) - lost, 0.0), (float(high.sum()) + beyond) * (1.0 + _SUMS) + before + lost

    def _terms(self, mark: float, width: float, edges: Array, lift: float) -> tuple[Array, Array, float, float]:
        """Of each cell, both ends; log of a bound of nu before the cells, and a bound of what lies beyond them."""
        log_p, log_q, error = self.loss.masses(edges)
        p, q, v = np.exp(log_p + lift), np.exp(log_q + lift), np.exp(edges)  # v = 1 + x
        span, inner, off = np.diff(v), q[1:-1], np.broadcast_to(error, q.shape)[1:-1]
        alone, top, bottom = (v * np.exp(log) for log in (self.alone, self.high, self.low))
        over, under = np.diff(alone), np.diff(bottom)  # not negative; so is the rise of nu
        # the mean of x within the cell, as a share of it
        where = np.clip((p[1:-1] / inner - v[:-1]) / span, 0.0, 1.0)
        spread = (2.0 * off + 64.0 * UNIT) * (1.0 + v[:-1] / span) + 2.0 * self.slip * v[1:] / span
        mean_low, mean_high = np.maximum(where - spread, 0.0), np.minimum(where + spread, 1.0)
        few = inner < _FEW
        # upwards: chords of both, and a mean square at most the mean
        nu, bend, start = _mark(v, mark, width, math.exp(-self.slip))
        rise = np.diff(nu)
        most = nu[:-1] * alone[:-1] + mean_high * (rise * alone[:-1] + nu[:-1] * over + rise * over) + bend * alone[1:]
        scale = 1.0 + off + (4.0 * FUNCTION + (1e3 * UNIT if lift else 0.0))  # of log_q + lift, which is not below -1000
        high = np.where(few, p[1:-1] * (scale + _SLACK), inner * most * scale)  # where Q's masses underflow, P's
        # downwards: below the chord by a quarter of the difference of the slopes on both sides
        nu, bend, _ = _mark(v, mark, width, math.exp(self.slip))
        rise = np.diff(nu)
        before = np.concatenate(([0.0], (bottom[1:-1] - top[:-2]) / span[:-1]))
        after = np.concatenate(((top[2:] - bottom[1:-1]) / span[1:], [math.inf]))
        gap = np.minimum((after - np.maximum(before, 0.0)) * (0.25 * span), bottom[1:])
        least = nu[:-1] * bottom[:-1] + mean_low * (rise * bottom[:-1] + nu[:-1] * under) + mean_low**2 * (rise * under)
        least = least * (1.0 - 32.0 * UNIT) - (bend * bottom[1:] + gap * nu[1:]) * (1.0 + 32.0 * UNIT)
        low = np.where(few, 0.0, np.maximum(inner * least, 0.0)) * (2.0 - scale)
        return low, high, start, float(p[-1]) * (1.0 + _SLACK)


def _mark(v: Array, mark: float, width: float, factor: float) -> tuple[Array, Array, float]:
    """nu at x = v - 1, with 1 + its place and its width times the factor, and how far it may lie off its chords.

    Also log of a bound of the first.
    """
    from scipy.special import ndtr

    width *= factor
    turn = (v - (1.0 + mark) * factor) * (1.0 / width)
    steepest = 1.0 / (width * math.sqrt(2.0 * math.pi))
    slope = np.exp(-0.5 * turn * turn) * steepest
    # nu is convex up to its place and concave from there on
    peak = np.where((turn[:-1] < 0.0) & (turn[1:] > 0.0), steepest, np.maximum(slope[:-1], slope[1:]))
    start = min(0.0, log_tail_bound(-float(turn[0]) * (1.0 - 1e-12))) if turn[0] < 0.0 else 0.0
    return ndtr(turn), (2.0 * peak - slope[:-1] - slope[1:]) * (0.25 * np.diff(v)), start
