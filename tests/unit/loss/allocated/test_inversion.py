import mpmath
import numpy as np
import pytest

from hockeystick.loss.allocated.inversion import Inversion
from hockeystick.loss.allocated.moments import AllocatedStep, Moments


def truth(t, q):
    """F(q) of two steps, as a double integral: over the mean of both and over their difference."""
    mean = mpmath.exp(q * (q - 1) * t * t / 4)  # of e^{q (t m - t^2/4)}, m of variance 1/2
    with mpmath.workdps(20):
        spread = mpmath.quad(
            lambda x: mpmath.npdf(x) * mpmath.cosh(t * x / mpmath.sqrt(2)) ** q, [-14, -9, -6, -3, 0, 3, 6, 9, 14]
        )
        return mean * spread * mpmath.exp(-q * t * t / 4)


@pytest.mark.parametrize(("t", "a"), [(1.0, 3.4), (0.5, -4.0), (1.0, -0.3)])
def test_moments_at_complex_orders(t, a):
    step = AllocatedStep(t, 2, 0.0)
    made = Inversion(step, Moments(step), a)
    value, error = made.values(0.9, 4)
    for k in range(4):
        exact = truth(t, mpmath.mpc(a, 0.9 * k))
        assert abs(mpmath.exp(mpmath.mpc(value[k])) / exact - 1) <= error[k] + 1e-14
    assert error[0] <= 1e-9
    assert made.log_above >= float(mpmath.log(abs(truth(t, mpmath.mpf(a)))))


def test_decay_holds():
    step = AllocatedStep(1.0, 2, 0.0)
    u = 0.9 * np.arange(4)
    value, _ = Inversion(step, Moments(step), 2.0).values(0.9, 4)
    assert np.all(value.real[0] - value.real >= step.decay(u) - 1e-12)
