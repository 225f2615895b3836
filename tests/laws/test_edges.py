"""No finite input gives NaN, a warning, a negative epsilon, an infinity out of place, or a hang."""

import math
from contextlib import nullcontext

import mpmath as mp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hockeystick as hs
from samples import ALL, BOUNDED, INFINITE, LOOSE, strict
from twins import pure

DELTAS = [0.0, 5e-324, 1e-300, 1e-100, 1e-9, 0.1, 0.999, 1.0]
EPSILONS = [-1e300, -800.0, -1.0, -1e-300, 0.0, 5e-324, 1e-12, 0.3, 5.0, 800.0, 1e10, 1e300]


def answers_soundly(
    release: hs.Gaussian,
    deltas: list[float],
    epsilons: list[float],
    bounded: float | None,
    infinite: float = 0.0,
    loose: bool = False,
) -> None:
    """`bounded` is the largest loss, None if there is none; `infinite` the probability of an infinite one."""
    with strict():
        for delta in deltas:
            low, high = release.epsilon_bounds(delta=delta)
            assert 0.0 <= low <= high, (delta, low, high)  # NaN compares false
            assert high < math.inf or (delta == 0.0 and bounded is None) or delta <= infinite, (delta, low, high)
            if delta == 1.0:
                assert high == 0.0
            if delta == 0.0 and bounded is None:
                assert high == math.inf
                assert low == math.inf or loose
            if delta == 0.0 and bounded is not None:
                assert low * (1.0 - 1e-12) <= bounded <= high * (1.0 + 1e-12)
                assert loose or low == pytest.approx(high, rel=1e-12)
        for epsilon in epsilons:
            low, high = release.delta_bounds(epsilon=epsilon)
            assert 0.0 <= low <= high <= 1.0, (epsilon, low, high)
            log_low, log_high = release.log_delta_bounds(epsilon=epsilon)
            assert log_low <= log_high <= 0.0, (epsilon, log_low, log_high)
            if epsilon < 0.0:
                assert high >= -math.expm1(epsilon)
            if bounded is not None and epsilon > bounded * (1.0 + 1e-12):
                assert high == 0.0


def renyi_soundly(release: hs.Gaussian, orders: list[float]) -> None:
    with strict():
        for order in orders:
            value = release.rdp(order=order)
            assert value >= 0.0, (order, value)
            assert value < math.inf, (order, value)


@pytest.mark.parametrize("name", ALL)
def test_ordinary_releases(name):
    release = ALL[name]
    answers_soundly(release, DELTAS, EPSILONS, BOUNDED.get(name), INFINITE.get(name, 0.0), name in LOOSE)
    if name not in INFINITE and name != "renyi":  # whose orders end
        renyi_soundly(release, [1.0, math.nextafter(1.0, 2.0), 1.5, 64.0, 1e4])


@pytest.mark.parametrize("sigma", [1e-6, 1e-3, 0.04, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("count", [1, 2, 1000, 10**12])
def test_gaussian_noise(sigma, count):
    answers_soundly(hs.Gaussian(sigma=sigma) * count, DELTAS, EPSILONS, None)
    renyi_soundly(hs.Gaussian(sigma=sigma) * count, [1.0, 2.0, 1e6])


@pytest.mark.parametrize("scale", [1e-6, 0.04, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("count", [1, 2, 1000, 10**12])
def test_laplace_noise(scale, count):
    answers_soundly(hs.Laplace(scale=scale) * count, DELTAS, EPSILONS, count / scale)
    renyi_soundly(hs.Laplace(scale=scale) * count, [1.0, 2.0, 1e6])


@pytest.mark.parametrize("sigma", [1e-6, 0.04, 0.3, 1.0, 1e6])
@pytest.mark.parametrize("rate", [1e-12, 1e-4, 0.5, 1.0 - 2.0**-53])
@pytest.mark.parametrize("count", [1, 2, 10**4, 10**12])
def test_sampled_noise(sigma, rate, count):
    run = hs.Gaussian(sigma=sigma).poisson(rate=rate) * count
    answers_soundly(run, [0.0, 1e-300, 0.1, 1.0], [-1e300, -1.0, 0.3, 1e300], None)
    renyi_soundly(run, [1.0, 2.0, 100.0])


@pytest.mark.parametrize("neighbours", ["add", "remove"])
@pytest.mark.parametrize("count", [1, 3, 1000])
def test_each_direction_of_sampled_noise_without_delta(neighbours, count):
    """Adding loses at most -log(1-q) a step; removing is unbounded."""
    run = hs.Gaussian(sigma=1.0).poisson(rate=0.25) * count
    found = run.epsilon(delta=0.0, neighbours=neighbours)
    if neighbours == "add":
        assert found >= -count * math.log1p(-0.25) * (1.0 - 1e-14)
        assert found == pytest.approx(-count * math.log1p(-0.25), rel=1e-12)
    else:
        assert found == math.inf


def logarithmic(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(math.log(low), math.log(high)).map(lambda x: min(max(math.exp(x), low), high))


counts = logarithmic(1.0, 1e12).map(int)
sigmas = logarithmic(1e-6, 1e6)
gaussians = st.builds(lambda sigma: hs.Gaussian(sigma=sigma), sigmas)
laplaces = st.builds(lambda scale: hs.Laplace(scale=scale), sigmas)
sampled = st.builds(lambda one, rate: one.poisson(rate=rate), gaussians, logarithmic(1e-12, 1.0))
deltas = st.one_of(st.sampled_from(DELTAS), logarithmic(1e-320, 1.0))
epsilons = st.one_of(
    st.sampled_from(EPSILONS),
    st.floats(-50.0, 50.0),
    st.floats(-1e300, 1e300, allow_nan=False, allow_infinity=False),
)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(
    parts=st.lists(st.tuples(st.one_of(gaussians, laplaces, sampled), counts), min_size=1, max_size=4),
    delta=deltas,
    epsilon=epsilons,
)
def test_wild_compositions(parts, delta, epsilon):
    run = hs.compose([part * count for part, count in parts])
    bounded = None
    if all(isinstance(part, hs.Laplace) for part, _ in parts):
        bounded = math.fsum(count / part.scale for part, count in parts)
    answers_soundly(run, [delta], [epsilon], bounded)


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(step=st.one_of(gaussians, laplaces, sampled), count=counts, order=st.floats(1.0, 1e6))
def test_wild_renyi_curves(step, count, order):
    renyi_soundly(step * count, [order])


@pytest.mark.parametrize("sigma", [1e-90, 1e90])
def test_noise_at_the_ends_of_what_is_allowed(sigma):
    for release in (
        hs.Gaussian(sigma=sigma),
        hs.Gaussian(sigma=sigma).poisson(rate=0.5),
        hs.Gaussian(sigma=sigma) * 10**6,
    ):
        answers_soundly(release, DELTAS, EPSILONS, None)
    answers_soundly(hs.Laplace(scale=sigma), DELTAS, EPSILONS, 1.0 / sigma)


def test_thousands_of_parts():
    parts = [hs.Gaussian(sigma=50.0 + 0.01 * i) for i in range(1000)] + [hs.Laplace(scale=50.0 + 0.1 * i) for i in range(1000)]
    run = hs.compose(parts)
    answers_soundly(run, [0.0, 1e-9, 0.1], [0.0, 1.0], None)
    low, high = run.epsilon_bounds(delta=1e-6)
    assert high - low <= 1e-9 * high
    assert low <= (hs.Gaussian(sigma=50.0) * 1000 + hs.Laplace(scale=50.0) * 1000).epsilon(delta=1e-6)


def test_hundreds_of_laplaces():
    run = hs.compose([hs.Laplace(scale=100.0 + 0.1 * i) for i in range(300)])
    answers_soundly(run, [0.0, 1e-9], [], math.fsum(1.0 / (100.0 + 0.1 * i) for i in range(300)))


def test_thousands_of_gaussians_under_one_sample():
    run = hs.compose([hs.Gaussian(sigma=50.0 + 0.01 * i) for i in range(2000)]).poisson(rate=0.01) * 100
    answers_soundly(run, [1e-9], [0.0, 1.0], None)


def test_hundreds_of_sampled_steps():
    run = hs.compose([hs.Gaussian(sigma=1.0 + 0.01 * i).poisson(rate=0.001 + 1e-5 * i) for i in range(300)])
    answers_soundly(run, [1e-6], [], None)


def test_subnormal_and_integer_inputs():
    run = ALL["sampled"]
    with strict():
        assert run.epsilon(delta=5e-324) < math.inf
        assert run.delta(epsilon=0) == run.delta(epsilon=0.0)
        assert run.epsilon(delta=np.float32(0.5)) == run.epsilon(delta=0.5)
        assert run.epsilon(delta=1) == 0.0


def test_a_tail_beyond_the_range_of_doubles_proves_nothing():
    """A loss of 1e4 and more has the probability q < delta; epsilon is at most that of the Laplace steps."""
    rate, laplace = 5.8087098199622365e-05, hs.Laplace(2.845499725981031) * 2
    for sigma, delta in ((0.005, 1.15 * rate), (0.002567503619164572, 6.260013582605176e-05)):
        bounds = (hs.Gaussian(sigma).poisson(rate) + laplace).epsilon_bounds(delta, neighbours="remove")
        assert bounds.upper < laplace.epsilon(0.0) + 1e-6
        assert bounds.lower <= 0.70279


@pytest.mark.parametrize(
    ("sigma", "rate", "other", "epsilon"), [(23.4, 1.7e-5, 240.0, 8.9), (25.0, 1e-5, 250.0, 8.0), (50.0, 1e-3, 200.0, 4.0)]
)
def test_masses_below_the_range_of_doubles_are_not_lost(sigma, rate, other, epsilon):
    """A run spends no less than one of its steps."""
    step = hs.Gaussian(sigma).poisson(rate)
    alone, both = (run.log_delta_bounds(epsilon, neighbours="remove") for run in (step, step + hs.Gaussian(other)))
    assert alone.lower <= both.lower <= both.upper


def test_tiny_noise_beside_laplace_steps_is_no_crash():
    run = hs.Gaussian(9.133797011694315e-08).poisson(0.0030915145156264977) + hs.Laplace(0.9066630211615069)
    bounds = run.epsilon_bounds(0.0030915145125349833, neighbours="remove")
    assert 0.0 < bounds.lower < bounds.upper < math.inf
    for rate, scale, count, epsilon, delta in (
        (0.001984923165596072, 1.088261413437242, 2, 17.948843892869604, 9.512550609438482e-07),
        (3.6523974997509286e-05, 13.300387596085809, 1, 0.14789471105210655, 2.0442828624940076e-194),
    ):
        other = hs.Laplace(scale) * count
        with pytest.raises(hs.Unreachable, match="every value meets"):
            hs.calibrate(
                lambda s, rate=rate, other=other: hs.Gaussian(sigma=s).poisson(rate) + other,
                epsilon=epsilon,
                delta=delta,
                neighbours="add",
            )


@pytest.mark.parametrize("sigma", [1e-6, 1e-9, 1e-20, 1e-40, 1e-60, 1e-90])
def test_hardly_any_noise_in_a_sample_is_no_privacy(sigma):
    """With probability 1/2 the loss is about 1 / (2 sigma^2)."""
    bounds = hs.Gaussian(sigma).poisson(0.5).epsilon_bounds(1e-9)
    assert bounds.lower <= 0.5 / sigma**2 * (1.0 + 1e-4)
    assert 0.5 / sigma**2 * (1.0 - 1e-4) <= bounds.upper < math.inf


@pytest.mark.parametrize("scale", [17.3, 1e3, 176191.34278145785])
@pytest.mark.parametrize("delta", [1e-15, 1e-30, 2.446065864247474e-195])
def test_next_to_the_largest_loss(scale, delta):
    """epsilon = 1/scale + 2 log(1 - delta) of a Laplace step; nothing is proved closer to the cliff than rounding allows."""
    found = hs.Laplace(scale=scale).epsilon_bounds(delta)
    truth = 1.0 / scale + 2.0 * math.log1p(-delta)
    assert found.lower <= truth * (1.0 + 4e-16)
    assert found.upper >= truth * (1.0 - 4e-16)
    assert found.width <= 1e-12 * found.upper


@pytest.mark.parametrize(
    ("rate", "sigma", "steps", "delta", "alone"),
    [
        (6.035742682461748e-294, 0.02, 1300, 4.992682388507342e-291, False),
        (6.035742682461748e-294, 0.02, 1300, 4.992682388507342e-291, True),
        (1.806738369903225e-270, 0.03, 314215323458198, 3.476920428641387e-270, False),
        (2.134569637433434e-266, 0.015, 70805, 1.4469346510131807e-276, False),
    ],
)
def test_rates_whose_odds_are_not_doubles(rate: float, sigma: float, steps: int, delta: float, alone: bool) -> None:
    """Where q e^600 is not large; up to 1e-200 of itself delta is the sum of those of the steps."""
    run = hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps

    def true(epsilon: float) -> mp.mpf:
        q, mu = mp.mpf(rate), 1 / mp.mpf(sigma)
        x = mp.log((mp.expm1(epsilon) + q) / q)
        return steps * q * (mp.ncdf(mu / 2 - x / mu) - mp.exp(x) * mp.ncdf(-mu / 2 - x / mu))

    with pure() if alone else nullcontext(), mp.workdps(700):
        for relation in ("remove", "add-or-remove"):
            found = run.epsilon_bounds(delta, neighbours=relation)
            assert true(found.upper) <= delta <= true(found.lower) * (1 + mp.mpf(10) ** -100)
        for epsilon in (1.0, 300.0, 900.0):
            low, high = (hs.Gaussian(sigma=sigma).poisson(rate=rate)).log_delta_bounds(epsilon, neighbours="remove")
            assert low <= mp.log(true(epsilon) / steps) <= high


@pytest.mark.parametrize(("epsilon", "share"), [(7.487698655084295e-113, 0.5), (5.929606354674516e-70, 1.5), (1e-40, 1.2)])
def test_deltas_of_tiny_claims(epsilon: float, share: float) -> None:
    """Two steps of pure DP: logarithms in the hundreds are rounded to more than their last units."""
    at = epsilon * share
    low, high = (hs.PureDP(epsilon) * 2).delta_bounds(at)
    with mp.workdps(300):
        one, p = mp.mpf(epsilon), 1 / (1 + mp.exp(-mp.mpf(epsilon)))
        true = sum(
            mass * max(0, 1 - mp.exp(mp.mpf(at) - loss)) for mass, loss in ((p * p, 2 * one), (2 * p * (1 - p), mp.mpf(0)))
        )
        assert low <= true <= high


def test_variances_that_are_no_doubles() -> None:
    found = (hs.Gaussian(sigma=95.8).poisson(rate=1e-160) * 10).delta_bounds(epsilon=0.0)
    assert found.lower <= 10 * 1e-160 * 0.00416431 <= found.upper * (1 + 1e-5)
    mixed = hs.Gaussian(sigma=133276.2767997311).poisson(rate=5e-324) + hs.Laplace(scale=0.13166369907867395) * 3
    assert mixed.epsilon_bounds(0.9999999).upper < 4.0
