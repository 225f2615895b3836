"""Our own engines, each asked by itself; `hockeystick.loss.engines` asks them in their order and intersects what they prove."""

import math

from ..loss.composed import ComposedLoss
from ..loss.engines.driver import largest_of, prove
from ..loss.engines.engine import Engine, Proof, Question
from ..loss.engines.first import epsilon_question
from ..loss.protocol import Inconclusive, Interval


class Cannot(Exception):
    """This way of computing does not apply; the message says why."""


def asked(engine: Engine, run: ComposedLoss, delta: float) -> Interval:
    """Both ends of epsilon by one engine alone, or `Cannot`."""
    if not 0.0 < delta < 1.0 or not run.terms:
        raise Cannot("there is nothing to compute")
    if not run.exact or run.has_infinite_loss or not run.has_transform:
        raise Cannot("the run is known by bounds only, or has an infinite loss: the engines are asked together")
    question = epsilon_question(math.log(delta))._replace(delta=delta)
    found = [_alone(engine, one, question) for one in ([run] if engine.joint else run.ordered_pairs())]
    known = [one for one in found if one is not None]
    low, high = largest_of(known).ends if len(known) == len(found) else (0.0, math.inf)
    if not math.isfinite(high):
        raise Cannot(engine.needs)
    return max(0.0, low), max(0.0, high)


def _alone(engine: Engine, run: ComposedLoss, question: Question) -> Proof | None:
    if not engine.applies(run, question):
        return None
    try:
        return prove(engine, run, question, Proof(0.0, run.ceiling))
    except Inconclusive:
        return None
