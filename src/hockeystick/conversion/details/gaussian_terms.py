"""Gaussian noise in closed forms that are simpler than exact: the bound after Corollary 8, Lemma A.1, both ends of mu."""

import math
from fractions import Fraction

from ...checks import probability
from ...numerics.rounding import FUNCTION, UNIT
from .._kernels import arguments
from .._kernels.broadcast import broadcast
from .._kernels.exponentials import exp_of_fraction
from .._kernels.gaussian_ends import mu_ends
from .._kernels.normals import checked_epsilon, checked_mu

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_FAR = Fraction(10) ** 300


@broadcast
def gaussian_delta_closed(rho: float, epsilon: float) -> float:
    """e^(-(epsilon - rho)^2 / (4 rho)) / max(2, sqrt(pi / rho) (epsilon - rho)), rounded up (Steinke 2022, after Corollary 8).

    An upper bound of the delta of Gaussian noise with rho = sensitivity^2 / (2 sigma^2), at least half of `zcdp_to_delta_classic`
    below it; 1 for epsilon below rho, where the paper states nothing.

    Parameters
    ----------
    rho : float or array_like
        The parameter of zCDP, from 0 to 1e100.
    epsilon : float or array_like
        From 0 to 1e100.

    Returns
    -------
    float or ndarray
        An upper bound of delta, rounded up; at most 1.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> round(gaussian_delta_closed(rho=0.5, epsilon=1), 12)
    0.441248451292
    """
    rho, epsilon = arguments.level("rho", rho), arguments.level("epsilon", epsilon)
    if rho == 0.0:
        return 0.0
    if epsilon < rho:
        return 1.0
    gap = Fraction(epsilon) - Fraction(rho)
    ratio = gap * gap / Fraction(rho)
    less = math.log(2.0)
    if ratio > 1:
        less = max(less, 0.5 * (math.log(math.pi) + math.log(min(ratio, _FAR))))
    return exp_of_fraction(-ratio / 4, -less, (2.0 * FUNCTION + 4.0 * UNIT) * (1.0 + less))


@broadcast
def gdp_to_delta_closed(mu: float, epsilon: float) -> float:
    """mu e^(-a^2/2) / (sqrt(2 pi) a^2), a = mu/2 - epsilon/mu, to which delta tends, rounded up (Liu et al. 2021, Lemma A.1).

    The paper has a^2 under the root (erratum G-E9).  It is an upper bound of delta_mu(epsilon) for every epsilon above mu^2/2
    (mathematics, Lemma 23a); up to there, 1 is returned.

    Parameters
    ----------
    mu : float or array_like
        The parameter of Gaussian DP, from 0 to 1e8.
    epsilon : float or array_like
        From 0 to 1e15.

    Returns
    -------
    float or ndarray
        An upper bound of delta, rounded up; at most 1.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> print(f"{gdp_to_delta_closed(mu=2, epsilon=40):.12e}")
    9.000753666336e-82
    """
    mu, epsilon = checked_mu(mu), checked_epsilon(epsilon)
    if mu == 0.0:
        return 0.0
    a = Fraction(epsilon) / Fraction(mu) - Fraction(mu) / 2
    if a <= 0:
        return 1.0
    log = math.log(min(max(Fraction(mu) / (a * a), 1 / _FAR), _FAR))  # at the ends delta is far beyond 1, or far below
    return exp_of_fraction(-a * a / 2, log - _LOG_ROOT_TWO_PI, (2.0 * FUNCTION + 4.0 * UNIT) * (3.0 + abs(log)))


@broadcast
def gdp_mu_bounds(epsilon: float, delta: float) -> tuple[float, float]:
    """Both ends of `gdp_mu`, about 1e-13 apart: no smaller mu and no larger one has delta_mu(epsilon) = delta.

    What Algorithm 1 of Liu et al. 2021 brackets by bisection (erratum G-E16: there the upper end is one only if the search begins
    above it).

    Parameters
    ----------
    epsilon : float or array_like
        From 0 to 1e15.
    delta : float or array_like
        A probability from 0 to 1; mu is 0 at 0 and inf at 1.

    Returns
    -------
    tuple of float or of ndarray
        The lower end, rounded down, and the upper one, rounded up.

    Raises
    ------
    BadType
        If an argument is no real number and no array of them.
    BadValue
        If an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> lower, upper = gdp_mu_bounds(epsilon=1, delta=1e-5)
    >>> round(lower, 12), lower < upper < lower + 1e-13
    (0.268051123211, True)
    """
    return mu_ends(checked_epsilon(epsilon), probability("delta", delta))
