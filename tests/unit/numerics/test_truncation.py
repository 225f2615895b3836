"""Binomial masses and tails for truncated samples, up to a billion records."""

import math

import mpmath
import pytest

from hockeystick.numerics.truncation import log_mass, tail_over, truncation


@pytest.mark.parametrize(
    ("count", "rate", "heads"),
    [(10, 0.5, 0), (10, 0.25, 10), (1, 0.3, 1), (59_999, 256 / 60_000, 299), (10**9, 1e-3, 10**6 + 5000), (10**9, 0.5, 10**8)],
)
def test_the_mass_and_its_error(count, rate, heads):
    value, error = log_mass(count, rate, heads)
    with mpmath.workdps(60):
        q = mpmath.mpf(rate)
        truth = mpmath.loggamma(count + 1) - mpmath.loggamma(heads + 1) - mpmath.loggamma(count - heads + 1)
        truth += heads * mpmath.log(q) + (count - heads) * mpmath.log(1 - q)
        assert abs(value - truth) <= error <= 1e-11 * (1.0 + abs(value))


@pytest.mark.parametrize("upwards", [True, False])
@pytest.mark.parametrize(("count", "rate", "first"), [(50, 0.3, 12), (50, 0.3, 20), (700, 0.01, 7), (700, 0.99, 690)])
def test_tails(count, rate, first, upwards):
    value, error = tail_over(count, rate, first, upwards)
    with mpmath.workdps(60):
        q = mpmath.mpf(rate)
        masses = [mpmath.binomial(count, k) * q**k * (1 - q) ** (count - k) for k in range(count + 1)]
        truth = sum(masses[first + 1 :] if upwards else masses[:first]) / masses[first]
        assert abs(value / truth - 1) <= error < 1e-11


def test_a_billion_records():
    shares = truncation(10**9, 1e-3, 10**6 + 3000)
    assert shares.error < 1e-9
    assert shares.edge.rate > shares.small.rate == 1e-3
    assert math.isclose(shares.full.weight, 0.0013513554, rel_tol=1e-7)
    assert truncation(10**9, 0.5, 10**8).edge.rate == 1.0  # all is cut
