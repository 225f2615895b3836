"""Instructions of a fixed script, counted by valgrind, against those on record: no clock is involved.

    python -m bench.instructions            `make bench-check`: ends with 1 if a case needs over 10% more than on record
    python -m bench.instructions --record   writes bench/instructions.json anew

Counts depend on the versions of Python, NumPy and SciPy, on the processor's family and on whether the core was compiled.  They
are kept with the counts; elsewhere nothing is compared.
"""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from hockeystick.native import core

from .harness import ONE_CORE, ROOT

RECORD = Path(__file__).parent / "instructions.json"
MOST = 1.10
COUNTED = "PyRun_SimpleStringFlags"  # PyRun_SimpleString does nothing but call it
Counts = dict[str, int]


def here() -> dict[str, str]:
    """What the counts depend on."""
    versions = {name: version(name) for name in ("numpy", "scipy")}
    return {
        "python": platform.python_version(),
        **versions,
        "machine": platform.machine(),
        "core": "NumPy" if core is None else "C",
    }


def counted(script: Path = ROOT / "bench" / "counted.py") -> list[int]:
    """The instructions of each case, in order."""
    env = {**os.environ, **ONE_CORE, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT / "src")}
    subprocess.run([sys.executable, str(script)], env=env, check=True)  # so that everything is compiled
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "counts"
        options = [
            "--collect-atstart=no",
            f"--toggle-collect={COUNTED}",
            f"--dump-after={COUNTED}",
            f"--callgrind-out-file={out}",
        ]
        subprocess.run(["valgrind", "-q", "--tool=callgrind", *options, sys.executable, str(script)], env=env, check=True)
        return totals(Path(folder))


def totals(folder: Path) -> list[int]:
    """The sums of callgrind's files counts.1, counts.2, ..."""
    files = sorted(folder.glob("counts.*"), key=lambda path: int(path.suffix[1:]))
    found = [re.search(r"^totals: (\d+)", path.read_text(errors="replace"), re.MULTILINE) for path in files]
    return [int(one[1]) for one in found if one is not None]


def compared(found: Counts, record: Counts) -> tuple[list[str], list[str]]:
    """A line for each case, and the names of those that rose too much."""
    lines, risen = [], []
    for name, count in found.items():
        before = record.get(name)
        change = "not on record" if before is None else f"{100.0 * (count / before - 1.0):+.1f}%"
        lines.append(f"{name:30} {count:14,} {change}")
        if before is not None and count > MOST * before:
            risen.append(name)
    return lines, risen


def main(words: list[str]) -> int:
    if shutil.which("valgrind") is None:
        print(
            "valgrind is not installed (Debian, Ubuntu: apt-get install valgrind; Fedora: dnf install valgrind): "
            "nothing was counted."
        )
        return 0
    versions = here()
    record = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {"versions": {}, "counts": {}}
    if "--record" not in words and record["versions"] != versions:
        print(f"The counts on record are those of {record['versions']}; here are {versions}: nothing is compared.")
        return 0
    from .counted import CASES

    print("Counting instructions; this takes some minutes.", flush=True)
    counts = counted()
    if len(counts) != len(CASES) or not all(counts):
        print(
            f"callgrind saw {len(counts)} of {len(CASES)} cases: this Python hides the function {COUNTED}; nothing is compared."
        )
        return 0
    found = dict(zip(CASES, counts, strict=True))
    lines, risen = compared(found, record["counts"])
    print("\n".join(lines))
    if "--record" in words:
        RECORD.write_text(json.dumps({"versions": versions, "counts": found}, indent=1) + "\n", encoding="utf-8")
        print(f"Recorded in {RECORD}.")
        return 0
    if risen:
        print(f"More than 10% above the record: {', '.join(risen)}.  If that is meant: python -m bench.instructions --record")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
