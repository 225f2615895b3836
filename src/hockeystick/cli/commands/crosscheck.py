"""`hockeystick crosscheck`: do others agree?"""

from typing import Annotated, Any

import typer

from ... import __version__
from ...errors import BadValue
from ...interop.agreement import Crosscheck, Row
from ...interop.agreement import crosscheck as checked
from ...interop.peers import PEERS, chosen
from ...report.numbers import down_text, given, up_text
from .. import show
from ..failure import Disagreement
from ..files import run_of
from ..options import Delta, Json, Neighbours, Run, at_delta, relation

_NAMES = tuple(dict.fromkeys(peer.package for peer in PEERS))


def crosscheck(
    run: Run = None,
    delta: Delta = None,
    neighbours: Neighbours = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(help=f"Ask these peers only: {', '.join(_NAMES)}, or none; several may be given.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """One run by all of our engines and by every installed peer: epsilons, times, who is off and why.

    Peers are asked at their defaults; some take minutes, or much memory, where there are many steps: choose with --peer.

    Example: hockeystick crosscheck 'Gaussian(sigma=1.1).poisson(rate=0.01) * 1000' --delta 1e-5 --peer none
    """
    release, settings = run_of(run or [], neighbours, delta)
    named = None if peer is None else [one for one in peer if one != "none"]
    try:
        peers = chosen(named)
    except BadValue as error:
        raise BadValue(f"--{str(error).replace('peers has', 'peer is').removesuffix('.')}, none.") from None
    found = checked(release, at_delta(delta, settings), relation(neighbours, settings), peers)
    remedies = tuple(dict.fromkeys(one.remedy for one in peers if not one.installed))
    if json:
        show.machine(_data(found))
    else:
        _print(found, remedies)
    if not found.consistent:
        raise Disagreement("our own engines contradict each other; please report this run.")
    if named and all(row.ours or row.upper is None for row in found.rows):
        why = [f"{row.name}: {row.words}" for row in found.rows if not row.ours]
        why += [f"{', '.join(found.missing)}: not installed; {', '.join(remedies)}"] if remedies else []
        raise BadValue(f"nothing was compared with {', '.join(named)}.  {'; '.join(why)}.")


def _data(found: Crosscheck) -> dict[str, Any]:
    return {
        "release": repr(found.release),
        "delta": found.delta,
        "neighbours": found.neighbours,
        "epsilon": found.bounds.upper,
        "epsilon_lower": found.bounds.lower,
        "consistent": found.consistent,
        "rows": [
            {
                "name": row.name,
                "ours": row.ours,
                "promise": row.promise,
                "lower": row.lower,
                "epsilon": row.upper,
                "seconds": row.seconds,
                "verdict": row.verdict,
                "words": row.words,
                "why": row.why,
            }
            for row in found.rows
        ],
        "not_installed": list(found.missing),
        "version": __version__,
    }


def _print(found: Crosscheck, remedies: tuple[str, ...]) -> None:
    joined = ("hockeystick", up_text(found.bounds.upper, 9), "", "certified", f"at least {down_text(found.bounds.lower, 9)}")
    answered = [_cells(row) for row in found.rows if row.verdict != "not asked"]
    title = f"{found.release!r} at delta = {given(found.delta)}, {found.neighbours}"
    show.table(title, ("by", "epsilon", "time", "what is proved", "verdict"), [joined, *answered])
    reasons: dict[str, list[str]] = {}
    for row in found.disagreements:
        reasons.setdefault(f"{row.verdict}: {row.why or row.words}", []).append(row.name)
    _section("Why they are off", [f"{', '.join(names)} {reason}." for reason, names in reasons.items()])
    _section("Not asked", [f"{row.name}: {row.words}." for row in found.rows if row.verdict == "not asked"])
    _section("Not installed", [f"{', '.join(found.missing)}.", *remedies] if found.missing else [])


def _section(title: str, found: list[str]) -> None:
    if found:
        show.lines("\n".join([f"\n{title}", *(f"  {one}" for one in found)]))


def _cells(row: Row) -> tuple[str, ...]:
    name = f"  {row.name}" if row.ours else row.name
    if row.upper is None:
        value, verdict = "failed", row.words
    else:
        value, verdict = up_text(row.upper, 8), row.words
        if row.lower and not row.ours:
            value = f"{down_text(row.lower, 5)} to {up_text(row.upper, 5)}"
    seconds = "" if row.seconds is None else f"{row.seconds:.1f} s" if row.seconds >= 1.0 else f"{1e3 * row.seconds:.1f} ms"
    return name, value, seconds, row.promise, verdict
