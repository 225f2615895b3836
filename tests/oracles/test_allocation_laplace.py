"""Random allocation of Laplace noise against quadrature, lattices of the tests' own, and moments."""

import math

import pytest

import hockeystick as hs
from allocation_laplace import SLACK, delta_between, delta_by_quadrature


@pytest.mark.parametrize(("a", "steps"), [(0.5, 2), (2.0, 2), (4.0, 2), (0.01, 2), (1.0, 3)])
def test_few_steps_by_quadrature(a, steps):
    run = hs.Laplace(scale=1.0 / a).allocated(steps=steps)
    for share in (0.2,) if steps == 3 else (0.0, 0.3, 0.8):
        for relation in ("remove", "add") if steps == 2 else ("remove",):
            truth = delta_by_quadrature(a, steps, share * a, relation == "remove")
            found = run.delta_bounds(share * a, relation)
            assert found.lower <= truth * (1.0 + 1e-11) + 1e-15, (share, relation)
            assert truth * (1.0 - 1e-11) - 1e-15 <= found.upper, (share, relation)
            assert found.upper - found.lower <= 1e-4 * truth, (share, relation)


@pytest.mark.parametrize(
    ("a", "steps", "epochs", "cells"),
    [(0.5, 64, 1, 400), (1.0, 20, 2, 100), (2.0, 30, 1, 600), (0.1, 200, 1, 60), (3.0, 8, 1, 400)],
)
def test_delta_lies_between_both_lattices(a, steps, epochs, cells):
    run = hs.Laplace(scale=1.0 / a).allocated(steps=steps) * epochs
    scale = a / math.sqrt(steps)
    for share in (0.0, 0.5, 1.5) if epochs == 1 else (0.5,):
        for relation in ("remove", "add"):
            low, high = delta_between(a, steps, epochs, share * scale, relation == "remove", cells)
            found = run.delta_bounds(share * scale, relation)
            assert low - SLACK <= found.upper, (share, relation)
            assert found.lower <= high + SLACK, (share, relation)
            assert high - low <= 2e-2 * high, (share, relation)  # so that this says something
            assert found.upper - found.lower <= 2e-4 * high + SLACK, (share, relation)


def test_the_interval_of_epsilon_is_narrow():
    for run in (hs.Laplace(scale=2.0).allocated(steps=64) * 10, hs.Laplace(scale=2.0).allocated(steps=64)):
        for delta in (1e-6, 1e-12, 1e-40):
            found = run.epsilon_bounds(delta)
            assert found.tight
            assert found.upper - found.lower <= 4e-6 * found.upper
    run = hs.Laplace(scale=2.0).allocated(steps=64) * 10
    assert run.epsilon(0.0) == pytest.approx(5.0, rel=1e-9)


def test_renyi_divergences_of_order_two():
    for a, steps in ((0.5, 10), (2.0, 100)):
        square = 2.0 / 3.0 * math.exp(a) + math.exp(-2.0 * a) / 3.0 - 1.0
        truth = math.log1p(square / steps)
        found = hs.Laplace(scale=1.0 / a).allocated(steps=steps).rdp(2.0, "remove")
        assert truth * (1.0 - 1e-12) <= found <= truth * (1.0 + 1e-5)


def test_one_step_is_the_step_itself():
    step = hs.Laplace(scale=1.5)
    assert step.allocated(steps=1).epsilon_bounds(1e-3) == step.epsilon_bounds(1e-3)


def test_little_noise_is_bounded_by_the_step():
    found = hs.Laplace(scale=0.05).allocated(steps=100).epsilon_bounds(1e-6)
    assert not found.tight
    assert 8.0 < found.lower < found.upper <= hs.Laplace(scale=0.05).epsilon(1e-6) * (1.0 + 1e-12)
