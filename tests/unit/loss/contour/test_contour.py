"""One contour against closed forms: both ends, from the real axis alone and from its nodes; what it refuses."""

import math

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.composed import ComposedLoss, composed
from hockeystick.loss.contour.contour import Contour, Saddle, candidate_contours, exact_beside_one, log_markov_constant
from hockeystick.loss.pairs.gaussian import GaussianLoss, gaussian_log_delta
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.pairs.laplace_closed import few_laplace_steps


def gaussian(mu: float) -> ComposedLoss:
    return composed([(GaussianLoss(mu * mu), 1)])


@pytest.mark.parametrize("mu", [0.05, 1.0, 7.0])
@pytest.mark.parametrize("far", [0.3, 2.0, 5.0, 20.0])
def test_both_ends_of_gaussian_noise(mu, far):
    epsilon = 0.5 * mu * mu + far * mu
    truth = gaussian_log_delta(mu, epsilon)
    contour = Contour(gaussian(mu), Saddle.of_epsilon(gaussian(mu), epsilon))
    assert contour.markov_log_delta(epsilon) >= truth.low
    assert contour.evaluate()
    assert contour.lower(epsilon) <= truth.high
    assert contour.upper(epsilon) >= truth.low
    assert contour.upper(epsilon) - contour.lower(epsilon) < 1e-9
    assert contour.estimate(epsilon) == pytest.approx((truth.value, truth.slope), rel=1e-7)


def test_where_the_sum_proves_nothing_the_real_axis_does():
    """Laplace steps so few that their atoms keep the transform from falling."""
    run = composed([(LaplaceLoss(0.4), 12)])
    truth = few_laplace_steps(0.4, 12, 2.0)
    assert truth is not None
    contour = Contour(run, Saddle.of_epsilon(run, 2.0))
    assert not contour.evaluate()
    assert contour.markov_log_delta(2.0) >= truth.low


def test_a_contour_holds_away_from_where_it_was_made_for():
    run = gaussian(1.0)
    contour = Contour(run, Saddle.of_delta(run, math.log(1e-6)))
    assert contour.evaluate()
    for epsilon in np.linspace(0.0, 12.0, 25).tolist():
        truth = gaussian_log_delta(1.0, epsilon)
        assert contour.lower(epsilon) <= truth.high
        assert contour.upper(epsilon) >= truth.low


def test_epsilons_of_markov_are_where_its_bound_is_the_delta():
    run = gaussian(1.0)
    contour = Contour(run, Saddle.of_delta(run, -20.0))
    epsilon = contour.markov_epsilon(-20.0)
    assert contour.markov_log_delta(epsilon) == pytest.approx(-20.0, abs=1e-9)
    assert gaussian_log_delta(1.0, epsilon).high <= -20.0


def test_contours_of_sparse_runs_are_tried_left_of_the_saddle_point_first():
    run = (hs.Gaussian(sigma=0.8).poisson(rate=1e-3) * 1000)._run("remove")
    first = Contour(run, Saddle.of_epsilon(run, 3.0))
    tried = [contour.c for contour in candidate_contours(run, first)]
    assert tried[-1] == first.c
    assert all(c <= first.c for c in tried)


def test_numbers_of_the_lemmas():
    assert log_markov_constant(1.0) == pytest.approx(-2.0 * math.log(2.0))
    for c in (1e-9, 0.37, 12.3):
        near = exact_beside_one(c)
        assert (1.0 + near) - 1.0 == near
        assert near == pytest.approx(c, rel=1e-5)
