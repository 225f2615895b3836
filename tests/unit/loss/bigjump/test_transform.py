"""The transform of a step with soft thresholds, and the masses taken out of it, within their errors."""

import mpmath as mp
import pytest

from hockeystick.loss.bigjump.cells import place
from hockeystick.loss.bigjump.transform import ThresholdedStep
from threshold_cases import SHAPE, THRESHOLDS, X, integral, kept, middle, nu, power


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(30):
        yield


@pytest.fixture(scope="module")
def step():
    return ThresholdedStep(SHAPE, THRESHOLDS, 400.0, 0.0)


def test_large_outcomes_are_counted_rightly(step):
    """The thresholds and the noise at higher precision."""
    noise, rate = mp.mpf(SHAPE.noise), mp.mpf(SHAPE.rate)

    def share(z, order):
        x = rate * mp.expm1(z / noise - 1 / (2 * noise**2))
        return mp.npdf(z) * x**order * mp.ncdf((x - mp.mpf(THRESHOLDS.high)) / mp.mpf(THRESHOLDS.high_width))

    edge = place(SHAPE, THRESHOLDS.high)
    points = [-1, 4, *(edge + 0.1 * j for j in range(-6, 7)), edge + 2, edge + 6, edge + 12]
    for order, found in ((0, step.q), (1, step.drift)):
        true = mp.quad(lambda z, order=order, found=found: share(z, order) / mp.mpf(found), points, maxdegree=7)
        assert abs(true - 1) <= step.error < 1e-12


def test_sums_along_a_line_against_quadrature(step):
    found = step.values(201.0, 30.0, 200, -45.0)
    for j in (0, 1, 25, 90, 199):
        k = complex(201.0, 30.0 * j)
        grown = power(k, X)
        true = integral(kept(X) * (grown - 1.0 - k * X)) - integral(nu(X)) - k * integral(nu(X) * X)
        assert abs(true - found.excess[j]) <= found.excess_error[j] < 1e-9
        assert abs(integral(middle(X) * grown) - found.mid[j]) <= found.mid_error[j] < 1e-9
