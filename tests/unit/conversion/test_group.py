"""Groups and mixtures (Steinke 2022): the lemmas, against many digits."""

import math
import random
from fractions import Fraction

import pytest
from mpmath import mp, mpf

from hockeystick import conversion
from hockeystick.conversion.group import log_mixture
from subsampling_cases import above, spread, zcdp


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


def test_log_mixture_takes_an_exact_exponent():
    """With a rounded exponent the error would be |exponent| units, 1e-13 here."""
    rng = random.Random(4)
    for _ in range(300):
        exponent = Fraction(rng.uniform(0, 1500)) / 3
        weight = min(1.0, float(mp.exp(-mpf(exponent.numerator) / exponent.denominator) * rng.uniform(0.1, 10)))
        if weight > 0.0:
            above(
                log_mixture(weight, exponent), mp.log1p(weight * mp.expm1(mpf(exponent.numerator) / exponent.denominator)), 5e-15
            )


def test_groups_of_approximate_dp():
    rng = random.Random(16)
    for _ in range(300):
        epsilon, size = rng.choice((0.0, spread(rng, -20, 1.5))), rng.choice((1, 2, 3, 10, 1000))
        delta = spread(rng, -290, 0)
        total, value = conversion.group_approx(epsilon, delta, size)
        above(total, mpf(epsilon) * size, 3e-16)
        geometric = mpf(size) if epsilon == 0.0 else mp.expm1(mpf(epsilon) * size) / mp.expm1(mpf(epsilon))
        above(value, min(mpf(1), mpf(delta) * geometric))
        if size == 2:
            assert conversion.replace_from_add_remove(epsilon, delta) == (total, value)
    assert conversion.replace_from_add_remove(800.0, 0.0) == (1600.0, 0.0)
    assert conversion.replace_from_add_remove(800.0, 1e-9) == (1600.0, 1.0)
    assert conversion.group_approx(1e308, 0.5, 1) == (1e308, 0.5)
    assert conversion.group_approx(1e308, 0.0, 2**53) == (math.inf, 0.0)


def test_mixture_rdp_is_lemma_33_6():
    rng = random.Random(17)
    for _ in range(400):
        order, weight = 1.0 + spread(rng, -9, 6), rng.choice((rng.random(), spread(rng, -320, 0), 1.0 - spread(rng, -16, 0)))
        first, second = spread(rng, -9, 4), rng.choice((0.0, spread(rng, -9, 4)))
        s, t = mpf(weight), mpf(order) - 1
        low = mpf(min(first, second))
        truth = low + mp.log((1 - s) * mp.exp(t * (first - low)) + s * mp.exp(t * (second - low))) / t
        with mp.workdps(400):
            above(conversion.mixture_rdp(order, weight, first, second), truth, 1e-14)
    assert conversion.mixture_rdp(1, 0.25, 1.0, 2.0) == 1.25
    assert conversion.mixture_rdp(7, 0.0, 1.0, 2.0) == 1.0
    assert conversion.mixture_rdp(7, 1.0, 1.0, 2.0) == 2.0


def test_group_rdp_is_lemma_33_7():
    rng = random.Random(18)
    for _ in range(200):
        order, one, two = 1.0 + spread(rng, -3, 3), spread(rng, -6, 3), spread(rng, -6, 3)
        via = order * (1.0 + spread(rng, -3, 3))
        asked = []

        def constant(value, asked=asked):
            return lambda at: asked.append(at) or value

        value = conversion.group_rdp(order, via, constant(one), constant(two))
        a, b = mpf(order), mpf(via)
        above(asked[0], a * (b - 1) / (b - a), 3e-16)
        assert asked[1] == via
        above(value, b / (b - 1) * mpf(one) + mpf(two), 3e-16)
        assert conversion.group_rdp(order, via, zcdp(one), zcdp(two)) >= conversion.group_zcdp(one, two) * order * (1 - 1e-14)
    assert conversion.group_rdp(2, 4, lambda _: math.inf, zcdp(1.0)) == math.inf


def test_group_zcdp_is_its_formula():
    rng = random.Random(19)
    for _ in range(200):
        one, two = spread(rng, -300, 300), rng.choice((0.0, spread(rng, -300, 300)))
        above(conversion.group_zcdp(one, two), (mp.sqrt(mpf(one)) + mp.sqrt(mpf(two))) ** 2, 2e-15)
