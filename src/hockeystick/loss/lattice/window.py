"""One period of a lattice: tail sums over its points, and the aliasing error (docs/mathematics/lattice.md, section 7)."""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ...numerics.cancellation_free import Array
from ...numerics.convolve import Law, Sum
from ...numerics.rounding import FUNCTION, UNIT, exp_up
from ..protocol import Inconclusive
from .plan import Plan

_BLOCK = 1 << 10  # terms that are added one after the other: the rounding is that of a block and of the sum of blocks
_BLOCK_DECAY = 30.0  # of e^{-k step} within a block: short blocks carry more often, in long ones terms would underflow

Laws = Sequence[tuple[Law, int]]


class Window:
    """One period of the composed lattice, from a little below the centre: its points, and what is summed over them."""

    def __init__(self, plan: Plan, offset: float, step: float, size: int) -> None:
        self.theta, self.centre, self.order_ahead = plan.theta, plan.centre, plan.order_ahead
        self.step, self.period = step, step * size
        begin = (plan.centre - plan.margin / plan.theta - offset) / step
        if not abs(begin) < 2.0**50:
            raise Inconclusive
        self.begin = math.floor(begin)
        self.offset, self.size = offset, size
        self.place_error = 4.0 * UNIT * (abs(offset) + abs(self.begin * step) + self.period)

    def point(self, place: int) -> float:
        return self.offset + self.step * (self.begin + place)

    def points(self) -> Array:
        found: Array = self.offset + self.step * (self.begin + np.arange(self.size))
        return found

    def tail_sums(self, found: Sum, theta: float, sign: float) -> Array:
        """P(S >= t) at each point, the tilt taken back; rounded up (sign = 1) or down (-1)."""
        weights: Array = np.exp(theta * (self.centre - self.points()))  # what is infinite proves nothing
        sums = _tail_sums(found.masses * weights)
        rounding = found.rounding + _added_terms(sums.size) * UNIT + 4.0 * FUNCTION
        rounding += 8.0 * UNIT * (theta + 1.0) * (self.period + 2.0 * abs(self.centre))
        return sums * (1.0 + sign * rounding) + sign * self.sum_error(found, theta) * weights

    def sum_error(self, found: Sum, theta: float) -> float:
        """A bound of the error of a tail sum from the centre on: by Cauchy and Schwarz, with the norm of a geometric sequence.

        (docs/mathematics/lattice.md, section 7: rounding of the transform.)
        """
        return found.error * (1.01 / math.sqrt(-math.expm1(-2.0 * theta * self.step)))

    def hockey_stick(self, heads: Array, sign: float) -> Array:
        """delta at each point t but the last, (1 - e^-step) times the sum of e^{-k step} P(S > t + k step) over k >= 0.

        (docs/mathematics/lattice.md, section 7: from tails to hockey sticks.)
        """
        if self.step > 40.0:  # the first term is all
            return heads[1:] * (1.0 if sign > 0.0 else 1.0 - 8.0 * UNIT)
        if self.step > 0.5:
            return self._hockey_stick_by_terms(heads, sign)
        out = np.empty(heads.size - 1)
        block = max(1, int(_BLOCK_DECAY / self.step))  # so that next to nothing is lost where terms underflow
        carry = 0.0
        for end in range(heads.size, 1, -block):
            begin = max(1, end - block)
            fade = np.exp(-self.step * np.arange(end - begin))
            sums = _tail_sums(heads[begin:end] * fade) / fade * -math.expm1(-self.step)
            out[begin - 1 : end - 1] = sums + carry * fade[::-1] * math.exp(-self.step)
            carry = float(out[begin - 1])
        # the exponents of e^{-k step}, and what is carried from block to block
        carried = 4.0 * _BLOCK_DECAY + 8.0 * (self.period / _BLOCK_DECAY + 1.0)
        return out * (1.0 + sign * ((2.0 * _added_terms(heads.size) + 64.0 + carried) * UNIT + 8.0 * FUNCTION))

    def _hockey_stick_by_terms(self, heads: Array, sign: float) -> Array:
        """The same where few terms are all; the others are at most the next one over 1 - e^-step."""
        terms = math.ceil(45.0 / self.step)
        padded = np.concatenate((heads[1:], np.zeros(terms)))
        out = np.zeros(heads.size - 1)
        for k in range(terms):
            out += padded[k : k + out.size] * math.exp(-self.step * k)
        out *= -math.expm1(-self.step)
        if sign > 0.0:
            out += padded[terms:] * math.exp(-self.step * terms)
        return out * (1.0 + sign * ((terms + 8.0 + 2.0 * self.step * terms) * UNIT + 8.0 * FUNCTION))

    def aliasing_errors(self, laws: Laws, log_scale: float, theta: float) -> tuple[float, Array]:
        """In units of e^log_scale: a bound of P(S beyond the window), and of the aliasing error for each t.

        (docs/mathematics/lattice.md, section 7: tilting, and the aliasing error of a period.)
        """
        growth = math.fsum(count * law.log_moment_above(self.order_ahead) for law, count in laws)
        size = 1e-9 + 8.0 * UNIT * (abs(growth) + (theta + self.order_ahead) * (abs(self.centre) + 2.0 * self.period))
        s, far, stretch = self.points(), self.point(self.size - 1), self.order_ahead * self.period
        over = growth - self.order_ahead * far - theta * (far - self.centre) + size
        above = growth - self.order_ahead * s - theta * (s - self.centre) - stretch + size
        below = -log_scale - theta * self.period + 1e-9 + 8.0 * UNIT * abs(log_scale)
        return exp_up(over), np.exp(above) / -math.expm1(-stretch) + exp_up(below) / -math.expm1(-theta * self.period)

    def crossing(self, deltas: Array, target: float, otherwise: float) -> float:
        """Where a curve that is linear in e^epsilon between the points falls to a target; `otherwise` if that is not within."""
        above = int((deltas > target).sum())  # they fall
        if not target > 0.0 or not 0 < above < deltas.size or not np.isfinite(deltas[above - 1]):
            return otherwise
        drop = float(deltas[above - 1]) - float(deltas[above])
        share = min(1.0, (float(deltas[above - 1]) - target) / drop) if drop > 0.0 else 1.0
        return self.point(above) + math.log(share + math.exp(-self.step) * (1.0 - share))

    def index_before(self, epsilons: Array) -> npt.NDArray[np.int64]:
        """Of the point before each epsilon, or a little outside of the window."""
        found = np.ceil((epsilons - self.offset) / self.step) - self.begin - 1
        places: npt.NDArray[np.int64] = np.clip(found, -2, self.size + 1).astype(np.int64)
        points = self.offset + self.step * (self.begin + places)  # it may have been rounded
        return places + (epsilons > points + self.step).astype(np.int64) - (epsilons <= points).astype(np.int64)

    def interpolated(self, deltas: Array, epsilons: Array) -> Array:
        """The curve at some epsilons, no number where it is not known."""
        place = self.index_before(epsilons)
        known = (place >= 0) & (place < deltas.size - 1)
        place = np.where(known, place, 0)
        left = self.offset + self.step * (self.begin + place)
        share = np.exp(epsilons - left - self.step) * np.expm1(left - epsilons) / math.expm1(-self.step)
        share = np.clip(share, 0.0, 1.0)
        found: Array = np.where(known, deltas[place] + share * (deltas[place + 1] - deltas[place]), math.nan)
        return found


def _tail_sums(terms: Array) -> Array:
    """Of each term, its sum with all that follow, in blocks: of no more than `_added_terms` roundings each."""
    count = -(-terms.size // _BLOCK)
    flat = np.zeros(count * _BLOCK)
    flat[: terms.size] = terms[::-1]
    blocks = flat.reshape(count, _BLOCK)
    np.add.accumulate(blocks, axis=1, out=blocks)
    blocks[1:] += np.add.accumulate(blocks[:-1, -1])[:, None]
    return flat[terms.size - 1 :: -1]


def _added_terms(size: int) -> float:
    return _BLOCK + size / _BLOCK + 2.0
