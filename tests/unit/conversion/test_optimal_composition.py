"""Optimal composition against exact sums in 200-bit numbers, and the kernels below it."""

import math
import random
from bisect import bisect_right
from functools import lru_cache
from itertools import accumulate

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick import conversion
from hockeystick.conversion import optimal_composition_delta, optimal_composition_epsilon
from hockeystick.errors import BadType, BadValue
from hockeystick.numerics.two_point_smoothed import GOAL
from hockeystick.numerics.two_point_sums import TwoPointSum, hockey_stick_root, log_hockey_stick

BITS = 240


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(90):
        yield


# The truth: all sums of one half against all sums of the other, in whole numbers of 2^-240


def fixed(value):
    return int(mp.nint(value * mpf(2) ** BITS))


def half(parts):
    sums = [(0, 1 << BITS, 1 << BITS)]  # loss, P-mass, Q-mass
    for epsilon, count in parts:
        p = 1 / (1 + mp.exp(-mpf(epsilon)))
        states = [
            (
                fixed((2 * i - count) * mpf(epsilon)),
                *(fixed(mp.binomial(count, i) * a**i * (1 - a) ** (count - i)) for a in (p, 1 - p)),
            )
            for i in range(count + 1)
        ]
        sums = [(z + z2, p1 * p2 >> BITS, q1 * q2 >> BITS) for z, p1, q1 in sums for z2, p2, q2 in states]
    return sorted(sums)


@lru_cache
def halves(parts):
    left, right = half(parts[::2]), half(parts[1::2])
    losses = [one[0] for one in right]
    heads = [0, *accumulate(one[1] for one in reversed(right))]
    tails = [0, *accumulate(one[2] for one in reversed(right))]
    return left, losses, heads, tails


def truth(parts, epsilon):
    """delta of parts (epsilon, delta, count) at a double epsilon."""
    left, losses, heads, tails = halves(tuple((e, n) for e, _, n in parts))
    x, pay = fixed(mpf(epsilon)), fixed(mp.exp(mpf(epsilon)))
    total = 0
    for z, p, q in left:
        above = len(losses) - bisect_right(losses, x - z)
        total += p * heads[above] - (pay * q >> BITS) * tails[above]
    kept = mp.fprod((1 - mpf(d)) ** n for _, d, n in parts)
    return (1 - kept) + kept * mpf(total) / mpf(2) ** (2 * BITS)


def check(parts, epsilon, most):
    exact = truth(parts, epsilon)
    found = optimal_composition_delta(parts, epsilon)
    assert mpf(found) >= exact * (1 - mpf(10) ** -40)
    assert mpf(found) <= exact * (1 + mpf(most))
    back = optimal_composition_epsilon(parts, float(exact))
    if exact > mpf(10) ** -60:
        assert truth(parts, back) <= mpf(float(exact)) * (1 + mpf(10) ** -40)


def random_parts(rng, most, counts=(1,)):
    size = 10.0 ** rng.uniform(-3, 0.7)
    return [
        (size * rng.uniform(0.2, 1.0), rng.choice((0.0, 10.0 ** rng.uniform(-12, -3))), rng.choice(counts))
        for _ in range(rng.randrange(1, most))
    ]


def test_few_parts_are_exact():
    rng = random.Random(1)
    for _ in range(120):
        parts = random_parts(rng, 9, (1, 1, 2, 5))
        ceiling = sum(e * n for e, _, n in parts)
        check(parts, rng.uniform(0.0, 1.0) * ceiling, 3e-12)


@pytest.mark.parametrize(
    ("epsilon", "exact"),
    [
        (0.5, "0.631217999315421618815448667985"),
        (8.0, "0.000543432807020081893176685506859"),
        (10.5, "0.000000830711293470897297391836790632"),
    ],
)
def test_forty_different_parts_are_exact(epsilon, exact):
    """The truths were found once by `truth`, which takes 15 seconds for 2^40 sums."""
    rng = random.Random(2)
    parts = [(rng.uniform(0.05, 0.5), 10.0 ** rng.uniform(-12, -9), 1) for _ in range(40)]
    exact = mpf(exact)
    assert exact * (1 - mpf(10) ** -28) <= optimal_composition_delta(parts, epsilon) <= exact * (1 + mpf(1e-11))
    if epsilon == 8.0:
        assert optimal_composition_epsilon(parts, float(exact)) == pytest.approx(epsilon, rel=1e-12)


def test_thirty_different_parts_are_exact():
    rng = random.Random(3)
    parts = [(rng.uniform(0.05, 0.5), 10.0 ** rng.uniform(-12, -9), 1) for _ in range(30)]
    check(parts, 5.0, 1e-11)


def test_one_part_very_often():
    """Against a sum in 60 digits of the binomial masses."""
    for epsilon, delta, count, wanted in ((0.01, 0.0, 20_000, 3.0), (1e-3, 1e-12, 10**6, 2.0), (0.5, 1e-9, 5_000, 700.0)):
        p = 1 / (1 + mp.exp(-mpf(epsilon)))
        first = int(mp.floor((mpf(wanted) / mpf(epsilon) + count) / 2)) + 1
        mass = mp.exp(mp.loggamma(count + 1) - mp.loggamma(first + 1) - mp.loggamma(count - first + 1))
        mass *= p**first * (1 - p) ** (count - first)
        total, heads, odds = mpf(0), first, p / (1 - p)
        while heads <= count:
            term = mass * -mp.expm1(mpf(wanted) - (2 * heads - count) * mpf(epsilon))
            total += term
            mass *= odds * (count - heads) / (heads + 1)
            heads += 1
            if term < total * mpf(10) ** -30 and heads > count * p:
                break
        kept = (1 - mpf(delta)) ** count
        exact = 1 - kept + kept * total
        found = optimal_composition_delta([(epsilon, delta, count)], wanted)
        assert exact * (1 - mpf(10) ** -25) <= found <= exact * (1 + mpf(1e-10))


def test_a_billion_times():
    """The Gaussian limit, to a part in a thousand; each answer undoes the other; the proved width is small."""
    parts = [(1e-5, 1e-18, 10**9)]
    epsilon = optimal_composition_epsilon(parts, 1e-6)
    mu = 2.0 * math.sqrt(1e9) * 0.5e-5
    assert epsilon == pytest.approx(conversion.gdp_to_epsilon(mu, 1e-6 - 1e-9), rel=1e-3)
    assert optimal_composition_delta(parts, epsilon) == pytest.approx(1e-6, rel=1e-8)
    low, high = log_hockey_stick(TwoPointSum(np.array([1e-5]), np.array([1e9])), 1.3)
    assert 0.0 < high - low < 1e-10


@pytest.mark.parametrize("count", [41, 90])
def test_many_different_parts_are_within_a_millionth(count):
    """Against exact sums: losses that are multiples of 2^-12 can be added up as whole numbers."""
    rng = random.Random(count)
    grains = [rng.randrange(20, 400) for _ in range(count)]
    unit = 2.0**-12
    law = {0: 1 << BITS}
    for grain in grains:
        p = fixed(1 / (1 + mp.exp(-mpf(grain * unit))))
        q = (1 << BITS) - p
        new: dict[int, int] = {}
        for z, mass in law.items():
            new[z + grain] = new.get(z + grain, 0) + (mass * p >> BITS)
            new[z - grain] = new.get(z - grain, 0) + (mass * q >> BITS)
        law = new
    parts = [(grain * unit, 0.0) for grain in grains]
    sd = math.sqrt(sum((grain * unit) ** 2 for grain in grains))
    for far in (0.0, 1.0, 4.5):
        epsilon = far * sd
        exact = mp.fsum(mpf(m) * -mp.expm1(mpf(epsilon) - z * mpf(unit)) for z, m in law.items() if z * unit > epsilon)
        exact /= mpf(2) ** BITS
        found = optimal_composition_delta(parts, epsilon)
        assert exact <= found <= exact * (1 + mpf(1e-6))


def test_thousands_of_different_parts():
    """The proof itself says within 1e-6."""
    rng = random.Random(5)
    sizes = sorted(rng.uniform(0.001, 0.05) for _ in range(3000))
    signs = TwoPointSum(np.array(sizes), np.ones(3000))
    low, high = log_hockey_stick(signs, 8.0)
    assert 0.0 <= high - low <= GOAL
    low, high = hockey_stick_root(signs, math.log(1e-6))
    assert 0.0 <= high - low <= 1e-6 * high
    assert optimal_composition_epsilon([(e, 0.0) for e in sizes], 1e-6) == pytest.approx(high, rel=1e-9)
    zcdp = conversion.zcdp_to_epsilon(sum(conversion.pure_to_zcdp_tight(e) for e in sizes), 1e-6)
    assert high < zcdp < 1.1 * high


# Edges


def test_edges():
    assert optimal_composition_delta([], 0.0) == 0.0
    assert optimal_composition_epsilon([], 0.0) == 0.0
    assert optimal_composition_epsilon([(0.1, 1e-8)], 1e-8) == 0.1  # k = 1 gives back what was claimed
    assert optimal_composition_delta([(0.1, 1e-8)], 0.1) == 1e-8
    assert optimal_composition_epsilon([(0.1, 1e-8)], 0.9e-8) == math.inf
    assert optimal_composition_epsilon([(0.1, 0.0, 10)], 0.0) == pytest.approx(1.0, rel=1e-15)
    assert optimal_composition_delta([(0.1, 0.0, 10)], 2.0) == 0.0
    assert optimal_composition_epsilon([(0.1, 1.0)], 0.5) == math.inf
    assert optimal_composition_epsilon([(0.1, 1.0)], 1.0) == 0.0
    assert optimal_composition_delta([(0.0, 0.25, 2)], 0.0) == 0.4375
    assert optimal_composition_delta([(0.3, 0.0, 0), (0.5, 0.0)], 0.0) == pytest.approx(math.tanh(0.25), rel=1e-13)
    assert optimal_composition_epsilon([(0.01, 0.0, 50)], 0.1) == 0.0


def test_huge_epsilons_are_bounded():
    assert optimal_composition_delta([(1e6, 0.0), (0.5, 0.0)], 1e6 + 0.4) == pytest.approx(
        math.exp(0.5) / (1 + math.exp(0.5)) * -math.expm1(-0.1), rel=1e-6
    )
    assert optimal_composition_delta([(1e300, 0.0)], 5.0) == 1.0
    assert optimal_composition_delta([(800.0, 0.0)], 799.0) == pytest.approx(-math.expm1(-1.0), rel=1e-9)
    assert 800.0 <= optimal_composition_epsilon([(800.0, 0.0), (0.1, 0.0)], 1e-3) <= 800.1
    assert optimal_composition_delta([(300.0, 0.0), (299.0, 0.0), (1.0, 0.0)], 598.0) == pytest.approx(
        math.exp(1.0) / (1 + math.exp(1.0)) * -math.expm1(-2.0), rel=1e-5
    )


def test_arrays_and_laws():
    parts = [(0.1, 1e-9, 30), (0.25, 0.0, 4)]
    epsilons = np.linspace(0.0, 4.2, 15)
    deltas = optimal_composition_delta(parts, epsilons)
    assert deltas.shape == (15,)
    assert np.all(np.diff(deltas) <= 0.0)
    assert np.allclose(optimal_composition_epsilon(parts, deltas[1:8]), epsilons[1:8], rtol=1e-9)
    assert optimal_composition_delta(parts[::-1], 1.0) == optimal_composition_delta(parts, 1.0)
    run = hs.ApproxDP(epsilon=0.1, delta=1e-9) * 30 + hs.PureDP(epsilon=0.25) * 4
    bounds = run.delta_bounds(1.0)
    assert bounds.lower <= optimal_composition_delta(parts, 1.0) <= bounds.upper * (1 + 1e-9)
    basic = conversion.basic_composition(parts)
    assert optimal_composition_epsilon(parts, basic[1]) <= basic[0]
    assert optimal_composition_epsilon(parts, 1e-5) <= conversion.advanced_composition(parts, 1e-5)


def test_bad_input():
    for parts in ("ab", 3, [(1.0,)], [(1.0, 0.0, 1, 2)], [(-1.0, 0.0)], [(1.0, 1.5)], [(1.0, 0.0, 0.5)], {1: 2}):
        with pytest.raises((BadType, BadValue)):
            optimal_composition_delta(parts, 1.0)
    for value in (-1.0, float("nan"), "1", True, None):
        with pytest.raises((BadType, BadValue)):
            optimal_composition_delta([(1.0, 0.0)], value)
        with pytest.raises((BadType, BadValue)):
            optimal_composition_epsilon([(1.0, 0.0)], value)
