"""Losses of finitely many values: their largest, those next to epsilon, and what only one output has."""

import math
import random

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from finite_losses import drawn, exact_delta, listed
from hockeystick.loss.pairs.atomic import AtomicLoss
from hockeystick.numerics.trapezoid import Cells


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


@pytest.mark.parametrize("seed", range(12))
def test_a_law_is_answered_by_its_sums(seed):
    """delta, K, the mean and the masses of a few values, to forty digits."""
    loss, exact = listed(random.Random(seed), 4, 0.01 if seed % 3 == 0 else 0.0)
    assert isinstance(loss, AtomicLoss)
    top = max(z for z, _ in exact)
    assert top <= loss.ceiling <= top + mpf(1e-12)
    for epsilon in (-0.4, 0.0, 0.1, 0.9 * float(top)):
        found, truth = loss.closed(epsilon), exact_delta(exact, 1, epsilon)
        assert mp.exp(mpf(found.low)) <= truth <= mp.exp(mpf(found.high))
    for c in (-0.5, 0.3, 5.0):
        truth = mp.log(mp.fsum(p * mp.exp(c * z) for z, p in exact))
        assert loss.expand(c)[0] == pytest.approx(float(truth), abs=1e-12)
        assert c < 0.0 or loss.cumulant_bound(c) >= truth
    if not loss.infinite_mass:
        value, error = loss.mean()
        assert abs(mpf(value) - mp.fsum(z * p for z, p in exact)) <= error
    edges = np.array(sorted(float(z) for z, _ in exact)) + 1e-6
    log_p, _, _ = loss.masses(edges)
    assert np.exp(log_p)[:-1] == pytest.approx([float(p) for _, p in sorted(exact)], rel=1e-9)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("c", [1e-6, 0.7, 9.0])
def test_along_a_line_it_is_a_finite_sum(seed, c):
    loss, exact = listed(random.Random(seed), 3)
    one, cells = loss.slice(c, c, 40), Cells(0.2)
    values, errors = one.values(0.9, 15)
    phi = lambda w: mp.fsum(p * mp.exp(w * z) for z, p in exact)  # noqa: E731
    for place in range(15):
        truth = phi(mp.mpc(c, 0.9 * place))
        off = mp.mpc(complex(values[0, place])) - mp.log(truth)
        assert abs(mp.expm1(off)) <= mpf(float(errors[0, place])) + mpf(1e-25)
    decay = np.atleast_2d(one.decay(cells))[0]
    for place in range(0, 50, 7):
        for share in (1.0, 1.12, 1.25):
            fall = -mp.log(abs(phi(mp.mpc(c, float(cells.left[place]) * share)) / phi(mpf(c))))
            assert decay[place] <= fall + mpf(1e-12)
    points = np.array([c, c + 1.0])
    for bound, point in zip(one.cumulant_above(points)[0].tolist(), points.tolist(), strict=True):
        truth = mp.log(phi(mpf(point)))
        assert truth <= bound <= truth + mpf(1e-11)
    assert math.isfinite(float(errors.max()))
