"""Whole Rényi curves: the best order, listed orders, curves that are none."""

import math

import mpmath as mp
import numpy as np
import pytest

import hockeystick as hs
import hockeystick.conversion as conversion


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(60):
        yield


def test_a_linear_curve_is_zcdp():
    for rho, delta in [(0.5, 1e-5), (1e-4, 1e-8), (30.0, 1e-3), (0.5, 1e-200)]:
        epsilon, order = conversion.rdp_curve_to_epsilon(lambda a, rho=rho: rho * a, delta)
        assert epsilon == pytest.approx(conversion.zcdp_to_epsilon(rho, delta), rel=2e-13)
        assert conversion.rdp_to_epsilon(order, rho * order, delta) == epsilon
        found, order = conversion.rdp_curve_to_delta(lambda a, rho=rho: rho * a, epsilon)
        assert found == pytest.approx(delta, rel=1e-11)
        assert conversion.rdp_to_delta(order, rho * order, epsilon) == found


def test_listed_orders_are_used_exactly():
    tried = []

    def curve(order):
        tried.append(order)
        return 0.5 * order

    epsilon, order = conversion.rdp_curve_to_epsilon(curve, 1e-5, orders=[2, 4.5, np.float64(8.0)])
    assert (epsilon, order) == (conversion.rdp_to_epsilon(4.5, 2.25, 1e-5), 4.5)
    assert set(tried) == {2.0, 4.5, 8.0}
    assert all(type(one) is float for one in tried)
    delta, order = conversion.rdp_curve_to_delta(curve, 4.0, orders=np.array([2.0, 5.0]))
    assert (delta, order) == (conversion.rdp_to_delta(5.0, 2.5, 4.0), 5.0)


@pytest.mark.parametrize("last", [1.001, 1.5, 3.0, 40.0])
def test_a_curve_that_ends_at_an_order(last):
    epsilon, order = conversion.rdp_curve_to_epsilon(lambda a: 0.01 * a if a <= last else math.inf, 1e-6)
    listed = [1.0 + (last - 1.0) * k / 400 for k in range(1, 401)]
    best, _ = conversion.rdp_curve_to_epsilon(lambda a: 0.01 * a, 1e-6, orders=listed)
    assert order <= last
    assert best * (1.0 - 1e-4) <= epsilon <= best * (1.0 + 1e-6)


def test_a_curve_with_noise_and_a_curve_of_steps():
    rough = conversion.rdp_curve_to_epsilon(lambda a: 0.5 * a * (1.0 + 1e-7 * math.sin(1e5 * a)), 1e-5)[0]
    assert rough == pytest.approx(conversion.zcdp_to_epsilon(0.5, 1e-5), rel=1e-6)
    steps = conversion.rdp_curve_to_epsilon(lambda a: 0.5 * math.ceil(a), 1e-5)[0]
    assert steps <= 1.02 * conversion.rdp_curve_to_epsilon(lambda a: 0.5 * a, 1e-5, orders=range(2, 20))[0]


def test_a_pure_curve_and_a_curve_that_says_nothing():
    epsilon, _ = conversion.rdp_curve_to_epsilon(lambda _: 0.25, 1e-9)
    assert 0.249 < epsilon <= 0.25 * (1.0 + 1e-6)
    assert conversion.rdp_curve_to_epsilon(lambda _: 0.0, 1e-9)[0] == 0.0
    assert conversion.rdp_curve_to_delta(lambda _: math.inf, 1.0)[0] == 1.0
    with pytest.raises(hs.Unsupported, match="infinite"):
        conversion.rdp_curve_to_epsilon(lambda _: math.inf, 1e-5)


def test_curves_take_arrays():
    epsilon, order = conversion.rdp_curve_to_epsilon(lambda a: 0.5 * a, np.array([[1e-5], [1e-9]]))
    assert epsilon.shape == order.shape == (2, 1)
    assert epsilon[1, 0] == conversion.rdp_curve_to_epsilon(lambda a: 0.5 * a, 1e-9)[0]


@pytest.mark.parametrize(
    ("rdp", "error"),
    [
        (3.0, hs.BadType),
        (lambda _: "x", hs.BadType),
        (lambda _: None, hs.BadType),
        (lambda _: math.nan, hs.BadValue),
        (lambda _: -1.0, hs.BadValue),
    ],
)
def test_a_curve_that_is_none(rdp, error):
    with pytest.raises(error, match="rdp"):
        conversion.rdp_curve_to_epsilon(rdp, 1e-5)
    with pytest.raises(error, match="rdp"):
        conversion.rdp_curve_to_delta(rdp, 1.0)


@pytest.mark.parametrize(
    ("orders", "error"), [([], hs.BadValue), ([1.0], hs.BadValue), ("23", hs.BadType), (2.0, hs.BadType), ([True], hs.BadType)]
)
def test_orders_that_are_none(orders, error):
    with pytest.raises(error, match="order"):
        conversion.rdp_curve_to_epsilon(lambda a: a, 1e-5, orders=orders)
