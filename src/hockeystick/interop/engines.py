"""Our own engines, each asked by itself; `hockeystick.loss.engine` chooses among them and joins what they prove."""

import math
from collections.abc import Callable

from ..loss.bigjump.split import parted_epsilon
from ..loss.bounds.renyi import renyi_epsilon
from ..loss.composed import ComposedLoss
from ..loss.engines.driver import by_closed_form, by_contour, has_closed
from ..loss.enumeration.meet_in_middle import listed_epsilon
from ..loss.enumeration.two_point import signs_epsilon
from ..loss.lattice.refine import lattice_epsilon
from ..loss.pairs.renyi import RenyiLoss
from ..loss.protocol import Inconclusive, Interval, largest
from ..loss.smoothing import smeared_epsilon
from ..numerics.rounding import FUNCTION

Engine = Callable[[ComposedLoss, float, float], Interval]


class Cannot(Exception):
    """This way of computing does not apply; the message says why."""


def _closed(run: ComposedLoss, log_delta: float, slack: float) -> Interval:
    if not has_closed(run):
        raise Cannot("only Gaussian noise alone, a single step and few of Laplace noise have a closed form")
    target = log_delta - slack, log_delta + slack
    return largest(by_closed_form(single, log_delta, target) for single in run.singles())


def _contour(run: ComposedLoss, log_delta: float, slack: float) -> Interval:
    if not run.fades:
        raise Cannot("the loss has atoms only, along which no contour fades")
    return by_contour(run, log_delta, (log_delta - slack, log_delta + slack))


def _each(engine: Engine, why: str) -> Engine:
    """By an engine for one ordered pair that does not know every loss."""

    def ask(run: ComposedLoss, log_delta: float, slack: float) -> Interval:
        ends = []
        for single in run.singles():
            try:
                ends.append(engine(single, log_delta, slack))
            except Inconclusive:
                ends.append((0.0, math.inf))
        found = largest(ends)
        if found[1] == math.inf:
            raise Cannot(why)
        return found

    return ask


def _lattice(run: ComposedLoss, log_delta: float, slack: float) -> Interval:
    return largest(lattice_epsilon(single, log_delta, slack) for single in run.singles())


def _real_axis(run: ComposedLoss, log_delta: float, slack: float) -> Interval:
    return 0.0, renyi_epsilon(run, math.exp(log_delta - 4.0 * slack))


ENGINES: dict[str, Engine] = {
    "closed form": _closed,
    "contour": _contour,
    "marked steps": _each(parted_epsilon, "it is for sparsely sampled Gaussian noise and the relation remove"),
    "listed sums": _each(listed_epsilon, "the loss does not take few values in few steps"),
    "smearing": _each(smeared_epsilon, "no loss takes finitely many values, or its sums lie too far apart"),
    "lattice": _lattice,
    "sums of signs": _each(signs_epsilon, "the loss is no sum of two-valued ones"),
    "Rényi curve": _real_axis,
}


def asked(engine: str, run: ComposedLoss, delta: float) -> Interval:
    """Both ends of epsilon by one engine alone, or `Cannot`."""
    if not 0.0 < delta < 1.0 or not run.terms:
        raise Cannot("there is nothing to compute")
    if not run.exact or run.ends or any(isinstance(loss, RenyiLoss) for loss, _ in run.terms):
        raise Cannot("the run is known by bounds only, or has an infinite loss: the engines are asked together")
    log_delta = math.log(delta)
    try:
        low, high = ENGINES[engine](run, log_delta, FUNCTION * abs(log_delta))
    except Inconclusive:
        raise Cannot("the loss is too fine for it") from None
    if not math.isfinite(high):
        raise Cannot("it proves nothing here")
    return max(0.0, low), max(0.0, high)
