"""What does it cost: dpsgd, compose, convert, explain."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from .. import __version__
from ..bounds import Bounds
from ..errors import BadValue, HockeystickError
from ..mechanism.claim import GDP, RDP, ZCDP, ApproxDP
from ..mechanism.release import Release
from ..mechanism.training import Training
from ..neighbours import Relation, Stated
from ..planning.concentrated import rho_of
from ..planning.dpsgd import dpsgd as training
from ..report.methods import neighbouring
from ..report.methods import steps as described
from ..report.numbers import down_text, up_text
from . import show
from .failure import OverBudget
from .files import EXAMPLE, run_of
from .options import (
    Accumulation,
    Batch,
    Budget,
    Delta,
    Epochs,
    Examples,
    Json,
    Mu,
    Neighbours,
    Rate,
    Rho,
    Run,
    Sampler,
    Sigma,
    Steps,
    at_delta,
    in_options,
    relation,
)

_COIN = "every record takes part by its own coin, which counts in full (amplification by sampling)"
_DISPLACED = "a record that comes or goes displaces others in the batch, so a step may move farther than under --sampler poisson"
_ONCE = "every record takes part once in a pass and no sampling is counted: a pass costs as much as one step on all the data"
WHY = {
    "poisson": _COIN,
    "without-replacement": _DISPLACED,
    "with-replacement": f"{_DISPLACED}, and a record may come more than once",
    "shuffle": f"{_ONCE}, since no amplification by shuffling is proved for this",
    "deterministic": _ONCE,
    "cyclic": _ONCE,
    "hashed": _ONCE,
}
"""Why the answer depends on the sampler."""
_SAME_SIZE = "what a batch without the record holds in its place counts, so a step may cost more than under --sampler poisson"


def why(sampler: str, neighbours: str) -> str:
    """The same for a relation: nothing comes or goes where records are replaced or zeroed out."""
    return WHY[sampler].replace(_DISPLACED, _SAME_SIZE) if neighbours in ("replace", "zero-out") else WHY[sampler]


def dpsgd(
    sampler: Sampler = None,
    sigma: Sigma = None,
    rate: Rate = None,
    examples: Examples = None,
    batch: Batch = None,
    steps: Steps = None,
    epochs: Epochs = None,
    delta: Delta = None,
    epsilon: Budget = None,
    neighbours: Neighbours = None,
    accumulation: Accumulation = None,
    json: Json = False,
) -> None:
    """Epsilon of a DP-SGD run.

    Example: hockeystick dpsgd --sampler poisson --rate 0.01 --sigma 1.1 --steps 10000 --delta 1e-5
    """
    if sampler is None or sigma is None:
        missing = "sampler" if sampler is None else "sigma"
        raise BadValue(f"--{missing} is missing; the answer depends on it.  An example: --sampler poisson --sigma 1.1.")
    given: dict[str, Any] = {} if neighbours is None else {"neighbours": neighbours}
    with in_options():
        run = training(
            sigma=sigma,
            sampler=sampler,
            rate=rate,
            examples=examples,
            batch=batch,
            steps=steps,
            epochs=epochs,
            accumulation=1 if accumulation is None else accumulation,
            **given,
        )
    _answer(run, at_delta(delta), run.neighbours, json, epsilon, sampler)


def compose(
    run: Run = None,
    delta: Delta = None,
    epsilon: Budget = None,
    neighbours: Neighbours = None,
    example: Annotated[bool, typer.Option("--example", help="Print an example of a run file (TOML) and stop.")] = False,
    json: Json = False,
) -> None:
    """Epsilon of several releases together, described by expressions or in a TOML or JSON file.

    Example: hockeystick compose 'Gaussian(sigma=20) * 100' 'Laplace(scale=50)' --delta 1e-6

    A run file has the keys neighbours, delta, steps (a list of expressions),
    and tables step (release, count) and dpsgd (the options of that command).
    It serves report, plot, explain and rounds, too.

    To begin with one: hockeystick compose --example > run.toml
    """
    if example:
        typer.echo(EXAMPLE, nl=False)
        return
    release, settings = run_of(run or [], neighbours)
    _answer(release, at_delta(delta, settings), relation(neighbours, settings), json, epsilon, given=run or ())


def convert(
    epsilon: Annotated[
        float | None, typer.Option(help="From (epsilon, delta)-DP; delta 0 unless given.", show_default=False)
    ] = None,
    delta: Annotated[float | None, typer.Option(help="The delta of --epsilon.", show_default=False)] = None,
    mu: Mu = None,
    rho: Rho = None,
    rdp: Annotated[
        list[str] | None, typer.Option(help="From Rényi DP, order:value; several may be given.", show_default=False)
    ] = None,
    at_delta: Annotated[
        float | None,
        typer.Option(
            help="The delta at which the answer's epsilon is given; 1e-6 unless given, or --delta if that is larger.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """One guarantee in the words of the others: epsilon-delta, rho, mu, Rényi, trade-off.

    Example: hockeystick convert --rho 0.5 --at-delta 1e-6
    """
    claim = _claim(epsilon, delta, mu, rho, rdp)
    at_delta = max(1e-6, delta or 0.0) if at_delta is None else at_delta
    found: dict[str, Any] = {"from": repr(claim), "at_delta": at_delta, "version": __version__}
    asked: dict[str, Any] = {
        "epsilon": lambda: claim.epsilon(at_delta),
        "mu": lambda: claim.mu(),
        "rho": lambda: rho_of(claim, claim.stated),
        "rdp_2": lambda: claim.rdp(2.0),
        "rdp_8": lambda: claim.rdp(8.0),
        "advantage": lambda: claim.advantage(),
        "tpr_at_fpr_0.01": lambda: claim.tpr(0.01),
        "tradeoff_at_0.1": lambda: claim.tradeoff(0.1),
    }
    for name, ask in asked.items():
        try:
            found[name] = float(ask())
        except HockeystickError as error:
            found[name] = None
            found.setdefault("refused", {})[name] = str(error)
    if json:
        show.machine(found)
        return
    meaning = {
        "epsilon": f"(epsilon, delta)-DP at delta = {at_delta:g} (--at-delta)",
        "mu": "Gaussian DP at every epsilon; infinity: no mu is proved",
        "rho": "zero-concentrated DP; infinity: no rho is proved",
        "rdp_2": "Rényi divergence of order 2",
        "rdp_8": "Rényi divergence of order 8",
        "advantage": "an attacker's tpr minus fpr, at most",
        "tpr_at_fpr_0.01": "an attacker's true-positive rate, at most",
        "tradeoff_at_0.1": "type-II error at type-I error 0.1, at least",
    }
    rows: list[show.Row] = [
        (name, "refused" if found[name] is None else (down_text if name.startswith("trade") else up_text)(found[name]), words)
        for name, words in meaning.items()
    ]
    show.rows(f"{claim!r} implies", rows)


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
    import math

    return up_text(math.exp(epsilon) * (1.0 + 1e-14), 4) if epsilon < 700.0 else f"e^{epsilon:g}"


def _claim(epsilon: float | None, delta: float | None, mu: float | None, rho: float | None, rdp: list[str] | None) -> Release:
    given = [
        name
        for name, value in (("epsilon", epsilon), ("mu", mu), ("rho", rho), ("rdp", rdp))
        if value is not None and value != []
    ]
    if len(given) != 1 or (delta is not None and epsilon is None):
        raise BadValue("give one of: --epsilon (and --delta) | --mu | --rho | --rdp order:value.")
    if epsilon is not None:
        return ApproxDP(epsilon=epsilon, delta=delta or 0.0)
    if mu is not None:
        return GDP(mu=mu)
    if rho is not None:
        return ZCDP(rho=rho)
    pairs = []
    for one in rdp or []:
        try:
            order, value = (float(word) for word in one.split(":"))
        except ValueError:
            raise BadValue(f"--rdp is {one!r}; allowed: order:value, such as 8:0.04.") from None
        pairs.append((order, value))
    return RDP(orders=tuple(order for order, _ in pairs), values=tuple(value for _, value in pairs))


def _answer(
    release: Release,
    delta: float,
    neighbours: Relation,
    json: bool,
    budget: float | None,
    sampler: str | None = None,
    given: Sequence[str] = (),
) -> None:
    bounds = release.epsilon_bounds(delta, neighbours)
    named = release.stated if isinstance(neighbours, Stated) else neighbours
    parts = described(release, named)
    drawn = sampler or "; ".join(dict.fromkeys(one.sampler for one in parts))
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
                **({"statement": list(release.notes)} if isinstance(release, Training) else {}),
                **({} if sampler is None else {"note": f"{why(sampler, named)}."}),
                "within_budget": None if budget is None else bool(bounds.upper <= budget),
                "version": __version__,
            }
        )
    else:
        rows: list[show.Row] = [
            ("epsilon", up_text(bounds.upper), f"at delta = {delta:g}, rounded up"),
            ("certified", f"{down_text(bounds.lower, 10)} to {up_text(bounds.upper, 10)}", _between(bounds)),
            ("neighbours", named, neighbouring(release, named)),
            *((f"{one.uses:,} x", one.words, "") for one in parts),
        ]
        show.rows(show.name(release), rows)
        if isinstance(release, Training):
            show.lines(release.statement)
        if sampler is not None:
            show.lines(f"Other samplers have other answers; with {sampler} {why(sampler, named)}.")
        show.onward(release, delta, named, given)
    if budget is not None and bounds.upper > budget:
        raise OverBudget(
            f"epsilon is {up_text(bounds.upper)} at delta = {delta:g}, over the budget of {budget:g}.  "
            "More noise, fewer steps or smaller batches bring it down; hockeystick calibrate finds how much is needed."
        )


def _between(bounds: Bounds[float]) -> str:
    return "the truth lies between" if bounds.tight else "the truth lies between; how far below the upper end is not known"
