"""One run by all of our engines and by every installed peer: do they agree, and who is off?"""

import math
import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import Literal

from .. import checks
from ..bounds import Bounds
from ..errors import BadType
from ..loss.engines.registry import ENGINES
from ..loss.protocol import Interval
from ..mechanism.release import Release
from ..neighbours import STATED, Relation, Stated, checked
from .engines import Cannot, asked
from .peers import Peer, chosen, finite

Verdict = Literal["agrees", "above", "below", "contradiction", "not asked", "failed"]
_ROUNDING = 1e-9  # so near is as good as equal, for a peer
_CLOSE = 1e-5  # and for a lattice of ours


@dataclass(frozen=True)
class Row:
    """One way of computing epsilon, and what is to be said of it.

    Parameters
    ----------
    name : str
        The engine, or the peer with its version.
    ours : bool
        Whether it is an engine of ours.
    promise : str
        What it promises of its answer.
    lower : float or None
        The lower end, 0 where none is offered; None if it was not asked or failed.
    upper : float or None
        The upper end.
    seconds : float or None
        How long it took.
    verdict : str
        "agrees", "above", "below", "contradiction", "not asked" or "failed".
    words : str
        What is to be said of it.
    why : str
        Why a peer may be off.
    """

    name: str
    ours: bool
    promise: str
    lower: float | None
    upper: float | None
    seconds: float | None
    verdict: Verdict
    words: str
    why: str = ""


@dataclass(frozen=True)
class Crosscheck:
    """What everyone says of one epsilon.

    Parameters
    ----------
    release : Release
        What was asked about.
    delta : float
        Where epsilon was asked.
    neighbours : Relation
        For which relation.
    bounds : Bounds
        Both ends of epsilon, certified.
    rows : tuple of Row
        What each engine and each peer says.
    missing : tuple of str
        The peers that are not installed.
    """

    release: Release
    delta: float
    neighbours: Relation
    bounds: Bounds[float]
    rows: tuple[Row, ...]
    missing: tuple[str, ...]  # peers that are not installed

    @property
    def consistent(self) -> bool:
        """Whether all of our own intervals have a number in common; if not, one of our engines has a bug.

        Returns
        -------
        bool
            False shows a bug of ours.
        """
        ours = [(row.lower, row.upper) for row in self.rows if row.ours and row.lower is not None and row.upper is not None]
        lows, highs = zip((self.bounds.lower, self.bounds.upper), *ours, strict=True)
        return bool(max(lows) <= min(highs))

    @property
    def disagreements(self) -> tuple[Row, ...]:
        """Who is off: peers below the truth or above it, engines of ours in contradiction.

        Returns
        -------
        tuple of Row
            The rows that are off; empty if all agree.
        """
        off = ("above", "below", "contradiction")
        return tuple(row for row in self.rows if row.verdict in off and (row.verdict == "contradiction" or not row.ours))


def crosscheck(
    release: Release, delta: float, neighbours: Relation = STATED, peers: str | Iterable[str | Peer] | None = None
) -> Crosscheck:
    """Epsilon at `delta` by each of our engines alone and by every installed peer, with times and verdicts.

    `peers` chooses: `peers="opacus"`, `peers=["autodp", "riskcal"]`, or `peers=()` for none.

    Parameters
    ----------
    release : Release
        What is asked about.
    delta : float
        Where epsilon is asked, from 0 to 1.
    neighbours : Relation, optional
        The neighbouring relation; by default the one that the release states.
    peers : str or iterable, optional
        Which peers are asked, by name; by default all that are installed.

    Returns
    -------
    Crosscheck
        The answers, and who is off.

    Raises
    ------
    BadType
        If release is no release, delta no number, or peers no names.
    BadValue
        If delta is outside [0, 1], neighbours no relation, or a peer unknown.
    Unsupported
        If no theorem covers a part of the release under this relation.

    Examples
    --------
    >>> import hockeystick as hs
    >>> found = crosscheck(hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000, delta=1e-5, peers=())
    >>> [row.name for row in found.rows if row.verdict == "agrees"], found.consistent
    (['compiled core', 'lattice'], True)
    """
    if not isinstance(release, Release):
        raise BadType(f"release is {release!r}; allowed: a release such as Gaussian(sigma=2.0).")
    delta = checks.probability("delta", delta)
    relation = release.stated if isinstance(neighbours, Stated) else checked(neighbours)
    others = chosen(peers)
    bounds = release.epsilon_bounds(delta, relation)
    run = release._run(relation)
    rows = []
    for name, engine in ENGINES.items():
        rows.append(_row(name, True, "certified", partial(asked, engine, run, delta), bounds))
    missing = []
    for peer in others:
        if not peer.installed:
            missing.append(peer.name)
            continue
        rows.append(_asked(peer, release, delta, relation, bounds))
    return Crosscheck(release, delta, relation, bounds, tuple(rows), tuple(missing))


def _asked(peer: Peer, release: Release, delta: float, relation: Relation, bounds: Bounds[float]) -> Row:
    promise = peer.promise if peer.promise == "no bound" else f"{peer.promise}, but for numerical errors"
    name = f"{peer.name} {peer.version}".rstrip()

    def ask() -> Interval:
        uses = peer.uses(release, relation)
        return finite(peer.ask(uses, delta)) if uses and 0.0 < delta < 1.0 else _nothing()

    with warnings.catch_warnings(), redirect_stdout(StringIO()):
        warnings.simplefilter("ignore")
        try:
            peer.load()
        except Exception as error:
            return Row(name, False, promise, None, None, None, "failed", f"it cannot be imported: {_short(error)}")
        return _row(name, False, promise, ask, bounds, peer)


def _nothing() -> Interval:
    raise Cannot("there is nothing to compute")


def _row(
    name: str, ours: bool, promise: str, ask: Callable[[], Interval], bounds: Bounds[float], peer: Peer | None = None
) -> Row:
    start = time.perf_counter()
    try:
        low, high = ask()
    except Cannot as reason:
        return Row(name, ours, promise, None, None, None, "not asked", f"{reason}")
    except Exception as error:  # a peer's own errors are many; ours are not hidden
        if ours:
            raise
        return Row(name, ours, promise, None, None, time.perf_counter() - start, "failed", _short(error))
    seconds = time.perf_counter() - start
    verdict, words = _own(low, high, bounds) if peer is None else _other(low, high, bounds, peer.promise)
    why = "" if peer is None else {"above": peer.above, "below": peer.below}.get(verdict, "")
    return Row(name, ours, promise, low, high, seconds, verdict, words, why)


def _own(low: float, high: float, bounds: Bounds[float]) -> tuple[Verdict, str]:
    if low > bounds.upper or high < bounds.lower:
        return "contradiction", "it and the joined interval cannot both hold the truth: a bug of ours, please report it"
    if high <= bounds.upper * (1.0 + _CLOSE):
        return "agrees", f"holds the truth, {high - low:.1e} wide"
    return "above", f"{_share(high, bounds.upper)} above: it proves less here"


def _other(low: float, high: float, bounds: Bounds[float], promise: str) -> tuple[Verdict, str]:
    if high < bounds.lower:
        if high >= bounds.lower * (1.0 - _ROUNDING):
            return "agrees", f"to rounding: {_share(bounds.lower, high)} below"
        return "below", f"{_share(bounds.lower, high)} BELOW the truth{'' if promise == 'no bound' else ': no bound'}"
    if low > bounds.upper:
        return "below", f"its lower end is {_share(low, bounds.upper)} ABOVE the truth"
    if high <= bounds.upper * (1.0 + _ROUNDING):
        return "agrees", "with our interval"
    if high == math.inf:
        return "above", "no finite answer"
    if promise == "interval":
        return "agrees", f"its interval, {high - low:.1g} wide, holds the truth"
    return "above", f"{_share(high, bounds.upper)} above the truth"


def _share(more: float, less: float) -> str:
    """How much larger, in words."""
    if less <= 0.0:
        return f"{more:.3g}"
    part = more / less - 1.0
    return f"{100.0 * part:.2g}%" if part >= 1e-4 else f"{part:.0e} (relative)"


def _short(error: BaseException) -> str:
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words[:160]}" if words else type(error).__name__
