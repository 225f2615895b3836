"""The privacy profile smoothed by Gaussian noise: against exact laws of few steps, and the lattice."""

import math
import random

import pytest
from mpmath import mp, mpf

import hockeystick as hs
from finite_losses import SLACK, exact_delta, listed
from hockeystick.loss.composed import composed
from hockeystick.loss.lattice.refine import lattice_epsilon
from hockeystick.loss.protocol import Inconclusive
from hockeystick.loss.smoothing import smoothed_epsilon, smoothed_log_delta


@pytest.mark.parametrize("seed", range(60))
def test_delta_of_a_few_steps_lies_within(seed: int) -> None:
    rng = random.Random(seed)
    loss, exact = listed(rng, rng.choice((2, 3, 4)), rng.choice((0.0, 0.0, 0.01)))
    steps = rng.randint(1, 12)
    run = composed([(loss, steps)])
    for _ in range(6):
        near = sum(rng.choice(exact)[0] for _ in range(steps))  # at a value, or somewhere
        epsilon = float(near) if rng.random() < 0.4 else rng.uniform(0.02, 1.0) * run.ceiling
        if not epsilon > 0.0:
            continue
        truth = exact_delta(exact, steps, epsilon)
        try:
            low, high = smoothed_log_delta(run, epsilon)
        except Inconclusive:
            continue
        assert mp.exp(mpf(low)) <= truth <= mp.exp(mpf(high)), (epsilon, low, high, truth)
        if not truth:
            continue
        try:
            found = smoothed_epsilon(run, math.log(truth), 1e-14 * abs(math.log(truth)))
        except Inconclusive:
            continue
        assert found[0] <= epsilon <= found[1]


def test_it_answers_most_of_them() -> None:
    """Or the test above would say nothing."""
    answered = 0
    for seed in range(40):
        loss, _ = listed(random.Random(seed), 4)
        run = composed([(loss, 200)])
        low, high = smoothed_epsilon(run, math.log(1e-5), SLACK)
        answered += high - low < 1e-6 * high
    assert answered >= 36


@pytest.mark.parametrize(
    "step",
    [
        hs.DiscreteGaussian(sigma=1.0).poisson(rate=0.1),
        hs.DiscreteGaussian(sigma=4.0, sensitivity=3).poisson(rate=0.02),
        hs.DiscreteLaplace(scale=2.0).poisson(rate=0.05),
        hs.RandomizedResponse(epsilon=1.0, categories=5).poisson(rate=0.1),
        hs.ApproxDP(epsilon=0.5, delta=1e-9).poisson(rate=0.3),
    ],
)
@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_the_lattice_agrees(step: hs.Gaussian, order: str, delta: float) -> None:
    run = (step * 300)._run(order)
    low, high = smoothed_epsilon(run, math.log(delta), SLACK)
    other = lattice_epsilon(run, math.log(delta), SLACK)
    assert max(low, other[0]) <= min(high, other[1])
    assert high - low < 2e-6 * high


@pytest.mark.parametrize(
    ("step", "steps", "delta"),
    [
        (hs.DiscreteGaussian(sigma=2.4877273944535925, sensitivity=5).poisson(rate=0.00086655304214025), 59871, 1.17e-21),
        (hs.DiscreteGaussian(sigma=0.7151769404337159).poisson(rate=0.0009241156710848768), 143936, 2.58e-50),
        (hs.DiscreteGaussian(sigma=0.9092021528109812, sensitivity=5).poisson(rate=0.3019129668341936), 155483, 1.14e-26),
        (hs.DiscreteLaplace(scale=7.206093915306769, sensitivity=3).poisson(rate=0.4920232642985284), 511757, 9.67e-6),
        (hs.RandomizedResponse(epsilon=0.0158, categories=10).poisson(rate=0.00013903), 281889, 1.66e-6),
        (hs.RandomizedResponse(epsilon=0.0776314347836809).poisson(rate=0.0008010167095357711), 35, 2.15e-5),
    ],
)
def test_sampled_discrete_noise_is_narrow(step: hs.Gaussian, steps: int, delta: float) -> None:
    """What a lattice leaves 1e-5 to 1 wide."""
    bounds = (step * steps).epsilon_bounds(delta)
    assert bounds.width < 1e-6 * bounds.upper + 1e-9
