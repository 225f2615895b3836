"""Epsilon of a release, printed: what dpsgd and compose share."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .. import __version__
from ..bounds import Bounds
from ..checks import given as shown
from ..checks import large_delta, non_negative
from ..errors import BadValue, OverBudget, Unsupported
from ..mechanism.release import Release
from ..mechanism.training import Training
from ..neighbours import Relation, Stated
from ..report.numbers import down_text, up_text
from ..report.words import neighbouring
from ..report.words import parts as described
from . import show

if TYPE_CHECKING:
    from ..planning.poisson_claim import PoissonClaim


def answer(
    release: Release,
    delta: float,
    neighbours: Relation,
    json: bool,
    budget: float | None,
    sampler: str | None = None,
    why: str = "",
    given: Sequence[str] = (),
) -> None:
    """Both ends of epsilon, with what the release is; `why` the answer depends on the sampler, if one was chosen."""
    if budget is not None:
        budget = non_negative("epsilon", budget)
    bounds = release.epsilon_bounds(delta, neighbours)
    if budget is not None and bounds.upper == 0.0 and release.delta(0.0, neighbours) == 0.0:  # a script's mistake
        what = " + ".join(given) or show.name(release)
        raise BadValue(f"{what} releases nothing, which meets any budget; allowed: counts from 1 up, rates above 0.")
    named = release.stated if isinstance(neighbours, Stated) else neighbours
    parts = described(release)
    drawn = sampler or "; ".join(dict.fromkeys(one.sampler for one in parts))
    claim = _claim(release, delta, named)
    if json:
        show.machine(
            {
                "epsilon": bounds.upper,
                "epsilon_lower": bounds.lower,
                "delta": delta,
                "neighbours": named,
                "sampler": drawn,
                "release": show.name(release),
                "tight": bounds.tight,
                **({"statement": _statement(release, named)} if isinstance(release, Training) else {}),
                **({} if sampler is None else {"note": f"{why}."}),
                "warning": large_delta(delta, release._records),
                **({} if claim is None else {"poisson_claim": claim._asdict()}),
                "within_budget": None if budget is None else bool(bounds.upper <= budget),
                "version": __version__,
            }
        )
    else:
        rows: list[show.Row] = [
            ("epsilon", up_text(bounds.upper), f"at delta = {shown(delta)}, rounded up"),
            ("certified", f"{down_text(bounds.lower, 10)} to {up_text(bounds.upper, 10)}", _between(bounds)),
            ("neighbours", named, neighbouring(release, named)),
            *((f"{one.uses:,} x", one.words, "") for one in parts),
        ]
        show.rows(show.name(release), rows)
        if isinstance(release, Training):
            show.lines("\n".join(_statement(release, named)))
        if sampler is not None:
            if claim is not None:
                show.lines(f"{claim}.")
            show.lines(f"Other samplers have other answers; with {sampler} {why}.")
        show.next_commands(release, delta, named, given)
    if budget is not None and not bounds.upper <= budget:
        raise OverBudget(
            f"epsilon is {up_text(bounds.upper)} at delta = {shown(delta)}, over the budget of {shown(budget)}.  "
            "More noise, fewer steps or smaller batches bring it down; hockeystick calibrate finds how much is needed."
        )


def _claim(release: Release, delta: float, named: Relation) -> "PoissonClaim | None":
    """What is to be said of the epsilon that is usually claimed for shuffled passes, where there are any."""
    if not release._shuffled:
        return None
    from ..planning.poisson_claim import poisson_claim

    try:
        return poisson_claim(release, delta, named)
    except Unsupported:
        return None


def _statement(release: Training, named: Relation) -> list[str]:
    """The notes of a run, with the relation that is answered for."""
    notes = list(release._notes_for(named))
    return notes if named == release.stated else [*notes, f"Neighbours: {neighbouring(release, named)} ({named})."]


def _between(bounds: Bounds[float]) -> str:
    return "the truth lies between" if bounds.tight else "the truth lies between; how far below the upper end is not known"
