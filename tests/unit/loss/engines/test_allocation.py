import math

import pytest

import hockeystick as hs
from allocation_lattice import delta_between
from hockeystick.loss.composed import composed
from hockeystick.loss.engines.allocation import AllocatedAlone, CappedAllocation, Unallocated
from hockeystick.loss.engines.driver import finite
from hockeystick.loss.engines.engine import Proof, Question
from hockeystick.loss.engines.first import ContourIntegral, epsilon_question
from hockeystick.loss.protocol import Inconclusive

NOTHING = Proof(-math.inf, math.inf)


def run(sigma, steps, epochs, order="remove"):
    return composed([(hs.Gaussian(sigma=sigma).allocated(steps=steps)._pair_loss((order,)), epochs)])


def test_the_weight_and_the_contour_itself_agree():
    one = run(5.0, 10, 8)
    question = epsilon_question(math.log(1e-9))
    found = [engine.epsilon(one, question, NOTHING, finite) for engine in (CappedAllocation(), ContourIntegral())]
    assert max(low for low, _ in found) <= min(high for _, high in found)
    assert all(high - low <= 1e-6 * high for low, high in found)


def test_one_epoch_by_itself_agrees_with_both():
    one = run(3.0, 40, 1)
    question = epsilon_question(math.log(1e-7))
    engines = AllocatedAlone(), CappedAllocation(), ContourIntegral()
    found = [engine.epsilon(one, question, NOTHING, finite) for engine in engines]
    assert max(low for low, _ in found) <= min(high for _, high in found)
    assert all(high - low <= 1e-6 * high for low, high in found[:2])
    assert not AllocatedAlone().applies(run(3.0, 40, 2), question)
    assert not AllocatedAlone().applies(run(3.0, 40, 1, "add"), question)


def test_it_agrees_with_the_lattice():
    one = run(5.0, 20, 1)
    low, high = delta_between(5.0, 20, 1, 0.1, True, h=0.01, cap_mass=1e-12)
    found = CappedAllocation().log_delta(one, Question("log delta", 0.1), NOTHING, finite)
    assert low <= math.exp(found[1])
    assert math.exp(found[0]) <= high
    assert found[1] - found[0] <= 1e-7


def test_it_leaves_small_orders_to_the_contour():
    with pytest.raises(Inconclusive):
        CappedAllocation().epsilon(run(0.5, 10, 50), epsilon_question(-10.0), NOTHING, finite)
    assert not CappedAllocation().applies(run(5.0, 10, 1, "add"), epsilon_question(-10.0))


def test_no_allocation_dominates():
    question = epsilon_question(math.log(1e-6))
    most = Unallocated().epsilon(run(2.0, 3, 2), question, NOTHING, finite)
    assert most.high == pytest.approx((hs.Gaussian(sigma=2.0) * 2).epsilon(1e-6), rel=1e-9)
    assert Unallocated().log_delta(run(2.0, 3, 2), Question("log delta", 1.0), NOTHING, finite).high <= 0.0
