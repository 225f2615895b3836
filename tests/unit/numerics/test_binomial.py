"""Logarithms of binomial masses within the errors that they claim."""

import math
import random
from fractions import Fraction

import numpy as np
from mpmath import mp, mpf

from hockeystick.numerics.binomial import log_fair_masses, log_masses, weights_up


@mp.workdps(40)
def test_fair_masses():
    for count in (1, 2, 7, 400, 10**6, 10**9):
        for heads in sorted({(count + 1) // 2, (count + 1) // 2 + int(count**0.5 / 2), min(count, count // 2 + 17), count}):
            if heads > count or (heads == count and count > 400):
                continue
            found, error = log_fair_masses(np.array([float(count)]), np.array([float(heads)]))
            truth = mp.loggamma(count + 1) - mp.loggamma(heads + 1) - mp.loggamma(count - heads + 1) - count * mp.log(2)
            assert abs(mpf(float(found[0])) - truth) <= float(error[0])
            assert error[0] < 1e-11


@mp.workdps(90)
def test_binomial_masses_within_their_error():
    rng = random.Random(7)
    claimed = 0.0
    for _ in range(400):
        count, size = int(10.0 ** rng.uniform(0, 12)), 10.0 ** rng.uniform(-8, 3.0)
        p = 1.0 / (1.0 + math.exp(-size))
        heads = int(count * p + rng.gauss(0.0, 8.0) * math.sqrt(count * p * (1.0 - p)))
        heads = min(count, max(0, heads)) if rng.random() < 0.8 else rng.randrange(count + 1)
        (found,), (error,) = log_masses(count, size, heads, heads)
        log_p = -mp.log1p(mp.exp(-mpf(size)))
        exact = mp.loggamma(count + 1) - mp.loggamma(heads + 1) - mp.loggamma(count - heads + 1)
        exact += heads * log_p + (count - heads) * (log_p - mpf(size))
        off = abs(mpf(float(found)) - exact)
        assert off <= error
        claimed = max(claimed, float(off / error))
    assert claimed < 1.0


def test_weights_are_never_rounded_to_fewer_participations():
    for pieces, rate in ((1, 0.3), (7, 0.01), (40, 0.5), (60, 0.97), (3, 0.0), (3, 1.0), (50, 1e-7)):
        found = list(map(Fraction, weights_up(pieces, rate)))
        chance, total, tail, exact_tail = Fraction(rate), sum(found), Fraction(0), Fraction(0)
        for k in range(pieces, 0, -1):
            tail += found[k] / total
            exact_tail += math.comb(pieces, k) * chance**k * (1 - chance) ** (pieces - k)
            assert tail >= exact_tail
            assert float(tail) <= float(exact_tail) * (1.0 + 1e-13) + pieces * 1e-300
