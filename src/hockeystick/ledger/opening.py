"""Accounts are opened and amended: the reserve that a promise leaves beside the plan; the charge of a part to the whole."""

from typing import Any

from ..checks import non_negative, probability
from ..errors import BadValue
from ..filters import largest_reserve
from ..filters.amounts import LARGEST, share, written
from . import datasets, terms
from .book import Book, Page, first
from .chain.entries import Entry
from .refusal import refused
from .state import part_charge
from .storage.store import accounts_of, by_key
from .terms import Terms


def promised(found: datasets.Dataset, given: dict[str, Any], version: int = 1) -> Terms:
    """The terms as they are given, and the reserve that they leave.

    Raises
    ------
    Unreachable
        If the plan alone is more than is promised.
    """
    plan = terms.lines(given["plan"])
    opens, closes = terms.moment("opens", given["opens"]), terms.moment("closes", given["closes"])
    if opens is not None and closes is not None and opens >= closes:
        raise BadValue(f"opens is {opens} and closes {closes}; allowed: a period that begins before it ends.")
    _within(found, given["within"])
    epsilon, delta = non_negative("epsilon", given["epsilon"]), probability("delta", given["delta"])
    if delta >= 1.0:
        raise BadValue("delta is 1.0; allowed: a probability from 0 to below 1 (a delta of 1 promises nothing).")
    kinds = {"kind": given["reserve"], "order": given["order"], "neighbours": found.neighbours}
    return Terms(
        found.name,
        epsilon,
        delta,
        largest_reserve(epsilon, delta, terms.planned(plan), given["slack"], **kinds),
        plan,
        opens,
        closes,
        terms.sentence("purpose", given["purpose"]),
        given["within"],
        version,
    )


def _within(found: datasets.Dataset, within: Any) -> None:
    if within is None and found.partition_of is not None:
        raise BadValue(
            f"within is None, and {found.name!r} is a part of {found.partition_of!r}; allowed: the account of "
            f"{found.partition_of!r} that what is released about the part is charged to."
        )
    if within is not None and found.partition_of is None:
        raise BadValue(f"within is {within!r}, and {found.name!r} is no part of another data set; allowed: no account.")
    if within is not None:
        terms.word("within", within)


def open_account(book: Book, name: str, dataset: str, given: dict[str, Any], actor: str) -> None:
    """Writes the first entry of an account; of an account on a part also what the whole is charged.

    Raises
    ------
    BadValue
        If there is an account of this name, or the terms are not allowed.
    OverBudget
        If the plan does not fit the promise, or the part not the account of the whole.
    """
    with book.store.reading() as connection:
        found = datasets.get(connection, terms.word("dataset", dataset))
    made = promised(found, given)

    def work(page: Page) -> Entry:
        if accounts_of(page.connection, [name]):
            raise BadValue(f"there is an account {name!r} already; allowed: another name, or `amend`.")
        page.expire()
        if made.within is not None:
            _charge_whole(page, name, made, found, actor)
        said = {"kind": "open", "key": None, "actor": actor, "time": page.time, "terms": made.said(), "dataset_hash": found.hash}
        return first(page.connection, name, said)

    book.locked([] if made.within is None else [made.within], work)


def _charge_whole(page: Page, name: str, made: Terms, found: datasets.Dataset, actor: str) -> None:
    """What the worst of the parts may take is taken of the account of the whole, once and beforehand."""
    state = page.states[made.within or ""]
    whole = state.terms
    if whole.dataset != found.partition_of:
        raise BadValue(
            f"within is {made.within!r}, an account of {whole.dataset!r}; allowed: one of {found.partition_of!r}, of which "
            f"{found.name!r} is a part."
        )
    amounts = _part_price(whole, made)
    wanted = part_charge(state, name, [*amounts, found.name, found.key])
    if lacking := state.lacks(wanted):
        words = f"{made.within!r} has too little left of {' and of '.join(lacking)} for the part {name!r}"
        raise refused(words, made.within or "", state, wanted, wanted)
    key = f"part {name}, version {made.version}"
    while by_key(page.connection, key, [made.within or ""]):  # somebody chose these words as the key of a release
        key += "'"
    said = {"kind": "commit", "key": key, "request": None, "actor": actor, "token": ""}
    part = {"account": name, "reserve": amounts[0], "slack": amounts[1], "dataset": found.name, "key": found.key}
    page.add(made.within or "", {**said, "charge": wanted.said(), "what": {"part": name}, "with": [], "part": part})


def _part_price(whole: Terms, part: Terms) -> list[int]:
    """The units that a part takes of the account of the whole: those of its promise, its plan and reserve as one release.

    For a record of the part, what is released of the part is dominated by plan and reserve together up to the slack (Lemma 62);
    that is dominated by what it is priced as, and the slacks add up.
    """
    if part.reserve.kind != whole.reserve.kind or part.reserve.kind == "renyi":
        raise BadValue(
            f"reserve is {part.reserve.kind!r}, and that of the account of the whole {whole.reserve.kind!r}; allowed: the same, "
            "'gdp' or 'pure'."
        )
    price = whole.reserve.price(part.reserve._with_reserve(part.planned, part.reserve._covered_limit))
    return [price.amount, min(LARGEST, price.slack + share(part.reserve.slack, whole.reserve.slack))]


def amend(book: Book, name: str, changes: dict[str, Any], actor: str, reason: str) -> None:
    """A new version of the terms; what was taken stays taken.

    Raises
    ------
    BadValue
        If the new terms promise less than was taken, or change what may not change.
    """
    state, row = book.state(name)
    with book.store.reading() as connection:
        found = datasets.get(connection, row.dataset)
    old = state.terms
    plan = [(line.name, line.release, line.count) for line in old.plan]
    kept: dict[str, Any] = {key: getattr(old, key) for key in ("epsilon", "delta", "opens", "closes", "purpose", "within")}
    kept |= {"reserve": old.reserve.kind, "order": old.reserve.order, "slack": written(old.reserve.slack), "plan": plan}
    if "delta" in changes:
        kept["slack"] = None  # a tenth again
    made = promised(found, {**kept, **changes}, old.version + 1)

    def work(page: Page) -> Entry:
        page.expire()
        if page.states[name].terms.version != old.version:
            raise BadValue(f"{name!r} was amended by somebody else meanwhile; look at it and try again.")
        if made.within is not None:
            _charge_whole(page, name, made, found, actor)
        said = {"kind": "amend", "actor": actor, "terms": made.said(), "dataset_hash": found.hash, "reason": reason}
        return page.add(name, said)

    book.locked([name, *([] if made.within is None else [made.within])], work)
