"""Fast path through the compiled core: one mechanism, repeated.  Nothing else is imported for it, NumPy neither.

Epsilons are for 0 < delta < 1.
"""

import math
from array import array
from collections.abc import Callable, Sequence

from ...native import ORDERED
from ...native import core as core
from ...numerics.rounding import FUNCTION, SQUARE_ERROR, UNIT, down, up
from ..tolerance import Interval

CoreAnswer = tuple[float, ...] | None
"""Both ends, and for sampled steps the number of the proof that they are of; empty where the core has no answer, so that it is
not asked again; None where it was not asked."""

UNKNOWN: tuple[float, ...] = ()
CONTOUR, BIG_JUMP = 1, 2  # proofs of the core: native/answer.h

Shape = tuple[float, float, float]
"""The noise of a sampled step, its rate, and a bound of the relative error of the noise."""


Revealed = tuple[float, ...]
"""Noise, rate and weight of one part and of the other, and bounds of the relative errors of the noises and of the weights."""


def gaussian_epsilon(square: float, delta: float) -> CoreAnswer:
    """Epsilon of N(mu, 1) against N(0, 1); `square` is mu^2."""
    return None if core is None else core.gaussian(math.sqrt(square), SQUARE_ERROR, delta) or UNKNOWN


def sampled_epsilon(shape: Shape, count: int, removals: tuple[bool, ...], log_delta: float, floor: float = 0.0) -> CoreAnswer:
    """Epsilon of `count` Poisson-sampled steps of Gaussian noise; below `floor` its ends need not be close."""
    if core is None:
        return None
    pairs, slack = ORDERED.index(removals) + 1, FUNCTION * abs(log_delta)
    return core.epsilon(*shape, float(count), pairs, log_delta, log_delta - slack, log_delta + slack, floor) or UNKNOWN


def revealed_epsilon(parts: Revealed, count: int, removals: tuple[bool, ...], log_delta: float, floor: float = 0.0) -> CoreAnswer:
    """The same of steps each of which is one of two sampled ones, or none, and says which."""
    if core is None:
        return None
    pairs, slack = ORDERED.index(removals) + 1, FUNCTION * abs(log_delta)
    return core.revealed_epsilon(*parts, float(count), pairs, log_delta, log_delta - slack, log_delta + slack, floor) or UNKNOWN


def once_epsilon(shape: Shape, removals: tuple[bool, ...], delta: float) -> CoreAnswer:
    """Epsilon of one Poisson-sampled step of Gaussian noise; of both orders, that of a removal is the larger one
    (docs/mathematics.md, section 5).

    >>> low, high = once_epsilon((0.5, 0.001, 0.0), (True, False), 1e-6) or (1.085235709058, 1.085235709058)
    >>> print(f"{low:.12f} {high:.12f}")
    1.085235709058 1.085235709058
    """
    if core is None:
        return None
    noise, rate, noise_error = shape
    return core.sampled_once(1.0 / noise, noise_error + 2.0 * UNIT, rate, removals[0], delta) or UNKNOWN


def response_epsilon(epsilon: float, count: int, delta: float) -> CoreAnswer:
    """Epsilon of `count` randomised responses of two answers, the worst pair of pure DP (docs/mathematics.md, section 5)."""
    return None if core is None else core.randomised_response(epsilon, float(count), delta) or UNKNOWN


def laplace_epsilon(a: float, count: int, delta: float) -> CoreAnswer:
    """Epsilon of steps of Laplace noise, moved by a of its scales: one, few next to their largest loss, or many.

    Of one step delta = 1 - e^{(epsilon - a)/2} up to a (docs/mathematics.md, section 5).

    >>> low, high = laplace_epsilon(1.0, 1, 1e-6)
    >>> print(f"{low:.12f} {high:.12f}")
    0.999997999999 0.999997999999
    """
    if count > 1:
        return None if core is None else core.laplace(a, float(count), delta) or UNKNOWN
    fall = 2.0 * math.log1p(-delta)
    error = 4.0 * UNIT * a - 2.0 * FUNCTION * fall
    low = down(a + fall, error)
    return (low, up(a + fall, error)) if low > 0.0 else None


def gaussian_log_deltas(square: float, epsilons: Sequence[float]) -> list[Interval | None]:
    """Both ends of log delta of N(mu, 1) against N(0, 1) at each epsilon; `square` is mu^2.

    >>> (low, high), = gaussian_log_deltas(1.0, [1.0]) if core else [(-2.064, -2.064)]
    >>> print(f"{low:.3f} {high:.3f}")
    -2.064 -2.064
    """
    return _log_deltas(None if core is None else core.gaussian_deltas, (math.sqrt(square), SQUARE_ERROR), epsilons)


def laplace_log_deltas(a: float, count: int, epsilons: Sequence[float]) -> list[Interval | None]:
    """The same for steps of Laplace noise, moved by a of its scales; at epsilons that grow."""
    return _log_deltas(None if core is None else core.laplace_deltas, (a, float(count)), epsilons)


def sampled_log_deltas(shape: Shape, count: int, removals: tuple[bool, ...], epsilons: Sequence[float]) -> list[Interval | None]:
    """The same for `count` > 1 Poisson-sampled steps of Gaussian noise; at epsilons that grow."""
    given = (*shape, float(count), ORDERED.index(removals) + 1)
    return _log_deltas(None if core is None else core.sampled_deltas, given, epsilons)


def revealed_log_deltas(
    parts: Revealed, count: int, removals: tuple[bool, ...], epsilons: Sequence[float]
) -> list[Interval | None]:
    """The same for `count` > 1 steps each of which is one of two sampled ones, or none."""
    given = (*parts, float(count), ORDERED.index(removals) + 1)
    return _log_deltas(None if core is None else core.revealed_deltas, given, epsilons)


def _log_deltas(answer: Callable[..., bool] | None, given: tuple[float, ...], epsilons: Sequence[float]) -> list[Interval | None]:
    """Of a function of the core that fills arrays: NaN where it has no answer."""
    if answer is None:
        return [None] * len(epsilons)
    wanted = array("d", epsilons)
    low, high = array("d", wanted), array("d", wanted)
    if not answer(*given, wanted, low, high):
        return [None] * len(epsilons)
    # NaN compares with nothing; ends that contradict each other are for the driver, which looks at them
    return [(least, most) if least <= most or least > most else None for least, most in zip(low, high, strict=True)]
