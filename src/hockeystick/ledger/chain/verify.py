"""Verification: every entry is read again, from a data base or from an export, and must be what was written.

For each account: the numbers of the entries run on; each hash is that of the stored bytes behind the hash before; the columns say
what the body says; every entry may follow those before it; totals, last number and last hash are those of the account.  What was
changed, removed, swapped or added is named.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import BadValue, HockeystickError, Tampered
from ..state import State, opened
from .entries import FIRST, Entry, digest, parsed, sha256, text

_WORDS = {"dataset": "data set", "account": "account"}
_MOST = 20  # findings in a message; all of them are in `findings`


@dataclass(frozen=True)
class Verified:
    """What was read, and one digest over the last hashes of all accounts."""

    accounts: int
    entries: int
    digest: str

    def to_dict(self) -> dict[str, Any]:
        """As plain values.

        Returns
        -------
        dict of str
            The numbers and the digest.
        """
        return dict(vars(self))


@dataclass
class _Chain:
    """One account while its entries are read."""

    name: str
    seq: int = 0
    head: str = FIRST
    state: State | None = None
    broken: bool = False
    hashes: dict[int, str] = field(default_factory=dict)
    shared: dict[str, tuple[str, ...]] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)


def heads(found: Mapping[str, tuple[int, str]]) -> dict[str, Any]:
    """The last number and hash of every account, and one digest of them."""
    accounts = {name: {"entries": seq, "hash": head} for name, (seq, head) in sorted(found.items())}
    return {"digest": sha256({"accounts": accounts}), "accounts": accounts}


def verified(records: Iterable[tuple[str, Any]], before: Mapping[str, Any] | None = None) -> Verified:
    """Reads records of data sets, accounts and entries, in this order; raises `Tampered` with all that was found."""
    datasets: dict[str, tuple[str, str]] = {}
    rows: dict[str, Any] = {}
    chains: dict[str, _Chain] = {}
    findings: list[str] = []
    count = 0
    wanted = _heads_before(before)
    for kind, one in records:
        if kind != "entry" and one["name"] in (datasets if kind == "dataset" else rows):
            findings.append(f"{_WORDS[kind]} {one['name']!r}: it is there twice")
        elif kind == "dataset":
            datasets[one["name"]] = (one["hash"], _dataset_trouble(one, findings))
        elif kind == "account":
            rows[one["name"]] = one
            chains[one["name"]] = _Chain(one["name"])
        else:
            count += 1
            if one.account not in chains:
                findings.append(f"entry {one.seq} of {one.account!r}: there is no such account")
                continue
            _entry(chains[one.account], one, datasets, findings)
    for name, chain in chains.items():
        _closing(chain, rows[name], findings)
        if name in wanted:
            _published(chain, wanted[name], findings)
    findings += [f"account {name!r}: it is missing, though its head was published" for name in wanted if name not in chains]
    _together(chains, findings)
    if findings:
        shown = "\n  ".join(findings[:_MOST])
        more = f"\n  and {len(findings) - _MOST} more" if len(findings) > _MOST else ""
        error = Tampered(f"the ledger is not what was written:\n  {shown}{more}")
        error.findings = tuple(findings)
        raise error
    ends = heads({name: (chain.seq, chain.head) for name, chain in chains.items()})
    return Verified(len(chains), count, ends["digest"])


def _heads_before(before: Mapping[str, Any] | None) -> dict[str, Any]:
    if before is None:
        return {}
    accounts = before.get("accounts") if isinstance(before, Mapping) else None
    if not isinstance(accounts, Mapping) or before.get("digest") != sha256({"accounts": dict(accounts)}):
        raise BadValue(
            "heads is no answer of `head`, or its digest is not that of its accounts; allowed: what `head` gave, whole."
        )
    for name, one in accounts.items():
        if not isinstance(one, Mapping) or type(one.get("entries")) is not int or not isinstance(one.get("hash"), str):
            raise BadValue(f"heads has {one!r} for {name!r}; allowed: what `head` gave, whole.")
    return dict(accounts)


def _dataset_trouble(one: dict[str, Any], findings: list[str]) -> str:
    trouble = ""
    try:
        said = parsed(one["body"])
        if sha256(one["body"]) != one["hash"]:
            trouble = "its text is not the one that was written"
        elif said.get("name") != one["name"]:
            trouble = "its text is that of another one"
    except BadValue as error:
        trouble = str(error)
    if trouble:
        findings.append(f"data set {one['name']!r}: {trouble}")
    return trouble


def _entry(chain: _Chain, one: Entry, datasets: dict[str, tuple[str, str]], findings: list[str]) -> None:
    """One more entry of an account."""
    where = f"entry {one.seq} of {one.account!r}"
    if one.seq != chain.seq + 1:
        gone = f"entry {chain.seq + 1}" if one.seq == chain.seq + 2 else f"entries {chain.seq + 1} to {one.seq - 1}"
        findings.append(f"{where}: {gone} before it {'is' if one.seq == chain.seq + 2 else 'are'} missing")
        chain.broken = True
    try:
        computed = digest(one.previous, one.body)
    except UnicodeEncodeError:
        computed = ""
    said: dict[str, Any] | None = None
    if computed != one.hash:
        findings.append(f"{where}: its text, its hash or the hash before it is not the one that was written")
    else:
        if one.previous != chain.head:
            findings.append(f"{where}: it does not follow the entry before it (another one was there)")
        try:
            said = parsed(one.body)
        except BadValue as error:
            findings.append(f"{where}: {error}")
    if said is not None and (wrong := _columns(one, said)):
        findings.append(f"{where}: {', '.join(wrong)} beside the text is not what the text says")
    chain.seq, chain.head = one.seq, one.hash
    chain.hashes[one.seq] = one.hash
    if one.key is not None:
        if one.key in chain.keys:
            findings.append(f"{where}: its key {one.key!r} was used before")
        chain.keys.add(one.key)
    if said is None:
        chain.broken = True
    elif not chain.broken:
        _follow(chain, one, said, where, datasets, findings)


def _columns(one: Entry, said: dict[str, Any]) -> list[str]:
    named = {
        "account": one.account,
        "seq": one.seq,
        "kind": one.kind,
        "key": one.key,
        "request": one.request,
        "settles": one.settles,
    }
    return [name for name, value in named.items() if said.get(name) != value]


def _follow(
    chain: _Chain, one: Entry, said: dict[str, Any], where: str, datasets: dict[str, tuple[str, str]], findings: list[str]
) -> None:
    """The rules of the account: the state behind this entry."""
    try:
        chain.state = opened(one.seq, said) if chain.state is None else chain.state.after(one.seq, said)
    except (HockeystickError, KeyError, TypeError, AttributeError, ValueError) as error:
        findings.append(f"{where}: it may not stand here: {error}")
        chain.broken = True
        return
    if "dataset_hash" in said:
        known, _ = datasets.get(chain.state.terms.dataset, ("", ""))
        if known != said["dataset_hash"]:
            findings.append(f"{where}: the data set {chain.state.terms.dataset!r} is not the one that it was opened for")
    if said.get("with") and one.key is not None:
        chain.shared[one.key] = tuple(said["with"])


def _closing(chain: _Chain, row: Any, findings: list[str]) -> None:
    """The row of the account against its entries."""
    name = chain.name
    if not chain.seq and not row["seq"]:
        findings.append(f"account {name!r}: it has no entries, not even the one that opened it")
    elif chain.seq < row["seq"]:
        gone = f"entry {row['seq']}" if chain.seq + 1 == row["seq"] else f"entries {chain.seq + 1} to {row['seq']}"
        findings.append(f"{gone} of {name!r}: removed from the end")
    elif chain.seq > row["seq"]:
        more = f"entry {chain.seq}" if chain.seq == row["seq"] + 1 else f"entries {row['seq'] + 1} to {chain.seq}"
        findings.append(f"{more} of {name!r}: added behind the last entry of the account")
    elif chain.head != row["head"]:
        findings.append(f"entry {chain.seq} of {name!r}: its hash is not the one that the account ends with")
    if chain.broken or chain.state is None:
        return
    if chain.seq == row["seq"] and text(chain.state.said()) != row["totals"].encode("utf-8", "replace"):
        findings.append(f"account {name!r}: its totals are not the sums of its {chain.seq} entries")
    if chain.state.terms.dataset != row["dataset"]:
        findings.append(f"account {name!r}: it is of the data set {chain.state.terms.dataset!r}, not {row['dataset']!r}")


def _published(chain: _Chain, wanted: Any, findings: list[str]) -> None:
    found = chain.hashes.get(wanted["entries"])
    if found is None:
        findings.append(f"account {chain.name!r}: {wanted['entries']} entries were published, and {chain.seq} are there")
    elif found != wanted["hash"]:
        findings.append(f"entry {wanted['entries']} of {chain.name!r}: its hash is not the one that was published")


def _together(chains: dict[str, _Chain], findings: list[str]) -> None:
    """A release over several accounts stands in all of them."""
    for name, chain in chains.items():
        for key, others in chain.shared.items():
            for other in others:
                there = chains.get(other)
                if there is None or (key not in there.shared and not there.broken):
                    findings.append(
                        f"the release {key!r} of {name!r}: it is missing in {other!r}, which was charged together with it"
                    )
