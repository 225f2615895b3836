"""From two densities with a monotone likelihood ratio to the two finite pairs between which theirs lies.

docs/mathematics/densities.md: Lemma 68 (from below), Lemma 69 (from above).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import BadValue, Unsupported
from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, SECOND_ORDER, exp_down, exp_up
from .density import DensityLoss
from .lines import Density, Tails, ordered, unordered
from .polygon import BITS, ONE, circumscribed, inscribed, units


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    cells: int = 8000
    """About so many: the ends approach each other with the square of their widths."""
    passes: int = 40
    """Of splitting."""
    log_common: float = 25.0
    """Tails of e^-this and less matter less, and get wider cells: for one step."""
    log_bulk: float = 7.0
    """The same where the loss is one of many."""
    wide: float = 4.0
    """Splits of a cell in one pass that lies far from the others, by the ratio of its ends, are geometric."""


TUNING = Tuning()
_REACH = 690.0  # e^this and its inverse are doubles


class Range(NamedTuple):
    """What is stated of the losses: the smallest and the largest, or infinite ones."""

    low: float
    high: float


def bracketed(p: Density, q: Density, stated: Range, sign: float = 1.0) -> DensityLoss:
    """The pair of two densities whose ratio p/q grows along the line, which the user sees with this sign."""
    x = _grid(p, q)
    z, slack = _losses(p, q, x)
    _check_monotone(sign * x, z, slack)
    _check_range(sign * x, z, slack, stated)
    of_p, of_q = p.tails(x), q.tails(x)
    lower = inscribed([*zip(of_q.above[1], of_p.above[0], strict=True)])
    upper = circumscribed(_levels(p, q, x, z, slack, of_p, of_q, stated))
    if not lower.masses_by_ratio:
        raise Unsupported("p and q share no outcome, so every output tells which it was: delta is 1 at every epsilon.")
    return DensityLoss(lower, upper)


def _losses(p: Density, q: Density, x: Array) -> tuple[Array, Array]:
    """log p/q, nan where both are 0, and a bound of its error."""
    (log_p, p_error), (log_q, q_error) = p.logs(x), q.logs(x)
    if not ((log_p < math.inf) & (log_q < math.inf)).any():
        raise BadValue("a density is infinite everywhere; allowed: densities on the line.")
    with np.errstate(invalid="ignore"):
        z = np.where((log_p == math.inf) | (log_q == math.inf), math.nan, log_p - log_q)
    return z, p_error + q_error + FUNCTION * (1.0 + np.where(np.isfinite(z), np.abs(z), 0.0))


def _grid(p: Density, q: Density) -> Array:
    """Points between which the loss moves little where there is mass, and less where there is more of it."""
    ends = np.array([end for one in (p, q) for end in one.support if math.isfinite(end)])
    x = np.unique(np.concatenate((p.places(), q.places(), ends, np.nextafter(ends, math.inf), np.nextafter(ends, -math.inf))))
    x = x[(x >= min(p.support[0], q.support[0])) & (x <= max(p.support[1], q.support[1]))]
    cost = _costs(p, q, x)
    for _ in range(TUNING.passes):
        most = float(cost.sum()) / TUNING.cells
        parts = np.minimum(np.ceil(cost / most), 256.0) if most > 0.0 else np.ones(cost.size)
        room = np.diff(ordered(x).astype(np.float64))
        parts = np.where((cost > 1.5 * most) & (room > parts), parts, 1.0).astype(np.int64)
        if (parts == 1).all() or x.size > 3 * TUNING.cells:
            break
        added = [_between(float(x[i]), float(x[i + 1]), int(parts[i])) for i in np.flatnonzero(parts > 1)]
        x = np.unique(np.concatenate([x, *added]))
        cost = _costs(p, q, x)
    return x


def _between(low: float, high: float, parts: int) -> Array:
    share = np.arange(1, parts) / parts
    if low * high > 0.0 and not 1.0 / TUNING.wide < low / high < TUNING.wide:
        whole = ordered(np.array([low, high])).astype(np.float64)
        return unordered((whole[0] + share * (whole[1] - whole[0])).astype(np.int64))
    found: Array = low * (1.0 - share) + high * share
    return found


def _costs(p: Density, q: Density, x: Array) -> Array:
    """By how much the loss moves in each cell, and what that adds to the hockey sticks of both orders, where it matters."""
    z, _ = _losses(p, q, x)
    z = np.maximum.accumulate(np.where(np.isnan(z), -_REACH, np.clip(z, -_REACH, _REACH)))
    move = np.diff(z)
    (p_below, p_above), (q_below, q_above) = p.guides(x), q.guides(x)
    one = _shares(move, z, q_above, p_above)
    other = _shares(move[::-1], -z[::-1], p_below[::-1], q_below[::-1])[::-1]
    rare = np.minimum(_rarity(p_below, p_above), _rarity(q_below, q_above))
    found: Array = np.maximum(np.maximum(one, other), move / (1.0 + np.minimum(rare[1:], rare[:-1]) ** 2))
    return found


def _shares(move: Array, z: Array, log_q_above: Array, log_p_above: Array) -> Array:
    """The square root of what a cell adds to the hockey stick, as a share of it: of h, which falls by e^z Q(Z > z) dz."""
    with np.errstate(invalid="ignore", divide="ignore", over="ignore", under="ignore"):
        fall = np.exp(np.minimum(z[:-1] + log_q_above[:-1], 0.0)) * move
        stick = np.cumsum(fall[::-1])[::-1]
        mass = np.exp(log_p_above[:-1]) - np.exp(log_p_above[1:])
        share = np.sqrt(np.where(stick > 0.0, mass * move / stick, 0.0))
        rare = -log_p_above[:-1] / TUNING.log_common
        found: Array = np.where(np.isfinite(share), np.minimum(share, 1.0), 0.0) / (1.0 + np.minimum(rare, 1e4) ** 2)
    return found


def _rarity(below: Array, above: Array) -> Array:
    """-log of the smaller tail, by the one that counts as common."""
    found: Array = np.minimum(-np.minimum(below, above), 1e4) / TUNING.log_bulk
    return found


def _check_monotone(x: Array, z: Array, slack: Array) -> None:
    known = ~np.isnan(z)
    z, slack, x = z[known], slack[known], x[known]
    highest = np.maximum.accumulate(z - slack)
    wrong = z[1:] + slack[1:] < highest[:-1]
    if wrong.any():
        place = int(wrong.argmax()) + 1
        before = int((z - slack)[:place].argmax())
        raise Unsupported(
            f"log p/q is not so monotone along the line as stated: it is {z[before]:.9g} at {x[before]:.9g} and {z[place]:.9g} "
            f"at {x[place]:.9g}.  Without a monotone likelihood ratio the pair of a statistic in which it is monotone may serve, "
            "such as the distance from the centre (scipy.stats.halfnorm for two normals of one centre); else there is no bound "
            "that is proved."
        )


def _check_range(x: Array, z: Array, slack: Array, stated: Range) -> None:
    wrong = (z + slack < stated.low) | (z - slack > stated.high)
    if wrong.any():
        place = int(wrong.argmax())
        raise BadValue(
            f"losses is {tuple(stated)!r}, but log p/q is {z[place]:.12g} at {float(x[place])!r}; allowed: two numbers that "
            "no loss is outside of."
        )


def _levels(
    p: Density, q: Density, x: Array, z: Array, slack: Array, of_p: Tails, of_q: Tails, stated: Range
) -> list[tuple[int, int]]:
    """Levels with upper ends of the hockey stick there, in units (Lemma 69)."""
    found = []
    with np.errstate(invalid="ignore"):
        good = np.flatnonzero(np.abs(z) < _REACH)
    # where the loss has surely not come near a level yet, and where it surely has left it
    sure_low, sure_high = z[good] + slack[good], z[good] - slack[good]
    before = np.searchsorted(np.maximum.accumulate(sure_low), z[good] - 2.0 * slack[good], side="left") - 1
    after = np.searchsorted(np.minimum.accumulate(sure_high[::-1])[::-1], z[good] + 2.0 * slack[good], side="right")
    for place, (j, first, last) in enumerate(zip(good.tolist(), before.tolist(), after.tolist(), strict=True)):
        level = math.exp(z[j])
        near = of_p.above[1][good[first]] if first >= 0 else ONE
        near = min(near, of_p.below[1][good[last]] if last < good.size else ONE)
        off = units(math.expm1(2.0 * float(slack[good[place]])) * SECOND_ORDER + 1e-300)
        x_units = units(level)
        stick = of_p.above[1][j] - (x_units * of_q.above[0][j] >> BITS) + (near * off >> BITS) + 1
        found.append((x_units, stick))
    low, high = _ends(p, q, x, z, slack, stated)
    if high < _REACH:
        found.append((units(exp_up(high)), 0))
    if low > -_REACH:
        found.append((units(exp_down(low)), ONE - units(exp_down(low))))
    return found


def _ends(p: Density, q: Density, x: Array, z: Array, slack: Array, stated: Range) -> tuple[float, float]:
    """No loss is below, and none above: as stated, or the losses at the ends of the line."""
    low, high = min(p.support[0], q.support[0]), max(p.support[1], q.support[1])
    least, most = stated
    if x[0] == low and math.isfinite(z[0]):
        least = max(least, float(z[0] - slack[0]))
    if x[-1] == high and math.isfinite(z[-1]):
        most = min(most, float(z[-1] + slack[-1]))
    return least, most
