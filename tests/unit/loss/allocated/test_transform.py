import mpmath
import numpy as np
import pytest

from hockeystick.loss.allocated.moments import AllocatedStep
from hockeystick.loss.allocated.transform import LaplaceBound, Ray


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


@pytest.mark.parametrize(
    ("t", "steps", "n", "angle"), [(1.0, 12, 2, -1.45), (0.3, 5, 3, -1.0), (1.5, 2, 4, -1.2), (1.0, 9, 0, -1.5)]
)
def test_the_transform_is_within_its_error(t, steps, n, angle):
    ray = Ray(AllocatedStep(t, steps, 0.0), n, angle, 1e-2, 60.0)
    places = np.array([0.02, 3.0, 25.0])
    value, error = ray.values(places)
    for place, log, off in zip(places, value, error, strict=True):
        exact = truth(t, steps, n, place * mpmath.expj(angle))
        assert abs(mpmath.exp(mpmath.mpc(log)) / exact - 1) <= off <= 1e-9


def test_the_laplace_bound_is_above_the_transform():
    step = AllocatedStep(1.0, 12, 0.0)
    places = np.array([0.5, 4.0, 20.0])
    for n in (0, 3):
        value, _ = Ray(step, n, 0.0, 0.1, 30.0).values(places)
        assert np.all(LaplaceBound(step).log_above(places, n) >= value.real - places - 1e-9)
