"""The engines for random allocation when a record is removed: large steps weighed down."""

import math
from dataclasses import dataclass
from typing import Any

from ...numerics.rounding import UNIT
from ..allocated.alone import epsilon_alone
from ..allocated.capped_loss import CappedLoss, cap_for, log_lost
from ..allocated.gaussian import AllocatedGaussianLoss
from ..allocated.largest import largest_noise_epsilon, largest_noise_log_delta
from ..allocated.moments import AllocatedStep
from ..allocated.several import SeveralLosses
from ..composed import ComposedLoss, composed
from ..pairs.gaussian import GaussianLoss
from ..protocol import Inconclusive, Interval
from ..tolerance import SETTLED
from .engine import Ask, Engine, Proof, Question
from .first import ContourIntegral, allocated, contour_epsilon, contour_log_delta


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    shares: tuple[float, ...] = (1e-9, 1e-7, 1e-5)
    """Of delta, that may be lost to the weight: the next if one proves too little."""
    enough: float = 1e-7
    """Relative width of epsilon, or absolute of log delta, with which the next is not tried."""
    least_saddle: float = 12.0
    """c below which the contour itself takes fewer nodes."""
    least_steps: int = 16
    """Of an epoch by itself: of fewer the sum of likelihood ratios is far from normal."""
    tilts: tuple[float, float] = (0.12, 1.1)
    """Of one epoch by itself: below, large steps do not matter; above, tails are so heavy that lines take many nodes."""
    steepest: float = 5.0
    """The tilt from which a contour takes minutes."""
    least_log_delta: float = -600.0
    """Below it there are few doubles."""
    first_log_delta: float = -60.0
    """Where nothing is known of delta yet."""


TUNING = Tuning()


def _opened(run: ComposedLoss) -> ComposedLoss:
    """The run with blocks of several epochs (docs/mathematics/allocation.md, Lemma 40a) as parts of their own."""
    uses: list[tuple[Any, int]] = []
    for loss, count in run.terms:
        uses += [(one, each * count) for one, each in loss.parts] if isinstance(loss, SeveralLosses) else [(loss, count)]
    return composed(uses)


def _removals(run: ComposedLoss) -> int:
    return sum(count for loss, count in run.terms if isinstance(loss, AllocatedGaussianLoss))


def _capped(run: ComposedLoss, log_allowed: float) -> tuple[ComposedLoss, float]:
    """The run with its allocated steps weighed, and log of a bound of what that takes off delta (Lemma 47)."""
    uses: list[tuple[Any, int]] = []
    epochs, lost = _removals(run), 0.0
    for loss, count in run.terms:
        if isinstance(loss, AllocatedGaussianLoss):
            cap = cap_for(loss.step, log_allowed - math.log(epochs))
            lost += count * math.exp(log_lost(loss.step, cap) - log_allowed)
            uses.append((CappedLoss(loss.step, cap), count))
        else:
            uses.append((loss, count))
    return composed(uses), log_allowed + math.log(lost) + 1e-12


class CappedAllocation(Engine):
    """Random allocation of Gaussian noise, a record removed: steps far out are weighed down, which leaves exponential moments."""

    name = "capped allocation"
    method = "large steps weighed down, the rest along a contour, [mathematics] section 18"
    needs = "it is for random allocation of Gaussian noise and the relation remove"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        parts = [loss for loss, _ in _opened(run).terms if isinstance(loss, AllocatedGaussianLoss)]
        return run.rows == 1 and bool(parts) and all(loss.removal for loss in parts) and run.has_decay

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        run = _opened(run)
        if run.saddle_of_delta(question.at) < TUNING.least_saddle:
            raise Inconclusive
        low, high, found = 0.0, math.inf, False
        for share in TUNING.shares:
            capped, log_off = _capped(run, question.at + math.log(share))
            if capped.saddle_of_delta(question.at) < TUNING.least_saddle:
                break
            rest = question.at + math.log1p(-math.exp(log_off - question.at)) - 8.0 * UNIT * (1.0 + abs(question.at))
            try:
                ends = contour_epsilon(capped, question.at, (rest - question.slack, question.at + question.slack), question.floor)
            except Inconclusive:
                continue
            low, high, found = max(low, ends[0]), min(high, ends[1]), True
            if high - low <= TUNING.enough * high or high <= question.floor:
                break
        if not found:
            raise Inconclusive
        return low, high

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        run = _opened(run)
        if run.saddle_of_epsilon(question.at) < TUNING.least_saddle:
            raise Inconclusive
        low, high, near = -math.inf, math.inf, TUNING.first_log_delta
        for share in (*TUNING.shares, *TUNING.shares):
            capped, log_off = _capped(run, near + math.log(share))
            if capped.saddle_of_epsilon(question.at) < TUNING.least_saddle:
                raise Inconclusive
            ends = contour_log_delta(capped, question.at)
            most = max(ends[1], log_off) + math.log1p(math.exp(-abs(ends[1] - log_off)))
            low, high = max(low, ends[0]), min(high, most + 8.0 * UNIT * (1.0 + abs(most)))
            if high - low <= SETTLED:
                break
            near = max(min(high, 0.0), -700.0)
        return low, high


class AllocatedAlone(Engine):
    """One epoch by itself, a record removed (docs/mathematics/allocation.md, Lemma 49)."""

    name = "one epoch"
    method = "the sum of an epoch's likelihood ratios along lines, one large step split off, [mathematics] section 18"
    needs = "it is for one epoch of random allocation of Gaussian noise alone and the relation remove"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        if run.rows > 1 or len(run.terms) != 1 or run.terms[0][1] != 1:
            return False
        loss = run.terms[0][0]
        if not isinstance(loss, AllocatedGaussianLoss) or not loss.removal:
            return False
        return loss.step.steps >= TUNING.least_steps and TUNING.tilts[0] < loss.step.tilt < TUNING.tilts[1]

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        loss = run.terms[0][0]
        assert isinstance(loss, AllocatedGaussianLoss)
        if not question.at > TUNING.least_log_delta:
            raise Inconclusive
        return epsilon_alone(loss.step, question.at, question.slack + 16.0 * UNIT)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> None:
        return None


class AllocatedContour(ContourIntegral):
    """The contour of one order of a run with an allocation, at small orders."""

    joint = False

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        steepest = max((loss.step.tilt for loss, _ in _opened(run).terms if isinstance(loss, AllocatedGaussianLoss)), default=0.0)
        return allocated(run) and run.has_decay and steepest < TUNING.steepest


class Unallocated(Engine):
    """The same run with every record in every epoch's only step, which dominates it; from below the largest noise of an epoch."""

    name = "unallocated run"
    method = "the same run with one step an epoch, which dominates it; the test of the largest noise, [mathematics] section 18"
    needs = "it is for random allocation of Gaussian noise"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return allocated(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof:
        found = ask(_unallocated(run), question._replace(delta=None, evaluated=False, most=math.inf))
        least = max((largest_noise_epsilon(*one, question.at + question.slack) for one in _epochs(run)), default=0.0)
        return Proof(max(0.0, least), found.high, (self.name,), (self.name,), found.sound)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof:
        found = ask(_unallocated(run), question)
        least = max((largest_noise_log_delta(*one, question.at) for one in _epochs(run)), default=-math.inf)
        return Proof(least, found.high, (self.name,), (self.name,), found.sound)


def _epochs(run: ComposedLoss) -> list[tuple[AllocatedStep, bool]]:
    """Epochs of the run and whether a record is removed, for each of which delta is at most that of the run."""
    if not run.exact:
        return []
    return [(loss.step, loss.removal) for loss, _ in run.terms if isinstance(loss, AllocatedGaussianLoss)]


def _unallocated(run: ComposedLoss) -> ComposedLoss:
    """With one step an epoch (docs/mathematics/allocation.md, Lemma 46)."""

    def plain(loss: AllocatedGaussianLoss) -> GaussianLoss:
        return GaussianLoss(loss.step.tilt**2 * (1.0 + 2.0 * loss.step.tilt_error + 4.0 * UNIT))

    return composed(
        (plain(loss) if isinstance(loss, AllocatedGaussianLoss) else loss, count) for loss, count in _opened(run).terms
    )
