"""Draws a second: ours and OpenDP's, on the same vectors, on one core.

    pip install opendp; python -m bench.draws

Each adds noise to a vector of so many numbers, from the operating system's randomness; the best of a few runs, in processor
seconds.  OpenDP takes and gives Python lists: ours is timed with the same list, too.  Nothing here is a test.
"""

import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import hockeystick as hs
from hockeystick.native import draws as loops

SIZE = 200_000
RESULTS = Path(__file__).parent / "results" / "draws.json"
CASES: dict[str, tuple[Any, str, type, float]] = {
    "discrete Laplace": (hs.DiscreteLaplace(scale=10.0).release, "make_laplace", int, 10.0),
    "discrete Gaussian": (
        lambda value: hs.DiscreteGaussian(sigma=10.0).release(value, disjoint=True),
        "make_gaussian",
        int,
        10.0,
    ),
    "Laplace": (hs.Laplace(scale=1.5).release, "make_laplace", float, 1.5),
    "Gaussian": (hs.Gaussian(sigma=1.5).release, "make_gaussian", float, 1.5),
}


def rate(call: Callable[[], Any], size: int, runs: int = 3) -> float:
    """Numbers a second, in the best run."""
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        call()
        best = min(best, time.process_time() - start)
    return size / best


def peer(maker: str, kind: type, scale: float) -> Callable[[list[Any]], Any] | None:
    """OpenDP's measurement, or None where it is not installed."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    atoms = dp.atom_domain(T=float, nan=False) if kind is float else dp.atom_domain(T=int)
    metric = dp.l2_distance(T=float) if maker == "make_gaussian" else dp.l1_distance(T=kind)
    made: Callable[[list[Any]], Any] = getattr(dp.m, maker)(dp.vector_domain(atoms), metric, scale=scale)
    return made


def main() -> None:
    """Prints a table, and writes what it is made of."""
    rows = []
    for name, (ours, maker, kind, scale) in CASES.items():
        listed = [kind(one % 1000) for one in range(SIZE)]
        array = np.array(listed)
        theirs = peer(maker, kind, scale)
        other = rate(lambda: theirs(listed), SIZE) if theirs else None  # noqa: B023
        row = {
            "noise": name,
            "an array": rate(lambda: ours(array), SIZE, 9),  # noqa: B023
            "a list": rate(lambda: ours(listed).tolist(), SIZE, 9),  # noqa: B023
            "OpenDP, a list": other,
        }
        rows.append(row)
        times = "not installed (pip install opendp)" if other is None else f"{other:12,.0f}   {row['a list'] / other:5.0f} times"
        print(f"{name:18} {row['an array']:12,.0f} {row['a list']:12,.0f}   OpenDP {times}", flush=True)
    told = {"core": loops.core is not None, "machine": platform.machine(), "numbers a second": rows}
    RESULTS.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
