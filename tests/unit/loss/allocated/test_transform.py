import math

import mpmath
import numpy as np
import pytest

from hockeystick.loss.allocated.moments import AllocatedStep
from hockeystick.loss.allocated.transform import Ray


def truth(t, steps, n, s):
    """M_n(s) e^s by ball-free quadrature along a path of its own."""
    z = mpmath.mpc(s) / steps
    shift = mpmath.arg(z) / t * 0.9

    def inner(k):
        def f(x):
            x = x - 1j * shift
            y = mpmath.exp(t * x - t * t / 2)
            return mpmath.npdf(0) * mpmath.exp(-x * x / 2) * y**k * mpmath.exp(-z * y)

        return mpmath.quad(f, [-12, -6, -3, 0, 3, 6, 10, 14]) / mpmath.factorial(k)

    terms, power = [inner(k) for k in range(n + 1)], [mpmath.mpf(1)] + [mpmath.mpf(0)] * n
    for _ in range(steps):
        power = [mpmath.fsum(power[i] * terms[m - i] for i in range(m + 1)) for m in range(n + 1)]
    return power[n] * mpmath.factorial(n) / mpmath.mpf(steps) ** n * mpmath.exp(s)


@pytest.mark.parametrize(("t", "steps", "n", "angle"), [(1.0, 40, 2, -1.45), (1.5, 2, 3, -1.2)])
def test_the_transform_is_within_its_error(t, steps, n, angle):
    ray = Ray(AllocatedStep(t, steps, 0.0), n, angle, 1e-2, 60.0)
    places = np.array([0.02, 3.0, 25.0])
    value, error = ray.values(places)
    for place, log, off in zip(places, value, error, strict=True):
        exact = truth(t, steps, n, place * mpmath.expj(angle))
        assert abs(mpmath.exp(mpmath.mpc(log)) / exact - 1) <= off <= 1e-9


def test_no_digits_are_lost_with_many_steps():
    """log of a_0 to the power T beside s: with a million steps, from the two moments that are left."""
    steps, r = 10**6, 2.0
    value, error = Ray(AllocatedStep(1.0, steps, 0.0), 0, 0.0, 0.1, 10.0).values(np.array([r]))
    spread = math.expm1(1.0) * r * r / (2.0 * steps)
    assert abs(value[0].real - spread) <= 1e-4 * spread
    assert error[0] <= 1e-11
