"""How long mu, trade-off curves and their relatives take, and how often they ask for delta."""

import math
import time

import hockeystick as hs
from hockeystick import conversion

DPSGD = hs.Gaussian(sigma=9.4).poisson(rate=0.328) * 2000


def timed(name, question, repeats=5):
    question()
    spent = []
    for _ in range(repeats):
        start = time.perf_counter()
        question()
        spent.append(time.perf_counter() - start)
    print(f"{name:48s} {1e3 * min(spent):8.2f} ms")


def counted():
    """Evaluations of a profile at the certified width 1e-6: ours, and the grid of the paper (sqrt(2 pi) epsilon / width)."""
    asked = []

    def profile(epsilon):
        asked.append(epsilon)
        return max(0.0, -math.expm1((epsilon - 2.0) / 2.0))

    conversion.head_mu(profile, 2.0, 1e-6)
    ours = len(asked)
    asked.clear()
    intervals = 20_000
    width = conversion.head_mu_grid(profile, 2.0, intervals).width
    needed = intervals * width / 1e-6
    print(f"Laplace noise, width 1e-6: {ours} evaluations; the paper's grid {needed:.3g}")
    print(f"(at {intervals} intervals the grid is {width:.3g} wide, and that falls like one over their number)")


if __name__ == "__main__":
    timed("mu() of DP-SGD", DPSGD.mu)
    timed("mu(delta=1e-5) of DP-SGD", lambda: DPSGD.mu(delta=1e-5))
    timed("mu(delta=1e-10) of DP-SGD", lambda: DPSGD.mu(delta=1e-10))
    timed("regret(delta=1e-5) of DP-SGD", lambda: DPSGD.regret(delta=1e-5), 2)
    timed("tradeoff(0.1) of DP-SGD", lambda: DPSGD.tradeoff(0.1))
    timed("mu() of Laplace noise", hs.Laplace(scale=2.0).mu)
    timed("mu() of randomised response * 1000", (hs.RandomizedResponse(epsilon=0.1) * 1000).mu, 2)
    timed("mu() of DP-SGD + Laplace noise * 10", (DPSGD + hs.Laplace(scale=5.0) * 10).mu, 2)
    counted()
