"""Meet in the middle: the support of a run of few steps enumerated, the sums of half the steps against those of the others.

docs/mathematics.md, section 7b, "Few steps"; the sums of two halves are those of `numerics/meet_in_middle.py`.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...numerics.binomial import log_masses
from ...numerics.cancellation_free import Array
from ...numerics.meet_in_middle import Half, PairedHalves, too_wide
from ...numerics.rounding import FUNCTION, UNIT
from ..composed import ComposedLoss
from ..contour.guess import estimate_epsilon, estimate_log_delta
from ..invert import certified_ends
from ..pairs.atomic import AtomicLoss
from ..protocol import Inconclusive
from ..tolerance import SETTLED


@dataclass(frozen=True)
class Tuning:
    """What is left out is added to the upper end, whatever is chosen here."""

    max_sums: int = 1 << 18
    """Of a half: memory and time of sorting."""
    max_steps: int = 300
    """More are not enumerated even where all else fails."""
    cheap_sums: int = 1 << 16
    """Sums of a half with which enumeration is cheaper than a lattice."""
    cheap_steps: int = 40
    """So few steps are tried: many of their sums are negligible."""
    max_multinomial_steps: int = 40
    """More steps of two values are counted by a binomial law."""
    binomial_width: float = 20.0
    """About so many of its deviations are not negligible."""
    log_negligible: float = 40.0
    """-log of the share of delta that may be left out."""


TUNING = Tuning()


class EnumeratedSupport:
    """Every sum of a run of one ordered pair and its P-mass, in two halves; every bound holds for all epsilons.

    delta(eps) is the sum of p (1 - e^{eps - z})+.  Values of negligible mass are truncated, and bounded by it.
    """

    def __init__(self, run: ComposedLoss, log_delta: float) -> None:
        if run.rows > 1 or not all(isinstance(loss, AtomicLoss) for loss, _ in run.terms):
            raise Inconclusive
        steps = sum(1 if _is_binomial(loss, count) else count for loss, count in run.terms)
        if steps > TUNING.max_steps:
            raise Inconclusive
        self.slip = self.error = 0.0
        self.log_truncated = run.log_truncated_mass
        halves: list[Half] = [(np.zeros(1), np.zeros(1))] * 2
        for loss, count in run.terms:
            assert isinstance(loss, AtomicLoss)
            z, log_p, _, error, z_error = loss.atoms
            self.slip += count * float(np.abs(z).max(initial=0.0)) * (z_error + 4.0 * UNIT)
            halves.sort(key=lambda half: half[0].size)  # the shorter one takes the odd step
            if _is_binomial(loss, count):
                halves[0] = _outer_sums(halves[0], self._binomial_sums(loss, count, log_delta))
            else:
                off = error + 4.0 * FUNCTION * z.size + math.log(count)
                z, log_p = self._without_negligible((z, log_p), log_delta - math.log(steps), off)
                self.error += count * (error + 2.0 * UNIT * float(np.abs(log_p).max(initial=0.0)))
                shares = count - count // 2, count // 2
                halves = [_with_steps(half, z, log_p, part) for half, part in zip(halves, shares, strict=True)]
            halves = [self._without_negligible(half, log_delta, self.error + 4.0 * FUNCTION * half[0].size) for half in halves]
        if any(not half[0].size or too_wide(half) for half in halves):
            raise Inconclusive
        self.pairs = PairedHalves(*halves)
        self.top = float(self.pairs.a[-1] + self.pairs.b[-1])  # beyond it there is nothing
        self.slip += 8.0 * UNIT * self.pairs.reach * (1.0 + math.log2(steps + 1.0))
        self.error += 8.0 * FUNCTION * (1.0 + math.log(steps)) * steps + 2.0 * self.pairs.rounding

    def _binomial_sums(self, loss: AtomicLoss, count: int, log_delta: float) -> Half:
        """The sums of many steps of two values: the number of the likelier one is binomial (Bernstein bounds its tails)."""
        z, log_p, _, error, _ = loss.atoms
        likelier = int(log_p.argmax())
        chance, other = math.exp(log_p[likelier]), math.exp(log_p[1 - likelier])
        chance, other = chance / (chance + other), other / (chance + other)
        mean, variance = count * chance, count * chance * other
        depth = TUNING.log_negligible + 3.0 - log_delta  # more than twice e^-depth is nowhere left out
        reach = (depth / 3.0 + math.sqrt(depth * depth / 9.0 + 2.0 * depth * variance)) * 1.001 + 1.0
        first, last = max(0, math.floor(mean - reach)), min(count, math.ceil(mean + reach))
        if last - first > TUNING.max_sums:
            raise Inconclusive
        if last - first < count:
            self.log_truncated = float(np.logaddexp(self.log_truncated, 1.0 - depth))
        size = float(log_p[likelier] - log_p[1 - likelier])
        logs, errors = log_masses(count, size, first, last)
        number = np.arange(first, last + 1, dtype=float)
        # the odds are known up to `off`, and the logarithm of a mass moves with them by the distance from the mean
        off = 2.0 * error + 2.0 * UNIT * float(np.abs(log_p).max())
        kept = count * math.log1p(-float(loss.infinite_mass))
        self.error += float(errors.max()) + off * (float(np.abs(number - mean).max()) + variance * off + 1.0)
        self.error += 4.0 * FUNCTION * abs(kept)
        return number * z[likelier] + (count - number) * z[1 - likelier], logs + kept

    def _without_negligible(self, half: Half, log_delta: float, off: float) -> Half:
        """Without the sums of negligible mass, which is added to the truncated one; it is known up to e^off."""
        z, log_p = half
        kept = log_p > log_delta - TUNING.log_negligible - math.log(z.size)
        if kept.all():
            return half
        self.log_truncated = float(np.logaddexp(self.log_truncated, np.logaddexp.reduce(log_p[~kept]) + off))
        return z[kept], log_p[kept]

    def _log_delta(self, epsilon: float, side: int = 0) -> tuple[float, float]:
        """log of the sum, and its slope; below (-1) or above (+1) what small numbers hide."""
        value, slope = self.pairs.hockey_stick(epsilon)
        value += side * self.pairs.floor
        return (math.log(value) + self.pairs.scale, slope / value) if value > 0.0 else (-math.inf, -1.0)

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta and its slope."""
        value, slope = self._log_delta(epsilon)
        return max(value, -1e5), slope

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta(epsilon)."""
        value = self._log_delta(epsilon + self._sum_error(epsilon), -1)[0]
        return value - self.error - 8.0 * UNIT * abs(value) if value > -math.inf else value

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon)."""
        nearest = epsilon - self._sum_error(epsilon)
        value = self._log_delta(nearest, 1)[0] if nearest < self.top else -math.inf
        found = value + self.error + 8.0 * UNIT * abs(value) if value > -math.inf else value
        if self.log_truncated == -math.inf:
            return found
        total = float(np.logaddexp(found, self.log_truncated))
        return total + 4.0 * FUNCTION * (1.0 + abs(total))

    def _sum_error(self, epsilon: float) -> float:
        """By how much sums may err."""
        return self.slip + 8.0 * UNIT * abs(epsilon)


def _is_binomial(loss: object, count: int) -> bool:
    """Whether the numbers of both values are taken from a binomial law."""
    if (
        not isinstance(loss, AtomicLoss)
        or count <= TUNING.max_multinomial_steps
        or loss.atoms.z.size != 2
        or loss.log_truncated_mass > -math.inf
    ):
        return False
    return float(loss.atoms.log_p.min()) > -math.inf


def _with_steps(half: Half, z: Array, log_p: Array, count: int) -> Half:
    """The sums of a half and of `count` values more."""
    if not 0 < math.comb(count + z.size - 1, count) * half[0].size <= TUNING.max_sums:
        raise Inconclusive
    return _outer_sums(half, _multinomial_sums(z, log_p, count))


def _outer_sums(half: Half, other: Half) -> Half:
    """Each sum of a half with each of another."""
    if half[0].size * other[0].size > TUNING.max_sums:
        raise Inconclusive
    return np.add.outer(half[0], other[0]).ravel(), np.add.outer(half[1], other[1]).ravel()


def _multinomial_sums(z: Array, log_p: Array, count: int) -> tuple[Array, Array]:
    """The sums of `count` values, each multiset once, and log of their probabilities."""
    empty = np.zeros(0)
    found = [(np.zeros(1), np.zeros(1))] + [(empty, empty)] * count  # by the number of values so far
    factorials = [math.lgamma(n + 1.0) for n in range(count + 1)]
    for value, log in zip(z.tolist(), log_p.tolist(), strict=True):
        longer = []
        for total in range(count + 1):
            parts = [
                (found[total - n][0] + n * value, found[total - n][1] + (n * log - factorials[n]))
                for n in range(total + 1)
                if found[total - n][0].size
            ]
            longer.append((np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])))
        found = longer
    return found[count][0], found[count][1] + factorials[count]


def cheap_to_enumerate(run: ComposedLoss) -> bool:
    """Whether there are few sums, so that enumeration goes first."""
    if sum(count for _, count in run.terms) <= TUNING.cheap_steps:
        return True
    sums = 1.0
    for loss, count in run.terms:
        if not isinstance(loss, AtomicLoss):
            return False
        half, values = count - count // 2, loss.atoms.z.size
        if _is_binomial(loss, count):
            sums *= TUNING.binomial_width * math.sqrt(count * math.exp(float(loss.atoms.log_p.min()))) + TUNING.binomial_width
        elif count > TUNING.max_steps:
            return False
        else:
            sums *= math.comb(half + values - 1, half)
        if sums > TUNING.cheap_sums:
            return False
    return True


def enumerated_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""
    support, ceiling = EnumeratedSupport(run, log_delta), run.ceiling
    start = min(estimate_epsilon(run, log_delta), 0.5 * ceiling)
    return certified_ends(support, log_delta, slack, start, most=ceiling) if start > 0.0 else (-math.inf, math.inf)


def enumerated_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""
    level = min(estimate_log_delta(run, epsilon), -1e-9)
    for _ in range(3):
        support = EnumeratedSupport(run, level)
        low, high = support.lower(epsilon), min(0.0, support.upper(epsilon))
        if high - low < SETTLED or not level - 1.0 > low > -math.inf:
            break
        level = low  # the estimate was too high, and too much was left out
    return low, high
