"""A first guess of epsilon by the single big jump."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.bigjump.guess import guess_epsilon, guess_log_delta


def test_one_big_jump_is_a_good_guess() -> None:
    """Within a tenth where the engine is asked; no guess for losses of other kinds."""
    for rate, sigma, steps, delta in (
        (2e-4, 1.0, 1200, 2e-9),
        (5e-4, 2.4, 400, 2e-11),
        (1e-3, 0.6, 100, 1e-30),
        (1e-5, 0.8, 10**5, 1e-7),
    ):
        release = hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps
        run, truth = release._run("remove"), release.epsilon(delta, neighbours="remove")
        assert guess_epsilon(run, math.log(delta)) == pytest.approx(truth, rel=0.12)
        assert guess_log_delta(run, truth) == pytest.approx(math.log(delta), rel=0.2)
    for release in (hs.Laplace(scale=2.0) * 5, hs.Gaussian(sigma=2.0) * 3):
        assert guess_epsilon(release._run("remove"), -20.0) is None
        assert guess_log_delta(release._run("remove"), 1.0) is None
