"""The largest reserve that a promise leaves, how many of a release still fit, and the noise that would fit."""

import dataclasses
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from .. import checks
from ..conversion.optimal_rdp import rdp_budget
from ..errors import BadValue, HockeystickError, Unreachable, Unsupported
from ..mechanism.release import Mechanism, Release, compose, joined
from ..neighbours import DEFAULT, Relation
from ..planning.calibrate import calibrate
from ..planning.rounds import MOST
from . import costs
from .amounts import HEADROOM, SHARES, Number, exact, written
from .price import Left
from .promises import Kind
from .reserve import Reserve

_SHARE_OF_SLACK = Fraction(1, 10)
"""Of delta, where the slack is not given: a tenth of delta costs a promise little, and entries gain more by it."""
_SPREADS = ("sigma", "scale")
_CLAIMED = ("epsilon", "mu", "rho")
_FARTHEST = 1e9


def largest_reserve(
    epsilon: float,
    delta: float = 0.0,
    plan: Release | None = None,
    slack: Number | None = None,
    kind: Kind = "gdp",
    order: float | None = None,
    neighbours: Relation = DEFAULT,
) -> Reserve:
    """The largest reserve beside a plan for which the promise (epsilon, delta) holds.

    Parameters
    ----------
    epsilon : float
        The epsilon of the promise, from 0 up.
    delta : float, default 0.0
        The delta of the promise.
    plan : Release, optional
        The planned lines with their counts; by default none.
    slack : number or str, optional
        The part of delta that entries of the reserve may use up.  By default a tenth of delta for kind "gdp" where the theorem
        allows it, else nothing.
    kind : {"gdp", "pure", "renyi"}, default "gdp"
        The measure of entries.
    order : float, optional
        The Rényi order of kind "renyi"; by default the one at which most Gaussian noise fits.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation of the budget.

    Returns
    -------
    Reserve
        The reserve; its limit is 0 where the plan leaves nothing.

    Raises
    ------
    BadType
        If a number is none, plan no release, or kind or neighbours no text.
    BadValue
        If a number is out of its range, or kind or neighbours is none of these.
    Unreachable
        If the plan alone is beyond the promise.
    Unsupported
        If no theorem covers the plan beside such a reserve.

    Examples
    --------
    >>> import hockeystick as hs
    >>> plan = hs.DiscreteGaussian(sigma=20.0) * 12
    >>> reserve = largest_reserve(2.0, 1e-6, plan)
    >>> round(float(reserve.limit), 6), 1.9999 < reserve.promise(plan, 1e-6) <= 2.0
    (0.411277, True)
    """
    limit = checks.non_negative("epsilon", epsilon)
    probability = exact("delta", checks.probability("delta", delta))
    lines = Reserve(0, 0, neighbours=neighbours)._checked_plan(plan)
    if slack is None:
        helps = kind == "gdp" and not costs.known_by_renyi_only(lines, neighbours)
        slack = written(_SHARE_OF_SLACK * probability) if helps else 0
    if kind == "renyi":
        return _renyi(limit, float(probability), lines, slack, order, neighbours)
    bare = Reserve(0, slack, kind, order, neighbours)
    bare._checked_plan(lines)
    level = bare._delta_beside_slack(delta)
    _check_alone(bare, lines, limit, level)
    if kind == "pure" and not lines.parts and not level:
        return Reserve(min(exact("epsilon", epsilon), Fraction(600)), slack, kind, neighbours=neighbours)
    return _shrunk(bare, lines, limit, level, delta)


def _check_alone(bare: Reserve, lines: Release, limit: float, level: float) -> None:
    """The plan by itself must be within the promise."""
    alone = lines.epsilon(level, bare.neighbours)
    if alone <= limit:
        return
    beside = f" (beside a slack of {float(bare.slack):g})" if bare.slack else ""
    raise Unreachable(
        f"the plan {lines!r} alone has epsilon {alone:.9g} at delta {level:g}{beside}, beyond {limit:g}: "
        "plan fewer releases or more noise, or promise a larger epsilon."
    )


def _shrunk(bare: Reserve, lines: Release, limit: float, level: float, delta: float) -> Reserve:
    """The reserve that the search finds, a little smaller until its whole capacity is certainly covered by the promise."""
    most = 600.0 if bare.kind == "pure" else 1e99
    try:
        found = min(calibrate(lambda x: bare._with_reserve(lines, min(x, most)), **_target(bare, limit, level)), most)
    except Unreachable:  # nothing is left, or everything fits
        whole = bare._with_reserve(lines, most)
        found = most if whole.epsilon(level, bare.neighbours) <= limit else 0.0
    room = Fraction(found) / (1 if bare.kind == "pure" else 1 + Fraction(HEADROOM, SHARES))
    for _ in range(60):
        made = Reserve(room, bare.slack, bare.kind, neighbours=bare.neighbours)
        if made.promise(lines, delta) <= limit:
            return made
        room *= 1 - Fraction(1, 10**10)
    return bare  # which `_check_alone` has asked


def _target(bare: Reserve, limit: float, level: float) -> dict[str, Any]:
    return {"epsilon": limit, "delta": level, "neighbours": bare.neighbours}


def _renyi(limit: float, delta: float, lines: Release, slack: Number, order: float | None, neighbours: Relation) -> Reserve:
    """The divergence that is left at one order; without an order, the one where most Gaussian noise fits."""
    if not 0.0 < delta < 1.0:
        raise BadValue(f"delta is {delta}; allowed for kind 'renyi': above 0 and below 1.")
    if order is None:
        orders = [1.0 + 2.0 ** (place / 8.0) for place in range(-24, 81)]
        order = max(orders, key=lambda one: _room(limit, delta, lines, one, neighbours) / Fraction(one))
    room = _room(limit, delta, lines, costs.order_of(order), neighbours)
    if room < 0:
        raise Unreachable(
            f"the plan {lines!r} alone is beyond epsilon {limit:g} at delta {delta:g} by its divergence of order {order:g}: "
            "plan fewer releases or more noise, promise a larger epsilon, or give another order."
        )
    for _ in range(60):
        made = Reserve(room, slack, "renyi", order, neighbours)
        if made.promise(lines, delta) <= limit:
            return made
        room *= 1 - Fraction(1, 10**10)
    return Reserve(0, slack, "renyi", order, neighbours)


def _room(limit: float, delta: float, lines: Release, order: float, neighbours: Relation) -> Fraction:
    """What the conversion at an order allows, less what the plan has; below 0 if that is more."""
    planned = costs.renyi(lines, order, neighbours)
    if planned == math.inf:
        return Fraction(-(10**9))
    most = Fraction(float(rdp_budget(order, limit, delta)))
    return (most - Fraction(planned)) / (1 + Fraction(HEADROOM, SHARES))


def still_fit(reserve: Reserve, release: Release, left: Left | None = None) -> int:
    """The largest count n for which `release * n` fits as one entry: planned at once, many cost less than one by one.

    Parameters
    ----------
    reserve : Reserve
        The reserve.
    release : Release
        What would be repeated.
    left : Left, optional
        What is left; by default everything.

    Returns
    -------
    int
        The largest count; 0 if not even one fits, 10^12 if so many do.

    Raises
    ------
    BadType
        If release is no release.
    BadValue
        If it is stated for another relation.
    """
    room = reserve.everything if left is None else left
    plain = costs.plain("release", release, reserve.neighbours)
    at = reserve.delta_of(room.slack)

    def fits(count: int) -> bool:
        try:
            return room.holds(reserve.price(plain * count, room, at))
        except Unsupported:
            return False

    try:
        low = min(room.times(reserve.price(plain, room, at)), MOST)  # one by one; as one entry they cost no more
    except Unsupported:
        return 0
    step = 1
    while low < MOST and fits(low + step):
        low, step = low + step, 2 * step
    high = low + step
    while high - low > 1 and low < MOST:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return min(low, MOST)


def noise_that_fits(reserve: Reserve, release: Release, left: Left | None = None) -> Release | None:
    """The same release with the least noise that still fits; itself if it fits as it is.

    Parameters
    ----------
    reserve : Reserve
        The reserve.
    release : Release
        What does not fit.
    left : Left, optional
        What is left; by default everything.

    Returns
    -------
    Release or None
        With more noise (or a smaller claim) in every part; None if nothing of this kind fits.

    Raises
    ------
    BadType
        If release is no release.
    BadValue
        If it is stated for another relation.

    Examples
    --------
    >>> import hockeystick as hs
    >>> noise_that_fits(Reserve(0.1), hs.Gaussian(sigma=2.0))
    Gaussian(sigma=10.01)
    """
    room = reserve.everything if left is None else left
    plain = costs.plain("release", release, reserve.neighbours)

    def fits(factor: float) -> Release | None:
        made = scaled(plain, factor)
        if made is None:
            return None
        try:
            return made if room.holds(reserve.price(made, room)) else None
        except HockeystickError:
            return None

    if (same := fits(1.0)) is not None:
        return same
    high = 1.0
    while fits(high := 4.0 * high) is None:
        if high > _FARTHEST:
            return None
    return fits(_halved(fits, high / 4.0, high))


def _halved(fits: Callable[[float], Release | None], low: float, high: float) -> float:
    """A factor that fits, next to one that does not."""
    while high > low * 1.0005:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if fits(middle) is not None else (middle, high)
    return high


def scaled(release: Release, factor: float) -> Release | None:
    """The release with its noise times a factor, or its claims divided by it; None if a part has neither."""
    found = [(_scaled(mechanism, factor), count) for mechanism, count in release.parts]
    if any(one is None for one, _ in found):
        return None
    return joined([(one, count) for one, count in found if one is not None]) if found else compose([])


def _scaled(mechanism: Mechanism, factor: float) -> Mechanism | None:
    if factor == 1.0:
        return mechanism
    for name in _SPREADS:
        if hasattr(mechanism, name):
            return dataclasses.replace(mechanism, **{name: _short(factor * getattr(mechanism, name), 1)})  # type: ignore[type-var]
    arguments = mechanism._parameters()
    for name in _CLAIMED:
        if name in arguments:
            return type(mechanism)(**{**arguments, name: _short(arguments[name] / factor, -1)})
    base = getattr(mechanism, "base", None)
    if isinstance(base, Release) and (inner := scaled(base, factor)) is not None:
        return dataclasses.replace(mechanism, base=inner)  # type: ignore[type-var]
    return None


def _short(value: float, side: int) -> float:
    """Four digits, rounded to the side of more privacy: people will type it."""
    step = Fraction(10) ** (math.floor(math.log10(value)) - 3)
    return float((math.ceil if side > 0 else math.floor)(Fraction(value) / step) * step)
