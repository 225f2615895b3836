"""All engines, and the order in which they are asked.

The order is a table: it depends on the run and on how close an answer is wanted, never on what was asked before.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ..bigjump.thresholds import is_sparse
from ..composed import ComposedLoss
from ..enumeration.meet_in_middle import cheap_to_enumerate
from ..lattice.refine import few_steps
from ..protocol import Care
from ..smoothing import can_smooth
from ..tolerance import SETTLED, WIDE
from .allocation import AllocatedAlone, AllocatedContour, CappedAllocation, Unallocated
from .engine import Engine, Question
from .fallbacks import (
    BigJump,
    BigJumpAtoms,
    ConditionalJump,
    FromEpsilons,
    Lattice,
    MeetInMiddle,
    Smoothing,
    TwoPointSums,
)
from .first import ClosedForm, Compiled, ContourAgain, ContourIntegral, Elementary, allocated
from .last import BoundedPart, BoundedPartSoon, RenyiCurve, SingleSteps, Unsampled

_ALL = (
    COMPILED := Compiled(),
    ELEMENTARY := Elementary(),
    CLOSED := ClosedForm(),
    ALONE := AllocatedAlone(),
    CAPPED := CappedAllocation(),
    CONTOUR := ContourIntegral(),
    UNSAMPLED := Unsampled(),
    BIG_JUMP := BigJump(),
    MEET_IN_MIDDLE := MeetInMiddle(),
    LATTICE := Lattice(),
    SMOOTHING := Smoothing(),
    BIG_JUMP_ATOMS := BigJumpAtoms(),
    CONDITIONAL_JUMP := ConditionalJump(),
    TWO_POINT_SUMS := TwoPointSums(),
    FROM_EPSILONS := FromEpsilons(),
    SINGLE_STEPS := SingleSteps(),
    BOUNDED_PART := BoundedPart(),
    UNALLOCATED := Unallocated(),
    RENYI_CURVE := RenyiCurve(),
)
ENGINES: dict[str, Engine] = {engine.name: engine for engine in _ALL}
_SOON, CONTOUR_AGAIN, _ALLOCATED = BoundedPartSoon(), ContourAgain(), AllocatedContour()


@dataclass(frozen=True)
class Tuning:
    """Widths of epsilon (relative) and of log delta from which an engine is asked, and steps that decide which is cheaper."""

    exact: float = 1e-14
    """Of log delta: nothing is gained below it."""
    slow: tuple[float, float] = (5e-6, 1e-4)
    """Of epsilon and of log delta: for an engine that costs as much as all others, tenths of a second."""
    close: float = 3e-8
    """Of epsilon: with an allocation nothing closer is looked for, as it costs tenths of a second."""
    half_digit: float = 1e-3
    """Of epsilon: single steps seldom prove more."""
    no_digit: float = 1e-2
    """Of epsilon: a conversion at one order is seldom closer."""
    no_delta: float = 0.1
    """Of log delta: an inversion costs several epsilons."""
    no_scale: float = 1.0
    """Of log delta, likewise of a conversion."""
    smoothing_steps: int = 64
    """Of fewer a lattice is cheaper than smoothing."""
    enumeration_steps: int = 20_000
    """Of fewer, but more than the above, a lattice of their own is cheaper than enumeration, though it feels their rounding."""


TUNING = Tuning()
_ANY = 0.0  # a width at which an engine is always asked


class Step(NamedTuple):
    """Engines of which the first that answers is enough, and how wide an interval of epsilon (relative) or of log delta must be
    for them to be asked."""

    engines: tuple[Engine, ...]
    epsilon_width: float = _ANY
    log_delta_width: float = _ANY
    careful: bool = False  # asked for a narrower interval of log delta where nine decimal places of delta ask for it
    final: bool = False  # what it proves closely is not asked of others


FIRST = {
    "epsilon": (
        Step((ELEMENTARY,)),
        Step((COMPILED,), final=True),
        Step((CLOSED, CONTOUR, UNSAMPLED)),
    ),
    "log delta": (
        Step((COMPILED,), final=True),
        Step((ELEMENTARY,)),
        Step((CLOSED,), log_delta_width=TUNING.exact, final=True),
        Step((CONTOUR, UNSAMPLED), log_delta_width=TUNING.exact),
    ),
}
"""Asked first, of all ordered pairs at once."""


LAST = {
    "epsilon": (
        Step((CONTOUR_AGAIN, UNSAMPLED), SETTLED),
        Step((BOUNDED_PART,), WIDE),
        Step((UNALLOCATED,), SETTLED),
        Step((SINGLE_STEPS,), TUNING.half_digit),
        Step((RENYI_CURVE,), TUNING.no_digit),
    ),
    "log delta": (
        Step((UNALLOCATED,), log_delta_width=SETTLED),
        Step((FROM_EPSILONS,), log_delta_width=TUNING.no_delta),
        Step((SINGLE_STEPS,)),
        Step((BOUNDED_PART,), log_delta_width=WIDE),
        Step((RENYI_CURVE,), log_delta_width=TUNING.no_scale),
    ),
}
"""Asked last, of one ordered pair at a time."""


def fallbacks(run: ComposedLoss, question: Question) -> tuple[Step, ...]:
    """What is asked of one ordered pair where the first engines prove too little."""
    fine = question.care is Care.ONE
    soon = (Step((_SOON,)),) if question.floor else ()
    conditional = (Step((CONDITIONAL_JUMP,), *TUNING.slow, careful=True),) if fine else ()
    return (*soon, *_by_kind(run, fine), *conditional, Step((TWO_POINT_SUMS,), WIDE, WIDE, careful=True), *LAST[question.asks])


def _by_kind(run: ComposedLoss, fine: bool) -> list[Step]:
    """The lattice, and what goes before or after it, by the kind of the run."""
    if allocated(run):
        return [Step((ALONE,)), Step((CAPPED,), TUNING.close, SETTLED), Step((_ALLOCATED,), TUNING.close, SETTLED)]
    sparse = is_sparse(run)
    lattice = Step((LATTICE,), TUNING.slow[0] if sparse else WIDE, SETTLED if fine and few_steps(run) else WIDE, careful=True)
    big_jump, sooner = (Step((BIG_JUMP,), width, width, careful=True) for width in (WIDE, SETTLED))
    if sparse:  # the lattice seldom does better; of few steps it is cheaper, and serves more than one epsilon
        return [lattice, big_jump] if not fine and few_steps(run) else [sooner, lattice]
    if not can_smooth(run):
        return [lattice]
    smoothing = [Step((engine,), WIDE, WIDE, careful=True) for engine in (BIG_JUMP_ATOMS, SMOOTHING)]
    steps = sum(count for _, count in run.terms)
    found = [lattice, *smoothing] if run.lattice_step > 0.0 or steps < TUNING.smoothing_steps else [*smoothing, lattice]
    if cheap_to_enumerate(run):  # on a lattice of its own, many steps are transformed faster, but it feels their rounding
        later = run.lattice_step > 0.0 and TUNING.smoothing_steps < steps < TUNING.enumeration_steps
        found.insert(1 if later else 0, Step((MEET_IN_MIDDLE,), SETTLED, SETTLED, careful=True))
    elif fine:  # slowly, if all else fails
        found.append(Step((MEET_IN_MIDDLE,), WIDE, WIDE, careful=True))
    return found
