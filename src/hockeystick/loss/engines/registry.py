"""The engines that stand in, for a run of one ordered pair, where a closed form is missing and the contour proves too little."""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from ..bigjump.atoms import large_epsilon, large_log_delta
from ..bigjump.conditional import jump_epsilon, jump_log_delta
from ..bigjump.split import parted_epsilon, parted_log_delta
from ..bigjump.thresholds import parts
from ..composed import ComposedLoss
from ..enumeration.meet_in_middle import listed_epsilon, listed_log_delta, soon_listed
from ..enumeration.two_point import signs_epsilon, signs_log_delta
from ..lattice.refine import DECIMALS, few, lattice_epsilon, lattice_log_delta
from ..protocol import Care, Inconclusive, Interval, contradict
from ..smoothing import smeared_epsilon, smeared_log_delta, spreads

_WIDE, _LEAST = 0.1, -700.0  # of log delta
_FALL, _ASKED = 1e-3, 16  # of log delta, and questions
_FINEST = 1e-9  # the least width with which any of them is asked
_STEPS, _MANY = 64, 20_000  # below which a lattice is cheaper than smearing, and than counting


class _StandIn(NamedTuple):
    """What it tells, and how wide an interval of epsilon (relative) or of log delta must be to ask it."""

    epsilon: Callable[[ComposedLoss, float, float], Interval]
    log_delta: Callable[[ComposedLoss, float], Interval]
    epsilon_width: float = 1e-6
    delta_width: float = 1e-6


def _chosen(run: ComposedLoss, floor: float, care: Care) -> list[_StandIn]:
    """In the order in which they are asked."""
    fine = care is Care.ONE
    lattice = _StandIn(
        lambda run, log_delta, slack: lattice_epsilon(run, log_delta, slack, floor),
        lambda run, epsilon: lattice_log_delta(run, epsilon, care),
        5e-6 if parts(run) else 1e-6,  # where steps are parted, a lattice seldom does better
        _FINEST if fine and few(run) else 1e-6,
    )
    found = [lattice]
    if parts(run) and not fine and few(run):  # a lattice is cheaper, and serves more than one epsilon
        found.append(_StandIn(parted_epsilon, parted_log_delta))
    elif parts(run):
        found.insert(0, _StandIn(parted_epsilon, parted_log_delta, _FINEST, _FINEST))
    elif spreads(run):
        smearing = [_StandIn(large_epsilon, large_log_delta), _StandIn(smeared_epsilon, smeared_log_delta)]
        steps = sum(count for _, count in run.terms)
        found = [lattice, *smearing] if run.native > 0.0 or steps < _STEPS else [*smearing, lattice]
        if soon_listed(run):  # on a lattice of its own, many steps are transformed faster, but it feels their rounding
            later = run.native > 0.0 and _STEPS < steps < _MANY
            found.insert(1 if later else 0, _StandIn(listed_epsilon, listed_log_delta, _FINEST, _FINEST))
        elif fine:  # slowly, if all else fails
            found.append(_StandIn(listed_epsilon, listed_log_delta))
    if fine:
        found.append(_StandIn(jump_epsilon, jump_log_delta, 5e-6, 1e-4))
    return [*found, _StandIn(signs_epsilon, signs_log_delta)]


def closer_epsilon(run: ComposedLoss, log_delta: float, slack: float, floor: float, ends: Interval) -> Interval:
    """Closer ends of epsilon, for log delta known up to slack; nothing more is done once epsilon is at most `floor`."""
    low, high = ends
    if high < math.inf and high - low <= _FINEST * (high + 1e-6):
        return ends
    for one in _chosen(run, floor, Care.ONE):
        if high > floor and (high == math.inf or high - low > one.epsilon_width * (high + 1e-6)):
            with suppress(Inconclusive):
                found = one.epsilon(run, log_delta, slack)
                low, high = _joined((low, high), (max(found[0], 0.0), max(found[1], 0.0)))  # epsilon is 0 or more
    return low, high


def closer_log_delta(run: ComposedLoss, epsilon: float, care: Care, ends: Interval) -> Interval:
    """Closer ends of log delta(epsilon)."""
    low, high = ends
    for one in _chosen(run, 0.0, care):
        width = one.delta_width if care is Care.MANY else min(one.delta_width, 2.0 * DECIMALS * math.exp(min(-high, 15.0)))
        if low < high - width:
            with suppress(Inconclusive):
                low, high = _joined((low, high), one.log_delta(run, epsilon))
    if care is Care.ONE and few(run) and epsilon > 0.0 and high - low > _WIDE:
        low, high = _by_epsilon(run, epsilon, (low, high))
    return low, high


def _by_epsilon(run: ComposedLoss, epsilon: float, ends: Interval) -> Interval:
    """From the epsilons of several deltas, where those of this epsilon are not found: near the largest loss, for example.

    The upper end is the better one: from there down by more and more, then by halves.
    """
    low, high = max(ends[0], _LEAST), min(ends[1], 0.0)
    fall, below = _FALL, ends[0]
    for _ in range(_ASKED):
        middle = max(high - fall, 0.5 * (low + high)) if below == ends[0] else 0.5 * (low + high)
        found = closer_epsilon(run, middle, 0.0, 0.0, (0.0, run.ceiling))
        if found[1] <= epsilon:
            high, fall = middle, 16.0 * fall
        elif found[0] >= epsilon:
            low = below = middle
        else:  # it lies within
            break
        if high - below < 0.1 * _FALL:
            break
    return below, min(high, ends[1])


def _joined(known: Interval, found: Interval) -> Interval:
    """What both prove; ends that contradict each other by far would be a mistake of ours, and the safe one is kept."""
    low, high = max(known[0], found[0]), min(known[1], found[1])
    if contradict(low, high):
        return -math.inf, max(known[1], found[1])
    return low, high
