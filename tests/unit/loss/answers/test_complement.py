"""1 - delta where delta is next to 1, and tests whose errors are both tiny, against mpmath and exact laws in balls."""

import math
import random

import mpmath as mp
import pytest
from flint import arb

import hockeystick as hs
import oracle
from hockeystick.loss.answers import complement
from hockeystick.loss.answers.complement import log1mexp_ends, log_complement
from hockeystick.loss.engines import driver
from hockeystick.loss.engines.driver import Contradiction, ContradictionWarning, log_delta_proof

mp.mp.dps = 60


def ends(release, epsilon, order="remove"):
    run = release._run(order)
    return log_complement(run, epsilon, log_delta_proof(run, epsilon).ends)


def holds(found, truth, width=1e-9):
    assert mp.mpf(found[0]) <= truth <= mp.mpf(found[1]), (found, truth)
    assert found[1] - found[0] < width


def powers(epsilon, count):
    """The law of `count` answers to randomised response: values, P, Q."""
    p = 1 / (1 + mp.exp(-mp.mpf(epsilon)))
    return [
        (
            (2 * k - count) * mp.mpf(epsilon),
            mp.binomial(count, k) * p**k * (1 - p) ** (count - k),
            mp.binomial(count, k) * p ** (count - k) * (1 - p) ** k,
        )
        for k in range(count + 1)
    ]


@pytest.mark.parametrize(("epsilon", "count"), [(3.0, 50), (0.7, 400), (20.0, 9), (0.05, 100_000)])
def test_randomised_response(epsilon, count):
    release = hs.RandomizedResponse(epsilon=epsilon) * count
    if count > 1000:  # the law by normalised ratios would be slow here: only that the ends meet and contain the other engine's
        found, plain = ends(release, 0.0), log_delta_proof(release._run("remove"), 0.0).ends
        assert found[1] - found[0] < 1e-6
        assert found[1] <= log1mexp_ends(plain[0])[1]
        return
    law = powers(epsilon, count)
    for share in (0.0, 0.2, 0.5):
        point = share * count * epsilon
        truth = mp.log(sum(p * min(mp.mpf(1), mp.exp(point - z)) for z, p, _ in law))
        holds(ends(release, point), truth, 1e-7)


@pytest.mark.parametrize("alpha", [1e-40, 1e-20, 1e-3, 0.5])
def test_neyman_and_pearson_for_randomised_response(alpha):
    """Both errors tiny; the randomised threshold test by hand."""
    law = powers(3.0, 50)
    left, missed = mp.mpf(alpha), mp.mpf(0)
    for _, p, q in reversed(law):
        share = min(mp.mpf(1), left / q)
        left -= share * q
        missed += (1 - share) * p
    found = (hs.RandomizedResponse(epsilon=3.0) * 50).tradeoff_bounds(alpha)
    assert mp.mpf(found.lower) <= missed * (1 + mp.mpf(10) ** -25)
    assert mp.mpf(found.upper) >= missed * (1 - mp.mpf(10) ** -25)
    assert found.width < 1e-8 * found.upper


@pytest.mark.parametrize(("scale", "count"), [(0.05, 3), (0.1, 6), (0.5, 8)])
def test_laplace_noise(scale, count):
    release = hs.Laplace(scale=scale) * count
    for share in (0.0, 0.3, 0.6):
        point = share * count / scale
        rest = (1 - oracle.laplace_delta(1.0 / scale, count, point)).log()
        found = ends(release, point)
        # 1/scale is a double in the library
        slack = arb(1e-13) * count / arb(scale)
        assert arb(found[0]) <= rest + slack
        assert arb(found[1]) >= rest - slack
        assert found[1] - found[0] < 1e-6


def single(q, sigma, epsilon):
    """1 - delta(epsilon) of one sampled Gaussian step, the mixture being P, in closed form."""
    q, sigma, x = mp.mpf(q), mp.mpf(sigma), mp.exp(epsilon)
    if x <= 1 - q:
        return x
    edge = mp.log((x - 1 + q) / q) * sigma**2 + mp.mpf(1) / 2  # where the loss is epsilon
    below = (1 - q) * mp.ncdf(edge / sigma) + q * mp.ncdf((edge - 1) / sigma)
    return below + x * mp.ncdf(-edge / sigma)


def joined(q, sigma, inner, epsilon):
    """1 - delta of one more such step: E inner(epsilon - L)."""
    q, sigma = mp.mpf(q), mp.mpf(sigma)

    def integrand(y):
        loss = mp.log(1 - q + q * mp.exp((2 * y - 1) / (2 * sigma**2)))
        density = (1 - q) * mp.npdf(y, 0, sigma) + q * mp.npdf(y, 1, sigma)
        return density * inner(epsilon - loss)

    corner = sigma**2 * mp.log((mp.exp(epsilon) / (1 - q) - 1 + q) / q) + mp.mpf(1) / 2  # of the inner one
    points = sorted({mp.mpf(k) / 8 for k in range(-10, 19)} | {corner})
    return mp.quad(integrand, points)


@pytest.mark.parametrize(("q", "sigma"), [(0.9, 0.12), (0.5, 0.15), (0.999, 0.1)])
def test_two_sampled_steps(q, sigma):
    release = hs.Gaussian(sigma=sigma).poisson(rate=q) * 2
    with mp.workdps(25):
        for epsilon in (0.0, 5.0):
            truth = joined(q, sigma, lambda x: single(q, sigma, x), mp.mpf(epsilon))
            found = ends(release, epsilon)
            assert found[0] <= mp.log(truth) * (1 - mp.mpf(10) ** -13)
            assert found[1] >= mp.log(truth) * (1 + mp.mpf(10) ** -13)
            assert found[1] - found[0] < 1e-6


def test_strong_noise_with_a_second_kind_of_part():
    release = hs.Gaussian(sigma=0.08) + hs.PureDP(epsilon=1.5)
    p = 1 / (1 + mp.exp(-mp.mpf("1.5")))
    mu = 1 / mp.mpf(0.08)

    def rest(x):
        return mp.ncdf(x / mu - mu / 2) + mp.exp(x) * mp.ncdf(-x / mu - mu / 2)

    for epsilon in (0.0, 10.0, 40.0):
        truth = mp.log(p * rest(epsilon - mp.mpf("1.5")) + (1 - p) * rest(epsilon + mp.mpf("1.5")))
        holds(ends(release, epsilon), truth)


def test_infinite_losses_add_nothing():
    release = hs.ApproxDP(epsilon=2.0, delta=0.25) * 60
    keep = mp.mpf("0.75") ** 60
    truth = mp.log(keep * sum(p * min(mp.mpf(1), mp.exp(10 - z)) for z, p, _ in powers(2.0, 60)))
    holds(ends(release, 10.0), truth)


@pytest.mark.parametrize("order", ["remove", "add", "add-or-remove"])
def test_a_sampled_run_with_two_tiny_errors(order):
    run = hs.Gaussian(sigma=1.0).poisson(rate=0.9) * 300
    found = run.tradeoff_bounds([1e-30, 1e-20, 1e-10], neighbours=order)
    assert (found.upper - found.lower <= 1e-8 * found.upper).all()
    for alpha, low, high in zip((1e-30, 1e-20, 1e-10), found.lower, found.upper, strict=True):
        back = run.tradeoff_bounds([low, high], neighbours={"remove": "add", "add": "remove"}.get(order, order))
        assert back.lower[1] <= alpha * (1 + 1e-12)  # f and its inverse
        assert back.upper[0] >= alpha * (1 - 1e-12)


def test_errors_below_every_double():
    found = (hs.Laplace(scale=0.05) * 50).tradeoff_bounds([1e-20, 0.5])
    assert (found.lower == 0.0).all()
    assert (found.upper < 1e-300).all()


def test_atoms_that_share_no_lattice_are_bounded():
    """By Chernoff, within a small factor of the truth."""
    run = hs.RandomizedResponse(epsilon=3.0) * 25 + hs.RandomizedResponse(epsilon=2.0) * 25
    found = run.tradeoff_bounds(1e-12)
    assert found.upper < 1e-12
    law = [(y + z, p * r) for y, p, _ in powers(3.0, 25) for z, r, _ in powers(2.0, 25)]
    left, missed = mp.mpf(1e-12), mp.mpf(0)
    for z, p in sorted(law, reverse=True):
        share = min(mp.mpf(1), left / (p * mp.exp(-z)))
        left -= share * p * mp.exp(-z)
        missed += (1 - share) * p
    assert found.lower <= missed <= found.upper


def test_the_bayes_risk_of_a_strong_run():
    release = hs.RandomizedResponse(epsilon=3.0) * 50
    law = powers(3.0, 50)
    for prior in (0.5, 0.01, 0.99):
        truth = sum(min(mp.mpf(prior) * p, (1 - mp.mpf(prior)) * q) for _, p, q in law)
        found = release.bayes_risk_bounds(prior)
        assert found.lower <= truth <= found.upper
        assert found.width < 1e-9 * found.upper


@pytest.mark.parametrize("log", [-1e-300, -1e-17, -1e-9, -0.3, -0.7, -5.0, -50.0, -800.0])
def test_the_logarithm_of_the_rest(log):
    found = log1mexp_ends(log)
    with mp.workdps(400):
        truth = mp.log1p(-mp.exp(mp.mpf(log)))
        assert found[0] <= truth <= found[1]
    assert log1mexp_ends(0.0) == (-math.inf, -math.inf)
    assert log1mexp_ends(-math.inf) == (0.0, 0.0)


def test_atoms_of_several_kinds_agree_with_what_is_known_of_delta():
    """A mixed run on no common lattice, where delta itself is known to six digits."""
    run = (
        hs.DiscreteLaplace(scale=3.6612121045655837, sensitivity=5) * 3
        + hs.ApproxDP(epsilon=4.105212896793585, delta=6.7e-12).poisson(rate=0.0021666902864705202) * 6
        + hs.DiscreteLaplace(scale=0.43464565118677173, sensitivity=5) * 29
    )
    for order in ("remove", "add"):
        for epsilon in (200.0, 250.0, 297.3850659174412, 310.0):
            known = log_delta_proof(run._run(order), epsilon).ends
            alone = log_complement(run._run(order), epsilon, (-math.inf, 0.0))
            assert alone[0] <= log1mexp_ends(known[0])[1]
            assert alone[1] >= log1mexp_ends(known[1])[0]


@pytest.mark.parametrize("seed", range(6))
def test_random_strong_responses(seed):
    """Two sizes of randomised response: the exact law in mpmath against both ends, and the other engine's ends."""
    rng = random.Random(seed)
    sizes = [(rng.uniform(0.2, 4.0), rng.randrange(1, 30)) for _ in range(2)]
    release = hs.compose([hs.RandomizedResponse(epsilon=size) * count for size, count in sizes])
    law = [(y + z, p * r) for y, p, _ in powers(*sizes[0]) for z, r, _ in powers(*sizes[1])]
    mean = sum(z * p for z, p in law)
    for share in (0.0, 0.3, 0.9):
        epsilon = float(mean) * share
        truth = mp.log(sum(p * min(mp.mpf(1), mp.exp(epsilon - z)) for z, p in law))
        found = log_complement(release._run("remove"), epsilon, (-math.inf, 0.0))
        assert mp.mpf(found[0]) <= truth <= mp.mpf(found[1])
        assert found[1] - found[0] < 0.05


def test_ends_that_contradict_each_other_are_found_under_test_and_survived_in_use(monkeypatch: pytest.MonkeyPatch):
    run = (hs.RandomizedResponse(epsilon=3.0) * 50)._run("remove")
    truth = log_complement(run, 0.0, (-math.inf, 0.0))
    monkeypatch.setattr(complement, "_on_lattices", lambda *given: (truth[1] + 2.0, truth[1] + 1.0))
    with pytest.raises(Contradiction):
        log_complement(run, 0.0, (-math.inf, 0.0))
    monkeypatch.setattr(driver, "STRICT", False)
    with pytest.warns(ContradictionWarning):
        found = log_complement(run, 0.0, (-math.inf, 0.0))
    assert found[0] == -math.inf
    assert found[1] >= truth[1]
