"""The transform of the weighed law against a plain sum."""

import math

import numpy as np

from hockeystick.loss.allocated.capped import Cap, CappedTransform
from hockeystick.loss.allocated.moments import AllocatedStep


def weighed(cap, x):
    return np.exp(-0.5 * x * x - np.exp(cap.sharpness * (x - cap.place))) / math.sqrt(2.0 * math.pi)


def test_the_transform_is_within_its_error():
    step, cap = AllocatedStep(0.3, 5, 0.0), Cap(7.0, 6.0)
    made = CappedTransform(step, cap, 4.0, 6.0)
    x = np.arange(-14.0, 8.5, 0.005)
    z = np.array([3.0 + 0.0j, 4.0 + 5.0j, 0.1 - 6.0j])
    value, error = made.values(z)
    exact = (np.exp(z[:, None] * np.expm1(0.3 * x - 0.045)) * (0.005 * weighed(cap, x))).sum(axis=1) - 1.0
    assert np.all(np.abs(value - exact) <= error + 1e-12)
    assert error.max() <= 1e-11


def test_an_eased_weight_is_the_power_or_more():
    cap = Cap(5.0, 6.0)
    x = np.linspace(2.0, 6.0, 50)
    eased = cap.eased(0.4)
    assert np.all(np.exp(eased.sharpness * (x - eased.place)) <= 0.4 * np.exp(cap.sharpness * (x - cap.place)) * (1.0 + 1e-13))
