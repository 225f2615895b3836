"""delta of few steps of the same Laplace noise in closed form (docs/mathematics.md, section 5).

e^{-z/2} dP of one step is 1/2 e^{-a/2} times two atoms of mass 1, at a and -a, and the density 1/2 between them.  So that of
count steps is a sum of shifted half-lines, convolved with themselves, and for x_r = ((count - 2 r) a - epsilon)/2

    delta = 2 e^{(epsilon - count a)/2} 2^-count  sum over r with x_r > 0, and n >= 1, of  B_rn x_r^n / n!,

B_rn the sum over j < n with n - j odd of C(count, j) [y^r] (1 + y)^(count - j) (1 - y)^j.  For r = 0 all terms are positive; the
others cancel little (tests/unit/loss/pairs/test_laplace_closed.py), and the errors are summed along with them.  The pair is
symmetric, so that 1 - delta(-epsilon) = e^-epsilon (1 - delta(epsilon)).
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT
from ..protocol import ZERO_DELTA, ClosedForm

MOST = 64  # steps
_TERMS = 400


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    log_error: float = 1e-12
    """An error of log delta at negative epsilons above which the reflected form is tried, too."""
    max_x: float = 120.0
    """Beyond it there would be more terms than `_TERMS`."""


TUNING = Tuning()


def few_laplace_steps(a: float, count: int, epsilon: float) -> ClosedForm | None:
    """log delta of so many steps, a the sensitivity over the scale, known to two units; none if there are too many of them.

    >>> import math
    >>> print(round(math.exp(few_laplace_steps(2.0, 4, 1.0).value), 12))
    0.822983567491
    """
    found = _direct(a, count, epsilon)
    if epsilon < 0.0 and (found is None or found.error > TUNING.log_error):
        other = _reflected(_direct(a, count, -epsilon), epsilon)
        found = min((one for one in (found, other) if one is not None), key=lambda one: one.error, default=None)
    return found


def _direct(a: float, count: int, epsilon: float) -> ClosedForm | None:
    top = count * a
    slack = 4.0 * UNIT * (abs(epsilon) + top)  # of x
    if count > MOST or not (epsilon > -top and 0.5 * (top - epsilon) < TUNING.max_x and slack < 1e-6):
        return None
    x = 0.5 * (np.arange(count, -count - 1.0, -2.0) * a - epsilon)
    if x[0] < 8.0 * slack:  # delta <= 1 - e^{epsilon - top}
        return (
            ZERO_DELTA
            if x[0] < -8.0 * slack
            else ClosedForm(math.log(20.0 * slack), math.inf, -1.0 / slack, math.log(20.0 * slack))
        )
    x = np.maximum(x[x > -slack], 0.0)
    terms = int(2.0 * float(x[0])) + count + 40
    weights = _weights(count)[: x.size, :terms]
    powers = np.multiply.accumulate(x[:, None] / np.arange(1.0, terms + 1.0), axis=1)  # x^n / n!
    total, size = float((weights * powers).sum()), np.abs(weights) * powers
    before = np.concatenate((np.ones((x.size, 1)), powers[:, :-1]), axis=1)  # their derivatives
    slope, steep = float((weights * before).sum()), float((np.abs(weights) * before).sum())
    if not total > 0.0:
        return None
    # each term errs by 2 n + 2 units and their sum by as many as there are of them; the rest is below twice the last ones
    lost = (
        float((size @ (2.0 * np.arange(terms) + (size.size + 8.0))).sum()) * UNIT + steep * slack + 4.0 * float(size[:, -1].sum())
    )
    lift = 0.5 * (epsilon - top) - (count - 1.0) * math.log(2.0)
    value = math.log(total) + lift
    share = lost / total
    if not share < 0.5:
        return None
    error = (
        -math.log1p(-share) + 2.0 * FUNCTION * (1.0 + abs(math.log(total))) + 4.0 * UNIT * (abs(epsilon) + top + count) + slack
    )
    return ClosedForm(value, error, 0.5 - 0.5 * slope / total)


def _reflected(other: ClosedForm | None, epsilon: float) -> ClosedForm | None:
    """From delta at -epsilon, epsilon < 0."""
    if other is None or not other.error < 1e-6 or other.value == -math.inf:
        return None
    delta = math.exp(other.value)
    rest, share = 1.0 - delta, math.exp(epsilon)
    found = 1.0 - share * rest
    off = share * (delta * (1.1 * other.error + 4.0 * FUNCTION) + 4.0 * FUNCTION) + 2.0 * UNIT
    value = math.log1p(-share * rest)
    error = 1.1 * off / found + 2.0 * FUNCTION * (1.0 + abs(value))
    return ClosedForm(value, error, -share * (rest + delta * other.slope) / found)


@lru_cache(maxsize=8)
def _weights(count: int) -> Array:
    """B_rn for n from 1 on, a row for each r."""
    row = [math.comb(count, r) for r in range(count + 1)]  # of (1 + y)^(count - j) (1 - y)^j, j = 0 first
    sums = [[0] * (count + 1), [0] * (count + 1)]  # over the odd j and over the even ones, so far
    found = np.empty((count + 1, _TERMS))
    for n in range(1, _TERMS + 1):
        j = n - 1
        if j <= count:
            ways = math.comb(count, j)
            sums[j % 2] = [total + ways * one for total, one in zip(sums[j % 2], row, strict=True)]
            if j < count:  # times 1 - y, over 1 + y
                times = [one - before for one, before in zip([*row, 0], [0, *row], strict=True)]
                row, left = [], 0
                for one in times[:-1]:
                    left = one - left
                    row.append(left)
        found[:, j] = [float(one) for one in sums[j % 2]]
    return found
