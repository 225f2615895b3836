"""The largest of several noisy sums: its slices against sums in many digits, and what they prove."""

import math

import mpmath
import numpy as np
import pytest

from hockeystick.loss.composed import composed
from hockeystick.loss.engines.driver import log_delta_proof
from hockeystick.loss.sampled.largest import LargestLoss


def best_threshold(steps: int, noise: float, epsilon: float, flipped: bool) -> float:
    """delta of the best half-line of the largest sum, from which no slicing is far, by a scan of thresholds."""

    def beyond(c: float, mean: float) -> float:
        one = math.log(0.5 * math.erfc(-(c - mean) / noise / math.sqrt(2.0)) or 1e-300)
        rest = (steps - 1) * math.log(0.5 * math.erfc(-c / noise / math.sqrt(2.0)) or 1e-300)
        return -math.expm1(one + rest)

    best = 0.0
    for c in np.linspace(-4.0 * noise, 2.0 + 9.0 * noise, 3000).tolist():
        p, q = beyond(c, 2.0), beyond(c, 1.0)
        if flipped:
            p, q = 1.0 - q, 1.0 - p
        best = max(best, p - math.exp(epsilon) * q)
    return best


@pytest.mark.parametrize("flipped", [False, True])
@pytest.mark.parametrize(("steps", "noise"), [(2, 1.0), (100, 1.0), (1000, 0.5), (10**6, 0.4)])
def test_slices_tell_nearly_what_the_best_threshold_does(steps, noise, flipped):
    loss = LargestLoss(steps, noise, 0.0, 2.0, 1.0, flipped)
    for epsilon in (0.2, 1.0):
        known = best_threshold(steps, noise, epsilon, flipped)
        found = log_delta_proof(composed([(loss, 1)]), epsilon)
        assert math.exp(found.low) <= math.exp(found.high)
        if known > 1e-9:
            assert math.exp(found.low) >= 0.98 * known
        assert math.exp(found.low) <= known + 0.01  # a half-line is nearly the best event


@pytest.mark.parametrize(("steps", "noise"), [(3, 0.7), (500, 1.1)])
def test_masses_in_many_digits(steps, noise):
    loss = LargestLoss(steps, noise, 0.0, 2.0, 1.0)
    c = np.linspace(-2.0, 8.0, 23)
    with mpmath.workdps(40):
        for mean in (2.0, 1.0):
            found, error = loss._masses_of(c, mean)
            one = [mpmath.mpf(x) / mpmath.mpf(noise) for x in c.tolist()]
            moved = [(mpmath.mpf(x) - mean) / mpmath.mpf(noise) for x in c.tolist()]
            below = [mpmath.ncdf(m) * mpmath.ncdf(x) ** (steps - 1) for m, x in zip(moved, one, strict=True)]
            edges = [mpmath.mpf(0), *below, mpmath.mpf(1)]
            for place in range(len(edges) - 1):
                truth = mpmath.log(edges[place + 1] - edges[place])
                assert abs(found[place] - truth) <= error[place] <= 1e-11 * (1.0 + abs(found[place]))
    z, log_p, log_q, error = loss.slices
    assert math.isclose(float(np.exp(log_p).sum()), 1.0, rel_tol=1e-11)
    assert math.isclose(float(np.exp(log_q).sum()), 1.0, rel_tol=1e-11)
    assert (np.diff(z) >= 0.0).all()
    assert error < 1e-11
    assert loss.closed(loss.ceiling + 1.0).value == -math.inf
