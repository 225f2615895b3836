"""Optimal composition of approximate differential privacy.

Steinke 2022, section 7; Kairouz, Oh and Viswanath 2015; Murtagh and Vadhan 2016.
The worst (epsilon, delta)-DP mechanism gives its secret away with probability delta and is randomised response otherwise, so
composed parts have, with m = 1 - product of (1 - delta_j) and Z the sum of +epsilon_j or -epsilon_j with odds e^epsilon_j : 1,

    delta(epsilon) = m + (1 - m) E(1 - e^(epsilon - Z))+,

and some adaptive choice of such parts attains it.
"""

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..checks import probability
from ..numerics.cancellation_free import log_fraction
from ..numerics.rounding import FUNCTION, UNIT, exp_up, up
from ..numerics.two_point_sums import TwoPointSum, hockey_stick_root, log_hockey_stick
from ._kernels import arguments
from ._kernels.broadcast import broadcast
from .composition import Part, checked_parts
from .group import exact_up

if TYPE_CHECKING:
    from ..bounds import Array, Floats

_SURE = 700.0  # a sign that is minus with probability below e^-700 counts as plus
_FEW = 64


@overload
def optimal_composition_delta(parts: Iterable[Sequence[Any]], epsilon: float) -> float: ...
@overload
def optimal_composition_delta(parts: Iterable[Sequence[Any]], epsilon: "Floats") -> "Array": ...
def optimal_composition_delta(parts: Iterable[Sequence[Any]], epsilon: Any) -> Any:
    """The smallest delta at epsilon of running all parts, (epsilon, delta) or (epsilon, delta, count), rounded up.

    Exact (to about 1e-12) if one epsilon occurs up to 10**9 times or up to 40 occur once, within 1e-6 for thousands of
    different ones (where the losses fall on few values far apart, the proved accuracy may be less).  Parts may be chosen
    adaptively as far as their epsilons and deltas are fixed in advance (Steinke 2022, section 7).

    Parameters
    ----------
    parts : iterable of tuple
        Each (epsilon, delta) or (epsilon, delta, count), epsilon from 0 up.
    epsilon : float or array_like
        From 0 to 1e100.

    Returns
    -------
    float or ndarray
        Delta, rounded up.

    Raises
    ------
    BadType
        If parts is no sequence of sequences of real numbers, or the other argument no real number and no array of them.
    BadValue
        If a part has another length, or a number is out of its range.

    Examples
    --------
    >>> round(optimal_composition_delta([(0.1, 0.0), (0.2, 0.0), (0.3, 0.0)], epsilon=0.35), 11)
    0.04399511058
    >>> round(optimal_composition_delta([(0.1, 1e-8, 1000)], epsilon=12.0), 12)
    0.007056861164
    """
    run = _Run(checked_parts(parts))

    @broadcast
    def answer(epsilon: Any) -> float:
        return run.delta(arguments.level("epsilon", epsilon))

    return answer(epsilon)


@overload
def optimal_composition_epsilon(parts: Iterable[Sequence[Any]], delta: float) -> float: ...
@overload
def optimal_composition_epsilon(parts: Iterable[Sequence[Any]], delta: "Floats") -> "Array": ...
def optimal_composition_epsilon(parts: Iterable[Sequence[Any]], delta: Any) -> Any:
    """The smallest epsilon at delta of running all parts, rounded up; inf if delta is below 1 - product of (1 - delta_j).

    As `optimal_composition_delta`.

    Parameters
    ----------
    parts : iterable of tuple
        Each (epsilon, delta) or (epsilon, delta, count), epsilon from 0 up.
    delta : float or array_like
        A probability from 0 to 1.

    Returns
    -------
    float or ndarray
        Epsilon, rounded up; inf where no epsilon holds.

    Raises
    ------
    BadType
        If parts is no sequence of sequences of real numbers, or the other argument no real number and no array of them.
    BadValue
        If a part has another length, or a number is out of its range.

    Examples
    --------
    >>> round(optimal_composition_epsilon([(1.0, 1e-6, 20)], delta=1e-4), 9)
    19.957010969
    """
    run = _Run(checked_parts(parts))

    @broadcast
    def answer(delta: Any) -> float:
        return run.epsilon(probability("delta", delta))

    return answer(delta)


class _Run:
    """The composed parts: what is given away for sure, and the signs."""

    def __init__(self, parts: list[Part]) -> None:
        used = [part for part in parts if part[2]]
        self.total = sum((Fraction(epsilon) * count for epsilon, _, count in used), Fraction(0))
        self.mass = _mass([(delta, count) for _, delta, count in used if delta])
        counts: dict[float, int] = {}
        for epsilon, _, count in used:
            if epsilon:
                counts[epsilon] = counts.get(epsilon, 0) + count
        self.sure = sum((Fraction(epsilon) * count for epsilon, count in counts.items() if epsilon > _SURE), Fraction(0))
        left = sorted((epsilon, count) for epsilon, count in counts.items() if epsilon <= _SURE)
        self.terms = TwoPointSum(*(np.array([pair[k] for pair in left], dtype=float) for k in (0, 1))) if left else None

    def delta(self, epsilon: float) -> float:
        """m + (1 - m) stick(epsilon)."""
        if Fraction(epsilon) >= self.total or self.mass == 1:
            return min(1.0, exact_up(self.mass))
        rest = min(1.0, up(float(1 - self.mass)))
        return min(1.0, up((exact_up(self.mass) + rest * self._stick(epsilon)) * (1.0 + 4.0 * UNIT)))

    def _stick(self, epsilon: float) -> float:
        x = epsilon - exact_up(self.sure) if self.sure else epsilon
        x = x - 2.0 * UNIT * (epsilon + float(self.sure)) if self.sure else x
        small = 0.0 if self.terms is None else exp_up(log_hockey_stick(self.terms, abs(x))[1], 1.0)
        if x >= 0.0:
            return small
        share = math.exp(max(x, -745.0))  # stick(x) = 1 - e^x + e^x stick(-x)
        return min(1.0, (-math.expm1(x) + share * small) * (1.0 + 2.0 * FUNCTION) + 1e-300)

    def epsilon(self, delta: float) -> float:
        """Where m + (1 - m) stick falls to delta."""
        if delta == 1.0:
            return 0.0
        rest = Fraction(delta) - self.mass
        if rest < 0:
            return math.inf
        ceiling = exact_up(self.total)
        if rest == 0:
            return ceiling
        level = log_fraction(rest / (1 - self.mass))
        slack = 2.0 * FUNCTION * abs(level) + 8.0 * UNIT
        found = exact_up(self.sure)
        if self.terms is not None:
            found += hockey_stick_root(self.terms, min(level, -1e-300), slack)[1]
        return min(ceiling, up(found) if self.sure else found)


def _mass(deltas: list[tuple[float, int]]) -> Fraction:
    """1 - product of (1 - delta): exactly for few parts, else rounded up."""
    if any(delta == 1.0 for delta, _ in deltas):
        return Fraction(1)
    if sum(count for _, count in deltas) <= _FEW:
        kept = Fraction(1)
        for delta, count in deltas:
            kept *= (1 - Fraction(delta)) ** count
        return 1 - kept
    exponent = math.fsum(count * math.log1p(-delta) for delta, count in deltas)
    return Fraction(min(1.0, up(-math.expm1(exponent) * (1.0 + 3.0 * FUNCTION))))
