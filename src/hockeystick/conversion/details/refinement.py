"""Where a refined profile leaves the naive one (Liu et al. 2021, section 3 and appendix B)."""

from collections.abc import Callable

from .._kernels.profiles import checked_profile
from ..partial_order import kink


def refined_kink(profile: Callable[[float], float]) -> tuple[float, float]:
    """(epsilon, delta) of the pair of a profile that implies the most at every smaller epsilon (Liu et al. 2021, appendix B).

    `refined_profile` is `implied_delta` from this pair up to its epsilon, and beyond it, if the naive profile is like the paper's
    examples, the profile itself (errata G-E10, G-E14).  Any pair of the profile is a guarantee, so the search, to eight digits,
    needs no proof: it makes (1 - delta) / (1 + e^epsilon) largest.

    Parameters
    ----------
    profile : callable
        The privacy profile: maps one epsilon to a delta from 0 to 1.

    Returns
    -------
    tuple of float
        The epsilon of the kink, and the profile there.

    Raises
    ------
    BadType
        If profile is no function.
    BadValue
        If the profile returns no probability.

    Examples
    --------
    >>> import math
    >>> epsilon, delta = refined_kink(lambda epsilon: math.exp(-epsilon * epsilon))
    >>> round(epsilon, 6), round(delta, 6)
    (1.187849, 0.243903)
    """
    return kink(checked_profile(profile))
