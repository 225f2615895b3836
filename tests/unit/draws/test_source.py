"""Where random words come from."""

import os

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.draws import source
from hockeystick.draws.source import InsecureSeed, Words, words_of


def test_words_come_in_order_whoever_asks():
    plain = Words(InsecureSeed(1)._hashed)
    mixed = Words(InsecureSeed(1)._hashed)
    expected = [plain.next() for _ in range(200)]
    found = []
    while len(found) < 200:
        ahead = mixed.ahead(7)
        assert len(ahead) >= 7
        found += ahead[:3].tolist()
        mixed.skip(3)
        found.append(mixed.next())
    assert found[:200] == expected
    assert len({*expected}) > 190
    assert max(expected) > 2**31


def test_the_same_seed_gives_the_same_words_on_every_machine():
    words = InsecureSeed(7)._words
    assert [words.next() for _ in range(3)] == [2822796709, 2227731161, 1490966339]
    assert InsecureSeed(8)._words.next() != 2822796709
    assert repr(InsecureSeed(8)) == "InsecureSeed(8)"
    rng = InsecureSeed(3)
    assert hs.Laplace(scale=1.0).release(0.0, rng) != hs.Laplace(scale=1.0).release(0.0, rng)


def test_nothing_is_kept_of_the_randomness_of_the_operating_system(monkeypatch):
    """A process that forks has the same memory as its child: words that were kept would be used by both."""
    asked = []
    monkeypatch.setattr(os, "urandom", lambda size: asked.append(size) or b"\x5a" * size)
    words_of(None).next()
    words_of(None).next()
    assert len(asked) == 2


def test_seeds_say_so():
    with pytest.raises(hs.BadType, match="InsecureSeed"):
        hs.Gaussian(sigma=1.0).release(0.0, rng=np.random.default_rng(1))
    with pytest.raises(hs.BadType, match="InsecureSeed"):
        hs.Gaussian(sigma=1.0).release(0.0, rng=7)
    for wrong, error in ((-1, hs.BadValue), (0.5, hs.BadValue), ("7", hs.BadType), (None, hs.BadType)):
        with pytest.raises(error, match="seed"):
            InsecureSeed(wrong)
    assert source.words_of(InsecureSeed(1)).next() == InsecureSeed(1)._words.next()
