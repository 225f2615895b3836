"""Sparse sampling by soft thresholds: its pieces and its answers against formulas at higher precision, and other engines."""

import json
import math
import random

import mpmath as mp
import pytest

import hockeystick as hs
from hockeystick.loss.bigjump.split import BigJumpSplit, big_jump_epsilon, big_jump_log_delta
from hockeystick.loss.bigjump.thresholds import ThresholdGuide
from hockeystick.loss.engines.first import contour_epsilon
from hockeystick.loss.lattice.refine import lattice_epsilon
from hockeystick.loss.protocol import Inconclusive
from places import DATA


@pytest.fixture(autouse=True)
def digits():
    before, mp.mp.dps = mp.mp.dps, 30
    yield
    mp.mp.dps = before


@pytest.mark.parametrize("case", json.loads((DATA / "sparse.json").read_text()))
def test_two_steps_against_an_integral_of_the_closed_form(case):
    """Stored by scripts/truth_sparse.py, which uses no transform."""
    delta, true = case["delta"], mp.mpf(case["epsilon"])
    run = (
        hs.Gaussian(case["first"][1]).poisson(case["first"][0]) + hs.Gaussian(case["second"][1]).poisson(case["second"][0])
    )._run("remove")
    low, high = big_jump_epsilon(run, math.log(delta), 1e-15 * abs(math.log(delta)))
    assert mp.mpf(low) <= true <= mp.mpf(high)
    assert high - low < 1e-6 * high
    below, above = big_jump_log_delta(run, float(true))
    assert below - 1e-13 * abs(below) <= math.log(delta) <= above + 1e-13 * abs(above)


@pytest.mark.parametrize("case", json.loads((DATA / "sparse_tiny.json").read_text()))
def test_many_steps_at_tiny_deltas_against_a_cut_transform(case):
    """Stored by scripts/truth_sparse.py; e^{kL} is larger there than any double."""
    run = hs.Gaussian(case["sigma"]).poisson(case["rate"]) * case["steps"]
    if "laplace" in case:
        run += hs.Laplace(case["laplace"][0]) * case["laplace"][1]
    if "gaussian" in case:
        run += hs.Gaussian(case["gaussian"])
    bounds = run.epsilon_bounds(case["delta"], neighbours="remove")
    assert mp.mpf(bounds.lower) <= mp.mpf(case["epsilon"]) <= mp.mpf(bounds.upper)
    assert bounds.width < 1e-8 * bounds.upper


@pytest.mark.parametrize("case", json.loads((DATA / "sparse_faint.json").read_text()))
def test_deltas_near_the_end_of_the_doubles(case):
    """Stored by scripts/truth_sparse.py: two steps by an integral of the closed form, many by a cut transform."""
    if "first" in case:
        run = _step(case["first"]) + _step(case["second"])
    else:
        run = _step((case["rate"], case["sigma"])) * case["steps"]
        run += hs.Laplace(case["laplace"][0]) * case["laplace"][1] if "laplace" in case else hs.GDP(0.0)
        run += hs.Gaussian(case["gaussian"]) if "gaussian" in case else hs.GDP(0.0)
    bounds = run.epsilon_bounds(case["delta"], neighbours="remove")
    assert mp.mpf(bounds.lower) <= mp.mpf(case["epsilon"]) <= mp.mpf(bounds.upper)
    assert bounds.width < (3e-6 if "first" in case else 1e-10) * bounds.upper


@pytest.mark.parametrize("case", json.loads((DATA / "sparse_beside.json").read_text()))
def test_laplace_steps_beside_a_sampled_one_against_an_integral_of_the_closed_form(case):
    """Stored by scripts/truth_sparse.py: epsilon lies a little beyond the largest loss of the Laplace steps."""
    run = hs.Gaussian(case["sigma"]).poisson(case["rate"]) + hs.Laplace(case["laplace"][0]) * case["laplace"][1]
    bounds = run.epsilon_bounds(case["delta"], neighbours="remove")
    assert mp.mpf(bounds.lower) <= mp.mpf(case["epsilon"]) <= mp.mpf(bounds.upper)
    assert bounds.width < 1e-6 * bounds.upper
    assert run.delta_bounds(bounds.lower, neighbours="remove").upper >= case["delta"]
    assert run.delta_bounds(bounds.upper, neighbours="remove").lower <= case["delta"]


def _step(given):
    rate, sigma = given
    return hs.Gaussian(sigma).poisson(rate)


def single(rate, noise, epsilon):
    """delta of one sampled step in closed form, in the order "remove"."""
    grown = mp.exp(epsilon)
    if grown <= 1 - rate:
        return 1 - grown
    inner = mp.log((grown - 1 + rate) / rate)
    t = inner * noise - 1 / (2 * noise)
    return rate * (mp.ncdf(-t) - mp.exp(inner) * mp.ncdf(-t - 1 / noise))


@pytest.mark.parametrize("seed", range(12))
def test_randomised_responses_beside_a_sampled_step_against_a_sum_of_closed_forms(seed):
    rng = random.Random(seed)
    rate, noise, count = 10 ** rng.uniform(-6, -2), 10 ** rng.uniform(-0.4, 1.5), rng.randrange(1, 12)
    epsilon, categories, delta = 10 ** rng.uniform(-1.5, 0.3), rng.choice((2, 3, 10)), 10 ** rng.uniform(-60, -8)
    run = hs.Gaussian(noise).poisson(rate) + hs.RandomizedResponse(epsilon=epsilon, categories=categories) * count
    bounds = run.epsilon_bounds(delta, neighbours="remove")
    size, grown = mp.mpf(epsilon), mp.exp(mp.mpf(epsilon))
    law = {0: mp.mpf(1)}
    for _ in range(count):
        longer = {}
        for total, mass in law.items():
            for value, share in ((1, grown), (0, mp.mpf(categories - 2)), (-1, mp.mpf(1))):
                longer[total + value] = longer.get(total + value, mp.mpf(0)) + mass * share / (grown + categories - 1)
        law = longer

    def at(end):
        return mp.fsum(mass * single(mp.mpf(rate), mp.mpf(noise), mp.mpf(end) - size * z) for z, mass in law.items())

    assert at(bounds.upper) <= delta <= at(bounds.lower)
    assert bounds.width < 1e-5 * bounds.upper


CORNERS = [
    (1e-5, 0.5, 10**5, 1e-12),
    (1e-5, 0.8, 10**5, 1e-12),
    (1e-4, 0.8, 10**4, 1e-12),
    (1e-6, 0.8, 10**5, 1e-12),
    (1e-6, 1.2, 10**6, 1e-6),
    (1e-3, 0.5, 100, 1e-30),
    (1e-4, 1.2, 10**5, 1e-30),
]


@pytest.mark.parametrize(("rate", "sigma", "steps", "delta"), CORNERS)
def test_sparse_corners_are_narrow(rate, sigma, steps, delta):
    bounds = (hs.Gaussian(sigma).poisson(rate) * steps).epsilon_bounds(delta)
    assert 0.0 < bounds.width <= 5e-9 * bounds.upper


def test_the_hardest_corner_is_within_the_bar():
    """A tiny delta between the normal bulk and the single large loss."""
    bounds = (hs.Gaussian(1.2).poisson(1e-6) * 10**6).epsilon_bounds(1e-30)
    assert bounds.width <= 1e-5 * bounds.upper


def test_agrees_with_the_contour_and_the_lattice():
    """Random sparse runs; where the contour answers too, both are narrow."""
    rng = random.Random(3)
    compared = 0
    for _ in range(12):
        rate, sigma = 10 ** rng.uniform(-5, -1.5), rng.uniform(0.45, 1.6)
        run = hs.Gaussian(sigma).poisson(rate) * max(2, int(10 ** rng.uniform(0.3, 1.5) / rate))
        log_delta = math.log(10 ** rng.uniform(-14, -4))
        single_run = run._run("remove")
        low, high = big_jump_epsilon(single_run, log_delta, 1e-14)
        assert high - low < 1e-7 * high
        try:
            other = contour_epsilon(single_run, log_delta, (log_delta - 1e-14, log_delta + 1e-14))
        except Inconclusive:
            other = 0.0, math.inf
        assert other[0] <= high
        assert low <= other[1]
        compared += other[1] - other[0] < 1e-8 * high
        if rng.random() < 0.2:
            rough = lattice_epsilon(single_run, log_delta, 1e-14)
            assert rough[0] <= high
            assert low <= rough[1]
    assert compared > 3


def test_every_bound_holds_for_every_epsilon():
    """A parted run is made for one epsilon; away from it its bounds grow wide, never wrong."""
    run = (hs.Gaussian(0.8).poisson(1e-3) * 200)._run("remove")
    made = BigJumpSplit(ThresholdGuide(run, 0.6, math.log(1e-8)))
    for epsilon in (0.3, 0.55, 0.7, 30.0):
        low, high = lattice_ends(run, epsilon)
        assert made.lower(epsilon) <= high
        assert low <= made.upper(epsilon)
    assert made.upper(1e4) >= made.lower(1e4) == -math.inf


def lattice_ends(run, epsilon):
    from hockeystick.loss.lattice.refine import lattice_log_delta

    return lattice_log_delta(run, epsilon)


def test_additions_of_sparse_samples_are_narrow():
    for rate, sigma, steps, delta in ((1e-6, 1.2, 10**7, 1e-30), (1e-5, 0.8, 10**6, 1e-12), (1e-5, 0.5, 10**5, 1e-12)):
        bounds = (hs.Gaussian(sigma).poisson(rate) * steps).epsilon_bounds(delta, neighbours="add")
        assert bounds.width <= 1e-9 * bounds.upper


def test_few_large_losses_among_many_small_ones():
    """The guess of epsilon once lay so far off that 70 % of it stayed open."""
    bounds = (hs.Laplace(0.1) * 3 + hs.Laplace(50.0) * 1000).epsilon_bounds(1e-6)
    assert bounds.width <= 1e-5 * bounds.upper
