"""The reserve of a budget: what is not planned beforehand is drawn from it, and the promise covers all that can be.

docs/mathematics/filters.md: Lemma 62 (the basket and the reserve), Lemma 63 (its kinds), Lemma 64 (one Rényi order).
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from .. import checks
from ..errors import BadType, BadValue, Unsupported
from ..mechanism.release import Release
from ..neighbours import DEFAULT, Relation
from . import costs
from .amounts import HEADROOM, LARGEST, SHARES, Number, exact, float_down, float_up, root_down, root_up, share, written
from .price import Left, Price
from .promises import KINDS, Kind, Promises

_FINE = 720_720
"""Parts of a unit of pure epsilon, beside powers of ten: shares such as thirds and sevenths are whole, too."""


@dataclass(frozen=True, init=False)
class Reserve(Promises):
    """A limit that adaptively chosen releases are drawn from, and the promise that covers all of them.

    Of kind "gdp" (the default), `limit` is mu: an entry takes mu(delta=d)^2 of its square and d of the slack.  "pure": `limit` is
    an epsilon, an entry takes epsilon(delta=d) and d.  "renyi": `limit` is a Rényi divergence of one order, and there is no
    slack.  Amounts are whole numbers of small units, rounded up; `capacity` and `slack_capacity` are all there is.

    Numbers are read as they are written: 0.1 is a tenth.  The kind is fixed for good (Lemmas 62 to 64).

    Parameters
    ----------
    limit : number or str
        mu, epsilon or the Rényi divergence, from 0 up.
    slack : number or str, default 0
        The delta that entries may use up together; below 1.
    kind : {"gdp", "pure", "renyi"}, default "gdp"
        The measure of entries.
    order : float, optional
        The Rényi order, above 1; of kind "renyi" only.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation of the budget.

    Raises
    ------
    BadType
        If a number is none, or kind or neighbours no text.
    BadValue
        If a number is out of its range, kind or neighbours is none of these, or order or slack does not go with the kind.

    Examples
    --------
    >>> import hockeystick as hs
    >>> reserve = Reserve(1.0, slack=1e-7)
    >>> tenth = reserve.price(hs.Gaussian(sigma=10.0))
    >>> reserve.everything.times(tenth), round(reserve.promise(hs.Gaussian(sigma=20.0) * 12, delta=1e-6), 6)
    (100, 4.991897)
    """

    limit: Fraction
    slack: Fraction
    kind: Kind
    order: float | None
    neighbours: Relation

    def __init__(
        self,
        limit: Number,
        slack: Number = 0,
        kind: Kind = "gdp",
        order: float | None = None,
        neighbours: Relation = DEFAULT,
    ) -> None:
        if not isinstance(kind, str):
            raise BadType(f"kind is {kind!r}; allowed: one of {', '.join(KINDS)}.")
        if kind not in KINDS:
            raise BadValue(f"kind is {kind!r}{checks.meant(kind, KINDS)}; allowed: one of {', '.join(KINDS)}.")
        if (order is None) == (kind == "renyi"):
            raise BadValue(f"order is {order} for kind {kind!r}; allowed: an order for kind 'renyi', and for no other.")
        self._set("kind", kind)
        self._set("limit", exact("limit", limit))
        self._set("slack", exact("slack", slack))
        self._set("order", None if order is None else costs.order_of(order))
        self._set("neighbours", costs.relation(neighbours))
        if self.limit > (600 if kind == "pure" else Fraction(10) ** 100):
            raise BadValue(f"limit is {limit}; allowed: at most {'600' if kind == 'pure' else '1e100'}.")
        if self.slack >= 1:
            raise BadValue(f"slack is {slack}; allowed: a delta from 0 to below 1.")
        if kind == "renyi" and self.slack:
            raise BadValue(
                f"slack is {slack} for kind 'renyi'; allowed: 0, since no theorem here adds deltas to one Rényi order.  "
                "Use kind 'gdp', or a zCDP filter."
            )

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        more = f", slack={written(self.slack)}" if self.slack else ""
        more += f", kind={self.kind!r}" if self.kind != "gdp" else ""
        more += f", order={self.order!r}" if self.order is not None else ""
        more += f", neighbours={self.neighbours!r}" if self.neighbours != DEFAULT else ""
        return f"Reserve({float(self.limit)!r}{more})"

    # amounts

    @property
    def _unit(self) -> Fraction:
        """One unit of the measure that adds up: of mu^2, epsilon, or the divergence."""
        if self.kind != "pure":
            return self._whole / SHARES
        digits = max(0, 12 - len(str(math.floor(self.limit))))
        while self.limit and self.limit * _FINE * 10**digits < SHARES:
            digits += 1
        return Fraction(1, _FINE * 10**digits)

    @property
    def _whole(self) -> Fraction:
        return self.limit**2 if self.kind == "gdp" else self.limit

    @property
    def capacity(self) -> int:
        """All units of the reserve; the promise covers them.

        Returns
        -------
        int
            Of kind "gdp" and "renyi" 2^48 for the limit and 2^24 for roundings; of kind "pure" those of the limit.
        """
        if not self.limit:
            return 0
        return math.floor(self.limit / self._unit) if self.kind == "pure" else SHARES + HEADROOM

    @property
    def slack_capacity(self) -> int:
        """All units of the slack.

        Returns
        -------
        int
            2^48, or 0 where there is no slack.
        """
        return SHARES if self.slack else 0

    @property
    def _covered(self) -> Fraction:
        """All that the capacity can hold of the measure that adds up."""
        return self.capacity * self._unit

    @property
    def everything(self) -> Left:
        """What is left before anything is drawn.

        Returns
        -------
        Left
            Both capacities.
        """
        return Left(self.capacity, self.slack_capacity)

    def left(self, amount: int, slack: int) -> Left:
        """What is left after these units were drawn.

        Parameters
        ----------
        amount : int
            Units of the reserve that were drawn.
        slack : int
            Units of the slack that were drawn.

        Returns
        -------
        Left
            What is left.

        Raises
        ------
        BadType
            If one is no number.
        BadValue
            If one is no whole number from 0 up.
        """
        drawn = checks.count("amount", amount, most=LARGEST), checks.count("slack", slack, most=LARGEST)
        return Left(self.capacity - drawn[0], self.slack_capacity - drawn[1])

    def measure_of(self, amount: int) -> float:
        """mu, epsilon or the divergence of so many units, rounded down: what may be drawn with them.

        Parameters
        ----------
        amount : int
            Units of the reserve.

        Returns
        -------
        float
            The measure.

        Raises
        ------
        BadType
            If amount is no number.
        BadValue
            If amount is no whole number from 0 up.
        """
        worth = checks.count("amount", max(0, amount), most=LARGEST) * self._unit
        return root_down(worth) if self.kind == "gdp" else float_down(worth)

    def delta_of(self, slack: int) -> float:
        """The delta of so many units of the slack, rounded down.

        Parameters
        ----------
        slack : int
            Units of the slack.

        Returns
        -------
        float
            The delta.

        Raises
        ------
        BadType
            If slack is no number.
        BadValue
            If slack is no whole number from 0 up.
        """
        return max(0.0, float_down(checks.count("slack", max(0, slack), most=LARGEST) * self.slack / SHARES))

    # prices

    def price(self, release: Release, left: Left | None = None, delta: float | None = None) -> Price:
        """What a release takes as one entry: its noise, rates and counts are fixed when it is charged.

        Of the slack it takes the `delta` that makes the larger of both shares of what is left smallest: so a release fits if it
        fits at any delta.  Where the slack hardly helps, as for plain Gaussian noise, it takes none.  One large entry is cheaper
        than many small ones: price `step * 1000` rather than `step` a thousand times, if a thousand steps will be taken.

        Parameters
        ----------
        release : Release
            What would be released.
        left : Left, optional
            What is left; by default everything.
        delta : float, optional
            What the entry takes of the slack, if that is to be another amount.

        Returns
        -------
        Price
            Its units; `left.holds(price)` says whether they are there.

        Raises
        ------
        BadType
            If release is no release.
        BadValue
            If it is stated for another relation, or delta is more than the slack.
        Unsupported
            If no theorem gives it a finite price: the message says what is missing.
        """
        room = self.everything if left is None else left
        plain = costs.plain("release", release, self.neighbours)
        if delta is not None:
            level = checks.non_negative("delta", delta)
            if Fraction(level) > self.slack:
                raise BadValue(f"delta is {level}; allowed: at most the slack, {float(self.slack):g}.")
            return self._finite(self._priced(plain, level), plain)
        from .slack import best_delta

        found = best_delta(lambda level: self._priced(plain, level), self.delta_of(max(0, room.slack)), room)
        if found.measure == math.inf and room != self.everything:  # what would have a price while there was slack does not fit
            found = best_delta(lambda level: self._priced(plain, level), self.delta_of(self.slack_capacity), self.everything)
        return self._finite(found, plain)

    def _priced(self, release: Release, delta: float) -> Price:
        if self.kind == "gdp":
            cost = costs.squared_mu(release, delta, self.neighbours)
            measure = math.inf if cost == math.inf else root_up(Fraction(cost))
        else:
            cost = (
                costs.pure_epsilon(release, delta, self.neighbours)
                if self.kind == "pure"
                else costs.renyi(release, self.order or 0.0, self.neighbours)
            )
            measure = math.inf if cost == math.inf else float_up(Fraction(cost))
        return Price(share(cost, self._unit, 1), share(delta, self.slack), measure, delta)

    def _finite(self, price: Price, release: Release) -> Price:
        if price.measure < math.inf:
            return price
        what = {"gdp": "mu", "pure": "epsilon at delta 0", "renyi": f"Rényi divergence of order {self.order}"}[self.kind]
        more = "" if self.kind == "renyi" else f", up to the delta of {price.delta:g} that the slack leaves"
        raise Unsupported(
            f"{release!r} has no finite {what}{more}; a natural filter, which would compose exact profiles chosen in view of "
            "outputs, is not valid (arXiv 2602.06756).  Plan it as a line of the budget, or give the budget more slack."
        )

    # text

    def to_dict(self) -> dict[str, str]:
        """All of it as text, for a file or a database; `from_dict` undoes it.

        Returns
        -------
        dict of str to str
            limit and slack are exact.
        """
        found = {"kind": self.kind, "limit": written(self.limit), "slack": written(self.slack), "neighbours": self.neighbours}
        return {**found, "order": repr(self.order)} if self.order is not None else found

    @staticmethod
    def from_dict(data: dict[str, str]) -> "Reserve":
        """The reserve that `to_dict` wrote.

        Parameters
        ----------
        data : dict of str to str
            What it wrote.

        Returns
        -------
        Reserve
            An equal one.

        Raises
        ------
        BadType
            If data is no such mapping.
        BadValue
            If a key is missing or unknown, or a value out of its range.
        """
        if not isinstance(data, dict):
            raise BadType(f"a reserve is {data!r}; allowed: what `to_dict` wrote.")
        checks.refuse_unknown("a reserve", data, ("kind", "limit", "slack", "neighbours", "order"))
        missing = sorted({"kind", "limit", "slack", "neighbours"} - set(data))
        if missing:
            raise BadValue(f"a reserve lacks {', '.join(missing)}; allowed: what `to_dict` wrote.")
        order = data.get("order")
        return Reserve(data["limit"], data["slack"], data["kind"], order and float(order), data["neighbours"])  # type: ignore[arg-type]
