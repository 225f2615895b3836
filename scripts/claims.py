"""Thousands of different pure claims at once against their exact law: every epsilon is a multiple of one power of two.

The worst pair of epsilon-DP loses +epsilon or -epsilon with odds e^epsilon : 1; composed, the law is the product of the
polynomials q + p x^k, in balls, and delta(epsilon) a sum over it.
"""

import math
import random
from collections import Counter
from typing import Any

from flint import arb, arb_poly, ctx

import hockeystick as hs

Case = dict[str, Any]


def random_case(rng: random.Random) -> Case:
    size = rng.randint(1000, 3000)
    highest = rng.choice((3, 12, 40))
    counts = Counter(rng.randint(1, highest) for _ in range(size))
    unit = 2.0 ** -round(math.log2(highest * math.sqrt(size)) + rng.uniform(-1.0, 4.0))
    delta = rng.choice((10.0 ** rng.uniform(-12, -1), 10.0 ** rng.uniform(-60, -12), 1e-16 * 10.0 ** rng.uniform(-1, 1)))
    return {"unit": unit, "counts": sorted(counts.items()), "delta": delta}


def built(case: Case) -> hs.PureDP:
    return hs.compose([hs.PureDP(epsilon=k * case["unit"]) * n for k, n in case["counts"]])


class Law:
    """delta(epsilon) in balls."""

    def __init__(self, case: Case) -> None:
        ctx.prec = 400
        self.unit = case["unit"]
        factors = []
        for k, n in case["counts"]:
            odds = (arb(k) * arb(self.unit)).exp()
            factors.append(arb_poly([1 / (1 + odds), *([0] * (k - 1)), odds / (1 + odds)]) ** n)
        while len(factors) > 1:
            factors.sort(key=lambda one: one.degree())
            factors = [factors[0] * factors[1], *factors[2:]]
        self.masses = factors[0].coeffs()
        self.least = -sum(k * n for k, n in case["counts"])

    def delta(self, epsilon: float) -> arb:
        ctx.prec = 400
        e, unit = arb(epsilon), arb(self.unit)
        total = arb(0)
        for place in range(len(self.masses) - 1, -1, -1):
            loss = (2 * place + self.least) * unit
            if not loss > e:
                break  # multiples of a power of two: the comparison is exact
            total += self.masses[place] * (1 - (e - loss).exp())
        return total


def verdict(case: Case) -> tuple[str, hs.Bounds]:
    bounds, law, goal = built(case).epsilon_bounds(case["delta"]), Law(case), arb(case["delta"])
    top = law.delta(bounds.upper)
    bottom = law.delta(bounds.lower) if bounds.lower > 0.0 else goal
    if top > goal or bottom < goal:
        return "violated", bounds
    return "holds" if top <= goal <= bottom else "undecided", bounds
