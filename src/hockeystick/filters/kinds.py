"""Filters of one measure, or of one and a delta: pure, zCDP, GDP.

docs/mathematics/filters.md, Lemma 63 and Lemma 65; Lemma 66 on what is refused.
"""

import math
from fractions import Fraction

from .. import checks
from ..errors import BadValue
from ..mechanism.claim import GDP, ZCDP, PureDP
from ..mechanism.release import Release
from ..neighbours import DEFAULT, Relation
from . import costs
from .amounts import SHARES, Number, double, exact, float_up, root_up
from .filter import Costs, Filter
from .price import Left
from .reserve import Reserve

NATURAL = (
    "composing exact profiles that are chosen in view of outputs, a natural filter, is not valid (arXiv:2602.06756, "
    "arXiv:2602.15815)."
)


def level_beside(delta: float, counted: Fraction) -> float:
    """A delta less what the filter counts, rounded down; below 0 where that is more."""
    left = exact("delta", checks.probability("delta", delta)) - counted
    return double(left) if left >= 0 else -1.0


class PureFilter(Filter):
    """The epsilons of pure DP add up to at most a budget.

    Parameters
    ----------
    epsilon : number or str
        The budget, to 600; read as it is written.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation of the budget.

    Raises
    ------
    BadType
        If epsilon is no number, or neighbours no text.
    BadValue
        If epsilon is out of its range, or neighbours is none of these.

    Examples
    --------
    >>> import hockeystick as hs
    >>> budget = hs.filters.PureFilter(epsilon=0.3)
    >>> budget.spend(0.1), budget.spend(0.2), budget.would_exceed(1e-9)
    (None, None, True)
    """

    theorem = "pure DP: epsilons add up pathwise (Rogers, Roth, Ullman, Vadhan 2016; Lemma 63)"

    def __init__(self, epsilon: Number, neighbours: Relation = DEFAULT) -> None:
        budget = exact("epsilon", epsilon)
        if budget > 600:
            raise BadValue(f"epsilon is {epsilon}; allowed: from 0 to 600.")
        super().__init__({"epsilon": budget}, neighbours)

    def _cost(self, release: Release, delta: Fraction) -> Costs:
        self._no_delta(delta)
        return {"epsilon": costs.pure_epsilon(release, 0.0, self._neighbours)}

    def _claimed(self, amount: Fraction, delta: Fraction) -> Costs:
        self._no_delta(delta)
        return {"epsilon": amount}

    def _no_delta(self, delta: Fraction) -> None:
        if delta:
            raise BadValue(
                f"delta is {float(delta):g}; allowed: 0, since a pure filter counts no deltas.  Use ApproximateFilter."
            )

    @property
    def _missing(self) -> str:
        return f"it is not pure DP.  Use ZCDPFilter, GDPFilter or ApproximateFilter; {NATURAL}"

    def epsilon(self, delta: float) -> float:
        """What the filter promises of all that can be drawn from it: epsilon at delta, rounded up.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        float
            At most the budget.

        Raises
        ------
        BadType
            If delta is no number.
        BadValue
            If it is no probability.
        """
        return PureDP(float(self._budget["epsilon"]), self._neighbours).epsilon(delta, self._neighbours)


class ZCDPFilter(Filter):
    """The rhos of (approximate) zCDP add up to at most a budget, and the deltas to another (Whitehouse et al. 2023, Theorem 1).

    Parameters
    ----------
    rho : number or str
        The budget of rho; read as it is written.
    delta : number or str, default 0
        The budget of the deltas of approximate zCDP.
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
    >>> budget = hs.filters.ZCDPFilter(rho=0.5)
    >>> budget.fits(hs.Gaussian(sigma=3.0)), budget.fits(hs.Gaussian(sigma=20.0))
    (9, 400)
    """

    theorem = "approximate zCDP: rhos and deltas add up pathwise ([WRRW23], Theorem 1; Lemma 65)"

    def __init__(self, rho: Number, delta: Number = 0, neighbours: Relation = DEFAULT) -> None:
        limit, level = exact("rho", rho), exact("delta", delta)
        if level >= 1:
            raise BadValue(f"delta is {delta}; allowed: from 0 to below 1.")
        super().__init__({"rho": limit, "delta": level}, neighbours)

    def _cost(self, release: Release, delta: Fraction) -> Costs:
        if not delta:
            return {"rho": costs.rho(release, self._neighbours), "delta": Fraction(0)}
        found = costs.pure_epsilon(release, double(delta), self._neighbours)
        return {"rho": found if found == math.inf else Fraction(found) ** 2 / 2, "delta": delta}

    def _claimed(self, amount: Fraction, delta: Fraction) -> Costs:
        return {"rho": amount, "delta": delta}

    @property
    def _missing(self) -> str:
        return f"it has no finite rho.  Give delta=, so that it counts as approximate zCDP; {NATURAL}"

    def epsilon(self, delta: float) -> float:
        """What the filter promises of all that can be drawn from it: epsilon at delta, rounded up.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        float
            That of rho-zCDP at delta less the budget of deltas; inf where that is more.

        Raises
        ------
        BadType
            If delta is no number.
        BadValue
            If it is no probability.
        """
        level = level_beside(delta, self._budget["delta"])
        return (
            ZCDP(float_up(self._budget["rho"]), self._neighbours).epsilon(level, self._neighbours) if level >= 0.0 else math.inf
        )


class GDPFilter(Filter):
    """The squares of mu add up to at most that of a budget, and what is left over to a slack (Lemma 63).

    A release costs its certified mu(delta=d)^2 and d, with the d that suits what is left; without a slack, mu^2 of mu-GDP.

    Parameters
    ----------
    mu : number or str
        The budget of mu; read as it is written.
    slack : number or str, default 0
        The delta that releases may use up together.
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
    >>> budget = hs.filters.GDPFilter(mu=1.0)
    >>> budget.fits(hs.Gaussian(sigma=3.0)), budget.fits(hs.GDP(mu=0.1))
    (9, 100)
    """

    theorem = "Gaussian DP: mu^2 adds up pathwise ([ST22], [KTV22]; with deltas Lemma 63)"

    def __init__(self, mu: Number, slack: Number = 0, neighbours: Relation = DEFAULT) -> None:
        self._reserve = Reserve(mu, slack, neighbours=neighbours)
        super().__init__({"mu^2": self._reserve.limit**2, "delta": self._reserve.slack}, neighbours)

    def _cost(self, release: Release, delta: Fraction) -> Costs:
        level = double(delta)
        if not level and self._budget["delta"]:
            left = self.remaining
            room = [math.floor(left[name] * SHARES / whole) if (whole := self._budget[name]) else 0 for name in ("mu^2", "delta")]
            level = self._reserve.price(release, Left(*room)).delta
        return {"mu^2": costs.squared_mu(release, level, self._neighbours), "delta": exact("delta", level)}

    def _claimed(self, amount: Fraction, delta: Fraction) -> Costs:
        return {"mu^2": amount**2, "delta": delta}

    @property
    def _missing(self) -> str:
        return f"it has no finite mu.  Give the filter a slack, so that mu(delta=d) counts; {NATURAL}"

    def epsilon(self, delta: float) -> float:
        """What the filter promises of all that can be drawn from it: epsilon at delta, rounded up.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        float
            That of mu-GDP at delta less the slack; inf where that is more.

        Raises
        ------
        BadType
            If delta is no number.
        BadValue
            If it is no probability.
        """
        level = level_beside(delta, self._budget["delta"])
        return GDP(root_up(self._budget["mu^2"]), self._neighbours).epsilon(level, self._neighbours) if level >= 0.0 else math.inf
