"""`hockeystick rounds`: the most repetitions of a step within a target."""

from typing import Annotated, Any

import typer

from ... import __version__
from ...errors import BadValue
from ...mechanism.release import Release
from ...neighbours import Stated
from ...planning.dpsgd import PASSES
from ...planning.rounds import remaining
from ...planning.rounds import rounds as most
from ...planning.target import Target
from ...report.numbers import down_text, up_text
from .. import show
from ..files import runs_of
from ..options import (
    Accumulation,
    Advantage,
    Batch,
    BayesRisk,
    Cap,
    Delta,
    Epsilon,
    Examples,
    Fpr,
    Json,
    Mu,
    Neighbours,
    Prior,
    Rate,
    Rho,
    Run,
    Sampler,
    Sigma,
    Tpr,
    in_options,
    relation,
)
from ..training import one_of_both, training


def rounds(
    step: Run = None,
    after: Annotated[
        list[str] | None, typer.Option(help="What was released before: a release or a file; once for each.", show_default=False)
    ] = None,
    sampler: Sampler = None,
    sigma: Sigma = None,
    rate: Rate = None,
    examples: Examples = None,
    batch: Batch = None,
    accumulation: Accumulation = None,
    cap: Cap = None,
    epsilon: Epsilon = None,
    delta: Delta = None,
    mu: Mu = None,
    rho: Rho = None,
    advantage: Advantage = None,
    tpr: Tpr = None,
    fpr: Fpr = None,
    bayes_risk: BayesRisk = None,
    prior: Prior = None,
    neighbours: Neighbours = None,
    json: Json = False,
) -> None:
    """The most repetitions of a step within a target; after a run, how many remain.

    Example: hockeystick rounds 'Gaussian(sigma=20)' --epsilon 6 --delta 1e-5

    Or steps of DP-SGD: hockeystick rounds --sampler poisson --rate 0.01 --sigma 2 --epsilon 1 --delta 1e-5
    """
    every = {"sampler": sampler, "sigma": sigma, "rate": rate, "examples": examples, "batch": batch, "accumulation": accumulation}
    given = {name: value for name, value in {**every, "cap": cap}.items() if value is not None}
    if step:
        one_of_both(given)
    if after and len(step or ()) > 1:
        last = (step or [])[-1]
        raise BadValue(
            f"{last!r} may be a part of the step or have been released before; give --after before each thing that was "
            f"(--after {after[0]} --after {last}), and a step of several parts as one: 'A + B'."
        )
    if given:
        if sampler is None or sigma is None:
            raise BadValue("a step of DP-SGD needs --sampler and --sigma, and --rate or --examples and --batch.")
        earlier, settings = runs_of([after] if after else [], neighbours, delta)
        passes = sampler in PASSES
        with in_options():
            own = neighbours if neighbours is not None else settings.get("neighbours")
            one: Release = training(sampler, own, given, "epochs" if passes else "steps", 1)
    else:
        (one, *earlier), settings = runs_of([step or [], *([after] if after else [])], neighbours, delta)
        passes = False
    before = earlier[0] if earlier else None
    asked = relation(neighbours, settings)
    goal = Target.of(
        asked,
        epsilon=epsilon,
        delta=delta if delta is not None or epsilon is None else settings.get("delta"),
        mu=mu,
        rho=rho,
        advantage=advantage,
        tpr=tpr,
        fpr=fpr,
        bayes_risk=bayes_risk,
        prior=prior,
    )
    words: Any = {**goal.words, "neighbours": asked}
    count = remaining(before, one, **words) if before is not None else most(one, **words)
    spent, beyond = (goal.measure(one * n if before is None else before + one * n) for n in (count, count + 1))
    unit = "passes" if passes else "steps" if given else "rounds"
    if json:
        show.machine(
            {
                "rounds": count,
                "unit": unit,
                goal.kind: spent,
                f"{goal.kind}_after_one_more": beyond,
                "step": show.name(one),
                "after": None if before is None else show.name(before),
                "target": goal.words,
                "neighbours": one.stated if isinstance(asked, Stated) else asked,
                "version": __version__,
            }
        )
        return
    text = down_text if goal.kind == "bayes_risk" else up_text
    show.rows(
        show.name(one),
        [
            (unit, f"{count:,}", f"the most within {goal}{' after what was released before' if after else ''}"),
            (goal.kind, text(spent, 10), f"certified, at {count:,}"),
            ("one more", text(beyond, 10), f"{goal.kind} at {count + 1:,}, beyond the target"),
            ("neighbours", one.stated if isinstance(asked, Stated) else asked),
        ],
    )
