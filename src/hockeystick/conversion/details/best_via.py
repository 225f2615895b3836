"""Group privacy of Rényi DP at the best order in between (Steinke 2022, Lemma 33.7, section 6.7)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

from .._kernels import arguments
from .._kernels.broadcast import broadcast
from ..curve import best_order
from ..group import curve, group_rdp
from ..subsampling import fixed_size_rdp

if TYPE_CHECKING:
    from ...bounds import Array, Floats

Curve = Callable[[float], float]


@overload
def group_rdp_best(order: float, first: Curve, second: Curve) -> tuple[float, float]: ...
@overload
def group_rdp_best(order: "Floats", first: Curve, second: Curve) -> "tuple[Array, Array]": ...
def group_rdp_best(order: Any, first: Curve, second: Curve) -> Any:
    """The smallest `group_rdp` over all orders `via`, and the `via` that attains it (Steinke 2022, Lemma 33.7).

    Any `via` is a proof, so the search can only be too high.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e14.
    first : callable
        The Rényi curve of (P, Q).
    second : callable
        The Rényi curve of (Q, R).

    Returns
    -------
    tuple of float or of ndarray
        The Rényi divergence of (P, R), rounded up, and the best `via`.

    Raises
    ------
    BadType
        If first or second is no function, or another argument no real number and no array of them.
    BadValue
        If a curve returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> value, via = group_rdp_best(2, lambda order: order / 2, lambda order: order / 2)
    >>> round(value, 9), round(via, 3)  # (sqrt(1/2) + sqrt(1/2))^2 * 2, as `group_zcdp` has it
    (4.0, 4.0)
    """
    near, far = curve("first", first), curve("second", second)
    return _best(order, lambda order, via: float(group_rdp(order, via, near, far)))


@overload
def fixed_size_rdp_best(order: float, rate: float, rdp: Curve) -> tuple[float, float]: ...
@overload
def fixed_size_rdp_best(order: "Floats", rate: float, rdp: Curve) -> "tuple[Array, Array]": ...
def fixed_size_rdp_best(order: Any, rate: float, rdp: Curve) -> Any:
    """The smallest `fixed_size_rdp` over all orders `via`, and the `via` that attains it (Steinke 2022, section 6.7).

    Any `via` is a proof, so the search can only be too high.

    Parameters
    ----------
    order : float or array_like
        A Rényi order above 1, at most 1e14.
    rate : float
        The share of the records that is drawn, from 0 to 1.
    rdp : callable
        The Rényi curve: maps an order to the divergence, a number from 0 up or inf.

    Returns
    -------
    tuple of float or of ndarray
        The Rényi divergence of the sampled mechanism, rounded up, and the best `via`.

    Raises
    ------
    BadType
        If rdp is no function, or another argument no real number and no array of them.
    BadValue
        If a curve returns a value that is not allowed, an argument is out of its range, or shapes do not broadcast.

    Examples
    --------
    >>> value, via = fixed_size_rdp_best(3, 0.01, lambda order: order / 2)
    >>> value < fixed_size_rdp(3, 10, 0.01, lambda order: order / 2)
    True
    """
    known = curve("rdp", rdp)
    return _best(order, lambda order, via: float(fixed_size_rdp(order, via, rate, known)))


def _best(order: Any, value: Callable[[float, float], float]) -> Any:
    @broadcast
    def answer(order: float) -> tuple[float, float]:
        order = arguments.order(order)
        most = max(2.0**-20, arguments.LARGEST_ORDER / order * 0.5 - 1.0)
        least, t = best_order(lambda t: value(order, order * (1.0 + t)), most=most)
        return least, order * (1.0 + t)

    return answer(order)
