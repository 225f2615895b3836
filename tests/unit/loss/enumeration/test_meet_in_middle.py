"""Sums of finitely many values, enumerated by halves: against exact laws of few steps."""

import itertools
import math
import random

import pytest
from mpmath import mp, mpf

import hockeystick as hs
from finite_losses import exact_delta, listed
from hockeystick.loss.composed import composed
from hockeystick.loss.enumeration.meet_in_middle import enumerated_epsilon, enumerated_log_delta


@pytest.mark.parametrize("seed", range(40))
def test_sums_that_are_listed(seed: int) -> None:
    rng = random.Random(seed)
    loss, exact = listed(rng, rng.choice((2, 3, 4)), rng.choice((0.0, 0.01)))
    steps = rng.randint(1, 14)
    run = composed([(loss, steps)])
    for _ in range(5):
        near = sum(rng.choice(exact)[0] for _ in range(steps))
        epsilon = float(near) if rng.random() < 0.4 else rng.uniform(-0.5, 1.0) * run.ceiling
        truth = exact_delta(exact, steps, epsilon)
        if not truth > 1e-12:
            continue
        low, high = enumerated_log_delta(run, epsilon)
        assert mp.exp(mpf(low)) <= truth <= mp.exp(mpf(high))
        assert high - low < 1e-9
        if epsilon > 0.0:
            found = enumerated_epsilon(run, math.log(truth), 1e-14 * abs(math.log(truth)))
            assert found[0] <= epsilon <= found[1]
            assert found[1] - found[0] < 1e-9


@pytest.mark.parametrize(("sigma", "steps"), [(1.0, 10), (2.0, 5), (3.3, 5), (6.0, 4)])
def test_delta_at_zero_where_sums_cancel_is_exact(sigma: float, steps: int) -> None:
    """Of replaced discrete noise many sums are 0 but for rounding."""
    run = hs.DiscreteGaussian(sigma=sigma).poisson(rate=0.3) * steps
    bounds = run.delta_bounds(0.0, neighbours="replace")
    assert bounds.tight
    assert 0.0 < bounds.width < 1e-10


def test_different_losses_are_listed_together() -> None:
    one, first = listed(random.Random(1), 3)
    two, second = listed(random.Random(2), 2)
    run = composed([(one, 3), (two, 2)])
    total = mpf(0)
    for picks in itertools.product(*([first] * 3 + [second] * 2)):
        z, mass = sum(z for z, _ in picks), mp.fprod(p for _, p in picks)
        if z > 0.3:
            total += mass * (1 - mp.exp(mpf(0.3) - z))
    low, high = enumerated_log_delta(run, 0.3)
    assert mp.exp(mpf(low)) <= total <= mp.exp(mpf(high))
    assert high - low < 1e-9


@pytest.mark.parametrize(("epsilon", "truth"), [(11.0, -1016.98889455725), (12.0, -1017.00784667279), (14.0, -1017.22275193758)])
def test_what_a_list_leaves_out_is_counted_however_small(epsilon: float, truth: float) -> None:
    run = hs.DiscreteGaussian(sigma=0.44).poisson(rate=1e-37) * 2
    bounds = run.log_delta_bounds(epsilon, neighbours="remove")
    assert bounds.lower <= truth <= bounds.upper


@pytest.mark.parametrize("delta", [1e-40, 1e-200])
def test_sums_of_more_steps_are_listed_where_all_else_fails(delta: float) -> None:
    """Three values, one of them of mass 1e-30: too rare for a lattice, too many steps to be listed at once."""
    steps, rate, claimed = 60, mpf(0.2), mpf(1e-30)
    mp.dps = 80
    share = mp.exp(mpf(0.3)) / (1 + mp.exp(mpf(0.3)))
    without = [claimed, (1 - claimed) * share, (1 - claimed) * (1 - share)]
    mixed = [(1 - rate) * q + rate * p for q, p in zip(without, [0, without[2], without[1]], strict=True)]
    exact = [(mp.log(q / m), q) for q, m in zip(without, mixed, strict=True)]
    bounds = (hs.ApproxDP(epsilon=0.3, delta=1e-30).poisson(rate=0.2) * steps).epsilon_bounds(delta, neighbours="add")
    assert exact_delta(exact, steps, mpf(bounds.upper)) <= mpf(delta) <= exact_delta(exact, steps, mpf(bounds.lower))
    assert bounds.width < 1e-9 * bounds.upper
