"""Trade-off curves and what an attacker can do with them."""

import math
import random
from itertools import combinations, pairwise

import mpmath
import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

import hockeystick as hs
from hockeystick import conversion
from hockeystick.conversion._kernels.chords import lowest
from hockeystick.loss.answers import tradeoff
from hockeystick.loss.answers.gdp import profile_ends
from hockeystick.numerics.rounding import down, up

DPSGD = hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 1000
LAPLACE = hs.Laplace(scale=1.0)
RUNS = {
    "dp-sgd": DPSGD,
    "laplace": LAPLACE,
    "response": hs.RandomizedResponse(epsilon=0.3) * 40,
    "discrete": hs.DiscreteGaussian(sigma=2.0) * 3,
    "sampled response": hs.RandomizedResponse(epsilon=1.0).poisson(rate=0.3) * 5,
    "mixed": hs.Gaussian(sigma=2.0) * 3 + hs.Laplace(scale=3.0) * 4,
    "approximate": hs.ApproxDP(epsilon=0.5, delta=1e-3) * 3,
}


# truths


@pytest.mark.parametrize("mu", [0.01, 0.5, 2.0, 8.0, 40.0])
@pytest.mark.parametrize("alpha", [1e-30, 1e-3, 0.2, 0.5, 0.97])
def test_gaussian_noise(mu, alpha):
    ctx.prec = 300
    mpmath.mp.prec = 300
    start = 0.0 if alpha > 0.1 else 3.0
    t = mpmath.findroot(lambda x: mpmath.log(mpmath.erfc(x / mpmath.sqrt(2)) / 2) - mpmath.log(alpha), start)
    beta = mpmath.erfc((mu - t) / mpmath.sqrt(2)) / 2
    bounds = hs.GDP(mu=mu).tradeoff_bounds(alpha)
    assert bounds.lower <= beta <= bounds.upper
    assert bounds.width <= 1e-11 * bounds.upper or bounds.upper < 1e-300
    power = hs.GDP(mu=mu).tpr_bounds(alpha)
    assert power.lower <= 1 - beta <= power.upper
    assert power.width <= 1e-11 * power.upper


@pytest.mark.parametrize("alpha", [1e-12, 1e-3, 0.05, 0.3, 0.5, 0.8, 1.0 - 1e-6])
def test_laplace_noise(alpha):
    """f of Laplace noise at distance 1: 1 - e alpha, then e^-1 / (4 alpha), then e^-1 (1 - alpha)."""
    ctx.prec = 200
    a = arb(alpha)
    if alpha < math.exp(-1) / 2:
        truth = 1 - arb(1).exp() * a
    elif alpha <= 0.5:
        truth = arb(-1).exp() / (4 * a)
    else:
        truth = arb(-1).exp() * (1 - a)
    bounds = LAPLACE.tradeoff_bounds(alpha)
    assert arb(bounds.lower) <= truth
    assert arb(bounds.upper) >= truth
    assert bounds.width < 1e-9 * bounds.upper


@pytest.mark.parametrize("alpha", [0.0, 1e-9, 1e-3, 0.3, 0.7, 1.0])
def test_a_claim_is_its_own_curve(alpha):
    claim = hs.ApproxDP(epsilon=0.7, delta=1e-2)
    bounds = claim.tradeoff_bounds(alpha)
    truth = conversion.approx_tradeoff(0.7, 1e-2, alpha)
    assert bounds.lower <= truth + 1e-15
    assert bounds.upper >= truth
    assert bounds.width < 1e-10


def test_tiny_errors_have_relative_accuracy():
    bounds = DPSGD.tradeoff_bounds(1.0 - 1e-9)
    assert 0.0 < bounds.width < 1e-8 * bounds.upper
    power = DPSGD.tpr_bounds(1e-15)
    assert 0.0 < power.width < 1e-8 * power.upper
    strong = (hs.Gaussian(sigma=1.0) * 400 + hs.Laplace(scale=50.0)).tradeoff_bounds(0.5)
    assert strong.upper < 1e-80
    assert strong.width < 1e-8 * strong.upper


# duality


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("relation", ["remove", "add", "add-or-remove"])
def test_curve_and_profile_are_duals(name, relation):
    run = RUNS[name]
    alphas = np.array([1e-6, 1e-2, 0.4, 0.95])
    bounds = run.tradeoff_bounds(alphas, neighbours=relation)
    epsilons = np.array([-2.0, -0.5, 0.0, 0.3, 1.0, 3.0])
    upper = run.delta(epsilons, neighbours=relation)
    for alpha, low, high in zip(alphas, *bounds, strict=True):
        assert low <= high
        assert (1.0 - upper - np.exp(epsilons) * alpha <= high + 1e-12).all()  # every line is below the curve
        assert high - low < 1e-9
    for epsilon, delta in zip(epsilons, upper, strict=True):  # every test is below the profile
        assert (1.0 - bounds.upper - math.exp(epsilon) * alphas).max() <= delta + 1e-12


@pytest.mark.parametrize(
    "run", [hs.Laplace(scale=2.5) * 36, hs.DiscreteGaussian(sigma=2.0).poisson(rate=0.1) * 30, hs.Laplace(1.0).poisson(0.2) * 20]
)
@pytest.mark.parametrize(("relation", "other"), [("remove", "add"), ("add", "remove")])
def test_duals_on_a_lattice(run, relation, other):
    """The curve is the largest line under the profile, to nine decimal places, where neither is known in closed form."""
    alpha, epsilons = 0.05, np.linspace(-3.0, 6.0, 19)

    def line(epsilon):
        if epsilon >= 0.0:
            return 1.0 - run.delta(epsilon, neighbours=relation) - math.exp(epsilon) * alpha
        return math.exp(epsilon) * (1.0 - alpha - run.delta(-epsilon, neighbours=other))

    about = 1.0 - run.delta(epsilons, neighbours=relation) - np.exp(epsilons) * alpha
    best = float(epsilons[about.argmax()])
    found = minimize_scalar(lambda e: -line(e), bounds=(best - 0.6, best + 0.6), method="bounded", options={"xatol": 1e-5})
    assert -found.fun == pytest.approx(run.tradeoff(alpha, neighbours=relation), abs=1e-9)


@pytest.mark.parametrize("relation", ["remove", "add"])
@pytest.mark.parametrize("alpha", [0.015, 0.02, 0.2, 0.58])
def test_tiny_losses_of_two_values(relation, alpha):
    """The curve has two corners, closer to 0 than a search would look."""
    bounds = hs.PureDP(epsilon=0.312).poisson(rate=4.8e-4).tradeoff_bounds(alpha, neighbours=relation)
    assert bounds.width < 1e-12


@pytest.mark.parametrize("name", ["dp-sgd", "laplace", "discrete"])
def test_the_profile_is_found_again(name):
    """delta(eps) = max over alpha of 1 - f(alpha) - e^eps alpha, to 1e-9."""
    run = RUNS[name]
    for relation in ("remove", "add"):
        for epsilon in (0.1,) if name == "dp-sgd" else (0.1, 1.0):
            found = conversion.tradeoff_to_delta(lambda alpha: run.tradeoff(alpha, neighbours=relation), epsilon)  # noqa: B023
            bounds = run.delta_bounds(epsilon, neighbours=relation)
            assert found >= bounds.lower
            assert found <= bounds.upper + 1e-9


def test_add_is_the_inverse_of_remove():
    for alpha in (1e-4, 0.01, 0.3, 0.8):
        there = DPSGD.tradeoff_bounds(alpha, neighbours="remove")
        back = DPSGD.tradeoff_bounds(there.upper, neighbours="add")
        assert back.lower <= alpha * (1 + 1e-9)
        assert back.upper >= alpha * (1 - 1e-8)


def test_the_hull_is_below_both_orders():
    for alpha in (1e-4, 0.05, 0.4, 0.9):
        whole = DPSGD.tradeoff(alpha)
        assert whole <= DPSGD.tradeoff(alpha, neighbours="remove") + 1e-12
        assert whole <= DPSGD.tradeoff(alpha, neighbours="add") + 1e-12


def test_the_mu_curve_is_below():
    run = hs.DiscreteLaplace(scale=2.0) * 3
    mu = run.mu()
    alphas = np.linspace(0.01, 0.99, 15)
    assert (conversion.gdp_tradeoff(mu, alphas) <= run.tradeoff_bounds(alphas).upper).all()


@settings(max_examples=15, deadline=None)
@given(st.floats(1e-6, 0.999), st.floats(1e-6, 0.999))
def test_curves_fall_and_are_convex(a, b):
    run = RUNS["mixed"]
    low, high = sorted((a, b))
    middle = 0.5 * (low + high)
    left, centre, right = (run.tradeoff_bounds(alpha) for alpha in (low, middle, high))
    assert right.lower <= left.upper
    assert centre.lower <= 0.5 * (left.upper + right.upper)
    assert centre.lower <= 1.0 - middle


# the ends


def test_the_ends_of_the_curve():
    assert LAPLACE.tradeoff([0.0, 1.0]).tolist() == [1.0, 0.0]
    assert LAPLACE.tpr([0.0, 1.0]).tolist() == [0.0, 1.0]
    failing = hs.ApproxDP(epsilon=0.5, delta=0.25)
    assert failing.tpr_bounds(0.0).lower <= 0.25 <= failing.tpr(0.0) < 0.25 + 1e-15
    blind = hs.compose([])
    assert blind.tradeoff(0.3) == pytest.approx(0.7)
    assert hs.Profile(lambda e: 0.1 if e < 1.0 else 0.0).tradeoff_bounds(0.0).upper == 1.0


def test_shapes():
    assert isinstance(LAPLACE.tradeoff(0.1), float)
    assert LAPLACE.tradeoff([[0.1, 0.2]]).shape == (1, 2)
    assert isinstance(LAPLACE.posterior(0.5, 0.1), float)
    assert LAPLACE.posterior([0.1, 0.5], [[0.1], [0.2], [0.3]]).shape == (3, 2)
    assert LAPLACE.bayes_risk([0.1, 0.5]).shape == (2,)


# what an attacker gains


@pytest.mark.parametrize("prior", [1e-6, 0.5, 1 - 1e-6])
@pytest.mark.parametrize("relation", ["add-or-remove", "remove"])
def test_bayes_risk_is_the_best_point_of_the_curve(prior, relation):
    bounds = DPSGD.bayes_risk_bounds(prior, neighbours=relation)
    alphas = np.concatenate((np.geomspace(1e-9, 0.1, 8), np.linspace(0.15, 1.0, 9)))
    risks = prior * DPSGD.tradeoff_bounds(alphas, neighbours=relation).upper + (1 - prior) * alphas
    assert bounds.lower <= bounds.upper <= min(prior, 1 - prior) * (1 + 1e-12)
    assert risks.min() >= bounds.lower
    assert risks.min() <= bounds.upper + 0.05 * min(prior, 1 - prior)


def test_bayes_risk_of_gaussian_noise():
    assert hs.GDP(mu=2.0).bayes_risk(0.5) == pytest.approx(0.15865525393145707, rel=1e-12)
    assert hs.GDP(mu=2.0).bayes_risk(0.0) == hs.GDP(mu=2.0).bayes_risk(1.0) == 0.0


def test_posterior():
    tpr = DPSGD.tpr(1e-3)
    assert DPSGD.posterior(0.5, 1e-3) == pytest.approx(tpr / (tpr + 1e-3), rel=1e-12)
    assert DPSGD.posterior(0.0, 1e-3) == 0.0
    assert DPSGD.posterior(1.0, 1e-3) == 1.0
    assert DPSGD.posterior(0.5, 0.0) == 1.0  # the limit of small rates: the likelihood ratio has no end
    assert hs.ApproxDP(epsilon=0.5, delta=0.25).posterior(0.5, 0.0) == 1.0
    pure = hs.PureDP(epsilon=1.0)
    assert pure.posterior(0.5, 0.05) == pytest.approx(math.e / (1 + math.e), rel=1e-9)


def test_advantage_is_the_best_gap():
    alphas = np.linspace(0.01, 0.99, 15)
    assert (DPSGD.tpr_bounds(alphas).lower - alphas).max() <= DPSGD.advantage()
    assert (DPSGD.tpr(alphas) - alphas).max() >= DPSGD.advantage() - 3e-3


# conversions


@pytest.mark.parametrize("order", [1.2, 2.0, 7.5, 100.0])
@pytest.mark.parametrize("gamma", [1e-3, 0.3, 5.0])
@pytest.mark.parametrize("alpha", [1e-4, 0.1, 0.6])
def test_the_renyi_bound_is_the_two_point_pair(order, gamma, alpha):
    beta = conversion.rdp_tradeoff(order, gamma, alpha)
    mpmath.mp.dps = 40

    def divergence(p, q):
        total = sum(mpmath.mpf(x) ** order * mpmath.mpf(y) ** (1 - order) for x, y in zip(p, q, strict=True))
        return mpmath.log(total) / (order - 1)

    a = mpmath.mpf(alpha)

    def both(b):
        return max(divergence((1 - b, b), (a, 1 - a)), divergence((a, 1 - a), (1 - b, b)))

    assert both(mpmath.mpf(beta)) >= gamma  # nothing smaller is allowed
    assert both(mpmath.mpf(beta) * (1 + mpmath.mpf("1e-7")) + mpmath.mpf("1e-12")) <= gamma * (1 + 1e-4)


def test_the_renyi_curve_of_gaussian_noise():
    alphas = np.array([1e-6, 0.01, 0.3, 0.9])
    beta, order = conversion.rdp_curve_tradeoff(lambda a: 0.5 * a, alphas)
    assert (beta <= conversion.gdp_tradeoff(1.0, alphas)).all()
    assert (order > 1.0).all()
    for listed in (1.5, 3.0, 10.0):
        assert (beta >= conversion.rdp_tradeoff(listed, 0.5 * listed, alphas) - 1e-9).all()
    assert conversion.rdp_curve_tradeoff(lambda a: 0.5 * a, 0.01, orders=[2.0, 3.0])[1] in (2.0, 3.0)


def test_profiles_to_curves():
    alphas = [1e-3, 0.1, 0.5, 0.9]
    found = conversion.profile_tradeoff(lambda e: conversion.gdp_to_delta(1.0, e), alphas)
    assert found == pytest.approx(conversion.gdp_tradeoff(1.0, alphas), rel=1e-8)
    assert (found <= conversion.gdp_tradeoff(1.0, alphas) * (1 + 1e-12)).all()


def test_curves_to_profiles():
    for mu in (0.1, 1.0, 4.0):
        for epsilon in (0.0, 0.5, 3.0):
            found = conversion.tradeoff_to_delta(lambda a, mu=mu: conversion.gdp_tradeoff(mu, a), epsilon)
            truth = conversion.gdp_to_delta(mu, epsilon)
            assert truth * (1 - 1e-12) <= found <= truth + 1e-10


def test_the_mu_of_a_test():
    for mu in (0.3, 2.0, 6.0):
        for alpha in (1e-6, 0.2, 0.9):
            assert conversion.mu_of_test(alpha, conversion.gdp_tradeoff(mu, alpha)) == pytest.approx(mu, rel=1e-9)
    assert conversion.mu_of_test(0.5, 0.6) == 0.0
    assert conversion.mu_of_test(0.0, 0.5) == math.inf


def test_the_approximation_says_that_it_is_one():
    assert "approximation" in conversion.gdp_mu_clt_approximation.__name__
    assert conversion.gdp_mu_clt_approximation(0.328, 9.4, 2000) < (hs.Gaussian(9.4).poisson(0.328) * 2000).mu(delta=1e-5)


# bad input


@pytest.mark.parametrize(
    ("ask", "error", "words"),
    [
        (lambda: LAPLACE.tradeoff(1.5), ValueError, "alpha is 1.5"),
        (lambda: LAPLACE.tradeoff(math.nan), ValueError, "alpha"),
        (lambda: LAPLACE.tradeoff("x"), TypeError, "alpha"),
        (lambda: LAPLACE.tpr(-0.1), ValueError, "fpr"),
        (lambda: LAPLACE.bayes_risk(2.0), ValueError, "prior"),
        (lambda: LAPLACE.posterior(0.5, 2.0), ValueError, "fpr"),
        (lambda: LAPLACE.posterior([0.1, 0.2], [0.1, 0.2, 0.3]), ValueError, "shapes"),
        (lambda: LAPLACE.tradeoff(0.1, neighbours="swap"), hs.BadValue, "swap"),
        (lambda: hs.Laplace(scale=1.0).full_pass(by="shuffle").tradeoff(0.1), hs.Unsupported, "add or remove"),
        (lambda: conversion.approx_tradeoff(1.0, 2.0, 0.1), ValueError, "delta"),
        (lambda: conversion.rdp_tradeoff(1.0, 1.0, 0.1), ValueError, "order"),
        (lambda: conversion.profile_tradeoff(3, 0.1), TypeError, "profile"),
        (lambda: conversion.tradeoff_to_delta(lambda a: 0.9, 1.0), ValueError, "blind"),
        (lambda: conversion.tradeoff_to_delta(3, 1.0), TypeError, "tradeoff"),
    ],
)
def test_bad_questions(ask, error, words):
    with pytest.raises(error, match=words):
        ask()


def test_zeroing_out_noise_is_removing():
    assert LAPLACE.tradeoff(0.1, neighbours="zero-out") == LAPLACE.tradeoff(0.1)


def test_the_best_epsilon_next_to_an_endless_flat_end():
    """Points hundreds of epsilons apart, whose e^epsilon is no double, are no reason to divide by zero."""
    run = hs.ApproxDP(epsilon=1.0, delta=0.01) * 3
    for alpha in (0.9736787697052229, 0.97, 0.999, 1 - 1e-9, 1e-9):
        bounds = run.tradeoff_bounds(alpha)
        assert 0.0 <= bounds.lower <= bounds.upper <= 1.0 - alpha
        assert bounds.width < 1e-9


def best_true_positives(run_of_two: list[tuple[arb, arb]], steps: int, alpha: float) -> arb:
    """Of the most powerful test of level alpha (Neyman and Pearson), for steps of two outcomes with masses (P, Q)."""
    (p1, q1), (p2, q2) = run_of_two
    outcomes = [
        (math.comb(steps, k) * p1**k * p2 ** (steps - k), math.comb(steps, k) * q1**k * q2 ** (steps - k))
        for k in range(steps + 1)
    ]
    outcomes.sort(key=lambda masses: -float((masses[0] / masses[1]).log().mid()))
    caught, accused = arb(0), arb(0)
    for p, q in outcomes:
        if accused + q < alpha:
            caught, accused = caught + p, accused + q
        else:
            return caught + p * (arb(alpha) - accused) / q
    return arb(1)


def test_tests_of_responses_at_extreme_levels():
    """Chords between values next to 1 and tiny ones: what rounding adds to the one must not be taken for the other."""
    rng = random.Random(5)
    old, ctx.prec = ctx.prec, 400
    try:
        for _ in range(60):
            epsilon, steps = 10 ** rng.uniform(-1.0, 1.6), rng.randint(1, 14)
            rate, order = rng.choice([1.0, 10 ** rng.uniform(-3.0, 0.0), rng.uniform(0.2, 1.0)]), rng.choice(["add", "remove"])
            odds, q = arb(epsilon).exp(), arb(rate)
            yes, no = odds / (1 + odds), 1 / (1 + odds)
            mixed = [(q * one + (1 - q) * other, other) for one, other in ((yes, no), (no, yes))]
            pair = mixed if order == "remove" else [(other, one) for one, other in mixed]
            run = hs.RandomizedResponse(epsilon=epsilon).poisson(rate=rate) * steps
            for alpha in (1.0 - 10 ** rng.uniform(-12.0, -1.0), 10 ** rng.uniform(-100.0, -3.0), 10 ** rng.uniform(-15.0, -1.0)):
                truth = best_true_positives(pair, steps, alpha)
                for bounds, value in (
                    (run.tpr_bounds(alpha, neighbours=order), truth),
                    (run.tradeoff_bounds(alpha, neighbours=order), 1 - truth),
                ):
                    wrong = bounds.lower > value or bounds.upper < value
                    assert not wrong, (epsilon, steps, rate, order, alpha)
    finally:
        ctx.prec = old


def test_a_long_step_of_a_lattice_leaves_nothing_behind():
    """1 - delta from below: mass that moves on by a step of 15 must all move."""
    run = hs.RandomizedResponse(epsilon=15.049527586374095).poisson(rate=0.8259761136823078) * 11
    found = run.tradeoff_bounds(2.3444493144842314e-09, neighbours="remove")
    assert found.lower <= 2.357119471467866e-07 <= found.upper


def test_chords_never_lie_above_a_convex_function():
    """Against random broken lines in x = e^epsilon: the function may be 1 on one side and tiny in the middle."""
    rng, tried, tight = random.Random(3), 0, 0
    mpmath.mp.dps = 60
    number = mpmath.mpf
    while tried < 300:
        epsilons = sorted(rng.uniform(-1.0, 1.0) * 10 ** rng.uniform(-11.0, 1.5) for _ in range(5))
        xs = [mpmath.exp(number(epsilon)) for epsilon in epsilons]
        lines = [
            (
                rng.choice((-1, 1)) * number(10) ** rng.uniform(-40, 2),
                xs[2] * (1 + rng.uniform(-1, 1) * number(10) ** rng.uniform(-9, -1)),
            )
            for _ in range(6)
        ]

        def value(x, lines=lines):
            return max(slope * (x - at) for slope, at in lines)

        values = [value(x) for x in xs]
        if min(b - a for a, b in pairwise(epsilons)) < 1e-11 or values[2] != min(values):
            continue
        crossings = [(s * a - r * b) / (s - r) for (s, a), (r, b) in combinations(lines, 2) if s != r]
        least = min(value(x) for x in (*xs, *(x for x in crossings if xs[0] <= x <= xs[-1])))
        ends = [(down(float(one)), up(float(one))) for one in values]
        bound, place = lowest(epsilons, ends)
        assert number(bound) <= least
        assert epsilons[0] <= place <= epsilons[-1]
        tried, tight = tried + 1, tight + (bound > least - 0.5 * (values[2] - least) - 1e-3 * abs(least))
    assert tight > 20


def test_the_rest_is_asked_once_for_each_epsilon():
    """log(1 - delta) of randomised response in closed form: 1 - (e - e^x)/(1 + e) for x from -1 to 1."""
    run, asked = hs.RandomizedResponse(epsilon=1.0)._run("remove"), []
    profile = profile_ends(run)
    rest = tradeoff.complement_ends(run, lambda epsilon: asked.append(epsilon) or profile(epsilon))
    for epsilon in (0.0, 0.5, -0.5, 0.5, 0.0):
        low, high = rest(epsilon)
        truth = math.log1p(-(math.e - math.exp(epsilon)) / (1.0 + math.e))
        assert low - 1e-13 <= truth <= high + 1e-13
        assert high - low < 1e-9
    assert asked == [0.0, 0.5, -0.5]


def test_the_tester_knows_the_ends_and_closed_forms():
    """The curve of one answer: 1 - e x up to 1/(1 + e), then back with the slope 1/e."""
    run, back = (hs.RandomizedResponse(epsilon=1.0)._run(order) for order in ("remove", "add"))
    test = tradeoff.best_tests(run, back, profile_ends(run), profile_ends(back), relative=True)
    for alpha in (0.01, 0.1, 0.2689, 0.5, 0.9):
        truth = max(1.0 - math.e * alpha, (1.0 - alpha) / math.e)
        low, high = test(alpha).beta
        assert low - 1e-12 <= truth <= high + 1e-12
        assert high - low < 1e-9
    assert test(0.0).beta == (1.0, 1.0)
    assert test(1.0).beta[1] < 1e-12
