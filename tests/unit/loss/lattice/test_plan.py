"""Where a lattice is placed: a guide, held against where the answer is."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.lattice.plan import TUNING, Plan, power_of_two_above


def test_powers_of_two():
    assert [power_of_two_above(length) for length in (1.0, 1.5, 64.0, 64.1)] == [1, 2, 64, 128]


@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-40])
@pytest.mark.parametrize(
    "release",
    [hs.PureDP(epsilon=0.5) * 20, hs.DiscreteGaussian(sigma=3.0, sensitivity=2) * 10, hs.Gaussian(sigma=1.0) * 4],
    ids=repr,
)
def test_the_window_holds_the_answer_and_the_tilt_serves_its_delta(release, delta):
    run, bounds = release._run("remove"), release.epsilon_bounds(delta, neighbours="remove")
    plan = Plan.of(run, bounds.upper, math.log(delta), 4.0)
    assert plan.theta > 0.0
    assert plan.centre == bounds.upper
    assert plan.period > plan.margin / plan.theta > 0.0
    assert plan.least_size <= TUNING.max_size


def test_a_larger_margin_makes_no_shorter_window():
    run = (hs.PureDP(epsilon=0.5) * 20)._run("remove")
    short, long = (Plan.of(run, 5.0, math.log(1e-6), margin) for margin in (1.0, 12.0))
    assert long.period >= short.period
