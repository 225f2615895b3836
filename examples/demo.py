"""Accounts for a DP-SGD run and prints the answer, its interval, what it assumes and how long it took."""

import time

import hockeystick as hs

EXAMPLES, BATCH, SIGMA, EPOCHS, DELTA = 60_000, 256, 1.1, 15, 1e-5


def main() -> None:
    run = hs.dpsgd(examples=EXAMPLES, batch=BATCH, sigma=SIGMA, epochs=EPOCHS, sampler="poisson")
    run.epsilon(delta=DELTA / 2)  # warm up: the first question loads what it needs
    start = time.perf_counter()
    bounds = run.epsilon_bounds(delta=DELTA)
    milliseconds = 1e3 * (time.perf_counter() - start)

    print(f"DP-SGD: {EXAMPLES:,} examples, batches of {BATCH} on average, {EPOCHS} epochs, noise multiplier {SIGMA}")
    print(f"  composed as    {run.run}")
    print(f"  epsilon        {bounds.upper:.6f} at delta = {DELTA:g}")
    print(f"  certified      {bounds.lower:.10f} <= epsilon <= {bounds.upper:.10f}")
    print(f"  advantage      {run.advantage():.4f}: an attacker's true-positive rate minus false-positive rate, at most")
    print("  neighbours     data sets that differ by one record added or removed")
    print("  sampling       Poisson: each record joins each batch independently; other samplers have other answers")
    print("  noise          Gaussian, standard deviation 1.1 times the clipping norm of one record's gradient")
    print(f"  time           {milliseconds:.1f} ms, both directions and both ends")


if __name__ == "__main__":
    main()
