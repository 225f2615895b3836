"""The privacy loss distribution on a tilted lattice, from both sides (docs/mathematics/lattice.md, section 7).

For losses with atoms, few steps, or sparse sampling.

Upper end: in each cell of the lattice the mass of Z moves to the two ends so that its P-mass and its Q-mass stay (the chords
of the hockey-stick curve in e^epsilon; beyond the last point one end is infinity).  e^-Z is spread out under P, and
delta(eps) = E(1 - e^eps e^-Z)+ is convex in each step's e^-Z, so delta of any composition grows (Doroshenko, Ghazi, Kamath,
Kumar and Manurangsi 2022, section 4).

Lower end, by itself: each step reports only the cell in which Z lies (cells are centred at the lattice points), and the
attacker adds up the numbers of the cells: for every t, delta(eps) >= P(S >= t) - e^eps Q(S >= t).

Both are laws on a lattice, tilted by e^{theta z}, composed by the fast Fourier transform.  With W the length
of one period, what is computed for P(S >= t) is sum over m of e^{theta m W} P(S in [t + m W, t + (m+1) W)): at least P(S >= t),
and above it by no more than Chernoff's bound allows for m > 0, and e^{-theta W} for m < 0.
"""

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...numerics.cancellation_free import Array
from ...numerics.convolve import Law, Sum
from ...numerics.rounding import FUNCTION, UNIT, exp_up
from ..bins import masses_by_blocks
from ..composed import ComposedLoss
from ..protocol import Binned, Inconclusive, Masses
from .plan import TUNING, Plan
from .window import Window

_NEAR = np.arange(-(1 << 12), 1 << 12)  # tuning: cells from epsilon where the threshold of the attacker is sought
_TINY = 1e-300  # more than all that underflows in a sum


def spread_to_ends(first: int, z: Array, masses: Masses, step: float, theta: float) -> tuple[Law, float]:
    """The mass of each cell moved to its two ends, its P- and its Q-mass kept; also log of how much goes to infinity."""
    log_p, log_q, error = masses
    with np.errstate(invalid="ignore", over="ignore"):
        mean = np.exp(np.minimum(z + (log_q - log_p)[1:], 1.0))  # of e^{left end - Z} in the cell
    off = 2.0 * (error if isinstance(error, float) else error[1:]) + 4.0 * FUNCTION + 2.0 * UNIT * np.abs(z)
    right = 1.0 - mean * (1.0 - off)
    right[:-1] *= 1.0 / -math.expm1(-step)
    right *= 1.0 + 4.0 * FUNCTION  # where all of it moves, `off` may be too little to see
    right = np.where(log_p[1:] > -math.inf, np.minimum(np.maximum(right, 0.0), 1.0), 0.0)
    heavy = log_p + error
    log_beyond = float(heavy[-1]) + math.log(right[-1]) + 8.0 * FUNCTION if right[-1] > 0.0 else -math.inf
    heavy[-1] += math.log1p(-float(right[-1])) if right[-1] < 1.0 else -math.inf
    if not heavy.max() > -math.inf:
        raise Inconclusive
    # what lies below the lattice goes to its first point, as if it lay just below
    points = np.concatenate(([z[0] - step], z))
    return Law(first - 1, points, heavy, theta, np.concatenate(([1.0], right[:-1]))), log_beyond


def aligned_step(run: ComposedLoss, step: float) -> float:
    """The native step of the run, or one not above this on which the atoms of one loss lie exactly: of one that has no other
    values, and moves the sum most."""
    spacings = [
        (loss.lattice_step > 0.0, loss.atom_spacing * math.sqrt(count), loss.atom_spacing)
        for loss, count in run.terms
        if loss.atom_spacing > 0.0
    ]
    if run.lattice_step or not spacings:
        return run.lattice_step or step
    spacing = max(spacings)[2]
    return spacing / math.ceil(spacing / step) if spacing >= step else step  # a shorter step would make the window shorter


class _Part(NamedTuple):
    """A loss with its count, and the points of the lattice that it may take."""

    loss: Binned
    times: int
    first: int
    last: int
    reach: float  # the largest modulus of a loss within the cells

    def points(self, step: float) -> Array:
        return self.loss.anchor + step * np.arange(self.first, self.last + 1)


class Lattice:
    """Both laws of a composed run of one ordered pair, good for epsilons near the centre of the plan."""

    def __init__(self, run: ComposedLoss, plan: Plan, size: int) -> None:
        self.theta, self.centre, self.lattice_step = plan.theta, plan.centre, run.lattice_step
        self.step, self.size = step, _ = aligned_step(run, plan.period / size), size
        parts = []
        for (loss, count), (low, high) in zip(run.terms, plan.ranges, strict=True):
            high = min(high, loss.ceiling)
            first, last = math.floor((low - loss.anchor) / step), math.ceil((high - loss.anchor) / step - 1e-9)
            if last - first > 2 * TUNING.max_size or max(abs(first), abs(last)) > 1 << 40:
                raise Inconclusive
            if not plan.theta * (abs(loss.anchor) + step * max(abs(first), abs(last))) < 1e300:
                raise Inconclusive
            first -= 1 if run.lattice_step else 0  # so that the lowest cell holds only what lies below the range
            parts.append(_Part(loss, count, first, max(last, first + 1), max(abs(low), abs(high))))
        # lattices are large: one law after the other
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):  # what is not finite proves nothing
            self._upper(plan, parts)
            self._lower(plan, parts)

    def _upper(self, plan: Plan, parts: list[_Part]) -> None:
        """Upper bounds of delta at the points (docs/mathematics/lattice.md, section 7: upper end)."""
        laws: list[tuple[Law, int]] = []
        shift = none = 0.0
        some = -math.inf
        for part in parts:
            loss, count = part.loss, part.times
            z = part.points(self.step)
            law, log_beyond = spread_to_ends(part.first, z, masses_by_blocks(loss, z), self.step, self.theta)
            laws.append((law, count))
            some = float(np.logaddexp(some, log_beyond + math.log(count)))
            beyond = exp_up(log_beyond)
            none += count * math.log1p(-beyond) if beyond < 1.0 else -math.inf
            shift += count * (loss.edge_error(part.reach) + 4.0 * UNIT * (part.reach + abs(loss.anchor)))
        # log P(some loss is infinite), or a bound of it where that is tiny
        self.log_infinite_mass = math.log(-math.expm1(none)) if some > -30.0 else some
        if self.log_infinite_mass > -math.inf:
            self.log_infinite_mass += 16.0 * FUNCTION + 4.0 * (len(parts) + 2.0) * UNIT * (1.0 + abs(some))
        offset = math.fsum(part.times * part.loss.anchor for part in parts)
        self.window_high = window = Window(plan, offset, self.step, self.size)
        self.upper_shift = window.place_error + shift
        found = Sum(laws, self.size, window.begin)
        self.log_scale_high = found.log_scale - self.theta * self.centre
        self.sum_error = window.sum_error(found, self.theta)
        over, _ = window.aliasing_errors(laws, self.log_scale_high, self.theta)
        laws.clear()
        self.delta_high = window.hockey_stick(window.tail_sums(found, self.theta, 1.0) + over, 1.0) + (over + _TINY)

    def _lower(self, plan: Plan, parts: list[_Part]) -> None:
        """The cells may have any numbers with the same step: those that are unbiased for Z (section 7: lower end)."""
        laws: list[tuple[Law, int]] = []
        other: list[tuple[Law, int]] = []
        offsets: list[float] = []
        shift = 0.0
        for part in parts:
            loss, count = part.loss, part.times
            z = part.points(self.step)
            log_p, log_q, error = masses_by_blocks(loss, z[1:] - 0.5 * self.step)
            tilted = log_p + self.theta * z
            if self.lattice_step or not log_p[0] - log_q[0] > z[0] - self.step:
                tilted[0] = -math.inf  # the number would be far above what lies below the range
            heavy = tilted > tilted.max() - 40.0 - math.log(count)
            log_p, log_q = np.where(heavy, log_p - error, -math.inf), log_q + error
            with np.errstate(divide="ignore"):
                gain = np.where(heavy, log_p - log_q - z, 0.0)
                weight = np.exp(np.where(heavy, tilted - tilted.max(), -math.inf))
                mean = 0.0 if self.lattice_step else float((weight @ gain) / weight.sum())  # no number if nothing is left
            if not (math.isfinite(mean) and log_p.max() > -math.inf and log_q.max() > -math.inf):
                raise Inconclusive
            z += mean
            laws.append((Law(part.first, z, log_p, self.theta), count))
            other.append((Law(part.first, z, log_q, self.theta + 1.0), count))
            # a native cell holds one value
            short = loss.edge_error(part.reach) if self.lattice_step else max(0.0, mean - float(gain[heavy].min()))
            shift += count * (short + 4.0 * UNIT * part.reach)
            offsets += [count * loss.anchor, count * mean]
        del z, log_p, log_q, error, tilted, heavy, gain, weight
        self.window_low = window = Window(plan, math.fsum(offsets), self.step, self.size)
        self.lower_shift = window.place_error + shift
        found = Sum(laws, self.size, window.begin)
        self.log_scale_low = found.log_scale - self.theta * self.centre
        _, alias = window.aliasing_errors(laws, self.log_scale_low, self.theta)
        laws.clear()
        self.p_tail_low = window.tail_sums(found, self.theta, -1.0) - (alias + _TINY)
        del found, alias
        self.delta_low = window.hockey_stick(np.maximum(self.p_tail_low, 0.0), -1.0)
        found = Sum(other, self.size, window.begin)
        scale = found.log_scale - (self.theta + 1.0) * self.centre
        over, _ = window.aliasing_errors(other, scale, self.theta + 1.0)
        other.clear()
        tail = window.tail_sums(found, self.theta + 1.0, 1.0) + over
        relative = scale + self.centre - self.log_scale_low
        relative += 8.0 * UNIT * (abs(scale) + abs(self.log_scale_low) + (self.theta + 2.0) * abs(self.centre))
        self.q_tail_high = tail * exp_up(relative) + _TINY

    def trim(self) -> None:
        """Keeps what is near the centre, where the window begins: epsilons far above it have lattices of their own."""
        near = self.size // 4
        self.delta_high, self.delta_low = self.delta_high[:near].copy(), self.delta_low[:near].copy()
        self.p_tail_low, self.q_tail_high = self.p_tail_low[:near].copy(), self.q_tail_high[:near].copy()

    def rounding_floor(self, log_delta: float) -> float:
        """About by how much rounding alone keeps the ends of log delta apart, near the centre: not less on a finer lattice."""
        return 4.0 * self.sum_error * math.exp(min(self.log_scale_high - log_delta, 700.0))

    def epsilon(self, log_delta: float, slack: float) -> tuple[float, float]:
        """Both ends of epsilon, for log delta known up to slack."""
        size = 4.0 * FUNCTION + 4.0 * UNIT * (abs(log_delta) + abs(self.log_scale_high))
        target = math.exp(min(log_delta - slack - self.log_scale_high, 700.0)) * (1.0 - size)
        target -= (
            exp_up(self.log_infinite_mass - self.log_scale_high) * (1.0 + size) if self.log_infinite_mass > -math.inf else 0.0
        )
        high = self.window_high.crossing(self.delta_high, target, math.inf) + self.upper_shift
        target = exp_up(log_delta + slack - self.log_scale_low) * (1.0 + size)
        low = self.window_low.crossing(self.delta_low, target, -math.inf) - self.lower_shift
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = np.log(np.maximum(self.p_tail_low - target, 0.0) / self.q_tail_high) + self.centre
        error = 8.0 * FUNCTION * (1.0 + abs(self.centre))
        return max(low, float(np.nanmax(found, initial=-math.inf))) - error, high + error

    def window_is_above(self, log_delta: float) -> bool:
        """Whether the window seems to lie above the epsilon of this delta (uncertified)."""
        return bool(self.delta_high[0] < math.exp(min(log_delta - self.log_scale_high, 700.0)))

    def log_delta(self, epsilon: float) -> tuple[float, float]:
        """Both ends of log delta(epsilon)."""
        here = np.array([epsilon])
        low, high = self.log_deltas(here, here, _NEAR)
        return float(low[0]), float(high[0])

    def log_deltas(self, lower: Array, upper: Array, near: npt.NDArray[np.int64]) -> tuple[Array, Array]:
        """Lower ends of log delta at some epsilons, and upper ones at others; what is not known is infinite.

        The attacker's threshold is sought in the cells `near` an epsilon.
        """
        with np.errstate(all="ignore"):
            high = np.log(self.window_high.interpolated(self.delta_high, upper - self.upper_shift)) + self.log_scale_high
            high = np.logaddexp(np.where(np.isfinite(high), high, math.inf), self.log_infinite_mass)
            places = self.window_low.index_before(lower)[:, None] + near
            within = (places >= 0) & (places < self.p_tail_low.size)
            places = np.where(within, places, 0)
            pay = np.exp(lower - self.centre) * (1.0 + 8.0 * FUNCTION + 2.0 * UNIT * (np.abs(lower) + abs(self.centre)))
            best = np.where(within, self.p_tail_low[places] - pay[:, None] * self.q_tail_high[places], math.nan)
            known = self.window_low.interpolated(self.delta_low, lower + self.lower_shift)
            low = np.log(np.fmax(np.fmax.reduce(best, axis=1), known)) + self.log_scale_low
        slack = 8.0 * UNIT * (abs(self.log_scale_high) + abs(self.log_scale_low) + 8.0) + 8.0 * FUNCTION
        return np.where(np.isfinite(low), low - slack, -math.inf), high + slack
