"""Which (epsilon, delta) follows from which: the partial order of approximate DP (Liu et al. 2021, sections 3, B, C)."""

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..checks import probability, real
from ..errors import BadType, BadValue
from ..numerics.rounding import FUNCTION, UNIT, down, up
from ._kernels import arguments
from ._kernels.broadcast import Broadcast, broadcast
from ._kernels.profiles import checked_profile
from .curve import best_order

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..bounds import Array, Floats

_POINTS = 48
_TRIED = (0.05, 0.8)  # shares of the farthest epsilon0 that can be better


@broadcast
def implied_delta(epsilon0: float, delta0: float, epsilon: float) -> float:
    """The smallest delta for which every (epsilon0, delta0)-DP mechanism is (epsilon, delta)-DP, rounded up.

    Liu et al. 2021, Theorem 3.1.
    delta0 + (1 - delta0) (e^epsilon0 - e^epsilon) / (1 + e^epsilon0) for epsilon below epsilon0, else delta0.

    Parameters
    ----------
    epsilon0 : float or array_like
        From 0 to 1e100.
    delta0 : float or array_like
        A probability from 0 to 1.
    epsilon : float or array_like
        From 0 to 1e100.

    Returns
    -------
    float or ndarray
        The smallest delta that follows, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(implied_delta(epsilon0=1, delta0=0.1, epsilon=0.4), 12)
    0.39686061161
    """
    epsilon0, delta0 = arguments.level("epsilon0", epsilon0), probability("delta0", delta0)
    epsilon = arguments.level("epsilon", epsilon)
    return _implied(epsilon0, delta0, epsilon)


def _implied(epsilon0: float, delta0: float, epsilon: float) -> float:
    if epsilon >= epsilon0:
        return delta0
    share = -math.expm1(epsilon - epsilon0) / (1.0 + math.exp(-epsilon0))
    return min(1.0, up((delta0 + (1.0 - delta0) * share) * (1.0 + 2.0 * FUNCTION + 8.0 * UNIT)))


@broadcast
def sufficient_delta(epsilon: float, epsilon0: float, delta0: float) -> float:
    """The largest delta for which (epsilon, delta)-DP implies (epsilon0, delta0)-DP, rounded down.

    Liu et al. 2021, Corollary 3.1.
    delta0 - (1 - delta0) (e^epsilon - e^epsilon0) / (1 + e^epsilon0) for epsilon above epsilon0, else delta0.  Where that is
    negative no delta suffices; near 0 it is known up to 1e-14 delta0.

    Parameters
    ----------
    epsilon : float or array_like
        From 0 to 1e100.
    epsilon0 : float or array_like
        From 0 to 1e100.
    delta0 : float or array_like
        A probability from 0 to 1.

    Returns
    -------
    float or ndarray
        The largest delta that suffices, rounded down; negative where none does.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(sufficient_delta(epsilon=0.5, epsilon0=0.2, delta0=0.2), 12)
    0.046108586668
    """
    epsilon, epsilon0 = arguments.level("epsilon", epsilon), arguments.level("epsilon0", epsilon0)
    return _sufficient(epsilon, epsilon0, probability("delta0", delta0))


def _sufficient(epsilon: float, epsilon0: float, delta0: float) -> float:
    if epsilon <= epsilon0 or delta0 == 1.0:
        return delta0
    if epsilon - epsilon0 > 700.0:
        return -math.inf
    lost = (1.0 - delta0) * (math.expm1(epsilon - epsilon0) / (1.0 + math.exp(-epsilon0)))
    # e^(x (1 + u)), x below 700 the difference of the epsilons
    lost *= 1.0 + 2.0 * FUNCTION + 8.0 * UNIT + 2.0 * UNIT * (epsilon - epsilon0)
    return down(delta0 - lost)


@overload
def implies(epsilon0: float, delta0: float, epsilon: float, delta: float) -> bool: ...
@overload
def implies(
    epsilon0: "float | Floats", delta0: "float | Floats", epsilon: "float | Floats", delta: "float | Floats"
) -> "bool | NDArray[np.bool_]": ...
def implies(epsilon0: Any, delta0: Any, epsilon: Any, delta: Any) -> Any:
    """Whether every (epsilon0, delta0)-DP mechanism is (epsilon, delta)-DP, decided exactly (Liu et al. 2021, Theorem 3.1).

    Parameters
    ----------
    epsilon0 : float or array_like
        From 0 to 1e100.
    delta0 : float or array_like
        A probability from 0 to 1.
    epsilon : float or array_like
        From 0 to 1e100.
    delta : float or array_like
        A probability from 0 to 1.

    Returns
    -------
    bool or ndarray of bool
        Whether the second guarantee follows from the first.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> implies(epsilon0=1, delta0=0.1, epsilon=0.4, delta=0.4), implies(1, 0.1, 0.4, 0.39)
    (True, False)
    """
    answer = _implies(epsilon0, delta0, epsilon, delta)
    return answer.astype(bool) if isinstance(answer, np.ndarray) else answer


@broadcast
def _implies(epsilon0: float, delta0: float, epsilon: float, delta: float) -> bool:
    epsilon0, delta0 = arguments.level("epsilon0", epsilon0), probability("delta0", delta0)
    epsilon, delta = arguments.level("epsilon", epsilon), probability("delta", delta)
    if epsilon >= epsilon0 or delta < delta0 or delta == 1.0:
        return delta >= delta0
    if delta >= _implied(epsilon0, delta0, epsilon):
        return True
    digits = 40
    while True:  # the two sides differ, as the exponentials of different rationals are independent (Lindemann, Weierstrass)
        with localcontext(Context(prec=digits, Emin=-10 * digits, Emax=10 * digits, traps=[])):
            least, most = Decimal(delta0), Decimal(delta)
            left = (most - least) * (1 + (-Decimal(epsilon0)).exp())
            right = (1 - least) * (1 - (Decimal(epsilon) - Decimal(epsilon0)).exp())
            if abs(left - right) > Decimal(10) ** (5 - digits):
                return left > right
        digits *= 2


def kink(naive: Callable[[float], float]) -> tuple[float, float]:
    """The pair (epsilon, delta) of a profile that implies the most at every smaller epsilon.

    It makes (1 - delta) / (1 + e^epsilon) largest: the lines of Theorem 3.1 all begin at e^epsilon = -1, delta = 1.

    >>> [round(one, 6) for one in kink(lambda epsilon: math.exp(-epsilon * epsilon))]
    [1.187849, 0.243903]
    """

    def lost(epsilon: float) -> float:
        delta = naive(epsilon)
        return math.inf if delta == 1.0 else math.log1p(math.exp(-epsilon)) + epsilon - math.log1p(-delta)

    value, epsilon = min((lost(0.0), 0.0), best_order(lost, most=1e6))
    if value < math.inf:  # elsewhere too, in case there are several such places
        epsilon = min((value, epsilon), _least(lost, _reach(0.0, _implied(epsilon, naive(epsilon), 0.0)), math.inf))[1]
    return epsilon, naive(epsilon)


def refined_profile(profile: Callable[[float], float]) -> "Broadcast[[float], float, Array]":
    """The profile that a naive one implies through the partial order, rounded up.

    Liu et al. 2021, appendix B; errata G-E10, G-E14, G-E23.
    The infimum of `implied_delta(epsilon0, profile(epsilon0), epsilon)` over epsilon0 >= epsilon.  Any epsilon0 is a proof, so
    the search can only be too high: by rounding where the profile is smooth, by 1e-8 of the distance where it jumps.  Up to the
    kink, `refined_kink`, which is found once, the best epsilon0 is the kink; beyond it two are tried, and where one of them
    is better than epsilon itself, 48 and the best of them refined.

    Parameters
    ----------
    profile : callable
        The privacy profile: maps one epsilon to a delta from 0 to 1.

    Returns
    -------
    callable
        The refined profile, a function of a number or an array; its values are rounded up.

    Raises
    ------
    BadType
        If profile is no function, or the refined one is given no real number and no array of them.
    BadValue
        If the profile returns no probability, or the refined one is given an epsilon outside 0 to 1e100.

    Examples
    --------
    >>> refined = refined_profile(lambda epsilon: math.exp(-epsilon * epsilon))
    >>> round(refined(0.25), 12)
    0.596509882465
    """
    naive = checked_profile(profile)
    kinks: list[tuple[float, float]] = []

    @broadcast
    def refined(epsilon: float) -> float:
        epsilon = arguments.level("epsilon", epsilon)
        if not kinks:
            kinks.append(kink(naive))
        if epsilon <= kinks[0][0]:
            return min(naive(epsilon), _implied(*kinks[0], epsilon))

        def implied(step: float) -> float:
            return _implied(epsilon + step, naive(epsilon + step), epsilon)

        best, k = naive(epsilon), -10
        while best == 1.0 and k < 10:  # find any guarantee; farther out none can matter to a double
            best, k = implied(2.0**k), k + 1
        reach = _reach(epsilon, best)
        if all(implied(reach * share) >= best for share in _TRIED):
            return best
        return _least(implied, reach, best)[0]

    return refined


@overload
def refine_noise(rule: Callable[[float, float], float], epsilon: float, delta: float) -> tuple[float, float, float]: ...
@overload
def refine_noise(
    rule: Callable[[float, float], float], epsilon: "Floats", delta: "float | Floats"
) -> "tuple[Array, Array, Array]": ...
@overload
def refine_noise(rule: Callable[[float, float], float], epsilon: float, delta: "Floats") -> "tuple[Array, Array, Array]": ...
def refine_noise(rule: Callable[[float, float], float], epsilon: Any, delta: Any) -> Any:
    """(sigma, epsilon0, delta0): the least noise that a rule asks for a pair that implies (epsilon, delta).

    Liu et al. 2021, 5.2, appendix C.
    `rule` maps epsilon and delta to the noise that makes a mechanism (epsilon, delta)-DP.  The pairs are (epsilon0,
    `sufficient_delta(epsilon0, epsilon, delta)`) with epsilon0 >= epsilon (erratum G-E13: the printed map is that of the
    converse).  A rule may return inf, or raise ArithmeticError, where it knows no noise.

    Parameters
    ----------
    rule : callable
        Maps (epsilon, delta) to a noise, from 0 up or inf.
    epsilon : float or array_like
        From 0 to 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    tuple of float or of ndarray
        The noise that suffices, and the pair for which it is asked.

    Raises
    ------
    BadType
        If rule is no function, or another argument no real number and no array of them.
    BadValue
        If an argument is out of its range, or the rule is infinite at every pair that was tried.

    Examples
    --------
    >>> sigma, epsilon0, delta0 = refine_noise(lambda e, d: -math.log(d) / e, epsilon=0.2, delta=math.exp(-2))
    >>> round(sigma, 9), round(epsilon0, 5), round(delta0, 5)
    (8.085717854, 0.33389, 0.06722)
    """
    if not callable(rule):
        raise BadType(f"rule is {rule!r} ({type(rule).__name__}); allowed: a function (epsilon, delta) -> noise.")

    def noise(epsilon0: float, delta0: float) -> float:
        if delta0 <= 0.0:
            return math.inf
        try:
            value = rule(epsilon0, delta0)
        except ArithmeticError:
            return math.inf
        if isinstance(value, float) and value == math.inf:
            return math.inf
        number = real(f"rule({epsilon0}, {delta0})", value, "a number from 0 up, or inf")
        if number < 0.0:
            raise BadValue(f"rule({epsilon0}, {delta0}) is {number}; allowed: a number from 0 up, or inf.")
        return number

    @broadcast
    def answer(epsilon: float, delta: float) -> tuple[float, float, float]:
        epsilon, delta = arguments.level("epsilon", epsilon), arguments.delta(delta)

        def pair(step: float) -> tuple[float, float]:
            return epsilon + step, _sufficient(epsilon + step, epsilon, delta)

        sigma, step = _least(lambda step: noise(*pair(step)), _reach(epsilon, delta), noise(epsilon, delta))
        if sigma == math.inf:
            raise BadValue("rule is infinite at every pair that was tried; allowed: a rule that is finite at some.")
        return sigma, *pair(step)

    return answer(epsilon, delta)


def _reach(epsilon: float, delta: float) -> float:
    """How far above epsilon a pair can imply (epsilon, delta): log((e^epsilon + delta) / (e^epsilon (1 - delta)))."""
    return math.log1p(delta * math.exp(-epsilon)) - math.log1p(-delta) if delta < 1.0 else 0.0


def _least(objective: Callable[[float], float], reach: float, at_zero: float) -> tuple[float, float]:
    """The smallest value found from 0 to `reach`, and where."""
    if not reach > 1e-300:
        return at_zero, 0.0
    value, start = min((objective(reach * k / _POINTS), reach * k / _POINTS) for k in range(1, _POINTS))
    value, step = min((value, start), best_order(objective, start, reach * 2.0**-30, reach))
    return (value, step) if value < at_zero else (at_zero, 0.0)
