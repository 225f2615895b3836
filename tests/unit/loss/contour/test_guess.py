"""First guesses: no part of a proof, but near what is proved, or the searches would start far off."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.contour.guess import estimate_epsilon, estimate_log_delta, likely_cap, saddle_point_epsilon

RUNS = {
    "gaussian": hs.Gaussian(sigma=3.0) * 40,
    "laplace": hs.Laplace(scale=4.0) * 200,
    "dp-sgd": hs.Gaussian(sigma=1.0).poisson(rate=0.01) * 2000,
    "response": hs.RandomizedResponse(epsilon=0.1) * 900,
    "mixed": hs.Gaussian(sigma=5.0) * 9 + hs.Laplace(scale=2.0) * 30,
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("delta", [1e-3, 1e-8, 1e-20])
def test_guesses_are_near_what_is_proved(name, delta):
    """Epsilon within some percent where many steps add up; log delta there within the logarithm of a factor of two."""
    run = RUNS[name]._run("remove")
    truth = RUNS[name].epsilon_bounds(delta, neighbours="remove")
    assert estimate_epsilon(run, math.log(delta)) == pytest.approx(truth.upper, rel=0.06)
    assert saddle_point_epsilon(run, math.log(delta)) == pytest.approx(truth.upper, rel=0.1)
    assert estimate_log_delta(run, truth.upper) == pytest.approx(math.log(delta), abs=math.log(2.0))


def test_a_guess_falls_in_delta():
    run = RUNS["dp-sgd"]._run("remove")
    found = [estimate_epsilon(run, -float(k)) for k in range(1, 60, 4)]
    assert found == sorted(found)


def test_the_cap_lies_above_what_is_asked_and_what_is_likely():
    run = RUNS["laplace"]._run("remove")
    _, mean, variance = run.coarse_expand(0.0)
    for epsilon in (-5.0, 0.0, 1.0, 30.0):
        cap = likely_cap(run, epsilon)
        assert cap >= 1.2 * max(epsilon, 0.0)
        assert cap >= mean + math.sqrt(variance)


def test_a_guess_stays_below_the_largest_loss():
    run = (hs.RandomizedResponse(epsilon=0.5) * 4)._run("remove")
    assert 0.0 < saddle_point_epsilon(run, -300.0) <= run.ceiling
    assert 0.0 < estimate_epsilon(run, -300.0) <= run.ceiling * 1.2
