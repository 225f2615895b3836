"""Our answers behind their interface."""

import math
from collections.abc import Mapping
from typing import Any

from dp_accounting.dp_event import DpEvent
from dp_accounting.privacy_accountant import NeighboringRelation, PrivacyAccountant

from ... import checks
from ...errors import BadType, BadValue, HockeystickError, Unsupported
from ...loss.protocol import Interval
from ...mechanism.questions.entries import each
from ...mechanism.release import Mechanism, Release, joined
from ...mechanism.training import Training
from ...neighbours import DEFAULT, Relation
from ...portable import from_json
from ..charging import Charging, charging
from .meanings import RELATIONS, EventRefused, NonPrivate, Parts, parts_of


class HockeystickAccountant(PrivacyAccountant):  # type: ignore[misc]
    """A `PrivacyAccountant` with certified answers, wherever Google's accountants go.

    `get_epsilon` and `get_delta` are upper bounds, rounding included; `release` is all that was composed, for every other
    question (both ends, reports, attacks, JSON).  Steps that are alike are one entry with a count.

    Parameters
    ----------
    neighboring_relation : dp_accounting.NeighboringRelation, default ADD_OR_REMOVE_ONE
        The relation that the answers are for.
    account : Charging, optional
        The account of a ledger to which events are charged, before they are composed: compose an event before it is run.

    Raises
    ------
    BadType
        If neighboring_relation is none of dp_accounting, or account no `Charging`.
    BadValue
        If the account is for another relation.

    Examples
    --------
    >>> import dp_accounting as dp
    >>> relation = dp.NeighboringRelation.REPLACE_ONE
    >>> accountant = HockeystickAccountant(relation).compose(dp.dp_event.RandomizedResponseDpEvent(0.5, 2), 10)
    >>> round(accountant.get_epsilon(1e-5), 5)
    10.98595
    """

    def __init__(
        self,
        neighboring_relation: NeighboringRelation = NeighboringRelation.ADD_OR_REMOVE_ONE,
        account: Charging | None = None,
    ) -> None:
        if not isinstance(neighboring_relation, NeighboringRelation):
            raise BadType(f"neighboring_relation is {neighboring_relation!r}; allowed: a dp_accounting.NeighboringRelation.")
        super().__init__(neighboring_relation)
        self.account = charging(account)
        if self.account is not None and self.account.neighbours != self.neighbours:
            raise BadValue(
                f"neighboring_relation is {neighboring_relation} ({self.neighbours}), and the account is for "
                f"{self.account.neighbours}; allowed: the same."
            )
        self._counts: dict[Mechanism, int] = {}
        self._non_private = False
        self._latest: tuple[DpEvent, Parts | None] | None = None

    @property
    def neighbours(self) -> Relation:
        """The relation in our words.

        Returns
        -------
        Relation
            "add-or-remove", "replace" or "zero-out".
        """
        return RELATIONS[self.neighboring_relation]

    @property
    def release(self) -> Release:
        """All that was composed; refused if some of it was not private at all.

        Returns
        -------
        Release
            The composition, for every other question.

        Raises
        ------
        Unsupported
            If an event without any privacy was composed.
        """
        if self._non_private:
            raise Unsupported("an event without any privacy was composed, which no release describes.")
        run = joined(self._counts.items())
        return run if self.neighbours == DEFAULT else Training(run, self.neighbours, (f"Neighbours: {self.neighbours}.",))

    def supports(self, event: DpEvent) -> bool:
        """Whether an event can be composed.

        Parameters
        ----------
        event : dp_accounting.DpEvent
            The event.

        Returns
        -------
        bool
            False if it, or a part of it, is refused.
        """
        try:
            return self._maybe_compose(event, 1, False) is None
        except HockeystickError:
            return False

    def _maybe_compose(self, event: DpEvent, count: int, do_compose: bool) -> PrivacyAccountant.CompositionErrorDetails | None:
        try:
            found = self._translated(event)
        except EventRefused as error:
            return self.CompositionErrorDetails(invalid_event=error.event, error_message=str(error))
        if not do_compose:
            for mechanism, used in found or ():
                if isinstance(count, int):  # else the ledger says so
                    checks.count("count", self._counts.get(mechanism, 0) + used * count)
            return None
        if self.account is not None:
            self._charge(found, count)
        if found is None:
            self._non_private = True
            return None
        for mechanism, used in found:
            self._counts[mechanism] = self._counts.get(mechanism, 0) + used * count
        return None

    def _charge(self, found: Parts | None, count: int) -> None:
        """The account is asked first; what it refuses is not composed, and must not be run."""
        assert self.account is not None
        if found is None:
            raise Unsupported("an event without any privacy was composed, which no account pays for; nothing was charged.")
        if run := joined(found).parts:
            self.account.charge(joined(run), count)

    def state(self) -> dict[str, Any]:
        """What a checkpoint must hold; `load` takes it.

        Returns
        -------
        dict of str
            Plain values: what was composed, and what was charged.

        Raises
        ------
        Unsupported
            If an event without any privacy was composed.
        """
        if self._non_private:
            raise Unsupported("an event without any privacy was composed, which no release describes.")
        found: dict[str, Any] = {"release": joined(self._counts.items()).to_json()}
        return found if self.account is None else {**found, "charged": self.account.state()}

    def load(self, state: Mapping[str, Any]) -> "HockeystickAccountant":
        """Go on from a checkpoint: its events are composed, and not charged again; those that follow are.

        The ledger of events of dp_accounting begins anew.

        Parameters
        ----------
        state : mapping
            What `state` gave.

        Returns
        -------
        HockeystickAccountant
            The accountant itself.

        Raises
        ------
        BadType
            If state is no such mapping.
        BadValue
            If something was composed already, or with an account its events were not charged to it.
        """
        if not isinstance(state, Mapping) or not isinstance(state.get("release"), str):
            raise BadType(f"state is {state!r}; allowed: what `state` gave.")
        if self._counts or self._non_private:
            raise BadValue("something was composed already; allowed: a new accountant.")
        run = from_json(state["release"])
        if self.account is not None:
            self.account.load(state.get("charged"), self.account.uses(run))
        self._counts = dict(run.parts)
        return self

    def _translated(self, event: DpEvent) -> Parts | None:
        """What the event consists of, None if it is not private; that of the latest event is kept."""
        try:
            hash(event)
            fixed = True
        except TypeError:  # it holds a list or an array, which may change
            fixed = False
        if fixed and self._latest is not None and self._latest[0] == event:
            return self._latest[1]
        found: Parts | None
        try:
            found = parts_of(event, self.neighbours)
        except NonPrivate:
            found = None
        if fixed:
            self._latest = event, found
        return found

    def get_epsilon(self, target_delta: float) -> float:
        """An upper bound of epsilon at a delta.

        Parameters
        ----------
        target_delta : float
            From 0 to 1.

        Returns
        -------
        float
            Epsilon, rounded up; inf if an event without any privacy was composed.

        Raises
        ------
        BadType
            If target_delta is no number.
        BadValue
            If it is outside [0, 1].
        """
        delta = checks.probability("target_delta", target_delta)
        if self._non_private:
            return math.inf
        return float(joined(self._counts.items()).epsilon(delta, self.neighbours))

    def get_delta(self, target_epsilon: Any) -> Any:
        """An upper bound of delta at an epsilon; for a list or an array of them, an array.

        Parameters
        ----------
        target_epsilon : float or array_like
            Any number, or inf.

        Returns
        -------
        float or ndarray
            Delta, rounded up.

        Raises
        ------
        BadType
            If target_epsilon is no number and no array of numbers.
        BadValue
            If it is NaN or -inf.
        """
        return each("target_epsilon", target_epsilon, _epsilon, lambda one: self._deltas([one])[0], self._deltas)[1]

    def _deltas(self, epsilons: list[float]) -> list[Interval]:
        """Both ends of delta at each epsilon; the lower ones are not asked for."""
        if self._non_private:
            return [(0.0, 1.0)] * len(epsilons)
        finite = [one for one in epsilons if one < math.inf]
        found = map(float, joined(self._counts.items()).delta(finite, self.neighbours) if finite else ())
        return [(0.0, next(found) if one < math.inf else 0.0) for one in epsilons]


def _epsilon(name: str, value: Any) -> float:
    """A number, or infinity, where delta is 0: no event that is supported has an infinite loss."""
    return math.inf if value == math.inf else checks.real(name, value, "a number, or infinity")
