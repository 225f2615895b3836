"""What users give as a density on the line, read."""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ... import checks
from ...errors import BadType, BadValue, Unsupported

if TYPE_CHECKING:
    from ...loss.own.lines import Density

_FAINT = 1e-290
_METHODS = "logpdf (or pdf), cdf, sf and support, as SciPy's frozen distributions have"


class Unquoted(str):
    """A text that is shown without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def is_density(given: Any) -> bool:
    """Whether this is meant as a distribution on the line, and not as masses."""
    return callable(given) or any(hasattr(given, name) for name in ("cdf", "pdf", "logpdf", "pmf", "logpmf"))


def family(given: Any) -> tuple[str, float, float] | None:
    """Name, place and scale of a frozen SciPy distribution with no other parameters, of the two that are known exactly."""
    dist: Any = getattr(given, "dist", None)
    if getattr(dist, "name", None) not in ("norm", "laplace") or not type(dist).__module__.startswith("scipy.stats"):
        return None
    try:
        _, place, scale = dist._parse_args(*given.args, **given.kwds)
        return dist.name, float(place), float(scale)
    except (AttributeError, TypeError, ValueError):
        return None


def key(given: Any) -> Any:
    """What says that two densities are the same: parameters of SciPy's, else the object itself."""
    dist = getattr(given, "dist", None)
    if dist is not None and type(dist).__module__.startswith("scipy.stats") and hasattr(given, "kwds"):
        key = dist.name, tuple(given.args), tuple(sorted(given.kwds.items()))
        try:
            hash(key)
            return key
        except TypeError:
            return id(given)
    return id(given)


def named(given: Any) -> str:
    """A density in words."""
    dist = getattr(given, "dist", None)
    if dist is not None and hasattr(given, "kwds"):
        shown = [repr(one) for one in given.args] + [f"{name}={one!r}" for name, one in given.kwds.items()]
        return f"{dist.name}({', '.join(shown)})"
    return f"<{getattr(given, '__name__', type(given).__name__)}>"


def range_of(given: Any) -> tuple[float, float] | None:
    """What is stated of the losses."""
    if given is None:
        return None
    return _interval("losses", given, "(low, high), the smallest and the largest value of log p/q, or infinite ones")


def _interval(name: str, given: Any, allowed: str) -> tuple[float, float]:
    if isinstance(given, str) or not isinstance(given, Iterable) or len(ends := tuple(given)) != 2:
        raise BadType(f"{name} is {given!r}; allowed: {allowed}.")
    found = []
    for end in ends:
        infinite = isinstance(end, float) and math.isinf(end)
        found.append(float(end) if infinite else checks.real(f"an end of {name}", end, allowed))
    if not found[0] < found[1]:
        raise BadValue(f"{name} is {given!r}; allowed: {allowed}, the first below the second.")
    return found[0], found[1]


def supports(given: Any) -> tuple[Any, Any]:
    """The supports of p and of q."""
    if given is None:
        return None, None
    words = "(low, high), or one such pair for p and one for q"
    if isinstance(given, Iterable) and not isinstance(given, str):
        ends = tuple(given)
        if len(ends) == 2 and all(isinstance(end, Iterable) for end in ends):
            return _interval("support", ends[0], words), _interval("support", ends[1], words)
    both = _interval("support", given, words)
    return both, both


def line(name: str, given: Any, support: Any, log_concave: bool, accuracy: float) -> "Density":
    """What is known of one density."""
    import numpy as np

    from ...loss.own.lines import Distribution, evaluated
    from ...loss.own.log_concave import LogConcave

    if (hasattr(given, "pmf") or hasattr(given, "logpmf")) and not hasattr(given, "pdf"):
        raise BadType(f"{name} is {named(given)}, a discrete distribution; give its masses, as a dict or a list.")
    tails = getattr(given, "sf", None) or getattr(given, "ccdf", None)
    if not is_density(given):
        raise BadType(f"{name} is {given!r}; allowed beside a density: a density, or an object with {_METHODS}.")
    if support is None and hasattr(given, "support"):
        ends = given.support() if callable(given.support) else given.support
        support = _interval(f"support of {name}", [float(end) for end in ends], "(low, high)")
    if support is None:
        raise BadValue(f"support of {name} is missing; give support=(low, high), with float('inf') where there is no end.")
    log_density = getattr(given, "logpdf", None)
    if log_density is None:
        plain = getattr(given, "pdf", given)

        def log_density(x: Any) -> Any:
            values = evaluated(name, plain, np.asarray(x, dtype=np.float64), "the density")
            if (values < 0.0).any():
                raise BadValue(f"the density of {name} is negative somewhere; allowed: numbers from 0 up.")
            with np.errstate(divide="ignore"):  # doubles next to the smallest one have few digits
                return np.log(np.where(values < _FAINT, 0.0, values))

    if hasattr(given, "cdf") and tails is not None and not log_concave:
        return Distribution(name, log_density, given.cdf, tails, support, accuracy)
    if not log_concave:
        raise Unsupported(
            f"the integral of {name} is not bounded from its values alone: give an object with {_METHODS}, or state "
            "log_concave=True if both densities are logarithmically concave."
        )
    return LogConcave(name, log_density, support, accuracy)
