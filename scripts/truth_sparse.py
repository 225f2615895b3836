"""Truths of sparse runs for tests/test_parted.py: two steps, the closed form of one averaged over the noise of the other.

python scripts/truth_sparse.py          makes tests/data/sparse.json anew (some minutes)
"""

import json
import random
import sys
from pathlib import Path

import mpmath as mp

STORED = Path(__file__).resolve().parent.parent / "tests" / "data" / "sparse.json"
CASES = 12


def single(rate, noise, epsilon):
    """delta of one step in closed form, for any epsilon."""
    grown = mp.e**epsilon
    if grown <= 1 - rate:
        return 1 - grown
    inner = mp.log((grown - 1 + rate) / rate)
    t = inner * noise - 1 / (2 * noise)
    return rate * (mp.ncdf(-t) - mp.e**inner * mp.ncdf(-t - 1 / noise))


def log_delta(first, second, epsilon, scale):
    """log of delta of two steps, over the scale."""
    (rate, noise), (rate2, noise2) = (tuple(map(mp.mpf, one)) for one in (first, second))

    def inner(z):
        x = rate * mp.expm1(z / noise - 1 / (2 * noise**2))
        return mp.npdf(z) * (1 + x) * single(rate2, noise2, epsilon - mp.log1p(x)) / scale

    edge = noise * mp.log((mp.e**epsilon - 1 + rate) / rate) + 1 / (2 * noise)
    last = noise * mp.log((mp.e**epsilon / (1 - rate2) - 1 + rate) / rate) + 1 / (2 * noise)
    steps = [d for s in (0.001, 0.01, 0.1, 0.25, 0.5, 1, 2, 4, 8) for d in (-s, s)]
    points = {*map(mp.mpf, (-20, -12, -6, -3, -1, 0, 1, 3)), edge, last, edge + 20, *(edge + d * noise for d in steps)}
    return mp.log(mp.quad(inner, sorted(point for point in points if point >= -20), maxdegree=8))


def main() -> int:
    import hockeystick as hs

    mp.mp.dps = 32
    rng = random.Random(11)
    stored = []
    while len(stored) < CASES:
        first = 10 ** rng.uniform(-5.5, -1.5), rng.uniform(0.4, 2.0)
        second = first if rng.random() < 0.6 else (10 ** rng.uniform(-5, -1.5), rng.uniform(0.4, 2.0))
        delta = 10 ** (rng.uniform(-12, -4) if rng.random() < 0.6 else rng.uniform(-40, -12))
        run = hs.Gaussian(first[1]).poisson(first[0]) + hs.Gaussian(second[1]).poisson(second[0])
        near = mp.mpf(run.epsilon(delta, neighbours="remove"))
        if near == 0:
            continue
        scale = mp.mpf(delta)
        epsilon = mp.findroot(
            lambda e, a=first, b=second, s=scale: log_delta(a, b, e, s), (near, near * (1 + mp.mpf(1e-6))), tol=1e-30
        )
        stored.append({"first": first, "second": second, "delta": delta, "epsilon": mp.nstr(epsilon, 20)})
        print(f"{len(stored)}/{CASES}", file=sys.stderr)
    STORED.write_text(json.dumps(stored, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
