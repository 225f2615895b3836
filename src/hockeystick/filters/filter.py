"""What all filters share: amounts that are exact fractions, a test before each release, and a state that can be kept."""

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar

from .. import checks
from ..errors import BadType, BadValue, OverBudget, Unsupported
from ..mechanism.release import Release
from ..neighbours import Relation
from . import costs
from .amounts import Number, exact, float_down, written

Costs = dict[str, "Fraction | float"]


class Filter(ABC):
    """A budget that releases are drawn from, each chosen in view of all outputs before.

    A filter changes when something is spent; what does not fit is refused, and then nothing is charged.  Spend first, release
    then.  Two threads may share one.
    """

    theorem: ClassVar[str]
    """What makes it valid."""

    def __init__(self, budget: Mapping[str, Fraction], neighbours: Relation) -> None:
        self._budget = dict(budget)
        self._spent = dict.fromkeys(self._budget, Fraction(0))
        self._neighbours = costs.relation(neighbours)
        self._lock = threading.Lock()

    @property
    def neighbours(self) -> Relation:
        """The relation of the budget.

        Returns
        -------
        Relation
            As it was made.
        """
        return self._neighbours

    @property
    def budget(self) -> dict[str, Fraction]:
        """All there is of each measure.

        Returns
        -------
        dict of str to Fraction
            Exact.
        """
        return dict(self._budget)

    @property
    def spent(self) -> dict[str, Fraction]:
        """What was spent of each measure.

        Returns
        -------
        dict of str to Fraction
            Exact.
        """
        return dict(self._spent)

    @property
    def remaining(self) -> dict[str, Fraction]:
        """What is left of each measure.

        Returns
        -------
        dict of str to Fraction
            Exact; never below 0.
        """
        return {name: self._budget[name] - self._spent[name] for name in self._budget}

    def __repr__(self) -> str:
        left = ", ".join(
            f"{name} {float_down(value):.6g} of {float(self._budget[name]):.6g}" for name, value in self.remaining.items()
        )
        return f"<{type(self).__name__}: left {left}; {self._neighbours}>"

    # spending

    def cost(self, release: "Release | Number", delta: float = 0.0) -> dict[str, Fraction]:
        """What one use of a release costs: certified upper ends, as exact fractions.

        Parameters
        ----------
        release : Release or number
            What would be released, or a number, which claims its epsilon, rho, mu or Rényi divergence; it is read as it is
            written, so that 0.1 is a tenth.
        delta : float, default 0.0
            The delta up to which the cost is to hold, where the filter counts deltas.

        Returns
        -------
        dict of str to Fraction
            The cost in each measure.

        Raises
        ------
        BadType
            If release is neither.
        BadValue
            If it is stated for another relation, or a number is out of its range.
        Unsupported
            If it has no finite cost: the message says which theorem is missing.
        """
        level = exact("delta", checks.probability("delta", delta))
        if isinstance(release, Release):
            found = self._cost(costs.plain("release", release, self._neighbours), level)
        else:
            found = self._claimed(exact("release", release), level)
        if any(value == math.inf for value in found.values()):
            raise Unsupported(f"{release!r} has no finite cost{f' at delta {delta:g}' if delta else ''}: {self._missing}")
        return {name: Fraction(value) for name, value in found.items()}

    @abstractmethod
    def _cost(self, release: Release, delta: Fraction) -> Costs:
        """The cost of a release."""

    @abstractmethod
    def _claimed(self, amount: Fraction, delta: Fraction) -> Costs:
        """The cost of what is claimed by a number."""

    @property
    @abstractmethod
    def _missing(self) -> str:
        """Why a release has no cost here, and what to do."""

    def would_exceed(self, release: "Release | Number", count: int = 1, delta: float = 0.0) -> bool:
        """Whether this is more than what is left; nothing is charged.

        Parameters
        ----------
        release : Release or number
            What would be released.
        count : int, default 1
            How often.
        delta : float, default 0.0
            As for `cost`.

        Returns
        -------
        bool
            True if it does not fit.

        Raises
        ------
        BadType
            If release is neither a release nor a number, or count no number.
        BadValue
            If it is stated for another relation, or a number is out of its range.
        Unsupported
            If it has no finite cost.
        """
        return not self._fits(self.cost(release, delta), checks.count("count", count))

    def _fits(self, cost: dict[str, Fraction], count: int) -> bool:
        return all(self._spent[name] + value * count <= self._budget[name] for name, value in cost.items())

    def spend(self, release: "Release | Number", count: int = 1, delta: float = 0.0) -> None:
        """Charge a release, all of its uses or none; only then may it be released.

        Parameters
        ----------
        release : Release or number
            What will be released.
        count : int, default 1
            How often.
        delta : float, default 0.0
            As for `cost`.

        Raises
        ------
        BadType
            If release is neither a release nor a number, or count no number.
        BadValue
            If it is stated for another relation, or a number is out of its range.
        OverBudget
            If it does not fit; nothing is charged, and the message says what is left.
        Unsupported
            If it has no finite cost.
        """
        times, cost = checks.count("count", count), self.cost(release, delta)
        with self._lock:
            if not self._fits(cost, times):
                raise OverBudget(self._refusal(release, times, cost))
            for name, value in cost.items():
                self._spent[name] += times * value

    def _refusal(self, release: Any, times: int, cost: dict[str, Fraction]) -> str:
        asked = ", ".join(f"{name} {float(times * value):.6g}" for name, value in cost.items())
        left = ", ".join(f"{name} {float_down(value):.6g}" for name, value in self.remaining.items())
        uses = f"{times} uses of {release!r} cost" if times != 1 else f"{release!r} costs"
        return f"{uses} {asked}, and {left} is left; nothing was charged.  {self._times(cost)} of it still fit."

    def fits(self, release: "Release | Number", delta: float = 0.0) -> int:
        """How many uses of a release still fit.

        Parameters
        ----------
        release : Release or number
            What would be released.
        delta : float, default 0.0
            As for `cost`.

        Returns
        -------
        int
            The largest count; 2^53 if it costs nothing.

        Raises
        ------
        BadType
            If release is neither a release nor a number.
        BadValue
            If it is stated for another relation, or a number is out of its range.
        Unsupported
            If it has no finite cost.
        """
        return self._times(self.cost(release, delta))

    def _times(self, cost: dict[str, Fraction]) -> int:
        left = self.remaining
        return min([math.floor(left[name] / value) for name, value in cost.items() if value] + [checks.MOST_STEPS])

    # promises

    @abstractmethod
    def epsilon(self, delta: float) -> float:
        """What the filter promises of all that can be drawn from it: epsilon at delta, rounded up.

        Parameters
        ----------
        delta : float
            From 0 to 1.

        Returns
        -------
        float
            A certified upper end; inf if there is none.

        Raises
        ------
        BadType
            If delta is no number.
        BadValue
            If it is no probability.
        """

    # state

    def state(self) -> dict[str, str]:
        """What was spent, as exact text; `restore` takes it.

        Returns
        -------
        dict of str to str
            A fraction for each measure.
        """
        with self._lock:
            return {name: written(value) for name, value in self._spent.items()}

    def restore(self, state: Mapping[str, str]) -> None:
        """Take over what was spent, of a filter with the same budget that has spent nothing itself.

        Parameters
        ----------
        state : mapping of str to str
            What `state` gave.

        Raises
        ------
        BadType
            If state is no mapping of texts.
        BadValue
            If its measures are not those of this filter, more than the budget was spent, or this filter has spent something.
        """
        if not isinstance(state, Mapping):
            raise BadType(f"state is {state!r}; allowed: what `state` gave.")
        checks.refuse_unknown("the state", state, self._budget)
        missing = sorted(set(self._budget) - set(state))
        if missing:
            raise BadValue(f"the state lacks {', '.join(missing)}; allowed: what `state` gave.")
        if not all(isinstance(value, str) for value in state.values()):
            raise BadType("the state holds something else than text; allowed: what `state` gave.")
        given = {name: exact(name, value) for name, value in state.items()}
        with self._lock:
            if any(self._spent.values()):
                raise BadValue("this filter has spent something already; allowed: a new one.")
            over = [name for name, value in given.items() if value > self._budget[name]]
            if over:
                raise BadValue(f"the state has spent more {over[0]} than the budget of this filter; allowed: the same budget.")
            self._spent = given
