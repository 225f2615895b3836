"""Time of certified answers under replace-one: Poisson sampling, batches of a fixed size, shuffled reports.

`python bench/sampling.py`.  The runs are those of the table of docs and design (rate, sigma, steps, delta).  Objects are newly
built with a sigma not seen before; the median of nine is shown.  Nothing here is a test.
"""

import os
import statistics
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import hockeystick as hs

ROUNDS = 9
EXAMPLES = 60_000_000
RUNS = [
    (0.001, 4.0, 10**5, 1e-5),
    (0.01, 1.1, 10**4, 1e-5),
    (256 / 60000, 1.1, 3510, 1e-5),
    (1e-3, 0.6, 10**5, 1e-6),
    (1e-4, 0.4, 10**6, 1e-8),
    (0.01, 1.0, 1000, 1e-30),
    (0.01, 2.0, 4500, 1e-15),
]


def main() -> None:
    (hs.Gaussian(sigma=3.0).poisson(rate=0.02) * 500).epsilon_bounds(1e-5, neighbours="replace")
    print("rate        sigma steps   delta | scheme, relation                 lower        upper         ms")
    for rate, sigma, steps, delta in RUNS:
        batch = round(rate * EXAMPLES)
        for name, relation in (("poisson", "replace"), ("without", "add-or-remove"), ("without", "replace")):
            times = []
            for place in range(ROUNDS):
                noise = hs.Gaussian(sigma=sigma * (1.0 + 1e-7 * place))
                step = (
                    noise.poisson(rate=rate) if name == "poisson" else noise.without_replacement(batch=batch, examples=EXAMPLES)
                )
                begin = time.perf_counter()
                found = (step * steps).epsilon_bounds(delta, neighbours=relation)
                times.append(time.perf_counter() - begin)
            took = 1e3 * statistics.median(times)
            head = f"{rate:<11.6g} {sigma:<5g} {steps:<7} {delta:<5g} | {name:<8} {relation:<14}"
            print(f"{head} {found.lower:>14.9f} {found.upper:>14.9f} {took:>7.1f}")
    print("shuffled reports of one epsilon, rounds | lower, upper, ms")
    for count in (1000, 10**5, 10**6, 10**8):
        for rounds in (1, 100):
            times = []
            for place in range(3):
                local = hs.RandomizedResponse(epsilon=1.0 + 1e-7 * place + 1e-5 * rounds)
                begin = time.perf_counter()
                found = (hs.Shuffled(local, count) * rounds).epsilon_bounds(1e-6, neighbours="replace")
                times.append(time.perf_counter() - begin)
            print(f"{count:<10} {rounds:<4} | {found.lower:>12.9f} {found.upper:>12.9f} {1e3 * statistics.median(times):>7.1f}")


if __name__ == "__main__":
    main()
