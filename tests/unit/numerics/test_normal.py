"""Hockey sticks and tails of the normal distribution, against many digits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from hockeystick.numerics import normal


def exact_log_delta(mu: float, x: float) -> mpf:
    a = mpf(x) / mpf(mu) - mpf(mu) / 2
    root = mp.sqrt(2)
    if a > -1:
        return mp.log((mp.erfc(a / root) - mp.exp(x) * mp.erfc((a + mu) / root)) / 2)
    return mp.log1p(-(mp.erfc(-a / root) + mp.exp(x) * mp.erfc((a + mu) / root)) / 2)


def cases() -> list[tuple[float, float]]:
    draw = np.random.default_rng(7)
    mus = 10.0 ** draw.uniform(-6.0, 1.5, 300)
    places = draw.uniform(-6.0, 25.0, 300)  # of a = x/mu - mu/2
    free = [(float(mu), float(mu * max(a, -mu / 2) + mu * mu / 2)) for mu, a in zip(mus, places, strict=True)]
    return [(mu, max(0.0, x)) for mu, x in free] + [(float(mu), 0.0) for mu in mus[:50]]


def test_the_normal_hockey_stick():
    """Claimed over observed error is at least 1, everywhere; mu is exact here, so nothing is allowed for it."""
    least = math.inf
    with mp.workdps(500):
        for mu, x in cases():
            value, claimed, slope = normal.log_shift_delta(mu, x, mu_error=0.0)
            observed = abs(mpf(value) - exact_log_delta(mu, x))
            assert observed <= claimed, (mu, x, float(observed), claimed)
            assert slope <= 0.0
            if observed > 0:
                least = min(least, float(claimed / observed))
    assert least >= 1.0


def test_the_normal_hockey_stick_is_not_vague():
    for mu, x in cases():
        value, claimed, _ = normal.log_shift_delta(mu, x)
        assert claimed <= 1e-12 * max(1.0, abs(value)), (mu, x)


def test_the_slope_of_the_normal_hockey_stick():
    for mu, x in cases()[:100]:
        step = 1e-4 * mu
        before, after = (normal.log_shift_delta(mu, x + shift)[0] for shift in (0.0, 2.0 * step))
        middle = normal.log_shift_delta(mu, x + step)[2]
        assert (after - before) / (2.0 * step) == pytest.approx(middle, rel=1e-3, abs=1e-6)


def test_close_mills_ratios():
    draw = np.random.default_rng(8)
    with mp.workdps(60):
        for _ in range(300):
            mu = float(10.0 ** draw.uniform(-8.0, -1.0))
            middle = float(10.0 ** draw.uniform(-3.0, 1.3))
            value, claimed = normal.close_mills_gap(middle, mu)

            def mills(t: mpf) -> mpf:
                return mp.exp(t * t / 2) * mp.erfc(t / mp.sqrt(2)) / 2

            truth = mills(mpf(middle) - mpf(mu) / 2) - mills(mpf(middle) + mpf(mu) / 2)
            assert abs(value / truth - 1) <= claimed


@given(st.floats(-37.0, 37.0))
def test_tail_bounds(x):
    assert normal.log_tail_bound(x) >= math.log(0.5 * math.erfc(x / math.sqrt(2.0))) - 1e-15
