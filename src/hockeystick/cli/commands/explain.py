"""`hockeystick explain`: what an epsilon means."""

import math
from typing import Annotated, Any

import typer

from ... import __version__
from ...errors import BadValue
from ...mechanism.claim import ApproxDP
from ...mechanism.release import Release
from ...mechanism.training import Training
from ...neighbours import Stated
from ...report.numbers import down_text, up_text
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
        release, settings = run_of(run or [], neighbours)
        chosen = at_delta(delta, settings)
    asked = relation(neighbours, settings)
    named = release.stated if isinstance(asked, Stated) else asked
    bound = epsilon if epsilon is not None else float(release.epsilon(chosen, named))
    words = [f"The guarantee: epsilon = {up_text(bound)} at delta = {chosen:g}, for {neighbouring(release, named)} ({named})."]
    words.append(
        f"Whatever is released is at most e^epsilon = {_factor(bound)} times as likely with a record as without it, "
        f"but for events of probability {chosen:g} in all."
    )
    rates = (0.001, 0.01, 0.1)
    reached = [float(release.tpr(one, named)) for one in rates]
    for rate, tpr in zip(rates, reached, strict=True):
        words.append(
            f"An attacker who wrongly accuses {100 * rate:g}% of absent records finds at most {up_text(100 * tpr, 4)}% of "
            f"present ones (guessing finds {100 * rate:g}%)."
        )
    risk, posterior = float(release.bayes_risk(0.5, named)), float(release.posterior(0.5, 0.01, named))
    words.append(f"Who holds presence as likely as absence errs at least {down_text(100 * risk, 4)}% of the time.")
    words.append(
        "From 50% before, an accusation at a false-positive rate of 1% makes presence at most "
        f"{up_text(100 * posterior, 4)}% likely."
    )
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
                "tpr": dict(zip(map(str, rates), reached, strict=True)),
                "bayes_risk": risk,
                "posterior": posterior,
                "words": words,
                "assumptions": rests,
                "version": __version__,
            }
        )
        return
    show.lines("\n".join([*words, "", *rests]))


def _factor(epsilon: float) -> str:

    return up_text(math.exp(epsilon) * (1.0 + 1e-14), 4) if epsilon < 700.0 else f"e^{epsilon:g}"
