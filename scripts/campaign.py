"""The truth check on as many random inputs as time allows: `make campaign`, or

    python scripts/campaign.py                          until the goals are reached; interrupt and start again as you like
    python scripts/campaign.py contour mu --minutes 30  these kinds only, for so long
    python scripts/campaign.py --workers 2              on so many cores
    python scripts/campaign.py --runs 100 --fresh       so many of each kind, from the start, nothing kept
    python scripts/campaign.py --again                  what was violated, once more: what holds now counts as fixed
    python scripts/campaign.py --publish                writes bench/results/campaign.json, from which docs/accuracy.md is made

Kinds: closed (conversions and closed forms), order (the order of the bounds), contour (DP-SGD, mixed or not), lattice (every
mechanism and claim), mu (mu and trade-off curves).  Corners come first (scripts/corners.py).  Every input has a seed of its
own, so that number 4711 of a kind can be tried again alone: `--only closed 4711`.  The state is one file; what was violated,
undecided or slow is appended to another beside it.  It ends with 1 if anything was ever violated.
"""

import argparse
import collections
import hashlib
import json
import math
import multiprocessing
import os
import random
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

import claims  # noqa: E402
import closed  # noqa: E402
import corners  # noqa: E402
import exact  # noqa: E402
import hockeystick as hs  # noqa: E402
import soundness  # noqa: E402
import truth  # noqa: E402
import truth_all  # noqa: E402
import truth_mu  # noqa: E402
from progress import bar  # noqa: E402

PUBLISHED = ROOT / "bench" / "results" / "campaign.json"
STATE = ROOT / ".campaign" / "state.json"
LIMIT = 120.0  # seconds of the processor for one input
KEPT = 3  # widest intervals of a kind
Case = dict[str, Any]


@dataclass
class Found:
    """What became of one input: a verdict for each comparison, and the interval of epsilon, if it is that of one pair."""

    case: Case
    verdicts: list[str]
    bounds: hs.Bounds | None = None
    note: str = ""


def _closed(rng: random.Random, corner: bool) -> Found:
    rows = list(rng.choice(closed.CHECKS)(rng, corner))
    bad = [case for case, verdict in rows if verdict != "holds"]
    both = [case["found"] for case, _ in rows if case["ask"] == "epsilon_bounds"]
    return Found((bad or [rows[0][0]])[0], [verdict for _, verdict in rows], hs.Bounds(*both[0]) if both else None)


def _order(rng: random.Random, corner: bool) -> Found:
    kind = rng.choice(list(soundness.KINDS))
    wrong = soundness.KINDS[kind](rng)
    return Found({"kind": kind}, ["violated"] * len(wrong) or ["holds"], note="; ".join(wrong[:3]))


def _contour(rng: random.Random, corner: bool) -> Found:
    case = corners.training(rng, corner)
    verdict, bounds = truth.verdict(case)
    if verdict == "undecided" and case["delta"] > 1e-80 and case["steps"] <= 10**5 and not {"gaussians", "laplaces"} & set(case):
        listed = _listed(case)
        verdict = truth_all.verdict_epsilon(listed, bounds, truth_all.Truth(listed, case["delta"] / 10))
    return Found(case, [verdict], bounds)


def _listed(case: Case) -> Case:
    """The same run for the oracle that uses no contour: a sandwich, which is wider but decides more."""
    parts = [{"kind": "gaussian", "sigma": case["sigma"], "sensitivity": 1.0, "rate": case["rate"], "count": case["steps"]}]
    if "laplace" in case:
        parts.append({"kind": "laplace", "scale": case["laplace"][0], "sensitivity": 1.0, "count": case["laplace"][1]})
    if "gaussian" in case:
        parts.append({"kind": "gaussian", "sigma": case["gaussian"], "sensitivity": 1.0, "count": 1})
    return {"delta": case["delta"], "parts": parts}


def _lattice(rng: random.Random, corner: bool) -> Found:
    if corner and rng.random() < 0.06:
        case = claims.random_case(rng)
        verdict, bounds = claims.verdict(case)
        return Found(case, [verdict], bounds)
    case = corners.mechanisms(rng, corner)
    first, second, bounds, known = truth_all.examined(case)
    verdicts = [one if not one.startswith("order") else "violated" for one in (first, second) if one != "none"]
    return Found(case, verdicts, bounds if known is not None else None, f"{first}, {second}")


def _mu(rng: random.Random, corner: bool) -> Found:
    case = corners.guarantees(rng, corner)
    bad, counts = truth_mu.judged(case, rng)
    return Found(case, ["holds"] * counts[0] + ["undecided"] * counts[1] + ["violated"] * len(bad), note="; ".join(bad[:3]))


@dataclass(frozen=True)
class Kind:
    """How many inputs are wanted, how many corners come first, and how one is judged."""

    goal: int
    first: int
    judge: Callable[[random.Random, bool], Found]


KINDS = {
    "closed": Kind(100_000, 30_000, _closed),
    "order": Kind(10_000, 0, _order),
    "contour": Kind(10_000, 2_500, _contour),
    "lattice": Kind(2_000, 600, _lattice),
    "mu": Kind(500, 150, _mu),
}


class TooLong(Exception):
    """An input took longer than its limit."""


def _alarm(*_: object) -> None:
    raise TooLong


def _stop(*_: object) -> None:
    raise KeyboardInterrupt


def examined(kind: str, seed: int, place: int, kinds: dict[str, Kind] = KINDS, limit: float = LIMIT) -> Found:
    """One input, by its number."""
    corner = place < kinds[kind].first or place % 4 == 0
    rng = random.Random(f"{seed} {kind} {place}")
    before = signal.signal(signal.SIGVTALRM, _alarm)  # not the clock's time: the machine may be busy
    signal.setitimer(signal.ITIMER_VIRTUAL, limit)
    try:
        return kinds[kind].judge(rng, corner)
    except exact.TooLarge:
        return Found({}, ["no oracle"])
    except TooLong:
        return Found({}, ["too long"], note=f"more than {limit:g} s")
    except Exception as error:  # nothing may be raised for a valid input: as bad as a violation, unless it is the oracle's own
        places = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        ours = any(Path(hs.__file__).parent in Path(place).parents for place in places)
        return Found({}, ["failed" if ours else "no oracle"], note=f"{type(error).__name__}: {error} ({places[-1]})")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


def timed(kind: str, seed: int, place: int, kinds: dict[str, Kind] = KINDS) -> tuple[Found, float]:
    """The same, and the seconds of the processor that it took."""
    start = time.process_time()
    found = examined(kind, seed, place, kinds)
    return found, time.process_time() - start


def _obedient() -> None:
    """Of a worker: its master alone ends it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


class Workers:
    """Other processes, which examine the next few inputs of each kind before they are asked for."""

    def __init__(self, count: int, seed: int) -> None:
        self.count, self.seed = count, seed
        self.pool = multiprocessing.Pool(count, initializer=_obedient)
        self.ahead: dict[str, collections.deque[Any]] = collections.defaultdict(collections.deque)

    def __call__(self, kind: str, place: int) -> tuple[Found, float]:
        ahead = self.ahead[kind]
        while len(ahead) <= 2 * self.count:
            ahead.append(self.pool.apply_async(timed, (kind, self.seed, place + len(ahead))))
        found: tuple[Found, float] = ahead.popleft().get()
        return found

    def stop(self) -> None:
        self.pool.terminate()


@dataclass
class Tally:
    """What is known of one kind."""

    next: int = 0
    inputs: dict[str, int] = field(default_factory=dict)  # by the worst verdict
    comparisons: dict[str, int] = field(default_factory=dict)
    decades: dict[str, int] = field(default_factory=dict)  # of the relative width of epsilon's interval
    widest: list[list[Any]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def decided(self) -> int:
        return sum(self.inputs.get(one, 0) for one in ("holds", "consistent", "violated", "failed"))

    def add(self, place: int, found: Found, took: float) -> str:
        """Count it; its worst verdict."""
        worst = min(found.verdicts, key=_ranked, default="undecided")
        if worst == "undecided" and "holds" in found.verdicts:
            worst = "holds"  # some of its comparisons were decided; the others are counted as undecided below
        self.next, self.seconds = place + 1, self.seconds + took
        self.inputs[worst] = self.inputs.get(worst, 0) + 1
        for one in found.verdicts:
            self.comparisons[one] = self.comparisons.get(one, 0) + 1
        if found.bounds is not None and 0.0 < found.bounds.upper < math.inf:
            wide = found.bounds.width / found.bounds.upper
            decade = f"1e{max(-16, math.ceil(math.log10(wide)))}" if wide > 0.0 else "0"
            self.decades[decade] = self.decades.get(decade, 0) + 1
            self.widest.append([wide, found.bounds.lower, found.bounds.upper, place, found.case])
            self.widest.sort(key=lambda row: -row[0])
            del self.widest[KEPT:]
        return worst


_WORST = ("failed", "violated", "too long", "undecided", "no oracle", "consistent", "holds")


def _ranked(verdict: str) -> int:
    return _WORST.index(verdict)


@dataclass
class Campaign:
    """The state: a seed, a tally of each kind, how many inputs each version of the library answered."""

    seed: int
    tallies: dict[str, Tally]
    sources: dict[str, int] = field(default_factory=dict)
    fixed: list[Case] = field(default_factory=list)  # what was violated once and holds now

    @classmethod
    def load(cls, path: Path | None, seed: int, kinds: dict[str, Kind] = KINDS) -> "Campaign":
        """Go on from a file, or begin."""
        if path is None or not path.exists():
            return cls(seed, {kind: Tally() for kind in kinds})
        known = json.loads(path.read_text(encoding="utf-8"))
        tallies = {kind: Tally(**known["tallies"].get(kind, {})) for kind in kinds}
        return cls(known["seed"], tallies, known["sources"], known.get("fixed", []))

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(self.summary(), indent=1) + "\n", encoding="utf-8")
        draft.replace(path)

    def summary(self) -> Case:
        goals = {kind: KINDS[kind].goal for kind in self.tallies if kind in KINDS}
        tallies = {kind: vars(one) for kind, one in self.tallies.items()}
        return {"seed": self.seed, "sources": self.sources, "goals": goals, "tallies": tallies, "fixed": self.fixed}

    @property
    def violations(self) -> int:
        return sum(one.inputs.get(bad, 0) for one in self.tallies.values() for bad in ("violated", "failed"))


def source() -> str:
    """A short name of the library's text."""
    digest = hashlib.sha256()
    for path in sorted(Path(hs.__file__).parent.rglob("*.[pch]*")):
        if path.suffix not in (".py", ".c", ".h"):
            continue
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def turns(campaign: Campaign, goals: dict[str, int]) -> Iterator[str]:
    """The kind that is furthest from its goal, again and again."""
    while True:
        left = {kind: campaign.tallies[kind].decided / goal for kind, goal in goals.items()}
        kind = min(left, key=lambda one: left[one])
        if left[kind] >= 1.0:
            return
        yield kind


def run(
    campaign: Campaign,
    goals: dict[str, int],
    path: Path | None,
    minutes: float = math.inf,
    kinds: dict[str, Kind] = KINDS,
    workers: Workers | None = None,
) -> None:
    """Until the goals are reached, the time is over or it is interrupted."""
    log = path.with_suffix(".log.jsonl") if path else None
    version, begin, saved = source(), time.monotonic(), time.monotonic()
    try:
        for kind in turns(campaign, goals):
            tally = campaign.tallies[kind]
            place = tally.next
            found, took = workers(kind, place) if workers else timed(kind, campaign.seed, place, kinds)
            worst = tally.add(place, found, took)
            campaign.sources[version] = campaign.sources.get(version, 0) + 1
            if worst not in ("holds", "consistent") or took > 60.0:
                row = {
                    "kind": kind,
                    "place": place,
                    "verdict": worst,
                    "seconds": round(took, 1),
                    "note": found.note,
                    "source": version,
                }
                row |= {"case": found.case, "found": [found.bounds.lower, found.bounds.upper] if found.bounds else None}
                if worst in ("violated", "failed"):
                    print(f"\n{worst.upper()}: {json.dumps(row)}", flush=True)
                if log:
                    log.parent.mkdir(parents=True, exist_ok=True)
                    with log.open("a", encoding="utf-8") as out:
                        out.write(json.dumps(row) + "\n")
            now = time.monotonic()
            done = sum(min(one, campaign.tallies[kind].decided) for kind, one in goals.items())
            bar(
                done,
                sum(goals.values()),
                ", ".join(f"{k} {campaign.tallies[k].decided}" for k in goals) + f"; {campaign.violations} bad",
            )
            if path and now - saved > 10.0:
                campaign.save(path)
                saved = now
            if now - begin > 60.0 * minutes:
                break
    except KeyboardInterrupt:
        print("\nInterrupted; start again to go on.", file=sys.stderr)
    if path:
        campaign.save(path)


def again(campaign: Campaign, path: Path) -> None:
    """Examines what was violated or failed once more, and keeps a record of what holds now."""
    log = path.with_suffix(".log.jsonl")
    rows = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()] if log.exists() else []
    known = {(row["kind"], row["place"]) for row in campaign.fixed}
    for row in rows:
        place = row["kind"], row["place"]
        if row["verdict"] not in ("violated", "failed") or place in known:
            continue
        found = examined(row["kind"], campaign.seed, row["place"])
        worst = min(found.verdicts, key=_ranked)
        print(f"{row['kind']} {row['place']}: {row['verdict']}, now {worst}")
        if worst in ("violated", "failed"):
            continue
        tally = campaign.tallies[row["kind"]].inputs
        tally[row["verdict"]] -= 1
        tally[worst] = tally.get(worst, 0) + 1
        campaign.fixed.append({"kind": row["kind"], "place": row["place"], "was": row["verdict"], "case": row["case"]})
        known.add(place)
    campaign.save(path)


def told(campaign: Campaign) -> str:
    """The summary, a line a kind."""
    lines = []
    for kind, tally in campaign.tallies.items():
        counts = collections.Counter(tally.comparisons)
        line = f"{kind:8} {tally.next:7} inputs, {tally.decided} decided; comparisons: {dict(counts)}; {tally.seconds:.0f} s"
        if tally.widest:
            wide, lower, upper, place, _ = tally.widest[0]
            line += f"; widest {wide:.1e} (number {place}: {lower!r} to {upper!r})"
        lines.append(line)
    return "\n".join([*lines, f"violations: {campaign.violations}; found earlier and fixed: {len(campaign.fixed)}"])


def main(words: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("kinds", nargs="*", help=f"some of {', '.join(KINDS)}; all unless told")
    options.add_argument("--state", type=Path, default=STATE, help="the file to go on from and to write")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--minutes", type=float, default=math.inf)
    options.add_argument("--workers", type=int, default=1, help="processes")
    options.add_argument("--runs", type=int, help="so many of each kind instead of the goals")
    options.add_argument("--fresh", action="store_true", help="from the start; nothing is kept")
    options.add_argument("--again", action="store_true", help="examine what was violated once more, and end")
    options.add_argument("--publish", action="store_true", help="write the summary that the documents are made from, and end")
    options.add_argument("--only", nargs=2, metavar=("KIND", "NUMBER"), help="this input alone")
    chosen = options.parse_args(words)
    if unknown := set(chosen.kinds) - set(KINDS):
        options.error(f"unknown kinds {sorted(unknown)}; allowed: {', '.join(KINDS)}")
    if chosen.only:
        found = examined(chosen.only[0], chosen.seed, int(chosen.only[1]))
        print(found)
        return int(bool({"violated", "failed"} & set(found.verdicts)))
    path = None if chosen.fresh else chosen.state
    campaign = Campaign.load(path, chosen.seed)
    if chosen.again and path:
        again(campaign, path)
        print(told(campaign))
        return int(campaign.violations > 0)
    if chosen.publish:
        PUBLISHED.parent.mkdir(parents=True, exist_ok=True)
        campaign.save(PUBLISHED)
        print(told(campaign))
        return 0
    for one in (signal.SIGINT, signal.SIGTERM):  # also in the background, where the first is ignored
        signal.signal(one, _stop)
    goals = {kind: chosen.runs or KINDS[kind].goal for kind in (chosen.kinds or KINDS)}
    workers = Workers(chosen.workers, campaign.seed) if chosen.workers > 1 else None
    try:
        run(campaign, goals, path, chosen.minutes, workers=workers)
    finally:
        if workers:
            workers.stop()
    print(told(campaign))
    return int(campaign.violations > 0)


if __name__ == "__main__":
    sys.exit(main())
