"""Sparse sampling by soft thresholds: its pieces and its answers against formulas at higher precision, and other engines."""

import json
import math
import random

import mpmath as mp
import numpy as np
import pytest
from scipy.special import ndtr

import hockeystick as hs
from hockeystick.loss.bigjump.cells import Thresholds, place
from hockeystick.loss.bigjump.coarse import CoarseStep
from hockeystick.loss.bigjump.guess import guess_epsilon, guess_log_delta
from hockeystick.loss.bigjump.split import BigJumpSplit, big_jump_epsilon, big_jump_log_delta
from hockeystick.loss.bigjump.thresholds import ThresholdGuide, is_sparse
from hockeystick.loss.bigjump.transform import ThresholdedStep
from hockeystick.loss.engines.bounded_part import beside_bounded
from hockeystick.loss.engines.driver import finite
from hockeystick.loss.engines.first import contour_epsilon, epsilon_question
from hockeystick.loss.lattice.refine import lattice_epsilon
from hockeystick.loss.protocol import Inconclusive
from hockeystick.loss.sampled.quadrature import SampledStep
from hockeystick.numerics.trapezoid import Cells
from places import DATA


@pytest.fixture(autouse=True)
def digits():
    before, mp.mp.dps = mp.mp.dps, 30
    yield
    mp.mp.dps = before


SHAPE, THRESHOLDS = SampledStep(0.8, 1e-5), Thresholds(0.02, 0.15, 0.0016, 0.0045)


def nodes(panels):
    """Gauss's rule on short panels of the noise: the weights of the normal law, and x."""
    place, weight = np.polynomial.legendre.leggauss(12)
    edges = np.linspace(-14.0, 22.0, panels + 1)
    half = 0.5 * (edges[1] - edges[0])
    z = (edges[:-1, None] + half * (1.0 + place)).ravel()
    normal = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    return np.tile(half * weight, panels) * normal, SHAPE.rate * np.expm1(z / SHAPE.noise - 0.5 / SHAPE.noise**2)


WEIGHT, X = nodes(12_000)


def integral(values):
    """Over the noise, of values at the nodes."""
    return (WEIGHT * values).sum()


def nu(x):
    return ndtr((x - THRESHOLDS.high) / THRESHOLDS.high_width)


def kept(x):
    return ndtr((THRESHOLDS.high - x) / THRESHOLDS.high_width)


def middle(x):
    """kappa - nu."""
    low = ndtr((x - THRESHOLDS.low) / THRESHOLDS.low_width) - nu(x)
    return np.where(x < 0.05, low, kept(x) - ndtr((THRESHOLDS.low - x) / THRESHOLDS.low_width))


def power(k, x):
    """e^{kL}, as far as it matters."""
    return np.exp(np.minimum(np.log1p(x), 700.0 / abs(k.real)) * k)


@pytest.fixture(scope="module")
def step():
    return ThresholdedStep(SHAPE, THRESHOLDS, 400.0, 0.0)


def test_large_outcomes_are_counted_rightly(step):
    """The thresholds and the noise at higher precision."""
    noise, rate = mp.mpf(SHAPE.noise), mp.mpf(SHAPE.rate)

    def share(z, power):
        x = rate * mp.expm1(z / noise - 1 / (2 * noise**2))
        return mp.npdf(z) * x**power * mp.ncdf((x - mp.mpf(THRESHOLDS.high)) / mp.mpf(THRESHOLDS.high_width))

    edge = place(SHAPE, THRESHOLDS.high)
    points = [-1, 4, *(edge + 0.1 * j for j in range(-6, 7)), edge + 2, edge + 6, edge + 12]
    for power, found in ((0, step.q), (1, step.drift)):
        true = mp.quad(lambda z, power=power, found=found: share(z, power) / mp.mpf(found), points, maxdegree=7)
        assert abs(true - 1) <= step.error < 1e-12


def test_sums_along_a_line_against_quadrature(step):
    found = step.values(201.0, 30.0, 200, -45.0)
    for j in (0, 1, 25, 90, 199):
        k = complex(201.0, 30.0 * j)
        grown = power(k, X)
        true = integral(kept(X) * (grown - 1.0 - k * X)) - integral(nu(X)) - k * integral(nu(X) * X)
        assert abs(true - found.excess[j]) <= found.excess_error[j] < 1e-9
        assert abs(integral(middle(X) * grown) - found.mid[j]) <= found.mid_error[j] < 1e-9


def test_bounds_on_the_real_axis(step):
    for k in (1.5, 30.0, 200.0, 400.0):
        grown, back = power(k, X), power(-k, X)
        true = integral(kept(X) * (grown - 1.0 - k * X)) - integral(nu(X)) - k * integral(nu(X) * X)
        assert true <= step.above(k) <= 4.0 * true + 1e-9
        assert integral(middle(X) * grown) <= step.middle_above(k) <= 4.0 * integral(middle(X) * grown) + 1e-9
        assert integral(back - 1.0 + k * X) <= step.reverse_above(k) <= 1.2 * integral(back - 1.0 + k * X) + 1e-12
        light, heavy = step.large_above(k, 0.1, 0.0)
        assert integral(nu(X)) <= light[-1]
        assert integral(nu(X) * back) * math.exp(0.1 * k) <= heavy[0]
        assert (np.diff(light) >= 0.0).all()
        assert (np.diff(heavy) <= 0.0).all()


def test_the_coarse_step_is_right_to_a_few_digits():
    coarse = CoarseStep(SHAPE, 1, 22.0, 0.0)
    for k in (1.5, 4.0, 12.0):  # whose integrand has died out at 22: it peaks at k over the noise
        assert coarse.remainder(np.array([k])).sum() == pytest.approx(integral(power(k, X) - 1.0 - k * X), rel=1e-3)
    sums = coarse.pieces(coarse.flat, np.zeros(1), THRESHOLDS.high, THRESHOLDS.high_width)[:, 0]
    assert sums == pytest.approx([integral(nu(X)), integral(nu(X) * X)], rel=1e-2)


def test_transforms_fall_as_proved(step):
    weight, x = WEIGHT, X
    ratio, u = np.log1p(x), np.array([100.0, 600.0, 1200.0, 2400.0])
    inside = weight * middle(x) * power(201.0, x)
    seen = np.array([abs((inside * np.exp(1j * one * ratio)).sum()) for one in u.tolist()])
    bound = step.log_modulus_above(201.0, u)
    assert (np.log(seen) <= bound).all()
    assert bound[-1] < bound[0] - 10.0
    whole = ThresholdedStep(SHAPE, Thresholds(0.0, THRESHOLDS.high, 0.0, THRESHOLDS.high_width), 400.0, 0.0)
    rest = weight * kept(x) * power(201.0, x)
    cells = Cells(100.0)
    fall = whole.spread_decay(201.0, 1.0 + whole.above(201.0), cells)[0]
    for left, right, one in list(zip(cells.left.tolist(), cells.right.tolist(), fall.tolist(), strict=True))[:40:3]:
        for point in (left, 0.5 * (left + right)):
            assert -math.log(abs((rest * np.exp(1j * point * ratio)).sum()) / rest.sum()) >= one
    assert fall.max() > 1e-6


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


def test_thresholds_are_ordered():
    """What is large is never small."""
    for rate, sigma, steps, epsilon, log_delta in (
        (1e-3, 0.5, 100, 3.1, -14.0),
        (0.02, 1.0, 5, 0.4, -12.0),
        (1e-5, 1.0, 10**4, 0.1, -60.0),
    ):
        thresholds = ThresholdGuide((hs.Gaussian(sigma).poisson(rate) * steps)._run("remove"), epsilon, log_delta).thresholds
        if thresholds.low:
            assert thresholds.low_width <= thresholds.high_width
            assert (rate + thresholds.low) / thresholds.low_width <= (rate + thresholds.high) / thresholds.high_width


def test_what_cannot_be_parted_is_refused():
    run = (hs.Gaussian(1.0).poisson(0.1) * 10)._run("add")
    assert not is_sparse(run)
    with pytest.raises(Inconclusive):
        big_jump_log_delta(run, 1.0)
    sparse = (hs.Gaussian(1.0).poisson(1e-4) * 10)._run("remove")
    for epsilon, log_delta in ((1e-9, -5.0), (0.1, -1e4), (1e5, -5.0)):
        with pytest.raises(Inconclusive):
            ThresholdGuide(sparse, epsilon, log_delta)


def test_additions_of_sparse_samples_are_narrow():
    for rate, sigma, steps, delta in ((1e-6, 1.2, 10**7, 1e-30), (1e-5, 0.8, 10**6, 1e-12), (1e-5, 0.5, 10**5, 1e-12)):
        bounds = (hs.Gaussian(sigma).poisson(rate) * steps).epsilon_bounds(delta, neighbours="add")
        assert bounds.width <= 1e-9 * bounds.upper


def test_few_large_losses_among_many_small_ones():
    """The guess of epsilon once lay so far off that 70 % of it stayed open."""
    bounds = (hs.Laplace(0.1) * 3 + hs.Laplace(50.0) * 1000).epsilon_bounds(1e-6)
    assert bounds.width <= 1e-5 * bounds.upper


def test_one_big_jump_is_a_good_guess() -> None:
    """Within a tenth where the engine is asked; no guess for losses of other kinds."""
    for rate, sigma, steps, delta in (
        (2e-4, 1.0, 1200, 2e-9),
        (5e-4, 2.4, 400, 2e-11),
        (1e-3, 0.6, 100, 1e-30),
        (1e-5, 0.8, 10**5, 1e-7),
    ):
        release = hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps
        run, truth = release._run("remove"), release.epsilon(delta, neighbours="remove")
        assert guess_epsilon(run, math.log(delta)) == pytest.approx(truth, rel=0.12)
        assert guess_log_delta(run, truth) == pytest.approx(math.log(delta), rel=0.2)
    for release in (hs.Laplace(scale=2.0) * 5, hs.Gaussian(sigma=2.0) * 3):
        assert guess_epsilon(release._run("remove"), -20.0) is None
        assert guess_log_delta(release._run("remove"), 1.0) is None


BESIDE = {  # Laplace steps beside sampled ones, and how wide the interval was
    "an added record, one Laplace step (1.6e-4)": (2.1e-6, 11.14, 106, 6.8e-8, 3.13, 1),
    "an added record, six (5e-4)": (6.1e-6, 1.29, 75, 5.2e-9, 57.2, 6),
    "many tiny steps, a long contour (1.9e-5)": (2.93e-6, 12.5, 1256773, 0.0128, 55.1, 29),
    "very many, few of which matter (8e-3)": (3.24e-6, 36.2, 737051601, 3.4e-5, 0.5605, 19),
}


@pytest.mark.parametrize("name", BESIDE)
def test_laplace_steps_beside_sampled_ones_are_told_closely(name: str) -> None:
    rate, sigma, steps, delta, scale, count = BESIDE[name]
    release = hs.Gaussian(sigma=sigma).poisson(rate=rate) * steps + hs.Laplace(scale=scale) * count
    both, removed = release.epsilon_bounds(delta), release.epsilon_bounds(delta, neighbours="remove")
    assert both.width <= 1e-9 * both.upper
    assert removed.lower <= both.upper
    back = release.log_delta_bounds(both.upper)
    assert back.lower <= math.log(delta) + 1e-12


def test_responses_beside_sampled_discrete_noise_beyond_their_largest_sum() -> None:
    """Where a lattice's rounding hides the answer (1e-2): the chance of being one response below the largest sum is counted."""
    run = (
        hs.RandomizedResponse(epsilon=0.0317, categories=6) * 35
        + hs.DiscreteGaussian(sigma=16.0, sensitivity=5).poisson(rate=5.5e-4) * 3
    )
    found = run.epsilon_bounds(delta=1.06e-43, neighbours="remove")
    assert found.lower > 35 * 0.0317
    assert found.width < 1e-5 * found.upper


def finite_epsilon(run, log_delta: float) -> tuple[float, float]:
    return finite(run, epsilon_question(log_delta)).ends


def test_bounded_losses_apart_bound_epsilon_from_both_sides() -> None:
    """The largest sum of some losses and epsilon of the others, whatever they are; a lattice tells the truth."""
    rng = random.Random(8)
    for _ in range(25):
        release = hs.Gaussian(sigma=10 ** rng.uniform(-0.3, 1.0)).poisson(rate=10 ** rng.uniform(-4, -0.5)) * rng.randint(1, 100)
        release += hs.Laplace(scale=10 ** rng.uniform(-0.5, 1.5)) * rng.randint(1, 6)
        log_delta = rng.uniform(-30.0, -1.0)
        for neighbours in ("add", "remove"):
            run = release._run(neighbours)
            truth = lattice_epsilon(run, log_delta, 1e-13)
            for known in (0.0, math.inf) if log_delta < -20.0 else (0.0,):
                low, high = beside_bounded(run, log_delta, finite_epsilon, known)
                assert low <= truth[1]
                assert high >= truth[0]
    assert beside_bounded((hs.Laplace(scale=1.0) * 3)._run("add"), -5.0, finite_epsilon) == (0.0, math.inf)


@pytest.mark.parametrize(
    ("bounded", "delta", "truth"),
    [
        (hs.RandomizedResponse(epsilon=300.0), 1 - 5e-10, 303.73626),
        (hs.RandomizedResponse(epsilon=300.0), 1 - 1e-11, 295.92711),
        (hs.RandomizedResponse(epsilon=400.0).poisson(rate=0.25), 0.249999999875, 402.34997),
        (hs.RandomizedResponse(epsilon=400.0).poisson(rate=0.25), 0.24999999999975, 390.23891),
    ],
)
def test_bounded_losses_that_are_all_but_sure(bounded: hs.RandomizedResponse, delta: float, truth: float) -> None:
    """delta over the probability of the largest loss is next to 1: no lower end may be taken for that of a smaller delta."""
    found = (hs.Gaussian(sigma=1 / 13.0) + bounded).epsilon_bounds(delta, neighbours="remove")
    assert found.lower <= truth + 1e-5
    assert found.upper >= truth - 1e-5
