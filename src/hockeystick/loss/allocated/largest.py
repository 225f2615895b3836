"""delta of an epoch from below: the test that looks at the largest noise of its steps.

docs/mathematics/allocation.md, Lemma 46.
"""

import math

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import LOG_NDTR
from .moments import AllocatedStep


def _masses(step: AllocatedStep, removal: bool) -> tuple[Array, Array]:
    """P of the test from below, and Q of it from above, at some thresholds."""
    from scipy.special import log_ndtr

    t, count = step.tilt * (1.0 - 2.0 * step.tilt_error), step.steps
    x = np.linspace(-2.0, t + math.sqrt(2.0 * math.log(count)) + 12.0, 600)
    plain, moved = log_ndtr(x), log_ndtr(x - t)
    slack = 2.0 * LOG_NDTR * count * (1.0 - plain) + 2.0 * LOG_NDTR * (1.0 - moved) + 1e-14
    whole, one = count * plain, (count - 1.0) * plain + moved
    if removal:
        beyond = log_ndtr(-x)
        any_of_them = np.exp(beyond + 2.0 * LOG_NDTR * (1.0 - beyond)) * (count * (1.0 + 1e-14))
        return -np.expm1(np.minimum(one + slack, 0.0)) * (1.0 - 1e-14), np.minimum(any_of_them, 1.0)
    return np.exp(whole - slack) * (1.0 - 1e-14), np.exp(np.minimum(one + slack, 0.0)) * (1.0 + 1e-14)


def largest_noise_epsilon(step: AllocatedStep, removal: bool, log_delta: float) -> float:
    """An epsilon at which delta is at least this."""
    p, q = _masses(step, removal)
    rest = p - math.exp(log_delta) * (1.0 + 1e-14)
    good = (rest > 0.0) & (q > 0.0)
    if not good.any():
        return 0.0
    return max(0.0, float(np.log(rest[good] / q[good]).max()) * (1.0 - 1e-14) - 1e-14)


def largest_noise_log_delta(step: AllocatedStep, removal: bool, epsilon: float) -> float:
    """A lower bound of log delta."""
    p, q = _masses(step, removal)
    least = float((p - math.exp(min(epsilon, 700.0)) * (1.0 + 1e-14) * q).max())
    return math.log(least) - 1e-14 * abs(math.log(least)) - 1e-15 if least > 0.0 else -math.inf
