"""Random runs against ball arithmetic: does every interval hold the truth?

    python scripts/truth.py                 a hundred random runs, with a progress bar
    python scripts/truth.py --runs 1000 --seed 7
    python scripts/truth.py --store         makes tests/data/truth.json anew (the fixed hundred of the test suite)

A run is undecided where the oracle's own integral does not converge within its nodes; it is counted as such.
"""

import argparse
import json
import math
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import hockeystick as hs  # noqa: E402
import oracle  # noqa: E402
from cases import built  # noqa: E402
from hockeystick.loss.contour import Saddle  # noqa: E402

STORED = ROOT / "tests" / "data" / "truth.json"
ORDERS = ("remove", "add")


def random_case(rng: random.Random) -> dict[str, object]:
    """q from 1e-6 to 1, sigma from 0.3 to 100, T from 1 to 1e9, mixed with Laplace and Gaussian parts, delta to 1e-100."""
    case: dict[str, object] = {
        "rate": 10 ** rng.uniform(-6, 0),
        "sigma": 10 ** rng.uniform(math.log10(0.3), 2),
        "steps": int(10 ** rng.uniform(0, 9)),
        "delta": 10 ** (rng.uniform(-100, -1) if rng.random() < 0.5 else rng.uniform(-12, -1)),
    }
    if rng.random() < 0.3:
        case["laplace"] = [10 ** rng.uniform(-0.5, 2), int(10 ** rng.uniform(0, 4))]
    if rng.random() < 0.3:
        case["gaussian"] = 10 ** rng.uniform(0, 2)
    return case


def parts(case: dict[str, object], order: str) -> list[oracle.Part]:
    """The same for the oracle."""
    found = [oracle.Part(order, case["sigma"], case["rate"], case["steps"])]
    if "laplace" in case:
        scale, count = case["laplace"]
        found.append(oracle.Part("laplace", 1.0 / scale, 0.0, count))
    if "gaussian" in case:
        found.append(oracle.Part("gaussian", 1.0 / case["gaussian"], 0.0, 1))
    return found


def contour(case: dict[str, object], order: str, epsilon: float) -> oracle.Contour:
    """The oracle near an epsilon (the library only says where to look)."""
    hint = Saddle.of_epsilon(built(case)._run(order), epsilon)
    return oracle.Contour(parts(case, order), epsilon, hint.c, hint.width, hint.log_delta)


def verdict(case: dict[str, object]) -> str:
    """'holds', 'violated' or 'undecided': delta(lower) >= delta >= delta(upper) for the larger of both orders."""
    run, target = built(case), oracle.arb(case["delta"]).log()
    bounds = run.epsilon_bounds(case["delta"])
    reached, undecided = bounds.lower == 0.0, False
    for order in ORDERS:
        ceiling = run._run(order).ceiling
        try:
            if bounds.upper < ceiling:
                top = contour(case, order, bounds.upper).log_delta(bounds.upper)
                if top > target:
                    return "violated"
                undecided |= not top <= target
            if not reached and bounds.lower < ceiling:
                bottom = contour(case, order, bounds.lower).log_delta(bounds.lower)
                reached |= bottom >= target
                undecided |= not (bottom >= target or bottom < target)
        except (oracle.Undecided, hs.loss.noise.TooFine, ValueError, ZeroDivisionError):
            undecided = True
    if reached and not undecided:
        return "holds"
    return "undecided" if undecided else "violated"


def truth(case: dict[str, object]) -> str | None:
    """epsilon to thirty digits, the larger of both orders; None if undecided."""
    run = built(case)
    start = run.epsilon_bounds(case["delta"])
    if start.upper == 0.0 or start.width > 1e-6 * start.upper:
        return None
    best = None
    for order in ORDERS:
        near = run.epsilon_bounds(case["delta"], neighbours=order).upper
        if near == 0.0 or near >= run._run(order).ceiling:
            return None
        try:
            found = contour(case, order, near).epsilon(case["delta"], near)
        except (oracle.Undecided, hs.loss.noise.TooFine, ValueError, ZeroDivisionError):
            return None
        best = found if best is None or found > best else best
    return best.str(30, radius=False) if best is not None and best.is_finite() else None


def progress(done: int, total: int, note: str) -> None:
    """A bar on one line of the terminal."""
    filled = 40 * done // total
    print(f"\r[{'#' * filled}{'.' * (40 - filled)}] {done}/{total} {note}", end="", file=sys.stderr, flush=True)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--store", action="store_true")
    chosen = options.parse_args()
    rng = random.Random(chosen.seed)
    if chosen.store:
        stored: list[dict[str, object]] = []
        while len(stored) < chosen.runs:
            case = random_case(rng)
            value = truth(case)
            if value is not None:
                stored.append({**case, "epsilon": value})
            progress(len(stored), chosen.runs, "stored")
        STORED.write_text(json.dumps(stored, indent=1) + "\n")
        print(file=sys.stderr)
        return 0
    counts = {"holds": 0, "violated": 0, "undecided": 0}
    for done in range(1, chosen.runs + 1):
        case = random_case(rng)
        found = verdict(case)
        counts[found] += 1
        if found == "violated":
            print(f"\nVIOLATED: {built(case)!r} delta={case['delta']!r} {built(case).epsilon_bounds(case['delta'])}")
        progress(done, chosen.runs, ", ".join(f"{name} {count}" for name, count in counts.items()))
    print("\n" + json.dumps(counts))
    return 1 if counts["violated"] else 0


if __name__ == "__main__":
    sys.exit(main())
