"""Privacy profiles that a user gives: as a function of epsilon, or by a rule that says how much noise a guarantee needs."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...checks import real
from ...errors import BadType, BadValue
from ...numerics.roots import narrowed
from ...numerics.rounding import UNIT
from . import arguments
from .broadcast import Broadcast, broadcast

if TYPE_CHECKING:
    from ...bounds import Array

_LEAST = math.exp(-744.0)
_WIDTH = 4.0 * UNIT  # of log delta, relative to 1 + |log delta|: how close to its smallest the delta of a rule is found


def checked_profile(profile: Any) -> Callable[[float], float]:
    """A function epsilon -> delta, with its values checked.

    >>> checked_profile(lambda epsilon: 0)(1.0)
    0.0
    """
    if not callable(profile):
        raise BadType(f"profile is {profile!r} ({type(profile).__name__}); allowed: a function epsilon -> delta.")

    def value(epsilon: float) -> float:
        delta = real(f"profile({epsilon})", profile(epsilon), "a number from 0 to 1")
        if not 0.0 <= delta <= 1.0:
            raise BadValue(f"profile({epsilon}) is {delta}; allowed: a number from 0 to 1.")
        return delta

    return value


def inverted_rule(rule: Callable[[float, float], float], sigma: float) -> "Broadcast[[float], float, Array]":
    """The naive profile of noise `sigma`: the smallest delta with rule(epsilon, delta) <= sigma, rounded up; 1 if there is none.

    `rule` maps epsilon and delta to the noise that makes a mechanism (epsilon, delta)-DP, and must not increase in delta.  It may
    return inf, or raise ArithmeticError or ValueError, where it knows no noise.

    >>> naive = inverted_rule(lambda epsilon, delta: 2.0 * math.sqrt(-math.log(delta)) / epsilon, sigma=2.0)
    >>> round(naive(1.5) * math.exp(1.5**2), 12)
    1.0
    """
    if not callable(rule):
        raise BadType(f"rule is {rule!r} ({type(rule).__name__}); allowed: a function (epsilon, delta) -> noise.")

    def spare(epsilon: float, delta: float) -> float:
        """sigma - rule, which rises with delta; -inf where the rule knows no noise."""
        try:
            value = rule(epsilon, delta)
        except (ArithmeticError, ValueError):
            return -math.inf
        if type(value) is not float or not math.isfinite(value):
            if isinstance(value, float) and value == math.inf:
                return -math.inf
            value = real(f"rule({epsilon}, {delta})", value, "a number from 0 up, or inf")
        return sigma - value

    @broadcast
    def naive(epsilon: float) -> float:
        epsilon = arguments.level("epsilon", epsilon)
        if not spare(epsilon, 1.0 - UNIT) >= 0.0:
            return 1.0
        if spare(epsilon, _LEAST) >= 0.0:
            return 0.0 if spare(epsilon, 0.0) >= 0.0 else _LEAST
        log_delta = narrowed(lambda log_delta: spare(epsilon, math.exp(log_delta)), -744.0, -UNIT, _WIDTH)[1]
        return math.exp(log_delta)

    return naive
