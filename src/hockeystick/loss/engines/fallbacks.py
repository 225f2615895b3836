"""The engines for one ordered pair that are asked where a closed form is missing and the contour proves too little."""

from dataclasses import dataclass

from ..bigjump.atoms import atoms_epsilon, atoms_log_delta, is_sparse_atomic
from ..bigjump.conditional import conditional_epsilon, conditional_log_delta
from ..bigjump.split import big_jump_epsilon, big_jump_log_delta
from ..bigjump.thresholds import is_sparse
from ..composed import ComposedLoss
from ..enumeration.meet_in_middle import enumerated_epsilon, enumerated_log_delta
from ..enumeration.two_point import two_point_epsilon, two_point_log_delta
from ..lattice.refine import few_steps, lattice_epsilon, lattice_log_delta
from ..protocol import Care, Interval
from ..smoothing import can_smooth, smoothed_epsilon, smoothed_log_delta
from .engine import Ask, Engine, Proof, Question


@dataclass(frozen=True)
class Tuning:
    """Of the inversion; every epsilon that is asked bounds log delta from one side."""

    min_log_delta: float = -700.0
    """Below it delta is next to no double."""
    first_fall: float = 1e-3
    """Of log delta, from the upper end, which is the better one; 16 times as far at each step."""
    max_questions: int = 16
    """Each an epsilon: enough for halves of 700 down to a tenth of the first fall."""


TUNING = Tuning()


class BigJump(Engine):
    """Sparsely sampled Gaussian noise: steps with a large loss are split off and integrated, the others follow a contour."""

    name = "big jump"
    method = "single big jumps split off and integrated, the rest along a contour, [mathematics] section 7a"
    needs = "it is for sparsely sampled Gaussian noise and the relation remove"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return is_sparse(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return big_jump_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return big_jump_log_delta(run, question.at)


class ConditionalJump(Engine):
    """The same between the normal bulk and the single large loss: delta of the others, given the large loss."""

    name = "conditional jump"
    method = "the single large loss integrated over, given the others' delta, [mathematics] section 7a"
    needs = "it is for sparsely sampled Gaussian noise and the relation remove"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return is_sparse(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return conditional_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return conditional_log_delta(run, question.at)


class BigJumpAtoms(Engine):
    """Sparsely sampled losses of finitely many values: large ones split off, the others smoothed."""

    name = "big jump of atoms"
    method = "large values split off, the rest smoothed by Gaussian noise, [mathematics] section 7b"
    needs = "it is for sparsely sampled losses that take finitely many values, and the relation remove"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return is_sparse_atomic(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return atoms_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return atoms_log_delta(run, question.at)


class Lattice(Engine):
    """Laws of the loss rounded to a lattice from both sides, tilted, and composed by the fast Fourier transform."""

    name = "lattice"
    method = "the exponentially tilted lattice from both sides, [D22]; its error terms, [mathematics] section 7"
    needs = "the loss is too fine for it"

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return lattice_epsilon(run, question.at, question.slack, question.floor)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return lattice_log_delta(run, question.at, question.care)


class Smoothing(Engine):
    """The privacy profile convolved with Gaussian noise, with a certified correction."""

    name = "smoothing"
    method = "the profile smoothed by Gaussian noise, along a contour, with a certified correction, [mathematics] section 7b"
    needs = "no loss takes finitely many values, or its sums lie too far apart"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return can_smooth(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return smoothed_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return smoothed_log_delta(run, question.at)


class MeetInMiddle(Engine):
    """All sums of a loss of few values: those of half the steps against those of the others."""

    name = "meet in the middle"
    method = "the sums of half the steps against those of the others, [mathematics] section 7b"
    needs = "the loss does not take few values in few steps"

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return enumerated_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return enumerated_log_delta(run, question.at)


class TwoPointSums(Engine):
    """Randomised responses of two answers: sums of independent signs."""

    name = "two-point sums"
    method = "sums of two-point losses, of two halves or binomial, [mathematics] sections 5 and 12"
    needs = "the loss is no sum of two-valued ones"

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return two_point_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return two_point_log_delta(run, question.at)


class FromEpsilons(Engine):
    """log delta from the epsilons of several deltas, where it is not found itself: near the largest loss, for example."""

    name = "inversion"
    method = "the epsilons of several deltas, inverted"
    needs = "it answers for a delta of few steps"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return question.care is Care.ONE and few_steps(run) and question.at > 0.0

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        """The upper end is the better one: from there down by more and more, then by halves."""
        low, high = max(known.low, TUNING.min_log_delta), min(known.high, 0.0)
        fall, below = TUNING.first_fall, known.low
        for _ in range(TUNING.max_questions):
            middle = max(high - fall, 0.5 * (low + high)) if below == known.low else 0.5 * (low + high)
            found = ask(run, Question("epsilon", middle, evaluated=True, most=run.ceiling))
            if found.high <= question.at:
                high, fall = middle, 16.0 * fall
            elif found.low >= question.at:
                low = below = middle
            else:  # it lies within
                break
            if high - below < 0.1 * TUNING.first_fall:
                break
        return below, min(high, known.high)
