"""How much Gaussian noise suffices: exact, and by the theorems that approximate it."""

import math

import mpmath as mp
import pytest
from mpmath import mpf

import hockeystick as hs
import hockeystick.conversion as conversion
from renyi_cases import cases


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def test_gaussian_sigma_against_mpmath():
    for _, epsilon, delta in cases(31, 150):
        if delta < 1e-280:
            continue
        sigma = conversion.gaussian_sigma(epsilon, delta)
        with mp.workdps(60 + 2 * int(-math.log10(delta))):
            mu, e = 1 / mpf(sigma), mpf(epsilon)
            a, b = (e / mu - mu / 2) / mp.sqrt(2), (e / mu + mu / 2) / mp.sqrt(2)
            slack = (mpf(delta) - (mp.erfc(a) - mp.exp(e) * mp.erfc(b)) / 2) / (mu * mp.npdf(a * mp.sqrt(2)))
        # log delta is known to about 20 UNIT of itself, and its slope in log mu is 1 for small epsilon
        assert 0 <= slack <= 1e-13 + 20 * 2.0**-53 * -math.log(delta), (epsilon, delta)
    assert conversion.gaussian_sigma(1.0, 1e-5, 3.0) == pytest.approx(3.0 * conversion.gaussian_sigma(1.0, 1e-5), rel=1e-15)


def test_the_variances_are_ordered_and_theorem_5_is_no_guarantee():
    for epsilon, delta in [(0.3, 0.01), (1.0, 1e-5), (5.0, 1e-9), (0.1, 0.01)]:
        exact = conversion.gaussian_sigma(epsilon, delta) ** 2
        improved = conversion.gaussian_variance_improved(1, epsilon, delta)
        assert exact <= improved <= conversion.gaussian_variance_classic(1, epsilon, delta)
        assert conversion.gaussian_variance_improved(7, epsilon, delta) == pytest.approx(7.0 * improved, rel=1e-14)
    assert conversion.gaussian_variance_asymptotic(1, 0.3, 0.01) < 0.4 * conversion.gaussian_sigma(0.3, 0.01) ** 2  # A-E8
    assert conversion.gaussian_variance_asymptotic(1, 0.1, 0.01) < 0.0
    for epsilon, delta in [(30.0, 1e-5), (0.01, 0.1)]:
        with pytest.raises(hs.Unsupported, match="Theorem 5"):
            conversion.gaussian_variance_asymptotic(1, epsilon, delta)
    with pytest.raises(hs.Unreachable, match="larger epsilon or delta"):
        conversion.gaussian_sigma(0.0, 5e-324)


def test_equations_28_and_80_are_guarantees_and_82_is_none():
    for epsilon, delta in [(0.3, 0.01), (1.0, 1e-5), (5.0, 1e-9), (1e-3, 1e-12), (8.0, 1e-5)]:
        e, log_inverse = mpf(epsilon), -mp.log(mpf(delta))
        two_terms = 2 * log_inverse / e**2 + 1 / e
        assert two_terms <= conversion.gaussian_variance_closed(1, epsilon, delta) <= two_terms * (1 + mpf(10) ** -13)
        assert conversion.gaussian_variance_closed(1, epsilon, delta) >= conversion.gaussian_variance_classic(1, epsilon, delta)
        a = 2 * log_inverse / e
        assert mpf(delta) * a <= 1 or epsilon == 0.3  # Eq. 79 holds for every order above 1
        at = a / (2 * e + 2 / (a - 1) * mp.log(a * mpf(delta)) - 2 * mp.log(1 - 1 / a))
        found = conversion.gaussian_variance_relaxed(1, epsilon, delta)
        assert at <= found <= at * (1 + mpf(10) ** -12)
        assert found >= conversion.gaussian_variance_improved(1, epsilon, delta)
        x = mp.log(2 * log_inverse / e)
        fourth = (4 * x**2 - 6 * e * x + 8 * x + 2 * e**2 - 5 * e + 4) / (2 * e**2 * log_inverse)
        three = two_terms - 2 * (x + 1) / e**2
        assert conversion.gaussian_variance_asymptotic(1, epsilon, delta) == pytest.approx(float(three), rel=1e-12)
        assert conversion.gaussian_variance_asymptotic(1, epsilon, delta, terms=4) == pytest.approx(
            float(three + fourth), rel=1e-12
        )
    with pytest.raises(hs.Unsupported, match=r"Eq\. 79"):
        conversion.gaussian_variance_relaxed(1, 30.0, 1e-5)
    with pytest.raises(hs.Unsupported, match=r"Eq\. 79"):
        conversion.gaussian_variance_relaxed(1, 22.9, 1e-5)
