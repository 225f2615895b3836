"""The smallest rho of a release: the largest Rényi divergence over its order.

docs/mathematics.md, section 15: Lemma 3 (Rényi divergences), Lemma 31 (what is known), Lemma 32 (between orders), Lemma 33 (near
order 1).
"""

import functools
import heapq
import math
from typing import Any

from ..conversion.zcdp import pure_to_zcdp_tight
from ..loss.pairs.gaussian import GaussianLoss
from ..mechanism.claim import ZCDP, PureDP
from ..mechanism.discrete import DiscreteGaussian, DiscreteLaplace
from ..mechanism.laplace import Laplace
from ..mechanism.release import Mechanism, Release, joined
from ..mechanism.response import RandomizedResponse
from ..neighbours import DEFAULT, Relation, orders, same_size
from ..numerics.rounding import FUNCTION, UNIT, up
from ..sampling.allocation import Allocated
from ..sampling.banded import Banded
from ..sampling.fixed_size import WithoutReplacement
from ..sampling.full_pass import FullPass
from ..sampling.poisson import Poisson
from ..sampling.truncated import TruncatedPoisson

_FIRST = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-5)
_WIDTH = 1e-11
_CLOSED = (Laplace, DiscreteLaplace, RandomizedResponse)
_SLACK = 1e-10
"""K'(0) of these is a closed form, rounded up by less than a hundredth of this part of itself (`test_concentrated.py`)."""
_MOST = 400


def rho_of(release: Release, neighbours: Relation) -> float:
    """A rho for which the release is rho-zCDP, rounded up; inf where none is proved.

    Gaussian noise (also discrete: Canonne, Kamath and Steinke 2020, Theorem 4), `ZCDP` and `PureDP` have theirs, which add.  A
    sample by coins, without replacement or in a pass is a mixture, so by quasi-convexity its divergences are at most those
    without sampling; for a Poisson sample of Gaussian noise they come to that at large orders, so rho does not see the rate.
    The rest is searched: with K(t) = t D_{1+t}, convex in t, the chords of K bound D_a / a between orders, which are added
    where the bound is largest until it is reached (docs/mathematics.md, section 15).

    >>> import hockeystick as hs
    >>> round(rho_of(hs.Gaussian(sigma=2.0) * 8, "add-or-remove"), 12), round(rho_of(hs.PureDP(epsilon=1.0), "add-or-remove"), 9)
    (1.0, 0.462117157)
    >>> round(rho_of(hs.Laplace(scale=1.0), "add-or-remove"), 9)  # 1 / e, at order 1
    0.367879441
    """
    fixed, rest = [], []
    for mechanism, count in release.parts:
        rho = _known(mechanism, neighbours)
        if rho is None:
            rest.append((mechanism, count))
        else:
            fixed.append(count * rho)
    known = up(math.fsum(fixed) * (1.0 + 4.0 * UNIT)) if fixed else 0.0
    if not rest:
        return known
    times = rest[0][1] if len(rest) == 1 else 1  # copies of one mechanism have the same best order
    found = _searched(rest[0][0] if len(rest) == 1 else joined(rest), neighbours)
    return up((known + times * found) * (1.0 + 4.0 * UNIT))


def _displaces(mechanism: Mechanism, neighbours: Relation) -> bool:
    """Whether a record that comes or goes may displace another one in a batch."""
    return isinstance(mechanism, WithoutReplacement) or (
        isinstance(mechanism, TruncatedPoisson) and not same_size(orders(neighbours))
    )


def _known(mechanism: Mechanism, neighbours: Relation) -> float | None:
    """Where D_a / a is constant, or largest at infinite order (Lemma 31)."""
    if isinstance(mechanism, Banded):
        rho = _known(mechanism.base.parts[0][0], neighbours)
        return None if rho is None else up(mechanism._rounds * rho)
    if isinstance(mechanism, Poisson | TruncatedPoisson | WithoutReplacement | FullPass):
        mechanism._pair_loss(orders(neighbours))  # refused where there is no proof
        moved = "replace" if _displaces(mechanism, neighbours) else neighbours  # batches differ by a replacement
        whole = [(_known(one, moved), count) for one, count in mechanism.base.parts]
        rhos = [count * rho for rho, count in whole if rho is not None]
        return up(math.fsum(rhos) * (1.0 + 4.0 * UNIT)) if len(rhos) == len(whole) else None
    if isinstance(mechanism, Allocated):  # a mixture of the base's pairs, and in the limit of large orders as bad as it
        mechanism._pair_loss(orders(neighbours))
        if not all(isinstance(one, DiscreteGaussian) or one._squared_mu is not None for one, _ in mechanism.base.parts):
            return None  # the largest value of the base need not be that limit
        whole = [(_known(one, neighbours), count) for one, count in mechanism.base.parts]
        rhos = [count * mechanism.kept * mechanism.times * rho for rho, count in whole if rho is not None]
        return up(math.fsum(rhos) * (1.0 + 8.0 * UNIT)) if len(rhos) == len(whole) else None
    if isinstance(mechanism, PureDP) and mechanism.neighbours == DEFAULT == neighbours:
        return float(pure_to_zcdp_tight(mechanism.claimed_epsilon))  # largest at order 1
    if isinstance(mechanism, ZCDP) and mechanism.neighbours == DEFAULT == neighbours and not mechanism.xi:
        return mechanism.claimed_rho
    wanted = orders(neighbours)
    if isinstance(mechanism, DiscreteGaussian):
        return up(0.5 * (mechanism._moved(wanted[0]) / mechanism.sigma) ** 2 * (1.0 + 4.0 * UNIT))
    loss: Any = mechanism._pair_loss(wanted)
    if loss is None:
        return 0.0
    return up(0.5 * loss.square * (1.0 + 4.0 * UNIT)) if isinstance(loss, GaussianLoss) else None


@functools.lru_cache(maxsize=32)
def _searched(release: Release, neighbours: Relation) -> float:
    """The larger of both orders, each by itself."""
    ordered: tuple[Relation, ...] = ("remove", "add") if neighbours == DEFAULT else (neighbours,)
    largest = float(release.rdp(math.inf, DEFAULT if neighbours in ("add", "remove") else neighbours))
    if largest == 0.0 or math.isinf(largest):
        return largest
    return max(_one_order(release, order, largest) for order in ordered)


def _one_order(release: Release, neighbours: Relation, largest: float) -> float:
    def cumulant(t: float) -> float:
        return float(release.rdp(1.0 + t, neighbours)) * t * (1.0 + 4.0 * UNIT)

    start = float(release.rdp(1.0, neighbours))
    exact = neighbours in ("add", "remove") and isinstance(release, _CLOSED)
    for share in _FIRST if exact else _FIRST[-1:]:  # the farther the better
        first = share / max(1.0, largest)
        near = _near(exact, start, first, cumulant(first), largest)
        if near <= start * (1.0 + 1e-14):
            break
    best = max(start, cumulant(first) / (first * (1.0 + first)))
    points = [first, *(t for t in (1e-4, 1e-3, 0.03, 0.3, 1.0, 3.0, 10.0) if t > 1.5 * first)]
    while largest / (1.0 + points[-1]) >= best:  # beyond the last order D_a <= D_inf
        points.append(4.0 * points[-1])
    values = [cumulant(t) for t in points]
    cells: list[tuple[float, float, float, float, float]] = []

    def add(a: float, at_a: float, b: float, at_b: float) -> None:
        heapq.heappush(cells, (-_chord(a, at_a, b, at_b), a, at_a, b, at_b))

    for i in range(len(points) - 1):
        add(points[i], values[i], points[i + 1], values[i + 1])
    best = max(best, *(value / (t * (1.0 + t)) for t, value in zip(points, values, strict=True)))
    for _ in range(_MOST):
        bound, a, at_a, b, at_b = cells[0]
        middle = math.sqrt(a * b)
        if -bound <= best * (1.0 + _WIDTH) or not a < middle < b:
            break
        heapq.heappop(cells)
        value = cumulant(middle)
        best = max(best, value / (middle * (1.0 + middle)))
        add(a, at_a, middle, value)
        add(middle, value, b, at_b)
    return up(max(near, best, -cells[0][0]) * (1.0 + 4.0 * FUNCTION))


def _near(exact: bool, start: float, t: float, at_t: float, largest: float) -> float:
    """A bound of D_a / a for orders up to 1 + t.

    Lemma 33: let |Z| <= L.  Under the law tilted by s <= t the variance is at most e^{sL} and at least e^{-2sL} times that at
    s = 0, since 0 <= K(s) <= sL.  So the variance at 0 is at most 2 (K(t) - t K'(0)) e^{2tL} / t^2, and with V, e^{tL} times
    this, K(s) <= s K'(0) + V s^2 / 2.  Over s (1 + s) that is monotone in s.  Where K'(0) is known from above only, K(s) is at
    most s K(t) / t.
    """
    if not exact:
        return at_t / t
    rest = max(0.0, at_t - t * start * (1.0 - _SLACK))
    spread = 2.0 * rest / (t * t) * math.exp(3.0 * t * largest) * (1.0 + 16.0 * FUNCTION)
    return max(start, (start + 0.5 * t * spread) / (1.0 + t) * (1.0 + 16.0 * FUNCTION))


def _chord(a: float, at_a: float, b: float, at_b: float) -> float:
    """The largest of (A + B t) / (t (1 + t)) on [a, b] for the chord A + B t of K, A <= 0 <= B as K is convex and K(0) = 0.

    Lemma 32.
    """
    slope = (at_b - at_a) / (b - a)
    offset = at_a - slope * a
    best = max(at_a / (a * (1.0 + a)), at_b / (b * (1.0 + b)))
    if offset < 0.0 < slope:  # the derivative vanishes where B t^2 + 2 A t + A = 0
        root = (-offset + math.sqrt(offset * offset - slope * offset)) / slope
        if a < root < b:
            best = max(best, (offset + slope * root) / (root * (1.0 + root)))
    return best * (1.0 + 16.0 * FUNCTION)
