"""The engines that are asked last: they prove one end, or part of it, where the others prove too little."""

import math
from dataclasses import dataclass

from ...errors import Unsupported
from ...numerics.rounding import down, exp_down
from ..bounds.elementary import at_least, epsilon_at_least, unsampled, without_bounded
from ..bounds.renyi import renyi_epsilon, renyi_log_delta
from ..composed import ComposedLoss
from ..protocol import Interval
from .bounded_part import beside_bounded
from .engine import Ask, Engine, Proof, Question
from .first import epsilon_question


@dataclass(frozen=True)
class Tuning:
    """Which questions an engine leaves to others."""

    min_log_delta: float = -700.0
    """Below it a conversion at one order has no doubles to work with."""


TUNING = Tuning()


class Unsampled(Engine):
    """The run without its Poisson sampling, from above: sampling is post-processing."""

    name = "unsampled run"
    method = "the same run without sampling, which dominates it, [mathematics] section 6"
    needs = "it is for sampled runs that have no contour"
    joint = True
    instead = True

    def _upper(self, run: ComposedLoss, question: Question, ask: Ask, least: float) -> Proof | None:
        if (plain := unsampled(run)) == run:
            return None
        found = ask(plain, question)
        return Proof(least, found.high, (), (self.name,), found.sound)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | None:
        return self._upper(run, Question("epsilon", question.at, question.slack), ask, 0.0)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | None:
        return self._upper(run, question, ask, -math.inf)


class SingleSteps(Engine):
    """From below: a single step of the run, or its largest loss."""

    name = "single steps"
    method = "a single step of the run, or its largest loss, from below, [mathematics] section 6"
    needs = "it bounds from below only"

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return epsilon_at_least(run, question.at + question.slack), math.inf

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return at_least(run, question.at), math.inf


class BoundedPart(Engine):
    """Bounded losses at or near their largest, beside the others."""

    name = "bounded part"
    method = "the bounded losses at or near their largest, and the others beside them, [mathematics] section 6"
    needs = "it is for runs of which some losses are bounded and others are not"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return without_bounded(run) is not None

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return beside_bounded(run, question.at, lambda one, at: ask(one, epsilon_question(at)).ends, known.high)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | None:
        if (split := without_bounded(run)) is None:
            return None
        bounded, others = split
        found = ask(others, question._replace(at=down(question.at - bounded.ceiling)))
        return Proof(-math.inf, found.high, (), (self.name,), found.sound)


class BoundedPartSoon(BoundedPart):
    """The same without the closer look at how near to their largest the bounded losses are: cheap, where a floor may be all that
    is asked for."""

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return 0.0, beside_bounded(run, question.at, lambda one, at: ask(one, epsilon_question(at)).ends)[1]


class RenyiCurve(Engine):
    """From above: the cumulant function on the real axis, converted at the best order."""

    name = "Rényi curve"
    method = "the optimal conversion of the Rényi curve at the best order, [AL20] Theorem 3; composed [ZDW22] Theorem 10"
    needs = "it bounds from above only"
    joint = True

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return (question.at - question.slack) > TUNING.min_log_delta if question.asks == "epsilon" else not run.infinite_mass()

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval | None:
        try:
            # which takes the infinite mass from the delta of the whole
            delta = exp_down(question.at - question.slack) + float(max(one.infinite_mass() for one in run.ordered_pairs()))
            return 0.0, renyi_epsilon(run, down(delta) if run.has_infinite_loss else delta)
        except Unsupported:  # no order may have a finite bound
            return None

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return -math.inf, renyi_log_delta(run, question.at)
