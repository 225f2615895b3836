"""Answers from lattices (`lattice.py`): where they are placed, how fine, and which are kept."""

import math
from dataclasses import dataclass

from ..composed import ComposedLoss
from ..contour.guess import estimate_epsilon, estimate_log_delta, saddle_point_epsilon
from ..protocol import Care, Inconclusive
from ..tolerance import DECIMALS
from .lattice import Lattice
from .plan import TUNING as PLAN
from .plan import Plan, power_of_two_above


@dataclass(frozen=True)
class Tuning:
    """How fine a lattice becomes, at what cost.  The ends of every lattice are certified, whatever these are."""

    min_size: int = 1 << 11
    """Points of the first lattice: cheap, and enough to see where a finer one should be."""
    max_lattices: int = 8
    """For one question."""
    few_steps: int = 12
    """Of so few the rounding allows nine digits of delta."""
    max_points_kept: int = 1 << 20
    """Of all lattices that a run keeps for other questions: their memory against the time to make them again."""
    cheap_size: int = 1 << 15
    """Points of a lattice that costs little, so that few steps are known more closely than asked for."""
    small_log_delta: float = -20.0
    """Below it nine decimal places of delta are there anyway."""
    log_delta_width: float = 4e-7
    """With which one question of many counts as answered."""
    delta_width: float = 1e-7
    """Likewise of delta itself."""
    same_tilts: float = 0.02
    """Over theta: so near to the centre of a lattice another of the same size would be the same."""


TUNING = Tuning()


def lattice_epsilon(run: ComposedLoss, log_delta: float, slack: float, floor: float = 0.0) -> tuple[float, float]:
    """Both ends of epsilon for a run of one ordered pair, on finer and finer lattices until they are close.

    Nothing more is done once epsilon is known to be at most `floor`.
    """
    _check(run)
    low, high = -math.inf, math.inf
    size, margin, stretch, centre = TUNING.min_size, 12.0, 1.0, saddle_point_epsilon(run, log_delta)
    starts = [centre]  # where nothing was found yet
    most = _max_size(run, 2 * PLAN.max_size)
    for _ in range(TUNING.max_lattices):
        plan = Plan.of(run, centre, log_delta, margin, stretch)
        lattice = _lattice(run, plan, size, most)
        if lattice is None:
            return low, high
        size, ends = lattice.size, lattice.epsilon(log_delta, slack)
        low, high = max(low, ends[0]), min(high, ends[1])
        goal = 2e-6 * max(min(high, centre), 0.0) + 5e-10
        enough = goal if size < PLAN.max_size else 3.0 * goal
        if high - max(low, 0.0) <= enough or high <= floor or (run.lattice_step and math.isfinite(ends[1] - ends[0])):
            return low, high
        if math.isfinite(ends[1] - ends[0]):
            centre = 0.5 * (ends[0] + ends[1])
            margin = min(2.0 + plan.theta * (ends[1] - ends[0] + 2.0 * lattice.step), 20.0)
            size = _finer_size(size, (ends[1] - ends[0]) / goal, most)
        elif ends[1] < centre + 1.0 / plan.theta:  # the lattice is too coarse for the lower end
            centre, size = ends[1], size * 4
        elif ends[0] > -math.inf:  # the answer may lie below the window
            centre, size = max(ends[0], 1e-13), size * 2
        elif len(starts) == 1:
            starts.append(estimate_epsilon(run, log_delta))
            centre = starts[1]
        elif not run.lattice_step and centre <= starts[-1] and lattice.window_is_above(log_delta):
            centre = min(max(lattice.window_high.point(0), 1e-13), 0.75 * centre)
        else:  # the lattice may be too coarse, the window too short, the other start better
            size, stretch = size * 4, stretch * 1.3
            starts.reverse()
            centre = starts[0]
        del lattice  # it is large
    return low, high


def _max_size(run: ComposedLoss, most: int) -> int:
    """The largest size of a lattice: two laws may be as large, more of them together no larger than these."""
    return min(most, 1 << (2 * most // len(run.terms)).bit_length() - 1)


def _lattice(run: ComposedLoss, plan: Plan, size: int, most: int) -> Lattice | None:
    """A lattice of this size, or of the least that the plan or the run itself asks for; none if that is too large or too fine."""
    size = max(power_of_two_above(plan.period / run.lattice_step), 64) if run.lattice_step else max(size, plan.least_size)
    if size > most:
        return None
    try:
        return Lattice(run, plan, size)
    except Inconclusive:
        return None


def _finer_size(size: int, excess: float, most: int) -> int:
    """The next size, if the width falls with its square; the largest one before none."""
    wanted = size << min(4, max(1, math.ceil(0.5 * math.log2(excess))))
    return wanted if size >= most else min(wanted, most)


def lattice_log_delta(run: ComposedLoss, epsilon: float, care: Care = Care.MANY) -> tuple[float, float]:
    """Both ends of log delta(epsilon) likewise; for a single question as close as can be: of few steps to nine digits.

    Lattices are kept with the run, and serve the epsilons near them, too.
    """
    _check(run)
    fine, sharp = care > Care.MANY, care is Care.ONE and few_steps(run)
    most = _max_size(run, 2 * PLAN.max_size if fine else PLAN.max_size)

    def goal(theta: float, size: int, high: float) -> float:
        """More is wanted of few steps, where that is cheap."""
        if sharp:
            return 5e-10
        least = 1e-9 if fine else TUNING.log_delta_width if size < most else 4.0 * TUNING.log_delta_width
        decimals = (DECIMALS if fine else TUNING.delta_width) * math.exp(min(-high, 15.0))
        bound = max(least, decimals) if size < most else 1e-3
        close = (few_steps(run) and size < TUNING.cheap_size) or (fine and size < most)
        return min(max(theta * 2e-6 * abs(epsilon), least), 5e-7 if close else 1e-3, bound)

    for kept in run.lattices:
        low, high = kept.log_delta(epsilon)
        close = high - low <= goal(kept.theta, min(kept.size, most - 1), high)
        best = kept.size == most or high - low < kept.rounding_floor(high)
        if close or (best and abs(epsilon - kept.centre) * kept.theta < TUNING.same_tilts):  # else, another one may do better
            return low, high
    low, high = -math.inf, math.inf
    size, stretch, about = TUNING.min_size, 1.0, min(estimate_log_delta(run, epsilon), -1e-9)
    for _ in range(3 if run.lattice_step else TUNING.max_lattices):
        near = fine and about > TUNING.small_log_delta
        plan = Plan.of(run, epsilon, about, 0.5 if near else 4.0, stretch, near)
        _make_room(run.lattices, max(size, plan.least_size))
        lattice = _lattice(run, plan, size, most)
        if lattice is None:
            return low, high
        size, ends = lattice.size, lattice.log_delta(epsilon)
        low, high = max(low, ends[0]), min(high, ends[1])
        last = run.lattice_step > 0.0 or size == most or high - low < lattice.rounding_floor(high)
        if high - low <= goal(plan.theta, size, high) or (last and math.isfinite(ends[1] - ends[0])):
            if size > PLAN.max_size:
                lattice.trim()
            run.lattices.insert(0, lattice)
            return low, high
        if math.isfinite(ends[1] - ends[0]):
            about = min(0.5 * (ends[0] + min(ends[1], ends[0] + 1.0)), 0.0)  # the lower end is the better one
            size = _finer_size(size, (ends[1] - ends[0]) / goal(plan.theta, size, high), most)
        else:
            size, stretch = size * 4, stretch * 1.5
        del lattice  # it is large
    return low, high


def _make_room(lattices: list[Lattice], size: int) -> None:
    """Drops the oldest ones, so that another one of this size may be kept: before it is made, for they are large."""
    while lattices and size + sum(one.size for one in lattices) > TUNING.max_points_kept:
        lattices.pop()


def few_steps(run: ComposedLoss) -> bool:
    """Whether there are so few steps that nine digits of delta are within reach."""
    return sum(count for _, count in run.terms) <= TUNING.few_steps


def _check(run: ComposedLoss) -> None:
    """Refuses what is out of a lattice's scale: rounding of so many steps, losses that are all tiny or huge."""
    _, mean, variance = run.coarse_expand(0.0)
    if sum(count for _, count in run.terms) > 10**12 or not (1e-9 < math.sqrt(variance) < 1e7 and mean < 1e12):
        raise Inconclusive
