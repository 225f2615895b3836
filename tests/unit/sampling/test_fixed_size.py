"""Batches of a fixed size."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.neighbours import RELATIONS
from sampled_cases import BASES, GAUSSIAN


def test_without_replacement_under_replace():
    step = GAUSSIAN.without_replacement(batch=100, examples=10_000)
    bounds = (step * 10_000).epsilon_bounds(1e-6, neighbours="replace")
    assert f"{bounds.lower:.5f} {bounds.upper:.5f}" == "6.90738 8.93844"
    assert not bounds.tight
    unsampled = hs.Gaussian(sigma=1.0)
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        wanted = 0.01 * unsampled.delta(math.log1p(math.expm1(epsilon) / 0.01))
        found = step.delta_bounds(epsilon, neighbours="replace")
        assert abs(found.upper - wanted) < 1e-9 * wanted + 1e-300
        assert abs(found.lower - wanted) < 1e-9 * wanted + 1e-300


def test_the_pair_that_is_unsound_for_fixed_batches():
    """A null record displaces another: the mixture with C is far below the truth, our bound is above it."""
    step = hs.Gaussian(sigma=1.0).without_replacement(batch=1, examples=100)
    truth = hs.Gaussian(sigma=1.0, sensitivity=2.0).poisson(rate=0.01).delta(1.0, neighbours="remove")
    mixture = hs.Gaussian(sigma=1.0).poisson(rate=0.01).delta(1.0, neighbours="remove")
    assert 1e-9 < mixture < 1e-8
    assert mixture < 1e-4 * step.delta(1.0, neighbours="zero-out")
    assert step.delta(1.0, neighbours="zero-out") >= truth * (1.0 - 1e-12)


@pytest.mark.parametrize("base", BASES, ids=repr)
@pytest.mark.parametrize("relation", RELATIONS)
def test_one_draw_is_one_without_replacement(base, relation):
    one = (base.with_replacement(draws=1, examples=11) * 4).delta_bounds(0.3, relation)
    assert one == (base.without_replacement(batch=1, examples=11) * 4).delta_bounds(0.3, relation)


def test_with_replacement_is_the_mixture_of_its_draws():
    """Against a sum over the number of draws in high precision, one step."""
    mp.dps = 30
    draws, examples, sigma, epsilon = 5, 20, mpf("1.5"), mpf("0.7")
    weights = [mp.binomial(draws, k) * mpf(1) / examples**k * (1 - mpf(1) / examples) ** (draws - k) for k in range(draws + 1)]
    step = hs.Gaussian(sigma=1.5).with_replacement(draws=draws, examples=examples)

    def ratio(y):
        return mp.log(mp.fsum(w * mp.exp(2 * k * y / sigma - 2 * k * k / sigma**2) for k, w in enumerate(weights)))

    y = mp.findroot(lambda y: ratio(y) - epsilon, 1.0)
    truth = mp.fsum(w * mp.ncdf(2 * k / sigma - y) for k, w in enumerate(weights)) - mp.exp(epsilon) * mp.ncdf(-y)
    bounds = step.delta_bounds(float(epsilon), neighbours="remove")
    assert bounds.lower <= truth * (1 + mpf("1e-12"))
    assert truth <= bounds.upper * (1 + mpf("1e-12"))
    assert bounds.tight
    assert bounds.width < 1e-9
    assert step.delta(float(epsilon), neighbours="replace") >= truth


def test_claims_for_replace_can_be_sampled_without_replacement():
    claim = hs.GDP(mu=1.0, neighbours="replace").without_replacement(batch=3, examples=100)
    noise = hs.Gaussian(sigma=2.0).without_replacement(batch=3, examples=100)
    for relation in ("remove", "add", "replace"):
        assert claim.delta(0.3, neighbours=relation) == pytest.approx(noise.delta(0.3, neighbours=relation), rel=1e-12)
    renyi = hs.ZCDP(rho=0.5, neighbours="replace").without_replacement(batch=3, examples=100)
    for relation in ("remove", "replace"):
        assert (renyi * 20).epsilon(1e-5, relation) >= (noise * 20).epsilon_bounds(1e-5, relation).lower


@pytest.mark.parametrize("scheme", ["without", "with"])
def test_zeroing_out_what_moves_farther_than_a_replacement(scheme):
    """All records contribute C, and one is zeroed out: a batch with it moves by C, however near two records are."""
    step = hs.Gaussian(sigma=1.0, sensitivity=1.0, replace_sensitivity=0.1)
    step = step.without_replacement(batch=5, examples=10) if scheme == "without" else step.with_replacement(draws=5, examples=10)
    mp.dps = 30
    epsilon = mpf("0.5")
    # without replacement: N(0) against half of it and half of N(-1), the batches of the others
    share = mpf(1) / 2 if scheme == "without" else None
    bounds = step.delta_bounds(0.5, neighbours="zero-out")
    if share is not None:
        y = mp.findroot(lambda y: mp.log(1 - share + share * mp.exp(y - mpf(1) / 2)) - epsilon, 1.0)
        truth = (1 - share) * mp.ncdf(-y) + share * mp.ncdf(1 - y) - mp.exp(epsilon) * mp.ncdf(-y)
        assert truth <= bounds.upper * (1 + mpf("1e-12"))
    assert bounds.upper > 0.0799
    for other in (
        hs.Laplace(scale=1.0, replace_sensitivity=0.1),
        hs.DiscreteLaplace(scale=1.0, sensitivity=10, replace_sensitivity=1),
        hs.DiscreteGaussian(sigma=1.0, sensitivity=10, replace_sensitivity=1),
    ):
        drawn = other.without_replacement(batch=5, examples=10)
        assert drawn.delta(0.5, neighbours="zero-out") >= other.poisson(rate=0.5).delta_bounds(0.5, neighbours="zero-out").lower


@pytest.mark.parametrize("rho", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("batch", [1, 20, 50, 90, 99])
def test_a_renyi_claim_in_a_batch_of_fixed_size(rho, batch):
    """Never above the claim itself, and never below two mixtures of Gaussian noise that obey it."""
    whole = hs.ZCDP(rho=rho, neighbours="replace")
    step = whole.without_replacement(batch=batch, examples=100)
    for count in (1, 30):
        assert (step * count).epsilon(1e-6, neighbours="replace") <= (whole * count).epsilon(1e-6, neighbours="replace")
    rate, far, z = batch / 100, math.sqrt(2.0 * rho), np.linspace(-30.0, 30.0, 120_001)

    def density(place):
        return np.exp(-0.5 * (z - place) ** 2) / math.sqrt(2.0 * math.pi)

    for ends in ((far, 0.0), (0.0, far), (0.5 * far, -0.5 * far)):
        one, two = ((1.0 - rate) * density(0.0) + rate * density(end) for end in ends)
        for order in (1.5, 2.0, 4.0, 8.0):
            true = math.log(float((one * (one / two) ** (order - 1.0)).sum()) * (z[1] - z[0])) / (order - 1.0)
            assert true <= step.rdp(order, neighbours="replace") * (1.0 + 1e-12)
