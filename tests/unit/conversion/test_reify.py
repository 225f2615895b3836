"""Clip and reify (Liu et al. 2021, Theorem 4.7): its law, its grid, its randomness, and the privacy of its output."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp

from hockeystick import conversion
from hockeystick.conversion import reify
from hockeystick.draws.source import InsecureSeed
from hockeystick.errors import BadType, BadValue


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(80):
        yield


def test_noise_of_the_scale_of_theorem_4_7():
    rng = InsecureSeed(15)
    for values, dimension in ((0.25, 1), ([0.25, 0.75, 0.5, 0.1], 4)):
        drawn = np.array([conversion.clip_and_reify(values, 0.0, 1.0, 2.0, rng) for _ in range(4000)])
        noise = drawn - np.array(values)
        assert np.abs(noise).mean() == pytest.approx(dimension / 2.0, rel=0.08)
        assert np.abs(noise.mean()) < 0.08 * dimension


def test_the_output_is_on_a_grid_of_powers_of_two():
    rng, place = InsecureSeed(16), np.random.default_rng(16)
    for lower, upper, epsilon_head in ((0.0, 1.0, 1.0), (-3.7, 1e6, 0.01), (1e9, 1e9 + 1.0, 100.0)):
        scale = (upper - lower) / epsilon_head
        step, _ = reify.grid_and_decay(lower, upper, epsilon_head, 1)
        assert math.frexp(float(step))[0] == 0.5
        assert step * 2**40 <= min(scale, upper - lower) <= step * 2**42
        for _ in range(20):
            value = conversion.clip_and_reify(place.uniform(lower - 1.0, upper + 1.0), lower, upper, epsilon_head, rng)
            assert (Fraction(value) / step).denominator == 1 or abs(value) > float(step) * 2**53
            assert lower - 60.0 * scale < value < upper + 60.0 * scale


def test_values_are_clipped_and_keep_their_shape():
    quiet = {"lower": -1.0, "upper": 2.0, "epsilon_head": 1e9, "rng": InsecureSeed(17)}
    assert conversion.clip_and_reify([[math.inf, -math.inf], [0.5, 7]], **quiet) == pytest.approx(
        np.array([[2.0, -1.0], [0.5, 2.0]]), abs=1e-6
    )
    assert type(conversion.clip_and_reify(1, **quiet)) is float
    assert type(conversion.clip_and_reify(np.float32(1.0), **quiet)) is float
    assert conversion.clip_and_reify(np.zeros((0, 3)), **quiet).shape == (0, 3)
    assert conversion.clip_and_reify(np.arange(3), **quiet).shape == (3,)
    wide = conversion.clip_and_reify(0.0, -1e150, 1e150, 1e-100, InsecureSeed(18))
    assert math.isfinite(wide)


def test_the_randomness_is_that_of_the_operating_system_unless_a_seed_is_given(monkeypatch):
    asked = []
    monkeypatch.setattr("os.urandom", lambda size: asked.append(size) or bytes(range(256)) * (size // 256 + 1))
    conversion.clip_and_reify(0.5, 0.0, 1.0, 1.0)
    assert sum(asked) > 0
    asked.clear()
    once, again = (conversion.clip_and_reify(0.5, 0.0, 1.0, 1.0, InsecureSeed(1)) for _ in range(2))
    assert once == again
    assert not asked


def test_the_output_is_as_private_as_it_says(monkeypatch):
    """The ends are a whole number of steps apart, over which the law of the noise falls by e^epsilon_head in all, exactly."""
    monkeypatch.setattr(reify, "discrete_laplaces", lambda scale, size, words, least: np.zeros(size, dtype=np.int64))
    for lower, upper, epsilon_head, size in ((0.1, 0.7, 0.3, 1), (-1e5, 3.3, 7.0, 3), (1e-9, 1.0, 1e3, 2), (0.1, 0.3, 1e-3, 5)):
        step, decay = reify.grid_and_decay(lower, upper, epsilon_head, size)
        low = conversion.clip_and_reify(np.full(size, -math.inf), lower, upper, epsilon_head)
        high = conversion.clip_and_reify(np.full(size, math.inf), lower, upper, epsilon_head)
        apart = sum((Fraction(b) - Fraction(a)) / step for a, b in zip(low.tolist(), high.tolist(), strict=True))
        assert apart * decay == Fraction(epsilon_head)
        assert np.abs(low - lower).max() <= step
        assert np.abs(high - upper).max() <= step


def test_bad_input_to_clip_and_reify():
    good = {"values": 0.5, "lower": 0.0, "upper": 1.0, "epsilon_head": 1.0}
    for name, wrong, error in (
        ("values", math.nan, BadValue),
        ("values", [0.5, math.nan], BadValue),
        ("values", "0.5", BadType),
        ("values", None, BadType),
        ("values", True, BadType),
        ("values", [[1.0], [1.0, 2.0]], BadType),
        ("lower", 1.0, BadValue),
        ("lower", 2.0, BadValue),
        ("lower", -math.inf, BadValue),
        ("upper", math.nan, BadValue),
        ("upper", 1e200, BadValue),
        ("upper", "1", BadType),
        ("epsilon_head", 0.0, BadValue),
        ("epsilon_head", -1.0, BadValue),
        ("epsilon_head", math.inf, BadValue),
        ("epsilon_head", 1e-200, BadValue),
        ("epsilon_head", None, BadType),
        ("rng", 3, BadType),
        ("rng", np.random.default_rng(1), BadType),
        ("rng", random.Random(1), BadType),
    ):
        with pytest.raises(error, match=name):
            conversion.clip_and_reify(**{**good, name: wrong})
