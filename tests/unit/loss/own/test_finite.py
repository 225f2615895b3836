"""Finite pairs: their curves, levels and both orders, in exact fractions; composed and sampled, against enumeration."""

import random
from fractions import Fraction as F

import pytest

import truth_pairs
from hockeystick.loss.own.finite import both_orders, finite_loss

P, Q = (F(1, 2), F(1, 4), F(1, 8), F(1, 8), F(0)), (F(1, 4), F(1, 4), F(1, 4), F(0), F(1, 4))
LEVELS = [F(0), F(1, 3), F(1, 2), F(3, 4), F(1), F(3, 2), F(2), F(9, 4), F(50)]


def hockey_stick(p, q, level):
    return sum((max(F(0), one - level * other) for one, other in zip(p, q, strict=True)), F(0))


@pytest.mark.parametrize("level", LEVELS)
def test_the_curve_is_the_sum_over_outcomes(level):
    loss = finite_loss(zip(P, Q, strict=True))
    assert loss.hockey_stick(level) == hockey_stick(P, Q, level)
    assert loss.reversed.hockey_stick(level) == hockey_stick(Q, P, level)


@pytest.mark.parametrize("delta", [F(1, 8), F(1, 7), F(1, 4), F(1, 3), F(3, 8), F(3, 4), F(1)])
def test_the_level_of_a_delta_is_the_least(delta):
    loss = finite_loss(zip(P, Q, strict=True))
    level = loss.level_of(delta)
    assert loss.hockey_stick(level) == delta if level else loss.hockey_stick(level) <= delta
    assert level == 0 or loss.hockey_stick(level * F(999, 1000)) > delta


def test_equal_ratios_are_one_value():
    loss = finite_loss([(F(1, 4), F(1, 3)), (F(1, 2), F(2, 3)), (F(1, 4), F(0))])
    assert loss.masses_by_ratio == ((F(3, 4), F(1)),)
    assert loss.infinite_mass == F(1, 4)


@pytest.mark.parametrize("level", LEVELS[4:])
def test_of_both_orders_the_larger_curve_counts(level):
    loss = finite_loss(zip((F(1, 2), F(1, 2), F(0)), (F(1, 5), F(7, 10), F(1, 10)), strict=True))
    larger = max(loss.hockey_stick(level), loss.reversed.hockey_stick(level))
    (cover,) = both_orders(loss).dominating
    z, log_p, log_q, *_ = cover.atoms
    found = float(cover.infinite_mass) + sum(
        max(0.0, float(p - float(level) * q)) for p, q in zip(2.718281828459045**log_p, 2.718281828459045**log_q, strict=True)
    )
    assert found == pytest.approx(float(larger), rel=1e-12, abs=1e-15)
    assert list(z) == pytest.approx(list(-z[::-1]))


def test_a_symmetric_pair_is_exact_for_both_orders():
    loss = finite_loss([(F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))])
    assert both_orders(loss) is loss


def test_random_pairs_composed_and_sampled_against_enumeration():
    rng, wrong = random.Random(7), []
    for _ in range(30):
        wrong += truth_pairs.checked(rng)[0]
    assert wrong == []
