"""Runs of finitely many values that were once answered widely, or not at all."""

import math

import pytest

import hockeystick as hs


@pytest.mark.parametrize("steps", [2, 3, 5])
@pytest.mark.parametrize("order", ["remove", "add", "replace"])
@pytest.mark.parametrize(
    "step",
    [
        hs.Gaussian(sigma=1.0).poisson(rate=0.3),
        hs.Laplace(scale=1.0).poisson(rate=0.3),
        hs.DiscreteGaussian(sigma=1.0).poisson(rate=0.3),
        hs.DiscreteLaplace(scale=1.0).poisson(rate=0.3),
        hs.Laplace(scale=1.0),
    ],
)
def test_delta_of_few_steps_to_nine_digits(step: hs.Gaussian, order: str, steps: int) -> None:
    """Where a result is called exact; the truth lies inside."""
    bounds = (step * steps).delta_bounds(0.3, neighbours=order)
    assert bounds.width < 1e-9


def test_a_contour_that_cannot_be_laid_is_no_crash() -> None:
    run = hs.ApproxDP(epsilon=0.5, delta=1e-43).poisson(rate=4e-6) * 3 + hs.Gaussian(sigma=28.0).poisson(rate=2e-4) * 29
    bounds = run.delta_bounds(0.0012, neighbours="replace")
    assert 0.0 <= bounds.lower <= bounds.upper < 1.0


def test_an_upper_end_from_the_best_order_of_an_added_record() -> None:
    run = (
        hs.DiscreteGaussian(sigma=0.5513379240547672, sensitivity=4).poisson(rate=0.0005562445724969443) * 5
        + hs.PureDP(epsilon=0.929511997504036).poisson(rate=0.7936157959310388) * 13
        + hs.ApproxDP(epsilon=0.016494289956527495, delta=3.097866545422453e-17).poisson(rate=0.12648544278153656) * 8
    )
    bounds = run.epsilon_bounds(1.1127974869556412e-33, neighbours="add")
    assert run.delta_bounds(bounds.upper, neighbours="add").lower <= 1.1127974869556412e-33


def test_delta_near_the_largest_loss_from_epsilons() -> None:
    run = hs.Gaussian(sigma=5.0).with_replacement(draws=2, examples=2) + hs.Laplace(scale=5.0).poisson(rate=0.2)
    bounds = run.log_delta_bounds(1.38, neighbours="add")
    assert bounds.width < 0.01
    assert run.epsilon_bounds(math.exp(bounds.lower), neighbours="add").upper >= 1.38
    assert run.epsilon_bounds(math.exp(bounds.upper), neighbours="add").lower <= 1.38
