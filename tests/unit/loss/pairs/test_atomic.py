"""Losses of finitely many values: their largest, those next to epsilon, and what only one output has."""

import random

import pytest
from mpmath import mp, mpf

import hockeystick as hs
from finite_losses import drawn, exact_delta


@pytest.mark.parametrize("seed", range(25))
def test_epsilon_a_few_units_above_a_value(seed: int) -> None:
    """A value that is stored just below epsilon may lie above it in truth."""
    rng = random.Random(seed)
    response, rate, exact = drawn(rng)
    run = response.poisson(rate=rate)
    for z, _ in exact:
        for units in (-3, -1, 0, 1, 2, 3):
            epsilon = float(z) * (1.0 + units * 2.0**-52)
            bounds = run.delta_bounds(epsilon, neighbours="remove")
            assert mpf(bounds.lower) <= exact_delta(exact, 1, epsilon) <= mpf(bounds.upper)


@pytest.mark.parametrize("seed", range(25))
def test_the_largest_loss_from_both_sides(seed: int) -> None:
    response, rate, exact = drawn(random.Random(seed))
    bounds = response.poisson(rate=rate).epsilon_bounds(0.0, neighbours="remove")
    assert mpf(bounds.lower) <= max(z for z, _ in exact) <= mpf(bounds.upper)


def test_the_largest_loss_of_a_rare_sample() -> None:
    """log q + epsilon is rounded where both are large."""
    bounds = (
        hs.RandomizedResponse(epsilon=600.0, categories=3)
        .poisson(rate=3.4471245580918845e-262)
        .epsilon_bounds(0.0, neighbours="remove")
    )
    mp.dps = 60
    truth = mp.log1p(mpf(3.4471245580918845e-262) * mp.expm1(mpf(600)))
    assert mpf(bounds.lower) <= truth <= mpf(bounds.upper)


@pytest.mark.parametrize("order", [1.5, 3.0, 40.0, 1e3, 1e5])
@pytest.mark.parametrize("delta", [0.0, 1e-17, 1e-6, 0.2])
@pytest.mark.parametrize("rate", [0.01, 0.126, 0.9])
def test_renyi_divergence_of_an_added_record_counts_what_only_the_other_output_has(
    rate: float, delta: float, order: float
) -> None:
    """An addition to a sample of an approximate claim has no infinite loss: what was infinite is -log(1 - rate)."""
    run = (hs.ApproxDP(epsilon=0.0165, delta=delta) if delta else hs.PureDP(epsilon=0.0165)).poisson(rate=rate)
    mp.dps = 40
    share, claimed = mp.exp(mpf(0.0165)) / (1 + mp.exp(mpf(0.0165))), mpf(delta)
    without = [claimed, mpf(0), (1 - claimed) * share, (1 - claimed) * (1 - share)]
    present = [mpf(0), claimed, (1 - claimed) * (1 - share), (1 - claimed) * share]
    mixed = [(1 - mpf(rate)) * q + mpf(rate) * p for q, p in zip(without, present, strict=True)]
    moment = sum(q**order * m ** (1 - order) for q, m in zip(without, mixed, strict=True) if q)
    truth = mp.log(moment) / (order - 1)
    assert truth <= mpf(run.rdp(order, neighbours="add")) <= truth * (1 + mpf(1e-6)) + mpf(1e-12)
