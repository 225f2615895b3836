"""Everyone on every case: `make bench`, or

    python -m bench                               all cases, all installed peers
    python -m bench --cases Laplace --peers PLD --rounds 3
    python -m bench --limit 20 --note "A trial on a busy machine."

Writes results.json, report.md and picture.png into a folder (.bench unless told); `--publish` writes those that the documents
are made from (bench/results/bench.json, docs/bench.png, docs/accuracy.png) and makes docs/accuracy.md anew.
"""

import argparse
import contextlib
import datetime
import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from . import page, pictures, report
from .cases import CASES
from .harness import LIMIT, ROOT, ROUNDS, Process, compared, installed
from .peers import OURS, PEERS
from .truths import known
from .verdicts import completed

sys.path.insert(0, str(ROOT / "scripts"))

from progress import bar


def machine() -> str:
    """The processor's name."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def measured(cases: list[Any], peers: list[Any], rounds: int, limit: float) -> dict[str, Any]:
    """All rows, as they come; Ctrl-C keeps what there is."""
    here, missing = installed(peers)
    everyone = [Process(one.name, limit) for one in (OURS, *here)]
    results: dict[str, Any] = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "scipy": version("scipy"),
        "peers": {one.name: {"version": one.version, "kind": one.kind} for one in here},
        "missing": missing,
        "rounds": rounds,
        "limit": limit,
        "cases": {},
    }
    try:
        for place, case in enumerate(cases):
            told = lambda who, place=place, case=case: bar(place, len(cases), f"{case.name}: {who}")  # noqa: E731
            results["cases"][case.name] = {"group": case.group, "rows": compared(case, everyone, rounds, told)}
        bar(len(cases), len(cases), "done")
    except KeyboardInterrupt:
        print("\nInterrupted; what was measured is kept.", file=sys.stderr)
    finally:
        for one in everyone:
            one.stop()
    return results


def main(words: list[str] | None = None) -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--cases", default="", help="only those whose group or name contains this")
    options.add_argument("--peers", default="", help="only those whose name contains this")
    options.add_argument("--rounds", type=int, default=ROUNDS)
    options.add_argument("--limit", type=float, default=LIMIT, help="seconds for one call")
    options.add_argument("--output", type=Path, default=ROOT / ".bench")
    options.add_argument("--note", default="", help="shown with the results")
    options.add_argument("--publish", action="store_true")
    chosen = options.parse_args(words)
    cases = [case for case in CASES if chosen.cases in f"{case.group}: {case.name}"]
    peers = [one for one in PEERS if chosen.peers in one.name]
    if not cases or not peers:
        options.error("no such case or peer")
    truths = known()
    with contextlib.suppress(AttributeError, OSError):  # one core for all of them; not every system can
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    results = measured(cases, peers, chosen.rounds, chosen.limit)
    results["note"] = chosen.note
    completed(results, truths)
    chosen.output.mkdir(parents=True, exist_ok=True)
    (chosen.output / "results.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    text = report.markdown(results)
    (chosen.output / "report.md").write_text(text, encoding="utf-8")
    report.picture(results, chosen.output / "picture.png")
    print(text)
    print(f"Written to {chosen.output}.")
    if chosen.publish:
        page.RESULTS.mkdir(parents=True, exist_ok=True)
        (page.RESULTS / "bench.json").write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        report.picture(results, ROOT / "docs" / "bench.png")
        if set(pictures.SHOWN) <= set(results["cases"]):
            pictures.accuracy(results, pictures.PICTURE)
        page.main()
    return 0


if __name__ == "__main__":
    sys.exit(main())
