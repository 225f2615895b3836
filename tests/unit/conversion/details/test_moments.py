"""The moments accountant as it was: against closed forms, the best conversion, and the exact curve."""

import math

import pytest

import hockeystick as hs
from hockeystick import conversion


@pytest.mark.parametrize("rho", [1e-4, 0.5, 30.0])
def test_a_line_has_the_closed_form(rho):
    """Asoodeh et al. 2020, Eq. 23, and its inverse."""
    epsilon, order = conversion.rdp_curve_to_epsilon_classic(lambda order: rho * order, 1e-5)
    assert epsilon == pytest.approx(conversion.zcdp_to_epsilon_classic(rho, 1e-5), rel=1e-12)
    assert order == pytest.approx(1.0 + math.sqrt(math.log(1e5) / rho), rel=1e-6)
    delta, order = conversion.rdp_curve_to_delta_classic(lambda order: rho * order, epsilon)
    assert delta == pytest.approx(1e-5, rel=1e-10)
    assert order == pytest.approx((epsilon + rho) / (2.0 * rho), rel=1e-6)


def test_any_curve_is_never_below_the_best_conversion():
    run = hs.Gaussian(sigma=2.0).poisson(rate=0.01) * 1000
    orders = [1.5, *range(2, 65)]
    classic = conversion.rdp_curve_to_epsilon_classic(run.rdp, 1e-5, orders)
    best = conversion.rdp_curve_to_epsilon(run.rdp, 1e-5, orders)
    assert classic[0] > best[0] > run.epsilon(1e-5)
    by_hand = min(run.rdp(order) + math.log(1e5) / (order - 1.0) for order in orders)
    assert by_hand <= classic[0] <= by_hand * (1.0 + 1e-12)
    delta, _ = conversion.rdp_curve_to_delta_classic(run.rdp, 3.0, orders)
    assert delta == pytest.approx(math.exp(min((order - 1.0) * (run.rdp(order) - 3.0) for order in orders)), rel=1e-12)
    assert delta >= conversion.rdp_curve_to_delta(run.rdp, 3.0, orders)[0]


def test_the_ends_of_the_orders():
    pure = hs.PureDP(epsilon=1.0)
    assert conversion.rdp_curve_to_epsilon_classic(pure.rdp, 1e-300, [2.0, math.inf]) == (pure.rdp(math.inf), math.inf)
    assert conversion.rdp_curve_to_delta_classic(pure.rdp, 2.0, [2.0, math.inf]) == (0.0, math.inf)
    assert conversion.rdp_curve_to_delta_classic(lambda _: 1.0, 0.5)[0] == 1.0
    with pytest.raises(hs.Unsupported, match="infinite"):
        conversion.rdp_curve_to_epsilon_classic(lambda _: math.inf, 0.1)
    found = conversion.rdp_curve_to_epsilon_classic(lambda order: order, [0.1, 0.2])
    assert found[0].shape == found[1].shape == (2,)


def test_abadis_rho_is_twice_the_truth_within_its_orders_and_far_below_it_beyond():
    """Erratum A-E10."""
    rho, order = conversion.sampled_gaussian_rho_asymptotic(rate=0.001, sigma=4.0)
    step = hs.Gaussian(sigma=4.0).poisson(rate=0.001)
    assert order == pytest.approx(89.34337468579594)
    for inside in (2.0, 20.0, math.floor(order)):
        assert 1.9 < rho * inside / step.rdp(inside) < 2.0
    assert rho * 225.0 < 1e-3 * step.rdp(225.0)
    for rate, sigma in ((0.02, 4.0), (0.001, 0.9)):
        with pytest.raises(hs.Unsupported, match="hypotheses"):
            conversion.sampled_gaussian_rho_asymptotic(rate, sigma)
