"""Where a lattice is placed, and its tilt (docs/mathematics/lattice.md, section 7).  Nothing of it is part of a proof."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..composed import ComposedLoss
from ..contour.guess import likely_cap
from ..protocol import Inconclusive


@dataclass(frozen=True)
class Tuning:
    """What decides the extent of a lattice, by guides only: too short a window costs another lattice, a long one its points."""

    max_size: int = 1 << 19
    """Points of the largest lattice, but for one question of delta alone."""
    log_tolerance: float = 18.0
    """-log of the relative size allowed to what the window leaves out."""
    log_tolerance_nine_digits: float = 24.0
    """Likewise where nine digits are wanted."""
    steep_log_delta: float = -100.0
    """Below it the tilt is so steep that the coarse scale must be finer near epsilon."""
    orders_ahead: tuple[float, ...] = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0)
    """Where Chernoff's bound is tried, right of the tilt, in units of the width of the tilted law's transform."""


TUNING = Tuning()


class Plan(NamedTuple):
    """The window of a lattice, and its exponential tilting."""

    theta: float  # the tilt
    centre: float  # an epsilon near the answer
    period: float  # the length of a period
    order_ahead: float  # Chernoff's bound is taken at theta + this
    margin: float  # over theta: how far below the centre the window begins
    ranges: list[tuple[float, float]]  # of the losses of the steps

    @property
    def least_size(self) -> int:
        """A period of fewer points could not follow the tilt."""
        return power_of_two_above(self.theta * self.period)

    @staticmethod
    def of(
        run: ComposedLoss, centre: float, log_delta: float, margin: float, stretch: float = 1.0, nine_digits: bool = False
    ) -> "Plan":
        """A tilt near the saddle point: the one with the shortest window among those that leave enough mass at the centre.

        (Near the largest loss the saddle point runs away, and under sparse sampling it lies where K has exploded.)  A loss that
        lifts the sum above epsilon whatever the others do may be replaced by a smaller one that does so, too.
        """
        steps = math.log(sum(count for _, count in run.terms))
        tolerance = TUNING.log_tolerance_nine_digits if nine_digits else TUNING.log_tolerance
        # E e^-Z is at most 1, so that a loss above this cap, taken for infinite, adds no more to delta than e^{epsilon - cap}
        cap = centre - log_delta + tolerance + 4.0 + steps
        cap = cap if nine_digits else min(cap, likely_cap(run, centre))
        near = centre if log_delta < TUNING.steep_log_delta else 0.0
        theta = run.saddle_of_epsilon(centre, expand=lambda c: run.coarse_expand(c, cap, near))
        top = 1e3 * (tolerance - log_delta) / max(centre, 1e-13)  # a shorter window is of no use
        if run.lattice_step:
            top = min(top, 10.0 / run.lattice_step)
        theta = min(theta, top)
        if not theta > 1e-290:  # epsilon is out of a lattice's scale
            raise Inconclusive
        plans = []

        def tried(theta: float) -> tuple[float, float]:
            """How far a window must reach to the left and to the right."""
            value, _, second = run.coarse_expand(theta, cap, near)
            busy = value if value > 1.0 else math.log(max(math.expm1(value), 1e-300))
            share = log_delta - busy + theta * centre  # of delta in what the transform sees
            right, ahead = math.inf, 0.0
            for more in (np.array(TUNING.orders_ahead) * max(min(1.0 / math.sqrt(second), 4.0 * theta), 1e-300)).tolist():
                needed = (run.coarse_expand(theta + more, cap, near)[0] - log_delta - (theta + more) * centre + tolerance) / more
                if needed < right:
                    right, ahead = needed, more
            left = (tolerance - log_delta) / theta
            plans.append((share, max(left, right) + 2.0 * margin / theta, theta, ahead))
            return left, right

        left, right = tried(theta)
        # whichever is longer becomes shorter; a smaller tilt would otherwise only ask for more
        ratio = 0.7 if right >= 1.2 * left else 1.0 / 0.7 if nine_digits else 0.0
        for _ in range(11):
            theta *= ratio
            if not 0.0 < theta <= top:
                break
            left, right = tried(theta)
            if (right < 1.2 * left) == (ratio < 1.0):
                break
        enough = max(plan[0] for plan in plans) - 6.0
        _, period, theta, ahead = min((plan for plan in plans if plan[0] >= enough), key=lambda plan: plan[1])
        ranges = []
        for loss, _ in run.terms:
            coarse = run.coarse(loss, near)
            low, high = coarse.range(log_delta - tolerance - steps)
            # what lies below weighs next to nothing once it is tilted
            floor = (coarse.expand(theta, cap)[0] - tolerance - steps) / theta
            ranges.append((min(max(low, floor), high), min(high, cap)))
        return Plan(theta, centre, period * stretch, ahead, margin, ranges)


def power_of_two_above(length: float) -> int:
    """The next power of two."""
    return 1 << math.ceil(math.log2(min(max(length, 1.0), 4.0 * TUNING.max_size)))
