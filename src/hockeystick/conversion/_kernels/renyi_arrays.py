"""`rdp_to_epsilon` for whole arrays: the formulas of `renyi_kernel`, element by element, Newton's method for all at once.

Any v gives a bound, so the search may be rough and needs no proof; what is returned is computed once, with its errors.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT
from . import arguments
from .renyi import FAR, LEAST_CUMULANT, LIFT, RISE

_CHUNK = 8192
_STEPS = 40
_SERIES = tuple(1.0 / math.factorial(k) for k in range(20, 1, -1))


def epsilons(order: Array, gamma: Array, delta: Array, one: Callable[[float, float, float], float]) -> Array | None:
    """The epsilons of arrays of one shape, `one` answering what is out of the ordinary; None if an argument is not allowed."""
    shape = order.shape
    order, gamma, delta = order.ravel(), gamma.ravel(), delta.ravel()
    allowed = (order > 1.0) & (order <= arguments.LARGEST_ORDER) & (gamma >= 0.0) & (gamma <= arguments.LARGEST)
    if not np.all(allowed & (delta > 0.0) & (delta < 1.0)):
        return None
    found = np.empty(order.size)
    t = order - 1.0
    cumulant = np.maximum(np.nextafter(t * gamma, np.inf), LEAST_CUMULANT)
    closed = order * delta >= 1.0 + 2.0 * UNIT
    odd = ~closed & ((delta > 0.5) | (delta < 1e-290) | (gamma < LEAST_CUMULANT * 1e10) | (gamma < LEAST_CUMULANT / t))
    complement = np.log1p(-delta[closed])
    error = FUNCTION * np.abs(complement) + 2.0 * UNIT * (gamma[closed] - complement)
    found[closed] = np.maximum(0.0, _up(gamma[closed] + complement, error))
    found[closed & (gamma == 0.0)] = 0.0
    found[odd] = [one(*row) for row in zip(order[odd].tolist(), gamma[odd].tolist(), delta[odd].tolist(), strict=True)]
    for near in (True, False):
        (places,) = np.nonzero(~closed & ~odd & ((cumulant < FAR) == near))
        for start in range(0, places.size, _CHUNK):
            some = places[start : start + _CHUNK]
            found[some] = _Bounds(t[some], gamma[some], cumulant[some], delta[some], near).answer()
    return found.reshape(shape)


def _up(value: Array, error: Any) -> Array:
    found: Array = np.nextafter(value + error, np.inf)
    return found


def _remainder(y: Array) -> Array:
    """e^y - 1 - y."""
    small = np.clip(y, -1.0, 1.0)
    total = np.full_like(y, _SERIES[0])
    for inverse in _SERIES[1:]:
        total *= small
        total += inverse
    found: Array = np.where(np.abs(y) <= 1.0, total * small * small, np.expm1(y) - y)
    return found


def _rough_remainder(y: Array) -> Array:
    """The same to ten digits."""
    found: Array = np.where(np.abs(y) < 1e-5, y * y * (0.5 + y / 6.0), np.expm1(y) - y)
    return found


def _rise(t: Array, v: Array, remainder: Callable[[Array], Array] = _remainder) -> Array:
    y = np.minimum(t * v, 60.0)
    found: Array = np.where(y < 60.0, np.exp(-y) * (remainder(y) + t * remainder(-v)), 1.0)
    return found


def _lift(t: Array, s: Array, remainder: Callable[[Array], Array] = _remainder) -> tuple[Array, Array]:
    order = 1.0 + t
    y = order * s
    above = _rise(t, s, remainder)
    share = -np.expm1(-y)
    small = np.exp(-np.minimum(t * s, 745.0))
    less = np.expm1(-s)
    value = np.log1p(above / (t * share))
    slope = small * (-t * less * share - above * (1.0 + less)) * order / (share * (t * share + above))
    if y.min() < 1e-17:
        tiny = y < 1e-17
        return np.where(tiny, 0.5 * s, value), np.where(tiny, 0.5, np.maximum(slope, 0.0))
    return value, np.maximum(slope, 0.0)


def _soft(y: Array) -> Array:
    """log(1 + e^y)."""
    return np.maximum(y, 0.0) + np.log1p(np.exp(-np.abs(y)))


class _Bounds:
    """Elements with order * delta < 1, all of them with (`near`) or without a moment that is an ordinary number."""

    def __init__(self, t: Array, gamma: Array, cumulant: Array, delta: Array, near: bool) -> None:
        self.t, self.gamma, self.delta, self.near = t, gamma, delta, near
        self.order = 1.0 + t
        self.odds = self.order * delta
        self.log_odds, self.log_delta = np.log(self.odds), np.log(delta)
        self.moment = np.expm1(cumulant) if near else cumulant

    def _at(self, places: Array) -> "_Bounds":
        some = object.__new__(_Bounds)
        some.near = self.near
        for name in ("t", "gamma", "delta", "order", "odds", "log_odds", "log_delta", "moment"):
            setattr(some, name, getattr(self, name)[places])
        return some

    def answer(self) -> Array:
        """The epsilons, rounded up."""
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            v = self._search()
            u = self._near(v) if self.near else self._far()
            s = u + v
            value, slope = _lift(self.t, s)
            found = _up(u - value, LIFT * value + 2.0 * UNIT * s * slope + 2.0 * UNIT * np.abs(u - value))
        return np.maximum(0.0, found)

    def _search(self) -> Array:
        """The v at which the gap vanishes, about: Newton's method in y = log(e^v - 1) within a bracket."""
        small, large = np.minimum(math.log(2.0), np.log(self.order)), np.maximum(math.log(2.0), np.log(self.order))
        guess = np.minimum(0.5 * (self.log_delta + small + np.minimum(0.0, self.log_delta + large)), -1e-16)
        y = np.maximum(guess - np.log(-np.expm1(guess)), -700.0)
        lower, upper = np.full(y.size, -700.0), 60.0 * (1.0 + 1.0 / self.t)
        left, some = np.arange(y.size), self
        for _ in range(_STEPS):
            point = y[left]
            gap, slope = some._gap(point)
            positive = gap > 0.0
            upper[left] = np.where(positive, point, upper[left])
            lower[left] = np.where(positive, lower[left], point)
            step = np.where((slope > 0.0) & np.isfinite(gap), -gap / slope, np.where(positive, -np.inf, np.inf))
            following = point + step
            inside = (following >= lower[left]) & (following <= upper[left])
            y[left] = np.where(inside, following, 0.5 * (lower[left] + upper[left]))
            unsettled = ~(inside & (np.abs(step) < 1e-4))
            if not unsettled.any():
                break
            if unsettled.mean() < 0.7:
                left = left[unsettled]
                some = self._at(left)
        return _soft(y)

    def _gap(self, y: Array) -> tuple[Array, Array]:
        t, order = self.t, self.order
        v = _soft(y)
        if self.near:
            top = self.moment + _rise(t, v, _rough_remainder)
            log_rest = t * v + np.log(top) - self.log_odds
            s = _soft(log_rest) / t
            speed = (self.moment - np.expm1(-order * v)) / (top + self.odds * np.exp(-t * v))
        else:
            s, speed = self.gamma + v - self.log_odds / t, np.ones(y.size)
        w, slope = _lift(t, s, _rough_remainder)
        log_weight = y - v
        gap = log_weight - self.log_delta - np.log(np.expm1(-s) / np.expm1(-w))
        bend = 1.0 / np.expm1(np.minimum(s, 700.0)) - slope / np.expm1(w)
        return gap, 1.0 - -np.expm1(-v) * (1.0 + speed * bend)

    def _near(self, v: Array) -> Array:
        """u from v, rounded up."""
        t = self.t
        top = self.moment * (1.0 + FUNCTION) + _rise(t, v) * (1.0 + RISE)
        ratio = top / self.odds * (1.0 + 8.0 * UNIT)
        log_top = np.log(ratio)
        log_rest = t * v + log_top
        small = np.exp(np.minimum(t * v, 700.0)) * ratio * (1.0 + FUNCTION + (4.0 + t * v) * UNIT)
        first = _up(np.log1p(small) * (1.0 + FUNCTION + 2.0 * UNIT) / t - v, 0.0)
        rest = np.log1p(np.exp(-np.maximum(log_rest, 0.0)))
        error = 3.0 * FUNCTION * (np.abs(log_top) + rest) + 4.0 * UNIT * rest * t * v + 1e-300
        second = (log_top + rest + error) / t
        found: Array = np.where(log_rest < 0.0, first, _up(second, 2.0 * UNIT * np.abs(second)))
        return found

    def _far(self) -> Array:
        slack = 1e-17 + 2.0 * FUNCTION * np.abs(self.log_odds) + 4.0 * UNIT
        found: Array = (self.gamma + (slack - self.log_odds) / self.t) * (1.0 + 2.0 * UNIT)
        return found
