"""How many times as long an epsilon of DP-SGD takes without the compiled core, as README.md tells it: processor time, the best of
several."""

import json
import os
import subprocess
import sys
import time

import hockeystick as hs

RUNS = [  # noise multiplier, sampling rate, steps: long runs and short ones, and two that are sparse (the single big jump)
    *(
        (1.1, 256 / 60_000, 3510),
        (1.1, 0.01, 1000),
        (0.8, 0.001, 100_000),
        (2.0, 0.1, 100),
        (0.6, 0.02, 500),
        (4.0, 0.05, 20_000),
    ),
    *((1.0, 1e-3, 3000), (3.0, 0.5, 1000), (0.8, 0.002, 30), (0.7, 1e-4, 1000)),
]
DELTA, SHARE, REPEATS = 1e-6, 0.1, 7


def seconds(run: hs.Poisson) -> float:
    """Of one question; each is a new one."""
    best, asked = float("inf"), 0
    for repeat in range(REPEATS + 1):  # the first loads what it needs
        count, start = 0, time.process_time()
        while time.process_time() - start < SHARE:
            count, asked = count + 1, asked + 1
            run.epsilon(delta=DELTA * (1.0 + 1e-4 * asked))
        if repeat:
            best = min(best, (time.process_time() - start) / count)
    return best


def measured() -> list[float]:
    return [seconds(hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps) for sigma, rate, steps in RUNS]


def main() -> None:
    if "--one" in sys.argv:
        print(json.dumps(measured()))
        return
    both = []
    for pure in ("0", "1"):
        env = {**os.environ, "HOCKEYSTICK_PURE": pure, "OMP_NUM_THREADS": "1"}
        done = subprocess.run([sys.executable, __file__, "--one"], env=env, stdout=subprocess.PIPE, text=True, check=True)
        both.append(json.loads(done.stdout))
    factors = [slow / quick for quick, slow in zip(*both, strict=True)]
    for (sigma, rate, steps), quick, slow, factor in zip(RUNS, *both, factors, strict=True):
        times = f"{1e3 * quick:6.3f} ms, without {1e3 * slow:6.2f} ms: {factor:4.1f} times"
        print(f"sigma {sigma:3g}, rate {rate:7.3g}, {steps:6d} steps: {times}")
    print(f"from {min(factors):.0f} to {max(factors):.0f} times as long")


if __name__ == "__main__":
    main()
