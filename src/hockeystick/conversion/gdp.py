"""Gaussian DP: mu-GDP to approximate DP and back (Liu et al. 2021, sections 1 to 5).

mu-GDP says that two neighbours are no easier to tell apart than N(0, 1) and N(mu, 1), that is, (epsilon, delta_mu(epsilon))-DP
for every epsilon, with delta_mu the hockey stick of these two (Liu et al. 2021, Theorem 3.2).  epsilon is at most 1e15 here, mu
at most 1e8.
"""

import math
from collections.abc import Iterable

import numpy as np

from .. import checks
from ..checks import probability
from ..errors import BadType
from ..numerics.roots import increasing_root
from ..numerics.rounding import ERFCX, FUNCTION, SMALLEST, UNIT, up
from ._kernels import arguments
from ._kernels.broadcast import broadcast
from ._kernels.gaussian_ends import error_ends, exact_square, log_delta_up, mu_ends
from ._kernels.normals import (
    ROOT_HALF,
    ROOT_TWO_PI,
    checked_epsilon,
    checked_mu,
    exact_exponent,
    hockey_stick,
    mu_bounds,
    quantile,
    stick,
)


@broadcast
def gdp_to_delta(mu: float, epsilon: float) -> float:
    """delta_mu(epsilon) = P(N > epsilon/mu - mu/2) - e^epsilon P(N > epsilon/mu + mu/2), rounded up.

    Liu et al. 2021, Theorem 3.2.
    Within 1.5e-13 of the truth for epsilon up to 1e4 and delta from 1e-300 up; beyond, within 1e-15 mu.

    Parameters
    ----------
    mu : float or array_like
        The parameter of Gaussian DP, from 0 to 1e8.
    epsilon : float or array_like
        From 0 to 1e15.

    Returns
    -------
    float or ndarray
        Delta, from 0 to 1, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> print(f"{gdp_to_delta(mu=6, epsilon=200):.12e}")
    3.436019483216e-203
    """
    mu, epsilon = checked_mu(mu), checked_epsilon(epsilon)
    if mu == 0.0:
        return 0.0
    high, low, factor, error = hockey_stick(mu, epsilon)
    if high > -1.0 and factor == 1.0:  # near 1 the complement is what is known
        return min(1.0, up(1.0 + math.expm1(min(0.0, high + error)) * (1.0 - 2.0 * FUNCTION)))
    root = math.exp(0.5 * high)
    value = root * factor * root * (1.0 + low + 1.001 * (error + 2.0 * FUNCTION + 8.0 * UNIT))
    return min(1.0, up(up(value))) if value > 0.0 else SMALLEST


@broadcast
def gdp_to_log_delta(mu: float, epsilon: float) -> float:
    """log delta_mu(epsilon), rounded up, also where delta_mu is below every double (Liu et al. 2021, Theorem 3.2).

    -inf for mu = 0.

    Parameters
    ----------
    mu : float or array_like
        The parameter of Gaussian DP, from 0 to 1e8.
    epsilon : float or array_like
        From 0 to 1e15.

    Returns
    -------
    float or ndarray
        The natural logarithm of delta, rounded up; -inf for mu = 0.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(gdp_to_log_delta(mu=1, epsilon=100), 9)
    -4960.254553817
    """
    mu, epsilon = checked_mu(mu), checked_epsilon(epsilon)
    return log_delta_up(mu, epsilon) if mu > 0.0 else -math.inf


@broadcast
def gdp_to_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon at which delta_mu is at most delta, rounded up (Liu et al. 2021, Theorem 3.2).

    It is 0 for delta >= delta_mu(0).  Just below, where epsilon is small against mu, only mu * 1e-13 can be resolved.

    Parameters
    ----------
    mu : float or array_like
        The parameter of Gaussian DP, from 0 to 1e8.
    delta : float or array_like
        A probability above 0 and below 1.

    Returns
    -------
    float or ndarray
        Epsilon, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(gdp_to_epsilon(mu=1, delta=1e-5), 12)
    4.377178095681
    """
    from scipy.special import ndtri_exp

    mu, delta = checked_mu(mu), arguments.delta(delta)
    if mu == 0.0:
        return 0.0
    target = math.log(delta)
    target -= FUNCTION * abs(target)
    if log_delta_up(mu, 0.0) <= target:
        return 0.0

    def excess(epsilon: float) -> tuple[float, float]:
        value, _, slope = stick(mu, epsilon)
        return target - value, -slope

    most = max(0.0, mu * (0.5 * mu - float(ndtri_exp(target))))  # delta is at most P(N > epsilon/mu - mu/2)
    epsilon = max(0.0, increasing_root(excess, most, lower=0.0, upper=math.nextafter(most * (1.0 + 1e-12) + SMALLEST, math.inf)))
    least = UNIT * max(epsilon, SMALLEST / UNIT)
    while (lack := log_delta_up(mu, epsilon) - target) > 0.0:
        slope = excess(epsilon)[1]
        epsilon = up(epsilon, max(least, 1.02 * lack / slope if slope > 0.0 else 0.0))
        least *= 2.0
    return epsilon


@broadcast
def gdp_mu(epsilon: float, delta: float) -> float:
    """mu_GDP: the mu with delta_mu(epsilon) = delta, rounded up; the smallest mu that allows this pair.

    Liu et al. 2021, Definition 4.1.
    0 for delta = 0, inf for delta = 1 (erratum G-E17).  Within 1e-13 of the truth, or 3e-15 log(1/delta) if that is more and
    epsilon is not above mu.

    Parameters
    ----------
    epsilon : float or array_like
        From 0 to 1e15.
    delta : float or array_like
        A probability from 0 to 1.

    Returns
    -------
    float or ndarray
        Mu, rounded up; inf for delta = 1.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(gdp_mu(epsilon=1, delta=1e-5), 12)
    0.268051123211
    """
    epsilon, delta = checked_epsilon(epsilon), probability("delta", delta)
    return mu_ends(epsilon, delta)[1]


@broadcast
def gdp_mu_gradient(mu: float, epsilon: float) -> tuple[float, float]:
    """(d mu / d epsilon, d mu / d delta) of mu_GDP where delta = delta_mu(epsilon), for mu > 0, rounded up.

    Liu et al. 2021, Theorem 4.5.
    Mills' ratio at mu/2 + epsilon/mu, hence below sqrt(pi/2) (erratum G-E1: both signs of the exponents are misprinted), and
    1 / phi(mu/2 - epsilon/mu), which is inf where it is beyond the doubles.

    Parameters
    ----------
    mu : float or array_like
        Above 0, at most 1e8.
    epsilon : float or array_like
        From 0 to 1e15.

    Returns
    -------
    tuple of float or of ndarray
        The derivative by epsilon and the one by delta, both rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> slope, steep = gdp_mu_gradient(mu=1, epsilon=1)
    >>> round(slope, 12), round(steep, 12)
    (0.515815638218, 2.840381951812)
    """
    from scipy.special import erfcx

    mu, epsilon = checked_mu(checks.positive("mu", mu)), checked_epsilon(epsilon)
    a, b = epsilon / mu - 0.5 * mu, epsilon / mu + 0.5 * mu
    mills = 0.5 * ROOT_TWO_PI * float(erfcx(b * ROOT_HALF))
    slope = max(SMALLEST, up(mills * (1.0 + ERFCX + 16.0 * UNIT)))
    high, low = exact_exponent(mu, epsilon) if abs(a) < 1e3 else (-math.inf, 0.0)
    if high < -708.0:
        return slope, math.inf
    return slope, up(math.exp(-high) * ROOT_TWO_PI * (1.0 - low + 2.0 * FUNCTION))


def compose_gdp(mus: Iterable[float]) -> float:
    """mu = sqrt(mu_1^2 + mu_2^2 + ...): the smallest double that is at least that (Liu et al. 2021, section 1; Dong, Roth, Su).

    Parameters
    ----------
    mus : iterable of float
        The parameters of the parts, each from 0 to 1e8; none gives 0.

    Returns
    -------
    float
        Mu of the composition, rounded up to the next double.

    Raises
    ------
    BadType
        If mus is no sequence, or an entry no real number.
    BadValue
        If an entry is out of its range.

    Examples
    --------
    >>> compose_gdp([3.0, 4.0]), compose_gdp([])
    (5.0, 0.0)
    """
    if isinstance(mus, str | bytes) or not isinstance(mus, Iterable) or getattr(mus, "ndim", 1) != 1:
        raise BadType(f"mus is {mus!r} ({type(mus).__name__}); allowed: a sequence of numbers from 0 up.")
    given = [checked_mu(one) for one in (mus.tolist() if isinstance(mus, np.ndarray) else mus)]
    total = sum(exact_square(one) for one in given)
    value = math.hypot(*given)
    while exact_square(value) < total:
        value = math.nextafter(value, math.inf)
    while value > 0.0 and exact_square(before := math.nextafter(value, 0.0)) >= total:
        value = before
    return value


@broadcast
def gdp_tradeoff(mu: float, alpha: float) -> float:
    """beta = Phi(Phi^-1(1 - alpha) - mu), rounded down: no test of level alpha has a smaller second error.

    Liu et al. 2021, section 1.
    Within 2e-14 (1 + |x|) of the truth, x = Phi^-1(beta), relative to it.

    Parameters
    ----------
    mu : float or array_like
        The parameter of Gaussian DP, from 0 to 1e8.
    alpha : float or array_like
        The type-I error of the test, from 0 to 1.

    Returns
    -------
    float or ndarray
        The type-II error, rounded down.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(gdp_tradeoff(mu=2, alpha=0.5), 12)
    0.022750131948
    """
    mu = checked_mu(mu)
    return error_ends(mu, mu, probability("alpha", alpha))[0][0]


@broadcast
def pure_to_gdp(epsilon: float) -> float:
    """mu = -2 Phi^-1(1 / (1 + e^epsilon)), the smallest that follows from epsilon-DP, rounded up (Liu et al. 2021, Theorem 5.1).

    Parameters
    ----------
    epsilon : float or array_like
        From 0 to 1e15.

    Returns
    -------
    float or ndarray
        The smallest mu, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(pure_to_gdp(epsilon=1), 12)
    1.232035385345
    """
    epsilon = checked_epsilon(epsilon)
    if epsilon == 0.0:
        return 0.0
    if epsilon < 1.0:  # as delta_mu(0) = tanh(epsilon / 2)
        log = math.log(-math.expm1(-epsilon)) - math.log1p(math.exp(-epsilon))
        return mu_bounds(0.0, log, log + 2.0 * FUNCTION + (FUNCTION + UNIT) * (abs(log) + 2.0))[1]
    log = epsilon + math.log1p(math.exp(-epsilon))
    return 2.0 * quantile(-up(log, (FUNCTION + 2.0 * UNIT) * log), 1.0)
