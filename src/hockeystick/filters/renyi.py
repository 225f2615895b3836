"""The Rényi filter: one order, or every order of a curve.

docs/mathematics/filters.md, Lemma 64.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

from .. import checks
from ..errors import BadValue
from ..mechanism.claim import RDP
from ..mechanism.release import Release
from ..neighbours import DEFAULT, Relation
from . import costs
from .amounts import Number, exact, float_up
from .filter import Costs, Filter


class RenyiFilter(Filter):
    """The Rényi divergences of each order kept add up to at most a budget (Feldman and Zrnic 2021, Theorems 3.1 and 4.3).

    A release must fit at every order; then the whole curve holds for the transcript.  One order fixed in advance suffices for an
    epsilon, and more of them only refuse sooner: give one unless the curve itself is promised.

    Parameters
    ----------
    orders : float or sequence of float
        The orders, above 1.
    budgets : number, str, sequence of them, or callable
        The budget of each, read as they are written; or a curve, a function of the order.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation of the budget.

    Raises
    ------
    BadType
        If a number is none, or neighbours no text.
    BadValue
        If there are not as many budgets as orders, an order is given twice, a number is out of its range, or neighbours is none
        of these.

    Examples
    --------
    >>> import hockeystick as hs
    >>> budget = hs.filters.RenyiFilter(orders=8.0, budgets=0.4)
    >>> budget.fits(hs.Gaussian(sigma=10.0)), round(budget.epsilon(delta=1e-6), 4)
    (10, 1.9341)
    """

    theorem = "Rényi DP: divergences of an order add up pathwise ([FZ21], Theorems 3.1 and 4.3; Lemma 64)"

    def __init__(
        self,
        orders: "float | Sequence[float]",
        budgets: "Number | Sequence[Number] | Callable[[float], Number]",
        neighbours: Relation = DEFAULT,
    ) -> None:
        listed = [costs.order_of(order) for order in _several(orders)]
        given = [budgets(order) for order in listed] if callable(budgets) else _several(budgets)
        limits = [exact("a budget", budget) for budget in given]
        if not listed or len(listed) != len(limits):
            raise BadValue(f"{len(listed)} orders and {len(limits)} budgets are given; allowed: as many of each, at least one.")
        if len(set(listed)) != len(listed):
            raise BadValue("an order is given twice; allowed: each order once.")
        self._orders = {f"order {order:g}" if float(f"{order:g}") == order else f"order {order!r}": order for order in listed}
        super().__init__(dict(zip(self._orders, limits, strict=True)), neighbours)

    def _cost(self, release: Release, delta: Fraction) -> Costs:
        self._no_delta(delta)
        return {name: costs.renyi(release, order, self._neighbours) for name, order in self._orders.items()}

    def _claimed(self, amount: Fraction, delta: Fraction) -> Costs:
        self._no_delta(delta)
        if len(self._orders) > 1:
            raise BadValue("a number is no cost of several orders; allowed: a release, such as RDP(orders=..., values=...).")
        return dict.fromkeys(self._orders, amount)

    def _no_delta(self, delta: Fraction) -> None:
        if delta:
            raise BadValue(
                f"delta is {float(delta):g}; allowed: 0, since no theorem here adds deltas to Rényi divergences.  "
                "Use ZCDPFilter, GDPFilter or ApproximateFilter."
            )

    @property
    def _missing(self) -> str:
        return (
            "a Rényi divergence that is kept is infinite, and no theorem here adds deltas to Rényi divergences.  "
            "Use GDPFilter with a slack, or ApproximateFilter."
        )

    def epsilon(self, delta: float) -> float:
        """What the filter promises of all that can be drawn from it: epsilon at delta, rounded up.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        float
            That of the curve: the best conversion (Asoodeh et al. 2020, Theorem 3) at its orders or between; inf at delta 0.

        Raises
        ------
        BadType
            If delta is no number.
        BadValue
            If it is no probability.
        """
        values = tuple(float_up(self._budget[name]) for name in self._orders)
        curve = RDP(orders=tuple(self._orders.values()), values=values, neighbours=self._neighbours)
        return curve.epsilon(delta, self._neighbours)


def _several(given: object) -> list[object]:
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        return [given]
    return checks.listed("orders or budgets", given, "a number or a sequence of numbers")
