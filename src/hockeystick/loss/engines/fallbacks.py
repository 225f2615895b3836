"""The engines for one ordered pair that are asked where a closed form is missing and the contour proves too little."""

from ..bigjump.atoms import counts_large, large_epsilon, large_log_delta
from ..bigjump.conditional import jump_epsilon, jump_log_delta
from ..bigjump.split import parted_epsilon, parted_log_delta
from ..bigjump.thresholds import parts
from ..composed import ComposedLoss
from ..enumeration.meet_in_middle import listed_epsilon, listed_log_delta
from ..enumeration.two_point import signs_epsilon, signs_log_delta
from ..lattice.refine import few, lattice_epsilon, lattice_log_delta
from ..protocol import Care, Interval
from ..smoothing import smeared_epsilon, smeared_log_delta, spreads
from .engine import Ask, Engine, Proof, Question

_LEAST = -700.0  # log delta that is looked for at the least
_FALL, _ASKED = 1e-3, 16  # of log delta, and questions


class BigJump(Engine):
    """Sparsely sampled Gaussian noise: steps with a large loss are integrated apart, the others along a contour."""

    name = "big jump"
    method = "single big jumps split off and integrated, the rest along a contour, [mathematics] section 7a"
    needs = "it is for sparsely sampled Gaussian noise and the relation remove"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return parts(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return parted_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return parted_log_delta(run, question.at)


class ConditionalJump(Engine):
    """The same between the normal bulk and the single large loss: delta of the others, given the large loss."""

    name = "conditional jump"
    method = "the single large loss integrated over, given the others' delta, [mathematics] section 7a"
    needs = "it is for sparsely sampled Gaussian noise and the relation remove"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return parts(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return jump_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return jump_log_delta(run, question.at)


class BigJumpAtoms(Engine):
    """Sparsely sampled losses of finitely many values: large ones apart, the others smoothed."""

    name = "big jump of atoms"
    method = "large values split off, the rest smoothed by Gaussian noise, [mathematics] section 7b"
    needs = "it is for sparsely sampled losses that take finitely many values, and the relation remove"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return counts_large(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return large_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return large_log_delta(run, question.at)


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
        return spreads(run)

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return smeared_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return smeared_log_delta(run, question.at)


class MeetInMiddle(Engine):
    """All sums of a loss of few values: those of half the steps against those of the others."""

    name = "meet in the middle"
    method = "the sums of half the steps against those of the others, [mathematics] section 7b"
    needs = "the loss does not take few values in few steps"

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return listed_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return listed_log_delta(run, question.at)


class TwoPointSums(Engine):
    """Randomised responses of two answers: sums of independent signs."""

    name = "two-point sums"
    method = "sums of two-point losses, of two halves or binomial, [mathematics] sections 5 and 12"
    needs = "the loss is no sum of two-valued ones"

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return signs_epsilon(run, question.at, question.slack)

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        return signs_log_delta(run, question.at)


class FromEpsilons(Engine):
    """log delta from the epsilons of several deltas, where it is not found itself: near the largest loss, for example."""

    name = "inversion"
    method = "the epsilons of several deltas, inverted"
    needs = "it answers for a delta of few steps"

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        return question.care is Care.ONE and few(run) and question.at > 0.0

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Interval:
        """The upper end is the better one: from there down by more and more, then by halves."""
        low, high = max(known.low, _LEAST), min(known.high, 0.0)
        fall, below = _FALL, known.low
        for _ in range(_ASKED):
            middle = max(high - fall, 0.5 * (low + high)) if below == known.low else 0.5 * (low + high)
            found = ask(run, Question("epsilon", middle, evaluated=True, most=run.ceiling))
            if found.high <= question.at:
                high, fall = middle, 16.0 * fall
            elif found.low >= question.at:
                low = below = middle
            else:  # it lies within
                break
            if high - below < 0.1 * _FALL:
                break
        return below, min(high, known.high)
