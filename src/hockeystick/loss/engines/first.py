"""The engines that are asked first: the compiled core, elementary bounds, closed forms and the contour."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ...native import core
from ...numerics.roots import certified_end, increasing_root
from ...numerics.rounding import FUNCTION
from ..allocated.gaussian import TUNING as ALLOCATION
from ..allocated.gaussian import AllocatedGaussianLoss
from ..allocated.several import SeveralLosses
from ..bigjump.thresholds import is_sparse
from ..bounds.elementary import elementary_bounds, near_one
from ..composed import ComposedLoss
from ..contour.contour import Contour, Saddle, candidate_contours
from ..pairs.discrete import ResponseLoss
from ..pairs.gaussian import GaussianLoss
from ..pairs.laplace import LaplaceLoss
from ..pairs.laplace_closed import MOST as MOST_IN_CLOSED_FORM
from ..protocol import Inconclusive, Interval, largest
from ..sampled.gaussian import SampledGaussianLoss
from ..sampled.revealed import revealed_parts
from ..tolerance import SETTLED, WIDE
from .closed import closed_epsilon, closed_form, has_closed
from .compiled import (
    BIG_JUMP,
    CoreAnswer,
    gaussian_epsilon,
    gaussian_log_deltas,
    laplace_epsilon,
    laplace_log_deltas,
    response_epsilon,
    revealed_epsilon,
    revealed_log_deltas,
    sampled_epsilon,
    sampled_log_deltas,
)
from .engine import Ask, Engine, Proof, Question


@dataclass(frozen=True)
class Tuning:
    """When a contour's answer is looked at once more; nothing here enters a proof."""

    near_one: float = -1e-3
    """log delta, above which 1 - delta is what counts, and bounds delta from below."""
    known_anyway: float = -0.5
    """log delta, below which an upper end shows that delta is not next to 1."""


TUNING = Tuning()


def epsilon_question(log_delta: float) -> Question:
    """An epsilon for a logarithm of delta that was rounded."""
    return Question("epsilon", log_delta, FUNCTION * abs(log_delta))


def compiled_log_deltas(run: ComposedLoss, epsilons: Sequence[float]) -> list[Interval | None]:
    """Both ends of log delta at epsilons that grow, where the core proves them close."""
    if len(run.terms) == 1:
        loss, count = run.terms[0]
        if isinstance(loss, GaussianLoss) and count == 1:
            return gaussian_log_deltas(loss.square, epsilons)
        if isinstance(loss, LaplaceLoss):
            return laplace_log_deltas(loss.a, count, epsilons)
        if isinstance(loss, SampledGaussianLoss) and count > 1:
            shape = loss.shape
            return sampled_log_deltas((shape.noise, shape.rate, shape.noise_error), count, loss.removals, epsilons)
        if count > 1 and (revealed := revealed_parts(loss)):
            return revealed_log_deltas(revealed[0], count, revealed[1], epsilons)
    return [None] * len(epsilons)


class Compiled(Engine):
    """One mechanism, repeated, whole in the compiled core, which does there what the engines below do in NumPy."""

    name = "compiled core"
    method = "computed in compiled code"
    needs = "it answers for one mechanism, repeated, and only where it was compiled"
    joint = True

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return len(run.terms) == 1 and (core is not None or run.terms[0][1] == 1)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | None:
        found = run.core_answers.get(("epsilon", question.delta)) if question.delta is not None else None
        if found is None:
            found = _compiled_epsilon(run, question)
        if not found:
            return None
        by = self.name, _compiled_engine(run, found)
        return Proof(found[0], found[1], by, by)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | None:
        key = "log delta", question.at
        found = run.core_answers[key] if key in run.core_answers else compiled_log_deltas(run, [question.at])[0]
        return Proof(found[0], found[1], (self.name,), (self.name,)) if found else None


def _compiled_epsilon(run: ComposedLoss, question: Question) -> CoreAnswer:
    loss, count = run.terms[0]
    if isinstance(loss, SampledGaussianLoss):
        if question.evaluated or count == 1:  # one sampled step has a closed form
            return None
        shape = loss.shape
        given = shape.noise, shape.rate, shape.noise_error
        return sampled_epsilon(given, count, loss.removals, question.at, question.floor)
    if revealed := revealed_parts(loss):
        return (
            None
            if question.evaluated or count == 1
            else revealed_epsilon(revealed[0], count, revealed[1], question.at, question.floor)
        )
    if question.delta is None:
        return None
    if isinstance(loss, ResponseLoss) and loss.categories == 2 and not loss.delta:
        return response_epsilon(loss.epsilon, count, question.delta)
    if count == 1 and isinstance(loss, GaussianLoss):
        return gaussian_epsilon(loss.square, question.delta)
    return laplace_epsilon(loss.a, count, question.delta) if isinstance(loss, LaplaceLoss) else None


def _compiled_engine(run: ComposedLoss, found: tuple[float, ...]) -> str:
    """Which of the engines below the core stands in for."""
    loss, count = run.terms[0]
    if len(found) > 2:
        return "big jump" if found[2] == BIG_JUMP else ContourIntegral.name
    if isinstance(loss, ResponseLoss):
        return "two-point sums"
    return ContourIntegral.name if isinstance(loss, LaplaceLoss) and count > MOST_IN_CLOSED_FORM else ClosedForm.name


class Elementary(Engine):
    """What holds for every run."""

    name = "elementary bounds"
    method = "bounds that hold for every run, [mathematics] section 6"
    joint = True

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return True

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval | None:
        """0, where the steps' total variation distances add up to less than delta."""
        sparse = all(math.log(max(count * loss.coarse_estimates[0], 1e-300)) < question.at for loss, count in run.terms)
        if (
            sparse
            and largest(elementary_bounds(single, 0.0) for single in run.ordered_pairs())[1] <= question.at - question.slack
        ):
            return 0.0, 0.0
        return None

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return largest(elementary_bounds(single, question.at) for single in run.ordered_pairs())


class ClosedForm(Engine):
    """A single step, Gaussian noise alone, few steps of Laplace noise."""

    name = "closed form"
    method = "the closed form of a single step (Gaussian steps are one, [BW18]) or of few Laplace steps, [mathematics] section 5"
    needs = "only Gaussian noise alone, a single step and few of Laplace noise have a closed form"
    joint = True

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        if len(run.terms) != 1:
            return False
        loss, count = run.terms[0]
        return (count == 1 or isinstance(loss, LaplaceLoss)) and has_closed(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return largest(
            closed_epsilon(single, question.at, (question.at - question.slack, question.at + question.slack))
            for single in run.ordered_pairs()
        )

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval | None:
        found = [closed_form(single, question.at) for single in run.ordered_pairs()]
        if any(one is None for one in found):
            return None
        return largest((one.low, one.high) for one in found if one)


class ContourIntegral(Engine):
    """The inverse Laplace transform on a vertical line through the saddle point."""

    name = "contour"
    method = "the contour integral through the saddle point, [A23]; its error terms, [mathematics] sections 2 to 4"
    needs = "the loss has atoms only, along which no contour fades"
    joint = True

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        if not run.has_decay or question.evaluated or allocated(run):
            return False
        # one sparse mechanism whose epsilon the core did not prove: the big jump is sooner there
        sparse = core is not None and run.rows > 1 and len(run.terms) == 1 and is_sparse(run.ordered_pairs()[0])
        return question.asks == "log delta" or not sparse

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return contour_epsilon(run, question.at, (question.at - question.slack, question.at + question.slack), question.floor)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return contour_log_delta(run, question.at)


def allocated(run: ComposedLoss) -> bool:
    """Whether records are allocated to steps somewhere: then the contours of both orders have little in common."""
    return any(isinstance(loss, AllocatedGaussianLoss | SeveralLosses) for loss, _ in run.terms)


class ContourAgain(ContourIntegral):
    """The same for one ordered pair after all, where nothing else proved an upper end."""

    joint = False

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return run.has_decay and not allocated(run) and question.evaluated and question.most == math.inf


def contour_epsilon(run: ComposedLoss, log_delta: float, target: Interval, floor: float = 0.0) -> Interval:
    """Both ends of epsilon for the log delta that lies within `target`; nothing more is done once it is at most `floor`."""
    first = Contour(run, Saddle.of_delta(run, log_delta))
    low, high = 0.0, first.markov_epsilon(target[0])
    if high <= floor:
        return low, high
    for contour in candidate_contours(run, first):
        ends = _on_contour(contour, log_delta, target)
        low, high = max(low, ends[0]), min(high, ends[1])
        if high - low < SETTLED * high:
            break
    if high - low > SETTLED * high and allocated(run):
        # K bends up so sharply that the saddle point of delta may be far right of that of its epsilon
        for contour in _nearer(run, first, low, high):
            ends = _on_contour(contour, log_delta, target)
            low, high = max(low, ends[0]), min(high, ends[1])
            if high - low < WIDE * high:
                break
    return low, high


def _nearer(run: ComposedLoss, first: Contour, low: float, high: float) -> Iterator[Contour]:
    """Contours nearer to the saddle point of the epsilon, about which something is known or nothing."""
    if 0.7 * high < low:
        yield Contour(run, Saddle.of_epsilon(run, 0.5 * (low + high)))
        return
    for share in ALLOCATION.left_shares:
        yield Contour(run, first.saddle.shifted_left(run, share))


def contour_log_delta(run: ComposedLoss, epsilon: float) -> Interval:
    """Both ends of log delta(epsilon)."""
    low, high = -math.inf, math.inf
    for contour in candidate_contours(run, Contour(run, Saddle.of_epsilon(run, epsilon))):
        high = min(high, contour.markov_log_delta(epsilon))
        if contour.evaluate() and (not contour.misses_pair(epsilon) or contour.evaluate(every_pair=True)):
            low, high = max(low, contour.lower(epsilon)), min(high, contour.upper(epsilon))
        if high - low < SETTLED:
            break
    if (
        low < TUNING.near_one and high > TUNING.known_anyway and not run.infinite_mass()
    ):  # the bound is of the whole, not of the finite part
        with suppress(Inconclusive):
            low = max(low, near_one(run, epsilon))
    return low, high


def _on_contour(contour: Contour, log_delta: float, target: Interval) -> Interval:
    """What one contour proves."""
    top = contour.markov_epsilon(target[0])
    if not contour.evaluate():
        return 0.0, top

    def gap(epsilon: float) -> tuple[float, float]:
        value, slope = contour.estimate(epsilon)
        return log_delta - value, -slope

    def search(start: float) -> float:
        return increasing_root(gap, start, enough=lambda _, step: abs(step) * contour.c < 1e-8, steps=30)

    guess = search(contour.saddle.epsilon)
    if contour.misses_pair(guess):
        if not contour.evaluate(every_pair=True):
            return 0.0, top
        guess = search(guess)
    ahead = (contour.error(guess) + target[1] - target[0]) / contour.c  # about where the proofs will end
    return (
        certified_end(lambda e: contour.lower(e) - target[1], guess - ahead, -contour.c),
        min(top, certified_end(lambda e: target[0] - contour.upper(e), guess + ahead, contour.c)),
    )
