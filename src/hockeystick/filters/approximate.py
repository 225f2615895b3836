"""The filter of (epsilon, delta)-DP.

docs/mathematics/filters.md, Lemma 65.
"""

import math
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from ..errors import BadValue
from ..mechanism.claim import ApproxDP
from ..mechanism.release import Release
from ..neighbours import DEFAULT, Relation
from . import costs
from .amounts import Number, double, exact, float_up
from .filter import Costs, Filter
from .kinds import NATURAL, level_beside


class ApproximateFilter(Filter):
    """(epsilon, delta)-DP: the squares of the epsilons and the deltas add up (Whitehouse et al. 2023, Theorem 2).

    With S the sum of epsilon_i^2, it stops before sqrt(2 log(1/delta') S) + S/2 is above epsilon, or the sum of the delta_i above
    delta - delta'.

    Parameters
    ----------
    epsilon : number or str
        The epsilon of the promise, above 0.
    delta : number or str
        The delta of the promise, above 0 and below 1.
    spent_at_once : number or str, optional
        delta', the part of delta that pays for adding up squares; by default half of delta.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation of the budget.

    Raises
    ------
    BadType
        If a number is none, or neighbours no text.
    BadValue
        If a number is out of its range, or neighbours is none of these.

    Examples
    --------
    >>> import hockeystick as hs
    >>> budget = hs.filters.ApproximateFilter(epsilon=1.0, delta=1e-6)
    >>> budget.fits(hs.PureDP(epsilon=0.01)), budget.fits(hs.ApproxDP(epsilon=0.01, delta=1e-9), delta=1e-9)
    (333, 333)
    """

    theorem = "(epsilon, delta)-DP of releases chosen in view of outputs ([WRRW23], Theorem 2; Lemma 65)"

    def __init__(
        self, epsilon: Number, delta: Number, spent_at_once: Number | None = None, neighbours: Relation = DEFAULT
    ) -> None:
        self._epsilon, self._delta = exact("epsilon", epsilon), exact("delta", delta)
        if not 0 < self._delta < 1:
            raise BadValue(f"delta is {delta}; allowed: above 0 and below 1.")
        if not self._epsilon:
            raise BadValue("epsilon is 0; allowed: a number above 0.")
        first = self._delta / 2 if spent_at_once is None else exact("spent_at_once", spent_at_once)
        if not 0 < first <= self._delta:
            raise BadValue(f"spent_at_once is {spent_at_once}; allowed: above 0 and at most delta.")
        super().__init__({"epsilon^2": _most_squares(self._epsilon, first), "delta": self._delta - first}, neighbours)

    def _cost(self, release: Release, delta: Fraction) -> Costs:
        if (
            not delta
            and len(release.parts) == 1
            and isinstance(claim := release.parts[0][0], ApproxDP)
            and release.parts[0][1] == 1
        ):
            delta = exact("delta", claim.claimed_delta)
            if claim.neighbours == self._neighbours:
                return {"epsilon^2": exact("epsilon", claim.claimed_epsilon) ** 2, "delta": delta}
        found = costs.pure_epsilon(release, double(delta), self._neighbours)
        return {"epsilon^2": found if found == math.inf else Fraction(found) ** 2, "delta": delta}

    def _claimed(self, amount: Fraction, delta: Fraction) -> Costs:
        return {"epsilon^2": amount**2, "delta": delta}

    @property
    def _missing(self) -> str:
        return f"it has no epsilon there.  Give delta=, the part of the budget that it may take; {NATURAL}"

    def epsilon(self, delta: float) -> float:
        """What the filter promises of all that can be drawn from it: epsilon at the delta of the promise or above.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        float
            The epsilon of the promise; inf below its delta, at which nothing is promised.

        Raises
        ------
        BadType
            If delta is no number.
        BadValue
            If it is no probability.
        """
        return float_up(self._epsilon) if level_beside(delta, self._delta) >= 0.0 else math.inf


def _most_squares(epsilon: Fraction, delta: Fraction) -> Fraction:
    """The largest S with sqrt(2 l S) + S/2 <= epsilon, l = log(1/delta), rounded down.

    That is 2 (epsilon / (sqrt(l + epsilon) + sqrt(l)))^2.

    >>> float(_most_squares(Fraction(1), Fraction(1, 10**6)))
    0.03493780953824675
    """
    with localcontext() as context:
        context.prec = 60  # of which the last ten are given away below
        log = Decimal(delta.denominator).ln() - Decimal(delta.numerator).ln()
        much = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        root = much / ((log + much).sqrt() + log.sqrt())
        context.rounding = ROUND_FLOOR
        return Fraction(2 * root * root * (1 - Decimal(10) ** -40))
