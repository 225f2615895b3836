"""Where to look for an answer: rough epsilons and deltas, and the plan of a lattice.  Nothing of it is part of a proof."""

import math
from typing import NamedTuple

import numpy as np

from ..composed import ComposedLoss
from ..contour.guess import likely_cap
from ..protocol import Inconclusive

MOST = 1 << 19
_TOLERANCE, _FINE = 18.0, 24.0  # -log of the relative size allowed to what the window leaves out
_STEEP = -100.0  # log of a delta that takes a steep tilt
_AHEAD = np.array([0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0, 256.0])


class Plan(NamedTuple):
    """Where a lattice is laid, and how it is tilted."""

    theta: float
    centre: float  # an epsilon near the answer
    window: float  # the length of a period
    ahead: float  # Chernoff's bound is taken at theta + ahead
    margin: float  # over theta: how far below the centre the window begins
    ranges: list[tuple[float, float]]  # of the losses of the steps

    @property
    def least(self) -> int:
        """A period of fewer points could not follow the tilt."""
        return points_of(self.theta * self.window)

    @staticmethod
    def of(run: ComposedLoss, centre: float, log_delta: float, margin: float, stretch: float = 1.0, fine: bool = False) -> "Plan":
        """A tilt near the saddle point: the one with the shortest window among those that leave enough mass at the centre.

        `fine` if nine digits are wanted.

        (Near the largest loss the saddle point runs away, and under sparse sampling it lies where K has exploded.)  A loss that
        lifts the sum above epsilon whatever the others do need not be told from a larger one.
        """
        steps, tolerance = math.log(sum(count for _, count in run.terms)), _FINE if fine else _TOLERANCE
        # E e^-Z is at most 1, so that a loss above this cap, taken for infinite, adds no more to delta than e^{epsilon - cap}
        cap = centre - log_delta + tolerance + 4.0 + steps
        cap = cap if fine else min(cap, likely_cap(run, centre))
        near = centre if log_delta < _STEEP else 0.0
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
            for more in (_AHEAD * max(min(1.0 / math.sqrt(second), 4.0 * theta), 1e-300)).tolist():
                needed = (run.coarse_expand(theta + more, cap, near)[0] - log_delta - (theta + more) * centre + tolerance) / more
                if needed < right:
                    right, ahead = needed, more
            left = (tolerance - log_delta) / theta
            plans.append((share, max(left, right) + 2.0 * margin / theta, theta, ahead))
            return left, right

        left, right = tried(theta)
        # whichever is longer becomes shorter; a smaller tilt would otherwise only ask for more
        ratio = 0.7 if right >= 1.2 * left else 1.0 / 0.7 if fine else 0.0
        for _ in range(11):
            theta *= ratio
            if not 0.0 < theta <= top:
                break
            left, right = tried(theta)
            if (right < 1.2 * left) == (ratio < 1.0):
                break
        enough = max(plan[0] for plan in plans) - 6.0
        _, window, theta, ahead = min((plan for plan in plans if plan[0] >= enough), key=lambda plan: plan[1])
        ranges = []
        for loss, _ in run.terms:
            coarse = run.coarse(loss, near)
            low, high = coarse.range(log_delta - tolerance - steps)
            # what lies below weighs next to nothing once it is tilted
            floor = (coarse.expand(theta, cap)[0] - tolerance - steps) / theta
            ranges.append((min(max(low, floor), high), min(high, cap)))
        return Plan(theta, centre, window * stretch, ahead, margin, ranges)


def points_of(length: float) -> int:
    """The next power of two."""
    return 1 << math.ceil(math.log2(min(max(length, 1.0), 4.0 * MOST)))
