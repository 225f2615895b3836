"""Which (epsilon, delta) follows from which, and profiles and noise refined by it (Liu et al. 2021, sections 3, B, C)."""

import itertools
import math
import random

import numpy as np
import pytest
from mpmath import mp, mpf

from gdp_cases import above
from hockeystick import conversion
from hockeystick.conversion._kernels.profiles import inverted_rule


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


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
    """Below the kink the line of Theorem 3.1 from it, above the profile itself (Liu et al. 2021, appendix B, erratum G-E10)."""
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


def test_a_rule_that_is_never_enough():
    never = inverted_rule(lambda e, d: 3.0, 2.0)
    always = inverted_rule(lambda e, d: 1.0, 2.0)
    assert never(1.0) == 1.0
    assert always(1.0) == 0.0
