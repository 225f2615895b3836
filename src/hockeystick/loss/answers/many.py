"""Many questions of one run: a contour through the saddle point of one epsilon serves those near it.

The bounds of the aliasing and of the truncation error (docs/mathematics.md, Lemmas 6 and 7) hold at every epsilon, whichever the
contour was made for; only their width grows away from it (section 2, "Many questions, many runs").  So the middle one of the
questions gets a contour, those that it answers closely are done, and the ones left of them and right of them are answered in the
same way.  What no contour answers closely is asked by itself.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION
from ..composed import ComposedLoss
from ..contour.contour import Contour, Saddle
from ..contour.vectorised import contour_ends, estimates
from ..engines.closed import has_closed
from ..engines.driver import epsilon_proof, log_delta_proof
from ..engines.first import compiled_log_deltas
from ..protocol import Care, Inconclusive, Interval
from ..tolerance import SETTLED


@dataclass(frozen=True)
class Tuning:
    """Which contour answers which questions; nothing here enters a proof."""

    newton_steps: int = 6
    """Towards the epsilons of many deltas at once: with fewer the ends miss the answer, each more evaluates all nodes again."""

    min_questions: int = 4
    """Fewer do not make up for the guess and the nodes of a contour of their own."""

    shared_width: float = 1e-11
    """The width in log delta up to which a contour serves the questions around its own, however narrow it is there: less makes
    more contours, more makes answers wider than those of questions asked by themselves."""

    max_log_delta: float = -1e-3
    """Above it 1 - delta is what counts, which the driver asks for by itself."""


TUNING = Tuning()


def log_delta_intervals(
    run: ComposedLoss, epsilons: Sequence[float], upper_only: bool = False, most_care: Care = Care.ONE
) -> list[Interval]:
    """Both ends of log delta at each epsilon; not the lower ones of runs known by bounds if only the upper ones are wanted."""
    finite = sorted({one for one in epsilons if abs(one) < math.inf})
    compiled = zip(finite, compiled_log_deltas(run, finite), strict=True) if len(finite) > 1 else ()  # one is asked by the driver
    found: dict[float, Interval] = {}
    for one, ends in compiled:
        if ends and ends[0] <= ends[1]:
            found[one] = ends
            continue
        run.core_answers["log delta", one] = ends  # the core is not asked again; the driver sees what contradicts itself

    def answer(contour: Contour, wanted: list[float]) -> tuple[Array, Array]:
        low, high = contour_ends(contour, np.array(wanted))
        return low, np.where(high < TUNING.max_log_delta, high, math.inf)

    if len(finite) >= TUNING.min_questions + len(found) and _by_contours_alone(run):
        _share_contours(run, [one for one in finite if one not in found], Saddle.of_epsilon, answer, lambda _: 1.0, found)
    care = min(Care.ONE if len(epsilons) == 1 else Care.CURVE, most_care)
    return [found[one] if one in found else log_delta_proof(run, one, care, upper_only).ends for one in epsilons]


def epsilon_intervals(run: ComposedLoss, deltas: Sequence[float], upper_only: bool = False) -> list[Interval]:
    """Both ends of the smallest epsilon for each delta; likewise."""
    found: dict[float, Interval] = {}

    def answer(contour: Contour, wanted: list[float]) -> tuple[Array, Array]:
        goal = np.array(wanted)
        slack = FUNCTION * np.abs(goal)
        epsilon = contour.saddle.epsilon + (contour.saddle.log_delta - goal) / contour.c
        for _ in range(TUNING.newton_steps):  # Newton's method
            value, slope, error = estimates(contour, epsilon)
            epsilon = epsilon + (goal - value) / np.minimum(slope, -1e-3 * contour.c)
        half_width = (2.0 * error + 2.0 * slack + 1e-15 * np.abs(goal)) / contour.c
        low, high = epsilon - half_width, epsilon + half_width  # a guess, which both ends of the contour certify or not
        certified = (
            (contour_ends(contour, low)[0] >= goal + slack) & (contour_ends(contour, high)[1] <= goal - slack) & (low > 0.0)
        )
        return low, np.where(certified, high, math.inf)

    if len(deltas) >= TUNING.min_questions and _by_contours_alone(run):
        wanted = sorted({math.log(one) for one in deltas if 0.0 < one < 1.0}, reverse=True)
        _share_contours(run, wanted, Saddle.of_delta, answer, lambda contour: contour.c, found)
    out = []
    for one in deltas:
        ends = found.get(math.log(one)) if 0.0 < one < 1.0 else None
        out.append(ends or epsilon_proof(run, one, upper_only).ends)
    return out


def _by_contours_alone(run: ComposedLoss) -> bool:
    """Whether the contour integral is the whole answer: no closed form, no infinite losses, no truncated mass."""
    plain = run.exact and bool(run.terms) and run.has_transform
    return plain and run.has_decay and not run.has_infinite_loss and run.log_truncated_mass == -math.inf and not has_closed(run)


def _share_contours(
    run: ComposedLoss,
    wanted: list[float],
    saddle: Callable[[ComposedLoss, float], Saddle],
    answer: Callable[[Contour, list[float]], tuple[Array, Array]],
    slope: Callable[[Contour], float],
    found: dict[float, Interval],
) -> None:
    """Answers those of the questions, in order, that contours answer closely: the middle one's first, then both sides alike."""
    if len(wanted) < TUNING.min_questions:
        return
    middle = len(wanted) // 2
    first, last = middle, middle + 1
    try:
        contour = Contour(run, saddle(run, wanted[middle]))
        if contour.evaluate(every_pair=True):
            with np.errstate(all="ignore"):  # far from the middle nothing need come of it
                low, high = answer(contour, wanted)
            width = (high - low) * slope(contour)
            close = (width >= 0.0) & (width <= min(max(4.0 * float(width[middle]), TUNING.shared_width), SETTLED))
            if close[middle]:
                far = np.nonzero(~close)[0]
                place = int(far.searchsorted(middle))
                first = int(far[place - 1]) + 1 if place else 0
                last = int(far[place]) if place < far.size else len(wanted)
                ends = zip(low[first:last].tolist(), high[first:last].tolist(), strict=True)
                found.update(zip(wanted[first:last], ends, strict=True))
    except Inconclusive:
        pass
    _share_contours(run, wanted[:first], saddle, answer, slope, found)
    _share_contours(run, wanted[last:], saddle, answer, slope, found)
