"""Draws by the core and by the reference: from the same words they are the same, and the same words are left."""

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

from hockeystick.draws import choices, noise
from hockeystick.draws.source import InsecureSeed, Words
from hockeystick.native import core
from random_words import Given, coarse, law
from twins import pure

needs_core = pytest.mark.skipif(core is None or not hasattr(core, "draw_below"), reason="the core was not compiled")

SPREADS = (1.5, 1e-3, 3e7, 2.0**-20, 1e-295, 1e200)
WHOLE = (0.3, 1.0, 10.0, 1e6, 2.0**45, 1e18, 1e-12)


def draws(words: Words, size: int) -> list[np.ndarray]:
    """All kinds of draws, a few of each."""
    rng = np.random.default_rng(1)
    found = []
    for spread in SPREADS:
        values = np.ldexp(rng.normal(size=size), rng.integers(-80, 80, size)) * spread
        values[:4] = 0.0, spread, -spread, 5e-324
        found += [noise.laplaces(values, spread, words), noise.gaussians(values, spread, words)]
    for spread in WHOLE:
        found += [noise.discrete_laplaces(Fraction(spread), size, words), noise.discrete_gaussians(spread, size, words)]
        found.append(noise.discrete_laplaces(Fraction(spread) * 2**30 / 3, size, words, 64))
    for epsilon in (0.0, 1e-3, math.log(2.0), 1.0, 20.0, 600.0):
        found += [choices.Response(epsilon, k - 1).all(np.arange(size) % k, words) for k in (2, 3, 100)]
    found += [choices.poisson_sample(rate, 4 * size, words) for rate in (0.0, 0.3, 1.0, 1e-9)]
    found += [choices.subset(size, 2 * size, words), choices.draws_of(size, 77, words), np.array(choices.shuffled(size, words))]
    for places in (1, 2, 40):
        exponents = choices.Exponents([-Fraction(i * i, 7) for i in range(places)], Fraction(1))
        found += [np.array([choices.selection(exponents, again, words) for _ in range(10)]) for again in (True, False)]
        doubles = choices.Exponents([0.1 * i for i in range(places)], Fraction(1, 3))
        found += [np.array([choices.selection(doubles, again, words) for _ in range(10)]) for again in (True, False)]
    return found


@needs_core
@pytest.mark.parametrize(("bits", "size"), [(32, 60), (3, 30), (8, 30)])
def test_the_core_draws_what_the_reference_draws(bits, size):
    """With coarse words most draws of the core meet a tie, and are left to the reference."""
    made = [InsecureSeed(2)._words if bits == 32 else coarse(2, bits) for _ in range(2)]
    ours = draws(made[0], size)
    with pure():
        theirs = draws(made[1], size)
    assert len(ours) > 50
    for one, other in zip(ours, theirs, strict=True):
        assert one.dtype == other.dtype
        assert np.array_equal(one, other)
    assert [made[0].next() for _ in range(3)] == [made[1].next() for _ in range(3)]


@needs_core
def test_the_core_decides_almost_all(monkeypatch):
    asked = []
    monkeypatch.setattr(noise, "gaussian", lambda *args: asked.append(args) or 0.0)
    monkeypatch.setattr(noise, "laplace", lambda *args: asked.append(args) or 0.0)
    monkeypatch.setattr(noise, "discrete_laplace", lambda *args: asked.append(args) or 0)
    monkeypatch.setattr(noise, "discrete_gaussian", lambda *args: asked.append(args) or 0)
    words, values = InsecureSeed(3)._words, np.zeros(20_000)
    noise.gaussians(values, 1.5, words)
    noise.laplaces(values, 1.5, words)
    noise.discrete_laplaces(Fraction(10), 20_000, words)
    noise.discrete_gaussians(10.0, 20_000, words)
    assert len(asked) <= 2


@pytest.mark.parametrize("twin", [pytest.param("core", marks=needs_core), "pure"])
def test_discrete_laplace_by_all_streams_of_words(twin):
    """Words of which two bits are random are digits of base 4: quarters are compared with as uniform numbers are."""

    def draw(digits: list[int]) -> int:
        found = noise.discrete_laplaces(Fraction(4), 1, Given([digit << 30 for digit in digits]))
        return int(found[0])

    if twin == "pure":
        with pure():
            found, left = law(draw, 2, 6)
    else:
        found, left = law(draw, 2, 6)
    r = mp.exp(-mp.mpf(1) / 4)
    assert sum(found.values()) + left == 1
    assert left < 0.6
    for z in range(-6, 7):
        low, high = found[z], found[z] + left
        assert float(low) <= (1 - r) / (1 + r) * r ** abs(z) <= float(high)


@needs_core
def test_bad_arguments_of_the_core():
    words, out = np.zeros(8, dtype=np.uint32), np.zeros(2, dtype=np.int64)
    for call in (
        lambda: core.draw_below(words, 0, 0, out),
        lambda: core.draw_below(words, 1, 1, out),
        lambda: core.draw_below(words, 2**32 + 1, 0, out),
        lambda: core.draw_discrete_gaussian(words, math.nan, out),
        lambda: core.draw_discrete_laplace(words, 2.0**53, 0, 0, 1, out),
        lambda: core.draw_discrete_laplace(words, 1.0, 0, 0, 3, out),
        lambda: core.draw_on_grid(words, np.zeros(2), 1.0, 0, 0, np.zeros(3)),
        lambda: core.draw_response(words, out, 0, 1, 0, 0.5, out),
        lambda: core.draw_choice(words, np.zeros(2), 0, out[:1], out[:1]),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            call()
    with pytest.raises(TypeError, match="32 bits"):
        core.draw_below(words.astype(np.int32), 5, 0, out)
    with pytest.raises(TypeError, match="64 bits"):
        core.draw_below(words, 5, 0, np.zeros(2))


@needs_core
def test_a_choice_is_made_of_many_words():
    """More than are fetched at once."""
    exponents = choices.Exponents([30.0, *[0.0] * 3000], Fraction(1))
    words = InsecureSeed(4)._words
    assert {choices.selection(exponents, again, words) for again in (True, False)} == {0}


def test_exponents_are_near_their_doubles():
    """Of doubles by doubles, of others by fractions: 0 for the best only, and never infinite."""
    for scores, weight in (
        ([0.1, 0.3, 0.7, 0.7, -1e-300], Fraction(0.35)),
        ([5e-324, 0.0, 1.0], Fraction(1e-150)),
        ([5e-324, 0.0], Fraction(1e-150)),
        ([1.7e308, -1.7e308], Fraction(1)),
        ([1.0, 0.0], Fraction(10) ** 400),
        ([1.0, 0.0], Fraction(1, 10**400)),
        ([Fraction(1, 3), 10**400, 0], Fraction(2, 7)),
    ):
        exponents = choices.Exponents(scores, weight)
        for exact, near in zip(exponents, exponents.near().tolist(), strict=True):
            assert (near == 0.0) == (exact == 0)
            assert math.isfinite(near)
            assert near == 1e300 <= exact or abs(Fraction(near) - exact) <= (1 + exact) / 2**45
