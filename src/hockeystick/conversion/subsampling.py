"""What a random sample of the records adds to privacy (Steinke 2022, section 6)."""

import functools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from ..checks import non_negative, probability, real
from ..checks import rate as checked_rate
from ..errors import BadType, BadValue
from ..numerics.rounding import FUNCTION, SMALLEST, UNIT, down, up
from ._kernels import arguments
from ._kernels.broadcast import Broadcast, broadcast
from ._kernels.split_logarithms import STEP, log_factorials, split_logarithms
from .group import curve, exact_up, group_rdp, log_mixture
from .subsampling_bounds import large_order

if TYPE_CHECKING:
    from ..bounds import Floats

Array = npt.NDArray[np.float64]

LONGEST_SERIES = 100_000


@overload
def amplify_rdp(order: float, rate: float, rdp: Callable[[float], float]) -> float: ...
@overload
def amplify_rdp(order: "Floats", rate: "float | Floats", rdp: Callable[[float], float]) -> "Array": ...
@overload
def amplify_rdp(order: float, rate: "Floats", rdp: Callable[[float], float]) -> "Array": ...
def amplify_rdp(order: Any, rate: Any, rdp: Callable[[float], float]) -> Any:
    """The Rényi value of a mechanism run on a Poisson sample (Steinke 2022, Theorem 34).

    `rdp` is the mechanism's curve order -> value for adding or removing a record; so is the answer, in both directions
    (Steinke 2022, Theorem 35, whose proof needs orders from 2 up, erratum S-E7: the whole orders are).  It is called at the whole
    orders from 2 to the next one above `order`, and at `order` itself where `rate` is 1; it may return infinity.

    Between whole orders n and n + 1, for each of the two directions: (a - 1) D_a, the logarithm of a moment, is convex
    in a, so that it is at most its linear interpolation between n and n + 1 (at a = 1 it is 0); and D_a is at most D_(n + 1)
    (Steinke 2022, Lemma 33.3).  The answer is the smaller bound.  Below order 2 the two coincide: the answer is that of order 2.
    Above order 100 000 the series is too long and the answer is that of `amplify_rdp_large_order`, valid but larger.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15.
    rate : float or array_like
        The sampling rate, from 0 to 1.
    rdp : callable
        The Rényi curve: maps an order to the divergence, a number from 0 up or inf.

    Returns
    -------
    float or ndarray
        The Rényi divergence of the sampled mechanism, rounded up; inf where rdp is.

    Raises
    ------
    BadType
        If rdp is no function, or another argument no real number and no array of them.
    BadValue
        If rdp returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> amplify_rdp(2, 0.01, lambda order: order / 2)
    0.0001718134220745492
    """
    known = curve("rdp", rdp)
    return _amplify_rdp(order, rate, known)


@broadcast
def _amplify_rdp(order: float, rate: float, known: Callable[[float], float]) -> float:
    order, rate = arguments.order(order), checked_rate("rate", rate)
    if rate == 0.0:
        return 0.0
    if rate == 1.0:
        return known(int(order) if order == int(order) else order)
    if order > LONGEST_SERIES:
        return float(large_order(order, rate, known))
    return between_whole_orders(order, lambda whole: _series(whole, rate, known))


def between_whole_orders(order: float, bound: Callable[[int], float]) -> float:
    """An upper bound of D_order from bounds of D_n at whole n >= 2: interpolated, or the next above (see `amplify_rdp`)."""
    below, above = math.floor(order), math.ceil(order)
    if below == above:
        return bound(below)
    upper = bound(above)
    lower = bound(below) if below > 1 else upper
    if not lower < upper < math.inf:
        return upper
    # Exact weights (they sum to 1): (above - order) (below - 1) and (order - below) (above - 1), over order - 1.
    weight = (Fraction(order) - below) * (above - 1) / (Fraction(order) - 1)
    return min(upper, up(lower, up(up(float(weight)) * up(upper - lower))))


def _series(order: int, rate: float, known: Callable[[float], float]) -> float:
    """S Theorem 34 for 0 < rate < 1: log(1 + sum_k binomial(k) (e^((k - 1) rdp(k)) - 1)) / (order - 1), k from 2.

    The first two terms of the printed series are what is missing from the others to probabilities that sum to 1, so
    that every term here is positive and small answers keep their digits.  The logarithm of a term is a sum of numbers that may
    be thousands and may cancel.  Each is split into a multiple of 2^-16 and a remainder: the multiples are summed
    exactly as long as they stay below 2^37 (larger ones belong to (k - 1) rdp(k), next to which nothing matters), and
    the remainders, at most order * 2^-15 together, lose nothing that counts.  The relative error of the sum is at most
    60 units for the functions and products, and order / 4096 for the remainders.
    """
    values = np.fromiter((known(k) for k in range(2, order + 1)), float, order - 1)
    ks = 2 + np.flatnonzero(values)
    values = values[ks - 2]
    if not values.size:
        return 0.0
    largest = float(np.max(values * ((ks - 1.0) / (order - 1.0))))
    if largest > 1e280:  # a mean of exponentials is at most the largest, and next to such a one the others do not count
        return up(largest, 2.0 * UNIT * largest)
    coarse_log, fine_log = log_factorials(order + 1)
    (coarse_p, fine_p), (coarse_q, fine_q), (coarse_2, fine_2) = split_logarithms(rate)
    coarse_value = np.round(values / STEP) * STEP
    mantissas, powers = np.frexp(-np.expm1(-(ks - 1.0) * values))  # e^x - 1 = e^x (1 - e^-x)
    coarse = (coarse_log[order] - coarse_log[ks] - coarse_log[order - ks]) + (ks * coarse_p + (order - ks) * coarse_q)
    coarse += (ks - 1.0) * coarse_value + powers * coarse_2
    fine = (fine_log[order] - fine_log[ks] - fine_log[order - ks]) + (ks * fine_p + (order - ks) * fine_q)
    fine += (ks - 1.0) * (values - coarse_value) + powers * fine_2
    peak = float(np.max(coarse))
    with np.errstate(under="ignore"):
        total = math.fsum(np.exp(coarse - peak) * np.exp(fine) * mantissas)
    if peak > 600.0:
        value = peak + math.log(total) + 1e-200
    else:
        half = math.exp(0.5 * peak)
        value = math.log1p(half * total * half)
    value /= order - 1
    return max(SMALLEST, up(value, value * (64.0 + order / 4096.0) * UNIT))


@broadcast
def amplify_approx(epsilon: float, delta: float, rate: float) -> tuple[float, float]:
    """(epsilon, delta) of a mechanism run on a sample that holds each record with probability `rate` at most.

    Steinke 2022, Theorem 29.
    (log(1 + rate (e^epsilon - 1)), rate delta).  The theorem assumes of the sample U that for each record i there is a set U_-i
    without i, a neighbour of U, whose law given that i is in U is the law of U given that i is not.  For Poisson sampling it is U
    without i, and (epsilon, delta) and the answer are for adding or removing a record; for a sample of fixed size another record
    takes the place of i, and both are for replacing one (Steinke 2022, section 6.2).  Where records are drawn together there is
    no such set (all of them with probability `rate`, else none: nothing is amplified), and the answer does not hold.

    Parameters
    ----------
    epsilon : float or array_like
        From 0 up.
    delta : float or array_like
        A probability from 0 to 1.
    rate : float or array_like
        The sampling rate, from 0 to 1.

    Returns
    -------
    tuple of float or of ndarray
        Epsilon and delta of the sampled mechanism, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> amplify_approx(1.0, 1e-6, 0.0)
    (0.0, 0.0)
    """
    epsilon, delta, rate = non_negative("epsilon", epsilon), probability("delta", delta), checked_rate("rate", rate)
    return log_mixture(rate, epsilon), exact_up(Fraction(rate) * Fraction(delta))


def amplify_profile(profile: Callable[[float], float], rate: float) -> "Broadcast[[float], float, Array]":
    """The profile epsilon -> delta of a mechanism run on a sample (Steinke 2022, Theorem 29, Liu et al. 2021, section 5.3).

    rate * profile(log(1 + (e^epsilon - 1) / rate)), for epsilon from 0 up.  `profile` must not increase; for which
    neighbours it has to hold stands at `amplify_approx`.

    Parameters
    ----------
    profile : callable
        The privacy profile: maps one epsilon to a delta from 0 to 1.
    rate : float
        The sampling rate, from 0 to 1.

    Returns
    -------
    callable
        The profile of the sampled mechanism, a function of a number or an array; its values are rounded up.

    Raises
    ------
    BadType
        If profile is no function, rate no real number, or the new profile is given no real number and no array of them.
    BadValue
        If rate is outside [0, 1], the profile returns no probability, or the new one is given a negative epsilon.

    Examples
    --------
    >>> pure = amplify_profile(lambda epsilon: 0.0 if epsilon >= 1.0 else 1.0, 0.5)
    >>> pure(0.62), pure([0.0, 0.63])
    (0.5, array([0.5, 0. ]))
    """
    if not callable(profile):
        raise BadType(f"profile is {profile!r} ({type(profile).__name__}); allowed: a function epsilon -> delta.")
    rate = checked_rate("rate", rate)

    @broadcast
    def amplified(epsilon: float) -> float:
        epsilon = non_negative("epsilon", epsilon)
        if rate == 0.0:
            return 0.0
        inner = epsilon if rate == 1.0 else _unsampled(epsilon, rate)
        delta = real(f"profile({inner})", profile(inner), "a number from 0 to 1")
        if not 0.0 <= delta <= 1.0:
            raise BadValue(f"profile({inner}) is {delta}; allowed: a number from 0 to 1.")
        return exact_up(Fraction(rate) * Fraction(delta))

    return amplified


def _unsampled(epsilon: float, rate: float) -> float:
    """A lower bound of log(1 + (e^epsilon - 1) / rate), where a profile that does not increase is safe."""
    grown = math.expm1(epsilon) if epsilon < 700.0 else math.inf
    if (odds := grown / rate) < math.inf:
        value = math.log1p(odds)
    else:  # log(odds), within 1e-300
        value = (math.log(grown) if grown < math.inf else epsilon) - math.log(rate)
    return max(epsilon, down(value, 3.0 * FUNCTION * value))


@overload
def fixed_size_rdp(order: float, via: float, rate: float, rdp: Callable[[float], float]) -> float: ...
@overload
def fixed_size_rdp(order: "Floats", via: "float | Floats", rate: "float | Floats", rdp: Callable[[float], float]) -> "Array": ...
@overload
def fixed_size_rdp(order: float, via: "Floats", rate: "float | Floats", rdp: Callable[[float], float]) -> "Array": ...
@overload
def fixed_size_rdp(order: float, via: float, rate: "Floats", rdp: Callable[[float], float]) -> "Array": ...
def fixed_size_rdp(order: Any, via: Any, rate: Any, rdp: Callable[[float], float]) -> Any:
    """The Rényi value of a sample of fixed size, a fraction `rate` of the records, for replacing one (Steinke 2022, section 6.7).

    By group privacy through Q, the mechanism where the record is not in the sample, for any via > order:
    via / (via - 1) D_(order (via - 1) / (via - order))(p P + (1 - p) Q || Q) + D_via(Q || p P' + (1 - p) Q)
    (erratum S-E5: the printed order is wrong), p the `rate`.  The first divergence is that of `amplify_rdp`, the second the
    smallest of three bounds (see `_from_base`).  `rdp` is the curve for replacing a record of the sample: whoever
    leaves a sample of fixed size is replaced in it.  With the curve for adding or removing a record the answer is that
    of Poisson sampling, for replacing one.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e15.
    via : float or array_like
        A Rényi order above `order`, at most 1e15.
    rate : float or array_like
        The share of the records that is drawn, from 0 to 1.
    rdp : callable
        The Rényi curve: maps an order to the divergence, a number from 0 up or inf.

    Returns
    -------
    float or ndarray
        The Rényi divergence of the sampled mechanism, rounded up.

    Raises
    ------
    BadType
        If rdp is no function, or another argument no real number and no array of them.
    BadValue
        If rdp returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> fixed_size_rdp(2, 3, 0.0, lambda order: order / 2)
    0.0
    """
    known = curve("rdp", rdp)
    return _fixed_size_rdp(order, via, rate, known)


@broadcast
def _fixed_size_rdp(order: float, via: float, rate: float, known: Callable[[float], float]) -> float:
    rate = checked_rate("rate", rate)
    forward = functools.partial(_amplify_rdp, rate=rate, known=known)
    return float(group_rdp(order, via, forward, lambda via: _from_base(via, rate, known)))


def _from_base(order: float, rate: float, known: Callable[[float], float]) -> float:
    """D_a(Q || p P + (1 - p) Q), the smallest of three bounds.

    With X = P / Q and f(X) = (1 - p + p X)^(1 - a) it is log(E_Q f(X)) / (a - 1), hence at most

    * what `amplify_rdp` says, by Steinke 2022, Theorem 35;
    * -log(1 - p + p e^-D_a(Q || P)): f, as a power mean of 1 and X^(1 - a), is concave in X^(1 - a), whose mean is given;
    * log(1 + a (a - 1) / 2 p^2 (1 - p)^(-a - 1) (e^D_2(P || Q) - 1)) / (a - 1): f about X = 1, f'' being largest at X = 0.
    """
    if rate == 0.0 or rate == 1.0:
        return known(order) if rate == 1.0 else 0.0
    value = known(math.ceil(order))
    gain = -rate * math.expm1(-value)
    bound = -math.log1p(-gain) if gain < 0.5 else -math.log(1.0 - rate + rate * math.exp(-value))
    bounds = [up(bound, 4.0 * FUNCTION * bound), float(_amplify_rdp(order, rate, known))]
    growth, square = -(order + 1.0) * math.log1p(-rate), known(2)
    if growth < 300.0 and square < 300.0:
        factor = 0.5 * order * (order - 1.0) * math.exp(growth) * math.expm1(square)
        bound = math.log1p(rate * factor * rate) / (order - 1.0)
        bounds.append(up(bound, (5.0 + 2.0 * growth) * FUNCTION * bound))
    return min(bounds)
