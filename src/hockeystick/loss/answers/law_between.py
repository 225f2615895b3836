"""The law of the loss of a run whose pair lies between two others: a density between two finite pairs.

docs/mathematics/densities.md: Lemma 71 (moments between two laws); tails by Lemma 34a from hockey sticks between their ends.
"""

import math

import numpy as np

from ...errors import Unsupported
from ...numerics.cancellation_free import log_fraction
from ...numerics.rounding import FUNCTION, UNIT, exp_down, exp_up
from ..composed import ComposedLoss
from ..own.density import DensityLoss
from ..pairs.atomic import AtomicLoss
from ..protocol import Inconclusive, Interval, Loss
from .law import Law
from .moments import moments


def lies_between(run: ComposedLoss) -> bool:
    """Whether every loss is exact, or a density between two finite pairs."""
    return all(loss.exact or isinstance(loss, DensityLoss) for loss, _ in run.terms)


class LawBetween(Law):
    """What hockey sticks between two ends say of the law; both moments from the convex functions whose means they are."""

    def __init__(self, run: ComposedLoss, opposite: ComposedLoss | None) -> None:
        super().__init__(run, opposite)
        self._listed = None
        self.infinite = run.variants("members")[0].infinite_mass()
        self.infinite_above = run.variants("dominating")[0].infinite_mass()

    @property
    def _direct(self) -> None:
        return None

    @property
    def _sure(self) -> Interval:
        low = exp_down(log_fraction(self.infinite)) if self.infinite else 0.0
        return low, exp_up(log_fraction(self.infinite_above), 1.0) if self.infinite_above else 0.0

    def mean(self) -> Interval:
        """Both ends of E Z: it grows with what dominates."""
        if self.infinite:
            return math.inf, math.inf
        low, high, _, _ = self._moments()
        return low, high

    def variance(self) -> Interval:
        """Both ends, if the largest losses are bounded."""
        if self.infinite_above:
            raise Unsupported(
                f"the variance is not bounded: losses that are left out have a probability of at most "
                f"{float(self.infinite_above):.3g}, and no bound of their size is stated.  State losses=(low, high) of the pair, "
                "or ask for tails or quantiles."
            )
        return super().variance()

    def _moments(self) -> tuple[float, float, float, float]:
        found = [(_moments_between(loss), count) for loss, count in self.run.terms]
        sums = [math.fsum(count * one[place] for one, count in found) for place in range(4)]
        slack = (len(found) + 4.0) * UNIT
        low, high = sums[0] - slack * abs(sums[0]), sums[1] + slack * abs(sums[1])
        return max(low, 0.0), high, max(sums[2] * (1.0 - slack), 0.0), sums[3] * (1.0 + slack)


def _moments_between(loss: Loss) -> tuple[float, float, float, float]:
    """Both ends of the mean, and of the variance, of one step of one ordered pair."""
    if not isinstance(loss, DensityLoss):
        return moments(loss)
    least, most = _means(loss.lower), _means(loss.upper)
    low, high = max(least[0][0], 0.0), most[0][1]
    # the square is a convex function less another: each grows with what dominates
    square = least[1][0] - most[2][1], most[1][1] - least[2][0]
    if high == math.inf:
        return low, high, 0.0, math.inf
    return low, high, max(square[0] - high * high * (1.0 + 4.0 * UNIT), 0.0), square[1] - low * low * (1.0 - 4.0 * UNIT)


def _means(loss: AtomicLoss) -> tuple[Interval, Interval, Interval]:
    """Both ends of E Z, and of the means of the two convex functions of Lemma 71, over Q."""
    z, log_p, log_q, error, z_error = loss.atoms
    p, q = np.exp(log_p), np.exp(log_q)
    lone, infinite = float(loss.infinite_mass_under_q), loss.infinite_mass > 0
    if loss.log_truncated_mass > -math.inf:
        raise Inconclusive
    off = 2.0 * (error + 2.0 * FUNCTION + (z.size + 16.0) * UNIT)
    far = z >= -1.0
    grown = float((p * np.where(far, z * z, 0.0)).sum())
    line = np.where(far, 0.0, 2.0 / math.e * q - p)
    one = grown + float(line.sum()) + 2.0 / math.e * lone
    other = float(np.where(far, 0.0, line - p * z * z).sum()) + 2.0 / math.e * lone
    sizes = float((p * z * z + p + q).sum()) + lone
    # a value that is off by a share of itself moves p z^2 by twice that share, and q by nothing
    slack = sizes * (off + 4.0 * z_error) * 2.0
    middle, spread = loss.mean() if not infinite else (0.0, 0.0)
    mean = (math.inf, math.inf) if infinite else (middle - spread, middle + spread)
    if infinite:
        return mean, (math.inf, math.inf), (other - slack, other + slack)
    return mean, (one - slack, one + slack), (other - slack, other + slack)
