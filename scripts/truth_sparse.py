"""Truths of sparse runs for tests/unit/loss/bigjump/test_split.py.

* Two steps: the closed form of one averaged over the noise of the other (tests/data/sparse.json).
* Many steps at tiny deltas, some with Laplace steps or Gaussian noise besides (tests/data/sparse_tiny.json): the transform of a
  step whose noise is cut off where hardly anything is left, by Gauss's quadrature at fifty digits, and the integral along a line.
  What is cut off weighs less than 1e-20 of delta.
* Both at deltas near the end of the doubles (tests/data/sparse_faint.json).
* One sampled step and some Laplace steps, beyond the largest loss of these (tests/data/sparse_beside.json): its closed form
  averaged over how far they fall short of it.

python scripts/truth_sparse.py          makes all anew (some minutes)
"""

import itertools
import json
import random
import sys
from pathlib import Path

import mpmath as mp

DATA = Path(__file__).resolve().parent.parent / "tests" / "data"
STORED, TINY, FAINT, BESIDE = (DATA / f"sparse{name}.json" for name in ("", "_tiny", "_faint", "_beside"))
CASES = 12
PIECE = 4  # of the noise


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


def log_delta_beside(rate, noise, a, count, beyond, scale):
    """log over the scale of delta at `beyond` above count * a, of one step and `count` Laplace losses within -a and a.

    A Laplace loss is a - v, with mass 1/2 at v = 0 and the density e^{-v/2}/4 up to 2a, where the step's delta must be nothing.
    """
    rate, noise, a = mp.mpf(rate), mp.mpf(noise), mp.mpf(a)
    here = single(rate, noise, beyond)
    assert single(rate, noise, beyond + 2 * a) < here * mp.mpf(2) ** (-count) * mp.mpf("1e-30")

    def inner(v):
        density = mp.fsum(
            mp.binomial(count, k) * mp.mpf(2) ** (-count - k) * v ** (k - 1) / mp.factorial(k - 1) for k in range(1, count + 1)
        )
        return density * mp.exp(-v / 2) * single(rate, noise, beyond + v) / scale

    points = [0, *(beyond * mp.mpf(2) ** j for j in range(-6, 12) if beyond * mp.mpf(2) ** j < 2 * a), 2 * a]
    return mp.log(mp.quad(inner, points, maxdegree=8) + mp.mpf(2) ** (-count) * here / scale)


class Cut:
    """So many steps without noise beyond `end`, and others: delta, along Re w = c with nodes `step` apart."""

    def __init__(self, rate, noise, steps, others, c, step, nodes, end):
        rate, noise = mp.mpf(rate), mp.mpf(noise)
        nodes_of = mp.calculus.quadrature.GaussLegendre(mp.mp).calc_nodes(6, mp.mp.prec)
        edges = [mp.mpf(-16), *map(mp.mpf, range(-12, int(end), PIECE)), mp.mpf(end)]
        ratios, weights = [], []
        for left, right in itertools.pairwise(edges):
            for x, weight in nodes_of:
                z = (left + right) / 2 + (right - left) / 2 * x
                ratios.append(mp.log1p(rate * mp.expm1(z / noise - 1 / (2 * noise**2))))
                weights.append(weight * (right - left) / 2 * mp.npdf(z))
        cut, floor = mp.ncdf(-mp.mpf(end)), mp.log1p(-rate)
        self.line = [mp.mpc(c, j * mp.mpf(step)) for j in range(nodes)]
        self.heights = []
        for w in self.line:
            excess = mp.fsum(p * mp.expm1((1 + w) * ratio) for p, ratio in zip(weights, ratios, strict=True))
            height = steps * mp.log1p(excess - cut + mp.ncdf(-16) * mp.expm1((1 + w) * floor))
            if "laplace" in others:
                a, count = 1 / mp.mpf(others["laplace"][0]), others["laplace"][1]
                height += count * mp.log(((1 + w) * mp.exp(w * a) + w * mp.exp(-(1 + w) * a)) / (1 + 2 * w))
            if "gaussian" in others:
                height += w * (w + 1) / (2 * mp.mpf(others["gaussian"]) ** 2)
            self.heights.append(height)
        self.step = mp.mpf(step)
        self.beyond = steps * (rate * mp.ncdf(-(mp.mpf(end) - 1 / noise)) + (1 - rate) * cut)

    def delta(self, epsilon, every=1):
        """From every node, or every second one."""
        nodes = list(zip(self.heights, self.line, strict=True))[::every]
        terms = [(mp.exp(k - w * epsilon) / (w * (w + 1))).real for k, w in nodes]
        return (mp.fsum(terms) - terms[0] / 2) * every * self.step / mp.pi


def tiny(hs, rng, mixed, least=-95, most=-25):
    """One random run of many steps at a tiny delta, or None if its line is too short or its nodes too far apart."""
    from hockeystick.loss.bigjump.thresholds import ThresholdGuide

    rate, noise = 10 ** rng.uniform(-6, -4), 10 ** rng.uniform(0.3, 1.3)
    steps, delta = round(10 ** rng.uniform(-1, 3) / rate), 10 ** rng.uniform(least, most)
    run, others = hs.Gaussian(noise).poisson(rate) * steps, {}
    if mixed:
        scale, count, sigma = 10 ** rng.uniform(0.5, 2), rng.randrange(20, 2000), 10 ** rng.uniform(1, 2)
        others = rng.choice(
            ({"laplace": [scale, count]}, {"gaussian": sigma}, {"laplace": [scale, count % 10], "gaussian": sigma})
        )
    for name, given in others.items():
        run += hs.Gaussian(given) if name == "gaussian" else hs.Laplace(given[0]) * given[1]
    near = run.epsilon(delta, neighbours="remove")
    if near > 50.0:
        return None
    saddle = ThresholdGuide(run._run("remove"), near, float(mp.log(delta))).saddle
    end = float(mp.sqrt(2 * (55 - mp.log(delta) + mp.log(steps))))
    cut = Cut(rate, noise, steps, others, saddle.c, 0.25 * saddle.width, 80, end)
    coarse = cut.delta(mp.mpf(near), 2) / cut.delta(mp.mpf(near))
    if abs(mp.exp(cut.heights[-1] - cut.heights[0])) > 1e-25 or cut.beyond > delta * 1e-20 or abs(coarse - 1) > 1e-15:
        return None
    epsilon = mp.findroot(lambda e: mp.log(cut.delta(e) / delta), (mp.mpf(near), mp.mpf(near) * (1 + mp.mpf(1e-8))), tol=1e-30)
    return {"rate": rate, "sigma": noise, "steps": steps, "delta": delta, **others, "epsilon": mp.nstr(epsilon, 20)}


def make_tiny() -> None:
    import hockeystick as hs

    mp.mp.dps = 50
    rng, stored = random.Random(5), []
    while len(stored) < 2 * CASES:
        if found := tiny(hs, rng, len(stored) >= CASES):
            stored.append(found)
            print(f"{len(stored)}/{2 * CASES}", found, file=sys.stderr)
    TINY.write_text(json.dumps(stored, indent=1) + "\n")


def make_faint() -> None:
    import hockeystick as hs

    rng, stored = random.Random(6), []
    mp.mp.dps = 32
    while len(stored) < CASES // 2:
        pair = two_steps(hs, rng, lambda: 10 ** rng.uniform(-306, -270))
        if pair:
            stored.append(pair)
            print(pair, file=sys.stderr)
    mp.mp.dps = 60
    while len(stored) < CASES:
        if found := tiny(hs, rng, len(stored) % 3 == 2, -306, -270):
            stored.append(found)
            print(f"{len(stored)}/{CASES}", found, file=sys.stderr)
    FAINT.write_text(json.dumps(stored, indent=1) + "\n")


def besides(rng):
    """A run where the noise's density is too small a number for a double, and random ones: rate, sigma, Laplace steps, delta."""
    yield 0.01898840556251108, 16.40746589919319, [17.125599453508375, 19], 1.694863233077404e-77
    while True:
        rate, noise, count = 10 ** rng.uniform(-6, -2), 10 ** rng.uniform(-0.2, 1.5), rng.randrange(1, 12)
        yield rate, noise, [10 ** rng.uniform(-0.5, 1), count], 10 ** rng.uniform(-90, -12)


def make_beside() -> None:
    import hockeystick as hs

    mp.mp.dps = 40
    stored = []
    for rate, noise, (scale, count), delta in besides(random.Random(8)):
        run = hs.Gaussian(noise).poisson(rate) + hs.Laplace(scale) * count
        top = count / mp.mpf(scale)
        near = mp.mpf(run.epsilon(delta, neighbours="remove")) - top
        if near <= 0 or single(mp.mpf(rate), mp.mpf(noise), near + 2 / mp.mpf(scale)) > delta * mp.mpf("1e-34"):
            continue
        given = rate, noise, 1 / mp.mpf(scale), count
        beyond = mp.findroot(
            lambda x, given=given, scale=delta: log_delta_beside(*given, x, scale),
            (near * mp.mpf("0.99"), near * mp.mpf("1.01")),
            solver="illinois",
            tol=1e-24,
        )
        epsilon = mp.nstr(top + beyond, 22)
        stored.append({"rate": rate, "sigma": noise, "laplace": [scale, count], "delta": delta, "epsilon": epsilon})
        print(f"{len(stored)}/{CASES}", stored[-1], file=sys.stderr)
        if len(stored) == CASES:
            break
    BESIDE.write_text(json.dumps(stored, indent=1) + "\n")


def two_steps(hs, rng, delta_of):
    """One random run of two steps, or None if nothing is lost."""
    first = 10 ** rng.uniform(-5.5, -1.5), rng.uniform(0.4, 2.0)
    second = first if rng.random() < 0.6 else (10 ** rng.uniform(-5, -1.5), rng.uniform(0.4, 2.0))
    delta = delta_of()
    run = hs.Gaussian(first[1]).poisson(first[0]) + hs.Gaussian(second[1]).poisson(second[0])
    near = mp.mpf(run.epsilon(delta, neighbours="remove"))
    if near == 0:
        return None
    scale = mp.mpf(delta)
    epsilon = mp.findroot(
        lambda e, a=first, b=second, s=scale: log_delta(a, b, e, s), (near, near * (1 + mp.mpf(1e-6))), tol=1e-30
    )
    return {"first": first, "second": second, "delta": delta, "epsilon": mp.nstr(epsilon, 20)}


def main() -> int:
    import hockeystick as hs

    mp.mp.dps = 32
    rng = random.Random(11)
    stored = []
    while len(stored) < CASES:
        if pair := two_steps(hs, rng, lambda: 10 ** (rng.uniform(-12, -4) if rng.random() < 0.6 else rng.uniform(-40, -12))):
            stored.append(pair)
            print(f"{len(stored)}/{CASES}", file=sys.stderr)
    STORED.write_text(json.dumps(stored, indent=1) + "\n")
    make_tiny()
    make_faint()
    make_beside()
    return 0


if __name__ == "__main__":
    sys.exit(main())
