"""What accounting costs a training loop that asks for epsilon after every step.  Nothing here is a test.

    python bench/opacus_steps.py [steps]        # 10000 unless given; needs the extra `opacus`

`every=1` computes each epsilon exactly; `every=100` computes one in a hundred, for the steps rounded up.  Opacus's own
accountants compute each, so a few steps of theirs are timed, at the end of the run.
"""

import json
import os
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")

from opacus.accountants import create_accountant

import hockeystick.interop.opacus  # noqa: F401  (registers the accountant)

DELTA = 1e-5
CASES = [(1.1, 0.01), (1.0, 256 / 60_000), (0.8, 0.05)]  # noise multiplier, rate


def asked(name: str, sigma: float, rate: float, first: int, last: int, every: int = 1) -> tuple[float, float]:
    """Microseconds a step from `first` to `last`, and the last epsilon."""
    accountant = create_accountant(name)
    if first > 1:
        accountant.history = [(sigma, rate, first - 1)]
    if every > 1:
        accountant.every = every
    start = time.perf_counter()
    for _ in range(first, last + 1):
        accountant.step(noise_multiplier=sigma, sample_rate=rate)
        epsilon = accountant.get_epsilon(DELTA)
    return 1e6 * (time.perf_counter() - start) / (last - first + 1), epsilon


def main(steps: int = 10_000) -> None:
    warnings.simplefilter("ignore")
    asked("hockeystick", 1.0, 0.1, 1, 3)  # imports
    for sigma, rate in CASES:
        found: dict[str, object] = {}
        for every in (1, 100):
            found[f"every={every}, all {steps} steps, us"], found[f"every={every}, epsilon"] = asked(
                "hockeystick", sigma, rate, 1, steps, every
            )
        for name, few in (("rdp", 20), ("prv", 5)):
            found[f"Opacus {name}, the last {few} steps, us"], found[f"Opacus {name}, epsilon"] = asked(
                name, sigma, rate, steps - few + 1, steps
            )
        print(f"sigma={sigma} rate={rate:.4g}", json.dumps(found, indent=2), flush=True)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
