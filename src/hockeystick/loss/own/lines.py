"""What is known of one density on the line: its logarithm and its tails, with the errors that are stated.

docs/mathematics/densities.md, section 22.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ...errors import BadType, BadValue, Unsupported
from ...numerics.cancellation_free import Array
from .polygon import ONE, units

Function = Callable[[Any], Any]
_UNDERFLOW = 1e-300  # by which a tail is off at least: smaller ones may be 0 in doubles


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    depths: tuple[float, ...] = (0.3, 0.6, 1, 2, 3, 4, 6, 8, 10, 13, 17, 22, 30, 40, 60, 90, 130, 170, 210, 250, 290)
    """Tails of ten to minus these, between which a grid begins."""


TUNING = Tuning()


class Tails(NamedTuple):
    """Both ends of P(X <= x) and of P(X > x), in units."""

    below: tuple[list[int], list[int]]
    above: tuple[list[int], list[int]]


class Density(Protocol):
    """One density."""

    @property
    def support(self) -> tuple[float, float]: ...
    def logs(self, x: Array) -> tuple[Array, Array]:
        """log of the density, and a bound of its error."""
        ...

    def guides(self, x: Array) -> tuple[Array, Array]:
        """log P(X <= x) and log P(X > x), roughly."""
        ...

    def tails(self, x: Array) -> Tails: ...
    def places(self) -> Array:
        """Points that spread over all that has mass."""
        ...


def evaluated(name: str, function: Function, x: Array, what: str) -> Array:
    """A function of the user at many points, however it takes them."""
    with np.errstate(all="ignore"):
        try:
            found = np.asarray(function(x), dtype=np.float64)
            if found.shape != x.shape:
                raise ValueError
        except (TypeError, ValueError):  # it takes one number at a time
            try:
                found = np.array([float(function(one)) for one in x.tolist()], dtype=np.float64)
            except (TypeError, ValueError, ArithmeticError) as error:
                raise BadType(f"{what} of {name} fails ({error}); allowed: a function of one number, or of an array.") from None
    if np.isnan(found).any():
        place = float(x[int(np.argmax(np.isnan(found)))])
        raise BadValue(f"{what} of {name} is nan at {place!r}; allowed: a number at every point of the support.")
    return found


@dataclass(frozen=True, eq=False)
class Distribution:
    """A distribution with methods `logpdf`, `cdf` and `sf`, each with a relative error (of logarithms: of 1 and their size)."""

    name: str
    logpdf: Function
    cdf: Function
    sf: Function
    support: tuple[float, float]
    accuracy: float

    def logs(self, x: Array) -> tuple[Array, Array]:
        found = evaluated(self.name, self.logpdf, x, "logpdf")
        return found, self.accuracy * (1.0 + np.where(np.isfinite(found), np.abs(found), 0.0))

    def _both(self, x: Array) -> tuple[Array, Array]:
        below, above = evaluated(self.name, self.cdf, x, "cdf"), evaluated(self.name, self.sf, x, "sf")
        for what, found in (("cdf", below), ("sf", above)):
            if not ((found >= 0.0) & (found <= 1.0 + self.accuracy)).all():
                raise BadValue(f"{what} of {self.name} is outside [0, 1]; allowed: probabilities.")
        return below, above

    def guides(self, x: Array) -> tuple[Array, Array]:
        below, above = self._both(x)
        with np.errstate(divide="ignore"):
            return np.log(below), np.log(above)

    def tails(self, x: Array) -> Tails:
        below, above = self._both(x)
        self._check(x, below, above)
        spare, faint = math.ceil(self.accuracy * 2**60), units(_UNDERFLOW)
        found = []
        for one, sure in ((below, x < self.support[0]), (above, x >= self.support[1])):
            exact = [units(value) for value in one.tolist()]
            off = [0 if none else (value * spare >> 60) + faint for value, none in zip(exact, sure.tolist(), strict=True)]
            low = [max(value - slack, 0) for value, slack in zip(exact, off, strict=True)]
            found.append((low, [min(value + slack, ONE) for value, slack in zip(exact, off, strict=True)]))
        (low_b, high_b), (low_a, high_a) = found
        return Tails(
            ([max(a, ONE - b) for a, b in zip(low_b, high_a, strict=True)], _least(high_b, low_a)),
            ([max(a, ONE - b) for a, b in zip(low_a, high_b, strict=True)], _least(high_a, low_b)),
        )

    def _check(self, x: Array, below: Array, above: Array) -> None:
        """What can be seen of wrong functions: tails that lost their digits, or that the density does not have."""
        if (np.diff(below) < -self.accuracy * below[:-1]).any() or (np.diff(above) > self.accuracy * above[:-1]).any():
            raise BadValue(f"cdf of {self.name} falls, or sf grows, somewhere; allowed: distribution functions.")
        off = np.abs(below + above - 1.0)
        if off.max() > 2.0 * self.accuracy + 1e-15:
            place = float(x[int(off.argmax())])
            raise BadValue(
                f"cdf and sf of {self.name} do not add up to 1 at {place!r}, by {off.max():.2g}; allowed: functions of a "
                f"relative error of at most accuracy={self.accuracy:g}."
            )
        for what, small, other in (("sf", above, below), ("cdf", below, above)):
            faint = (small < 1e-4) & (small > 0.0)
            if faint.sum() >= 8 and (small[faint] == 1.0 - other[faint]).mean() > 0.5:
                raise Unsupported(
                    f"{what} of {self.name} is 1 less the other, and has lost its digits in the tail; give functions of a "
                    f"relative error of at most accuracy={self.accuracy:g} there, too."
                )
        logs, _ = self.logs(x)
        mass = np.where(above[1:] < 0.5, above[:-1] - above[1:], np.diff(below))
        with np.errstate(all="ignore"):
            inner = np.array([self.logs(x[:-1] + share * np.diff(x))[0] for share in (0.25, 0.5, 0.75)])
            least, most = (
                np.exp(end) * np.diff(x) for end in (inner.min(axis=0), np.vstack([inner, logs[:-1], logs[1:]]).max(0))
            )
        tail = np.minimum(np.maximum(above[:-1], 1e-300), np.maximum(below[1:], 1e-300))
        slack = 4.0 * self.accuracy * tail + 1e-285
        wrong = (0.25 * least > mass + slack) | (mass > 4.0 * most + slack)
        wrong &= np.isfinite(most) & (np.diff(x) > 64.0 * np.spacing(np.abs(x[:-1])))
        if wrong.any():
            place = int(wrong.argmax())
            low, high, middle = float(x[place]), float(x[place + 1]), float(np.exp(inner[1][place]))
            raise BadValue(
                f"of {self.name} the density and the tails do not fit: {float(mass[place]):.4g} lies between {low!r} and {high!r}"
                f", where the density is about {middle:.4g}; allowed: functions of the same distribution, in the same parameters."
            )

    def places(self) -> Array:
        low, high = self.support
        depths = 10.0 ** -np.array(TUNING.depths)
        left = last_where(lambda x: evaluated(self.name, self.cdf, x, "cdf") <= depths, depths.size, low, high)
        right = last_where(lambda x: evaluated(self.name, self.sf, x, "sf") >= depths, depths.size, low, high)
        return np.unique(np.concatenate((left, right)))


@dataclass(frozen=True, eq=False)
class Flipped:
    """A density seen from the other end of the line."""

    base: Density

    @property
    def support(self) -> tuple[float, float]:
        low, high = self.base.support
        return -high, -low

    def logs(self, x: Array) -> tuple[Array, Array]:
        return self.base.logs(-x)

    def guides(self, x: Array) -> tuple[Array, Array]:
        below, above = self.base.guides(-x)
        return above, below

    def tails(self, x: Array) -> Tails:
        below, above = self.base.tails(-x[::-1])
        (a, b), (c, d) = above, below
        return Tails((a[::-1], b[::-1]), (c[::-1], d[::-1]))

    def places(self) -> Array:
        found: Array = -self.base.places()[::-1]
        return found


def _least(one: list[int], other: list[int]) -> list[int]:
    return [min(a, ONE - b) for a, b in zip(one, other, strict=True)]


def ordered(x: Array) -> npt.NDArray[np.int64]:
    """Doubles as whole numbers in the same order."""
    whole = x.view(np.int64)
    return np.where(whole < 0, np.int64(-(2**63)) - whole, whole)


def unordered(whole: npt.NDArray[np.int64]) -> Array:
    """The doubles again."""
    return np.where(whole < 0, np.int64(-(2**63)) - whole, whole).view(np.float64)


def last_where(holds: Callable[[Array], Any], size: int, low: float, high: float) -> Array:
    """The last doubles of [low, high] at which a condition holds that holds up to there: by halves of all doubles between."""
    largest = np.finfo(np.float64).max
    before = ordered(np.full(size, float(max(low, -largest))))
    after = ordered(np.full(size, float(min(high, largest))))
    for _ in range(66):
        middle = (before >> 1) + (after >> 1) + (before & after & 1)
        there = holds(unordered(middle))
        before, after = np.where(there, middle, before), np.where(there, after, middle)
    return unordered(before)
