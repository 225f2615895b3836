"""What the arguments of `dpsgd` count: the rate as a quotient, steps, passes and epochs, and how they are rounded."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .. import checks
from ..errors import BadValue
from ..mechanism.release import Release


@dataclass(frozen=True)
class Batches:
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
    def of(examples: Any, batch: Any, rate: Any, accumulation: int, sampler: str) -> "Batches":
        if rate is not None:
            if examples is not None or batch is not None:
                raise BadValue("rate and examples or batch are both given; give rate alone, or examples and batch.")
            if sampler != "poisson":
                raise BadValue(f"rate is given, but sampler={sampler!r} draws batches of a fixed size; give examples and batch.")
            logical = Fraction(checks.rate("rate", rate)) * accumulation
            if logical > 1:
                raise BadValue(f"rate times accumulation is {float(logical)}; allowed: a probability from 0 to 1.")
            return Batches(logical, Fraction(1), None, None)
        if examples is None or batch is None:
            needed = "rate, or both examples and batch" if sampler == "poisson" else "both examples and batch"
            raise BadValue(f"what sampler={sampler!r} draws from is missing; give {needed}.")
        records, drawn = checks.count("examples", examples, least=1), checks.count("batch", batch, least=1) * accumulation
        if drawn > records and sampler != "with-replacement":
            times = f", {accumulation} times accumulated, in all" if accumulation > 1 else ""
            raise BadValue(f"batch is {drawn}{times}; allowed: at most examples, {records}.")
        return Batches(Fraction(drawn), Fraction(records), drawn, records)


def largest_batch(cap: Any, sampler: str, accumulation: int, batches: Batches) -> int | None:
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


def steps_of(batches: Batches, epochs: Any, steps: Any) -> tuple[int, str]:
    """The steps, and what was counted."""
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


def passes_of(batches: Batches, epochs: Any, steps: Any) -> tuple[int, str]:
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


def shuffled_passes(step: Any, count: int, batches: Batches, epochs: Any, steps: Any) -> Release:
    """Passes of known steps, but for those that may not have come to their end, of which no lower end is known."""
    from ..sampling.full_pass import FullPass  # here, so that other samplers need no NumPy

    each = math.ceil(batches.records / batches.drawn)
    whole = math.floor(epochs) if steps is None else steps // each
    found: Release = FullPass(step.base, step.by, each) * whole + step * (count - whole)
    return found


def epochs_of(batches: Batches, epochs: Any, steps: Any) -> tuple[int, str, int]:
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
