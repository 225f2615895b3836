"""The mean of a random number of fair signs, in convex order, and the blocks of that number."""

import math

import numpy as np
import pytest
from scipy.special import gammaln

from hockeystick.numerics.convex_order import blocks, sign_means


def naive(others, size):
    """E (t - s)+ of the mean itself, in doubles: good to 1e-9."""
    c = np.arange(others + 1.0)
    log_p, log_q = -np.logaddexp(0.0, size), -np.logaddexp(0.0, -size)
    weight = np.exp(gammaln(others + 1) - gammaln(c + 1) - gammaln(others - c + 1) + c * log_p + (others - c) * log_q)
    m, w = c[weight > 1e-18] + 1.0, weight[weight > 1e-18]

    def mean(s):
        total = 0.0
        for one, share in zip(m, w, strict=True):
            j = np.arange(one + 1.0)
            mass = np.exp(gammaln(one + 1) - gammaln(j + 1) - gammaln(one - j + 1) - one * math.log(2.0))
            total += share * float(mass @ np.maximum((2.0 * j - one) / one - s, 0.0))
        return total

    return mean


@pytest.mark.parametrize(("others", "size"), [(50, 0.3), (3000, 0.5), (20_000, 2.0)])
def test_the_law_of_means_is_above_in_convex_order(others, size):
    t, _, mass, _ = sign_means(others, size)
    mean = naive(others, size)
    both, masses = np.concatenate((-t, t)), np.concatenate((mass, mass))
    assert masses.sum() == pytest.approx(1.0, abs=1e-13)
    spread = 1.0 / math.sqrt(others / (1.0 + math.exp(size)) + 1.0)
    for s in (0.0, 0.5 * spread, 1.3 * spread, 3.0 * spread):
        found, truth = float(masses @ np.maximum(both - s, 0.0)), mean(s)
        assert found >= truth * (1.0 - 1e-9)
        assert found <= truth * (1.0 + 2e-3)


@pytest.mark.parametrize(("others", "size"), [(10, 1.0), (1000, -2.0), (10**6, 3.0), (10**9, 0.5)])
def test_blocks_hold_at_least_what_lies_below(others, size):
    from scipy.stats import binom

    least, weight = blocks(others, size)
    assert weight.sum() == pytest.approx(1.0, abs=1e-14)
    below = np.cumsum(weight)[:-1]
    truth = binom.cdf(least - 1.0, others, 1.0 / (1.0 + math.exp(size)))
    assert truth[0] < 1e-300
    assert (below >= truth[1:] * (1.0 - 1e-9)).all()
