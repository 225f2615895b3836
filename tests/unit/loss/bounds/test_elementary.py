"""Bounds that hold for every run, against laws that are summed or in closed form."""

import math
from itertools import product

import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.loss.bounds.elementary import (
    at_least,
    elementary_bounds,
    epsilon_at_least,
    log_near_top,
    near_one,
    trivial,
    unsampled,
    without_bounded,
)
from hockeystick.loss.composed import composed
from hockeystick.loss.pairs.discrete import ResponseLoss
from hockeystick.loss.pairs.gaussian import GaussianLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.sampled.gaussian import SampledGaussianLoss


@pytest.fixture(autouse=True)
def _digits():
    with mp.workdps(50):
        yield


def values(epsilon: float, categories: int) -> list[tuple[mpf, mpf]]:
    """Losses of randomised response, with their masses under P."""
    total = mp.exp(mpf(epsilon)) + categories - 1
    found = [(mpf(epsilon), mp.exp(mpf(epsilon)) / total), (-mpf(epsilon), 1 / total)]
    return found + ([(mpf(0), (categories - 2) / total)] if categories > 2 else [])


def delta(steps: list[tuple[float, int]], epsilon: float) -> mpf:
    """Over all outcomes, one by one."""
    total = mpf(0)
    for outcome in product(*(values(*step) for step in steps)):
        loss = mp.fsum(z for z, _ in outcome)
        if loss > epsilon:
            total += mp.fprod(p for _, p in outcome) * -mp.expm1(epsilon - loss)
    return total


RUNS = [[(0.5, 2)], [(0.5, 2)] * 3, [(0.3, 4)] * 4, [(0.3, 2), (1.1, 3), (1.1, 3)]]


def run_of(steps: list[tuple[float, int]]):
    return composed([(ResponseLoss(epsilon, categories), 1) for epsilon, categories in steps])


@pytest.mark.parametrize("epsilon", [-1e-300, -1e-9, -0.3, -20.0, -700.0])
def test_where_nothing_is_lost(epsilon):
    low, high = trivial(epsilon)
    truth = mp.log(-mp.expm1(mpf(epsilon)))
    assert low <= truth <= high
    assert high - low < 1e-13 * (1 + abs(truth))
    assert trivial(0.0) == trivial(1.0) == (-math.inf, -math.inf)


@pytest.mark.parametrize("steps", RUNS, ids=str)
@pytest.mark.parametrize("epsilon", [-2.0, -0.1, 0.0, 0.2, 0.7, 1.3])
def test_certain_bounds_hold(steps, epsilon):
    run, truth = run_of(steps), delta(steps, epsilon)
    low, high = elementary_bounds(run, epsilon)
    assert mp.exp(mpf(low)) <= truth <= mp.exp(mpf(high))
    assert mp.exp(mpf(at_least(run, epsilon))) <= truth
    if len(steps) == 1:  # then the step is all there is
        assert at_least(run, epsilon) >= mp.log(truth) - mpf(1e-12) if truth else at_least(run, epsilon) == -math.inf


def test_delta_vanishes_from_the_largest_loss_on():
    run = run_of([(0.5, 2)] * 3)
    assert elementary_bounds(run, run.ceiling) == (-math.inf, -math.inf)
    assert elementary_bounds(run, 1.5 - 1e-9)[1] > -math.inf
    assert elementary_bounds(composed([]), 0.0) == (-math.inf, -math.inf)


@pytest.mark.parametrize("steps", RUNS, ids=str)
def test_the_largest_loss_alone_bounds_delta_from_below(steps):
    """All steps at their largest: just below it, nothing else is left."""
    run = run_of(steps)
    epsilon = sum(one for one, _ in steps) - 1e-3
    truth = mp.log(delta(steps, epsilon))
    assert truth - mpf(1e-9) <= at_least(run, epsilon) <= truth


@pytest.mark.parametrize("steps", RUNS, ids=str)
@pytest.mark.parametrize("target", [-0.5, -2.0, -5.0, -12.0])
def test_an_epsilon_that_is_surely_lost(steps, target):
    run = run_of(steps)
    epsilon = epsilon_at_least(run, target)
    assert epsilon == 0.0 or delta(steps, epsilon) >= mp.exp(mpf(target))
    if epsilon > 0.0:
        assert at_least(run, epsilon * (1.0 + 1e-8)) < target <= at_least(run, epsilon)


@pytest.mark.parametrize(("mu", "epsilon"), [(8.0, 1.0), (8.0, -5.0), (20.0, 100.0), (3.0, -4.0)])
def test_delta_next_to_one(mu, epsilon):
    """Gaussian noise: 1 - delta = Q(u) + e^eps Q(v) in the normal law's tails."""
    m, e = mpf(mu), mpf(epsilon)
    rest = mp.ncdf(e / m - m / 2) + mp.exp(e) * mp.ncdf(-e / m - m / 2)
    low = near_one(composed([(GaussianLoss(mu * mu), 1)]), epsilon)
    assert low <= mp.log1p(-rest)
    assert -low <= 20.0 * rest * (1.0 + mu)  # the exponent is that of Chernoff


def test_losses_that_are_bounded_and_those_that_are_not():
    laplace, gaussian, response = LaplaceLoss(0.5), GaussianLoss(1.0), ResponseLoss(0.3)
    assert without_bounded(composed([(laplace, 2)])) is None
    assert without_bounded(composed([(gaussian, 2)])) is None
    bounded, others = without_bounded(composed([(laplace, 2), (gaussian, 1), (response, 5)]))
    assert set(bounded.terms) == {(laplace, 2), (response, 5)}
    assert others.terms == composed([(gaussian, 1)]).terms


@pytest.mark.parametrize("distance", [0.01, 0.1, 0.6])
def test_no_loss_far_from_the_largest(distance):
    """Randomised response: all steps answer truly; Laplace noise: P(Z > a - x) = 1 - e^{-x/2}/2 of the atom and the density."""
    run = composed([(ResponseLoss(0.8, 3), 4), (LaplaceLoss(0.7), 3)])
    truly = mp.exp(mpf(0.8)) / (mp.exp(mpf(0.8)) + 2)
    truth = 4 * mp.log(truly) + 3 * mp.log(1 - mp.exp(-mpf(distance) / 2) / 2)
    assert truth <= log_near_top(run, distance) <= truth + mpf(1e-9)


def test_a_sample_is_no_worse_than_all():
    laplace = (LaplaceLoss(0.5), 3)
    ((sampled, _),) = hs.Gaussian(sigma=2.0).poisson(rate=0.1)._run("remove").terms
    assert isinstance(sampled, SampledGaussianLoss)
    run = composed([(sampled, 7), laplace])
    assert set(unsampled(run).terms) == {(GaussianLoss(7 * 0.25), 1), laplace}  # noise adds
