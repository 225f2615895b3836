"""A budget split by weights."""

import pytest

import hockeystick as hs
from hockeystick.planning.target import Target
from targets import TARGETS


@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_split(target):
    parts = [lambda s: hs.Gaussian(sigma=s) * 2, lambda s: hs.Gaussian(sigma=s)]
    noises = hs.split(parts, [1.0, 2.0], **target)
    assert noises[0] == pytest.approx(2 * noises[1])
    goal = Target.of(**target)
    assert goal.holds(hs.compose([part(noise) for part, noise in zip(parts, noises, strict=True)]))
    assert not goal.holds(hs.compose([part(noise * (1 - 1e-8)) for part, noise in zip(parts, noises, strict=True)]))


def test_split_bad_input():
    with pytest.raises(hs.BadValue, match="parts is empty"):
        hs.split([], epsilon=1.0, delta=1e-5)
    with pytest.raises(hs.BadValue, match="2 weights"):
        hs.split([lambda s: hs.Gaussian(sigma=s)], [1, 2], epsilon=1.0, delta=1e-5)
    with pytest.raises(hs.BadType, match="a part is"):
        hs.split([3], epsilon=1.0, delta=1e-5)
    with pytest.raises(hs.BadType, match="parts is"):
        hs.split(lambda s: hs.Gaussian(sigma=s), epsilon=1.0, delta=1e-5)
