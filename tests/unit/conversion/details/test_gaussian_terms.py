"""Simple bounds of Gaussian noise (after Corollary 8 of Steinke 2022, Lemma A.1 of Liu et al. 2021), against mpmath."""

import random

import mpmath as mp
import pytest
from mpmath import mpf

from hockeystick import conversion


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def test_the_bound_after_corollary_8():
    rng = random.Random(2)
    for _ in range(200):
        rho = 10.0 ** rng.uniform(-8, 4)
        epsilon = rho + rho**0.5 * 10.0 ** rng.uniform(-4, 1.5)
        r, e = mpf(rho), mpf(epsilon)
        truth = mp.exp(-((e - r) ** 2) / (4 * r)) / max(mpf(2), mp.sqrt(mp.pi / r) * (e - r))
        found = conversion.gaussian_delta_closed(rho, epsilon)
        assert truth <= found <= truth * (1 + mpf(10) ** -13) + mpf(10) ** -323
        mu = min((2.0 * rho) ** 0.5, 1e8)
        assert found >= conversion.gdp_to_delta(mu * (1 - 1e-15), epsilon) * (1 - 1e-11)
    assert conversion.gaussian_delta_closed(0.0, 1.0) == 0.0
    assert conversion.gaussian_delta_closed(2.0, 1.0) == 1.0
    assert conversion.gaussian_delta_closed(2.0, 2.0) == pytest.approx(0.5, rel=1e-14)
    assert conversion.gaussian_delta_closed(1e-300, 1e100) == 5e-324
    assert conversion.gaussian_delta_closed(5e-324, 1e-9) == 5e-324


def test_lemma_a1_is_an_upper_bound_and_an_asymptote():
    rng = random.Random(3)
    for _ in range(60):
        mu = 10.0 ** rng.uniform(-4, 2)
        epsilon = mu * mu / 2 + mu * 10.0 ** rng.uniform(-2, 1.5)
        m, a = mpf(mu), mpf(epsilon) / mpf(mu) - mpf(mu) / 2
        truth = m * mp.exp(-a * a / 2) / (mp.sqrt(2 * mp.pi) * a * a)
        found = conversion.gdp_to_delta_closed(mu, epsilon)
        assert min(truth, 1) <= found <= truth * (1 + mpf(10) ** -13) + mpf(10) ** -323
        with mp.workdps(60 + int(a * a)):
            exact = (mp.erfc(a / mp.sqrt(2)) - mp.exp(mpf(epsilon)) * mp.erfc((a + m) / mp.sqrt(2))) / 2
        assert exact < truth
    near, far = (conversion.gdp_to_delta_closed(2.0, x) / conversion.gdp_to_delta(2.0, x) for x in (20.0, 60.0))
    assert 1.0 < far < 1.08 < near
    assert conversion.gdp_to_delta_closed(2.0, 2.0) == 1.0
    assert conversion.gdp_to_delta_closed(2.0, 2.000000001) == 1.0
    assert conversion.gdp_to_delta_closed(0.0, 0.0) == 0.0
    assert conversion.gdp_to_delta_closed(5e-324, 1e15) == 5e-324


def test_both_ends_of_mu():
    rng = random.Random(4)
    for _ in range(60):
        epsilon, delta = rng.choice([0.0, 10.0 ** rng.uniform(-6, 3)]), 10.0 ** -rng.uniform(0.01, 200)
        low, high = conversion.gdp_mu_bounds(epsilon, delta)
        assert high == conversion.gdp_mu(epsilon, delta)
        assert 0.0 < low < high <= low * (1 + 1e-11)
        for mu, sign in ((low, 1), (high, -1)):
            m, e = mpf(mu), mpf(epsilon)
            with mp.workdps(300 + int((epsilon / mu) ** 2)):
                a = e / m - m / 2
                exact = (mp.erfc(a / mp.sqrt(2)) - mp.exp(e) * mp.erfc((a + m) / mp.sqrt(2))) / 2
            assert sign * (mpf(delta) - exact) >= 0
    assert conversion.gdp_mu_bounds(1.0, 0.0) == (0.0, 0.0)
