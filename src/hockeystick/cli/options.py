"""The options that several commands share; each has the name of the Python argument."""

import contextlib
import re
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from ..checks import probability
from ..errors import BadValue, HockeystickError
from ..neighbours import RELATIONS, STATED, Relation, checked

Run = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN...",
        help="What is released: 'Gaussian(sigma=2) * 3', a .toml or .json file, or - for standard input; several are joined.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object, for machines.")]
Neighbours = Annotated[
    str | None, typer.Option(help=f"Which data sets count as neighbours: {', '.join(RELATIONS)}.", show_default=False)
]
Delta = Annotated[float | None, typer.Option(help="The delta at which epsilon is asked.", show_default=False)]
Epsilon = Annotated[float | None, typer.Option(help="Epsilon of the target.", show_default=False)]
Budget = Annotated[
    float | None, typer.Option("--epsilon", help="A budget: exit code 3 if epsilon at delta is above it.", show_default=False)
]
Mu = Annotated[float | None, typer.Option(help="mu of Gaussian DP, up to --delta if given.", show_default=False)]
Rho = Annotated[float | None, typer.Option(help="rho of zero-concentrated DP.", show_default=False)]
Advantage = Annotated[float | None, typer.Option(help="An attacker's tpr minus fpr, at most.", show_default=False)]
Tpr = Annotated[float | None, typer.Option(help="An attacker's true-positive rate, at most, at --fpr.", show_default=False)]
Fpr = Annotated[float | None, typer.Option(help="The false-positive rate of --tpr.", show_default=False)]
BayesRisk = Annotated[float | None, typer.Option(help="An attacker's error, at least, at --prior.", show_default=False)]
Prior = Annotated[float | None, typer.Option(help="The prior of --bayes-risk.", show_default=False)]
Sampler = Annotated[
    str | None,
    typer.Option(
        help="How batches are drawn: poisson, without-replacement, with-replacement, shuffle, deterministic, cyclic, hashed, "
        "balls-and-bins.",
        show_default=False,
    ),
]
Sigma = Annotated[float | None, typer.Option(help="The noise multiplier.", show_default=False)]
Rate = Annotated[float | None, typer.Option(help="The sampling rate (Poisson).", show_default=False)]
Examples = Annotated[int | None, typer.Option(help="How many records there are.", show_default=False)]
Batch = Annotated[int | None, typer.Option(help="Records in a batch (Poisson: on average).", show_default=False)]
Steps = Annotated[int | None, typer.Option(help="How many steps are taken.", show_default=False)]
Epochs = Annotated[float | None, typer.Option(help="Or how many epochs.", show_default=False)]
Cap = Annotated[
    int | None, typer.Option(help="The largest batch: a larger Poisson sample is cut at random to it.", show_default=False)
]
Accumulation = Annotated[int | None, typer.Option(help="Batches added up for one step: 1 unless given.", show_default=False)]


_SPOKEN = (
    (r"\bneighbours='([\w-]+)' or '([\w-]+)'", r"--neighbours \1 or \2"),
    (r"\b(neighbours|sampler)='([\w-]+)'", r"--\1 \2"),
    (r"\bcap=, ", "--cap, "),
    (r"\(by='id'\)", "(--sampler hashed)"),
    (r"\buse Poisson sampling\b", "use --sampler poisson"),
)


@contextlib.contextmanager
def in_options() -> Iterator[None]:
    """What is refused inside was given in options, so the message speaks of options, not of Python's arguments."""
    try:
        yield
    except HockeystickError as error:
        words = str(error)
        for python, option in _SPOKEN:
            words = re.sub(python, option, words)
        raise type(error)(words) from None


def relation(given: str | None, settings: dict[str, Any] | None = None) -> Relation:
    """The relation of the command line, else of the file, else the one that the run states."""
    wanted = given if given is not None else (settings or {}).get("neighbours")
    return STATED if wanted is None else checked(wanted)


def at_delta(given: float | None, settings: dict[str, Any] | None = None) -> float:
    """The delta of the command line, else of the file."""
    wanted = given if given is not None else (settings or {}).get("delta")
    if wanted is None:
        raise BadValue("delta is missing; give --delta, for example --delta 1e-5 (well below one over the number of records).")
    return probability("delta", wanted)
