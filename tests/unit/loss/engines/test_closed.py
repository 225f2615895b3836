"""Epsilon and delta in closed form: each undoes the other."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.engines.closed import closed_epsilon, closed_form, has_closed


@pytest.mark.parametrize(
    "release",
    [hs.Gaussian(sigma=1.0) * 9, hs.Laplace(scale=1.0) * 5, hs.Laplace(scale=3.0), hs.Gaussian(sigma=0.7).poisson(rate=0.2)],
    ids=repr,
)
@pytest.mark.parametrize("delta", [0.1, 1e-6, 1e-30])
def test_epsilon_is_where_delta_is_reached(release, delta):
    run, level = release._run("remove"), math.log(delta)
    slack = 1e-15 * abs(level)
    assert has_closed(run)
    low, high = closed_epsilon(run, level, (level - slack, level + slack))
    assert 0.0 <= low <= high
    assert high - low < 1e-9 * high
    at_low, at_high = closed_form(run, low), closed_form(run, high)
    assert at_low is not None
    assert at_high is not None
    assert at_low.high >= level >= at_high.low


def test_what_has_none():
    for release in (hs.Gaussian(sigma=1.0) + hs.Laplace(scale=1.0), hs.Laplace(scale=1.0) * 65, hs.PureDP(epsilon=0.1) * 2):
        run = release._run("remove")
        assert not has_closed(run)
        assert closed_form(run, 0.5) is None
