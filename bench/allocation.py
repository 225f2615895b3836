"""Random allocation beside PLD_accounting, in one process, in processor seconds: `python -m bench.allocation`.

It needs `pip install PLD-accounting` and takes minutes.
"""

import time
from typing import Any

import hockeystick as hs

SIGMA, STEPS, DELTA = 1.0, 64, 1e-8


def main() -> None:
    from PLD_accounting import gaussian_allocation_epsilon_range

    run = hs.Gaussian(sigma=SIGMA).allocated(steps=STEPS)
    run.epsilon_bounds(10.0 * DELTA)  # imports
    start = time.process_time()
    ours: Any = run.epsilon_bounds(DELTA)
    own = time.process_time() - start
    start = time.process_time()
    theirs = gaussian_allocation_epsilon_range(delta=DELTA, sigma=SIGMA, num_steps=STEPS, epsilon_accuracy=0.01)
    spent = time.process_time() - start
    print(
        f"ours {ours} in {own:.3f} s; PLD_accounting {min(theirs):.6f} to {max(theirs):.6f} in {spent:.1f} s: "
        f"{spent / own:.0f} times"
    )


if __name__ == "__main__":
    main()
