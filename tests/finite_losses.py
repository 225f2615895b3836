"""Losses of finitely many values with their exact laws, to forty digits."""

import itertools
import math
import random
from fractions import Fraction

from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.loss.pairs.discrete import TabulatedLoss

SLACK = 1e-15


def listed(rng: random.Random, atoms: int, infinite: float = 0.0) -> tuple[TabulatedLoss, list[tuple[mpf, mpf]]]:
    """A loss of so many values on no lattice, and the same as (log ratio, mass) under P, to forty digits."""
    p = [rng.uniform(0.1, 1.0) for _ in range(atoms)]
    q = [rng.uniform(0.1, 1.0) for _ in range(atoms)]
    mp.dps = 40
    p = [mpf(x) / sum(map(mpf, p)) * (1 - mpf(infinite)) for x in p]
    q = [mpf(x) / sum(map(mpf, q)) for x in q]
    exact = [(mp.log(x / y), x) for x, y in zip(p, q, strict=True)]
    values = tuple(sorted((float(z), float(mp.log(x)), float(mp.log(x) - z)) for z, x in exact))
    return TabulatedLoss(values, infinite_mass=Fraction(infinite)), exact


def exact_delta(exact: list[tuple[mpf, mpf]], steps: int, epsilon: float) -> mpf:
    """The finite part of delta, summed over how often each value comes."""
    total = mpf(0)
    for counts in itertools.product(range(steps + 1), repeat=len(exact) - 1):
        rest = steps - sum(counts)
        if rest < 0:
            continue
        often = (*counts, rest)
        z = sum(n * value for n, (value, _) in zip(often, exact, strict=True))
        if z > epsilon:
            ways = math.factorial(steps) // math.prod(math.factorial(n) for n in often)
            mass = mp.fprod(p**n for n, (_, p) in zip(often, exact, strict=True))
            total += ways * mass * (1 - mp.exp(epsilon - z))
    return total


def drawn(rng: random.Random) -> tuple[hs.RandomizedResponse, float, list[tuple[mpf, mpf]]]:
    """Sparsely sampled randomised response, and the values of a removal as above."""
    epsilon, categories, rate = rng.uniform(0.3, 3.0), rng.choice((3, 4, 7)), 10.0 ** rng.uniform(-4, -1)
    mp.dps = 40
    yes, q = mp.exp(mpf(epsilon)), mpf(rate)
    total = yes + categories - 1
    exact = []
    for p_mass, q_mass in ((yes / total, 1 / total), (1 / total, yes / total), ((categories - 2) / total,) * 2):
        mixed = (1 - q) * q_mass + q * p_mass
        exact.append((mp.log(mixed / q_mass), mixed))
    return hs.RandomizedResponse(epsilon=epsilon, categories=categories), rate, exact
