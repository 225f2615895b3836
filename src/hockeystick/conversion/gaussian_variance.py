"""How much Gaussian noise suffices: `count` releases of sensitivity 1, and the exact noise of one.

Most is from Asoodeh et al. (2020), section IV.  `gaussian_sigma` is exact, also for `count` releases: its square
times `count` is the smallest variance.
"""

import math
from typing import Any

from .. import checks
from ..errors import BadValue, Unreachable, Unsupported
from ..numerics.rounding import FUNCTION, UNIT, up
from ._kernels import arguments
from ._kernels.broadcast import broadcast
from ._kernels.normals import mu_bounds
from .zcdp_bounds import improved_budget, zcdp_budget_classic, zcdp_budget_improved


def _count(value: Any) -> float:
    return float(checks.count("count", value, 1))


def _variance(count: float, rho: float) -> float:
    """count / (2 rho), rounded up."""
    if not rho > 1e-290:
        raise Unreachable("no double is large enough for this variance; allowed: a larger epsilon or delta.")
    return up(count / (2.0 * rho) * (1.0 + 2.0 * UNIT))


@broadcast
def gaussian_variance_classic(count: int, epsilon: float, delta: float) -> float:
    """sigma^2 = T / (2 (sqrt(log(1/delta) + epsilon) - sqrt(log(1/delta)))^2), T = count, rounded up.

    Asoodeh et al. 2020, before Eq. 28.

    Parameters
    ----------
    count : int or array_like
        How many releases there are, a whole number from 1 up.
    epsilon : float or array_like
        Above 0, at most 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    float or ndarray
        A variance that suffices, in units of the squared sensitivity, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.
    Unreachable
        If no ordinary double is large enough.

    Examples
    --------
    >>> round(gaussian_variance_classic(count=1, epsilon=1, delta=1e-5), 10)
    24.0154409608
    """
    count_, epsilon, delta = _count(count), _positive(epsilon), arguments.delta(delta)
    return _variance(count_, float(zcdp_budget_classic(epsilon, delta)))


@broadcast
def gaussian_variance_improved(count: int, epsilon: float, delta: float) -> float:
    """The infimum of Asoodeh et al. 2020, Eq. 79, over the orders from 1 to 1 / delta, rounded up: a guarantee, unlike Theorem 5.

    Parameters
    ----------
    count : int or array_like
        How many releases there are, a whole number from 1 up.
    epsilon : float or array_like
        From 0 to 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    float or ndarray
        A variance that suffices, in units of the squared sensitivity, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.
    Unreachable
        If no ordinary double is large enough.

    Examples
    --------
    >>> round(gaussian_variance_improved(count=1, epsilon=1, delta=1e-5), 10)
    16.3630796156
    """
    count_, epsilon, delta = _count(count), arguments.level("epsilon", epsilon), arguments.delta(delta)
    return _variance(count_, float(zcdp_budget_improved(epsilon, delta)))


@broadcast
def gaussian_variance_closed(count: int, epsilon: float, delta: float) -> float:
    """(2 T / epsilon^2) log(1/delta) + T / epsilon, T = count, rounded up (Asoodeh et al. 2020, Eq. 28, without its O() term).

    A guarantee though the paper states an asymptote: it is never below `gaussian_variance_classic` (mathematics, Lemma 33a).

    Parameters
    ----------
    count : int or array_like
        How many releases there are, a whole number from 1 up.
    epsilon : float or array_like
        Above 0, at most 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    float or ndarray
        A variance that suffices, in units of the squared sensitivity, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.
    Unreachable
        If no ordinary double is large enough.

    Examples
    --------
    >>> round(gaussian_variance_closed(count=1, epsilon=1, delta=1e-5), 10)
    24.0258509299
    """
    count_, epsilon, delta = _count(count), _positive(epsilon), arguments.delta(delta)
    rho = 0.5 * epsilon / (-2.0 * math.log(delta) / epsilon + 1.0)
    return _variance(count_, rho * (1.0 - FUNCTION - 4.0 * UNIT))


@broadcast
def gaussian_variance_relaxed(count: int, epsilon: float, delta: float) -> float:
    """Eq. 79 of Asoodeh et al. at the order 2 log(1/delta) / epsilon, rounded up (Asoodeh et al. 2020, Eq. 80 and 81).

    What Theorem 5 expands, and, unlike the theorem, a guarantee; `gaussian_variance_improved` takes the best order.  Needs that
    the order is above 1 and the denominator positive: epsilon below 2 log(1/delta) and not next to it (erratum A-E8).

    Parameters
    ----------
    count : int or array_like
        How many releases there are, a whole number from 1 up.
    epsilon : float or array_like
        Above 0, at most 1e100.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    float or ndarray
        A variance that suffices, in units of the squared sensitivity, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.
    Unsupported
        If Eq. 79 gives no variance at this order.
    Unreachable
        If no ordinary double is large enough.

    Examples
    --------
    >>> round(gaussian_variance_relaxed(count=1, epsilon=1, delta=1e-5), 10)
    17.3359671951
    """
    count_, epsilon, delta = _count(count), _positive(epsilon), arguments.delta(delta)
    t = (-2.0 * math.log(delta) - epsilon) / epsilon
    if not 0.0 < t < arguments.LARGEST_ORDER or (rho := improved_budget(t, epsilon, delta)) == 0.0:
        raise Unsupported(
            f"epsilon is {epsilon} and delta is {delta}: Eq. 79 gives no variance at the order 2 log(1/delta) / epsilon;"
            " missing: a smaller epsilon or delta (`gaussian_variance_improved` takes the best order)."
        )
    return _variance(count_, rho)


@broadcast
def gaussian_variance_asymptotic(count: int, epsilon: float, delta: float, terms: int = 3) -> float:
    """The three terms of Theorem 5 without its O() term: **not a guarantee**, and negative for some arguments.

    Asoodeh et al. 2020, Theorem 5.  The variance that it names can be too small by far (erratum A-E8: 7.35 where 20.77 is
    needed at epsilon 0.3, delta
    0.01); use `gaussian_sigma` or `gaussian_variance_improved`.  Needs 2 delta log(1/delta) < epsilon < 2 log(1/delta).  With
    four terms it is Eq. 82, no guarantee either.

    Parameters
    ----------
    count : int or array_like
        How many releases there are, a whole number from 1 up.
    epsilon : float or array_like
        Above 0, at most 1e100.
    delta : float or array_like
        A probability above 0 and below 1.
    terms : int or array_like, default 3
        3, those of Theorem 5, or 4, those of Eq. 82.

    Returns
    -------
    float or ndarray
        The value of the terms, not rounded and no guarantee.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.
    Unsupported
        If the hypothesis of the theorem does not hold.

    Examples
    --------
    >>> round(gaussian_variance_asymptotic(count=1, epsilon=0.5, delta=1e-5), 10)
    55.4652859693
    """
    count_, epsilon, delta = _count(count), _positive(epsilon), arguments.delta(delta)
    number = checks.count("terms", terms, 3)
    if number > 4:
        raise BadValue(f"terms is {number}; allowed: 3 or 4.")
    log_inverse = -math.log(delta)
    if not 2.0 * delta * log_inverse < epsilon < 2.0 * log_inverse:
        raise Unsupported(
            f"epsilon is {epsilon} and delta is {delta}; missing: the hypothesis of Theorem 5, 2 delta log(1/delta) < epsilon"
            f" < 2 log(1/delta), here from {2.0 * delta * log_inverse} to {2.0 * log_inverse}."
        )
    x = math.log(2.0 * log_inverse) - math.log(epsilon)
    value = (log_inverse - x - 1.0) / epsilon + 0.5
    if number == 4:
        fourth = 4.0 * x * x - 6.0 * epsilon * x + 8.0 * x + 2.0 * epsilon * epsilon - 5.0 * epsilon + 4.0
        value += fourth / (4.0 * epsilon * log_inverse)
    return 2.0 * count_ / epsilon * value


@broadcast
def gaussian_sigma(epsilon: float, delta: float, sensitivity: float = 1.0) -> float:
    """The smallest sigma of Gaussian noise for (epsilon, delta)-DP at this 2-norm sensitivity, rounded up.

    Steinke 2022, Corollaries 8, 10.

    Parameters
    ----------
    epsilon : float or array_like
        From 0 to 1e100.
    delta : float or array_like
        A probability above 0 and below 1.
    sensitivity : float or array_like, default 1.0
        By how much one record moves the answer, in the 2-norm; above 0.

    Returns
    -------
    float or ndarray
        The standard deviation, in the unit of the sensitivity, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.
    Unreachable
        If no ordinary double is large enough.

    Examples
    --------
    >>> round(gaussian_sigma(epsilon=1, delta=1e-5), 10)
    3.7306316348
    """
    epsilon, delta, sensitivity = (
        arguments.level("epsilon", epsilon),
        arguments.delta(delta),
        checks.positive("sensitivity", sensitivity),
    )
    sigma = sensitivity / largest_mu(epsilon, delta) * (1.0 + 2.0 * UNIT)
    if not 0.0 < sigma < math.inf:
        raise BadValue(f"sensitivity is {sensitivity}; allowed: a sensitivity whose sigma is an ordinary double.")
    return up(sigma)


def largest_mu(epsilon: float, delta: float) -> float:
    """The largest distance of two unit normal laws that is (epsilon, delta)-DP, from below: checked with its error bound.

    >>> round(1.0 / largest_mu(1.0, 1e-5), 10)
    3.7306316348
    """
    target = math.log(delta)
    target -= FUNCTION * abs(target)
    mu, _ = mu_bounds(epsilon, target, target)
    if not mu > 1e-307:
        raise Unreachable(
            f"epsilon is {epsilon} and delta is {delta}: no ordinary sigma is surely enough; allowed: a larger epsilon or delta."
        )
    return mu


def _positive(value: Any) -> float:
    checks.positive("epsilon", value)
    return arguments.level("epsilon", value)
