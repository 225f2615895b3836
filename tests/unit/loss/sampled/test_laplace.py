"""Sampled Laplace noise along the contour: its rule and its decay against quadrature, its answers against the lattice."""

import math

import mpmath as mp
import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.lattice.refine import lattice_epsilon
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.protocol import Inconclusive
from hockeystick.loss.sampled.laplace import _ORDER, _POINTS, _WEIGHTS, Panels, SampledLaplaceLoss
from hockeystick.numerics.rounding import GAUSS_WEIGHT, UNIT
from hockeystick.numerics.trapezoid import Cells


@pytest.fixture(autouse=True)
def digits():
    before, mp.mp.dps = mp.mp.dps, 40
    yield
    mp.mp.dps = before


def test_the_rule_of_numpy_errs_less_than_half_of_what_is_assumed():
    for place, weight in zip(_POINTS.tolist(), _WEIGHTS.tolist(), strict=True):
        root = mp.findroot(lambda t: mp.legendre(_ORDER, t), mp.mpf(place))
        slope = mp.diff(lambda t: mp.legendre(_ORDER, t), root)
        assert abs(root - mp.mpf(place)) <= UNIT
        assert abs(2 / ((1 - root**2) * slope**2) / mp.mpf(weight) - 1) <= 0.5 * GAUSS_WEIGHT


def moment(a, rate, k):
    """M(k) - 1, by high-precision quadrature."""
    a, rate = mp.mpf(a), mp.mpf(rate)

    def inner(z):
        x = rate * mp.expm1(z)
        return mp.exp(k * mp.log1p(x)) - 1 - k * x

    density = mp.quad(lambda z: mp.exp(-(z + a) / 2) / 4 * inner(z), mp.linspace(-a, a, 9))
    return inner(-a) / 2 + mp.exp(-a) / 2 * inner(a) + density


@pytest.mark.parametrize("removal", [True, False])
@pytest.mark.parametrize(
    ("a", "rate", "c", "step", "count"), [(1.0, 1e-3, 5.0, 40.0, 10**6), (4.0, 0.01, 1.5, 0.6, 1000), (0.2, 0.3, 20.0, 10.0, 50)]
)
def test_values_and_bounds_against_quadrature(a, rate, c, step, count, removal):
    loss = SampledLaplaceLoss(LaplaceLoss(a), rate, removal)
    line = loss.slice(c, 2.0 * c, count)
    value, error = line.values(step, 12)
    for place in (0, 1, 11):
        w = mp.mpc(c, step * place)
        true = moment(a, rate, 1 + w if removal else -w)
        found = mp.expm1(mp.mpc(complex(value[0, place])))
        assert abs(found - true) <= mp.mpf(float(error[0, place])) * abs(1 + true) + 4 * UNIT * abs(true)
        assert error[0, place] * count < 1e-6
    for point in (c, 1.5 * c):
        true = mp.log1p(moment(a, rate, 1 + point if removal else -point))
        assert true <= line.cumulant_above(np.array([point]))[0, 0] <= true + 1e-9
        about = loss.expand(point)[0]
        assert abs(about - true) < 1e-3 * abs(true) + 1e-12


@pytest.mark.parametrize("removal", [True, False])
def test_the_decay_holds(removal):
    a, rate, c = 1.3, 0.02, 4.0
    loss = SampledLaplaceLoss(LaplaceLoss(a), rate, removal)
    k = 1.0 + c if removal else -c
    law = Panels(a, rate, removal, 64)
    weight = np.exp(law.log_q + k * law.ratio)
    cells = Cells(1.0)
    proved = loss.slice(c, c, 100).decay(cells)[0]
    for left, right, one in zip(cells.left.tolist(), cells.right.tolist(), proved.tolist(), strict=True):
        if right > 4000.0:  # the law of this test is too coarse
            break
        for u in np.linspace(left, right, 7).tolist():
            assert -math.log(abs((weight * np.exp(1j * u * law.ratio)).sum()) / weight.sum()) >= one
    assert proved[cells.left > 1000.0].min() > 0.0
    assert proved.max() > 0.05


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize(
    ("scale", "rate", "steps", "delta"), [(1.0, 0.1, 100, 1e-6), (1.0, 0.01, 1000, 1e-10), (2.0, 0.3, 200, 1e-20)]
)
def test_agrees_with_the_lattice(scale, rate, steps, delta, order):
    run = hs.Laplace(scale).poisson(rate) * steps
    bounds = run.epsilon_bounds(delta, neighbours=order)
    rough = lattice_epsilon(run._run(order), math.log(delta), 1e-14)
    assert rough[0] <= bounds.upper
    assert bounds.lower <= rough[1]
    assert bounds.width <= 1e-9 * bounds.upper


@pytest.mark.parametrize(
    ("scale", "rate", "steps", "delta"),
    [(1.0, 1e-3, 10**6, 1e-6), (0.5, 1e-4, 10**6, 1e-6), (1.0, 1e-5, 10**6, 1e-6), (2.0, 0.01, 10**6, 1e-12)],
)
def test_a_million_steps_are_narrow(scale, rate, steps, delta):
    bounds = (hs.Laplace(scale).poisson(rate) * steps).epsilon_bounds(delta)
    assert 0.0 < bounds.width <= 1e-9 * bounds.upper


def test_more_than_a_thousand_million_steps_are_narrow_enough():
    bounds = (hs.Laplace(1.0).poisson(1e-6) * 10**12).epsilon_bounds(1e-6)
    assert bounds.width <= 1e-5 * bounds.upper


def test_extremes_go_to_the_lattice():
    loss = SampledLaplaceLoss(LaplaceLoss(100.0), 0.1, True)
    with pytest.raises(Inconclusive):
        loss.slice(1.0, 2.0, 3)
    bounds = (hs.Laplace(0.01).poisson(0.1) * 3).epsilon_bounds(1e-6)
    assert bounds.width <= 1e-5 * bounds.upper
