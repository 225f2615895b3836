"""Our own time for questions that no peer answers, and over many settings: `python -m bench.own [--publish]`.

One core; objects are new and have parameters not seen before in the process; medians.
"""

import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import hockeystick as hs

ROUNDS = 9
RESULT = Path(__file__).parent / "results" / "own.json"


def _sgd(rate: float, sigma: float, steps: int) -> hs.Gaussian:
    return hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps


def _fixed(x: float) -> hs.Gaussian:
    return hs.Gaussian(sigma=1.1 * x).without_replacement(batch=600_000, examples=60_000_000) * 10**4


QUESTIONS: dict[str, Callable[[float], object]] = {  # of a factor close to 1
    "epsilon, DP-SGD q=256/60000 sigma=1.1 T=3510": lambda x: _sgd(256 / 60_000, 1.1 * x, 3510).epsilon_bounds(1e-5),
    "epsilon, DP-SGD q=0.01 sigma=1.1 T=1e4": lambda x: _sgd(0.01, 1.1 * x, 10**4).epsilon_bounds(1e-5),
    "epsilon, replace-one, Poisson": lambda x: _sgd(0.01, 1.1 * x, 10**4).epsilon_bounds(1e-5, neighbours="replace"),
    "epsilon, replace-one, batches of a fixed size": lambda x: _fixed(x).epsilon_bounds(1e-5, neighbours="replace"),
    "epsilon, add-or-remove, batches of a fixed size": lambda x: _fixed(x).epsilon_bounds(1e-5, neighbours="add-or-remove"),
    "epsilon, a million shuffled reports": lambda x: hs.Shuffled(hs.RandomizedResponse(epsilon=x), 10**6).epsilon_bounds(
        1e-6, neighbours="replace"
    ),
    "delta": lambda x: _sgd(0.01, 1.1 * x, 10**4).delta_bounds(5.0),
    "profile of 1000 epsilons": lambda x: _sgd(0.01, 1.1 * x, 10**4).profile(np.linspace(0.0, 8.0, 1000)),
    "profile of 1000 epsilons, Gaussian noise": lambda x: (hs.Gaussian(sigma=20.0 * x) * 1000).profile(
        np.linspace(0.1, 8.0, 1000)
    ),
    "delta, sparse: q=1e-6 sigma=0.5 T=1e7": lambda x: _sgd(1e-6, 0.5 * x, 10**7).delta_bounds(1.0),
    "profile of 1000 epsilons, sparse: the same": lambda x: _sgd(1e-6, 0.5 * x, 10**7).profile(np.linspace(0.1, 3.0, 1000)),
    "epsilon at 1000 deltas": lambda x: _sgd(0.01, 1.1 * x, 10**4).epsilon_bounds(np.geomspace(1e-10, 1e-2, 1000)),
    "mu()": lambda x: _sgd(0.328, 9.4 * x, 2000).mu(),
    "mu(delta=1e-5)": lambda x: _sgd(0.328, 9.4 * x, 2000).mu(delta=1e-5),
    "regret(delta=1e-5)": lambda x: _sgd(0.328, 9.4 * x, 2000).regret(delta=1e-5),
    "tradeoff(0.1)": lambda x: _sgd(0.328, 9.4 * x, 2000).tradeoff(0.1),
    "mu() of randomised response x 1000": lambda x: (hs.RandomizedResponse(epsilon=0.1 * x) * 1000).mu(),
}


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median(question: Callable[[float], object], rounds: int = ROUNDS) -> float:
    question(1.000101)
    return statistics.median(timed(lambda n=n: question(1.0 + 1e-6 * n)) for n in range(rounds))


def settings(count: int) -> list[tuple[float, float, int, float]]:
    """Random DP-SGD: rate, sigma, steps, delta."""
    rng = random.Random(9)
    draw = lambda low, high: 10.0 ** rng.uniform(low, high)  # noqa: E731
    return [(draw(-4, -0.5), draw(-0.2, 1.0), int(draw(2, 6)), draw(-12, -4)) for _ in range(count)]


def anywhere(count: int) -> list[float]:
    """Seconds of single questions over random settings."""
    _sgd(0.02, 3.0, 500).epsilon_bounds(1e-5)
    return [timed(lambda s=s: _sgd(*s[:3]).epsilon_bounds(s[3])) for s in settings(count)]


def swept(size: int = 40) -> float:
    """Configurations a second of a sweep of size x size."""

    def sweep(x: float) -> object:
        grid = {"rate": list(np.geomspace(1e-3, 0.1, size) * x), "sigma": list(np.linspace(0.8, 5.0, size))}
        return hs.sweep(lambda rate, sigma: _sgd(rate, sigma, 1000), grid, progress=False, epsilon_at_delta=1e-6)

    sweep(1.001)
    return size * size / statistics.median(timed(lambda n=n: sweep(1.0 + 1e-6 * n)) for n in range(3))


def first_answer() -> float:
    """Seconds from `import hockeystick` to epsilon of a DP-SGD run, in a new process."""
    code = (
        "import time; t = time.perf_counter(); import hockeystick as hs; "
        "(hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10_000).epsilon(1e-5); print(time.perf_counter() - t)"
    )
    ask = lambda: float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)  # noqa: E731
    ask()
    return statistics.median(ask() for _ in range(ROUNDS))


def main(words: list[str]) -> None:
    found: dict[str, object] = {"milliseconds": (each := {})}
    for name, question in QUESTIONS.items():
        each[name] = 1e3 * median(question)
        print(f"{name:50} {each[name]:9.3g} ms", flush=True)
    times = anywhere(1000)
    found["settings"] = {"count": 1000, "median": 1e3 * statistics.median(times), "95%": 1e3 * float(np.percentile(times, 95))}
    print(found["settings"], flush=True)
    found["configurations a second in a sweep"] = swept()
    found["first answer"] = 1e3 * first_answer()
    print(json.dumps(found, indent=1))
    if "--publish" in words:
        RESULT.parent.mkdir(parents=True, exist_ok=True)
        RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
