"""The loss of a mixture in terms of that of its component, and back, against many digits."""

import numpy as np
import pytest
from mpmath import mp, mpf

from hockeystick.numerics.mixing import sampled_loss, unsampled_loss

RATES = [1e-290, 1e-9, 0.01, 0.5, 0.999, 1.0 - 2.0**-40]
LOSSES = [-800.0, -40.0, -1.0, -1e-3, -1e-12, 0.0, 1e-12, 1e-3, 0.7, 29.9, 30.1, 200.0, 750.0]


@pytest.mark.parametrize("rate", RATES)
def test_the_loss_of_a_sample(rate):
    """log(1 - q + q e^z), to nearly full relative accuracy; where z is large, to that of log q."""
    with mp.workdps(400):
        for z, found in zip(LOSSES, sampled_loss(np.array(LOSSES), rate).tolist(), strict=True):
            truth = mp.log(1 - mpf(rate) + mpf(rate) * mp.exp(mpf(z)))
            assert abs(found - truth) <= mpf(2e-15) * abs(truth) * (1 if z < 30.0 else 1 - mp.log(mpf(rate)))


@pytest.mark.parametrize("rate", RATES)
def test_it_rises_and_stays_above_its_floor(rate):
    z = np.linspace(-60.0, 60.0, 4001)
    found = sampled_loss(z, rate)
    assert (np.diff(found) >= -4e-15).all()
    assert (found >= np.log1p(-rate) * (1.0 + 1e-15)).all()
    assert (found <= np.maximum(z, 0.0) + 1e-15).all()
    assert (found >= np.minimum(z, 0.0) - 1e-15).all()


@pytest.mark.parametrize("rate", RATES)
def test_the_way_back(rate):
    """To the accuracy of a few units of the loss of the sample."""
    with mp.workdps(400):
        for x in (*(s * 10.0**-k for k in range(0, 14, 3) for s in (1.0, -0.4)), 29.0, 31.0, 300.0, -30.0):
            inner = (mp.exp(mpf(x)) - 1 + mpf(rate)) / mpf(rate)
            found = float(unsampled_loss(np.array([x]), rate)[0])
            if inner <= 0:
                assert found == -np.inf
                continue
            if inner < mpf(1e-3):
                continue  # next to the floor an error of x is one of any size of z
            slope = mp.exp(mpf(x)) / (rate * inner)
            assert abs(found - mp.log(inner)) <= mpf(4e-15) * (abs(mp.log(inner)) + abs(x) * slope + 1)


def test_nothing_lies_below_the_floor():
    assert unsampled_loss(np.array([np.log1p(-0.3) - 1e-9, -5.0]), 0.3).tolist() == [-np.inf, -np.inf]
