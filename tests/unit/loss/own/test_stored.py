"""Pairs from stored masses: they dominate what the masses claim, are pairs, and cost nothing where the masses are sound."""

import math
import random
from fractions import Fraction as F

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.own.stored import StoredLoss, stored_loss


def claimed(step, first, masses, infinite, x):
    return infinite + sum(p * max(0.0, 1.0 - x * math.exp(-(first + i) * step)) for i, p in enumerate(masses) if p > 0.0)


def own(loss, x):
    _z, log_p, log_q, *_ = loss.atoms
    return float(loss.infinite_mass) + float(np.maximum(np.exp(log_p) - x * np.exp(log_q), 0.0).sum())


def test_a_sound_claim_is_kept_and_a_wild_one_is_a_pair():
    rng, answered = random.Random(9), 0
    for wild in (False, True) * 15:
        size, first, step = rng.randint(2, 40), rng.randint(-30, 3), rng.choice((0.05, 0.5))
        masses = np.array([rng.random() ** 4 for _ in range(size)]) + 1e-9
        infinite = rng.choice((0.0, 1e-6, 0.1))
        masses *= (1.0 - infinite) / masses.sum() * (rng.uniform(0.9999, 1.0001) if wild else 1.0 - 1e-13)
        if wild:
            masses[: size // 3] -= 1e-12
        try:
            loss = stored_loss(step, first, masses, infinite)
        except hs.Unsupported:  # too low for the probability of an infinite one
            continue
        answered += 1
        z, log_p, log_q, error, _ = loss.atoms
        assert math.fsum(np.exp(log_p)) + float(loss.infinite_mass) == pytest.approx(1.0, abs=1e-12)
        assert math.fsum(np.exp(log_q)) + float(loss.infinite_mass_under_q) == pytest.approx(1.0, abs=1e-12 + error)
        assert loss.infinite_mass_under_q >= 0
        for i in range(size):
            place = (first + i) * step
            if place >= z[0] - 1e-9:
                known = claimed(step, first, masses, infinite, math.exp(place))
                assert own(loss, math.exp(place)) == pytest.approx(max(known, 1.0 - math.exp(place)), rel=1e-9, abs=1e-11)
        for x in (0.05, 0.3):  # below the lowest loss: the chord from 1
            assert own(loss, x) >= 1.0 - x - 1e-12
    assert answered > 10


def test_rounding_of_a_sound_claim_costs_nothing():
    """Two equal places of a symmetric response: the masses times e^-loss sum to 1 but for rounding."""
    for step in (0.01, 0.3, 0.7):
        low, high = 1.0 / (1.0 + math.exp(2.0 * step)), 1.0 / (1.0 + math.exp(-2.0 * step))
        for nudge in (0.0, 1e-15):
            loss = stored_loss(step, -2, np.array([low + nudge, 0.0, 0.0, 0.0, high]), 0.0)
            assert own(loss, 1.0) == pytest.approx(high - low, abs=1e-11)
            assert own(loss, 0.5) == pytest.approx(max(0.5, high - 0.5 * low + max(0.0, low - 0.5 * high)), abs=1e-11)


def test_rounding_at_very_low_losses_is_left_out():
    """Some 1e-18 at a loss of -60 would be a mass of 1e8 under Q."""
    masses = np.full(131, 1e-18)
    masses[60], masses[61] = 0.3, 0.7
    loss = stored_loss(1.0, -60, masses, 1e-9)
    assert loss.infinite_mass == F(1e-9)
    assert loss.infinite_mass_under_q >= 0
    assert loss.atoms.z[0] > -50.0


def test_values():
    one, two = (stored_loss(0.5, -1, np.array([0.2, 0.3, 0.5]), 0.0) for _ in range(2))
    assert one == two
    assert hash(one) == hash(two)
    assert isinstance(one, StoredLoss)
    assert one.lattice_step == 0.5
    assert one != stored_loss(0.5, -1, np.array([0.3, 0.2, 0.5]), 0.0)
    with pytest.raises(hs.Unsupported, match="at an infinite loss"):
        stored_loss(0.5, 0, np.zeros(3), 1.0)
    with pytest.raises(hs.Unsupported, match="no pair has these masses"):
        stored_loss(0.5, -4, np.array([1.0]), 0.0)
