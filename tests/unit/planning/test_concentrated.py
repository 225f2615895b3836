"""Concentrated DP of noise and claims, against quadrature and closed forms."""

import math

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.planning.concentrated import rho_of
from targets import dpsgd


@pytest.mark.parametrize("scale", [0.3, 1.0, 3.0, 20.0])
def test_rho_of_laplace_noise(scale):
    """Against a fine grid of orders in higher precision."""
    import mpmath

    with mpmath.workdps(40):

        def quotient(t):
            order, b = 1 + mpmath.mpf(t), mpmath.mpf(scale)
            first = order / (2 * order - 1) * mpmath.exp((order - 1) / b)
            second = (order - 1) / (2 * order - 1) * mpmath.exp(-order / b)
            return mpmath.log(first + second) / (t * order)

        truth = max(quotient(mpmath.mpf(10) ** (mpmath.mpf(k) / 100)) for k in range(-900, 400))
    found = rho_of(hs.Laplace(scale=scale) * 3, "add-or-remove")
    assert 3 * truth <= found * (1 + 1e-15)
    assert found <= 3 * truth * (1 + 1e-9)


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 3.0, 20.0, 300.0])
def test_divergences_of_order_one_are_rounded_up_by_little(scale):
    """What rho relies on near order 1."""
    import mpmath

    with mpmath.workdps(40):
        b = mpmath.mpf(scale)
        laplace = 1 / b - 1 + mpmath.exp(-1 / b)
        ratio = mpmath.exp(-1 / b)
        discrete = (1 - ratio) / (1 + ratio) / b  # the sum of |k - 1| - |k| over b: P(k <= 0) - P(k > 0)
        odds = mpmath.exp(1 / b)
        response = (odds - 1) / (odds + 4) / b  # five categories
    for run, truth in (
        (hs.Laplace(scale=scale), laplace),
        (hs.DiscreteLaplace(scale=scale), discrete),
        (hs.RandomizedResponse(epsilon=1.0 / scale, categories=5), response),
    ):
        for order in ("add", "remove"):
            assert truth * (1 - mpmath.mpf(10) ** -12) <= run.rdp(1.0, order) <= truth * (1 + mpmath.mpf(10) ** -12)


def test_rho_where_it_is_known():
    assert rho_of(dpsgd(2.0, 0.1, 8), "add-or-remove") == pytest.approx(1.0)
    assert rho_of(hs.ZCDP(rho=0.25) * 2 + hs.Gaussian(sigma=1.0), "add-or-remove") == pytest.approx(1.0)
    assert rho_of(hs.DiscreteGaussian(sigma=1.0), "add-or-remove") == pytest.approx(0.5)
    assert rho_of(hs.Gaussian(sigma=1.0), "replace") == pytest.approx(2.0)
    fixed = hs.Gaussian(sigma=4.0).without_replacement(batch=10, examples=100)
    assert rho_of(fixed * 8, "add-or-remove") == rho_of(fixed * 8, "replace") == pytest.approx(1.0)
    assert fixed.rdp(20.0) <= 20.0 * rho_of(fixed, "add-or-remove")
    assert rho_of(hs.Gaussian(sigma=2.0).full_pass(by="shuffle") * 2, "zero-out") == pytest.approx(0.25)
    with pytest.raises(hs.Unsupported):
        rho_of(hs.Gaussian(sigma=2.0).full_pass(by="shuffle"), "add-or-remove")
    assert rho_of(hs.ApproxDP(epsilon=0.1, delta=1e-6), "add-or-remove") == math.inf
    pure = rho_of(hs.RandomizedResponse(epsilon=0.7), "add-or-remove")
    assert pure == pytest.approx(0.7 * math.tanh(0.35), rel=1e-9)
    orders = 1.0 + np.geomspace(1e-2, 1e3, 200)
    for run in (
        hs.Laplace(scale=2.0).poisson(rate=0.1) * 5,
        hs.Exponential(epsilon=1.0) * 2,
        hs.PureDP(epsilon=1.0, neighbours="replace"),
    ):
        relation = "replace" if "replace" in repr(run) else "add-or-remove"
        rho = rho_of(run, relation)
        assert (run.rdp(orders, relation) <= rho * orders * (1 + 1e-13)).all()
