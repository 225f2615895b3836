"""Closed forms around the series of sampled Rényi DP (Steinke 2022, section 6.6)."""

import math
import random

import pytest
from mpmath import mp, mpf

from hockeystick import conversion
from hockeystick.errors import BadType, BadValue, Unsupported
from subsampling_cases import SHARP, above, both_ways, mixed, pair, renyi, spread, zcdp


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


def test_large_order_holds_in_both_directions_at_every_rate():
    rng = random.Random(8)
    mp.dps = 30
    for _ in range(100):
        first, second = pair(rng)
        rate, order = 1.0 - spread(rng, -3, -0.5), rng.uniform(1.001, 4.0)
        value = conversion.amplify_rdp_large_order(order, rate, both_ways(first, second))
        mixture = mixed(first, second, rate)
        assert value >= renyi(mixture, second, mpf(order))
        assert value >= renyi(second, mixture, mpf(order))


def test_amplify_rdp_analytic_is_proposition_41():
    rng = random.Random(11)
    for _ in range(200):
        order, rate, rho = 1.0 + spread(rng, -3, 3), spread(rng, -200, -0.21), spread(rng, -9, 2)
        omega = order * rng.choice((1.0, 1.0 + spread(rng, -3, 2)))
        a, p, w = mpf(order), mpf(rate), mpf(omega)
        small = mp.e / 2 * a * (a - 1) * p**2 * mp.expm1(mpf(zcdp(rho)(2)))
        with mp.workdps(600):
            large = mp.exp(w * mp.log((a - 1) * p) + (w - 1) * mpf(zcdp(rho)(omega)))
            truth = mp.log1p(small + large) / (a - 1)
        above(conversion.amplify_rdp_analytic(order, rate, zcdp(rho), omega), truth, 1e-15)


def test_the_best_omega_is_found():
    rng = random.Random(12)
    for _ in range(100):
        order, rate, rho = 1.0 + spread(rng, -1, 1.5), spread(rng, -12, -0.21), spread(rng, -4, 1)
        best = max(order, 0.5 - math.log((order - 1.0) * rate) / (2.0 * rho))  # S-E17
        exact = conversion.amplify_rdp_analytic(order, rate, zcdp(rho), best)
        assert conversion.amplify_rdp_analytic(order, rate, zcdp(rho)) == pytest.approx(exact, rel=1e-12)
    bounded = conversion.amplify_rdp_analytic(3.0, 1e-3, lambda _: 0.5)  # the second term can be made as small as one likes
    assert bounded == pytest.approx(math.log1p(1.5 * math.e * 2.0 * 1e-6 * math.expm1(0.5)) / 2.0, rel=1e-13)
    until = conversion.amplify_rdp_analytic(3.0, 1e-3, lambda order: order if order < 4.0 else math.inf)
    assert until <= conversion.amplify_rdp_analytic(3.0, 1e-3, zcdp(1.0), 3.5)


def test_amplify_rdp_large_order_and_lower_are_their_formulas():
    rng = random.Random(13)
    for _ in range(300):
        order, rate, size = (
            1.0 + spread(rng, -8, 8),
            rng.choice((spread(rng, -280, 0), 1.0 - spread(rng, -16, -1))),
            spread(rng, -9, 4),
        )
        c = (mpf(order) - 1) / mpf(order)
        upper = conversion.amplify_rdp_large_order(order, rate, lambda _, size=size: size)
        above(upper, mp.log1p(mpf(rate) * mp.expm1(c * mpf(size))) / c)
        assert upper <= size
        lower = conversion.amplify_rdp_lower(order, rate, lambda _, size=size: size)
        truth = mpf(size) + mp.log(mpf(rate)) / c
        assert truth - abs(truth) * mpf(4e-16) <= mpf(lower) <= truth
        assert lower <= upper
    flat = conversion.amplify_rdp_large_order([2, 3], 0.0, zcdp(1.0))
    assert flat.tolist() == [0.0, 0.0]
    assert conversion.amplify_rdp_lower(2, 0.0, zcdp(1.0)) == 0.0
    assert conversion.amplify_rdp_large_order(2, 0.5, lambda _: math.inf) == math.inf


def test_the_bounds_stand_in_order():
    """Of a true pair: lower <= series <= each closed form (Steinke 2022, Figure 2)."""
    for order in (2, 3, 5, 10, 30, 100):
        exact = conversion.amplify_rdp(order, 0.05, zcdp(0.5))
        assert conversion.amplify_rdp_lower(order, 0.05, zcdp(0.5)) <= exact
        assert exact <= conversion.amplify_rdp_large_order(order, 0.05, zcdp(0.5)) * (1 + SHARP)
        assert exact <= conversion.amplify_rdp_analytic(order, 0.05, zcdp(0.5)) * (1 + SHARP)


def test_amplify_zcdp_is_above_the_series():
    rng = random.Random(14)
    proved = 0
    for _ in range(300):
        rate, rho, order = spread(rng, -9, -1), spread(rng, -4, 0), rng.randrange(2, 40)
        try:
            value = conversion.amplify_zcdp(order, rate, rho)
        except Unsupported:
            continue
        proved += 1
        above(value, 10 * mpf(rate) ** 2 * mpf(rho) * order, 3e-16)
        assert value >= conversion.amplify_rdp(order, rate, zcdp(rho))
    assert proved > 30


@pytest.mark.parametrize(
    ("order", "rate", "rho"),
    [
        (10, 1e-4, 1.0),  # erratum S-E6: 4 rate instead of 4 rho would allow it, with a bound that is 10^4 too small
        (11.0, 1e-4, 0.1),
        (2, 0.07, 0.1),
        (2, 0.6, 0.1),
        (2, 1e-4, 1.5),
    ],
)
def test_amplify_zcdp_outside_the_theorem(order, rate, rho):
    with pytest.raises(Unsupported, match="the theorem needs"):
        conversion.amplify_zcdp(order, rate, rho)


@pytest.mark.parametrize("omega", [2.999, 0.5, -1.0, math.nan, math.inf])
def test_omega_is_at_least_the_order(omega):
    with pytest.raises(BadValue, match="omega"):
        conversion.amplify_rdp_analytic(3, 0.1, zcdp(1.0), omega)
    with pytest.raises(BadType, match="omega"):
        conversion.amplify_rdp_analytic(3, 0.1, zcdp(1.0), "4")
    with pytest.raises(Unsupported, match="1/e"):
        conversion.amplify_rdp_analytic(3, 0.64, zcdp(1.0))
