"""The tilted lattice: its answers against exact sums and the other engine."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from flint import arb, ctx

import hockeystick as hs
from hockeystick.loss.composed import ComposedLoss
from hockeystick.loss.lattice.lattice import Lattice
from hockeystick.loss.lattice.plan import Plan
from hockeystick.loss.lattice.refine import lattice_epsilon, lattice_log_delta
from hockeystick.loss.pairs.atomic import AtomicLoss
from hockeystick.loss.pairs.discrete import ResponseLoss, ShiftLoss, TabulatedLoss
from hockeystick.loss.pairs.gaussian import GaussianLoss, gaussian_log_delta
from samples import DISCRETE, DRAWN, SAMPLED, UNSAMPLED


@pytest.fixture(autouse=True)
def bits():
    """Balls of many bits, for this file only."""
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


def brute(loss: AtomicLoss, count: int, epsilon: Fraction) -> Fraction:
    """delta(epsilon) of a small pair by adding up every outcome; logarithms are of exact fractions."""
    z, log_p, _, _, _ = loss.atoms
    outcomes = {(): Fraction(1)}
    for _ in range(count):
        outcomes = {
            tuple(sorted((*seen, place))): sum(
                mass * Fraction(math.exp(p))
                for other, mass in outcomes.items()
                for q, p in enumerate(log_p)
                if tuple(sorted((*other, q))) == tuple(sorted((*seen, place)))
            )
            for seen in outcomes
            for place in range(z.size)
        }
    total = Fraction(0)
    for seen, mass in outcomes.items():
        loss_sum = sum(float(z[place]) for place in seen)
        if loss_sum > epsilon:
            total += mass * Fraction(-math.expm1(float(epsilon) - loss_sum))
    return total


@pytest.mark.parametrize(
    "loss",
    [
        ResponseLoss(0.7),
        ResponseLoss(0.7, 5),
        ShiftLoss(1.0, 0.3),
        TabulatedLoss(
            (
                (-0.31, math.log(0.25), math.log(0.25) + 0.31),
                (0.17, math.log(0.6), math.log(0.6) - 0.17),
                (1.02, math.log(0.15), math.log(0.15) - 1.02),
            )
        ),
    ],
    ids=["two-point", "three-point", "shifted", "off-lattice"],
)
@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("epsilon", [0.0, 0.2, 0.65])
def test_two_and_three_point_pairs(loss, count, epsilon):
    run = ComposedLoss(((loss, count),))
    low, high = lattice_log_delta(run, epsilon)
    truth = brute(loss, count, Fraction(epsilon))
    if truth == 0:
        assert low == -math.inf
        return
    value = math.log(truth)
    assert low - 1e-13 <= value <= high + 1e-13
    assert high - low <= 1e-4


BOTH = {
    name: run
    for name, run in {**UNSAMPLED, **SAMPLED}.items()
    if name not in ("gaussian", "gdp", "rate-one", "gaussian-wide", "allocated")  # which no lattice answers
}


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("delta", [1e-3, 1e-8, 1e-20])
def test_the_engines_agree(name, delta):
    """Closed form or contour, and the lattice: their intervals overlap."""
    for order in ("remove", "add"):
        here = BOTH[name].epsilon_bounds(delta, order)
        low, high = lattice_epsilon(BOTH[name]._run(order), math.log(delta), 1e-14)
        assert max(low, 0.0) <= here.upper
        assert here.lower <= max(high, 0.0)


@pytest.mark.parametrize("name", [*DISCRETE, *DRAWN])
def test_widths(name):
    release = {**DISCRETE, **DRAWN}[name]
    for delta in (1e-2, 1e-5, 1e-7):
        low, high = release.epsilon_bounds(delta)
        native = name in ("response", "response-many", "response-categories", "discrete-gaussian", "discrete-laplace", "pure")
        assert high - low <= (1e-9 * high + 1e-12 if native else 1e-5 * high + 1e-9)


def walk(values, build):
    """The intervals along a walk; epsilon falls along it."""
    found = [build(value) for value in values]
    for before, after in pairwise(found):
        assert after.lower <= before.upper  # falls, as far as the intervals know
    return found


def test_no_jump_along_the_number_of_steps():
    for step in (hs.Gaussian(sigma=1.0).poisson(rate=0.01), hs.Laplace(scale=2.0), hs.Gaussian(sigma=0.6).poisson(rate=1e-3)):
        found = walk(range(64, 0, -3), lambda count, step=step: (step * count).epsilon_bounds(1e-6))
        assert max(bounds.width / bounds.upper for bounds in found) < 1e-5


def test_no_jump_along_the_rate_the_noise_and_delta():
    walk(np.geomspace(0.3, 1e-3, 9), lambda rate: (hs.Gaussian(sigma=1.0).poisson(rate=rate) * 20).epsilon_bounds(1e-6))
    walk(np.geomspace(0.4, 8.0, 9), lambda sigma: (hs.Gaussian(sigma=sigma).poisson(rate=0.02) * 50).epsilon_bounds(1e-6))
    walk(np.geomspace(1e-14, 0.05, 12), lambda delta: (hs.Gaussian(sigma=0.8).poisson(rate=0.01) * 60).epsilon_bounds(delta))
    walk(np.geomspace(1e-12, 0.05, 12), lambda delta: (hs.Laplace(scale=1.5) * 7).epsilon_bounds(delta))


PEER = [  # single steps in closed form, as dp_accounting's own tests have them: (release, relation, epsilon, delta)
    (hs.Laplace(2.0, sensitivity=4.0), "add", 0.5, 0.52763345),
    (hs.Laplace(1.0), "remove", -2.0, 0.86466472),
    (hs.Laplace(2.0, sensitivity=4.0).poisson(0.8), "add", 0.5, 0.3243606497234246),
    (hs.Laplace(1.0).poisson(0.6), "add", 0.2, 0.1401134521354217),
    (hs.Laplace(2.0, sensitivity=4.0).poisson(0.8), "remove", 0.5, 0.4039564635032081),
    (hs.Laplace(1.0).poisson(0.6), "remove", 0.2, 0.1741992102060086),
    (hs.Laplace(5.0, sensitivity=5.0).poisson(0.2), "remove", -0.25, 0.2211992169285951),
    (hs.Laplace(1.0).poisson(0.2), "add", 0.1, 0.01879989609),
    (hs.DiscreteLaplace(2.0, sensitivity=4), "add", 0.5, 0.54202002),
    (hs.DiscreteLaplace(2.0, sensitivity=4), "remove", -0.5, 0.72222110),
    (hs.DiscreteLaplace(2.0, sensitivity=4).poisson(0.7), "add", 0.5, 0.2293628348747755),
    (hs.DiscreteLaplace(2.0, sensitivity=4).poisson(0.6), "add", 0.6, 0.07668344250639381),
    (hs.DiscreteLaplace(2.0, sensitivity=4).poisson(0.7), "remove", 0.5, 0.3523838505224567),
    (hs.DiscreteLaplace(2.0, sensitivity=4).poisson(0.3), "remove", 0.5, 0.1068168460276349),
]


@pytest.mark.parametrize(("release", "relation", "epsilon", "delta"), PEER, ids=str)
def test_single_steps_that_a_peer_knows_in_closed_form(release, relation, epsilon, delta):
    low, high = release.delta_bounds(epsilon, relation)
    assert low == pytest.approx(delta, abs=2e-8)
    assert high == pytest.approx(delta, abs=2e-8)


def test_claims_of_the_literature():
    assert (hs.PureDP(1.0) * 100).epsilon(1e-5) == pytest.approx(79.84132, abs=5e-6)
    assert (hs.PureDP(0.1) * 1000).epsilon(1e-6) == pytest.approx(19.344671448, abs=5e-10)
    assert (hs.PureDP(2.0) * 50).epsilon(1e-5) == pytest.approx(99.99428, abs=5e-6)
    ends = (hs.Exponential(1.0) * 10).epsilon_bounds(1e-5)
    assert ends.lower == pytest.approx(7.105, abs=5e-4)
    assert ends.upper == pytest.approx(7.245, abs=5e-4)
    assert not ends.tight


def test_infinite_masses_are_decided_exactly():
    claim = hs.ApproxDP(0.1, 1e-8)
    assert claim.epsilon_bounds(1e-8) == hs.Bounds(0.1, 0.1)
    assert claim.epsilon(math.nextafter(1e-8, 0.0)) == math.inf
    assert claim.epsilon(0.0) == math.inf
    assert claim.epsilon(math.nextafter(1e-8, 1.0)) <= 0.1
    twice = 2e-8 - 1e-16
    assert (claim * 2).epsilon(twice * (1.0 + 1e-15)) < 0.21
    assert (claim * 2).epsilon(twice * (1.0 - 1e-15)) == math.inf
    assert (claim * 10**6).epsilon(0.009) == math.inf
    assert (claim * 10**6).epsilon(0.02) < math.inf
    assert (hs.ApproxDP(0.0, 1e-3) * 3).epsilon(3e-3) == 0.0
    assert claim.poisson(0.5).epsilon(5e-9, "remove") < 0.1
    assert claim.rdp(2.0) == math.inf


def test_the_finite_part_is_not_mistaken_for_the_whole():
    """Bounds of the whole delta once leaked into its finite part."""
    assert (hs.PureDP(5.0) + hs.ApproxDP(1e-12, 0.5) * 20).epsilon_bounds(0.9999995231628418).lower <= 4.3001
    assert (hs.ApproxDP(1.0, 0.5) * 2).log_delta_bounds(0.5).lower <= -0.158059628209107104
    assert (hs.Gaussian(0.05) + hs.ApproxDP(0.01, 0.2)).log_delta_bounds(1.0).lower < 0.0
    assert (hs.ApproxDP(0.46, 4.4e-09) * 756).log_delta_bounds(-40.0).lower < 0.0


@pytest.mark.parametrize(("epsilon", "rate", "steps", "at"), [(25.0, 1.0 - 1e-10, 3, 60.0), (30.0, 1.0 - 2.0**-50, 2, 40.0)])
@pytest.mark.parametrize("order", ["remove", "add"])
def test_rates_next_to_one(epsilon, rate, steps, at, order):
    """Where log(1 - q + q e^z) must not be taken of a difference."""
    big, q = arb(epsilon).exp(), arb(rate)
    present, absent = [big / (1 + big), 1 / (1 + big)], [1 / (1 + big), big / (1 + big)]
    mixed = [(1 - q) * b + q * a for a, b in zip(present, absent, strict=True)]
    p, r = (mixed, absent) if order == "remove" else (absent, mixed)
    total = arb(0)
    for k in range(steps + 1):
        loss = k * (p[0] / r[0]).log() + (steps - k) * (p[1] / r[1]).log()
        if loss > at:
            total += math.comb(steps, k) * p[0] ** k * p[1] ** (steps - k) * (1 - (arb(at) - loss).exp())
    low, high = (hs.PureDP(epsilon).poisson(rate) * steps).log_delta_bounds(at, order)
    assert low <= total.log() <= high


@pytest.mark.parametrize(("epsilon", "steps", "at"), [(0.02, 123_456_789, 60_000.0), (0.5, 10**8, 1.3e7)])
def test_enormous_counts_at_tiny_deltas(epsilon, steps, at):
    """Binomial tails in balls, summed from their largest term; log delta is below -12,000."""
    big = arb(epsilon).exp()
    first = math.floor((at / epsilon + steps) / 2) + 1

    def tail(p: arb) -> arb:
        log = arb(steps + 1).lgamma() - arb(first + 1).lgamma() - arb(steps - first + 1).lgamma()
        term = (log + first * p.log() + (steps - first) * (1 - p).log()).exp()
        total, place = arb(0), first
        while term > total * arb(2) ** -120 or place == first:
            total += term
            term *= (arb(steps - place) / (place + 1)) * (p / (1 - p))
            place += 1
        return total + term * 4

    truth = (tail(big / (1 + big)) - arb(at).exp() * tail(1 / (1 + big))).log()
    low, high = (hs.PureDP(epsilon) * steps).log_delta_bounds(at)
    assert low <= truth <= high
    assert high - low < 1e-8 * abs(high)


def test_what_underflows_proves_nothing() -> None:
    """Q(S >= t) that underflowed to 0 once made the lower end infinite; the truth is 3367501.2557 (balls, tests/oracle.py)."""
    run = hs.Gaussian(sigma=0.060547610575654345).poisson(rate=1.2547336580509627e-05) * 1703422824
    for neighbours, truth in (("remove", 3367501.255689308), ("add-or-remove", 3367501.255689308)):
        bounds = run.epsilon_bounds(8.46986838828992e-303, neighbours=neighbours)
        assert bounds.lower <= truth <= bounds.upper
    added = run.epsilon_bounds(8.46986838828992e-303, neighbours="add")
    assert added.lower < added.upper


@pytest.mark.parametrize(("mu", "centre", "log_delta"), [(50.0, 2650.0, -690.0), (60.0, 3300.0, -650.0), (80.0, 5440.0, -650.0)])
def test_far_right_of_the_centre_nothing_underflows(mu: float, centre: float, log_delta: float) -> None:
    """Sums over long stretches were divided by numbers as small as e^-500, after what they lost."""
    run = ComposedLoss(((GaussianLoss(mu * mu), 1),))
    plan = Plan.of(run, centre, log_delta, 12.0)
    found = Lattice(run, plan, max(1 << 13, plan.least_size))
    _, high = found.epsilon(log_delta, 0.0)
    assert gaussian_log_delta(mu, high).low <= log_delta
    for epsilon in (centre, centre + 0.5 * (high - centre), high):
        low, upper = found.log_delta(epsilon)
        truth = gaussian_log_delta(mu, epsilon)
        assert low <= truth.high
        assert upper >= truth.low


def test_two_steps_of_little_noise_at_a_tiny_delta() -> None:
    """log delta at 9844.0327 is -556.4180273230044 (an integral over the first step with 320 digits): more than what is asked."""
    run = hs.Gaussian(sigma=0.012618830165546536).poisson(rate=1.611323004785299e-08) * 2
    found = run.epsilon_bounds(9.048810485352865e-259, neighbours="remove")
    assert found.upper > 9844.0327
    back = run.log_delta_bounds(9844.0327, neighbours="remove")
    assert back.lower <= -556.4180273230044 <= back.upper
    assert found.width < 1e-5 * found.upper


def test_two_large_steps_of_a_sparse_run_are_told_from_below() -> None:
    """Tilted, the lowest cell held all that lies below it, as if it were as large as the cell; the lower end was 504.57."""
    run = hs.Gaussian(sigma=0.093).poisson(rate=4.7e-7) * 2
    found = run.epsilon_bounds(3e-283, neighbours="remove")
    assert found.lower <= 620.1060130039884 <= found.upper  # an integral over the first step with 340 digits
    assert found.width < 5e-6 * found.upper


def test_a_step_shorter_than_asked_for_does_not_cut_the_window():
    """The losses of a sparsely sampled response lie close together: were the lattice laid on them, it would be too short."""
    heavy = hs.Gaussian(sigma=0.4, sensitivity=3.2).poisson(rate=1.4e-4) * 27
    run = (
        heavy + hs.RandomizedResponse(epsilon=0.83).poisson(rate=5.8e-4) * 17 + hs.DiscreteLaplace(scale=11.4).poisson(rate=8e-4)
    )
    found, least = run.epsilon_bounds(delta=3.1e-5), heavy.epsilon_bounds(delta=3.1e-5)
    assert least.lower <= found.upper
    assert found.upper - found.lower < 1e-5 * found.upper


def test_three_mechanisms_are_told_as_closely_as_one():
    sampled = hs.DiscreteGaussian(sigma=13.1, sensitivity=2).poisson(rate=0.045) * 21
    run = sampled + hs.DiscreteGaussian(sigma=7.3, sensitivity=5) * 16 + hs.DiscreteGaussian(sigma=7.4) * 2
    found = run.delta_bounds(epsilon=7.31, neighbours="remove")
    assert found.upper - found.lower < 1e-9


def test_few_different_sums_are_listed_whatever_the_number_of_steps():
    run = hs.RandomizedResponse(epsilon=0.19).poisson(rate=0.0156) * 3 + hs.DiscreteLaplace(scale=1.88, sensitivity=2) * 38
    found = run.tradeoff_bounds(1.3e-5, neighbours="add")
    assert found.upper - found.lower < 1e-10
