"""Our time against dp_accounting's PLD accountant, in one run on one core (`make bench`).

Objects are newly built with parameters not seen before in the process (sigma moves by parts in 1e6), both are warmed up
on others, the calls alternate, and the median of nine is compared.  Nothing here is a test.
"""

import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")

import hockeystick as hs

ROUNDS = 9
SAMPLED = [  # rate, sigma, steps, delta
    (0.001, 4.0, 10**5, 1e-5),
    (0.01, 1.1, 10**4, 1e-5),
    (256 / 60000, 1.1, 3510, 1e-5),
    (1e-3, 0.6, 10**5, 1e-6),
    (1e-4, 0.4, 10**6, 1e-8),
    (0.01, 1.0, 1000, 1e-30),
    (0.01, 2.0, 4500, 1e-15),
]


def ours_sampled(rate: float, sigma: float, steps: int, delta: float) -> object:
    return (hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps).epsilon_bounds(delta)


def ours_laplace(scale: float, steps: int, delta: float) -> object:
    return (hs.Laplace(scale=scale) * steps).epsilon_bounds(delta)


def peer_sampled(rate: float, sigma: float, steps: int, delta: float) -> float:
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant

    accountant = pld_privacy_accountant.PLDAccountant()
    step = dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(sigma))
    accountant.compose(step, steps)
    return accountant.get_epsilon(delta)


def peer_laplace(scale: float, steps: int, delta: float) -> float:
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant

    accountant = pld_privacy_accountant.PLDAccountant()
    accountant.compose(dp_event.LaplaceDpEvent(scale), steps)
    return accountant.get_epsilon(delta)


def ours_pure(epsilon: float, steps: int, delta: float) -> object:
    return (hs.PureDP(epsilon=epsilon) * steps).epsilon_bounds(delta)


def ours_many(factor: float) -> object:
    noises = hs.compose([hs.Gaussian(sigma=factor * (10.0 + 50.0 * i / 49.0)) for i in range(50)])
    return (
        noises + hs.Laplace(scale=5.0 * factor) * 20 + hs.Gaussian(sigma=1.1).poisson(rate=256 / 60000) * 3510
    ).epsilon_bounds(1e-6)


def peer_pure(epsilon: float, steps: int, delta: float) -> float:
    from dp_accounting.pld import common, privacy_loss_distribution

    step = privacy_loss_distribution.from_privacy_parameters(common.DifferentialPrivacyParameters(epsilon, 0.0))
    return float(step.self_compose(steps).get_epsilon_for_delta(delta))


def peer_many(factor: float) -> float:
    from dp_accounting import dp_event
    from dp_accounting.pld import pld_privacy_accountant

    accountant = pld_privacy_accountant.PLDAccountant()
    for i in range(50):
        accountant.compose(dp_event.GaussianDpEvent(factor * (10.0 + 50.0 * i / 49.0)))
    accountant.compose(dp_event.LaplaceDpEvent(5.0 * factor), 20)
    accountant.compose(dp_event.PoissonSampledDpEvent(256 / 60000, dp_event.GaussianDpEvent(1.1)), 3510)
    return float(accountant.get_epsilon(1e-6))


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def compare(name: str, ours: Callable[[float], object], peer: Callable[[float], object]) -> tuple[float, float]:
    """Medians of nine, alternating; the argument is the factor by which the noise is moved."""
    ours(1.000101)
    mine, theirs = [], []
    for round_ in range(ROUNDS):
        factor = 1.0 + 1e-6 * (round_ + 1)
        mine.append(timed(lambda f=factor: ours(f)))
        theirs.append(timed(lambda f=factor: peer(f)))
    a, b = statistics.median(mine), statistics.median(theirs)
    print(f"{name:45s} ours {1e3 * a:8.3f} ms   peer {1e3 * b:9.1f} ms   ratio {b / a:8.0f}", flush=True)
    return a, b


def flat_in_steps() -> float:
    """Our time for 10**9 steps over that for 10**3, sigma growing with the root of the steps."""
    times: dict[int, list[float]] = {10**3: [], 10**9: []}
    for round_ in range(4 * ROUNDS):
        for steps, found in times.items():
            sigma = 2.0 * math.sqrt(steps / 1000) * (1.0 + 1e-6 * round_)
            found.append(timed(lambda s=sigma, n=steps: ours_sampled(0.05, s, n, 1e-6)))
    return statistics.median(times[10**9]) / statistics.median(times[10**3])


def import_time() -> float:
    """Seconds that `import hockeystick` adds to `import numpy` (median of nine processes each)."""

    def once(what: str) -> float:
        code = f"import time; t = time.perf_counter(); import {what}; print(time.perf_counter() - t)"
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout)

    for what in ("numpy", "numpy, hockeystick"):
        once(what)
    pairs = [(once("numpy"), once("numpy, hockeystick")) for _ in range(ROUNDS)]
    return statistics.median(b for _, b in pairs) - statistics.median(a for a, _ in pairs)


def main() -> None:
    print(f"Python {platform.python_version()}, one core, median of {ROUNDS}, both directions, interval included")
    found = {}
    for rate, sigma, steps, delta in SAMPLED:
        name = f"q={rate:.4g} sigma={sigma:g} T={steps:g} delta={delta:g}"
        found[name] = compare(
            name,
            lambda f, a=(rate, sigma, steps, delta): ours_sampled(a[0], a[1] * f, a[2], a[3]),
            lambda f, a=(rate, sigma, steps, delta): peer_sampled(a[0], a[1] * f, a[2], a[3]),
        )
    found["Laplace(10) x 1000"] = compare(
        "Laplace(10) x 1000 delta=1e-6",
        lambda f: ours_laplace(10.0 * f, 1000, 1e-6),
        lambda f: peer_laplace(10.0 * f, 1000, 1e-6),
    )
    lattice = {}
    for scale, steps in ((1.0, 1), (0.5, 4)):
        lattice[f"Laplace({scale:g}) x {steps}"] = compare(
            f"Laplace({scale:g}) x {steps} delta=1e-6",
            lambda f, a=(scale, steps): ours_laplace(a[0] * f, a[1], 1e-6),
            lambda f, a=(scale, steps): peer_laplace(a[0] * f, a[1], 1e-6),
        )
    for rate, sigma, steps in ((0.001, 0.5, 1), (0.001, 0.5, 100), (0.01, 1.0, 4)):
        name = f"q={rate:g} sigma={sigma:g} T={steps} delta=1e-6"
        lattice[name] = compare(
            name,
            lambda f, a=(rate, sigma, steps): ours_sampled(a[0], a[1] * f, a[2], 1e-6),
            lambda f, a=(rate, sigma, steps): peer_sampled(a[0], a[1] * f, a[2], 1e-6),
        )
    discrete = {
        "0.1-DP x 1000": compare(
            "0.1-DP x 1000", lambda f: ours_pure(0.1 * f, 1000, 1e-6), lambda f: peer_pure(0.1 * f, 1000, 1e-6)
        ),
        "71 parts": compare("50 Gaussians, 20 Laplaces, DP-SGD", ours_many, peer_many),
    }
    ratios = [b / a for a, b in found.values()]
    summary = {
        "least ratio": min(ratios),
        "geometric mean of ratios": statistics.geometric_mean(ratios),
        "our median, ms": 1e3 * statistics.median(a for a, _ in found.values()),
        "few steps: least ratio": min(b / a for a, b in lattice.values()),
        "few steps: our longest, ms": 1e3 * max(a for a, _ in lattice.values()),
        "pure DP and many parts: least ratio": min(b / a for a, b in discrete.values()),
        "T=1e9 over T=1e3": flat_in_steps(),
        "import beyond numpy, s": import_time(),
    }
    print(json.dumps(summary, indent=2))


if __name__ == "__main__":
    main()
