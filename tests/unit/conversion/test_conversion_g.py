"""The partial order and Gaussian DP (GDPT): reference values, many digits, the mechanisms themselves, bad input."""

import itertools
import json
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick import conversion
from hockeystick.conversion import reify
from hockeystick.conversion._kernels import normals
from hockeystick.conversion.gdp import mu_ends
from hockeystick.errors import BadType, BadValue, Unsupported
from places import DATA

ROWS = json.loads((DATA / "golden_g.json").read_text())["values"]
CLOSE = 1e-12  # what rounding the decimal inputs may change
SHARP = 1.5e-13  # the certified margins


def laplace(epsilon):
    return max(0.0, -math.expm1(epsilon / 2.0 - 1.0))


sgd = conversion.refined_profile(lambda e: math.exp(-e * e))
icea = conversion.refined_profile(lambda e: min(1.0, 4.0 * math.exp(-2.0) / e) if e > 0.0 else 1.0)
PROFILES = {"laplace": laplace, "sgd": sgd, "icea": icea}


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


def above(value, truth, most=SHARP):
    """Not below the truth, and at most `most` of it above."""
    truth = mpf(truth)
    assert truth - abs(truth) * mpf(1e-60) <= mpf(value) <= truth + abs(truth) * mpf(most) + 3 * mpf(5e-324)


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


# Reference values


def number(text):
    return PROFILES[text] if text in PROFILES else float(text)


@pytest.mark.parametrize("row", ROWS, ids=[row["id"] for row in ROWS])
def test_the_reference_value_is_met(row):
    inputs = {name: number(text) for name, text in row["inputs"].items()}
    found = eval(row["call"], {"hs": hs, "math": math, "sgd": sgd, **inputs})
    assert found == pytest.approx(float(row["value"]), rel=CLOSE, abs=0.0)


def test_the_transform_of_a_delta_below_every_double():
    """G-ExSGD/022: G of e^(-epsilon^2) at 100, where no profile of doubles has a value."""
    lower, upper = normals.mu_bounds(100.0, -10_000.0, -10_000.0)
    assert lower <= upper
    above(upper, mpf("0.705740280838673067936181540506"), 1e-14)
    assert conversion.gdp_transform(sgd)(100.0) == 0.0
    assert conversion.gdp_to_log_delta(mu=0.5, epsilon=20) == pytest.approx(
        float(mp.log(mpf("9.74433137159149591020920110248e-348"))), rel=1e-14
    )
    assert conversion.gdp_to_log_delta(mu=0.01, epsilon=0.5) == pytest.approx(
        float(mp.log(mpf("2.77278022799632925423263798945e-549"))), rel=1e-14
    )


def test_the_bisection_of_the_paper():
    """G, Algorithm 1: [mu_minus, mu_minus + b] holds the mu."""
    for epsilon, delta, minus, b in ((1.0, 1e-5, 0.263671875, 0.01), (0.0, 0.5, 1.348979473114013671875, 1e-6)):
        assert minus <= conversion.gdp_mu(epsilon, delta) <= minus + b


@pytest.mark.parametrize(
    ("naive", "kink", "delta"),
    [
        (lambda e: math.exp(-e * e), 1.18784889958051325833, 0.243902918409160340846),
        (
            lambda e: min(1.0, 4.0 * math.exp(-2.0) / e) if e > 0.0 else 1.0,
            4.0 * math.exp(-2.0) / 0.468042400222254185735,
            0.468042400222254185735,
        ),
        (lambda e: math.exp(-((2.0 * e) ** 2)), None, 0.101043721069938815662634284843),
        (lambda e: math.exp(-((0.5 * e) ** 2)), None, 0.503403661909476892652248854568),
        (lambda e: min(1.0, 100.0 * math.exp(-4.0) / e) if e > 0.0 else 1.0, 2.59132442213008337, 0.706806092371815847),
    ],
)
def test_the_kink_of_a_refined_profile(naive, kink, delta):
    """Below the kink the line of Theorem 3.1 from it, above the profile itself (G, appendix B, erratum G-E10)."""
    refined = conversion.refined_profile(naive)
    if kink is None:  # the pair is on e^(-(s epsilon)^2)
        s = 2.0 if delta < 0.2 else 0.5
        kink = math.sqrt(-math.log(delta)) / s
    assert refined(kink) == pytest.approx(delta, rel=1e-8)
    assert refined(kink * 1.01) == naive(kink * 1.01)
    for epsilon in (0.0, 0.3 * kink, 0.9 * kink):
        assert refined(epsilon) < naive(epsilon)
        assert refined(epsilon) == pytest.approx(conversion.implied_delta(kink, naive(kink), epsilon), rel=1e-12)


def test_the_pair_of_section_5_2():
    sigma, epsilon0, delta0 = conversion.refine_noise(lambda e, d: -math.log(d) / e, 0.2, math.exp(-2.0))
    assert (epsilon0, delta0) == pytest.approx((0.333892341076991930, 0.06722), rel=1e-4)
    assert sigma == pytest.approx(8.08571785435446523868898588985, rel=1e-13)
    assert conversion.implies(epsilon0, delta0, 0.2, math.exp(-2.0))


# The partial order


def test_implied_delta_is_theorem_3_1():
    rng = random.Random(1)
    for _ in range(200):
        epsilon0, epsilon = 10.0 ** rng.uniform(-12, 3), 10.0 ** rng.uniform(-12, 3)
        epsilon = rng.choice((epsilon, epsilon0 * (1.0 - 10.0 ** rng.uniform(-15, 0)), 0.0))
        delta0 = rng.choice((0.0, 10.0 ** rng.uniform(-300, 0), 1.0 - 10.0 ** rng.uniform(-15, 0), 1.0))
        e0, d0, e = mpf(epsilon0), mpf(delta0), mpf(epsilon)
        above(
            conversion.implied_delta(epsilon0, delta0, epsilon),
            d0 + (1 - d0) * max(0, mp.expm1(e0 - e)) / (mp.exp(-e) + mp.exp(e0 - e)),
            4e-15,
        )


def test_the_mechanism_that_attains_it():
    """Two neighbours that tell each other apart with probability delta0, and answer by randomised response otherwise."""
    for epsilon0, delta0, epsilon in itertools.product((0.1, 1.0, 3.0), (0.0, 0.1), (0.0, 0.05, 0.9, 2.0)):
        yes = (1.0 - delta0) / (1.0 + math.exp(-epsilon0))
        p = [delta0, 0.0, yes, 1.0 - delta0 - yes]
        q = [0.0, delta0, 1.0 - delta0 - yes, yes]
        stick = sum(max(0.0, a - math.exp(epsilon) * b) for a, b in zip(p, q, strict=True))
        assert conversion.implied_delta(epsilon0, delta0, epsilon) == pytest.approx(stick, rel=1e-12, abs=1e-15)


def test_sufficient_delta_is_corollary_3_1():
    rng = random.Random(2)
    for _ in range(200):
        epsilon0 = rng.choice((0.0, 10.0 ** rng.uniform(-9, 2)))
        epsilon = epsilon0 + rng.choice((10.0 ** rng.uniform(-12, 2.8), 0.0, -0.5 * epsilon0))
        delta0 = rng.choice((10.0 ** rng.uniform(-300, 0), 1.0 - 10.0 ** rng.uniform(-15, 0), 1.0))
        e0, d0, e = mpf(epsilon0), mpf(delta0), mpf(epsilon)
        lost = (1 - d0) * max(0, mp.expm1(e - e0)) / (1 + mp.exp(-e0))
        found = conversion.sufficient_delta(epsilon, epsilon0, delta0)
        assert d0 - lost - (d0 + lost * (1 + abs(e - e0))) * mpf(5e-15) <= mpf(found) <= d0 - lost
        if found > 0.0:
            assert conversion.implies(epsilon, found, epsilon0, delta0)
    assert conversion.sufficient_delta(1000.0, 0.0, 0.5) == -math.inf
    assert conversion.sufficient_delta(1000.0, 0.0, 1.0) == 1.0


def test_implies_is_decided_exactly():
    rng = random.Random(3)
    for _ in range(100):
        epsilon0, delta0 = 10.0 ** rng.uniform(-6, 2), rng.choice((0.0, 10.0 ** rng.uniform(-300, -1)))
        epsilon = epsilon0 * rng.random()
        truth = mpf(delta0) + (1 - mpf(delta0)) * (mp.exp(epsilon0) - mp.exp(epsilon)) / (1 + mp.exp(epsilon0))
        near = float(truth)
        for delta in (near, math.nextafter(near, 0.0), math.nextafter(near, 1.0)):
            assert conversion.implies(epsilon0, delta0, epsilon, delta) is bool(mpf(delta) >= truth)
    assert conversion.implies(5e-324, 0.0, 0.0, 5e-324) is True  # 2.5e-324 is needed
    assert conversion.implies(1e-300, 0.0, 0.0, 4.9e-301) is False
    assert conversion.implies(1.0, 0.25, 1.0, 0.25) is True
    assert conversion.implies(1e100, 0.0, 1e99, 1.0 - 2.0**-53) is False
    assert conversion.implies(2.0, 1.0, 1.0, 1.0) is True
    assert conversion.implies(2.0, 0.0, [1.0, 3.0], 0.1).tolist() == [False, True]
    assert conversion.implies(2.0, 0.0, [1.0, 3.0], 0.1).dtype == bool


def test_a_refined_profile_is_proved_by_one_pair():
    for naive in (
        lambda e: math.exp(-e * e),
        lambda e: 0.0 if e >= 1.0 else 1.0,
        lambda e: 0.3 if e < 2.0 else 1e-6,
        lambda _: 1.0,
    ):
        refined = conversion.refined_profile(naive)
        for epsilon in (0.0, 0.5, 0.999, 1.7, 3.0):
            pairs = [epsilon + k / 4000.0 for k in range(12_000)]
            best = min(conversion.implied_delta(e, naive(e), epsilon) for e in pairs)
            assert refined(epsilon) <= min(naive(epsilon), best + 1e-3)
            assert refined(epsilon) >= best - 1e-3
    assert conversion.refined_profile(lambda e: 1.0 if e < 500.0 else 0.0)([0.0, 600.0]).tolist() == [1.0, 0.0]


def test_refined_noise_is_proved_and_not_worse():
    rng = random.Random(4)
    for _ in range(20):
        epsilon, delta = 10.0 ** rng.uniform(-3, 1), 10.0 ** rng.uniform(-9, -0.1)
        for rule in (lambda e, d: math.sqrt(math.log(1.25 / d)) / e, lambda e, d: -math.log(d) / e, lambda e, d: 1.0 / (e + d)):
            sigma, epsilon0, delta0 = conversion.refine_noise(rule, epsilon, delta)
            assert sigma == rule(epsilon0, delta0) <= rule(epsilon, delta)
            assert conversion.implies(epsilon0, delta0, epsilon, delta)
            grid = np.linspace(epsilon, epsilon - math.log1p(-delta) + math.log1p(delta * math.exp(-epsilon)), 400)[1:-1]
            for e in grid.tolist():
                assert sigma <= rule(e, conversion.sufficient_delta(e, epsilon, delta)) * (1.0 + 1e-12)
    sigma, epsilon0, _ = conversion.refine_noise(lambda e, d: -math.log(d) / e, 0.0, 0.1)  # the rule itself fails at 0
    assert 0.0 < epsilon0 < sigma < math.inf
    assert conversion.refine_noise(lambda e, d: 1.0 / e, [0.1, 0.2], 0.1)[0].shape == (2,)


# The hockey stick of two normal laws


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


# The transform and its supremum


def test_the_transform_preserves_order_and_levels():
    epsilons = np.array([0.0, 0.3, 1.0, 2.0, 4.0])
    for mu in (0.2, 1.0, 3.0):
        level = conversion.gdp_transform(lambda e, mu=mu: conversion.gdp_to_delta(mu, e))(epsilons)
        assert level == pytest.approx(mu, rel=1e-12)
    low, high = (conversion.gdp_transform(lambda e, s=s: s * laplace(e))(epsilons) for s in (0.9, 1.0))
    assert (low <= high).all()
    assert conversion.gdp_transform(lambda e: math.exp(-e * e))(0.0) == math.inf


def test_the_tail():
    assert conversion.tail_mu([0.0, 0.25, math.inf]).tolist() == [0.0, 0.5, math.inf]
    for limsup in (0.5, 2.0, 1e-320, 3.0, 4.0):
        root = Fraction(conversion.tail_mu(limsup))
        assert root**2 >= Fraction(limsup) > Fraction(math.nextafter(float(root), 0.0)) ** 2
    # Theorem 4.4 for e^(-epsilon^2): G falls to sqrt(1/2)
    found = [normals.mu_bounds(e, -e * e, -e * e)[1] for e in (1e2, 1e3, 1e4)]
    assert max(abs(mu - math.sqrt(0.5)) for mu in found) < 2e-3
    assert found == sorted(found)  # from below in the end
    assert abs(found[-1] - math.sqrt(0.5)) < 2e-5


HEADS = {
    "laplace": (laplace, 5.0),
    "sgd": (sgd, 5.0),
    "icea": (icea, 5.0),
    "implied": (lambda e: conversion.implied_delta(1.0, 1e-5, e), 3.0),
    "sampled": (conversion.amplify_profile(lambda e: conversion.gdp_to_delta(1.0, e), 0.1), 10.0),
    "mixture": (lambda e: 0.3 * laplace(e) + 0.7 * conversion.gdp_to_delta(0.5, e), 6.0),
    "two": (lambda e: 0.5 * laplace(e) + 0.5 * conversion.gdp_to_delta(1.8, e), 12.0),
    "step": (lambda e: 0.4 if e < 1.0 else 1e-5, 3.0),  # no privacy profile: not convex
    "stairs": (lambda e: laplace(math.floor(e / 0.5) * 0.5), 4.0),  # convex where it is asked first, and only there
    "steep": (lambda e: max(0.5 - 5.0 * e, 0.0), 3.0),  # of erratum G-E3
    "zero": (lambda _: 0.0, 3.0),
}


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_the_head_is_between_the_bounds(name, tolerance):
    profile, head = HEADS[name]
    asked = []
    bounds = conversion.head_mu(lambda e: asked.append(e) or profile(e), head, tolerance)
    assert bounds.width <= tolerance
    assert all(type(epsilon) is float for epsilon in asked)
    transformed = conversion.gdp_transform(profile)(np.linspace(0.0, head, 401))
    assert transformed.max() <= bounds.upper * (1.0 + 1e-12)
    assert len(asked) < 60 + 8 / math.sqrt(tolerance)
    grid = conversion.head_mu_grid(profile, head, 60)
    assert grid.lower <= bounds.upper
    assert bounds.lower <= grid.upper
    if name not in ("step", "stairs", "steep"):
        assert grid.width <= math.sqrt(2.0 * math.pi) * head / 60.0


def test_the_head_of_a_gaussian_is_flat():
    """Where every epsilon matters, the width of the intervals is sqrt(8 mu tolerance)."""
    asked = []
    bounds = conversion.head_mu(lambda e: asked.append(e) or conversion.gdp_to_delta(1.0, e), 5.0, 1e-4)
    assert bounds.lower <= 1.0 + 1e-12
    assert bounds.upper >= 1.0
    assert len(asked) < 400
    assert len(asked) < 5.0 * math.sqrt(2.0 * math.pi) / 1e-4 / 100.0


def test_a_head_far_out():
    bounds = conversion.head_mu(lambda e: conversion.gdp_to_delta(6.0, e), 150.0, 1e-2)
    assert bounds.lower <= 6.0 * (1.0 + 1e-12)
    assert 6.0 <= bounds.upper <= 6.01
    far = lambda e: 0.5 * conversion.gdp_to_delta(100.0, e)  # noqa: E731
    bounds = conversion.head_mu(far, 8e3, 0.1)  # e^epsilon is beyond the doubles
    found = conversion.gdp_transform(far)(np.linspace(0.0, 8e3, 801)).max()
    assert bounds.lower - 1e-9 <= found + 0.1
    assert found <= bounds.upper <= 100.1


def test_rounding_noise_in_a_profile_is_no_increase():
    noise = random.Random(13)
    bounds = conversion.head_mu(lambda e: laplace(e) * (1.0 + 1e-13 * noise.random()), 4.0, 1e-6)
    assert bounds.upper == pytest.approx(1.80090519327558, abs=1e-6)


def test_a_profile_that_is_none_is_named():
    with pytest.raises(BadValue, match="does not increase"):
        conversion.head_mu(lambda e: 0.1 + 0.01 * e, 3.0, 1e-3)
    with pytest.raises(BadValue, match="does not increase"):
        conversion.head_mu_grid(lambda e: 0.1 + 0.01 * e, 3.0, 10)
    for wrong, error in (
        (math.nan, BadValue),
        (1.5, BadValue),
        (-0.1, BadValue),
        ("0", BadType),
        (None, BadType),
        (True, BadType),
    ):
        for call in (
            lambda profile: conversion.head_mu(profile, 1.0, 1e-3),
            lambda profile: conversion.head_mu_grid(profile, 1.0, 10),
            lambda profile: conversion.gdp_transform(profile)(1.0),
            lambda profile: conversion.refined_profile(profile)(1.0),
        ):
            with pytest.raises(error, match=r"profile\(\d"):
                call(lambda _, wrong=wrong: wrong)
            with pytest.raises(BadType, match="profile is"):
                call(0.5)
    with pytest.raises(Unsupported, match="below 1"):
        conversion.head_mu(lambda e: math.exp(-e * e), 1.0, 1e-3)
    with pytest.raises(Unsupported, match="below 1"):
        conversion.head_mu_grid(lambda e: math.exp(-e * e), 1.0, 10)
    for profile in (laplace, lambda e: conversion.gdp_to_delta(1.0, e)):
        with pytest.raises(Unsupported, match="tolerance"):
            conversion.head_mu(profile, 1e-3, 1e-15)


# Clip and reify


class Recorded(random.Random):
    """Counts how often it was asked."""

    asked = 0

    def randrange(self, *args):
        self.asked += 1
        return super().randrange(*args)


def test_the_sampler_meets_the_law_of_algorithm_2():
    rng, size = random.Random(14), 40_000
    for decay in (Fraction(1, 3), Fraction(7, 5), Fraction(1, 20)):
        drawn = np.array([reify.discrete_laplace(decay, rng) for _ in range(size)])
        r = math.exp(-float(decay))
        edges = range(-6, 7)
        expected = np.array([(1.0 - r) / (1.0 + r) * r ** abs(z) for z in edges])
        counted = np.array([(drawn == z).sum() for z in edges])
        statistic = float(((counted - size * expected) ** 2 / (size * expected)).sum())
        assert statistic < 13.0 + 6.0 * math.sqrt(26.0)
        assert abs(drawn.mean()) < 6.0 * drawn.std() / math.sqrt(size)


def test_noise_of_the_scale_of_theorem_4_7():
    rng = random.Random(15)
    for values, dimension in ((0.25, 1), ([0.25, 0.75, 0.5, 0.1], 4)):
        drawn = np.array([conversion.clip_and_reify(values, 0.0, 1.0, 2.0, rng) for _ in range(4000)])
        noise = drawn - np.array(values)
        assert np.abs(noise).mean() == pytest.approx(dimension / 2.0, rel=0.08)
        assert np.abs(noise.mean()) < 0.08 * dimension


def test_the_output_is_on_a_grid_of_powers_of_two():
    rng = random.Random(16)
    for lower, upper, epsilon_head in ((0.0, 1.0, 1.0), (-3.7, 1e6, 0.01), (1e9, 1e9 + 1.0, 100.0)):
        scale = (upper - lower) / epsilon_head
        step, _ = reify.grid_and_decay(lower, upper, epsilon_head, 1)
        assert math.frexp(float(step))[0] == 0.5
        assert step * 2**40 <= min(scale, upper - lower) <= step * 2**42
        for _ in range(20):
            value = conversion.clip_and_reify(rng.uniform(lower - 1.0, upper + 1.0), lower, upper, epsilon_head, rng)
            assert (Fraction(value) / step).denominator == 1 or abs(value) > float(step) * 2**53
            assert lower - 60.0 * scale < value < upper + 60.0 * scale


def test_values_are_clipped_and_keep_their_shape():
    quiet = {"lower": -1.0, "upper": 2.0, "epsilon_head": 1e9, "rng": random.Random(17)}
    assert conversion.clip_and_reify([[math.inf, -math.inf], [0.5, 7]], **quiet) == pytest.approx(
        np.array([[2.0, -1.0], [0.5, 2.0]]), abs=1e-6
    )
    assert type(conversion.clip_and_reify(1, **quiet)) is float
    assert type(conversion.clip_and_reify(np.float32(1.0), **quiet)) is float
    assert conversion.clip_and_reify(np.zeros((0, 3)), **quiet).shape == (0, 3)
    assert conversion.clip_and_reify(np.arange(3), **quiet).shape == (3,)
    wide = conversion.clip_and_reify(0.0, -1e150, 1e150, 1e-100, random.Random(18))
    assert math.isfinite(wide)


def test_the_randomness_is_that_of_the_operating_system(monkeypatch):
    made = []

    class Fake(Recorded):
        def __init__(self):
            super().__init__(1)
            made.append(self)

    monkeypatch.setattr(random, "SystemRandom", Fake)
    conversion.clip_and_reify(0.5, 0.0, 1.0, 1.0)
    assert made[0].asked > 0
    monkeypatch.undo()
    rng = Recorded(1)
    again = [conversion.clip_and_reify(0.5, 0.0, 1.0, 1.0, random.Random(1)) for _ in range(2)]
    assert conversion.clip_and_reify(0.5, 0.0, 1.0, 1.0, rng) == again[0] == again[1]
    assert rng.asked > 0


def test_the_output_is_as_private_as_it_says(monkeypatch):
    """The ends are a whole number of steps apart, over which the law of the noise falls by e^epsilon_head in all, exactly."""
    monkeypatch.setattr(reify, "discrete_laplace", lambda decay, rng: 0)
    for lower, upper, epsilon_head, size in ((0.1, 0.7, 0.3, 1), (-1e5, 3.3, 7.0, 3), (1e-9, 1.0, 1e3, 2), (0.1, 0.3, 1e-3, 5)):
        step, decay = reify.grid_and_decay(lower, upper, epsilon_head, size)
        low = conversion.clip_and_reify(np.full(size, -math.inf), lower, upper, epsilon_head)
        high = conversion.clip_and_reify(np.full(size, math.inf), lower, upper, epsilon_head)
        apart = sum((Fraction(b) - Fraction(a)) / step for a, b in zip(low.tolist(), high.tolist(), strict=True))
        assert apart * decay == Fraction(epsilon_head)
        assert np.abs(low - lower).max() <= step
        assert np.abs(high - upper).max() <= step


def test_bad_input_to_clip_and_reify():
    good = {"values": 0.5, "lower": 0.0, "upper": 1.0, "epsilon_head": 1.0}
    for name, wrong, error in (
        ("values", math.nan, BadValue),
        ("values", [0.5, math.nan], BadValue),
        ("values", "0.5", BadType),
        ("values", None, BadType),
        ("values", True, BadType),
        ("values", [[1.0], [1.0, 2.0]], BadType),
        ("lower", 1.0, BadValue),
        ("lower", 2.0, BadValue),
        ("lower", -math.inf, BadValue),
        ("upper", math.nan, BadValue),
        ("upper", 1e200, BadValue),
        ("upper", "1", BadType),
        ("epsilon_head", 0.0, BadValue),
        ("epsilon_head", -1.0, BadValue),
        ("epsilon_head", math.inf, BadValue),
        ("epsilon_head", 1e-200, BadValue),
        ("epsilon_head", None, BadType),
        ("rng", 3, BadType),
        ("rng", np.random.default_rng(1), BadType),
    ):
        with pytest.raises(error, match=name):
            conversion.clip_and_reify(**{**good, name: wrong})


# Arrays and bad input

CALLS = {
    "implied_delta.epsilon0": (lambda x: conversion.implied_delta(x, 0.1, 1.0), "epsilon0"),
    "implied_delta.delta0": (lambda x: conversion.implied_delta(1.0, x, 1.0), "delta0"),
    "implied_delta.epsilon": (lambda x: conversion.implied_delta(1.0, 0.1, x), "epsilon"),
    "sufficient_delta.epsilon": (lambda x: conversion.sufficient_delta(x, 1.0, 0.1), "epsilon"),
    "sufficient_delta.epsilon0": (lambda x: conversion.sufficient_delta(1.0, x, 0.1), "epsilon0"),
    "sufficient_delta.delta0": (lambda x: conversion.sufficient_delta(1.0, 0.5, x), "delta0"),
    "implies.epsilon0": (lambda x: conversion.implies(x, 0.1, 1.0, 0.1), "epsilon0"),
    "implies.delta0": (lambda x: conversion.implies(1.0, x, 1.0, 0.1), "delta0"),
    "implies.epsilon": (lambda x: conversion.implies(1.0, 0.1, x, 0.1), "epsilon"),
    "implies.delta": (lambda x: conversion.implies(1.0, 0.1, 1.0, x), "delta"),
    "refined_profile": (lambda x: conversion.refined_profile(lambda _: 0.5)(x), "epsilon"),
    "refine_noise.epsilon": (lambda x: conversion.refine_noise(lambda e, d: 1.0, x, 0.1), "epsilon"),
    "refine_noise.delta": (lambda x: conversion.refine_noise(lambda e, d: 1.0, 1.0, x), "delta"),
    "gdp_to_delta.mu": (lambda x: conversion.gdp_to_delta(x, 1.0), "mu"),
    "gdp_to_delta.epsilon": (lambda x: conversion.gdp_to_delta(1.0, x), "epsilon"),
    "gdp_to_log_delta.mu": (lambda x: conversion.gdp_to_log_delta(x, 1.0), "mu"),
    "gdp_to_log_delta.epsilon": (lambda x: conversion.gdp_to_log_delta(1.0, x), "epsilon"),
    "gdp_to_epsilon.mu": (lambda x: conversion.gdp_to_epsilon(x, 0.1), "mu"),
    "gdp_to_epsilon.delta": (lambda x: conversion.gdp_to_epsilon(1.0, x), "delta"),
    "gdp_mu.epsilon": (lambda x: conversion.gdp_mu(x, 0.1), "epsilon"),
    "gdp_mu.delta": (lambda x: conversion.gdp_mu(1.0, x), "delta"),
    "gdp_mu_gradient.mu": (lambda x: conversion.gdp_mu_gradient(x, 1.0), "mu"),
    "gdp_mu_gradient.epsilon": (lambda x: conversion.gdp_mu_gradient(1.0, x), "epsilon"),
    "gdp_tradeoff.mu": (lambda x: conversion.gdp_tradeoff(x, 0.1), "mu"),
    "gdp_tradeoff.alpha": (lambda x: conversion.gdp_tradeoff(1.0, x), "alpha"),
    "pure_to_gdp": (conversion.pure_to_gdp, "epsilon"),
    "gdp_transform": (lambda x: conversion.gdp_transform(lambda _: 0.5)(x), "epsilon"),
}
ALONE = {
    "head_mu.epsilon_head": (lambda x: conversion.head_mu(laplace, x, 1e-3), "epsilon_head"),
    "head_mu.tolerance": (lambda x: conversion.head_mu(laplace, 1.0, x), "tolerance"),
    "head_mu_grid.epsilon_head": (lambda x: conversion.head_mu_grid(laplace, x, 10), "epsilon_head"),
    "head_mu_grid.intervals": (lambda x: conversion.head_mu_grid(laplace, 1.0, x), "intervals"),
    "compose_gdp": (lambda x: conversion.compose_gdp([1.0, x]), "mu"),
}


@pytest.mark.parametrize("name", [*CALLS, *ALONE])
@pytest.mark.parametrize("given", ["1", True, np.True_, 1j, ["1", 0.5], b"x", {}, None])
def test_a_wrong_type_is_named(name, given):
    call, argument = {**CALLS, **ALONE}[name]
    with pytest.raises(BadType, match=argument):
        call(given)


@pytest.mark.parametrize("name", [*CALLS, *ALONE])
@pytest.mark.parametrize("given", [math.nan, math.inf, -math.inf, -1.0, -5e-324, 10**400])
def test_a_wrong_value_is_named(name, given):
    call, argument = {**CALLS, **ALONE}[name]
    with pytest.raises(BadValue, match=argument):
        call(given)


@pytest.mark.parametrize("name", CALLS)
def test_arrays_broadcast(name):
    call, argument = CALLS[name]
    values = [0.25, 0.5]
    found = call(np.array([values]))
    parts = found if isinstance(found, tuple) else (found,)
    alone = [call(value) for value in values]
    for k, part in enumerate(parts):
        assert part.shape == (1, 2)
        assert part[0].tolist() == [one[k] if isinstance(one, tuple) else one for one in alone]
    with pytest.raises(BadValue, match=argument):
        call([-1.0, 0.5])


def test_values_out_of_range_are_named():
    for call, argument in (
        (lambda: conversion.gdp_to_delta(2e8, 1.0), "mu"),
        (lambda: conversion.gdp_mu(2e15, 0.1), "epsilon"),
        (lambda: conversion.gdp_mu(1.0, 1.5), "delta"),
        (lambda: conversion.gdp_mu_gradient(0.0, 1.0), "mu"),
        (lambda: conversion.gdp_tradeoff(1.0, 1.5), "alpha"),
        (lambda: conversion.gdp_to_epsilon(1.0, 0.0), "delta"),
        (lambda: conversion.gdp_to_epsilon(1.0, 1.0), "delta"),
        (lambda: conversion.implied_delta(1.0, 1.5, 1.0), "delta0"),
        (lambda: conversion.head_mu(laplace, 0.0, 1e-3), "epsilon_head"),
        (lambda: conversion.head_mu(laplace, 1.0, 0.0), "tolerance"),
        (lambda: conversion.head_mu_grid(laplace, 1.0, 0), "intervals"),
        (lambda: conversion.head_mu_grid(laplace, 1.0, 10**7), "intervals"),
        (lambda: conversion.tail_mu(-1.0), "limsup"),
        (lambda: conversion.tail_mu(math.nan), "limsup"),
        (lambda: conversion.refine_noise(lambda e, d: -1.0, 1.0, 0.1), r"rule\("),
        (lambda: conversion.refine_noise(lambda e, d: math.nan, 1.0, 0.1), r"rule\("),
        (lambda: conversion.refine_noise(lambda e, d: math.inf, 1.0, 0.1), "rule"),
    ):
        with pytest.raises(BadValue, match=argument):
            call()
    for call, argument in (
        (lambda: conversion.refine_noise(3.0, 1.0, 0.1), "rule"),
        (lambda: conversion.refine_noise(lambda e, d: "1", 1.0, 0.1), r"rule\("),
        (lambda: conversion.compose_gdp(1.0), "mus"),
        (lambda: conversion.compose_gdp("12"), "mus"),
        (lambda: conversion.compose_gdp(np.ones((2, 2))), "mus"),
        (lambda: conversion.tail_mu("1"), "limsup"),
    ):
        with pytest.raises(BadType, match=argument):
            call()
