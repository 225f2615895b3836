import math

import pytest

import hockeystick as hs
from hockeystick.loss.allocated.largest import largest_noise_epsilon, largest_noise_log_delta
from hockeystick.loss.allocated.moments import AllocatedStep


@pytest.mark.parametrize("order", ["remove", "add"])
def test_the_test_of_the_largest_noise_is_below_the_truth(order):
    step, epoch = AllocatedStep(2.0, 5), hs.Gaussian(sigma=0.5).allocated(steps=5)
    found = epoch.epsilon_bounds(1e-4, order)
    assert 0.5 * found.upper <= largest_noise_epsilon(step, order == "remove", math.log(1e-4)) <= found.upper
    delta = epoch.delta_bounds(1.0, order)
    assert 0.5 * delta.upper <= math.exp(largest_noise_log_delta(step, order == "remove", 1.0)) <= delta.upper


def test_little_noise_leaves_little_of_an_allocation():
    step = AllocatedStep(20.0, 10)
    plain = hs.Gaussian(sigma=0.05).epsilon_bounds(1e-5)
    assert 0.98 * plain.lower <= largest_noise_epsilon(step, True, math.log(1e-5)) <= plain.upper
    assert largest_noise_log_delta(AllocatedStep(10.0, 10), True, 0.5) >= math.log(0.99999)
