"""Arguments of dpsgd with the names that other libraries have for them."""

import re

import pytest

import hockeystick as hs


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ({"noise_multiplier": 1.0}, "here it is sigma"),
        ({"batch_size": 10}, "here it is batch"),
        ({"sample_rate": 0.1}, "here it is rate"),
        ({"max_grad_norm": 1.0}, "relative to the clipping norm"),
        ({"delta": 1e-5}, "epsilon(delta=...)"),
        ({"smapler": "poisson"}, "did you mean sampler"),
    ],
)
def test_arguments_with_the_names_of_others(named, words):
    with pytest.raises(hs.BadType, match=re.escape(words)):
        hs.dpsgd(sigma=1.0, sampler="poisson", rate=0.1, steps=3, **named)


def test_arguments_that_are_missing_or_without_names():
    with pytest.raises(hs.BadType, match="needs sampler"):
        hs.dpsgd(sigma=1.0, rate=0.1, steps=3)
    with pytest.raises(hs.BadType, match="without names"):
        hs.dpsgd(1.0)
