"""`hockeystick explain`: what an epsilon means."""

from typing import Annotated, Any

import typer

from ... import __version__
from ...errors import BadValue
from ...mechanism.claim import ApproxDP
from ...mechanism.release import Release
from ...mechanism.training import Training
from ...neighbours import Stated
from ...report.numbers import given, up_text
from ...report.plain import meaning
from ...report.words import neighbouring
from .. import show
from ..files import run_of
from ..options import Delta, Json, Neighbours, Run, at_delta, relation


def explain(
    run: Run = None,
    epsilon: Annotated[float | None, typer.Option(help="Or a bare epsilon.", show_default=False)] = None,
    delta: Delta = None,
    neighbours: Neighbours = None,
    json: Json = False,
) -> None:
    """What an epsilon means, in plain words and attack rates, and what it rests on.

    Example: hockeystick explain --epsilon 1 --delta 1e-5
    """
    if (epsilon is None) == (not run):
        raise BadValue("give a run, or --epsilon and --delta.")
    if epsilon is not None:
        claimed = delta or 0.0
        release: Release = ApproxDP(epsilon=epsilon, delta=claimed)
        settings: dict[str, Any] = {}
        chosen = claimed
        release._heed(chosen)
    else:
        release, settings = run_of(run or [], neighbours, delta)
        chosen = at_delta(delta, settings)
    asked = relation(neighbours, settings)
    named = release.stated if isinstance(asked, Stated) else asked
    bound = epsilon if epsilon is not None else float(release.epsilon(chosen, named))
    told = meaning(release, bound, chosen, named)
    first = f"The guarantee: epsilon = {up_text(bound)} at delta = {given(chosen)}, for {neighbouring(release, named)} ({named})."
    words = [first, *told.words]
    rests = [
        "This holds against any attacker, whatever else is known, and for every record by itself; groups of k records have more.",
        "It rests on the relation above, on the sampler and the noise being as described, and on nothing else being released.",
    ]
    if epsilon is not None:
        rests.append(
            "A bare epsilon stands for the worst mechanism of that guarantee; a run that is described has smaller rates."
        )
    if isinstance(release, Training):
        rests += release.notes
    if json:
        show.machine(
            {
                "epsilon": bound,
                "delta": chosen,
                "neighbours": named,
                "tpr": {str(rate): tpr for rate, tpr in told.tpr.items()},
                "bayes_risk": told.bayes_risk,
                "posterior": told.posterior,
                "words": words,
                "assumptions": rests,
                "version": __version__,
            }
        )
        return
    show.lines("\n".join([*words, "", *rests]))
