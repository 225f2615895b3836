"""Random truncated Poisson samples of few records against the enumeration of all batches: scripts/truncated.py [count] [seed]."""

import math
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import hockeystick as hs
from truncated_batches import worst

ROUNDING = 1e-12  # of the oracle


def main() -> None:
    count, seed = (int(word) for word in [*sys.argv[1:], "300", "0"][:2]) if len(sys.argv) != 2 else (int(sys.argv[1]), 0)
    draw, closest = random.Random(seed), 0.0
    for place in range(count):
        records = draw.randint(2, 6)
        cap, rate = draw.randint(1, records - 1), draw.choice([draw.random(), 10.0 ** draw.uniform(-4.0, 0.0)])
        sigma, epsilon = 10.0 ** draw.uniform(-0.6, 1.0), draw.choice([0.0, draw.uniform(0.0, 2.0), draw.uniform(-1.0, 6.0)])
        for relation in ("zero-out", "replace", "add-or-remove"):
            step = hs.Gaussian(sigma).truncated_poisson(rate=rate, cap=cap, examples=records)
            bounds = step.delta_bounds(epsilon, relation)
            truth = worst(records, rate, cap, sigma, math.exp(epsilon), relation)
            if not (bounds.lower <= truth + ROUNDING and truth - ROUNDING <= bounds.upper):
                print(f"VIOLATION: {step!r} {relation} epsilon {epsilon}: {bounds!r} against {truth}")
                raise SystemExit(1)
            if bounds.upper > 1e-6:
                closest = max(closest, truth / bounds.upper)
        if place % 50 == 49:
            print(
                f"{place + 1} settings, three relations each: no violation; the truth is up to {closest:.6f} of the upper end",
                flush=True,
            )


if __name__ == "__main__":
    main()
