"""DP-SGD in one checked call."""

import functools
import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from typing import Any, Literal, ParamSpec

from .. import checks
from ..errors import BadType, BadValue, Unsupported
from ..mechanism.gaussian import Gaussian
from ..mechanism.release import Mechanism
from ..mechanism.training import Training
from ..neighbours import DEFAULT, Relation, checked, orders

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


@dataclass(frozen=True)
class _Batches:
    """The sampling rate as a quotient, so that epochs / rate does not suffer from its rounding."""

    drawn: Fraction
    records: Fraction
    batch: int | None
    examples: int | None

    @property
    def rate(self) -> float:
        return float(self.drawn / self.records)

    @property
    def rate_in_words(self) -> str:
        """The rate, and what was rounded."""
        exact = Fraction(self.rate) == self.drawn / self.records
        what = "" if self.batch is None else f"{self.batch}/{self.examples}, "
        return f"{self.rate}" + ("" if exact else f" ({what}rounded to a double)")

    @staticmethod
    def of(examples: Any, batch: Any, rate: Any, accumulation: int, sampler: str) -> "_Batches":
        if rate is not None:
            if examples is not None or batch is not None:
                raise BadValue("rate and examples or batch are both given; give rate alone, or examples and batch.")
            if sampler != "poisson":
                raise BadValue(f"rate is given, but sampler={sampler!r} draws batches of a fixed size; give examples and batch.")
            logical = Fraction(checks.rate("rate", rate)) * accumulation
            if logical > 1:
                raise BadValue(f"rate times accumulation is {float(logical)}; allowed: a probability from 0 to 1.")
            return _Batches(logical, Fraction(1), None, None)
        if examples is None or batch is None:
            needed = "rate, or both examples and batch" if sampler == "poisson" else "both examples and batch"
            raise BadValue(f"what sampler={sampler!r} draws from is missing; give {needed}.")
        records, drawn = checks.count("examples", examples, least=1), checks.count("batch", batch, least=1) * accumulation
        if drawn > records and sampler != "with-replacement":
            times = f", {accumulation} times accumulated, in all" if accumulation > 1 else ""
            raise BadValue(f"batch is {drawn}{times}; allowed: at most examples, {records}.")
        return _Batches(Fraction(drawn), Fraction(records), drawn, records)


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
    batches = _Batches.of(examples, batch, rate, times, sampler)
    bins, largest = 0, _cap(cap, sampler, times, batches)
    if sampler == "balls-and-bins":
        count, counted, bins = _epochs(batches, epochs, steps)
        step: Mechanism = noise.allocated(steps=bins)
    elif sampler in PASSES:
        step = noise.full_pass(by=PASSES[sampler])
        count, counted = _passes(batches, epochs, steps)
    else:
        count, counted = _steps(batches, epochs, steps)
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
    return Training(step * count, relation, tuple(notes), batches.examples)


def _cap(cap: Any, sampler: str, accumulation: int, batches: _Batches) -> int | None:
    """The largest batch, if there is one."""
    if cap is None:
        return None
    found = checks.count("cap", cap, least=1)
    if sampler != "poisson":
        raise BadValue(f"cap is given, but batches of sampler={sampler!r} are not cut; allowed: with sampler='poisson'.")
    if batches.examples is None:
        raise BadValue(
            "cap is given with rate, but what a cut costs depends on how many records there are; give examples and batch."
        )
    if accumulation > 1:
        raise BadValue(
            "cap and accumulation are both given, which leaves open what is cut; give the whole batch and accumulation=1."
        )
    return found


def _one_of(epochs: Any, steps: Any) -> None:
    if (epochs is None) == (steps is None):
        raise BadValue("give either epochs or steps." if epochs is None else "epochs and steps are both given; give one.")


def _steps(batches: _Batches, epochs: Any, steps: Any) -> tuple[int, str]:
    _one_of(epochs, steps)
    if steps is not None:
        count = checks.count("steps", steps, least=1)
        return count, f"{_number(count, 'step')}, as given."
    passes = checks.positive("epochs", epochs)
    if batches.drawn == 0:
        raise BadValue("the sampling rate is 0, so no number of steps makes an epoch; give steps.")
    each = float(batches.records / batches.drawn)
    needed = passes * each
    count = checks.count("epochs / rate", math.ceil(needed - 1e-9 * needed))
    return count, f"{_number(count, 'step')}: {_number(passes, 'epoch')} of {_number(each, 'step')}{_rounded(count, needed)}."


def _passes(batches: _Batches, epochs: Any, steps: Any) -> tuple[int, str]:
    """Every pass that was begun; a pass has at least examples // batch steps."""
    _one_of(epochs, steps)
    if epochs is not None:
        passes = checks.positive("epochs", epochs)
        count = checks.count("epochs", math.ceil(passes))
        return count, f"{_number(count, 'pass')}: {_number(passes, 'epoch')}{_rounded(count, passes)}."
    wanted = checks.count("steps", steps, least=1)
    if batches.drawn == 0:
        raise BadValue("batch is 0; allowed for batches of a pass: a whole number from 1 up.")
    each = int(batches.records // batches.drawn)
    count = -(-wanted // each)
    rounded = _rounded(count * each, wanted)
    return count, f"{_number(count, 'pass')}: {_number(wanted, 'step')} of at least {each} to a pass{rounded}."


def _epochs(batches: _Batches, epochs: Any, steps: Any) -> tuple[int, str, int]:
    """Every epoch of examples / batch steps, rounded up, that was begun; and its steps."""
    _one_of(epochs, steps)
    if batches.drawn == 0:
        raise BadValue("batch is 0; allowed for batches of an epoch: a whole number from 1 up.")
    each = math.ceil(batches.records / batches.drawn)
    if steps is None:
        passes = checks.positive("epochs", epochs)
        count, what = (
            checks.count("epochs", math.ceil(passes)),
            f"{_number(passes, 'epoch')}{_rounded(math.ceil(passes), passes)}",
        )
    else:
        wanted = checks.count("steps", steps, least=1)
        count = -(-wanted // each)
        what = f"{_number(wanted, 'step')}{_rounded(count * each, wanted)}"
    return count, f"{_number(count, 'epoch')} of {_number(each, 'step')}: {what}.", each


def _number(count: float, what: str) -> str:
    """So many of them, in words."""
    short = f"{count:.12g}"
    exact = short if float(short) == count else repr(count)
    return f"{exact} {what}{'' if count == 1 else 'es' if what == 'pass' else 's'}"


def _rounded(count: float, needed: float) -> str:
    return ", rounded up" if count - needed > 1e-9 * needed else ""
