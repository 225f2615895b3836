"""Runs as lists of steps with counts: what adds, adds; what is the largest, is the sum of the largest."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hockeystick.loss.composed import ComposedLoss, composed
from hockeystick.loss.pairs.discrete import ResponseLoss
from hockeystick.loss.pairs.gaussian import GaussianLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.pairs.ordered import ordered_pairs
from hockeystick.numerics.trapezoid import Cells

LAPLACE, RESPONSE = LaplaceLoss(0.5), ResponseLoss(0.3, 2, 1e-3)


def test_steps_that_are_alike_are_counted():
    run = composed([(LAPLACE, 2), (RESPONSE, 1), (LAPLACE, 3)])
    assert dict(run.terms) == {LAPLACE: 5, RESPONSE: 1}


def test_gaussian_noise_adds_to_gaussian_noise():
    run = composed([(GaussianLoss(0.25), 3), (LAPLACE, 1), (GaussianLoss(0.5), 2)])
    assert dict(run.terms) == {GaussianLoss(1.75): 1, LAPLACE: 1}


def test_cumulants_and_largest_losses_add():
    run = composed([(LAPLACE, 4), (ResponseLoss(0.3), 2)])
    for c in (-0.3, 0.5, 6.0):
        for found, one, two in zip(run.expand(c), LAPLACE.expand(c), ResponseLoss(0.3).expand(c), strict=True):
            assert found == pytest.approx(4.0 * one + 2.0 * two, rel=1e-9)
    assert 4 * 0.5 + 2 * 0.3 <= run.ceiling <= 2.6 * (1.0 + 1e-12)
    assert run.mean()[0] == pytest.approx(4.0 * LAPLACE.mean()[0] + 2.0 * ResponseLoss(0.3).mean()[0], rel=1e-12)
    # all steps at their largest: half of a Laplace step's mass, e^0.3/(1 + e^0.3) of a response's
    truth = 4.0 * math.log(0.5) - 2.0 * math.log1p(math.exp(-0.3))
    assert truth - 1e-9 <= run.log_top_mass <= truth


@pytest.mark.parametrize("count", [1, 7, 10**6])
def test_infinite_masses_are_exact(count):
    """1 - (1 - delta)^n of the double that is written 1e-3."""
    found = composed([(RESPONSE, count)]).infinite_mass()
    if count < 100:
        assert found == 1 - (1 - Fraction(1e-3)) ** count
    assert float(found) == pytest.approx(-math.expm1(count * math.log1p(-1e-3)), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 1.9])
def test_the_saddle_point_balances(epsilon):
    """Of K(c) - c epsilon - log c - log(1 + c) it is the least place."""
    run = composed([(LAPLACE, 4)])
    c = run.saddle_of_epsilon(epsilon)

    def height(at: float) -> float:
        return run.expand(at)[0] - at * epsilon - math.log(at) - math.log1p(at)

    assert height(c) <= min(height(c * 1.05), height(c * 0.95))


def test_a_slice_multiplies_by_the_count():
    run, cells = composed([(LAPLACE, 6)]), Cells(0.3)
    whole, one = run.slice(1.5, 3.0), LAPLACE.slice(1.5, 3.0, 6)
    values, errors = whole.values(0.4, 12)
    alone, off = one.values(0.4, 12)
    assert values == pytest.approx(6.0 * alone, rel=1e-12)
    assert (errors >= 5.9 * off).all()
    assert whole.decay(cells) == pytest.approx(6.0 * one.decay(cells)[0], rel=1e-9)
    points = np.array([1.0, 2.0])
    assert (whole.cumulant_above(points) >= 6.0 * one.cumulant_above(points) * (1.0 - 1e-12)).all()


def test_every_ordered_pair_is_a_run_by_itself():
    run = composed([(ordered_pairs([LAPLACE, LaplaceLoss(0.7)]), 3), (ResponseLoss(0.2), 1)])
    assert run.rows == 2
    assert [dict(single.terms) for single in run.ordered_pairs()] == [
        {LAPLACE: 3, ResponseLoss(0.2): 1},
        {LaplaceLoss(0.7): 3, ResponseLoss(0.2): 1},
    ]
    assert ComposedLoss(((LAPLACE, 3),)).ordered_pairs()[0].terms == ((LAPLACE, 3),)
