"""Releases and both ends of an answer as small tables for notebooks."""

from collections.abc import Sequence
from html import escape
from typing import Any

from ..mechanism.training import Training
from .numbers import down_text, up_text
from .words import neighbouring, parts

_TABLE = '<table style="border-collapse: collapse; text-align: left">'
_CELL = '<td style="text-align: left; padding: 0.15em 1.2em 0.15em 0">'
_MOST = 20  # entries of an array


def release_html(release: Any) -> str:
    """What is released, how often and on which sample, and what its questions are about."""
    rows: list[tuple[str, ...]] = [("uses", "what", "sample")]
    rows += [(f"{one.uses:,}", one.words, one.sampler) for one in parts(release)]
    notes = release.notes if isinstance(release, Training) else ()
    relation = f"Neighbours: {neighbouring(release, release.stated)} ({release.stated})."
    said = [*(note for note in notes if not note.startswith("Neighbours:")), relation]
    ask = "Ask for .epsilon(delta=...), .report(delta=...) or .plot(delta=...)."
    code = f"<code>{escape(repr(release))}</code>"
    return f"<div>{code}{_table(rows)}<p>{'<br>'.join(map(escape, [*said, ask]))}</p></div>"


def bounds_html(bounds: Any) -> str:
    """Both ends, rounded outwards; of an array the first entries."""
    if not hasattr(bounds.lower, "ravel"):
        listed, more = [(float(bounds.lower), float(bounds.upper))], ""
    else:
        every = list(zip(bounds.lower.ravel().tolist(), bounds.upper.ravel().tolist(), strict=True))
        listed, more = every[:_MOST], f" The first {_MOST} of {len(every):,}." if len(every) > _MOST else ""
    tight = "Some mechanism attains the truth." if bounds.tight else "The upper end may be more than is needed."
    rows = [("at least", "at most"), *((down_text(low, 10), up_text(high, 10)) for low, high in listed)]
    return f"<div>{_table(rows)}<p>{tight}{more}</p></div>"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    head, *body = rows
    cells = "".join(f"<tr>{''.join(f'{_CELL}{escape(one)}</td>' for one in row)}</tr>" for row in body)
    titles = "".join(f"{_CELL}<b>{escape(one)}</b></td>" for one in head)
    return f"{_TABLE}<tr>{titles}</tr>{cells}</table>"
