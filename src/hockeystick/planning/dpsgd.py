"""DP-SGD in one checked call."""

import math
from typing import Any

from .. import checks
from ..errors import BadType, BadValue, Unsupported
from ..mechanism.gaussian import Gaussian
from ..mechanism.release import Release

_ELSEWHERE = (
    "without-replacement",
    "with-replacement",
    "shuffle",
    "deterministic",
    "cyclic",
    "balls-in-bins",
    "truncated-poisson",
)


def dpsgd(
    *,
    sigma: float,
    sampler: str,
    examples: int | None = None,
    batch: int | None = None,
    rate: float | None = None,
    epochs: float | None = None,
    steps: int | None = None,
) -> Release:
    """A run of DP-SGD: `steps` Gaussian steps on samples of the data.

    `sigma` is the noise multiplier, the noise's standard deviation over the clipping norm of one record's gradient (before
    any averaging over the batch).  Give `rate`, or `examples` and `batch` (the expected batch; rate = batch / examples); and
    `steps`, or `epochs` (steps = epochs / rate, rounded up).  `sampler` must say how batches are drawn, because the answer
    depends on it.

    >>> run = dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=15, sampler="poisson")
    >>> run
    Gaussian(sigma=1.1).poisson(rate=0.004266666666666667) * 3516
    >>> round(run.epsilon(delta=1e-5), 4)
    1.1339
    """
    if not isinstance(sampler, str):
        raise BadType(f"sampler is {sampler!r}; allowed: 'poisson'.")
    if sampler in _ELSEWHERE:
        raise Unsupported(f"sampler={sampler!r} is not accounted for yet: its dominating pair is missing; 'poisson' is.")
    if sampler != "poisson":
        raise BadValue(f"sampler is {sampler!r}; allowed: 'poisson'.")
    step = Gaussian(sigma=sigma)
    fraction = _fraction(examples, batch, rate)
    return step.poisson(rate=float(fraction[0] / fraction[1])) * _steps(fraction, epochs, steps)


def _fraction(examples: Any, batch: Any, rate: Any) -> tuple[float, float]:
    """The sampling rate as a quotient, so that epochs / rate does not suffer from its rounding."""
    if rate is not None:
        if examples is not None or batch is not None:
            raise BadValue("rate and examples or batch are both given; give rate alone, or examples and batch.")
        return checks.rate("rate", rate), 1.0
    if examples is None or batch is None:
        raise BadValue("the sampling rate is missing; give rate, or both examples and batch.")
    records, drawn = checks.count("examples", examples, least=1), checks.count("batch", batch)
    if drawn > records:
        raise BadValue(f"batch is {drawn}; allowed: at most examples, {records}.")
    return float(drawn), float(records)


def _steps(fraction: tuple[float, float], epochs: Any, steps: Any) -> int:
    if (epochs is None) == (steps is None):
        raise BadValue("give either epochs or steps." if epochs is None else "epochs and steps are both given; give one.")
    if steps is not None:
        return checks.count("steps", steps)
    passes = checks.non_negative("epochs", epochs)
    if fraction[0] == 0.0:
        raise BadValue("the sampling rate is 0, so no number of steps makes an epoch; give steps.")
    needed = passes * fraction[1] / fraction[0]
    return checks.count("epochs / rate", math.ceil(needed - 1e-9 * needed))
