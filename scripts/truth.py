"""Runs of DP-SGD, mixed or not, against ball arithmetic: does the interval hold the truth?

`python scripts/truth.py` makes tests/data/truth.json anew (the fixed hundred of the test suite); `scripts/campaign.py` tries
random ones.  A run is undecided where the oracle's own integral does not converge within its nodes; it is counted as such.
"""

import json
import math
import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "scripts")]

import hockeystick as hs  # noqa: E402
import oracle  # noqa: E402
from cases import built, spaced  # noqa: E402
from hockeystick.loss.contour.contour import Saddle  # noqa: E402
from hockeystick.loss.protocol import Inconclusive  # noqa: E402
from progress import bar  # noqa: E402

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
    if "gaussians" in case:
        oracle.ctx.prec = oracle.BITS
        squares = sum((1 / oracle.arb(sigma) ** 2 for sigma in spaced(case["gaussians"])), oracle.arb(0))
        found.append(oracle.Part("gaussian", squares.sqrt(), 0.0, 1))
    if "laplaces" in case:
        found += [oracle.Part("laplace", 1.0 / scale, 0.0, 1) for scale in spaced(case["laplaces"])]
    return found


def contour(case: dict[str, object], order: str, epsilon: float, lead: float = oracle.LEAD) -> oracle.Contour:
    """The oracle near an epsilon (the library only says where to look)."""
    hint = Saddle.of_epsilon(built(case)._run(order), epsilon)
    return oracle.Contour(parts(case, order), epsilon, hint.c, hint.width, hint.log_delta, lead=lead)


def verdict(case: dict[str, object]) -> tuple[str, hs.Bounds]:
    """'holds', 'violated' or 'undecided': delta(lower) >= delta >= delta(upper) for the larger of both orders; the interval."""
    run, target = built(case), oracle.arb(case["delta"]).log()
    bounds = run.epsilon_bounds(case["delta"])
    reached, undecided = bounds.lower == 0.0, False
    for order in ORDERS:
        ceiling, laid = run._run(order).ceiling, None
        try:
            if bounds.upper < ceiling:
                laid = contour(case, order, bounds.upper, oracle.DECIDING)
                top = laid.log_delta(bounds.upper)
                if top > target:
                    return "violated", bounds
                undecided |= not top <= target
            if not reached and bounds.lower < ceiling:
                if laid is None or bounds.width > 1e-9 * bounds.upper:  # one contour serves a neighbourhood
                    laid = contour(case, order, bounds.lower, oracle.DECIDING)
                bottom = laid.log_delta(bounds.lower)
                reached |= bottom >= target
                undecided |= not (bottom >= target or bottom < target)
        except (oracle.Undecided, Inconclusive, ValueError, ZeroDivisionError):
            undecided = True
            break
    if reached and not undecided:
        return "holds", bounds
    return "undecided" if undecided else "violated", bounds


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
        except (oracle.Undecided, Inconclusive, ValueError, ZeroDivisionError):
            return None
        best = found if best is None or found > best else best
    return best.str(30, radius=False) if best is not None and best.is_finite() else None


def main(runs: int = 100) -> None:
    rng, stored = random.Random(1), []
    while len(stored) < runs:
        case = random_case(rng)
        value = truth(case)
        if value is not None:
            stored.append({**case, "epsilon": value})
        bar(len(stored), runs, "stored")
    STORED.write_text(json.dumps(stored, indent=1) + "\n")


if __name__ == "__main__":
    main()
