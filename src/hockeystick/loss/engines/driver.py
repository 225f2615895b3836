"""The one place that decides how a composed loss is answered: it asks the engines in the order of `registry.py` and intersects
what they prove.

The ordered pairs of a relation are composed each by itself, and the larger answer counts.
"""

import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...numerics.cancellation_free import log_fraction
from ...numerics.rounding import FUNCTION, LARGEST, UNIT, exp_up
from ..bounds.elementary import trivial
from ..bounds.renyi import renyi_epsilon, renyi_log_delta
from ..composed import ComposedLoss
from ..own.density import is_bracketed
from ..protocol import Care, Inconclusive, Interval
from ..tolerance import DECIMALS, DECIMALS_READ, SETTLED, SMALL_EPSILON, converged
from .attained import best_member
from .engine import Engine, Proof, Question
from .first import epsilon_question
from .registry import ELEMENTARY, FIRST, RENYI_CURVE, Step, fallbacks

INFINITE, ATTAINED, READ_AS = "infinite loss", "attained pair", "delta read as the probability of an infinite loss"


@dataclass(frozen=True)
class Tuning:
    """What is asked of which engine; nothing here enters a proof."""

    max_epsilon: float = 1e120
    """Beyond it delta is bounded by that of this epsilon: squares of what engines compute are still doubles."""
    open_width: float = 2.0 * SETTLED
    """Of epsilon, for all ordered pairs together: from here on a contour does not bring one of them closer."""


TUNING = Tuning()

STRICT = os.environ.get("HOCKEYSTICK_STRICT", "0") not in ("", "0")
"""Whether proofs that contradict each other raise (under test), or leave the safe side only (in use)."""

_REPORT = "two proofs contradict each other, a bug of ours, please report it; the larger upper end is kept: {}; {}"


class Contradiction(Exception):
    """Two proofs cannot both hold: one of the engines has a bug."""


class ContradictionWarning(RuntimeWarning):
    """The same in use, where the answer falls to the safe side."""


def epsilon_proof(run: ComposedLoss, delta: float, upper_only: bool = False) -> Proof:
    """Both ends of the smallest epsilon >= 0 with delta(epsilon) <= delta, and which engines proved them."""
    return _bracketed(run, upper_only, 0.0, lambda one: _epsilon(one, delta))


def log_delta_proof(run: ComposedLoss, epsilon: float, care: Care = Care.MANY, upper_only: bool = False) -> Proof:
    """Both ends of log delta(epsilon), and which engines proved them."""
    if not run.exact and any(is_bracketed(loss) for loss, _ in run.terms):
        care = Care.MANY  # both ends of such a pair are farther apart than more care brings closer
    return _bracketed(run, upper_only, -math.inf, lambda one: _log_delta(one, epsilon, care))


def _bracketed(run: ComposedLoss, upper_only: bool, least: float, ask: Callable[[ComposedLoss], Proof]) -> Proof:
    """The answer for a run: from below by pairs that it may be, and only where that is wanted, if it is known by bounds."""
    if run.exact:
        return ask(run)
    high = _best_bound(run, ask)
    found = Proof(least, high.high, high_by=high.high_by, sound=high.sound)
    if upper_only:
        return found
    proof = meet(found, Proof(best_member(run, lambda one: ask(one).low), math.inf, (ATTAINED,)))
    return proof if proof.low >= least else proof._replace(low=least)


def _best_bound(run: ComposedLoss, ask: Callable[[ComposedLoss], Proof]) -> Proof:
    """The least upper end among runs that dominate; those that surely prove nothing better are not asked."""
    best: Proof | None = None
    for place, one in enumerate(run.variants("dominating")):
        if best is not None and (quick := run.sooner(place)) is not None and ask(quick).low >= best.high:
            continue
        found = ask(one)
        best = found if best is None or found.high < best.high else best
    assert best is not None
    return best


def _log_delta(run: ComposedLoss, epsilon: float, care: Care) -> Proof:
    """Of a run whose losses are all exact, or all bounds of it; P(Z = infinity) is added to the finite part."""
    if not run.has_transform:
        return Proof(-math.inf, renyi_log_delta(run, epsilon), high_by=(RENYI_CURVE.name,))
    question = Question("log delta", epsilon, care=care)
    if not run.has_infinite_loss:
        proof = finite(run, question)
    else:
        found = [_with_infinite(finite(single, question), single.infinite_mass()) for single in run.ordered_pairs()]
        least = trivial(epsilon)
        proof = largest_of([*found, Proof(*least, (ELEMENTARY.name,), (ELEMENTARY.name,))])
    if proof.high < 0.0 and run.log_truncated_mass > -math.inf:
        high = float(np.logaddexp(proof.high, run.log_truncated_mass))
        proof = proof._replace(high=high + 4.0 * FUNCTION * (1.0 + abs(high)))
    return proof if proof.high <= 0.0 else proof._replace(high=0.0)  # delta is at most 1, though proofs contradicted each other


def _with_infinite(proof: Proof, mass: Fraction) -> Proof:
    """log delta of one ordered pair, from that of its finite part and P(Z = infinity)."""
    low, high = proof.ends
    if mass:
        sure = log_fraction(mass)
        slack = 8.0 * UNIT * (1.0 + abs(sure))
        low, high = float(np.logaddexp(low, sure - slack)) - slack, float(np.logaddexp(high, sure + slack)) + slack
    return meet(proof._replace(low=low, high=high), Proof(-math.inf, 0.0, (), (ELEMENTARY.name,)))


def _epsilon(run: ComposedLoss, delta: float) -> Proof:
    """Of a run whose losses are all exact, or all bounds of it; P(Z = infinity) is taken from delta."""
    if delta >= 1.0 or not run.terms:
        return Proof(0.0, 0.0, (ELEMENTARY.name,), (ELEMENTARY.name,))
    if not run.has_transform:
        return Proof(0.0, renyi_epsilon(run, delta), high_by=(RENYI_CURVE.name,))
    if not run.has_infinite_loss:
        return finite(run, epsilon_question(math.log(delta) if delta else -math.inf)._replace(delta=delta or None))
    found = []
    for single in run.ordered_pairs():
        # exact, so that it is known whether delta is below the infinite mass, or equal to it
        mass = single.infinite_mass()
        rest = Fraction(delta) - mass
        read = 0 if mass == Fraction(float(mass)) else Fraction(DECIMALS_READ) * Fraction(delta)  # a double can be given itself
        if rest < -read:
            return Proof(math.inf, math.inf, (INFINITE,), (INFINITE,))
        if rest < 0:
            found.append(finite(single, epsilon_question(-math.inf))._replace(low_by=(READ_AS,), high_by=(READ_AS,)))
            continue
        if single.log_truncated_mass > -math.inf:  # elsewhere it is less than the slack of log delta
            rest = max(Fraction(0), rest - Fraction(exp_up(single.log_truncated_mass)))
        found.append(finite(single, epsilon_question(log_fraction(rest) if rest else -math.inf)))
    return largest_of(found)


def finite(run: ComposedLoss, question: Question) -> Proof:
    """What all engines together prove of the finite losses."""
    if question.asks == "epsilon":
        top = max(0.0, run.ceiling)
        if question.at == -math.inf:
            if run.rows > 1:  # whose parts may have their largest losses in different orders
                return largest_of([finite(single, question) for single in run.ordered_pairs()])
            return Proof(max(0.0, min(run.ceiling_below, run.ceiling)), top, (ELEMENTARY.name,), (ELEMENTARY.name,))
        proof = _settle(run, question, Proof(0.0, min(question.most, top), (ELEMENTARY.name,), (ELEMENTARY.name,)))
        return proof if proof.low >= 0.0 else proof._replace(low=0.0)
    if question.at > TUNING.max_epsilon:
        least = finite(run, question._replace(at=TUNING.max_epsilon))  # delta falls in epsilon
        return least._replace(low=-math.inf, low_by=())
    proof = _settle(run, question, Proof(-math.inf, 0.0, (ELEMENTARY.name,), (ELEMENTARY.name,)))
    return proof if proof.high == -math.inf else proof._replace(high=max(proof.high, -LARGEST))


def _settle(run: ComposedLoss, question: Question, proof: Proof) -> Proof:
    """Asks the engines in their order: all ordered pairs at once, then each of several by itself, or what is for one pair."""
    proof, final = _asked(run, question, proof, FIRST[question.asks])
    if final or not run.terms or not _open(question, proof, SETTLED, SETTLED):
        return proof
    if run.rows > 1:
        return meet(proof, _each_order(run, question, proof))
    return _asked(run, question, proof, fallbacks(run, question))[0]


def _asked(run: ComposedLoss, question: Question, proof: Proof, steps: tuple[Step, ...]) -> tuple[Proof, bool]:
    """What these engines prove beside what is known, and whether nothing else need be asked."""
    for step in steps:
        if not _open(question, proof, *_widths(step, question, proof)):
            continue
        found = _first(run, question, proof, step.engines)
        if found is None:
            continue
        if question.asks == "epsilon":  # which is 0 or more
            found = found._replace(low=max(found.low, 0.0), high=max(found.high, 0.0))
        proof = meet(proof, found)
        if step.final and (question.asks == "log delta" or converged(proof.low, proof.high)):
            return proof, True
    return proof, False


def prove(engine: Engine, run: ComposedLoss, question: Question, known: Proof) -> Proof | None:
    """What one engine proves, or None; `Inconclusive` is raised where it would have to spend too much."""
    ask = engine.epsilon if question.asks == "epsilon" else engine.log_delta
    found = ask(run, question, known, finite)
    return Proof(*found, (engine.name,), (engine.name,)) if found is not None and not isinstance(found, Proof) else found


def _first(run: ComposedLoss, question: Question, known: Proof, engines: tuple[Engine, ...]) -> Proof | None:
    """What the first of these proves that is for this run and is not inconclusive."""
    inconclusive = False
    for engine in engines:
        if engine.instead and not inconclusive:
            continue
        try:
            found = prove(engine, run, question, known) if engine.applies(run, question) else None
        except Inconclusive:
            inconclusive = True
            continue
        if found is not None:
            return found
    return None


def _each_order(run: ComposedLoss, question: Question, known: Proof) -> Proof:
    """Each ordered pair by itself, which may prove more: the largest of their answers."""
    found: list[Proof] = []
    for place, single in enumerate(run.ordered_pairs()):
        asked = question
        if question.asks == "epsilon":
            floor = max(question.floor, *(one.low for one in found), 0.0)
            evaluated = place == 0 and _open(question, known, TUNING.open_width)  # contours were those of the first pair
            asked = question._replace(delta=None, floor=floor, most=known.high if evaluated else math.inf, evaluated=evaluated)
        found.append(finite(single, asked))
    return largest_of(found)


def _open(question: Question, proof: Proof, epsilon_width: float, log_delta_width: float = 0.0) -> bool:
    """Whether the ends are farther apart than this (epsilon's relative to it), and where they matter."""
    if question.asks == "epsilon":
        near = proof.high - proof.low <= epsilon_width * (proof.high + SMALL_EPSILON) and proof.high < math.inf
        return proof.high > question.floor and not near
    return proof.low < proof.high - log_delta_width


def _widths(step: Step, question: Question, proof: Proof) -> Interval:
    """How wide the interval must be for the step to be asked: of a single delta nine decimal places are wanted, too."""
    if step.careful and question.care is not Care.MANY:
        return step.epsilon_width, min(step.log_delta_width, 2.0 * DECIMALS * math.exp(min(-proof.high, 15.0)))
    return step.epsilon_width, step.log_delta_width


def meet(known: Proof, found: Proof) -> Proof:
    """What two proofs prove together: their intersection.

    If they contradict each other, by however little, since each has counted its rounding, the largest of all ends is kept as the
    upper one and no lower one, and nothing that is found later lowers it.

    >>> both = meet(Proof(0.0, 2.0, high_by=("contour",)), Proof(1.0, 3.0, ("lattice",), ("lattice",)))
    >>> both.low, both.high, both.low_by, both.high_by
    (1.0, 2.0, ('lattice',), ('contour',))
    """
    low, low_by = (found.low, found.low_by) if found.low > known.low else (known.low, known.low_by)
    high, high_by = (found.high, found.high_by) if found.high < known.high else (known.high, known.high_by)
    if low <= high and known.sound and found.sound:
        return Proof(low, high, low_by, high_by)
    if known.sound and found.sound:
        if STRICT:
            raise Contradiction(f"{found} cannot hold beside {known}")
        warnings.warn(_REPORT.format(known, found), ContradictionWarning, stacklevel=2)
    # an engine that proves a lower end only (its upper one is infinite) proves nothing against an upper end above that
    one_sided = found.high == math.inf and found.low <= known.high
    top = found if found.high > known.high and not one_sided else known
    return Proof(-math.inf, max(top.high, low), (), top.high_by, sound=False)


def largest_of(proofs: list[Proof]) -> Proof:
    """The proof of the largest of several unknowns: each end is the largest of theirs."""
    low = max(proofs, key=lambda one: one.low)
    high = max(proofs, key=lambda one: one.high)
    return Proof(low.low, high.high, low.low_by, high.high_by, all(one.sound for one in proofs))
