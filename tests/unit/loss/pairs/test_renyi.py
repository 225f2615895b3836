"""Losses known by bounds of K on the real axis: each bound against a pair that obeys it, and the formulas themselves."""

import math

import numpy as np
import pytest

from hockeystick.loss.pairs.gaussian import GaussianLoss
from hockeystick.loss.pairs.renyi import RenyiLoss

PLACES = [1e-4, 0.3, 1.0, 2.5, 9.0, 80.0]


@pytest.mark.parametrize("c", PLACES)
def test_concentrated_dp(c):
    assert RenyiLoss("zcdp", (0.02,)).cumulant_bound(c) == pytest.approx(0.02 * c * (c + 1.0), rel=1e-14)
    assert RenyiLoss("zcdp", (0.02, 0.1)).cumulant_bound(c) == pytest.approx((0.02 * (c + 1.0) + 0.1) * c, rel=1e-14)
    assert RenyiLoss("zcdp", (0.02,)).members == (GaussianLoss(0.04),)
    assert RenyiLoss("zcdp", (0.02,), rate=0.5).members == ()


@pytest.mark.parametrize("c", PLACES)
@pytest.mark.parametrize("epsilon", [1e-3, 0.4, 2.0, 9.0])
def test_bounded_range_is_the_worst_two_point_pair(c, epsilon):
    """Losses t and t - epsilon, the latter of Q-mass m: (1 - m) e^t + m e^{t - epsilon} = 1; the best t by a grid."""
    t = np.linspace(0.0, epsilon, 20_001)[1:-1]
    m = -np.expm1(-t) / -math.expm1(-epsilon)
    moment = np.logaddexp((1.0 + c) * t + np.log1p(-m), (1.0 + c) * (t - epsilon) + np.log(m))
    truth = float(moment.max())
    found = RenyiLoss("exponential", (epsilon,)).cumulant_bound(c)
    assert found >= truth * (1.0 - 1e-12)
    assert found <= truth * (1.0 + 1e-6) + 1e-13


@pytest.mark.parametrize("c", [0.2, 1.0, 1.5, 3.0, 6.9, 7.0])
def test_between_listed_orders_convexity_holds(c):
    """Orders 2, 4, 8 of Gaussian noise: never below its K, and equal at the orders themselves; nothing beyond the last."""
    values = [0.05 * order for order in (2.0, 4.0, 8.0)]
    loss = RenyiLoss("listed", (2.0, 4.0, 8.0, *values))
    truth = 0.05 * c * (c + 1.0)
    assert loss.cumulant_bound(c) >= truth
    if c in (1.0, 3.0, 7.0):
        assert loss.cumulant_bound(c) == pytest.approx(truth, rel=1e-14)
    assert loss.cumulant_bound(7.001) == math.inf


@pytest.mark.parametrize("c", PLACES[:5])
@pytest.mark.parametrize("rate", [1e-3, 0.2, 0.9])
@pytest.mark.parametrize("both", [False, True])
def test_a_sample_of_gaussian_noise_obeys_the_bound(c, rate, both):
    """rho-zCDP holds of N(0) against N(mu), mu^2 = 2 rho; so the bound of the sample holds of the mixtures of these."""
    rho, z = 0.1, np.linspace(-25.0, 25.0, 40_001)
    mu = math.sqrt(2.0 * rho)
    loss = RenyiLoss("zcdp", (rho,), rate=rate, both=both, mutual=both)

    def density(place: float) -> np.ndarray:
        return np.exp(-0.5 * (z - place) ** 2) / math.sqrt(2.0 * math.pi)

    # both: two mixtures with the same part; of three places each pair is within mu of the others
    part, first, second = (0.0, mu, 0.5 * mu) if both else (0.0, mu, 0.0)
    one = (1.0 - rate) * density(part) + rate * density(first)
    two = (1.0 - rate) * density(part) + rate * density(second)
    for p, q in ((one, two), (two, one)):
        truth = math.log(float((p * (p / q) ** c).sum()) * (z[1] - z[0]))
        assert loss.cumulant_bound(c) >= truth - 1e-12
    assert loss.cumulant_bound(c) <= RenyiLoss("zcdp", (rho,)).cumulant_bound(c) * (1.0 + 1e-12)


def test_a_curve_is_asked_at_the_order():
    loss = RenyiLoss("curve", (), lambda order: 0.03 * order)
    for c in PLACES:
        assert loss.cumulant_bound(c) == pytest.approx(0.03 * c * (c + 1.0), rel=1e-14)
