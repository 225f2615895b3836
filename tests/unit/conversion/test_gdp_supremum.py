"""How much Gaussian DP a privacy profile gives: the transform, its tail and its head (GDPT)."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from gdp_cases import above, icea, laplace, sgd
from hockeystick import conversion
from hockeystick.conversion._kernels import normals
from hockeystick.errors import BadType, BadValue, Unsupported


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


def test_the_transform_of_a_delta_below_every_double():
    """G-ExSGD/022: G of e^(-epsilon^2) at 100, where no profile of doubles has a value."""
    lower, upper = normals.mu_bounds(100.0, -10_000.0, -10_000.0)
    assert lower <= upper
    above(upper, mpf("0.705740280838673067936181540506"), 1e-14)
    assert conversion.gdp_transform(sgd)(100.0) == 0.0
    assert conversion.gdp_to_log_delta(mu=0.5, epsilon=20) == pytest.approx(
        float(mp.log(mpf("9.74433137159149591020920110248e-348"))), rel=1e-14
    )
    assert conversion.gdp_to_log_delta(mu=0.01, epsilon=0.5) == pytest.approx(
        float(mp.log(mpf("2.77278022799632925423263798945e-549"))), rel=1e-14
    )


def test_the_transform_preserves_order_and_levels():
    epsilons = np.array([0.0, 0.3, 1.0, 2.0, 4.0])
    for mu in (0.2, 1.0, 3.0):
        level = conversion.gdp_transform(lambda e, mu=mu: conversion.gdp_to_delta(mu, e))(epsilons)
        assert level == pytest.approx(mu, rel=1e-12)
    low, high = (conversion.gdp_transform(lambda e, s=s: s * laplace(e))(epsilons) for s in (0.9, 1.0))
    assert (low <= high).all()
    assert conversion.gdp_transform(lambda e: math.exp(-e * e))(0.0) == math.inf


def test_the_tail():
    assert conversion.tail_mu([0.0, 0.25, math.inf]).tolist() == [0.0, 0.5, math.inf]
    for limsup in (0.5, 2.0, 1e-320, 3.0, 4.0):
        root = Fraction(conversion.tail_mu(limsup))
        assert root**2 >= Fraction(limsup) > Fraction(math.nextafter(float(root), 0.0)) ** 2
    # Theorem 4.4 for e^(-epsilon^2): G falls to sqrt(1/2)
    found = [normals.mu_bounds(e, -e * e, -e * e)[1] for e in (1e2, 1e3, 1e4)]
    assert max(abs(mu - math.sqrt(0.5)) for mu in found) < 2e-3
    assert found == sorted(found)  # from below in the end
    assert abs(found[-1] - math.sqrt(0.5)) < 2e-5


HEADS = {
    "laplace": (laplace, 5.0),
    "sgd": (sgd, 5.0),
    "icea": (icea, 5.0),
    "implied": (lambda e: conversion.implied_delta(1.0, 1e-5, e), 3.0),
    "sampled": (conversion.amplify_profile(lambda e: conversion.gdp_to_delta(1.0, e), 0.1), 10.0),
    "mixture": (lambda e: 0.3 * laplace(e) + 0.7 * conversion.gdp_to_delta(0.5, e), 6.0),
    "two": (lambda e: 0.5 * laplace(e) + 0.5 * conversion.gdp_to_delta(1.8, e), 12.0),
    "step": (lambda e: 0.4 if e < 1.0 else 1e-5, 3.0),  # no privacy profile: not convex
    "stairs": (lambda e: laplace(math.floor(e / 0.5) * 0.5), 4.0),  # convex where it is asked first, and only there
    "steep": (lambda e: max(0.5 - 5.0 * e, 0.0), 3.0),  # of erratum G-E3
    "zero": (lambda _: 0.0, 3.0),
}


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("tolerance", [1e-2, 1e-5])
def test_the_head_is_between_the_bounds(name, tolerance):
    profile, head = HEADS[name]
    asked = []
    bounds = conversion.head_mu(lambda e: asked.append(e) or profile(e), head, tolerance)
    assert bounds.width <= tolerance
    assert all(type(epsilon) is float for epsilon in asked)
    transformed = conversion.gdp_transform(profile)(np.linspace(0.0, head, 401))
    assert transformed.max() <= bounds.upper * (1.0 + 1e-12)
    assert len(asked) < 60 + 8 / math.sqrt(tolerance)
    grid = conversion.head_mu_grid(profile, head, 60)
    assert grid.lower <= bounds.upper
    assert bounds.lower <= grid.upper
    if name not in ("step", "stairs", "steep"):
        assert grid.width <= math.sqrt(2.0 * math.pi) * head / 60.0


def test_the_head_of_a_gaussian_is_flat():
    """Where every epsilon matters, the width of the intervals is sqrt(8 mu tolerance)."""
    asked = []
    bounds = conversion.head_mu(lambda e: asked.append(e) or conversion.gdp_to_delta(1.0, e), 5.0, 1e-4)
    assert bounds.lower <= 1.0 + 1e-12
    assert bounds.upper >= 1.0
    assert len(asked) < 400
    assert len(asked) < 5.0 * math.sqrt(2.0 * math.pi) / 1e-4 / 100.0


def test_a_head_far_out():
    bounds = conversion.head_mu(lambda e: conversion.gdp_to_delta(6.0, e), 150.0, 1e-2)
    assert bounds.lower <= 6.0 * (1.0 + 1e-12)
    assert 6.0 <= bounds.upper <= 6.01
    far = lambda e: 0.5 * conversion.gdp_to_delta(100.0, e)  # noqa: E731
    bounds = conversion.head_mu(far, 8e3, 0.1)  # e^epsilon is beyond the doubles
    found = conversion.gdp_transform(far)(np.linspace(0.0, 8e3, 801)).max()
    assert bounds.lower - 1e-9 <= found + 0.1
    assert found <= bounds.upper <= 100.1


def test_rounding_noise_in_a_profile_is_no_increase():
    noise = random.Random(13)
    bounds = conversion.head_mu(lambda e: laplace(e) * (1.0 + 1e-13 * noise.random()), 4.0, 1e-6)
    assert bounds.upper == pytest.approx(1.80090519327558, abs=1e-6)


def test_a_profile_that_is_none_is_named():
    with pytest.raises(BadValue, match="does not increase"):
        conversion.head_mu(lambda e: 0.1 + 0.01 * e, 3.0, 1e-3)
    with pytest.raises(BadValue, match="does not increase"):
        conversion.head_mu_grid(lambda e: 0.1 + 0.01 * e, 3.0, 10)
    for wrong, error in (
        (math.nan, BadValue),
        (1.5, BadValue),
        (-0.1, BadValue),
        ("0", BadType),
        (None, BadType),
        (True, BadType),
    ):
        for call in (
            lambda profile: conversion.head_mu(profile, 1.0, 1e-3),
            lambda profile: conversion.head_mu_grid(profile, 1.0, 10),
            lambda profile: conversion.gdp_transform(profile)(1.0),
            lambda profile: conversion.refined_profile(profile)(1.0),
        ):
            with pytest.raises(error, match=r"profile\(\d"):
                call(lambda _, wrong=wrong: wrong)
            with pytest.raises(BadType, match="profile is"):
                call(0.5)
    with pytest.raises(Unsupported, match="below 1"):
        conversion.head_mu(lambda e: math.exp(-e * e), 1.0, 1e-3)
    with pytest.raises(Unsupported, match="below 1"):
        conversion.head_mu_grid(lambda e: math.exp(-e * e), 1.0, 10)
    for profile in (laplace, lambda e: conversion.gdp_to_delta(1.0, e)):
        with pytest.raises(Unsupported, match="tolerance"):
            conversion.head_mu(profile, 1e-3, 1e-15)


@pytest.mark.parametrize("intervals", [0, -1, 1_000_001, 10**9])
def test_one_limit_of_the_intervals_is_named(intervals):
    with pytest.raises(BadValue, match=f"intervals is {intervals}; allowed: a whole number from 1 to 1000000."):
        conversion.head_mu_grid(lambda _: 0.1, 1.0, intervals)
