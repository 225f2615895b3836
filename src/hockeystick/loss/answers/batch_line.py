"""The contours of many runs of sampled Gaussian steps at once (`batch.py`): bounds ahead, the step, the nodes, both ends.

The same proofs as in `contour.py` and `sampled_slice.py`, but that the sums of e^{kL} - 1 are less careful.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...numerics.cancellation_free import Array, ComplexArray, log1p_complex
from ...numerics.geometric_cells import COUNT, LEFT, RATIO, SPAN, SQUARE
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ..contour.contour import FORWARD, TOLERANCE
from ..sampled.quadrature import CAP
from .batch_decay import gaps
from .batch_grid import NARROW, Nodes, Runs, coarse_lead, lay, log_outside, log_rule, longest_step, span

_NODES = 1500
_BLOCK = 64  # nodes of z whose terms are added up first
_VALUES = 30.0  # -log of the rule's error times the count


@dataclass
class Line:
    """The contours of some runs: bounds ahead on the real axis, the step, how many nodes, and what they leave out."""

    runs: Runs
    removal: npt.NDArray[np.bool_]
    c: Array
    width: Array
    epsilon: Array
    nodes: Nodes

    def __post_init__(self) -> None:
        self.forward = self.c[:, None] + np.array(FORWARD) * self.width[:, None]
        self._look_ahead()
        self._choose_step()
        self._cut()
        level = np.maximum(self.above[:, :, 0].max(axis=1), 0.0)
        self.reach = self.step * (self.size - 1.0)
        lead = np.log(self.runs.count) + _VALUES + np.log(3.0 + self.c + self.reach)
        self.low, self.high = span(self.runs, self.c, self.c, lead)
        noise, rate = self.runs.noise, self.runs.rate
        self.grain, self.rule = longest_step(noise, rate, self.c, level, lead, self.reach, self.low)
        self.long = (self.high - self.low) / self.grain
        self.work = self.size * self.long
        self.fits = (
            (self.size <= _NODES) & (self.dropped <= 1e-8 * self.width / self.step) & (level <= 1.0) & (self.long <= NARROW)
        )

    def pick(self, which: npt.NDArray[Any]) -> "Line":
        one = object.__new__(Line)
        for name, value in self.__dict__.items():
            if isinstance(value, Runs):
                setattr(one, name, value.pick(which))
            elif name != "nodes":
                setattr(one, name, value if name == "removal" else value[which])
        return one

    def _exponents(self, points: Array) -> Array:
        """The k of each ordered pair at real points of w."""
        shape = (1, -1) + (1,) * (points.ndim - 1)
        return np.where(self.removal.reshape(shape), 1.0 + points[:, None], -points[:, None])

    def _look_ahead(self) -> None:
        """Upper bounds of K and of log delta + s epsilon at the points ahead (`SampledGaussianSlice.above`, `Contour`)."""
        runs, nodes, k = self.runs, self.nodes, self._exponents(self.forward)
        inside = np.exp(k[..., None] * nodes.ratio[:, None, None] + nodes.base[:, None, None]).sum(axis=3)
        reach = np.maximum(-nodes.low, nodes.high)
        floor = np.log1p(-runs.rate)
        size = reach / runs.noise + 0.5 / runs.noise**2 - floor
        off = (12.0 + 2.0 * runs.noise_error / UNIT) * size
        slack = UNIT * (off[:, None, None] * np.abs(k) + (4.0 * reach**2 + nodes.z.shape[1] + 60.0)[:, None, None])
        turn = np.log(np.cos(0.5 * nodes.angle))[:, None, None]
        rules = log_rule(nodes, runs.noise)[:, None, None] + np.minimum(k, 0.0) * turn
        above = np.logaddexp(np.log(inside), log_outside(nodes, runs.noise, runs.rate, k)) + slack - np.log1p(-np.exp(rules))
        above = np.where(rules < -1.0, above, math.inf)
        bounded = self.forward * (-floor * (1.0 + 16.0 * UNIT))[:, None]  # Z is at most that
        self.above = np.where(self.removal[:, None], above, np.minimum(above, bounded[:, None]))
        total = runs.count[:, None, None] * self.above
        markov = -np.log1p(self.forward) - self.forward * np.log1p(1.0 / self.forward)
        bounds = markov[:, None] * (1.0 - 2.0 * FUNCTION) + total + 3.0 * UNIT * np.abs(total)
        self.forward_log = np.where(bounds < 1e6, bounds, math.inf)
        self.forward_size = np.where(bounds < 1e6, np.abs(bounds), 0.0).max(axis=(1, 2)) + np.abs(markov).max(axis=1) + 1.0

    def _choose_step(self) -> None:
        room = TOLERANCE - self.runs.log_delta
        left = 2.0 * math.pi * self.c / room
        ahead = self.forward[:, 1:]
        need = self.forward_log[:, :, 1:].max(axis=1) - ahead * self.epsilon[:, None] + room[:, None]
        right = (2.0 * math.pi * (ahead - self.c[:, None]) / np.maximum(need, 1e-3)).max(axis=1)
        self.step = np.minimum(left, np.maximum(right, 1e-3 * left))

    def _cut(self) -> None:
        """How many nodes, and a bound of what the others would add (`Contour._cut`)."""
        runs, k = self.runs, self._exponents(self.c)
        left = self.width[:, None] * LEFT
        gap = gaps(self.nodes, runs.noise, runs.rate, k, coarse_lead(runs, self.c), left)
        decay = np.log1p(-np.minimum(gap, 1.0 - 1e-15)) * (-1.0 + 1e-12)
        bounds = np.exp(-(runs.count[:, None] * decay.min(axis=1)) * (1.0 - 3.0 * UNIT))
        start = self.width[:, None]
        piece = bounds * (SPAN / start + SQUARE * (self.step[:, None] / start**2))
        beyond = np.add.accumulate(piece[:, ::-1], axis=1)[:, ::-1]
        factor = self.c * (self.c + 1.0) / self.step * SECOND_ORDER
        wanted = math.exp(-TOLERANCE) * self.width / self.step / factor
        cell = np.minimum((beyond > wanted[:, None]).sum(axis=1), COUNT - 1)
        self.dropped = np.take_along_axis(beyond, cell[:, None], 1)[:, 0] * factor
        self.size = np.ceil(self.width * RATIO**cell / self.step)

    def ends(self) -> tuple[Array, Array]:
        """Both ends of epsilon."""
        self._lay()
        goal = self.runs.log_delta
        slack = FUNCTION * np.abs(goal)
        epsilon = self.epsilon
        for _ in range(6):  # by Newton's method
            total, swing = self._turned(epsilon)
            total = np.maximum(total, 1e-300)
            value = self.fixed - (self.c * epsilon)[:, None] + np.log(total)
            best = value.argmax(axis=1)[:, None]
            slope = np.take_along_axis(swing / total, best, 1)[:, 0] - self.c
            move = (goal - value.max(axis=1)) / np.minimum(slope, -1e-3 * self.c)
            epsilon = epsilon + move
            if float(np.abs(move * self.c).max()) < 1e-7:  # the next would be below rounding
                break
        lost = self.sum_error[:, 0] + self.dropped + 2.0 * math.exp(-TOLERANCE)
        error = (self.height_error[:, 0] + lost / total[:, 0]) * 1.001
        error += 16.0 * UNIT * (np.abs(self.c * epsilon) + np.abs(goal))
        ahead = 2.0 * (error + slack) / self.c
        low, high = epsilon - ahead, epsilon + ahead
        sure = (self._bounds(low)[0] >= goal + slack) & (self._bounds(high)[1] <= goal - slack)
        return np.where(sure, low, math.nan), np.where(sure, high, math.nan)

    def _turned(self, epsilon: Array) -> tuple[Array, Array]:
        angle = self.u * (epsilon - self.epsilon)[:, None]
        cosine, sine = np.cos(angle)[:, None], np.sin(angle)[:, None]
        real, imaginary = self.weights.real, self.weights.imag
        swing = (imaginary * cosine - real * sine) @ self.u[:, :, None]
        return (real * cosine + imaginary * sine).sum(axis=2), swing[:, :, 0]

    def _bounds(self, epsilon: Array) -> tuple[Array, Array]:
        """Certified bounds of log delta at one epsilon for each run (`Contour.lower`, `Contour.upper`)."""
        c, span, size = self.c[:, None], (2.0 * math.pi / self.step)[:, None], np.abs(epsilon)[:, None]
        total = self._turned(epsilon)[0]
        scale = self.fixed - c * epsilon[:, None]
        error = self.height_error + (8.0 * UNIT) * (np.abs(scale) + c * size)
        moved = np.abs(epsilon - self.epsilon)[:, None]
        lost = self.sum_error + self.dropped[:, None] + self.lever * (4.0 * UNIT * moved)
        levels = self.forward_log - (self.forward * epsilon[:, None])[:, None]
        slack = (8.0 * UNIT) * (self.forward[:, -1:] * size + self.forward_size[:, None])
        high = np.minimum(levels.min(axis=2) + slack, scale + error + np.log(np.maximum(total + lost, 1e-300)))
        far = span * (self.forward[:, 1:] - c)
        aliased = (levels[:, :, 1:] - far[:, None]).min(axis=2) + (slack + 8.0 * UNIT * far[:, -1:])
        beyond = np.exp(np.minimum(aliased - scale, 700.0)) * ((1.0 + 1e-9) / -np.expm1(-far[:, :1]))
        before = np.exp(np.minimum(-span * c - scale, 700.0)) * ((1.0 + 1e-9) / -np.expm1(-span * c))
        rest = total - lost - (beyond + before)
        low = np.where(rest > 0.0, scale - error + np.log(np.maximum(rest, 1e-300)), -math.inf)
        return low.max(axis=1), high.max(axis=1)

    def _lay(self) -> None:
        """The nodes (`Contour.lay`)."""
        c, step, epsilon = self.c[:, None], self.step[:, None], self.epsilon[:, None]
        most = int(self.size.max())
        self.u = u = step * np.arange(most)
        kept = np.arange(most) < self.size[:, None]
        value, error = self._values(most)
        count = self.runs.count[:, None, None]
        total = count * value
        error = count * (error + 2.0 * UNIT * np.abs(value)) + UNIT * np.abs(total)
        height = total[:, :, :1].real
        total = total - height
        kernel = np.empty(u.shape, dtype=np.complex128)
        kernel.real, kernel.imag = c, u
        kernel = c * (c + 1.0) / (kernel * (kernel + 1.0))
        kernel[:, 0] = 0.5
        kernel[~kept] = 0.0
        drowned = np.where(kept[:, None], total.real, 0.0).max(axis=(1, 2)) > 1.0
        error = error + UNIT * (2.0 * np.abs(total) + (4.0 * np.abs(epsilon) * u)[:, None] + (12.0 + 3.0 * FUNCTION / UNIT))
        total.imag -= (u * epsilon)[:, None]
        self.weights = kernel[:, None] * np.exp(np.where(kept[:, None], total, 0.0))
        sizes = np.abs(self.weights)
        self.lever = (sizes @ u[:, :, None])[:, :, 0]
        base = np.abs(np.log(c)) + np.abs(np.log1p(c)) + np.abs(np.log(step)) + 6.0
        self.height_error = 8.0 * UNIT * (np.abs(height[:, :, 0]) + base)
        relative = np.expm1(np.minimum(error, 600.0)) * SECOND_ORDER + 2.0 * most * UNIT
        self.sum_error = np.where(drowned[:, None], math.inf, np.where(kept[:, None], sizes * relative, 0.0).sum(axis=2))
        self.fixed = height[:, :, 0] + (np.log(step / math.pi) - np.log(c) - np.log1p(c))

    def _values(self, most: int) -> tuple[ComplexArray, Array]:
        """log M(k) at the nodes and bounds of the relative error of M.

        For k = a + iu, M(k) - 1 = E[e^{aL} - 1 - a x] + E[e^{aL} (e^{iuL} - 1)] - i u E x, where E x = 0; no term is larger than
        |k L| e^{aL} or |k x|.
        """
        runs, k = self.runs, self._exponents(self.c)
        nodes = lay(runs.noise, runs.rate, self.low, self.high, self.grain, 1.15 * self.c)
        ratio, weight = nodes.ratio, np.exp(nodes.base)
        exponent = np.concatenate((k, np.ones((k.shape[0], 1))), axis=1)[:, :, None] * ratio[:, None]
        small = weight[:, None] * np.expm1(np.minimum(exponent, 1.0))
        grown = np.where(exponent < 1.0, small, np.exp(exponent + nodes.base[:, None]) - weight[:, None])
        rise = grown.sum(axis=2)
        drift = rise[:, -1:]
        tilted = grown[:, :-1] + weight[:, None]
        excess = _turned_sums(ratio, tilted, self.step, most)
        excess.real += (rise[:, :-1] - k * drift)[:, :, None]
        excess.imag -= (drift * self.u)[:, None]
        noise = runs.noise[:, None]
        spread = np.abs(nodes.z) / noise + 0.5 / noise**2
        # L errs by t's error times the share, and by 24 units of its own; beyond the cap log q counts, too
        t_error = (3.0 * UNIT + 2.0 * runs.noise_error[:, None]) * spread
        ratio_error = (
            nodes.share * t_error + (FUNCTION + 16.0 * UNIT) * np.abs(ratio) + np.where(spread > CAP, 12.0 * UNIT * spread, 0.0)
        )
        added = _BLOCK + nodes.z.shape[1] / _BLOCK + 24.0
        rounding = (3.0 * UNIT) * nodes.z**2 + (added * UNIT + 4.0 * FUNCTION)
        pull = rounding * np.abs(ratio) + ratio_error
        slope = ((4.0 * tilted + (6.0 * weight + grown[:, -1])[:, None]) @ pull[:, :, None])[:, :, 0]
        size = np.hypot(k[:, :, None], self.u[:, None])
        off = np.exp(np.minimum(self.rule, 600.0))[:, None, None]
        lost = size * (slope[:, :, None] + 2.0 * off) + 2.0 * off
        furthest = np.hypot(np.abs(k).max(axis=1), self.reach)
        lost += np.exp(log_outside(nodes, runs.noise, runs.rate, k[:, :, None]))
        linear = log_outside(nodes, runs.noise, runs.rate, np.array([[[0.0, 1.0]]])).max(axis=(1, 2)) + np.log1p(furthest)
        lost += np.exp(linear)[:, None, None]
        magnitude = np.maximum(np.abs(1.0 + excess), 1e-290)
        value = log1p_complex(excess)
        value.imag *= np.where(self.removal, 1.0, -1.0)[:, None]
        return value, (lost + 8.0 * UNIT * np.abs(excess)) * (SECOND_ORDER / magnitude)


def _turned_sums(ratio: Array, weight: Array, step: Array, nodes: int) -> ComplexArray:
    """sum_j weight_j (e^{i u L_j} - 1) at u = 0, step, 2 step, ..., with errors relative to |u L_j|.

    By the sine and cosine of half the angle; u = (p R + r) step, so that the angle is a sum of two.
    """
    inner = max(1, math.isqrt(nodes))
    outer = -(-nodes // inner)
    out = np.zeros((*weight.shape[:2], outer, inner), dtype=np.complex128)
    for begin in range(0, ratio.shape[1], _BLOCK):  # so that few roundings add up
        part = ratio[:, begin : begin + _BLOCK]
        own = weight[:, :, None, begin : begin + _BLOCK]
        angle = (0.5 * step[:, None] * np.arange(inner))[:, :, None] * part[:, None]
        sine = np.sin(angle)
        fine, fine_turn = (np.swapaxes(one, 1, 2)[:, None] for one in (sine * sine, sine * np.cos(angle)))
        angle = (0.5 * step[:, None] * inner * np.arange(outer))[:, :, None] * part[:, None]
        sine = np.sin(angle)
        once, twice = own * (sine * sine)[:, None], own * (sine * np.cos(angle))[:, None]
        out.real -= 2.0 * (once @ (1.0 - fine) + (own - once) @ fine + 2.0 * (twice @ fine_turn))
        out.imag += 2.0 * (twice @ (1.0 - 2.0 * fine) + (own - 2.0 * once) @ fine_turn)
    return out.reshape(*weight.shape[:2], -1)[:, :, :nodes]
