"""Bounded losses at their largest beside other losses."""

import math
import random

import pytest

import hockeystick as hs
from hockeystick.loss.engines.bounded_part import beside_bounded
from hockeystick.loss.engines.driver import finite
from hockeystick.loss.engines.first import epsilon_question
from hockeystick.loss.lattice.refine import lattice_epsilon

BESIDE = {  # Laplace steps beside sampled ones, and how wide the interval was
    "an added record, one Laplace step (1.6e-4)": (2.1e-6, 11.14, 106, 6.8e-8, 3.13, 1),
    "an added record, six (5e-4)": (6.1e-6, 1.29, 75, 5.2e-9, 57.2, 6),
    "many tiny steps, a long contour (1.9e-5)": (2.93e-6, 12.5, 1256773, 0.0128, 55.1, 29),
    "very many, few of which matter (8e-3)": (3.24e-6, 36.2, 737051601, 3.4e-5, 0.5605, 19),
}


@pytest.mark.parametrize("name", BESIDE)
def test_laplace_steps_beside_sampled_ones_are_bounded_closely(name: str) -> None:
    rate, sigma, steps, delta, scale, count = BESIDE[name]
    release = hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps + hs.Laplace(scale=scale) * count
    both, removed = release.epsilon_bounds(delta), release.epsilon_bounds(delta, neighbours="remove")
    assert both.width <= 1e-9 * both.upper
    assert removed.lower <= both.upper
    back = release.log_delta_bounds(both.upper)
    assert back.lower <= math.log(delta) + 1e-12


def test_responses_beside_sampled_discrete_noise_beyond_their_largest_sum() -> None:
    """Where a lattice's rounding hides the answer (1e-2): the chance of being one response below the largest sum is counted."""
    run = (
        hs.RandomizedResponse(epsilon=0.0317, categories=6) * 35
        + hs.DiscreteGaussian(sigma=16.0, sensitivity=5).poisson(rate=5.5e-4) * 3
    )
    found = run.epsilon_bounds(delta=1.06e-43, neighbours="remove")
    assert found.lower > 35 * 0.0317
    assert found.width < 1e-5 * found.upper


def finite_epsilon(run, log_delta: float) -> tuple[float, float]:
    return finite(run, epsilon_question(log_delta)).ends


def test_bounded_losses_beside_others_bound_epsilon_from_both_sides() -> None:
    """The largest sum of some losses and epsilon of the others, whatever they are; a lattice has the truth."""
    rng = random.Random(8)
    for _ in range(25):
        release = hs.Gaussian(sigma=10 ** rng.uniform(-0.3, 1.0)).poisson(rate=10 ** rng.uniform(-4, -0.5)) * rng.randint(1, 100)
        release += hs.Laplace(scale=10 ** rng.uniform(-0.5, 1.5)) * rng.randint(1, 6)
        log_delta = rng.uniform(-30.0, -1.0)
        for neighbours in ("add", "remove"):
            run = release._run(neighbours)
            truth = lattice_epsilon(run, log_delta, 1e-13)
            for known in (0.0, math.inf) if log_delta < -20.0 else (0.0,):
                low, high = beside_bounded(run, log_delta, finite_epsilon, known)
                assert low <= truth[1]
                assert high >= truth[0]
    assert beside_bounded((hs.Laplace(scale=1.0) * 3)._run("add"), -5.0, finite_epsilon) == (0.0, math.inf)


@pytest.mark.parametrize(
    ("bounded", "delta", "truth"),
    [
        (hs.RandomizedResponse(epsilon=300.0), 1 - 5e-10, 303.73626),
        (hs.RandomizedResponse(epsilon=300.0), 1 - 1e-11, 295.92711),
        (hs.RandomizedResponse(epsilon=400.0).poisson(rate=0.25), 0.249999999875, 402.34997),
        (hs.RandomizedResponse(epsilon=400.0).poisson(rate=0.25), 0.24999999999975, 390.23891),
    ],
)
def test_bounded_losses_that_are_all_but_sure(bounded: hs.RandomizedResponse, delta: float, truth: float) -> None:
    """delta over the probability of the largest loss is next to 1: no lower end may be taken for that of a smaller delta."""
    found = (hs.Gaussian(sigma=1 / 13.0) + bounded).epsilon_bounds(delta, neighbours="remove")
    assert found.lower <= truth + 1e-5
    assert found.upper >= truth - 1e-5
