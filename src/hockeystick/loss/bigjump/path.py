"""The step of the trapezoidal rule over the noise of a thresholded step, and a bound of its error along a path in the plane.

docs/mathematics.md, section 7a: Lemma 19c (soft thresholds off the real line), Lemma 19d (the trapezoidal rule along a path).
"""

import math
from dataclasses import dataclass

import numpy as np

from ...native import loops
from ...native.loops import loop
from ...numerics.cancellation_free import Array
from ...numerics.normal import LOG_ROOT_TWO_PI, log_tail_bound
from ..protocol import Inconclusive
from .cells import SLACK, ThresholdedCells
from .cells import TUNING as CELLS


@dataclass(frozen=True)
class Tuning:
    """None of it enters the proof: along every path the bound holds."""

    top_angle: float = 0.74
    """Of the highest line of the path, over the noise; below pi/4."""
    angle_ratio: float = 0.8
    """From one height of the path to the next lower one."""
    angle_count: int = 32
    """Heights of the path; the lowest has an angle below 1e-3, so that it serves wherever the integrand turns fast."""
    first_steps: tuple[float, float] = (0.01, 1e-5)
    """Over the noise: steps of which one must be proved before the longest is sought, a usual one and the shortest of any use."""
    log_step_accuracy: float = 0.05
    """The longest step is sought no closer: a shorter one costs a few per cent more nodes, a search more bounds."""


TUNING = Tuning()
LEVELS = TUNING.top_angle * TUNING.angle_ratio ** np.arange(float(TUNING.angle_count))[:, None]
"""Angles of the lines z + i noise angle; `native/` has as many."""
_LOG_STEPS = math.log(TUNING.first_steps[0]), math.log(TUNING.first_steps[1])


class RuleCells(ThresholdedCells):
    """The cells of a thresholded step, with the trapezoidal rule over its noise."""

    def choose_step(
        self, large: bool, tilt: Array, log_goal: float, plain: Array | None = None, reach: float = 0.0, beyond: float = -math.inf
    ) -> tuple[float, float]:
        """About the longest step at which the trapezoidal rule errs by at most e^log_goal, and a bound of its error.

        For nu if `large`, else for 1 - nu and kappa - nu together; times e^tilt or, if `plain` is given, e^{tilt + reach arg} +
        e^plain on the broad cells.

        Beyond the cells the integral on the lowest line is below e^beyond, or falls.
        """
        step, error = self._choose_step(large, self.broad_cells(large), tilt, log_goal, plain, reach, beyond)
        if not step > 0.0:
            raise Inconclusive
        return step, error

    @loop(loops.rule)
    def _choose_step(
        self, large: bool, part: slice, tilt: Array, log_goal: float, plain: Array | None, reach: float, beyond: float
    ) -> tuple[float, float]:
        modulus = self.shifted_moduli(LEVELS, True)[0] if large else np.logaddexp(*self.shifted_moduli(LEVELS, False))
        if plain is None:
            modulus = modulus + tilt
        else:
            share = self.share[part][1:]
            arg = np.arctan2(share * np.sin(LEVELS), 1.0 - share * (1.0 - np.cos(LEVELS)))
            modulus = modulus + np.logaddexp(tilt + reach * arg, plain)
        if beyond == -math.inf:
            beyond = float(modulus[-1, -1]) + log_tail_bound(float(self.edges[part][-1]))
        return self._rule(modulus, log_goal, beyond)

    def _rule(self, log_modulus: Array, log_goal: float, beyond: float) -> tuple[float, float]:
        """The same from the modulus; 0 if there is no such step.

        `log_modulus` bounds log of the integrand without the normal density, on each of the LEVELS and broad cells; `beyond`
        bounds log of its integral right of the cells on the lowest line.

        docs/mathematics.md, Lemma 19d: the rule errs by at most the integral of the modulus over 1/(e^{2 pi a/step} - 1) along
        any two paths z + ia and z - ia, a > 0 depending on z.  Each cell takes its best a (the last one the lowest) or a lower
        one, and at an edge between two heights the path goes straight up or down.
        """
        edges = self.edges[:: CELLS.broad_cells][: log_modulus.shape[1] + 1]
        width = float(edges[1] - edges[0])
        near = np.where(edges[:-1] > 0.0, edges[:-1], np.minimum(edges[1:], 0.0))
        heights = self.shape.noise * LEVELS
        log_f = log_modulus + (0.5 * heights * heights - 0.5 * near * near - LOG_ROOT_TWO_PI)
        # straight up: what bounds every lower height, too, and between the heights
        (low, high_x, low_width, high_width), rate = self.thresholds, self.shape.rate
        sharpest = min(high_width / (high_x + rate), low_width / (low + rate) if self.has_small else 1.0)
        between = np.diff(np.cos(LEVELS[:, 0]), append=1.0) * (0.75 / sharpest)
        upright_f = np.maximum.accumulate(log_f[::-1], axis=0)[::-1] + (between * between + math.log(2.0))[:, None]
        cells = np.arange(near.size)

        def error(step: float) -> float:
            rise = 2.0 * math.pi / step * heights
            kernel = rise + np.log(-np.expm1(-rise))
            best = (log_f - kernel).argmin(axis=0)
            best[-1] = heights.size - 1
            # by no more than two heights from cell to cell, the lower the better; heights fall with their number
            best = np.maximum.accumulate(best + 2 * cells) - 2 * cells
            best = (np.maximum.accumulate(best[::-1] + 2 * cells) - 2 * cells)[::-1]
            along = np.exp(np.minimum(log_f[best, cells] - kernel[best, 0], 700.0))
            down, over = np.maximum(best[:-1], best[1:]), np.minimum(best[:-1], best[1:])
            upright = np.minimum(upright_f[over, cells[:-1]], upright_f[over, cells[1:]]) - kernel[down, 0]
            steps = float(np.exp(np.minimum(upright, 700.0)) @ (heights[over, 0] - heights[down, 0]))
            # left of the cells the density falls (its integral is below its value at the edge) and nothing else grows
            right = math.exp(min(beyond + 0.5 * float(heights[-1, 0]) ** 2 - float(kernel[-1, 0]), 700.0))
            return 2.0 * (float(along.sum()) * width + float(along[0]) + steps + right) * (1.0 + SLACK)

        goal, high = math.exp(log_goal), math.log(self.shape.noise)
        low = next((high + start for start in _LOG_STEPS if error(math.exp(high + start)) < goal), math.inf)
        if low == math.inf:
            return 0.0, 0.0
        while high - low > TUNING.log_step_accuracy:
            middle = 0.5 * (low + high)
            if error(math.exp(middle)) < goal:
                low = middle
            else:
                high = middle
        return math.exp(low), error(math.exp(low))
