"""Gaussian DP to approximate DP and back, against many digits."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from gdp_cases import SHARP, above
from hockeystick import conversion
from hockeystick.conversion._kernels import normals
from hockeystick.conversion.gdp import mu_ends


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


def below(value, truth, most=SHARP):
    above(-value, -mpf(truth), most)


def tail(x):
    return mp.erfc(x / mp.sqrt(2)) / 2


def density(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def log_delta(mu, epsilon):
    """log delta_mu(epsilon) from the definition, with the digits that cancel added."""
    with mp.workdps(60):
        mu, epsilon = mpf(mu), mpf(epsilon)
        a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        lost = abs(mp.log10(mu)) + 2 * mp.log10(2 + b) + (a * a / 4 if a < 0 else 0)
    with mp.workdps(80 + 2 * int(lost)):
        a, b = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        return mp.log(tail(a) * mp.exp(a * a / 2) - tail(b) * mp.exp(b * b / 2)) - a * a / 2


def gaussian_pairs(seed, number):
    """mu and epsilon up to 1e4, from certain disclosure to delta = 1e-300."""
    rng = random.Random(seed)
    for k in range(number):
        mu = 10.0 ** (rng.uniform(-3.0, 2.1), rng.uniform(-12.0, 0.0), rng.uniform(-280.0, -12.0), rng.uniform(0.0, 2.1))[k % 4]
        a = rng.uniform(*((-8.0, 36.0), (0.0, 36.0), (0.0, 8.0), (-3.0, 36.0))[k % 4])
        yield mu, 0.0 if rng.random() < 0.1 else min(1e4, max(0.0, mu * (a + mu / 2.0)))


def test_the_bisection_of_the_paper():
    """G, Algorithm 1: [mu_minus, mu_minus + b] holds the mu."""
    for epsilon, delta, minus, b in ((1.0, 1e-5, 0.263671875, 0.01), (0.0, 0.5, 1.348979473114013671875, 1e-6)):
        assert minus <= conversion.gdp_mu(epsilon, delta) <= minus + b


def test_delta_of_gaussian_dp_against_many_digits():
    for mu, epsilon in gaussian_pairs(5, 160):
        truth = log_delta(mu, epsilon)
        assert mp.exp(truth) <= mpf(conversion.gdp_to_delta(mu, epsilon)) <= mp.exp(truth) * (1 + mpf(SHARP)) + 3 * mpf(5e-324)
        above(conversion.gdp_to_log_delta(mu, epsilon), truth, max(SHARP, float(SHARP / abs(truth))) if truth > -0.7 else SHARP)


def test_delta_far_out():
    rng = random.Random(6)
    for _ in range(40):
        mu = 10.0 ** rng.uniform(-100, 4)
        epsilon = min(1e15, mu * (10.0 ** rng.uniform(1.6, 9) + mu / 2.0))
        above(conversion.gdp_to_log_delta(mu, epsilon), log_delta(mu, epsilon), 1e-14)
    assert conversion.gdp_to_delta(1e-200, 1.0) == 5e-324
    assert -math.inf < conversion.gdp_to_log_delta(1e-200, 1.0) < -1.797e308
    assert conversion.gdp_to_log_delta(0.0, 1.0) == -math.inf
    assert conversion.gdp_to_delta([0.0, 1e8], 0.0).tolist() == [0.0, 1.0]
    assert conversion.gdp_to_delta(1e8, 1e15) == 1.0
    for mu in (5.0, 10.0, 14.0):  # near 1 to the last digits
        above(conversion.gdp_to_delta(mu, 0.5), mp.exp(log_delta(mu, 0.5)), 1e-15)


def test_mu_against_many_digits():
    """Both ends, by the sign of the excess there and Newton's method for the distance."""
    for mu, epsilon in gaussian_pairs(7, 80):
        delta = conversion.gdp_to_delta(mu, epsilon)
        if not 1e-300 < delta < 1.0:
            continue
        lower, upper = mu_ends(epsilon, delta)
        assert upper == conversion.gdp_mu(epsilon, delta)
        excess = log_delta(upper, epsilon) - mp.log(mpf(delta))
        assert excess >= 0
        assert log_delta(lower, epsilon) <= mp.log(mpf(delta))
        a = epsilon / mpf(upper) - mpf(upper) / 2
        growth = upper * density(a) / mpf(delta)
        assert excess / growth <= max(mpf(1e-13), 3e-15 * -mp.log(mpf(delta)))


def test_mu_at_the_edges():
    assert conversion.gdp_mu(3.0, [0.0, 1.0]).tolist() == [0.0, math.inf]
    for delta in (5e-324, 1e-300, 1e-16, 0.5, 1.0 - 2.0**-53):
        for epsilon in (0.0, 1e-300, 1.0, 1e4, 1e15):
            lower, upper = mu_ends(epsilon, delta)
            assert lower <= upper <= lower * (1.0 + 3e-12) + 1e-320
    with mp.workdps(60):  # delta = 1 - 2^-53 at epsilon = 0
        above(2 * mp.sqrt(2) * mp.erfinv(mpf(1) - mpf(2) ** -53), mpf(mu_ends(0.0, 1.0 - 2.0**-53)[0]), 1e-13)


def test_epsilon_against_many_digits():
    for mu, epsilon in gaussian_pairs(8, 80):
        delta = conversion.gdp_to_delta(mu, epsilon)
        if not 1e-300 < delta < 1.0:
            continue
        found = conversion.gdp_to_epsilon(mu, delta)
        log = mp.log(mpf(delta))
        if found == 0.0:
            assert log_delta(mu, 0.0) <= log
            continue
        lack = log - log_delta(mu, found)
        assert lack >= 0
        slope = mp.exp(found + mp.log(tail(found / mpf(mu) + mpf(mu) / 2)) - log)
        assert lack / slope <= max(SHARP, 3e-15 * float(-log) if epsilon < mu else 0.0) * max(mpf(found), mpf(mu))
    assert conversion.gdp_to_epsilon(1.0, 0.5) == 0.0
    assert conversion.gdp_to_epsilon(0.0, 1e-300) == 0.0
    assert conversion.gdp_to_epsilon(1e8, 1e-300) == pytest.approx(5e15, rel=1e-5)


def test_the_gradient_is_that_of_mu():
    for mu, epsilon in gaussian_pairs(9, 60):
        slope, steep = conversion.gdp_mu_gradient(mu, epsilon)
        a, b = epsilon / mpf(mu) - mpf(mu) / 2, epsilon / mpf(mu) + mpf(mu) / 2
        above(slope, tail(b) / density(b), 6e-15)
        assert slope < math.sqrt(math.pi / 2.0) * (1.0 + 1e-14)
        if a * a < 1400:
            above(steep, 1 / density(a), 6e-15)
    assert conversion.gdp_mu_gradient(1.0, 100.0)[1] == math.inf
    delta, step = conversion.gdp_to_delta(1.0, 1.0), 1e-5
    found = conversion.gdp_mu([1.0 + step, 1.0 - step, 1.0, 1.0], [delta, delta, delta + step, delta - step])
    assert conversion.gdp_mu_gradient(1.0, 1.0) == pytest.approx(
        ((found[0] - found[1]) / (2 * step), (found[2] - found[3]) / (2 * step)), rel=1e-7
    )


def test_pure_dp_is_gaussian():
    rng = random.Random(10)
    for k in range(80):
        epsilon = 10.0 ** (rng.uniform(-3, 3) if k % 2 else rng.uniform(-100, 6))
        mu = conversion.pure_to_gdp(epsilon)
        with mp.workdps(250):
            need = 1 / (1 + mp.exp(mpf(epsilon)))
            lack = mp.log(need) - mp.log(tail(mpf(mu) / 2))  # in log P(N > mu / 2)
            assert lack >= 0
            distance = lack * tail(mpf(mu) / 2) / density(mpf(mu) / 2) * 2
        assert distance <= mpf(mu) * max(mpf(1e-13), 3e-15 * -mp.log(mpf(epsilon)))
        # it is G of the implied profile at 0, the largest value of that G (Theorem 5.1)
        if 1e-6 < epsilon < 5.0:
            transformed = conversion.gdp_transform(lambda e, epsilon=epsilon: conversion.implied_delta(epsilon, 0.0, e))
            assert transformed(0.0) == pytest.approx(mu, rel=1e-12)
            assert transformed(0.5 * epsilon) < mu
    assert conversion.pure_to_gdp([0.0, 5e-324]).tolist()[0] == 0.0
    assert conversion.pure_to_gdp(1e15) == pytest.approx(2.0 * math.sqrt(2e15), rel=1e-12)


def test_the_tradeoff_curve():
    rng = random.Random(11)
    for _ in range(80):
        alpha = rng.choice((10.0 ** rng.uniform(-200, 0), 1.0 - 10.0 ** rng.uniform(-15, -0.1), rng.random()))
        mu = 10.0 ** rng.uniform(-3, 1)
        with mp.workdps(260):
            t = -mp.sqrt(2) * mp.erfinv(2 * mpf(alpha) - 1) if alpha > 1e-30 else mpf(normals.quantile(math.log(alpha), 1.0))
            for _ in range(4):
                t += (tail(t) - mpf(alpha)) / density(t)
            truth = tail(mu - t)
            x = float(mu - t)
        below(conversion.gdp_tradeoff(mu, alpha), truth, 2e-14 * (1.0 + abs(x)))
    assert conversion.gdp_tradeoff(1.0, [0.0, 1.0]).tolist() == [1.0, 0.0]
    assert 0.7 - 1e-15 < conversion.gdp_tradeoff(0.0, 0.3) <= 0.7
    assert conversion.gdp_tradeoff(1e8, 0.5) == 0.0


def test_the_tradeoff_curve_and_the_profile_are_conjugate():
    """delta_mu(epsilon) is the largest 1 - beta - e^epsilon alpha (Dong, Roth, Su, Proposition 2.12)."""
    for mu, epsilon in itertools.product((0.3, 1.0, 3.0), (0.0, 0.5, 2.0)):
        alphas = np.linspace(0.0, 1.0, 20_001)[::20]
        gains = 1.0 - conversion.gdp_tradeoff(mu, alphas) - math.exp(epsilon) * alphas
        delta = conversion.gdp_to_delta(mu, epsilon)
        best = math.erfc((epsilon / mu + mu / 2.0) / math.sqrt(2.0)) / 2.0
        assert gains.max() <= delta * (1.0 + 1e-12)
        assert 1.0 - conversion.gdp_tradeoff(mu, best) - math.exp(epsilon) * best == pytest.approx(delta, rel=1e-11, abs=1e-15)


def test_gaussian_mechanisms_compose():
    rng = random.Random(12)
    for _ in range(50):
        mus = [10.0 ** rng.uniform(-200, 3) for _ in range(rng.randrange(1, 8))]
        found, total = Fraction(conversion.compose_gdp(mus)), sum(Fraction(mu) ** 2 for mu in mus)
        assert found**2 >= total
        assert Fraction(math.nextafter(float(found), 0.0)) ** 2 < total
    assert conversion.compose_gdp(np.full(100, 0.1)) == pytest.approx(1.0, rel=1e-15)
    assert conversion.compose_gdp(mu for mu in (3.0, 4.0)) == 5.0
    assert conversion.compose_gdp([5e-324]) == 5e-324
    assert conversion.compose_gdp([0.0, 0.0]) == 0.0
