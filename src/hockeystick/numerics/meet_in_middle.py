"""Sums, listed: all sums of one half of the terms against all sums of the other (meeting in the middle); those of signs.

With masses p_b at z_b, increasing, T(x) = sum over z_b > x of p_b (1 - e^(x - z_b)) obeys, with W_i = sum over b >= i of
p_b e^(z_i - z_b),

    T(x) = T(z_i) + W_i (1 - e^(x - z_i))        for z_(i-1) <= x < z_i,

so that all of it is sums of positive terms, and stick(x) = sum over a of p_a T(x - z_a).
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

MOST = 1 << 20
_TOP, _RANGE = 340.0, 1040.0  # log of the largest mass as it is stored, and of its ratio to the least
_STRIDE = 100.0
_DEEP = 60.0  # sums of a tilted mass below e^-60 are left out


@dataclass(frozen=True)
class _Sums:
    """Some sums and the logarithms of their masses, increased by bounds of their errors."""

    z: Array
    log_p: Array
    error: float
    lost: float  # tilted mass that is left out

    def plus(self, other: "_Sums") -> "_Sums":
        return _Sums(
            np.add.outer(self.z, other.z).ravel(),
            np.add.outer(self.log_p, other.log_p).ravel(),
            self.error + other.error,
            self.lost + other.lost,
        )


def _repeated(size: float, count: int, c: float) -> _Sums | None:
    """The sums of equal signs whose tilted mass is not negligible."""
    odds = math.exp(-(2.0 * c + 1.0) * size)
    mean, spread = count / (1.0 + odds), math.sqrt(count * odds) / (1.0 + odds)
    reach = 12.0 * spread + 70.0
    first, last = max(0, math.floor(mean - reach)), min(count, math.ceil(mean + reach))
    if last - first > MOST:
        return None
    log_p, error = log_masses(count, size, first, last)
    tilted, off = log_masses(count, (2.0 * c + 1.0) * size, first, last)
    (kept,) = np.nonzero(tilted > -_DEEP)
    low, high = int(kept[0]), int(kept[-1])
    mode, lost = int(tilted.argmax()), 0.0
    for dropped, at_end in ((low - 1, first + low == 0), (high + 1, first + high == count)):
        if at_end:
            continue
        if not 0 <= dropped < tilted.size:
            return None
        # the masses are log-concave: beyond this one they fall at least as fast as they have on average since the mode
        slack = float(off[dropped] + off[mode])
        fall = (float(tilted[mode] - tilted[dropped]) - slack) / abs(dropped - mode)
        lost += math.exp(float(tilted[dropped]) + slack) / -math.expm1(-fall) * (1.0 + 1e-9)
    z = (2.0 * np.arange(first + low, first + high + 1, dtype=float) - count) * size
    chosen = slice(low, high + 1)
    return _Sums(z, (log_p + error)[chosen], 2.0 * float(error[chosen].max()), lost)


class PairedHalves:
    """The sums of one of these and one of those.

    What is told of them errs by the share `rounding` at most, and by `floor`, where numbers are so small as to have few digits.
    """

    def __init__(self, these: Half, those: Half) -> None:
        (self.a, self.p, here), (self.b, masses, there) = (_scaled(*half) for half in (these, those))
        self.scale = here + there
        self.w = _weighed(self.b, masses)
        rise = -np.expm1(self.b[:-1] - self.b[1:]) * self.w[1:]
        self.t = np.append(_from_each_on(rise), 0.0)
        self.reach = float(np.abs(self.a).max() + np.abs(self.b).max())
        self.deep = float(np.abs(these[1]).max() + np.abs(those[1]).max())
        blocks = 2.0 * math.sqrt(self.b.size) + 4.0
        self.rounding = (2.0 * blocks + 96.0 + 8.0 * _STRIDE + 4.0 * self.deep) * UNIT + 8.0 * FUNCTION
        self.floor = 4.0 * self.a.size * self.b.size * math.exp(_TOP + _STRIDE - 740.0)

    def stick(self, x: float) -> tuple[float, float]:
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
    shift = float(log_p.max()) - _TOP
    return z[order], np.exp(log_p[order] - shift), shift


def apart(half: Half) -> bool:
    """Whether the masses are too far apart for `PairedHalves`."""
    return bool(np.ptp(half[1]) > _RANGE)


class EnumeratedSum:
    """The sums of signs at one tilt, which says only which of them and which exponents matter."""

    tolerance = 1e-15

    def __init__(self, signs: TwoPointSum, c: float, left: _Sums, right: _Sums, groups: int, reach: float) -> None:
        self.signs, self.c = signs, c
        self.lost = left.lost + right.lost
        self.error = left.error + right.error
        self.slip = (groups + 8.0) * UNIT * reach
        self.pairs = PairedHalves((left.z, left.log_p), (right.z, right.log_p))
        self.scale = self.pairs.scale
        self.rounding = self.pairs.rounding + groups * self.pairs.deep * UNIT

    @staticmethod
    def of(signs: TwoPointSum, c: float) -> "EnumeratedSum | None":
        """None if there are too many sums, or too far apart."""
        if signs.sizes.size > 64:
            return None
        groups = []
        for size, count in zip(signs.sizes.tolist(), signs.counts.tolist(), strict=True):
            found = _repeated(size, int(count), c)
            if found is None:
                return None
            groups.append(found)
        none = _Sums(np.zeros(1), np.zeros(1), 0.0, 0.0)
        left, right = none, none
        for group in sorted(groups, key=lambda one: -one.z.size):
            if left.z.size < right.z.size:
                left = left.plus(group)
            else:
                right = right.plus(group)
            if max(left.z.size, right.z.size) > MOST:
                return None
        if any(apart((half.z, half.log_p)) for half in (left, right)):
            return None
        reach = sum(float(np.abs(group.z).max()) for group in groups)
        return EnumeratedSum(signs, c, left, right, len(groups), reach)

    def stick(self, x: float) -> tuple[float, float, float]:
        """Both ends of log stick(x), and the derivative of the logarithm."""
        slip = self.slip + 8.0 * UNIT * abs(x)
        high, slope = self.pairs.stick(x - slip)
        # the stick is convex in e^x
        low = high + slope * math.expm1(2.0 * slip) - self.pairs.floor if slip < 300.0 else 0.0
        spare = self.signs.chernoff(self.c, x) - self.scale + math.log(self.lost) + 1e-9 if self.lost > 0.0 else -math.inf
        if spare < 700.0:
            most = (high + math.exp(spare) + self.pairs.floor) * (1.0 + self.rounding)
            top = math.log(most) + self.scale if most > 0.0 else -math.inf
        else:
            top = 0.0
        bottom = math.log(low) + self.scale - self.error - 2.0 * self.rounding if low > 0.0 else -math.inf
        slack = 4.0 * UNIT * (abs(self.scale) + abs(top)) if top > -math.inf else 0.0
        return bottom - slack, min(top + slack, 0.0), slope / high if high > 0.0 else -1.0


def _weighed(z: Array, p: Array) -> Array:
    """W_i, from the top down in stretches of a length whose exponentials are ordinary."""
    cells = np.floor((z - z[0]) / _STRIDE)
    starts = np.concatenate(([0], np.nonzero(np.diff(cells))[0] + 1, [z.size]))
    found = np.empty(z.size)
    above, at = 0.0, math.inf  # W at the first place of the stretch above, and that place
    for first, last in zip(starts[-2::-1].tolist(), starts[:0:-1].tolist(), strict=True):
        middle = float(z[first])
        piece = z[first:last] - middle
        carried = above * math.exp(middle - at) if at - middle < 700.0 else 0.0
        found[first:last] = np.exp(piece) * (_from_each_on(p[first:last] * np.exp(-piece)) + carried)
        above, at = float(found[first]), middle
    return found


def _from_each_on(terms: Array) -> Array:
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
