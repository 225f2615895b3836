"""Mean and variance of the loss, against mpmath."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.loss.answers.moments import moments


def laplace(a):
    """Mean and variance of the loss of Laplace noise moved by a of its scales."""
    a = mpf(a)
    first = (a - a * mp.exp(-a)) / 2 + mp.quad(lambda y: (a - 2 * y) * mp.exp(-y) / 2, [0, a])
    second = a**2 * (1 + mp.exp(-a)) / 2 + mp.quad(lambda y: (a - 2 * y) ** 2 * mp.exp(-y) / 2, [0, a])
    return first, second - first**2


def sampled_gaussian(sigma, rate, removal):
    s, q = mpf(sigma), mpf(rate)
    f = lambda y, m: mp.exp(-((y - m) ** 2) / 2 / s**2) / s / mp.sqrt(2 * mp.pi)  # noqa: E731
    mixed = lambda y: (1 - q) * f(y, 0) + q * f(y, 1)  # noqa: E731
    sign, under = (1, mixed) if removal else (-1, lambda y: f(y, 0))
    z = lambda y: sign * mp.log(mixed(y) / f(y, 0))  # noqa: E731
    places = [-12 * s, -4 * s, 0, 1, 1 + 4 * s, 1 + 12 * s]
    first = mp.quad(lambda y: under(y) * z(y), places)
    return first, mp.quad(lambda y: under(y) * z(y) ** 2, places) - first**2


CASES = {
    "laplace": (hs.Laplace(scale=1.0), "remove", lambda: laplace(1)),
    "laplace-wide": (hs.Laplace(scale=40.0), "remove", lambda: laplace(mpf(1) / 40)),
    "sampled": (hs.Gaussian(sigma=1.0).poisson(rate=0.1), "remove", lambda: sampled_gaussian(1, mpf(0.1), True)),
    "sampled-add": (hs.Gaussian(sigma=0.7).poisson(rate=0.25), "add", lambda: sampled_gaussian(mpf(0.7), mpf(0.25), False)),
}


@pytest.mark.parametrize("name", CASES)
def test_losses_with_a_density(name):
    release, order, truth = CASES[name]
    mp.dps = 25
    mean, variance = truth()
    ends = moments(release._run(order).terms[0][0])
    assert ends[0] <= mean <= ends[1]
    assert ends[2] <= variance <= ends[3]
    assert ends[1] - ends[0] <= 1e-6 * ends[1]
    assert ends[3] - ends[2] <= 1e-5 * ends[3]
    loss = release.loss(order)
    assert loss.mean().lower <= mean <= loss.mean().upper
    assert (release * 3).loss(order).variance().lower <= 3 * variance <= (release * 3).loss(order).variance().upper


def test_values():
    p = mp.exp(1) / (1 + mp.exp(1))
    low, high, least, most = moments(hs.RandomizedResponse(epsilon=1.0)._run("remove").terms[0][0])
    assert low <= 2 * p - 1 <= high
    assert least <= 4 * p * (1 - p) <= most
    assert most - least < 1e-13


def test_discrete_noise_is_like_the_continuous_one():
    loss = hs.DiscreteGaussian(sigma=5.0).loss("remove")
    assert 0.02 in loss.mean()
    assert loss.variance().upper == pytest.approx(0.04, abs=1e-12)


def test_what_has_no_moments():
    claim = hs.ApproxDP(epsilon=1.0, delta=1e-6).loss("remove")
    assert claim.mean() == hs.Bounds(math.inf, math.inf)
    with pytest.raises(hs.Unsupported, match="no variance"):
        claim.variance()


def test_wide_discrete_noise_against_its_sum():
    """Its masses are known between edges only; its variance is that of the continuous noise, and so are bounds of its K."""
    sigma, move, rate = 5000.0, 1000, 0.1
    y = np.arange(-60_000.0, 62_000.0)
    p, q = np.exp(-0.5 * ((y - move) / sigma) ** 2), np.exp(-0.5 * (y / sigma) ** 2)
    p, q = p / p.sum(), q / q.sum()
    noise = hs.DiscreteGaussian(sigma=sigma, sensitivity=move)
    for release, first in ((noise, p), (noise.poisson(rate=rate), rate * p + (1.0 - rate) * q)):
        z = np.log(first / q)
        mean, law = float(first @ z), release.loss("remove")
        variance = float(first @ (z - mean) ** 2)
        for found, truth in ((law.mean(), mean), (law.variance(), variance)):
            assert found.lower <= truth * (1.0 + 1e-9)
            assert found.upper >= truth * (1.0 - 1e-9)
            assert found.width < 1e-3 * truth
        assert release.rdp(2.0) >= math.log(float(first @ (first / q))) * (1.0 - 1e-9)
        assert release.rdp(2.0) < 1.0
