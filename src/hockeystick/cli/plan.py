"""What can be afforded: calibrate, rounds, sweep."""

import contextlib
import csv
import functools
import sys
from collections.abc import Callable
from typing import Annotated, Any

import typer

from .. import __version__
from ..errors import BadValue
from ..mechanism.release import Release
from ..neighbours import Stated
from ..planning.calibrate import calibrate as calibrated
from ..planning.dpsgd import PASSES, dpsgd
from ..planning.rounds import remaining
from ..planning.rounds import rounds as most
from ..planning.sweep import sweep as swept
from ..planning.target import Target
from ..report.numbers import down_text, up_text
from . import show
from .expression import hole_is_whole, hole_name, holes, release
from .files import run_of
from .options import (
    Accumulation,
    Advantage,
    Batch,
    BayesRisk,
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
    Run,
    Sampler,
    Sigma,
    Steps,
    Tpr,
    in_options,
    relation,
)

_MOST = 10**6
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
    known = {name: one for name, one in {**given, "accumulation": accumulation}.items() if one is not None}
    if run is not None:
        _one_of_both(known if sampler is None else {"sampler": sampler})
        if holes(run) != 1:
            raise BadValue(f"{run!r} has {holes(run)} question marks; allowed: one, for the value that is looked for.")
        make, whole, name = functools.partial(release, run), hole_is_whole(run), hole_name(run)
        begin: Any = start if start is not None else (_MANY if name == "count" else 1 if whole else None)
    else:
        if sampler is None:
            raise BadValue("give a release with a question mark, or a DP-SGD run: --sampler and the rest.")
        if find not in _FOUND:
            raise BadValue(f"--find is {find!r}; allowed: {', '.join(_FOUND)}.")
        if given[find] is not None:
            raise BadValue(f"--{find} is given, and is what is looked for; leave it out, or say what with --find.")
        make = functools.partial(_training, sampler, neighbours, known, find)
        begin, whole, name = start if start is not None else _FOUND[find], find in ("steps", "batch"), find
    with in_options() if run is None else contextlib.nullcontext():
        found = calibrated(make, int(begin) if whole and begin is not None else begin, neighbours=asked, **target.words)
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
    show.onward(
        made, target.at if target.kind == "epsilon" and target.at else 1e-6, made.stated if neighbours is None else neighbours
    )


def _one_of_both(given: dict[str, Any]) -> None:
    """Raised where a release is given, and some option of DP-SGD, too."""
    for name in given:
        raise BadValue(f"a release and --{name} are both given; give a release, or DP-SGD by its options.")


def _training(sampler: str, neighbours: str | None, given: dict[str, Any], find: str, value: Any) -> Release:
    more = {} if neighbours is None else {"neighbours": neighbours}
    return dpsgd(**{"sampler": sampler, **given, find: value, **more})


def rounds(
    step: Run = None,
    after: Annotated[list[str] | None, typer.Option(help="What was released before.", show_default=False)] = None,
    sampler: Sampler = None,
    sigma: Sigma = None,
    rate: Rate = None,
    examples: Examples = None,
    batch: Batch = None,
    accumulation: Accumulation = None,
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
    given = {name: value for name, value in every.items() if value is not None}
    if step:
        _one_of_both(given)
    settings: dict[str, Any] = {}
    if given:
        if sampler is None or sigma is None:
            raise BadValue("a step of DP-SGD needs --sampler and --sigma, and --rate or --examples and --batch.")
        passes = sampler in PASSES
        with in_options():
            one: Release = _training(sampler, neighbours, given, "epochs" if passes else "steps", 1)
    else:
        one, settings = run_of(step or [], neighbours)
        passes = False
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
    before = run_of(after, neighbours)[0] if after else None
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


def sweep(
    template: Annotated[str, typer.Argument(help="A release with names in braces: 'Gaussian(sigma={sigma}) * {steps}'.")],
    grid: Annotated[list[str], typer.Option(help="name=1,2,3 or name=first:last:count; once for each name.")],
    delta: Annotated[float | None, typer.Option(help="Ask for epsilon at this delta.", show_default=False)] = None,
    epsilon: Annotated[float | None, typer.Option(help="Ask for delta at this epsilon.", show_default=False)] = None,
    advantage: Annotated[bool, typer.Option(help="Ask for the advantage of an attacker.")] = False,
    jobs: Annotated[int, typer.Option(help="Processes that share the work.")] = 1,
    neighbours: Neighbours = None,
    json: Json = False,
) -> None:
    """A table over every combination of some parameters: CSV on standard output, or JSON columns.

    Example: hockeystick sweep 'Gaussian(sigma={sigma}) * {steps}' --grid sigma=5,10 --grid steps=1,10,100 --delta 1e-6
    """
    values = dict(_listed(one) for one in grid)
    questions = {name: at for name, at in (("epsilon", delta), ("delta", epsilon)) if at is not None}
    if not questions and not advantage:
        raise BadValue("nothing is asked; give --delta (for epsilon there), --epsilon (for delta there) or --advantage.")
    make = functools.partial(_filled, template)
    make(**{name: listed[0] for name, listed in values.items()})  # refused now rather than in every row
    given: dict[str, Any] = {"advantage": advantage, "neighbours": relation(neighbours), **questions}
    if jobs > 1:
        from concurrent.futures import ProcessPoolExecutor

        with ProcessPoolExecutor(jobs) as executor:
            table = swept(make, values, executor=executor, **given)
    else:
        table = swept(make, values, **given)
    if json:
        show.machine(table)
        return
    writer = csv.writer(sys.stdout)
    writer.writerow(table)
    writer.writerows(zip(*table.values(), strict=True))


def _filled(template: str, **values: Any) -> Release:
    try:
        text = template.format(**{name: repr(value) for name, value in values.items()})
    except (KeyError, IndexError, ValueError) as error:
        raise BadValue(f"{template!r} cannot be filled in ({error}); each name in braces needs a --grid.") from None
    return release(text)


def _listed(given: str) -> tuple[str, list[float]]:
    name, equals, words = given.partition("=")
    try:
        if not equals or not name.isidentifier():
            raise ValueError
        if ":" in words:
            first, last, count = words.split(":")
            a, b, n = _number(first), _number(last), int(count)
            if not 1 <= n <= _MOST:
                raise ValueError
            return name, [a] if n == 1 else [a + (b - a) * i / (n - 1) for i in range(n)]
        return name, [_number(word) for word in words.split(",")]
    except ValueError:
        raise BadValue(f"--grid is {given!r}; allowed: name=1,2,3 or name=first:last:count (at most {_MOST:,}).") from None


def _number(word: str) -> float:
    value = float(word)
    return int(value) if value.is_integer() and "." not in word and abs(value) < 2**53 else value
