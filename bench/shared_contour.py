"""A sketch, not certified: epsilon after each of many steps along one contour that a block of counts shares.

    python bench/shared_contour.py

K of one step is taken at the nodes once; each count n weighs them with exp(n K), and Newton's method runs on all counts at once.
This tells what a certified engine of this kind could cost: compare the microseconds a step with the milliseconds of a question.
It needs counts for which the contour fades (here from some hundred steps on); the first steps of sparse runs need the lattice.
"""

import math
import os
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import hockeystick as hs
from hockeystick.loss.contour import Contour, Saddle

STEP, DELTA = hs.Gaussian(sigma=1.1).poisson(rate=0.01), 1e-5


def block(first: int, last: int) -> tuple[np.ndarray, float]:
    """Epsilons for the counts from first to last, and the seconds they took."""
    start = time.thread_time()
    run, log_delta = (STEP * last)._run("remove"), math.log(DELTA)
    saddle = Saddle.of_delta(run, log_delta)
    contour = Contour(run, saddle)
    contour.lay()
    c, h, nodes = contour.c, 0.97 * contour.step, int(1.15 * contour.u.size) + 2
    k = run.terms[0][0].slice(c, saddle.ahead, last).values(h, nodes)[0][0]
    u = h * np.arange(nodes)
    w = c + 1j * u
    kernel = 1.0 / (w * (w + 1.0))
    kernel[0] *= 0.5
    counts = np.arange(first, last + 1)
    weights = kernel * np.exp(counts[:, None] * (k - k[0].real))
    height = counts * k[0].real + math.log(h / math.pi)
    epsilon = saddle.epsilon + (counts - last) * (k[0].real / c)
    for _ in range(5):
        turned = weights * np.exp(-1j * epsilon[:, None] * u)
        total = turned.real.sum(axis=1)
        move = (log_delta - (height - c * epsilon + np.log(total))) / ((turned.imag * u).sum(axis=1) / total - c)
        epsilon = epsilon + move
        if np.abs(move).max() < 1e-11:
            break
    return epsilon, time.thread_time() - start


def main() -> None:
    block(4000, 4100)  # imports
    for first, last in ((500, 561), (1000, 1127), (5000, 5511), (9000, 9999)):
        found, seconds = block(first, last)
        off = max(abs(found[n - first] / (STEP * n).epsilon(DELTA, "remove") - 1.0) for n in (first, (first + last) // 2, last))
        print(f"steps {first} to {last}: {1e6 * seconds / found.size:.1f} us a step, off by {off:.0e} (relative)")


if __name__ == "__main__":
    main()
