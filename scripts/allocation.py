"""Random allocation of Gaussian noise against lattices in convex order, Rényi orders, a single step, and more steps or noise.

    python scripts/allocation.py [--cases 200] [--seed 1]

Each case draws sigma from .3 to 20, an epoch of 1 to 1e5 steps, 1 to 1000 epochs, and a delta from 1e-5 to 1e-30, and asks for
both orders.  A violation is printed; at the end, how wide the intervals are and how long they took.
"""

import argparse
import math
import random
import sys
import time
from pathlib import Path

import hockeystick as hs

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from allocation_lattice import SLACK, delta_between

WRONG: list[str] = []


def check(good: bool, *words: object) -> None:
    if not good:
        WRONG.append(" ".join(map(str, words)))
        print("VIOLATION:", WRONG[-1], flush=True)


def against_the_lattice(draw: random.Random) -> None:
    """One epoch, or two, of a size that the lattice can do: for less noise the rounding of its transforms counts."""
    sigma, steps, epochs = (
        draw.choice((1.0, 1.5, 2.0, 4.0)),
        draw.choice((2, 3, 7, 20, 64, 200, 1000)),
        draw.choice((1, 1, 2)),
    )
    epsilon = draw.uniform(0.0, 3.0) / math.sqrt(sigma * steps)
    run = hs.Gaussian(sigma=sigma).allocated(steps=steps) * epochs
    for order in ("remove", "add"):
        low, high = delta_between(
            sigma, steps, epochs, epsilon, order == "remove", h=0.01 * max(1.0, 1.0 / sigma), cap_mass=1e-11
        )
        found = run.delta_bounds(epsilon, order)
        check(low <= found.upper and found.lower <= high, "lattice", run, order, epsilon, (low, high), found)
        target = 0.5 * (low + high)
        if low > 100.0 * SLACK and high < 0.5:
            ends = run.epsilon_bounds(target, order)
            wide = (high - low + SLACK) / target
            near = run.delta_bounds(ends.upper, order)
            check(near.lower <= target * (1.0 + 1e-9), "inverse", run, order, target, ends, near, wide)


def against_itself(draw: random.Random) -> tuple[float, float]:
    """Between fewer and more steps, more and less noise, and the run without allocation; at most the width and the time."""
    sigma, steps = round(math.exp(draw.uniform(math.log(0.3), math.log(20.0))), 3), round(10.0 ** draw.uniform(0.0, 5.0))
    epochs, delta = round(10.0 ** draw.uniform(0.0, 3.0)), 10.0 ** -draw.uniform(5.0, 30.0)
    order = draw.choice(("remove", "add"))
    run = hs.Gaussian(sigma=sigma).allocated(steps=steps) * epochs
    start = time.process_time()
    found = run.epsilon_bounds(delta, order)
    spent = time.process_time() - start
    plain = (hs.Gaussian(sigma=sigma) * epochs).epsilon_bounds(delta)
    check(
        found.lower <= plain.upper and found.upper <= plain.upper * (1.0 + 1e-9), "unallocated", run, delta, order, found, plain
    )
    for name, other in (
        ("more steps", hs.Gaussian(sigma=sigma).allocated(steps=min(10**6, steps * 2)) * epochs),
        ("more noise", hs.Gaussian(sigma=1.1 * sigma).allocated(steps=steps) * epochs),
    ):
        less = other.epsilon_bounds(delta, order)
        check(less.lower <= found.upper, name, run, delta, order, found, less)
    if steps == 1:
        check(found == plain, "one step", run, delta, found, plain)
    back = run.delta_bounds(found.upper, order)
    check(back.lower <= delta * (1.0 + 1e-9), "back", run, delta, order, found, back)
    return (found.upper - found.lower) / max(found.upper, 1e-300), spent


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("--cases", type=int, default=200)
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    draw = random.Random(given.seed)
    found = []
    for _ in range(given.cases):
        found.append(against_itself(draw))
        if draw.random() < 0.25:
            against_the_lattice(draw)
    for name, values in (("width", sorted(one for one, _ in found)), ("seconds", sorted(one for _, one in found))):
        print(name, *(f"{share:g}: {values[min(len(values) - 1, int(share * len(values)))]:.2g}" for share in (0.5, 0.95, 1.0)))
    print(f"{given.cases} cases, {len(WRONG)} violations")
    return bool(WRONG)


if __name__ == "__main__":
    sys.exit(main())
