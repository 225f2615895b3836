"""Everyone is asked every case, in turn, each in a process of its own that is killed when a call takes too long."""

import json
import math
import os
import selectors
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .cases import Case
from .peers import Peer

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 9
WARM = 1.000101  # the factor of the first call, which is not timed, and about that of the first of each turn
SHORT = 1.0  # seconds: what takes longer is asked once a turn, as caches do not matter
LIMIT = 60.0
ANY = Case("any", "any", (("gaussian", 3.0, 1.0, 1),), 1e-5)
ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Process:
    """A peer in a process; it is started when it is asked."""

    def __init__(self, name: str, limit: float, module: str = "bench.peers") -> None:
        self.name, self.limit, self.module = name, limit, module
        self._running: subprocess.Popen[str] | None = None

    def ask(self, case: Case, factor: float, before: float | None = None) -> dict[str, Any]:
        """Its answer, or {"failed": ...}.  A new process is asked something else first, so that imports are not timed.

        `before` is about the factor of the questions that come at once before this one; the first of them is timed, too.
        """
        if self._running is None and case.ask != "first":
            reply = self._asked(ANY, 1.0, None)
            if self._running is None:
                return reply
        return self._asked(case, factor, before)

    def _asked(self, case: Case, factor: float, before: float | None) -> dict[str, Any]:
        if self._running is None:
            self._running = subprocess.Popen(
                [sys.executable, "-m", "bench.child", self.name, self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                cwd=ROOT,
                env={**os.environ, **ONE_CORE, "PYTHONHASHSEED": "0"},
            )
        process = self._running
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps({"case": case.plain(), "factor": factor, "before": before}) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return self._ended()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            if not waiting.select(self.limit):
                self.stop()
                return {"failed": f"no answer within {self.limit:g} s"}
        line = process.stdout.readline()
        return json.loads(line) if line else self._ended()

    def _ended(self) -> dict[str, Any]:
        code = self._running.wait() if self._running else None
        self.stop()
        return {"failed": f"its process ended with code {code}"}

    def stop(self) -> None:
        """Kill it, if it runs."""
        if self._running is not None:
            self._running.kill()
            self._running.wait()
            for pipe in (self._running.stdin, self._running.stdout):
                if pipe is not None:
                    pipe.close()
            self._running = None


@dataclass
class Row:
    """What one peer did with one case."""

    seconds: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)  # of the first question of each turn, which is not the one compared
    answers: list[list[float]] = field(default_factory=list)  # of the case itself, not moved
    failed: str = ""
    skipped: str = ""
    rounds: int = ROUNDS
    short: bool = False

    def take(self, reply: dict[str, Any], first: bool) -> None:
        """Note an answer."""
        if "skipped" in reply:
            self.skipped = reply["skipped"]
        elif "failed" in reply:
            self.failed = reply["failed"]
        else:
            self.seconds.append(reply["seconds"])
            self.cold.append(reply["cold"])
            if first:
                self.answers = [[float(x) for x in ends] for ends in reply["answers"]]
                if any(math.isnan(x) for ends in self.answers for x in ends):
                    self.failed = "it answers with no number (nan)"

    @property
    def over(self) -> bool:
        return bool(self.failed or self.skipped) or len(self.seconds) >= self.rounds

    def plain(self) -> dict[str, Any]:
        if self.failed or self.skipped:
            return {"failed": self.failed} if self.failed else {"skipped": self.skipped}
        return {
            "seconds": statistics.median(self.seconds),
            "cold": statistics.median(self.cold),
            "rounds": len(self.seconds),
            "answers": [[repr(x) for x in ends] for ends in self.answers],
        }


def fewer(rounds: int, seconds: float) -> int:
    """How often a call of so many seconds is repeated."""
    return rounds if seconds < 1.0 else min(rounds, 3) if seconds < 5.0 else 1


def compared(
    case: Case, everyone: Sequence[Process], rounds: int = ROUNDS, told: Callable[[str], None] = lambda _: None
) -> dict[str, dict[str, Any]]:
    """Every row of a case, the first of `everyone` being ourselves.

    All are warmed up on other numbers; then they take turns, with numbers that none of them has seen.  In each turn, unless
    they take long, others come before the one that is compared; the first of them finds the caches as the other processes left
    them.  First calls are those of new processes.
    """
    rows = {one.name: Row(rounds=rounds) for one in everyone}
    for one in everyone:
        told(one.name)
        if case.ask == "first":
            continue
        reply = one.ask(case, WARM)
        row = rows[one.name]
        if "answers" in reply:
            row.rounds, row.short = fewer(rounds, reply["seconds"]), reply["seconds"] < SHORT
        else:
            row.take(reply, False)
    for turn in range(rounds):
        for one in everyone:
            row = rows[one.name]
            if row.over:
                continue
            told(f"{one.name}, round {turn + 1}")
            if case.ask == "first":
                one.stop()
            reply = one.ask(case, 1.0 + 1e-6 * turn, WARM + 1e-6 * (turn + 1) if row.short else None)
            row.take(reply, turn == 0)
            if case.ask == "first" and turn == 0 and "seconds" in reply:
                row.rounds = fewer(rounds, reply["seconds"])
    return {name: row.plain() for name, row in rows.items()}


def installed(peers: Sequence[Peer]) -> tuple[list[Peer], list[str]]:
    """Those that are there, and the names of the others."""
    return [one for one in peers if one.version], [one.name for one in peers if not one.version]
