"""What the report of an account says: one row for each release, its promise, its changes, and what it rests on."""

from collections.abc import Sequence
from typing import Any

from ..report.answers import current_version
from ..report.render import Section
from .chain.entries import Entry
from .datasets import Dataset
from .refusal import percent, shares
from .state import State, charge
from .terms import undescribed

_ENDED = {"commit": "released", "expire": "counts as released: its time was over", "void": "given back: the data were not read"}
_CHANGES = ("open", "amend", "close", "note")
ASSUMPTIONS = (
    "Every release from the data set was charged here before it was made, with the noise, rates and counts that were charged.",
    "Releases may be chosen one by one in view of all earlier outputs, by several people at once: the promise holds for all that "
    "the account can grant (docs/mathematics/filters.md, Lemmas 62 to 64).",
    "What was taken so far is no guarantee of its own: the sum of releases that were chosen in view of outputs is not their "
    "epsilon.  The promise is.",
    "Where the terms were raised in view of outputs, the promise is that of the highest terms that might have been chosen.",
    "A key is charged once and authorises one execution; a reservation whose time is over counts as released.",
    "The promise is about the records of this data set.  Other accounts, data sets about the same people, and a new period each "
    "add their own.",
)


def what(said: dict[str, Any]) -> str:
    """An entry in few words."""
    if "what" in said:
        one = said["what"]
        if "part" in one:
            return f"the part {one['part']}"
        name = one["line"] if "line" in one else repr(undescribed(one["release"]))
        return f"{name}{' * ' + format(one['count'], ',') if one['count'] > 1 else ''} ({said['key']})"
    if said.get("of") is not None:
        return f"{said['of']}: {_ENDED[said['kind']]}"
    if "terms" in said:
        terms = said["terms"]
        return f"epsilon {terms['epsilon']:g} at delta {terms['delta']:g}{': ' + said['reason'] if said.get('reason') else ''}"
    return str(said.get("note") or said.get("reason") or "")


def changes(said: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries that charge nothing: opened, amended, closed, remarks."""
    return [one for one in said if one["kind"] in _CHANGES]


def releases(entries: Sequence[Entry], states: Sequence[State]) -> list[dict[str, Any]]:
    """One row for each release."""
    every = [one.said() for one in entries]
    ends = {one["settles"]: one for one in every if one.get("settles") is not None}
    found = []
    for entry, said, state in zip(entries, every, states, strict=True):
        if "charge" not in said:
            continue
        end = ends.get(said["seq"])
        became = "released" if said["kind"] == "commit" else "reserved" if end is None else _ENDED[end["kind"]]
        row = {"key": said["key"], **_released(said, state), "actor": said["actor"], "time": said["time"]}
        row |= {"note": said.get("note", ""), "charge": shares(charge(said["charge"]), state.terms.reserve)}
        found.append({**row, "became": became, "with": said["with"], "hash": entry.hash})
    return found


def _released(said: dict[str, Any], state: State) -> dict[str, Any]:
    """What was released: the line, its release, how often; or the part that was charged."""
    one = said["what"]
    if "part" in one:
        return {"part": one["part"], "count": 1}
    if "line" in one:
        return {"line": one["line"], "release": repr(state.terms.lines[one["line"]].release), "count": one["count"]}
    return {"release": repr(undescribed(one["release"])), "count": one["count"]}


def _row(one: dict[str, Any]) -> tuple[str, str, str]:
    often = f"{one['count']:,} x " if one["count"] > 1 else ""
    named = f"{one['line']}: " if "line" in one else ""
    made = one.get("release") or f"the part {one.get('part')}"
    taken = "of the plan" if one["charge"]["lines"] else f"{one['charge']['reserve']:.4%} of the reserve"
    slack = f", {one['charge']['slack']:.4%} of the slack" if one["charge"]["slack"] else ""
    beside = f"; together with {', '.join(one['with'])}" if one["with"] else ""
    words = f"{_minute(one['time'])}, {one['actor']}: {one['became']}; {taken}{slack}{beside}"
    return one["key"], f"{often}{named}{made}", f"{words}.  {one['note']}" if one["note"] else words


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _facts(status: dict[str, Any], dataset: Dataset) -> list[tuple[str, str, str]]:
    period = " to ".join((status[word] or "open")[:10] for word in ("opens", "closes"))
    found = [
        ("data set", dataset.name, dataset.description),
        ("unit of privacy", dataset.unit, ""),
        ("neighbours", status["neighbours"], ""),
        ("state", status["state"], f"version {status['version']} of its terms"),
        ("period", period if status["opens"] or status["closes"] else "", ""),
        ("purpose", status["purpose"], ""),
        ("a part of", dataset.partition_of or "", f"by {dataset.key}; charged to {status['within']}"),
    ]
    return [one for one in found if one[1]]


def _left(status: dict[str, Any], state: State) -> list[tuple[str, str, str]]:
    rows = [(name, f"{one['left']:,} of {one['count']:,} left", one["release"]) for name, one in status["lines"].items()]
    left, reserve = state.left, state.terms.reserve
    word = {"gdp": "mu", "pure": "epsilon", "renyi": f"Rényi divergence of order {reserve.order}"}[reserve.kind]
    if reserve.capacity:
        share = percent(left.reserve, reserve.capacity, up=False)
        rows.append(("reserve", f"{share} left", f"{word} {float(reserve.limit):.6g}"))
    if reserve.slack_capacity:
        share = percent(left.slack, reserve.slack_capacity, up=False)
        rows.append(("slack", f"{share} left", f"delta {float(reserve.slack):g}"))
    return rows


def sections(
    status: dict[str, Any],
    dataset: Dataset,
    entries: Sequence[Entry],
    states: Sequence[State],
    statement: list[str],
    meaning: list[str],
) -> list[Section]:
    """What the report says, in order."""
    rows = [_row(one) for one in releases(entries, states)]
    changed = [
        (_minute(said["time"]), f"{said['kind']} by {said['actor']}", what(said))
        for said in changes([one.said() for one in entries])
    ]
    chain = [
        ("entries", f"{status['entries']:,}", "in a chain of hashes, each over the stored bytes and the hash before"),
        ("last hash", status["head"], ""),
        ("software", f"hockeystick {current_version()}", "`hockeystick ledger verify` reads all of it again"),
    ]
    return [
        Section(f"Privacy account {status['account']}", _facts(status, dataset), statement),
        Section("What it means", [], meaning),
        Section("Plan and reserve", _left(status, states[-1]), []),
        Section(f"Releases: {len(rows):,}", rows, [] if rows else ["None yet."]),
        Section("Opened and changed", changed, []),
        Section("What it rests on", [], list(ASSUMPTIONS)),
        Section("Provenance", chain, []),
    ]
