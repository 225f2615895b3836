"""`hockeystick dpsgd`: epsilon of a DP-SGD run."""

from typing import Any

from ...errors import BadValue
from ...planning.dpsgd import dpsgd as training
from ..answer import answer
from ..options import (
    Accumulation,
    Batch,
    Budget,
    Cap,
    Delta,
    Epochs,
    Examples,
    Json,
    Neighbours,
    Rate,
    Sampler,
    Sigma,
    Steps,
    at_delta,
    in_options,
)

_COIN = "every record takes part by its own coin, which counts in full (amplification by sampling)"
_DISPLACED = "a record that comes or goes displaces others in the batch, so a step may move farther than under --sampler poisson"
_ONCE = "every record takes part once in a pass and no sampling is counted: a pass costs as much as one step on all the data"
WHY = {
    "poisson": _COIN,
    "balls-and-bins": "every record draws its one step of an epoch by itself, which counts in full (random allocation)",
    "without-replacement": _DISPLACED,
    "with-replacement": f"{_DISPLACED}, and a record may come more than once",
    "shuffle": f"{_ONCE}, since no amplification by shuffling is proved for this",
    "deterministic": _ONCE,
    "cyclic": _ONCE,
    "hashed": _ONCE,
}
"""Why the answer depends on the sampler."""
_CUT = (
    "a batch that is cut ties a record to the others; with a cap well above the mean that costs little under --neighbours "
    "zero-out, and more where records come or go, which displaces others"
)
_SAME_SIZE = "what a batch without the record holds in its place counts, so a step may cost more than under --sampler poisson"


def why(sampler: str, neighbours: str, cap: int | None = None) -> str:
    """The same for a relation: nothing comes or goes where records are replaced or zeroed out."""
    if cap is not None:
        return _CUT
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
    cap: Cap = None,
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
            cap=cap,
            **given,
        )
    answer(run, at_delta(delta), run.neighbours, json, epsilon, sampler, why(sampler, run.neighbours, cap))
