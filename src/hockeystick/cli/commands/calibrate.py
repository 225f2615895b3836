"""`hockeystick calibrate`: the smallest noise, or the largest rate or count, that meets a target."""

import contextlib
import functools
from collections.abc import Callable
from typing import Annotated, Any

import typer

from ... import __version__
from ...checks import meant
from ...errors import BadValue
from ...mechanism.release import Release
from ...planning.calibrate import calibrate as search
from ...planning.target import Target
from ...report.numbers import down_text, up_text
from .. import show
from ..expression import hole_is_whole, hole_name, holes, release
from ..options import (
    Accumulation,
    Advantage,
    Batch,
    BayesRisk,
    Cap,
    Delta,
    Epochs,
    Epsilon,
    Examples,
    Fpr,
    Json,
    Mu,
    Neighbours,
    Prior,
    Rate,
    Rho,
    Sampler,
    Sigma,
    Steps,
    Tpr,
    in_options,
    relation,
)
from ..training import one_of_both, training

_MANY = 1000  # where a search for a count begins: a few sparse steps are the slowest to answer
_FOUND = {"sigma": None, "rate": 0.01, "steps": _MANY, "batch": 1, "epochs": 1.0}


def calibrate(
    run: Annotated[
        str | None,
        typer.Argument(help="A release with a question mark: 'Gaussian(sigma=?) * 100'.", metavar="RUN", show_default=False),
    ] = None,
    sampler: Sampler = None,
    sigma: Sigma = None,
    rate: Rate = None,
    examples: Examples = None,
    batch: Batch = None,
    steps: Steps = None,
    epochs: Epochs = None,
    accumulation: Accumulation = None,
    cap: Cap = None,
    find: Annotated[str, typer.Option(help=f"For a DP-SGD run, what is looked for: {', '.join(_FOUND)}.")] = "sigma",
    epsilon: Epsilon = None,
    delta: Delta = None,
    mu: Mu = None,
    rho: Rho = None,
    advantage: Advantage = None,
    tpr: Tpr = None,
    fpr: Fpr = None,
    bayes_risk: BayesRisk = None,
    prior: Prior = None,
    start: Annotated[float | None, typer.Option(help="Where to begin the search.", show_default=False)] = None,
    neighbours: Neighbours = None,
    json: Json = False,
) -> None:
    """The smallest noise, or the largest rate or count, that meets a target.

    Example: hockeystick calibrate 'Gaussian(sigma=?).poisson(rate=0.01) * 10000' --epsilon 1 --delta 1e-6

    Or a DP-SGD run: hockeystick calibrate --sampler poisson --rate 0.01 --steps 10000 --epsilon 1 --delta 1e-6
    """
    asked = relation(neighbours)
    target = Target.of(
        asked,
        epsilon=epsilon,
        delta=delta,
        mu=mu,
        rho=rho,
        advantage=advantage,
        tpr=tpr,
        fpr=fpr,
        bayes_risk=bayes_risk,
        prior=prior,
    )
    make: Callable[[Any], Release]
    given = {"sigma": sigma, "rate": rate, "examples": examples, "batch": batch, "steps": steps, "epochs": epochs}
    known = {name: one for name, one in {**given, "accumulation": accumulation, "cap": cap}.items() if one is not None}
    if run is not None:
        one_of_both(known if sampler is None else {"sampler": sampler})
        if holes(run) != 1:
            raise BadValue(f"{run!r} has {holes(run)} question marks; allowed: one, for the value that is looked for.")
        make, whole, name = functools.partial(release, run), hole_is_whole(run), hole_name(run)
        begin: Any = start if start is not None else (_MANY if name == "count" else 1 if whole else None)
    else:
        if sampler is None:
            raise BadValue("give a release with a question mark, or a DP-SGD run: --sampler and the rest.")
        if find not in _FOUND:
            raise BadValue(f"--find is {find!r}{meant(find, _FOUND)}; allowed: {', '.join(_FOUND)}.")
        if given[find] is not None:
            raise BadValue(f"--{find} is given, and is what is looked for; leave it out, or say what with --find.")
        make = functools.partial(training, sampler, neighbours, known, find)
        begin, whole, name = start if start is not None else _FOUND[find], find in ("steps", "batch"), find
    with in_options() if run is None else contextlib.nullcontext():
        found = search(make, int(begin) if whole and begin is not None else begin, neighbours=asked, **target.words)
    made = make(found)
    measured = target.measure(made)
    if json:
        show.machine(
            {
                "parameter": name,
                "value": found,
                **({name: found} if run is None else {}),
                target.kind: measured,
                "target": target.words,
                "release": show.name(made),
                "neighbours": made.stated if neighbours is None else neighbours,
                "version": __version__,
            }
        )
        return
    text = down_text if target.kind == "bayes_risk" else up_text
    show.rows(
        show.name(made),
        [
            (name, f"{found!r}", f"just meets {target}"),
            (target.kind, text(measured, 10), "certified, at this value"),
            ("neighbours", made.stated if neighbours is None else neighbours),
        ],
    )
    at = target.at if target.kind in ("epsilon", "mu") else None
    show.next_commands(made, at, made.stated if neighbours is None else neighbours)
