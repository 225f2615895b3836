"""One budget for several releases, divided by weights."""

from collections.abc import Callable, Sequence
from typing import Any, Unpack

from .. import checks
from ..errors import BadType, BadValue
from ..mechanism.release import Release, compose
from .calibrate import calibrate
from .target import Wanted


def split(
    parts: Sequence[Callable[[float], Release]], weights: Sequence[float] | None = None, **target: Unpack[Wanted]
) -> tuple[float, ...]:
    """The noise of each part such that all parts together just meet a target.

    Each part is a function of its noise (sigma, scale) that makes a release.  The noises are c / weight with the smallest c,
    found by accounting for the parts together, so nothing is lost by adding epsilons: a part of twice the weight has half the
    noise, that is twice the mu (Gaussian noise) or the epsilon (Laplace noise) of its own.  Without weights all are alike.

    Parameters
    ----------
    parts : sequence of callable
        Each maps its noise to a release.
    weights : sequence of float, optional
        How much each part counts, above 0; by default all are alike.
    **target : float
        A limit: `epsilon` and `delta`, `mu` (and `delta`), `rho`, `advantage`, `tpr` and `fpr`, or `bayes_risk` and `prior`;
        with `neighbours` if it is for another relation than the release states.

    Returns
    -------
    tuple of float
        The noise of each part, in their order.

    Raises
    ------
    BadType
        If parts is no sequence of functions, or a limit is no real number.
    BadValue
        If not exactly one target is given, a limit is out of its range, or neighbours no relation, parts is empty, or there are
        not as many weights as parts.
    Unreachable
        If no noise reaches the target, or every noise does.
    Unsupported
        If no theorem covers a part under this relation.

    Examples
    --------
    >>> import hockeystick as hs
    >>> sums, counts = split([lambda s: hs.Gaussian(sigma=s) * 3, lambda b: hs.Laplace(scale=b)], [1, 2], epsilon=1.0, delta=1e-6)
    >>> round(sums, 6), round(counts, 6)
    (8.942416, 4.471208)
    """
    listed = [_checked(part) for part in checks.listed("parts", parts, "a list of functions of a noise")]
    if not listed:
        raise BadValue("parts is empty; allowed: at least one function of a noise.")
    shares = (
        [1.0] * len(listed)
        if weights is None
        else [checks.positive("a weight", weight) for weight in checks.listed("weights", weights)]
    )
    if len(shares) != len(listed):
        raise BadValue(f"{len(listed)} parts and {len(shares)} weights are given; allowed: as many of each.")

    def together(noise: float) -> Release:
        return compose([part(noise / share) for part, share in zip(listed, shares, strict=True)])

    noise = calibrate(together, **target)
    return tuple(noise / share for share in shares)


def _checked(part: Any) -> Callable[[float], Release]:
    if not callable(part):
        raise BadType(f"a part is {part!r}; allowed: a function of its noise, such as lambda s: Gaussian(sigma=s).")
    return part  # type: ignore[no-any-return]
