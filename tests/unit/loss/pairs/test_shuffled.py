"""Shuffled local reports: against the pair itself in exact sums, and against every data set of few people."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.loss.pairs.shuffled import BystanderLoss, CloneLoss
from samples import strict


def pair(epsilon, others, chance, idle=0):
    """The pair of the theorem, outcome by outcome, as it stands in the paper."""
    p, q = {}, {}
    told = mp.exp(epsilon) / (mp.exp(epsilon) + 1)
    for c in range(others + 1):
        clones = mp.binomial(others, c) * chance**c * (1 - chance) ** (others - c)
        for a in range(c + 1):
            mass = clones * mp.binomial(c, a) / mpf(2) ** c * (1 - idle)
            for law, first in ((p, told), (q, 1 - told)):
                for key, share in (((a + 1, c - a), first), ((a, c - a + 1), 1 - first)):
                    law[key] = law.get(key, 0) + mass * share
    if idle:
        p["idle"] = q["idle"] = mpf(idle)
    return p, q


def stick(p, q, epsilon):
    return mp.fsum(max(mass - mp.exp(epsilon) * q[key], 0) for key, mass in p.items())


@pytest.mark.parametrize("epsilon0", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("count", [2, 3, 9, 40])
def test_one_round_is_the_pair_of_the_theorem(epsilon0, count):
    mp.dps = 40
    p, q = pair(mpf(epsilon0), count - 1, mp.exp(-mpf(epsilon0)))
    run = hs.Shuffled(hs.PureDP(epsilon=epsilon0, neighbours="replace"), count)
    for share in (-0.5, 0.0, 0.1, 0.5, 0.9):
        truth = stick(p, q, mpf(share * epsilon0))
        assert abs(truth - stick(q, p, mpf(share * epsilon0))) < mpf("1e-30")  # the orders are equal
        bounds = run.delta_bounds(share * epsilon0, neighbours="replace")
        assert truth <= bounds.upper <= float(truth) * (1.0 + 1e-9) + 1e-13
        assert bounds.lower <= truth
        assert not bounds.tight


def test_rounds_compose_the_pair():
    mp.dps = 40
    p, q = pair(mpf(1), 4, mp.exp(-1))
    two_p = {key: p[key[0]] * p[key[1]] for key in itertools.product(p, p)}
    two_q = {key: q[key[0]] * q[key[1]] for key in itertools.product(q, q)}
    run = hs.Shuffled(hs.PureDP(epsilon=1.0, neighbours="replace"), 5) * 2
    for epsilon in (0.0, 0.3, 1.1, 1.9):
        truth = stick(two_p, two_q, mpf(epsilon))
        assert truth <= run.delta(epsilon, neighbours="replace") <= float(truth) * (1.0 + 1e-5)


def histograms(data, categories, epsilon):
    """The law of the shuffled reports of randomised response."""
    right = math.exp(epsilon) / (math.exp(epsilon) + categories - 1)
    law = {(0,) * categories: 1.0}
    for value in data:
        after = {}
        for (seen, mass), answer in itertools.product(law.items(), range(categories)):
            key = tuple(n + (place == answer) for place, n in enumerate(seen))
            after[key] = after.get(key, 0.0) + mass * (right if answer == value else (1.0 - right) / (categories - 1))
        law = after
    return law


@pytest.mark.parametrize(("categories", "most"), [(2, 6), (3, 5), (4, 4)])
@pytest.mark.parametrize("epsilon0", [0.3, 1.0, 2.5])
def test_every_data_set_of_few_people(categories, most, epsilon0):
    for count in range(2, most + 1):
        one = hs.Shuffled(hs.RandomizedResponse(epsilon=epsilon0, categories=categories), count)
        general = hs.Shuffled(hs.PureDP(epsilon=epsilon0, neighbours="replace"), count)
        for epsilon in (0.0, 0.2 * epsilon0, 0.6 * epsilon0):
            truth = 0.0
            for others in itertools.combinations_with_replacement(range(categories), count - 1):
                for x, y in itertools.permutations(range(categories), 2):
                    p, q = histograms((x, *others), categories, epsilon0), histograms((y, *others), categories, epsilon0)
                    truth = max(truth, math.fsum(max(p[key] - math.exp(epsilon) * q[key], 0.0) for key in p))
            bounds = one.delta_bounds(epsilon, neighbours="replace")
            assert bounds.lower <= truth + 1e-13
            assert truth <= bounds.upper + 1e-13
            assert truth <= general.delta(epsilon, neighbours="replace") + 1e-13


def test_rounds_of_an_adversary():
    """Three people, two answers, two rounds: what others say in the second round depends on the first."""
    epsilon0, categories = 1.0, 2
    run = hs.Shuffled(hs.RandomizedResponse(epsilon=epsilon0), 3) * 2
    choices = []
    for others in itertools.product(range(categories), repeat=2):
        for x, y in ((0, 1), (1, 0)):
            p, q = histograms((x, *others), categories, epsilon0), histograms((y, *others), categories, epsilon0)
            choices.append((np.array([p[key] for key in p]), np.array([q[key] for key in p])))
    for epsilon in (0.0, 0.4, 1.0, 1.6):
        alpha = math.exp(epsilon)
        truth = max(
            sum(max(float(np.maximum(a * p - alpha * b * q, 0.0).sum()) for p, q in choices) for a, b in zip(*first, strict=True))
            for first in choices
        )
        assert truth <= run.delta(epsilon, neighbours="replace") + 1e-13


def test_what_is_attained_is_the_law_of_a_count():
    mp.dps = 40
    for epsilon0, categories, others in ((0.5, 2, 7), (1.5, 4, 30), (0.01, 2, 1000)):
        right = mp.exp(mpf(epsilon0)) / (mp.exp(mpf(epsilon0)) + categories - 1)
        wrong, n = (1 - right) / (categories - 1), others
        b = [mp.binomial(n, j) * wrong**j * (1 - wrong) ** (n - j) for j in range(n + 1)] + [mpf(0)]
        p = {j: right * b[j - 1] + (1 - right) * b[j] for j in range(n + 2)}
        q = {j: wrong * b[j - 1] + (1 - wrong) * b[j] for j in range(n + 2)}
        for turned in (False, True):
            found = BystanderLoss(epsilon0, categories, others, turned)
            for share in (0.0, 0.02, 0.3):
                truth = stick(*((q, p) if turned else (p, q)), mpf(share * epsilon0))
                closed = found.closed(share * epsilon0)
                assert closed.low <= mp.log(truth)
                assert abs(closed.value - mp.log(truth)) < 1e-9  # r is rounded up


def test_more_reports_and_less_epsilon_hide_more():
    for rounds in (1, 30):
        last = math.inf
        for count in (1, 2, 5, 40, 300, 2000, 20_000, 200_000):
            run = hs.Shuffled(hs.Laplace(scale=1.0), count) * rounds
            bounds = run.epsilon_bounds(1e-6, neighbours="replace")
            assert bounds.upper <= last
            assert bounds.upper <= (hs.Laplace(scale=1.0) * rounds).epsilon(1e-6, neighbours="replace") * (1.0 + 1e-9)
            last = bounds.upper
    for one, two in itertools.pairwise((0.1, 0.5, 1.0, 2.0, 4.0)):
        deltas = [hs.Shuffled(hs.RandomizedResponse(epsilon=e), 500).delta(0.05, neighbours="replace") for e in (one, two)]
        assert deltas[0] <= deltas[1]


def test_alone_it_is_the_report():
    for local in (hs.Laplace(scale=2.0), hs.RandomizedResponse(epsilon=1.0, categories=3)):
        alone = hs.Shuffled(local, 1) * 3
        assert alone.epsilon_bounds(1e-6, neighbours="replace") == (local * 3).epsilon_bounds(1e-6, neighbours="replace")


@pytest.mark.parametrize(
    "local", [hs.RandomizedResponse(epsilon=2.0, categories=4), hs.PureDP(epsilon=0.5), hs.Laplace(scale=3.0)]
)
def test_laws(local):
    run = hs.Shuffled(local, 200)
    with strict():
        deltas = [run.delta(x, "replace") for x in (-1.0, -0.1, 0.0, 0.05, 0.1, 0.3, 1.0)]
        assert deltas == sorted(deltas, reverse=True)
        cases = [(many, delta) for many in (run, run * 7, run * 2 + hs.Gaussian(sigma=3.0)) for delta in (1e-2, 1e-6, 1e-40)]
        for many, delta in [*cases, (run + hs.Laplace(scale=3.0), 1e-6), (run, 1e-250)]:
            bounds = many.epsilon_bounds(delta, "replace")
            assert 0.0 <= bounds.lower <= bounds.upper < math.inf
            back = many.delta_bounds(bounds.upper, "replace")
            assert back.lower <= delta
            assert back.upper <= delta * (1.0 + 1e-3)
    assert run.delta(0.1, "zero-out") == run.delta(0.1, "replace")
    assert (run * 0).epsilon(1e-6, "replace") == 0.0
    assert (run + run) == run * 2
    assert run.rdp(2.0, "replace") <= local.rdp(2.0, "replace") * (1.0 + 1e-9)
    assert hs.from_json(run.to_json()) == run
    assert hs.from_json((run * 3).to_json()) == run * 3
    assert repr(run) == f"Shuffled({local!r}, count=200)"
    assert hs.Shuffled(local, 200.0) == run
    assert run.group(size=2).delta(0.5, neighbours="replace") >= run.delta(0.5, neighbours="replace")


@pytest.mark.parametrize("epsilon0", [1e-9, 1e-3, 20.0, 59.0, 300.0, 599.0, 700.0])
@pytest.mark.parametrize("count", [2, 1000, 10**9])
def test_far_out(epsilon0, count):
    run = hs.Shuffled(hs.Laplace(scale=2.0 / epsilon0), count)
    bounds = run.epsilon_bounds(1e-6, neighbours="replace")
    assert 0.0 <= bounds.lower <= bounds.upper <= epsilon0 * (1.0 + 1e-12)


def test_a_free_report():
    assert hs.Shuffled(hs.PureDP(epsilon=0.0), 10).epsilon(1e-6, neighbours="replace") == 0.0


def test_clones_of_chance():
    """A law that is given as fractions: two others, each a clone with probability 1/2."""
    found = CloneLoss(math.log(3.0), 2, 0.0).atoms  # h = 1/2
    wanted = {1.0: Fraction(9, 32) * Fraction(3, 2), 1.0 / 3.0: Fraction(3, 32) * Fraction(7, 6), 0.0: Fraction(1, 4)}
    for t, mass in wanted.items():
        place = int(np.abs(found.z - 2.0 * math.atanh(0.5 * t)).argmin())
        assert math.exp(found.log_p[place]) == pytest.approx(float(mass), rel=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: hs.Shuffled(1.0, 10), hs.BadType, ["local", "RandomizedResponse"]),
        (lambda: hs.Shuffled(hs.PureDP(epsilon=1.0), 0), hs.BadValue, ["count", "1"]),
        (lambda: hs.Shuffled(hs.PureDP(epsilon=1.0), 1.5), hs.BadValue, ["count"]),
        (lambda: hs.Shuffled(hs.PureDP(epsilon=1.0), True), hs.BadType, ["count"]),
        (lambda: hs.Shuffled(hs.PureDP(epsilon=1.0), 10**10), hs.BadValue, ["1000000000", "upper bound"]),
        (lambda: hs.Shuffled(hs.Laplace(scale=1.0).poisson(rate=0.1), 10), hs.Unsupported, ["one record"]),
        (lambda: hs.Shuffled(hs.Laplace(scale=1.0), 10).poisson(rate=0.1), hs.Unsupported, ["sample of a sample"]),
        (lambda: hs.Shuffled(hs.Gaussian(sigma=1.0), 10).epsilon(1e-6, "replace"), hs.Unsupported, ["largest", "PureDP"]),
        (lambda: hs.Shuffled(hs.ZCDP(rho=0.1), 10).epsilon(1e-6, "replace"), hs.Unsupported, ["largest", "PureDP"]),
        (lambda: hs.Shuffled(hs.ApproxDP(epsilon=1.0, delta=1e-9), 10).delta(0.1, "replace"), hs.Unsupported, ["delta"]),
        (lambda: hs.Shuffled(hs.Laplace(scale=1.0), 10).epsilon(1e-6), hs.Unsupported, ["number of reports", "replace"]),
        (lambda: hs.Shuffled(hs.Laplace(scale=1.0), 10).epsilon(1e-6, "add"), hs.Unsupported, ["zero-out"]),
        (lambda: hs.from_json('{"hockeystick": 1, "release": {"kind": "shuffled", "count": 3}}'), hs.BadType, ["local"]),
    ],
)
def test_what_is_refused(make, error, words):
    with pytest.raises(error) as raised:
        make()
    for word in words:
        assert word in str(raised.value)
