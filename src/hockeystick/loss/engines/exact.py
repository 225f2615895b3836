"""The engines that are asked first: the compiled core, elementary bounds, closed forms and the contour."""

import math
from collections.abc import Sequence

from ...errors import Unsupported
from ...native import core
from ...numerics.rounding import down, exp_down
from ..bigjump.thresholds import is_sparse
from ..bounds.elementary import at_least, certain, epsilon_at_least, unsampled, without_bounded
from ..bounds.renyi import renyi_epsilon, renyi_log_delta
from ..composed import ComposedLoss
from ..contour.search import contour_epsilon, contour_log_delta
from ..pairs.discrete import ResponseLoss
from ..pairs.gaussian import GaussianLoss
from ..pairs.laplace import LaplaceLoss
from ..protocol import Interval, Question, largest
from ..sampled.gaussian import SampledGaussianLoss
from .bounded_part import beside_bounded
from .closed import closed_epsilon, closed_form, has_closed
from .compiled import (
    gaussian_epsilon,
    gaussian_log_deltas,
    laplace_epsilon,
    laplace_log_deltas,
    response_epsilon,
    sampled_epsilon,
    sampled_log_deltas,
)
from .engine import Ask, Engine
from .proof import Proof

_LOG_TINY = -700.0  # log of deltas below which a conversion at one order has no doubles to work with
_FEW = 64  # Laplace steps that have a closed form


def compiled_log_deltas(run: ComposedLoss, epsilons: Sequence[float]) -> list[Interval | None]:
    """Both ends of log delta at epsilons that grow, where the core tells them closely."""
    if len(run.terms) == 1:
        loss, count = run.terms[0]
        if isinstance(loss, GaussianLoss) and count == 1:
            return gaussian_log_deltas(loss.square, epsilons)
        if isinstance(loss, LaplaceLoss):
            return laplace_log_deltas(loss.a, count, epsilons)
        if isinstance(loss, SampledGaussianLoss) and count > 1:
            shape = loss.shape
            return sampled_log_deltas((shape.noise, shape.rate, shape.noise_error), count, loss.removals, epsilons)
    return [None] * len(epsilons)


class Compiled(Engine):
    """One mechanism, repeated, whole in the compiled core, which does there what the engines below do in NumPy."""

    name = "compiled core"
    method = "computed in compiled code"
    needs = "it answers for one mechanism, repeated, and only where it was compiled"
    joint = True

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return core is not None and len(run.terms) == 1

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | None:
        loss, count = run.terms[0]
        delta = question.delta
        if delta is not None and delta in run.told:
            found, by = run.told[delta], _compiled_as(run)
        elif isinstance(loss, SampledGaussianLoss):
            if question.evaluated or count == 1:
                return None
            shape = loss.shape
            given = shape.noise, shape.rate, shape.noise_error
            found, by = sampled_epsilon(given, count, loss.removals, question.at, question.floor), _compiled_as(run)
        elif delta is None:
            return None
        elif isinstance(loss, ResponseLoss) and loss.categories == 2 and not loss.delta:
            found, by = response_epsilon(loss.epsilon, count, delta), _compiled_as(run)
        elif count == 1 and isinstance(loss, GaussianLoss):
            found, by = gaussian_epsilon(loss.square, delta), _compiled_as(run)
        elif isinstance(loss, LaplaceLoss):
            found, by = laplace_epsilon(loss.a, count, delta), _compiled_as(run)
        else:
            return None
        return found and Proof(*found, by, by)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | None:
        found = compiled_log_deltas(run, [question.at])[0]
        return found and Proof(*found, _compiled_as(run), _compiled_as(run))


def _compiled_as(run: ComposedLoss) -> tuple[str, ...]:
    """The core, and which of the engines below is compiled there for this run."""
    loss, count = run.terms[0]
    if isinstance(loss, SampledGaussianLoss) and count > 1:
        return (Compiled.name, "big jump" if any(is_sparse(single) for single in run.singles()) else Contour.name)
    if isinstance(loss, LaplaceLoss) and count > _FEW:
        return Compiled.name, Contour.name
    return Compiled.name, "two-point sums" if isinstance(loss, ResponseLoss) else ClosedForm.name


class Elementary(Engine):
    """What holds for every run."""

    name = "elementary bounds"
    method = "bounds that hold for every run, [mathematics] section 6"
    joint = True

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval | None:
        """0, where the steps' total variation distances add up to less than delta."""
        sparse = all(math.log(max(count * loss.rough[0], 1e-300)) < question.at for loss, count in run.terms)
        if sparse and largest(certain(single, 0.0) for single in run.singles())[1] <= question.target[0]:
            return 0.0, 0.0
        return None

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return largest(certain(single, question.at) for single in run.singles())


class ClosedForm(Engine):
    """A single step, Gaussian noise alone, few steps of Laplace noise."""

    name = "closed form"
    method = "the closed form of a single step (Gaussian steps are one, [BW18]) or of few Laplace steps, [mathematics] section 5"
    needs = "only Gaussian noise alone, a single step and few of Laplace noise have a closed form"
    joint = True

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return has_closed(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return largest(closed_epsilon(single, question.at, question.target) for single in run.singles())

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval | None:
        found = [closed_form(single, question.at) for single in run.singles()]
        if any(one is None for one in found):
            return None
        return largest((one.low, one.high) for one in found if one)


class Contour(Engine):
    """The inverse Laplace transform on a vertical line through the saddle point."""

    name = "contour"
    method = "the contour integral through the saddle point, [A23]; its error terms, [mathematics] sections 2 to 4"
    needs = "the loss has atoms only, along which no contour fades"
    joint = True

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        if not run.fades or question.evaluated:
            return False
        # one sparse mechanism whose epsilon the core did not prove: the big jump is sooner there
        sparse = core is not None and run.rows > 1 and len(run.terms) == 1 and is_sparse(run.singles()[0])
        return question.asks == "log delta" or not sparse

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return contour_epsilon(run, question.at, question.target, question.floor)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return contour_log_delta(run, question.at)


class ContourAgain(Contour):
    """The same for one ordered pair after all, where nothing else proved an upper end."""

    joint = False

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return run.fades and question.evaluated and question.most == math.inf


class Unsampled(Engine):
    """The run without its Poisson sampling, from above: sampling is post-processing."""

    name = "unsampled run"
    method = "the same run without sampling, which dominates it, [mathematics] section 6"
    needs = "it stands in where a sampled run has no contour"
    joint = True
    instead = True

    def _asked(self, run: ComposedLoss, question: Question, ask: Ask) -> float | None:
        return None if (plain := unsampled(run)) == run else ask(plain, question).high

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval | None:
        plain = Question("epsilon", question.at)
        return None if (high := self._asked(run, plain, ask)) is None else (0.0, high)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval | None:
        return None if (high := self._asked(run, question, ask)) is None else (-math.inf, high)


class SingleSteps(Engine):
    """From below: a single step of the run, or its largest loss."""

    name = "single steps"
    method = "a single step of the run, or its largest loss, from below, [mathematics] section 6"
    needs = "it bounds from below only"

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return epsilon_at_least(run, question.target[1]), math.inf

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
        return beside_bounded(run, question.at, lambda one, at: ask(one, Question("epsilon", at)).ends, known.high)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval | None:
        if (apart := without_bounded(run)) is None:
            return None
        bounded, others = apart
        return -math.inf, ask(others, question._replace(at=down(question.at - bounded.ceiling))).high


class BoundedPartSoon(BoundedPart):
    """The same without the closer look at how near to their largest the bounded losses are: cheap, where a floor may be all that
    is asked for."""

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return 0.0, beside_bounded(run, question.at, lambda one, at: ask(one, Question("epsilon", at)).ends)[1]


class RenyiCurve(Engine):
    """From above: the cumulant function on the real axis, converted at the best order."""

    name = "Rényi curve"
    method = "the optimal conversion of the Rényi curve at the best order, [AL20] Theorem 3; composed [ZDW22] Theorem 10"
    needs = "it bounds from above only"
    joint = True

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return question.target[0] > _LOG_TINY if question.asks == "epsilon" else not run.infinite()

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval | None:
        try:
            return 0.0, renyi_epsilon(run, exp_down(question.target[0]))
        except Unsupported:  # no order may have a finite bound
            return None

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return -math.inf, renyi_log_delta(run, question.at)
