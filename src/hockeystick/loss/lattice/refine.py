"""Answers from lattices (`lattice.py`): where to lay them, how fine, and which to keep."""

import math

from ..composed import ComposedLoss
from ..contour.guess import dense, estimate, guess
from ..protocol import Care, Inconclusive
from .lattice import Lattice
from .plan import MOST, Plan, points_of

_LEAST = 1 << 11
_TRIES = 8
_FEW = 12
_KEPT, _CHEAP = 1 << 20, 1 << 15  # points of the lattices that are kept, and of one that costs little
_SMALL = -20.0  # log of a delta that is known to nine decimal places anyway
_CLOSE = 4e-7  # ends of log delta, for one question of many
DECIMALS, _DECIMALS = 2e-10, 1e-7  # ends of delta, for others, and for one of many
_SAME = 0.02  # over theta: as far from a centre a lattice of the same size is the same


def lattice_epsilon(run: ComposedLoss, log_delta: float, slack: float, floor: float = 0.0) -> tuple[float, float]:
    """Both ends of epsilon for a run of one ordered pair, on finer and finer lattices until they are close.

    Nothing more is done once epsilon is known to be at most `floor`.
    """
    _check(run)
    low, high = -math.inf, math.inf
    size, margin, stretch, centre = _LEAST, 12.0, 1.0, dense(run, log_delta)
    starts = [centre]  # where nothing was found yet
    most = _most(run, 2 * MOST)
    for _ in range(_TRIES):
        plan = Plan.of(run, centre, log_delta, margin, stretch)
        lattice = _laid(run, plan, size, most)
        if lattice is None:
            return low, high
        size, ends = lattice.size, lattice.epsilon(log_delta, slack)
        low, high = max(low, ends[0]), min(high, ends[1])
        goal = 2e-6 * max(min(high, centre), 0.0) + 5e-10
        enough = goal if size < MOST else 3.0 * goal
        if high - max(low, 0.0) <= enough or high <= floor or (run.lattice_step and math.isfinite(ends[1] - ends[0])):
            return low, high
        if math.isfinite(ends[1] - ends[0]):
            centre = 0.5 * (ends[0] + ends[1])
            margin = min(2.0 + plan.theta * (ends[1] - ends[0] + 2.0 * lattice.step), 20.0)
            size = _finer(size, (ends[1] - ends[0]) / goal, most)
        elif ends[1] < centre + 1.0 / plan.theta:  # the lattice is too coarse for the lower end
            centre, size = ends[1], size * 4
        elif ends[0] > -math.inf:  # the answer may lie below the window
            centre, size = max(ends[0], 1e-13), size * 2
        elif len(starts) == 1:
            starts.append(guess(run, log_delta))
            centre = starts[1]
        elif not run.lattice_step and centre <= starts[-1] and lattice.above(log_delta):
            centre = min(max(lattice.high.point(0), 1e-13), 0.75 * centre)
        else:  # the lattice may be too coarse, the window too short, the other start better
            size, stretch = size * 4, stretch * 1.3
            starts.reverse()
            centre = starts[0]
        del lattice  # it is large
    return low, high


def _most(run: ComposedLoss, most: int) -> int:
    """The largest size of a lattice: two laws may be as large, more of them together no larger than these."""
    return min(most, 1 << (2 * most // len(run.terms)).bit_length() - 1)


def _laid(run: ComposedLoss, plan: Plan, size: int, most: int) -> Lattice | None:
    """A lattice of this size, or of the least that the plan or the run itself asks for; none if that is too large or too fine."""
    size = max(points_of(plan.window / run.lattice_step), 64) if run.lattice_step else max(size, plan.least)
    if size > most:
        return None
    try:
        return Lattice(run, plan, size)
    except Inconclusive:
        return None


def _finer(size: int, excess: float, most: int) -> int:
    """The next size, if the width falls with its square; the largest one before none."""
    wanted = size << min(4, max(1, math.ceil(0.5 * math.log2(excess))))
    return wanted if size >= most else min(wanted, most)


def lattice_log_delta(run: ComposedLoss, epsilon: float, care: Care = Care.MANY) -> tuple[float, float]:
    """Both ends of log delta(epsilon) likewise; as the only question as close as can be: of few steps to nine digits.

    Lattices serve the epsilons near them, too.
    """
    _check(run)
    fine, sharp = care > Care.MANY, care is Care.ONE and few(run)
    most = _most(run, 2 * MOST if fine else MOST)

    def goal(theta: float, size: int, high: float) -> float:
        """More is wanted of few steps, where that is cheap."""
        if sharp:
            return 5e-10
        least = 1e-9 if fine else _CLOSE if size < most else 4.0 * _CLOSE
        decimals = (DECIMALS if fine else _DECIMALS) * math.exp(min(-high, 15.0))
        bound = max(least, decimals) if size < most else 1e-3
        close = (few(run) and size < _CHEAP) or (fine and size < most)
        return min(max(theta * 2e-6 * abs(epsilon), least), 5e-7 if close else 1e-3, bound)

    for kept in run.lattices:
        low, high = kept.log_delta(epsilon)
        close = high - low <= goal(kept.theta, min(kept.size, most - 1), high)
        best = kept.size == most or high - low < kept.noise(high)
        if close or (best and abs(epsilon - kept.centre) * kept.theta < _SAME):  # else, another one may do better
            return low, high
    low, high = -math.inf, math.inf
    size, stretch, about = _LEAST, 1.0, min(estimate(run, epsilon), -1e-9)
    for _ in range(3 if run.lattice_step else _TRIES):
        near = fine and about > _SMALL
        plan = Plan.of(run, epsilon, about, 0.5 if near else 4.0, stretch, near)
        _make_room(run.lattices, max(size, plan.least))
        lattice = _laid(run, plan, size, most)
        if lattice is None:
            return low, high
        size, ends = lattice.size, lattice.log_delta(epsilon)
        low, high = max(low, ends[0]), min(high, ends[1])
        last = run.lattice_step > 0.0 or size == most or high - low < lattice.noise(high)
        if high - low <= goal(plan.theta, size, high) or (last and math.isfinite(ends[1] - ends[0])):
            if size > MOST:
                lattice.trim()
            run.lattices.insert(0, lattice)
            return low, high
        if math.isfinite(ends[1] - ends[0]):
            about = min(0.5 * (ends[0] + min(ends[1], ends[0] + 1.0)), 0.0)  # the lower end is the better one
            size = _finer(size, (ends[1] - ends[0]) / goal(plan.theta, size, high), most)
        else:
            size, stretch = size * 4, stretch * 1.5
        del lattice  # it is large
    return low, high


def _make_room(lattices: list[Lattice], size: int) -> None:
    """Lets go of the oldest ones, so that another one of this size may be kept: before it is laid, for they are large."""
    while lattices and size + sum(one.size for one in lattices) > _KEPT:
        lattices.pop()


def few(run: ComposedLoss) -> bool:
    """Whether there are so few steps that delta can be told to nine digits."""
    return sum(count for _, count in run.terms) <= _FEW


def _check(run: ComposedLoss) -> None:
    """Refuses what is out of a lattice's scale: rounding of so many steps, losses that are all tiny or huge."""
    _, mean, variance = run.coarse_expand(0.0)
    if sum(count for _, count in run.terms) > 10**12 or not (1e-9 < math.sqrt(variance) < 1e7 and mean < 1e12):
        raise Inconclusive
