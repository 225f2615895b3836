"""Random whole numbers whose law is met exactly, from random whole numbers alone: no floating-point number is drawn.

Algorithms 1 and 2 of Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy" (2020).  The time they take
depends on what is drawn.
"""

import random
from fractions import Fraction


def discrete_laplace(decay: Fraction, rng: random.Random) -> int:
    """A whole number z with a probability proportional to e^(-decay |z|), exactly, for a rational decay > 0.

    >>> discrete_laplace(Fraction(1000), random.Random(1))
    0
    """
    s, t = decay.numerator, decay.denominator
    while True:
        fraction = rng.randrange(t)
        if not _bernoulli_exp(fraction, t, rng):
            continue
        whole = 0
        while _bernoulli_exp(1, 1, rng):
            whole += 1
        size = (fraction + t * whole) // s
        negative = rng.randrange(2) == 1
        if negative and size == 0:
            continue
        return -size if negative else size


def _bernoulli_exp(numerator: int, denominator: int, rng: random.Random) -> bool:
    """True with probability e^-x, x = numerator / denominator from 0 to 1: the first k at which a Bernoulli(x/k) fails is odd."""
    k = 1
    while rng.randrange(denominator * k) < numerator:
        k += 1
    return k % 2 == 1
