"""Where thresholds lie, and which runs have none."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.bigjump.split import big_jump_log_delta
from hockeystick.loss.bigjump.thresholds import ThresholdGuide, is_sparse, largest_sum
from hockeystick.loss.pairs.gaussian import GaussianLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.protocol import Inconclusive


def test_thresholds_are_ordered():
    """What is large is never small."""
    for rate, sigma, steps, epsilon, log_delta in (
        (1e-3, 0.5, 100, 3.1, -14.0),
        (0.02, 1.0, 5, 0.4, -12.0),
        (1e-5, 1.0, 10**4, 0.1, -60.0),
    ):
        thresholds = ThresholdGuide((hs.Gaussian(sigma).poisson(rate) * steps)._run("remove"), epsilon, log_delta).thresholds
        if thresholds.low:
            assert thresholds.low_width <= thresholds.high_width
            assert (rate + thresholds.low) / thresholds.low_width <= (rate + thresholds.high) / thresholds.high_width


def test_what_cannot_be_split_is_refused():
    run = (hs.Gaussian(1.0).poisson(0.1) * 10)._run("add")
    assert not is_sparse(run)
    with pytest.raises(Inconclusive):
        big_jump_log_delta(run, 1.0)
    sparse = (hs.Gaussian(1.0).poisson(1e-4) * 10)._run("remove")
    for epsilon, log_delta in ((1e-9, -5.0), (0.1, -1e4), (1e5, -5.0)):
        with pytest.raises(Inconclusive):
            ThresholdGuide(sparse, epsilon, log_delta)


def test_the_largest_sum_of_losses():
    assert largest_sum([(LaplaceLoss(0.5), 4), (LaplaceLoss(2.0), 1)]) == pytest.approx(4.0)
    assert largest_sum([(LaplaceLoss(0.5), 4), (GaussianLoss(1.0), 1)]) == 0.0
    assert largest_sum([]) == 0.0


def test_a_guide_is_near_log_delta():
    run = (hs.Gaussian(sigma=0.8).poisson(rate=1e-4) * 10_000)._run("remove")
    bounds = (hs.Gaussian(sigma=0.8).poisson(rate=1e-4) * 10_000).epsilon_bounds(1e-9, neighbours="remove")
    guide = ThresholdGuide(run, bounds.upper, math.log(1e-9))
    assert guide.about(bounds.upper)[0] == pytest.approx(math.log(1e-9), rel=0.1)
