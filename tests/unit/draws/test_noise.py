"""The law of the noise, from the operating system's randomness, against its exact probabilities (more in `scripts/draws.py`)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

import hockeystick as hs
from hockeystick.draws import noise
from hockeystick.draws.source import InsecureSeed, words_of
from random_words import chance, discrete_gaussian_law, discrete_laplace_law
from twins import pure

LEAST = 1e-9  # the chance of a chi-square that fails by accident


def sizes(size):
    """With the core so many, without it fewer."""
    return size if noise.loops.core is not None else 4000


@pytest.fixture(params=["as installed", "pure"])
def twin(request):
    if request.param == "pure":
        with pure():
            yield
    else:
        yield


@pytest.mark.parametrize(
    ("kind", "spread"), [("laplace", 0.4), ("laplace", 7.5), ("gaussian", 0.4), ("gaussian", 1.0), ("gaussian", 9.25)]
)
def test_whole_numbers_have_their_law(twin, kind, spread):
    if kind == "laplace":
        drawn, exact = noise.discrete_laplaces(Fraction(spread), sizes(200_000), words_of(None)), discrete_laplace_law(spread)
    else:
        drawn, exact = noise.discrete_gaussians(spread, sizes(200_000), words_of(None)), discrete_gaussian_law(spread)
    edge = int(12 * spread) + 3
    counted = [np.count_nonzero(drawn == z) for z in range(-edge, edge + 1)]
    expected = [len(drawn) * exact(z) for z in range(-edge, edge + 1)]
    counted.append(len(drawn) - sum(counted))
    expected.append(max(0.0, len(drawn) - math.fsum(expected)))
    assert chance(counted, expected) > LEAST


@pytest.mark.parametrize("kind", ["laplace", "gaussian"])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e9])
def test_real_numbers_have_their_law(twin, kind, value):
    """Counted in cells between the quantiles of the exact law, and on the grid about 0."""
    spread, size = 1.7, sizes(200_000)
    draw = noise.laplaces if kind == "laplace" else noise.gaussians
    drawn = (draw(np.full(size, value), spread, words_of(None)) - value) / spread
    edges = np.linspace(-6.0, 6.0, 121)

    def below(x):
        if kind == "gaussian":
            return mp.ncdf(x)
        return mp.exp(x) / 2 if x < 0 else 1 - mp.exp(-x) / 2

    share = np.diff([0.0, *(float(below(mp.mpf(x))) for x in edges), 1.0])
    counted = np.bincount(np.searchsorted(edges, drawn), minlength=len(share))
    assert chance(counted, size * share) > LEAST


@pytest.mark.parametrize("draw", [noise.laplaces, noise.gaussians])
def test_what_goes_out_is_on_the_grid_whatever_goes_in(draw):
    for spread in (1.7, 3e-5, 2.0**30):
        grid = noise.grid_of(spread)
        assert 2.0**40 * 2.0**grid <= spread < 2.0**41 * 2.0**grid
        for value in (0.0, 0.1, 1.0, math.pi * spread, 5e-324):
            steps = np.ldexp(draw(np.full(500, value), spread, InsecureSeed(1)._words), -grid)
            assert np.array_equal(steps, np.rint(steps))
            if spread > 1.0:
                assert len(set(np.mod(steps, 64).tolist())) > 50  # every residue comes


def test_sums_are_rounded_once_to_the_nearest_step():
    """The same draws added to another value move by the exact difference, up to the rounding of each."""
    for draw in (noise.laplaces, noise.gaussians):
        values = np.array([0.0, 0.1, -0.3, 1e5, -7e7])
        here = [draw(np.full(200, value), 1.0, InsecureSeed(9)._words) for value in values]
        for value, one in zip(values, here, strict=True):
            moved = [Fraction(a) - Fraction(b) - Fraction(value) for a, b in zip(one.tolist(), here[0].tolist(), strict=True)]
            ulp = max(2.0**-40, math.ulp(abs(value) + 30.0) / 2 + 2.0**-40)
            assert max(map(abs, moved)) <= ulp


def test_far_ends():
    words = InsecureSeed(1)._words
    assert noise.gaussians(np.array([1e308]), 1e307, words)[0] > 0.0
    assert noise.double(1, -1074) == 5e-324
    assert noise.double(-(2**53) + 1, 971) == -math.nextafter(math.inf, 0.0)
    assert noise.double(-(2**60), 1000) == -math.inf
    assert noise.double(2**60 + 1, 3) == 2.0**63
    tiny = noise.laplaces(np.zeros(50), 1e-320, words)
    assert (np.abs(tiny) < 1e-318).all()
    assert noise.discrete_laplaces(Fraction(2) ** 70, 5, words).dtype == object
    assert noise.discrete_laplaces(Fraction(1, 2**70), 5, words).tolist() == [0] * 5


def laplace_in_doubles(value, scale, size, rng):
    """As textbooks have it: the inverse of the distribution function, of a uniform double."""
    uniform = rng.integers(1, 2**53, size) * 2.0**-53
    return value + np.where(rng.random(size) < 0.5, -1.0, 1.0) * scale * np.log(uniform)


def possible(seen, value, scale):
    """The attack of Mironov (2012): whether some uniform double makes this of the value, by trying those about the right one."""
    apart = seen - value
    sign = np.where(apart < 0.0, 1.0, -1.0)
    near = np.rint(np.exp(-np.abs(apart) / scale) * 2.0**53)
    found = np.zeros(len(seen), dtype=bool)
    for step in range(-6, 7):
        uniform = (near + step) * 2.0**-53
        inside = (uniform > 0.0) & (uniform < 1.0)
        made = value + sign * scale * np.log(np.where(inside, uniform, 0.5))
        found |= inside & (made == seen)
    return found


def test_the_attack_on_laplace_noise_made_of_doubles_fails():
    """It tells textbook noise on 0 and on 1 apart for most outputs; what it says of ours is as likely for both, up to e."""
    rng, scale, size = np.random.default_rng(12), 1.0, 20_000
    for made, broken in (
        (lambda value: laplace_in_doubles(value, scale, size, rng), True),
        (lambda value: hs.Laplace(scale=scale).release(np.full(size, value)), False),
    ):
        seen = {value: made(value) for value in (0.0, 1.0)}
        for asked in (0.0, 1.0):  # "it cannot be this value": how often, for this value and for the other
            own, other = (1.0 - possible(seen[value], asked, scale).mean() for value in (asked, 1.0 - asked))
            if broken:
                assert own == 0.0 < 0.5 < other
            else:
                assert max(own / other, other / own) < 1.1 * math.e  # epsilon is 1
                assert max((1.0 - own) / (1.0 - other), (1.0 - other) / (1.0 - own)) < 1.1 * math.e
