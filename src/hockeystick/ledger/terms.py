"""The terms of an account: its promise, its plan and its reserve.  They never change; an amendment is a new version."""

import datetime
import json
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from ..checks import count as whole
from ..checks import meant
from ..errors import BadType, BadValue
from ..filters import Reserve
from ..mechanism.release import Release, compose
from ..neighbours import Relation
from ..portable import from_json


@dataclass(frozen=True)
class Line:
    """A planned release and how often it may be made."""

    name: str
    release: Release
    count: int

    def said(self) -> dict[str, Any]:
        """As plain values."""
        return {"name": self.name, "release": described(self.release), "count": self.count}


@dataclass(frozen=True)
class Terms:
    """What an account promises for its data set: (epsilon, delta) for the plan and the reserve together, whatever is chosen."""

    dataset: str
    epsilon: float
    delta: float
    reserve: Reserve
    """What the promise leaves beside the plan, and how it is counted."""
    plan: tuple[Line, ...]
    opens: str | None = None
    closes: str | None = None
    purpose: str = ""
    within: str | None = None
    version: int = 1
    lines: dict[str, Line] = field(init=False, repr=False, compare=False)
    capacity: int = field(init=False, repr=False, compare=False)
    """All units of the reserve, and of the slack; worked out once."""
    slack_capacity: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "lines", {line.name: line for line in self.plan})
        object.__setattr__(self, "capacity", self.reserve.capacity)
        object.__setattr__(self, "slack_capacity", self.reserve.slack_capacity)

    @property
    def neighbours(self) -> Relation:
        """The neighbouring relation of the data set."""
        return self.reserve.neighbours

    @property
    def planned(self) -> Release:
        """The whole plan as one release."""
        return planned(self.plan)

    def said(self) -> dict[str, Any]:
        """As plain values, which `read` takes."""
        return {
            "dataset": self.dataset,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "reserve": self.reserve.to_dict(),
            "plan": [line.said() for line in self.plan],
            "opens": self.opens,
            "closes": self.closes,
            "purpose": self.purpose,
            "within": self.within,
            "version": self.version,
        }


def planned(plan: Iterable[Line]) -> Release:
    """Lines as one release."""
    return compose(line.release * line.count for line in plan)


def read(said: dict[str, Any]) -> Terms:
    """The terms that `said` wrote."""
    return Terms(
        **{name: said[name] for name in ("dataset", "epsilon", "delta")},
        reserve=Reserve.from_dict(said["reserve"]),
        plan=tuple(Line(one["name"], undescribed(one["release"]), one["count"]) for one in said["plan"]),
        **{name: said[name] for name in ("opens", "closes", "purpose", "within", "version")},
    )


def described(release: Release) -> dict[str, Any]:
    """A release as plain values, which the log keeps."""
    found: dict[str, Any] = json.loads(release.to_json())
    return found


def undescribed(said: dict[str, Any]) -> Release:
    """The release of `described`."""
    return from_json(json.dumps(said))


def lines(plan: Any) -> tuple[Line, ...]:
    """The planned lines as they are given: (name, release, count), the count being 1 unless given."""
    if isinstance(plan, dict):
        plan = [(name, *(one if isinstance(one, tuple | list) else (one,))) for name, one in plan.items()]
    try:
        given = [tuple(one) for one in plan]
    except TypeError:
        raise BadType(f"plan is {plan!r}; allowed: a list of (name, release, count).") from None
    found = tuple(_line(one) for one in given)
    names = [one.name for one in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadValue(f"plan has the name {twice[0]!r} twice; allowed: each name once, with its count.")
    return found


def _line(given: tuple[Any, ...]) -> Line:
    if not 2 <= len(given) <= 3:
        raise BadValue(
            f"plan has the line {given!r}; allowed: (name, release, count), as in ('histogram', Laplace(scale=30), 12)."
        )
    name, release, count = (*given, 1)[:3]
    if not isinstance(release, Release):
        raise BadType(f"plan has {release!r} for {name!r}; allowed: a release such as Gaussian(sigma=20).")
    if not release.parts:
        raise BadValue(f"plan has {release!r} for {name!r}, which releases nothing; allowed: counts from 1 up.")
    made = Line(word("the name of a line", name), release, whole(f"the count of {name!r}", count, least=1))
    described(release)  # refused now if it cannot be written down
    return made


def planned_line(account: str, terms: Terms, name: Any) -> Line:
    """The planned line of a name."""
    if not isinstance(name, str):
        raise BadType(f"line is {name!r}; allowed: the name of a planned line, or a release such as Laplace(scale=30).")
    if name not in terms.lines:
        known = ", ".join(terms.lines) or "none"
        raise BadValue(f"{account!r} has no planned line {name!r}{meant(name, terms.lines)}; planned: {known}.")
    return terms.lines[name]


def moment(name: str, given: Any) -> str | None:
    """A day or a time as it is written; a day is its first moment, a time without a zone is UTC."""
    if given is None:
        return None
    if isinstance(given, datetime.date) and not isinstance(given, datetime.datetime):
        given = given.isoformat()
    if isinstance(given, str):
        try:
            given = datetime.datetime.fromisoformat(given)
        except ValueError:
            raise BadValue(
                f"{name} is {given!r}; allowed: a day such as 2026-12-31, or a time such as 2026-12-31T12:00."
            ) from None
    if not isinstance(given, datetime.datetime):
        raise BadType(f"{name} is {given!r}; allowed: a day such as '2026-12-31'.")
    if given.tzinfo is None:
        given = given.replace(tzinfo=datetime.UTC)
    try:
        utc = given.astimezone(datetime.UTC)
    except OverflowError:
        raise BadValue(f"{name} is {given}; allowed: the years 1 to 9999 in UTC.") from None
    return datetime.datetime.isoformat(utc, timespec="microseconds").replace("+00:00", "Z")


def word(name: str, given: Any, most: int = 200) -> str:
    """A name, key or actor: a text on one line, neither empty nor long."""
    if not isinstance(given, str):
        raise BadType(f"{name} is {given!r} ({type(given).__name__}); allowed: a text.")
    if not given.strip() or given != given.strip() or len(given) > most or not given.isprintable():
        raise BadValue(f"{name} is {given[:60]!r}; allowed: a text of 1 to {most} letters on one line, no space at its ends.")
    return given


def sentence(name: str, given: Any, most: int = 10_000) -> str:
    """A text that may be empty."""
    if not isinstance(given, str):
        raise BadType(f"{name} is {given!r} ({type(given).__name__}); allowed: a text.")
    if len(given) > most:
        raise BadValue(f"{name} has {len(given)} letters; allowed: up to {most:,}.")
    if wrong := next((one for one in given if unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\r\t"), None):
        raise BadValue(f"{name} has the character {wrong!r}; allowed: what can be printed, and ends of lines.")
    return given
