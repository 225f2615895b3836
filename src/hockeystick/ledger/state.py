"""What the entries of an account add up to, and which entry may come next.

One rule for whoever writes an entry and for whoever verifies a chain afterwards: `State.after`.  Amounts are whole numbers.
"""

import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ..errors import BadValue
from ..filters.amounts import LARGEST
from .chain.entries import sha256
from .terms import Terms, read

Part = list[Any]
"""What an account on a part may take of reserve and slack, in units of the whole; the part; the column it is a part by."""


class Misfit(BadValue):
    """An entry that may not come next; nothing was written."""


@dataclass(frozen=True)
class Charge:
    """What a release takes: uses of planned lines, and whole units of the reserve and of the slack."""

    lines: dict[str, int] = field(default_factory=dict)
    reserve: int = 0
    slack: int = 0

    def said(self) -> dict[str, Any]:
        """As plain values."""
        return {"lines": self.lines, "reserve": self.reserve, "slack": self.slack}

    def __add__(self, other: "Charge") -> "Charge":
        lines = {name: self.lines.get(name, 0) + other.lines.get(name, 0) for name in {**self.lines, **other.lines}}
        return Charge(lines, self.reserve + other.reserve, self.slack + other.slack)


def charge(said: Any) -> Charge:
    """What `said` wrote; only whole numbers from 0 up."""
    if not isinstance(said, dict) or set(said) != {"lines", "reserve", "slack"} or not isinstance(said["lines"], dict):
        raise Misfit(f"the charge is {said!r}; allowed: lines, reserve and slack.")
    amounts = [*said["lines"].values(), said["reserve"], said["slack"]]
    if not all(type(one) is int and one >= 0 for one in amounts):
        raise Misfit(f"the charge is {said!r}; allowed: whole numbers from 0 up.")
    return Charge(said["lines"], said["reserve"], said["slack"])


@dataclass(frozen=True)
class State:
    """An account after some of its entries.

    `held` has the open reservations by the number of their entry, `parts` what accounts on parts of the data may take at most.
    """

    terms: Terms
    terms_at: int
    spent: Charge = field(default_factory=Charge)
    held: dict[str, dict[str, Any]] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    time: str = ""
    closed: str | None = None

    def said(self) -> dict[str, Any]:
        """As plain values, without the terms: these stand in the entry `terms_at`."""
        return {
            "terms_at": self.terms_at,
            "spent": self.spent.said(),
            "held": self.held,
            "parts": self.parts,
            "time": self.time,
            "closed": self.closed,
        }

    @property
    def taken(self) -> Charge:
        """What is spent or held."""
        found = self.spent
        for one in self.held.values():
            found = found + charge(one["charge"])
        return found

    @property
    def left(self) -> Charge:
        """What may still be taken."""
        taken, terms = self.taken, self.terms
        lines = {line.name: line.count - taken.lines.get(line.name, 0) for line in terms.plan}
        return Charge(lines, terms.capacity - taken.reserve, terms.slack_capacity - taken.slack)

    def expired(self, now: str) -> list[str]:
        """The reservations whose time is over."""
        return [seq for seq, one in self.held.items() if one["expires"] <= now]

    def lacks(self, wanted: Charge) -> list[str]:
        """What is too little for a charge: names of lines, "the reserve", "the slack"."""
        left = self.left
        found = [repr(name) for name, count in wanted.lines.items() if count > left.lines.get(name, 0)]
        found += ["the reserve"] if wanted.reserve > left.reserve else []
        return found + (["the slack"] if wanted.slack > left.slack else [])

    def after(self, seq: int, said: dict[str, Any]) -> "State":
        """The account after one more entry.

        Raises
        ------
        Misfit
            If this entry may not come next.
        """
        if said["time"] < self.time:
            raise Misfit(f"its time {said['time']} is before that of the entry before it, {self.time}.")
        rule = _RULES.get(said["kind"])
        if rule is None:
            raise Misfit(f"its kind is {said['kind']!r}, which cannot stand here.")
        found: State = rule(self, seq, said)
        return replace(found, time=said["time"])

    def _takes(self, said: dict[str, Any]) -> Charge:
        wanted = charge(said["charge"])
        terms, now = self.terms, said["time"]
        if self.closed is not None:
            raise Misfit(f"the account was closed at {self.closed}.")
        if terms.opens is not None and now < terms.opens:
            raise Misfit(f"the account opens at {terms.opens}, and it is {now}.")
        if terms.closes is not None and now >= terms.closes:
            raise Misfit(f"the period of the account ended at {terms.closes}, and it is {now}.")
        if unknown := sorted(set(wanted.lines) - set(terms.lines)):
            raise Misfit(f"{unknown[0]!r} is no planned line.")
        if lacking := self.lacks(wanted):
            raise Misfit(f"it takes more than is left of {' and of '.join(lacking)}.")
        return wanted

    def _settled(self, said: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """A reservation that ends here, and those that remain."""
        name = str(said["settles"])
        if name not in self.held:
            raise Misfit(f"it settles entry {name}, which is no open reservation.")
        if said["key"] is not None or said["of"] != self.held[name]["key"]:
            raise Misfit(f"it settles entry {name}, whose key is another one.")
        return self.held[name], {seq: one for seq, one in self.held.items() if seq != name}


def opened(seq: int, said: dict[str, Any]) -> State:
    """An account after its first entry."""
    if said["kind"] != "open" or seq != 1:
        raise Misfit("the first entry of an account opens it.")
    terms = read(said["terms"])
    if terms.version != 1:
        raise Misfit(f"the terms have version {terms.version}; the first has 1.")
    return State(terms, seq, time=said["time"])


def _reserve(state: State, seq: int, said: dict[str, Any]) -> State:
    wanted = state._takes(said)
    held = {"charge": wanted.said(), "expires": said["expires"], "token": said["token"], "key": said["key"]}
    return replace(state, held={**state.held, str(seq): held})


def _commit(state: State, seq: int, said: dict[str, Any]) -> State:
    if said.get("settles") is None:
        parts = _worst_parts(state, said) if "part" in said else state.parts
        return replace(state, spent=state.spent + state._takes(said), parts=parts)
    one, held = state._settled(said)
    if one["expires"] <= said["time"]:
        raise Misfit("the reservation had expired; it is committed by its expiry.")
    return replace(state, spent=state.spent + charge(one["charge"]), held=held)


def _expire(state: State, seq: int, said: dict[str, Any]) -> State:
    one, held = state._settled(said)
    if said["time"] < one["expires"]:
        raise Misfit(f"the reservation expires at {one['expires']}, not yet at {said['time']}.")
    return replace(state, spent=state.spent + charge(one["charge"]), held=held)


def _void(state: State, seq: int, said: dict[str, Any]) -> State:
    one, held = state._settled(said)
    if one["expires"] <= said["time"]:
        raise Misfit(f"the reservation expired at {one['expires']}, and an expired one counts as made.")
    if sha256(said["token"]) != one["token"]:
        raise Misfit("the token is not the one that reserving returned.")
    if said["statement"] != "not read":
        raise Misfit("nothing states that the data were not read.")
    return replace(state, held=held)


def _amend(state: State, seq: int, said: dict[str, Any]) -> State:
    terms = read(said["terms"])
    if state.closed is not None:
        raise Misfit(f"the account was closed at {state.closed}.")
    if why := unlike(state.terms, terms):
        raise Misfit(f"the new terms {why}.")
    convert = Conversion(state.terms, terms)
    held = {name: {**one, "charge": convert(charge(one["charge"])).said()} for name, one in state.held.items()}
    parts = {name: convert.down(part) for name, part in state.parts.items()}
    made = replace(state, terms=terms, terms_at=seq, spent=convert(state.spent), held=held, parts=parts)
    left = made.left
    if min([left.reserve, left.slack, *left.lines.values()]) < 0:
        raise Misfit("the new terms promise less than has been taken already.")
    return made


def _close(state: State, seq: int, said: dict[str, Any]) -> State:
    if state.closed is not None:
        raise Misfit(f"the account was closed at {state.closed} already.")
    return replace(state, closed=said["time"])


def _note(state: State, seq: int, said: dict[str, Any]) -> State:
    return state


_RULES: dict[str, Any] = {
    "reserve": _reserve,
    "commit": _commit,
    "expire": _expire,
    "void": _void,
    "amend": _amend,
    "close": _close,
    "note": _note,
}


def unlike(old: Terms, new: Terms) -> str | None:
    """Why one version of the terms may not follow another, if it may not."""
    for name in ("dataset", "within"):
        if getattr(old, name) != getattr(new, name):
            return f"have another {name}"
    for name in ("kind", "order", "neighbours"):
        if getattr(old.reserve, name) != getattr(new.reserve, name):
            return f"have a reserve with another {name}"
    if new.version != old.version + 1:
        return f"have version {new.version}, and it is the turn of {old.version + 1}"
    for name, line in old.lines.items():
        if name not in new.lines:
            return f"lack the planned line {name!r}"
        if new.lines[name].release != line.release:
            return f"have another release as {name!r}"
    return None


class Conversion:
    """Amounts in the units of other terms, rounded up: what was taken of a reserve is kept, whatever the whole of it is now."""

    def __init__(self, old: Terms, new: Terms) -> None:
        before, now = old.reserve, new.reserve
        self._reserve = before._unit / now._unit if now.capacity else None
        self._slack = before.slack / now.slack if now.slack else None

    def __call__(self, one: Charge) -> Charge:
        return Charge(one.lines, self.reserve(one.reserve), self.slack(one.slack))

    def reserve(self, amount: int) -> int:
        """An amount of the reserve; any at all is too much where none is left of it."""
        return _up(amount, self._reserve)

    def slack(self, amount: int) -> int:
        """An amount of the slack."""
        return _up(amount, self._slack)

    def down(self, part: Part) -> Part:
        """What a part may take, rounded down: what it takes more is a difference, which must not be too small."""
        reserve, slack, *which = part
        return [math.floor(reserve * (self._reserve or 0)), math.floor(slack * (self._slack or 0)), *which]


def _up(amount: int, share: Fraction | None) -> int:
    if amount and share is None:
        return LARGEST
    return math.ceil(amount * (share or 0))


def _worst(parts: dict[str, Part]) -> tuple[int, int]:
    """What accounts on parts take of the whole at most, of reserve and slack.

    A record is in one part for each column: of the parts by one column the one with the most counts.  Accounts on the same part
    add up, and so do columns, since parts by different columns overlap.
    """
    return _most(parts, 0), _most(parts, 1)


def _most(parts: dict[str, Part], which: int) -> int:
    columns: dict[str, dict[str, int]] = {}
    for *amounts, dataset, key in parts.values():
        sums = columns.setdefault(key, {})
        sums[dataset] = sums.get(dataset, 0) + amounts[which]
    return sum(max(sums.values()) for sums in columns.values())


def part_charge(state: State, name: str, part: Part) -> Charge:
    """What the whole is charged where an account on a part may take so much from now on."""
    before, after = _worst(state.parts), _worst({**state.parts, name: part})
    return Charge({}, max(0, after[0] - before[0]), max(0, after[1] - before[1]))


def _worst_parts(state: State, said: dict[str, Any]) -> dict[str, Part]:
    one = said["part"]
    name, part = one["account"], [one["reserve"], one["slack"], one["dataset"], one["key"]]
    old = state.parts.get(name, [0, 0, *part[2:]])
    if part[2:] != old[2:] or not all(type(word) is str for word in part[2:]):
        raise Misfit(f"the part {name!r} is of {part[2]!r} by {part[3]!r}, and was of {old[2]!r} by {old[3]!r}.")
    if any(type(now) is not int or now < before for now, before in zip(part[:2], old[:2], strict=True)):
        raise Misfit(f"the part {name!r} would take less than before.")
    if part_charge(state, name, part) != charge(said["charge"]):
        raise Misfit(f"the charge is not what the part {name!r} adds to the worst of the parts.")
    return {**state.parts, name: part}
