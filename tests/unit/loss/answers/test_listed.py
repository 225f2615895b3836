"""All sums of few steps with few values."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.answers.listed import listed


def test_a_binomial_law():
    found = listed((hs.RandomizedResponse(epsilon=0.5) * 4)._run("remove"))
    p = math.exp(0.5) / (1.0 + math.exp(0.5))
    for (loss, low, high), k in zip(found.joined(), range(5), strict=True):
        truth = math.comb(4, k) * p**k * (1.0 - p) ** (4 - k)
        assert loss == pytest.approx(0.5 * (2 * k - 4))
        assert low <= truth * (1.0 + 1e-14)
        assert high >= truth * (1.0 - 1e-14)
        assert high - low < 1e-12


def test_different_parts_and_values_that_coincide():
    run = hs.RandomizedResponse(epsilon=0.5, categories=3) * 3 + hs.PureDP(epsilon=1.0)
    values = [loss for loss, _, _ in listed(run._run("remove")).joined()]
    assert values == pytest.approx([-2.5 + 0.5 * k for k in range(11)])


def test_what_is_not_listed():
    assert listed(hs.Gaussian(sigma=1.0)._run("remove")) is None
    assert listed((hs.Gaussian(sigma=1.0) + hs.PureDP(epsilon=1.0))._run("remove")) is None
    assert listed(hs.DiscreteGaussian(sigma=1.0)._run("remove")) is None
    assert listed((hs.RandomizedResponse(epsilon=0.5, categories=3) * 10_000)._run("remove")) is None
