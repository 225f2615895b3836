"""Basic and advanced composition (Steinke 2022), and the error no mean can avoid."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick import conversion
from hockeystick.errors import BadType, BadValue, Unsupported
from subsampling_cases import above, spread


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


def test_basic_composition_sums_exactly():
    rng = random.Random(1)
    for _ in range(50):
        parts = [(spread(rng, -12, 3), spread(rng, -300, -3), rng.randrange(1000)) for _ in range(rng.randrange(6))]
        epsilon, delta = conversion.basic_composition(parts)
        above(epsilon, mp.fsum(mpf(e) * k for e, _, k in parts), 3e-16)
        above(delta, min(mpf(1), mp.fsum(mpf(d) * k for _, d, k in parts)), 3e-16)
    assert conversion.basic_composition([]) == (0.0, 0.0)
    assert conversion.basic_composition([(1.0, 0.75), (1.0, 0.75)]) == (2.0, 1.0)
    assert conversion.basic_composition(np.array([[0.5, 0.25], [0.5, 0.25]])) == (1.0, 0.5)


def test_advanced_composition_is_theorem_22():
    rng = random.Random(2)
    for _ in range(100):
        parts = [(spread(rng, -9, 1), rng.choice((0.0, spread(rng, -30, -6))), rng.randrange(1, 50)) for _ in range(3)]
        delta = rng.choice((spread(rng, -4, 0), 1.0))
        squares = mp.fsum(mpf(e) ** 2 * k for e, _, k in parts)
        left = mpf(delta) - mp.fsum(mpf(d) * k for _, d, k in parts)
        advanced = squares / 2 + mp.sqrt(2 * squares * mp.log(1 / left))
        above(conversion.advanced_composition(parts, delta), min(advanced, mp.fsum(mpf(e) * k for e, _, k in parts)))


def test_advanced_composition_at_the_edges():
    half = [(0.5, 0.25, 2)]
    assert conversion.advanced_composition(half, 0.5) == 1.0  # nothing is left: basic composition still holds (S-E18)
    assert conversion.advanced_composition([], 0.0) == 0.0
    assert conversion.advanced_composition([(1e200, 0.0)], 1e-6) == 1e200
    with pytest.raises(Unsupported, match="sum to more"):
        conversion.advanced_composition(half, 0.25)
    several = conversion.advanced_composition([(0.01, 0.0, 10_000)], [1e-9, 1e-6, 1e-3])
    assert several.shape == (3,)
    assert list(several) == sorted(several, reverse=True)


def test_advanced_composition_near_delta_one():
    """1 - delta below the rounding of delta: the logarithm is not zero."""
    above(conversion.advanced_composition([(1e-3, 1e-20)], 1.0), mpf(1e-6) / 2 + mp.sqrt(mpf(2e-6) * mpf(1e-20)), 1e-9)


def test_mean_error_lower_bound_is_theorem_25():
    rng = random.Random(20)
    for _ in range(200):
        examples, epsilon = rng.randrange(1, 10**6), spread(rng, -9, 1)
        least = 200.0 * math.expm1(epsilon) ** 2 * examples
        queries = math.ceil(least * (1.0 + spread(rng, -6, 4))) + 1
        if queries > 2**53:
            continue
        truth = min(mp.sqrt(queries) / (16 * examples * mp.expm1(mpf(epsilon))), mpf(1) / 10)
        value = conversion.mean_error_lower_bound(examples, queries, epsilon, delta=1 / (100 * examples))
        assert truth * (1 - mpf(3e-15)) <= mpf(value) <= truth
        if queries < least * 1.5 and least > 10.0:
            with pytest.raises(Unsupported, match="queries"):
                conversion.mean_error_lower_bound(examples, int(least * 0.9), epsilon)
    assert conversion.mean_error_lower_bound(10, 1, 0.0) == pytest.approx(0.1, rel=1e-15)
    with pytest.raises(Unsupported, match="delta"):
        conversion.mean_error_lower_bound(10, 1000, 0.1, delta=0.0011)
    with pytest.raises(Unsupported, match="queries"):
        conversion.mean_error_lower_bound(10, 1000, 1e6)


def test_a_mean_with_noise_does_not_beat_the_lower_bound():
    """Gaussian noise for (epsilon, delta) by zCDP, sensitivity sqrt(queries) / examples: far above it, as it must be."""
    examples, queries, epsilon, delta = 1000, 40_000, 0.3, 1e-5
    log = math.log(1.0 / delta)
    rho = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2
    sigma = math.sqrt(queries / (2.0 * rho)) / examples
    assert sigma > conversion.mean_error_lower_bound(examples, queries, epsilon, delta)


@pytest.mark.parametrize("compose", [conversion.basic_composition, lambda parts: conversion.advanced_composition(parts, 0.5)])
def test_wrong_parts_are_named(compose):
    for wrong in (1.0, None, "parts", [0.1, 0.2], ["ab"], {1: 2}, [(0.1, "0")], [(True, 0.0)], [(0.1, 0.0, True)]):
        with pytest.raises(BadType, match="parts"):
            compose(wrong)
    for wrong in (
        [(0.1,)],
        [(0.1, 0.0, 1, 1)],
        [(-0.1, 0.0)],
        [(0.1, 1.5)],
        [(0.1, 0.0, 1.5)],
        [(0.1, 0.0, -1)],
        [(math.inf, 0.0)],
    ):
        with pytest.raises(BadValue, match="parts"):
            compose(wrong)


def test_the_error_of_a_sampled_mean():
    for sigma, rate, examples in [(0.1, 0.05, 1000), (0.0, 1e-9, 3), (3.0, 1.0, 7)]:
        truth = Fraction(sigma) ** 2 + (1 - Fraction(rate)) / (Fraction(rate) * examples)
        found = conversion.sampled_mean_error(sigma, rate, examples)
        assert truth <= Fraction(found) <= truth * (1 + Fraction(1, 10**15))
    with pytest.raises(BadValue, match=r"rate is 0\.0"):
        conversion.sampled_mean_error(1.0, 0.0, 10)
