"""Calibration of DP-SGD's noise and a sweep, against dp_accounting, in one run on one core.  Nothing here is a test.

Both are warmed up on other numbers, the calls alternate, medians are compared; targets move by parts in 1e6 so that nothing
can be remembered.  `python bench/calibrate.py [calibrations] [sweeps]`
says how many dp_accounting must do (slow: many seconds each).
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable

os.environ.setdefault("OMP_NUM_THREADS", "1")

import hockeystick as hs

CASES = [(256 / 60000, 3510, 1.0, 1e-5), (0.01, 10**4, 8.0, 1e-6)]  # rate, steps, epsilon, delta
RATES = [1e-3 * 1.5**i for i in range(10)]
SIGMAS = [0.7 + 0.15 * i for i in range(10)]


def ours(rate: float, steps: int, epsilon: float, delta: float) -> float:
    return hs.calibrate(lambda sigma: hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps, epsilon=epsilon, delta=delta)


def peer(rate: float, steps: int, epsilon: float, delta: float) -> float:
    import dp_accounting
    from dp_accounting.pld import pld_privacy_accountant

    return dp_accounting.calibrate_dp_mechanism(
        pld_privacy_accountant.PLDAccountant,
        lambda sigma: dp_accounting.SelfComposedDpEvent(
            dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma)), steps
        ),
        epsilon,
        delta,
        dp_accounting.LowerEndpointAndGuess(0.3, 1.0),
    )


def our_sweep() -> object:
    return hs.sweep(
        lambda rate, sigma: hs.Gaussian(sigma=sigma).poisson(rate=rate) * 1000,
        {"rate": RATES, "sigma": SIGMAS},
        progress=False,
        epsilon=1e-6,
    )


def peer_sweep() -> object:
    import dp_accounting
    from dp_accounting.pld import pld_privacy_accountant

    found = []
    for rate in RATES:
        for sigma in SIGMAS:
            accountant = pld_privacy_accountant.PLDAccountant()
            accountant.compose(dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma)), 1000)
            found.append(accountant.get_epsilon(1e-6))
    return found


def timed(call: Callable[[], object]) -> tuple[float, object]:
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def main(calibrations: int = 3, sweeps: int = 1) -> None:
    summary: dict[str, object] = {}
    for rate, steps, epsilon, delta in CASES:
        ours(rate, steps, 1.1 * epsilon, delta)
        mine, theirs, sigmas = [], [], []
        for turn in range(max(9, calibrations)):
            wanted = epsilon * (1.0 + 1e-6 * turn)
            took, sigma = timed(lambda a=(rate, steps, wanted, delta): ours(*a))
            mine.append(took)
            if turn < calibrations:
                took, other = timed(lambda a=(rate, steps, wanted, delta): peer(*a))
                theirs.append(took)
                sigmas.append((sigma, other))
        name = f"q={rate:.4g} T={steps} epsilon={epsilon:g} delta={delta:g}"
        summary[name] = {"ours, ms": 1e3 * statistics.median(mine), "sigma, ours and theirs": sigmas[:1]}
        if theirs:
            summary[name] |= {
                "theirs, s": statistics.median(theirs),
                "ratio": statistics.median(theirs) / statistics.median(mine),
            }
        print(name, json.dumps(summary[name]), flush=True)
    our_sweep()
    mine_sweep = statistics.median(timed(our_sweep)[0] for _ in range(5))
    print("sweep 10 x 10, ms:", 1e3 * mine_sweep, flush=True)
    if sweeps:
        theirs_sweep = statistics.median(timed(peer_sweep)[0] for _ in range(sweeps))
        print("theirs, s:", theirs_sweep, "ratio:", theirs_sweep / mine_sweep)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
