"""DP-SGD in one checked call."""

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import Literal, ParamSpec

from .. import checks
from ..errors import BadType, BadValue, Unsupported
from ..mechanism.gaussian import Gaussian
from ..mechanism.release import Mechanism
from ..mechanism.training import Training
from ..neighbours import DEFAULT, Relation, checked, orders
from .counted import Batches, epochs_of, largest_batch, passes_of, shuffled_passes, steps_of

_SAMPLERS = {
    "poisson": "Poisson sampling, every record by itself with probability {rate}",
    "without-replacement": "batches of {batch} of {examples} records, drawn anew for each step without replacement",
    "with-replacement": "{batch} draws from {examples} records, drawn anew for each step with replacement",
    "shuffle": "the {examples} records are shuffled for each pass and cut into batches of {batch}; no amplification is claimed",
    "deterministic": "batches of {batch} of {examples} records by position",
    "cyclic": "batches of {batch} of {examples} records by position, in turn",
    "balls-and-bins": "in each epoch every record takes part in one of {bins} steps, drawn uniformly by itself",
    "hashed": "batches of about {batch} of {examples} records, each record's batch depending on itself only",
}
PASSES: dict[str, Literal["shuffle", "position", "id"]] = {
    "shuffle": "shuffle",
    "deterministic": "position",
    "cyclic": "position",
    "hashed": "id",
}
_REFUSED = {
    "truncated-poisson": "say sampler='poisson' and cap=, the largest batch; without a cap it is another scheme, and no bound",
    "b-min-sep": "only Monte Carlo estimates of it are known; 'poisson', 'cyclic' and .banded of a step are accounted for",
}
_OTHER_NAMES = {"balls-in-bins": "balls-and-bins", "random-allocation": "balls-and-bins", "allocated": "balls-and-bins"}
_RELATIONS = {
    "add-or-remove": "a record is added or removed",
    "add": "a record is added",
    "remove": "a record is removed",
    "replace": "a record is replaced",
    "zero-out": "a record is replaced by one that contributes nothing",
}

_ALLOWED = {"sigma", "sampler", "examples", "batch", "rate", "epochs", "steps", "neighbours", "accumulation", "cap"}
Given = ParamSpec("Given")


_PEERS = {
    "noise_multiplier": "sigma",
    "batch_size": "batch, the records of a batch (for Poisson sampling on average)",
    "expected_batch_size": "batch, the records of a batch (for Poisson sampling on average)",
    "sample_rate": "rate",
    "sampling_rate": "rate",
    "sampling_probability": "rate",
    "sample_size": "examples, the number of records",
    "num_examples": "examples, the number of records",
    "number_of_examples": "examples, the number of records",
    "dataset_size": "examples, the number of records",
    "num_steps": "steps",
    "iterations": "steps",
    "num_iterations": "steps",
    "num_compositions": "steps",
    "num_epochs": "epochs",
    "poisson_sampling": "sampler='poisson'",
    "max_grad_norm": "none: sigma is relative to the clipping norm",
    "l2_norm_clip": "none: sigma is relative to the clipping norm",
    "clipping_norm": "none: sigma is relative to the clipping norm",
    "delta": "a question of the run: dpsgd(...).epsilon(delta=...)",
    "target_delta": "a question of the run: dpsgd(...).epsilon(delta=...)",
    "epsilon": "a question: calibrate(lambda sigma: dpsgd(sigma=sigma, ...), epsilon=..., delta=...)",
    "target_epsilon": "a question: calibrate(lambda sigma: dpsgd(sigma=sigma, ...), epsilon=..., delta=...)",
}
"""Names that other libraries have for the arguments, and ours."""


def ours(name: str) -> str | None:
    """What another library's argument is here, if it is known."""
    return _PEERS.get(name.replace("-", "_"))


def _by_our_names(make: Callable[Given, Training]) -> Callable[Given, Training]:
    """With a message of ours for an argument that is not ours."""

    @functools.wraps(make)
    def checked_names(*given: Given.args, **named: Given.kwargs) -> Training:
        allowed = inspect.signature(make).parameters if given or not named.keys() <= _ALLOWED else ()
        if given:
            raise BadType(f"dpsgd is given {len(given)} arguments without names; allowed, by name: {', '.join(allowed)}.")
        for name in named:
            if allowed and name not in allowed:
                words = ours(name)
                near = f": here it is {words}" if words else checks.meant(name, allowed)
                raise BadType(f"dpsgd has no argument {name}{near}; allowed: {', '.join(allowed)}.")
        missing = [name for name in ("sigma", "sampler") if name not in named]
        if missing:
            raise BadType(f"dpsgd needs {' and '.join(missing)}; the answer depends on it.")
        return make(*given, **named)

    return checked_names


@_by_our_names
def dpsgd(
    *,
    sigma: float,
    sampler: str,
    examples: int | None = None,
    batch: int | None = None,
    rate: float | None = None,
    epochs: float | None = None,
    steps: int | None = None,
    neighbours: Relation = DEFAULT,
    accumulation: int = 1,
    cap: int | None = None,
) -> Training:
    """A run of DP-SGD: `steps` Gaussian steps, each on a batch of the data.

    `sigma` is the noise multiplier: the noise's standard deviation over the clipping norm of one record's gradient, the
    noise being added once to the sum over the batch, before any averaging.  `sampler` must say how batches are drawn,
    because the answer depends on it: "poisson", "without-replacement", "with-replacement", "shuffle", "deterministic",
    "cyclic", "hashed" (a record's batch depends on nothing but itself), or "balls-and-bins" (random allocation: in each epoch
    of examples / batch steps, rounded up, every record takes part in one, drawn uniformly by itself; batches vary in size).

    Give `examples` (for add-or-remove: of the larger data set) and `batch` (for Poisson sampling the expected size; rate =
    batch / examples, rounded to the nearest double), or for Poisson sampling `rate`; and `steps`, or `epochs` (steps =
    epochs / rate, rounded up; in shuffled or fixed batches every pass that was begun counts).  With `accumulation` that many
    batches are drawn as one sample of accumulation * batch records and their gradients added up before the noise comes once:
    steps are updates.  With `cap` a Poisson sample of more records is cut to that many, drawn uniformly (batches of a static
    shape); a record that comes or goes then displaces others, so ask for neighbours="zero-out" where that is meant.

    Questions are answered for `neighbours` unless they say otherwise; `statement` says all of this in words.  Phases join with +.

    Parameters
    ----------
    sigma : float
        The noise multiplier, above 0.
    sampler : str
        How batches are drawn: one of the above.
    examples : int, optional
        The number of records, from 1 up.
    batch : int, optional
        The number of records of a batch, for Poisson sampling the expected one.
    rate : float, optional
        The rate of Poisson sampling, from 0 to 1, instead of examples and batch.
    epochs : float, optional
        The number of passes, above 0: of a training that never ran nothing is released.
    steps : int, optional
        The number of updates, from 1 up, instead of epochs.
    neighbours : Relation, default "add-or-remove"
        The relation that the run is meant for.
    accumulation : int, default 1
        How many batches make one update.
    cap : int, optional
        How many records of a Poisson sample are kept at most, from 1 up.

    Returns
    -------
    Training
        The run, with its relation and its statement.

    Raises
    ------
    BadType
        If a number is no real one, or sampler or neighbours no text.
    BadValue
        If a number is out of its range, one is missing or superfluous, or sampler or neighbours is unknown.
    Unsupported
        If the sampler is known and not accounted for, or not under this relation.

    Examples
    --------
    >>> run = dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=15, sampler="poisson")
    >>> run
    Training(Gaussian(sigma=1.1).poisson(rate=0.004266666666666667) * 3516, neighbours='add-or-remove')
    >>> round(run.epsilon(delta=1e-5), 4)
    1.1339
    >>> print(run.statement)
    3516 steps: 15 epochs of 234.375 steps, rounded up.
    Batches: Poisson sampling, every record by itself with probability 0.004266666666666667 (256/60000, rounded to a double).
    Noise: Gaussian, 1.1 times the clipping norm of one record's gradient, added once to the sum over a batch.
    Neighbours: a record is added or removed (add-or-remove).
    """
    if not isinstance(sampler, str):
        raise BadType(f"sampler is {sampler!r}; allowed: one of {', '.join(_SAMPLERS)}.")
    if sampler in _REFUSED:
        raise Unsupported(f"sampler={sampler!r} is not accounted for: {_REFUSED[sampler]}.")
    if sampler not in _SAMPLERS:
        close = get_close_matches(sampler.lower().replace("_", "-"), [*_SAMPLERS, *_REFUSED], 1)
        close = [_OTHER_NAMES[sampler]] if sampler in _OTHER_NAMES else close
        meant = f"  Did you mean {close[0]!r}?" if close else ""
        raise BadValue(f"sampler is {sampler!r}; allowed: one of {', '.join(_SAMPLERS)}.{meant}")
    relation, noise = checked(neighbours), Gaussian(sigma=sigma)
    times = checks.count("accumulation", accumulation, least=1)
    batches = Batches.of(examples, batch, rate, times, sampler)
    bins, largest = 0, largest_batch(cap, sampler, times, batches)
    if sampler == "balls-and-bins":
        count, counted, bins = epochs_of(batches, epochs, steps)
        step: Mechanism = noise.allocated(steps=bins)
    elif sampler in PASSES:
        count, counted = passes_of(batches, epochs, steps)
        step = noise.full_pass(by=PASSES[sampler])
    else:
        count, counted = steps_of(batches, epochs, steps)
        if sampler == "poisson":
            step = noise.poisson(rate=batches.rate)
            if largest is not None:
                step = noise.truncated_poisson(rate=batches.rate, cap=largest, examples=batches.examples or 1)
        elif sampler == "without-replacement":
            step = noise.without_replacement(batch=batches.batch or 0, examples=batches.examples or 1)
        else:
            step = noise.with_replacement(draws=batches.batch or 0, examples=batches.examples or 1)
    if sampler != "poisson":  # of which nothing is refused
        step._pair_loss(orders(relation))  # now rather than at the first question
    drawn = _SAMPLERS[sampler].format(rate=batches.rate_in_words, batch=batches.batch, examples=batches.examples, bins=bins)
    notes = [counted, f"Batches: {drawn}{'' if largest is None else f'; of more than {largest} so many are kept, at random'}."]
    if times > 1:
        notes.append(f"Accumulation: {times} batches, drawn as one sample, for each step.")
    notes.append(
        f"Noise: Gaussian, {noise.sigma} times the clipping norm of one record's gradient, added once to the sum over a batch."
    )
    notes.append(f"Neighbours: {_RELATIONS[relation]} ({relation}).")
    run = shuffled_passes(step, count, batches, epochs, steps) if sampler == "shuffle" else step * count
    return Training(run, relation, tuple(notes), batches.examples)
