"""Sums of a few two-point variables against all of their values, one by one."""

import itertools

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.numerics.two_point_sums import TwoPointSum, hockey_stick_root, log_hockey_stick

SIZES, COUNTS = (0.3, 0.55, 1.25), (3, 1, 2)
TERMS = TwoPointSum(np.array(SIZES), np.array(COUNTS, dtype=float))


@mp.workdps(40)
def truth(x):
    """E (1 - e^(x - Z))+, every outcome by itself."""
    steps = [size for size, count in zip(SIZES, COUNTS, strict=True) for _ in range(count)]
    total = mpf(0)
    for signs in itertools.product((1, -1), repeat=len(steps)):
        z = mp.fsum(sign * mpf(size) for sign, size in zip(signs, steps, strict=True))
        mass = mp.fprod(1 / (1 + mp.exp(-sign * mpf(size))) for sign, size in zip(signs, steps, strict=True))
        total += mass * max(mpf(0), 1 - mp.exp(mpf(x) - z))
    return total


@pytest.mark.parametrize("x", [0.0, 0.4, 1.7, 3.0, 3.9])
def test_the_hockey_stick(x):
    low, high = log_hockey_stick(TERMS, x)
    assert low <= mp.log(truth(x)) <= high
    assert high - low < 1e-11


@pytest.mark.parametrize("x", [0.2, 1.7, 3.3])
def test_where_it_falls_to_a_level(x):
    level = float(mp.log(truth(x)))
    low, high = hockey_stick_root(TERMS, level, 1e-15 * abs(level))
    assert low <= x <= high
    assert high - low < 1e-10


def test_beyond_the_largest_sum_there_is_nothing():
    assert log_hockey_stick(TERMS, TERMS.total + 1e-6)[1] == -np.inf
    assert hockey_stick_root(TERMS, -500.0)[1] == pytest.approx(TERMS.total, rel=1e-12)
    assert hockey_stick_root(TERMS, -1e-3) == (0.0, 0.0)


@pytest.mark.parametrize("c", [0.3, 1.0, 6.0])
def test_the_cumulant_and_its_derivatives(c):
    def exact(s):
        return mp.fsum(
            n * mp.log((mp.exp((s + 1) * a) + mp.exp(-s * a)) / (1 + mp.exp(a))) for a, n in zip(SIZES, COUNTS, strict=True)
        )

    value, error = TERMS.cumulant(c)
    assert abs(exact(mpf(c)) - value) <= error
    assert TERMS.derivative(c) == pytest.approx(float(mp.diff(exact, c)), rel=1e-9)
    assert TERMS.second_derivative(c) == pytest.approx(float(mp.diff(exact, c, 2)), rel=1e-6)
