"""Meet in the middle: the hockey stick of a sum from all sums of one half of its terms against all sums of the other.

With masses p_b at z_b, increasing, T(x) = sum over z_b > x of p_b (1 - e^(x - z_b)) obeys, with W_i = sum over b >= i of
p_b e^(z_i - z_b),

    T(x) = T(z_i) + W_i (1 - e^(x - z_i))        for z_(i-1) <= x < z_i,

so that all of it is sums of positive terms, and the hockey stick is h(x) = sum over a of p_a T(x - z_a).  `EnumeratedSum` does so
for two-point variables.  docs/mathematics.md, section 12.
"""

import math
from dataclasses import dataclass

import numpy as np

from .binomial import log_masses
from .cancellation_free import Array
from .rounding import FUNCTION, UNIT
from .two_point_sums import TwoPointSum

Half = tuple[Array, Array]
"""Sums and the logarithms of their masses."""

_LOG_LARGEST, _LOG_RANGE = 340.0, 1040.0
"""log of the largest mass as it is stored, and of its ratio to the least: so that products of two masses are doubles."""
_STRIDE = 100.0
"""Exponentials of distances up to it are taken at once; it is counted in the rounding."""


@dataclass(frozen=True)
class Tuning:
    """What is left out is bounded, whatever is chosen here."""

    max_sums: int = 1 << 20
    """Of a half: memory and time of sorting."""
    log_negligible: float = 60.0
    """Sums of a tilted mass below e^-this are left out."""


TUNING = Tuning()


@dataclass(frozen=True)
class _HalfSums:
    """Some sums and the logarithms of their masses, increased by bounds of their errors."""

    z: Array
    log_p: Array
    error: float
    truncated: float  # tilted mass that is left out

    def plus(self, other: "_HalfSums") -> "_HalfSums":
        return _HalfSums(
            np.add.outer(self.z, other.z).ravel(),
            np.add.outer(self.log_p, other.log_p).ravel(),
            self.error + other.error,
            self.truncated + other.truncated,
        )


def _equal_terms(size: float, count: int, c: float) -> _HalfSums | None:
    """The sums of equal two-point variables whose tilted mass is not negligible."""
    odds = math.exp(-(2.0 * c + 1.0) * size)
    mean, spread = count / (1.0 + odds), math.sqrt(count * odds) / (1.0 + odds)
    reach = 12.0 * spread + 70.0
    first, last = max(0, math.floor(mean - reach)), min(count, math.ceil(mean + reach))
    if last - first > TUNING.max_sums:
        return None
    log_p, error = log_masses(count, size, first, last)
    tilted, off = log_masses(count, (2.0 * c + 1.0) * size, first, last)
    (kept,) = np.nonzero(tilted > -TUNING.log_negligible)
    low, high = int(kept[0]), int(kept[-1])
    mode, truncated = int(tilted.argmax()), 0.0
    for dropped, at_end in ((low - 1, first + low == 0), (high + 1, first + high == count)):
        if at_end:
            continue
        if not 0 <= dropped < tilted.size:
            return None
        # the masses are log-concave: beyond this one they fall at least as fast as they have on average since the mode
        slack = float(off[dropped] + off[mode])
        fall = (float(tilted[mode] - tilted[dropped]) - slack) / abs(dropped - mode)
        truncated += math.exp(float(tilted[dropped]) + slack) / -math.expm1(-fall) * (1.0 + 1e-9)
    z = (2.0 * np.arange(first + low, first + high + 1, dtype=float) - count) * size
    chosen = slice(low, high + 1)
    return _HalfSums(z, (log_p + error)[chosen], 2.0 * float(error[chosen].max()), truncated)


class PairedHalves:
    """The sums of one of these and one of those.

    Their hockey stick errs by the share `rounding` at most, and by `floor`, where numbers are so small as to have few digits.
    """

    def __init__(self, these: Half, those: Half) -> None:
        (self.a, self.p, here), (self.b, masses, there) = (_scaled(*half) for half in (these, those))
        self.scale = here + there
        self.w = _weights(self.b, masses)
        rise = -np.expm1(self.b[:-1] - self.b[1:]) * self.w[1:]
        self.t = np.append(_sums_from(rise), 0.0)
        self.reach = float(np.abs(self.a).max() + np.abs(self.b).max())
        self.largest_log = float(np.abs(these[1]).max() + np.abs(those[1]).max())
        blocks = 2.0 * math.sqrt(self.b.size) + 4.0
        self.rounding = (2.0 * blocks + 96.0 + 8.0 * _STRIDE + 4.0 * self.largest_log) * UNIT + 8.0 * FUNCTION
        self.floor = 4.0 * self.a.size * self.b.size * math.exp(_LOG_LARGEST + _STRIDE - 740.0)

    def hockey_stick(self, x: float) -> tuple[float, float]:
        """The sum of p (1 - e^(x - z)) over all z > x, and its derivative, over e^scale."""
        wanted = x - self.a
        place = np.searchsorted(self.b, wanted, side="right")
        inside = place < self.b.size
        place, wanted, p = place[inside], wanted[inside], self.p[inside]
        away = wanted - self.b[place]
        found = float(np.sum(p * (self.t[place] - np.expm1(away) * self.w[place])))
        return found, -float(np.sum(p * np.exp(away) * self.w[place]))


def _scaled(z: Array, log_p: Array) -> tuple[Array, Array, float]:
    """In increasing order, the masses over a common factor, and its logarithm."""
    order = np.argsort(z, kind="stable")
    shift = float(log_p.max()) - _LOG_LARGEST
    return z[order], np.exp(log_p[order] - shift), shift


def too_wide(half: Half) -> bool:
    """Whether the masses differ too much for `PairedHalves`."""
    return bool(np.ptp(half[1]) > _LOG_RANGE)


class EnumeratedSum:
    """The sums of two-point variables, enumerated; the tilt only says which of them matter."""

    tolerance = 1e-15

    def __init__(self, terms: TwoPointSum, c: float, left: _HalfSums, right: _HalfSums, groups: int, reach: float) -> None:
        self.terms, self.c = terms, c
        self.truncated = left.truncated + right.truncated
        self.error = left.error + right.error
        self.slip = (groups + 8.0) * UNIT * reach
        self.pairs = PairedHalves((left.z, left.log_p), (right.z, right.log_p))
        self.scale = self.pairs.scale
        self.rounding = self.pairs.rounding + groups * self.pairs.largest_log * UNIT

    @staticmethod
    def of(terms: TwoPointSum, c: float) -> "EnumeratedSum | None":
        """None if there are too many sums, or if their masses differ too much."""
        if terms.sizes.size > 64:
            return None
        groups = []
        for size, count in zip(terms.sizes.tolist(), terms.counts.tolist(), strict=True):
            found = _equal_terms(size, int(count), c)
            if found is None:
                return None
            groups.append(found)
        none = _HalfSums(np.zeros(1), np.zeros(1), 0.0, 0.0)
        left, right = none, none
        for group in sorted(groups, key=lambda one: -one.z.size):
            if left.z.size < right.z.size:
                left = left.plus(group)
            else:
                right = right.plus(group)
            if max(left.z.size, right.z.size) > TUNING.max_sums:
                return None
        if any(too_wide((half.z, half.log_p)) for half in (left, right)):
            return None
        reach = sum(float(np.abs(group.z).max()) for group in groups)
        return EnumeratedSum(terms, c, left, right, len(groups), reach)

    def hockey_stick(self, x: float) -> tuple[float, float, float]:
        """Both ends of log h(x), and the derivative of the logarithm."""
        slip = self.slip + 8.0 * UNIT * abs(x)
        high, slope = self.pairs.hockey_stick(x - slip)
        # h is convex in e^x
        low = high + slope * math.expm1(2.0 * slip) - self.pairs.floor if slip < 300.0 else 0.0
        spare = (
            self.terms.chernoff(self.c, x) - self.scale + math.log(self.truncated) + 1e-9 if self.truncated > 0.0 else -math.inf
        )
        if spare < 700.0:
            most = (high + math.exp(spare) + self.pairs.floor) * (1.0 + self.rounding)
            top = math.log(most) + self.scale if most > 0.0 else -math.inf
        else:
            top = 0.0
        bottom = math.log(low) + self.scale - self.error - 2.0 * self.rounding if low > 0.0 else -math.inf
        slack = 4.0 * UNIT * (abs(self.scale) + abs(top)) if top > -math.inf else 0.0
        return bottom - slack, min(top + slack, 0.0), slope / high if high > 0.0 else -1.0


def _weights(z: Array, p: Array) -> Array:
    """W_i, from the top down in stretches of a length whose exponentials are ordinary."""
    cells = np.floor((z - z[0]) / _STRIDE)
    starts = np.concatenate(([0], np.nonzero(np.diff(cells))[0] + 1, [z.size]))
    found = np.empty(z.size)
    above, at = 0.0, math.inf  # W at the first place of the stretch above, and that place
    for first, last in zip(starts[-2::-1].tolist(), starts[:0:-1].tolist(), strict=True):
        middle = float(z[first])
        piece = z[first:last] - middle
        carried = above * math.exp(middle - at) if at - middle < 700.0 else 0.0
        found[first:last] = np.exp(piece) * (_sums_from(p[first:last] * np.exp(-piece)) + carried)
        above, at = float(found[first]), middle
    return found


def _sums_from(terms: Array) -> Array:
    """Of each term, its sum with all that follow; in blocks, so that the rounding errors are few."""
    if not terms.size:
        return terms
    width = math.isqrt(terms.size) + 1
    rows = -(-terms.size // width)
    padded = np.zeros(rows * width)
    padded[: terms.size] = terms[::-1]
    within = np.cumsum(padded.reshape(rows, width), axis=1)
    before = np.concatenate(([0.0], np.cumsum(within[:-1, -1])))
    found: Array = (within + before[:, None]).ravel()[: terms.size][::-1]
    return found
