"""Every scheme and relation: oracles of the new pairs, published values, reductions, an adversary, refusals."""

import doctest
import itertools
import math
import random
from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from adversary import REACH, Setting, outputs, random_setting, sums, true_delta, violated
from hockeystick.loss.composed import composed
from hockeystick.loss.lattice.refine import lattice_epsilon
from hockeystick.loss.sampled.gaussian_mixture import Mixture, MixtureLoss
from hockeystick.loss.sampled.replace_one import OpposedLaplaceLoss
from hockeystick.loss.sampled.symmetrised import FoldedLoss
from hockeystick.neighbours import RELATIONS
from hockeystick.numerics.geometric_cells import Cells
from hockeystick.sampling import support
from hockeystick.sampling.group import GroupedRun
from places import ROOT

GAUSSIAN = hs.Gaussian(sigma=2.0)


def opposed(sigma: float, rate: float) -> MixtureLoss:
    return hs.Gaussian(sigma=sigma).poisson(rate=rate).loss(("replace",))


def fold(sigma: float, batch: int, examples: int) -> FoldedLoss:
    return hs.Gaussian(sigma=sigma).without_replacement(batch=batch, examples=examples).loss(("replace",)).covers[0]


# oracles: high precision, straight from the definitions


def densities(loss) -> tuple:
    """p and q of the symmetric pairs as functions of the noise, and the mass at loss 0."""
    if isinstance(loss, MixtureLoss):
        q, m = mpf(loss.line.shape.rate), 1 / mpf(loss.line.shape.noise)

        def density(y, sign):
            return (1 - q) * mp.npdf(y) + q * mp.npdf(y - sign * m)

        return lambda y: density(y, 1), lambda y: density(y, -1), mpf(0), mpf(0)
    q, m = mpf(loss.base.shape.rate), 1 / mpf(loss.base.shape.noise)
    middle = (1 - q) * (mp.ncdf(m / 2) - mp.ncdf(-m / 2))
    return lambda y: (1 - q) * mp.npdf(y) + q * mp.npdf(y - m), mp.npdf, m / 2, middle


@cache
def rule() -> list[tuple]:
    """Gauss's nodes and weights on [-1, 1], polished in high precision."""
    found = []
    for x in map(mpf, np.polynomial.legendre.leggauss(40)[0].tolist()):
        for _ in range(3):
            before, value = mpf(1), x
            for n in range(2, 41):
                before, value = value, ((2 * n - 1) * x * value - (n - 1) * before) / n
            slope = 40 * (x * value - before) / (x * x - 1)
            x -= value / slope
        found.append((x, 2 / ((1 - x * x) * slope**2)))
    return found


@cache
def nodes(loss) -> list[tuple]:
    p, q, start, _ = densities(loss)
    found = []
    for panel in range(17):
        for x, weight in rule():
            y = start + panel + (1 + x) / 2
            found.append((p(y) * weight / 2, q(y) * weight / 2, mp.log(p(y) / q(y))))
    return found


def true_phi(loss, w):
    terms = [p * mp.exp(w * z) + q * mp.exp(-w * z) for p, q, z in nodes(loss)]
    return mp.fsum(terms) + densities(loss)[3]


PAIRS = [
    opposed(2.0, 0.01),
    opposed(0.7, 0.3),
    opposed(5.0, 1e-4),
    fold(2.0, 100, 10_000),
    fold(1.0, 3, 7),
    fold(8.0, 1, 100_000),
]


@pytest.mark.parametrize("loss", PAIRS, ids=lambda loss: type(loss).__name__)
def test_the_contour_of_symmetric_pairs(loss):
    mp.dps = 32
    for c in (0.4, 3.0):
        one = loss.slice(c, c + 2.0, 1000)
        assert one.good
        step = 2.5
        values, errors = one.values(step, 3)
        for place in range(3):
            truth = true_phi(loss, mp.mpc(c, step * place))
            found = mp.exp(mp.mpc(complex(values[0, place])))
            assert abs(found - truth) <= errors[0, place] * abs(truth)
            assert errors[0, place] * abs(truth) < 1e-11 * true_phi(loss, mpf(c))
        above = one.above(np.array([c, c + 1.0]))[0]
        for bound, point in zip(above, (c, c + 1.0), strict=True):
            truth = mp.log(true_phi(loss, mpf(point)))
            assert truth <= bound <= truth + mpf("1e-10")
        cells = Cells(1.25)
        decays = one.decay(cells)[0]
        for place in (0, 9):
            u = float(cells.left[place])
            fall = -mp.log(abs(true_phi(loss, mp.mpc(c, u))) / true_phi(loss, mpf(c)))
            assert decays[place] <= fall * (1 + mpf("1e-12"))
            assert decays[place] > 0.0


@pytest.mark.parametrize(
    "loss",
    [
        opposed(1.3, 0.2),
        fold(1.3, 2, 10),
        MixtureLoss(Mixture((math.log(0.2), math.log(0.05)), (0.7, 1.4), math.log(0.75))),
        MixtureLoss(Mixture(), Mixture((math.log(0.2), math.log(0.05)), (0.7, 1.4), math.log(0.75))),
        OpposedLaplaceLoss(0.8, 0.3),
    ],
    ids=lambda loss: type(loss).__name__,
)
def test_masses_of_cells(loss):
    """Edges are found by bisection in the noise; masses by distribution functions."""
    mp.dps = 30
    edges = np.array([-0.3, -0.11, -0.02, 0.0, 0.013, 0.2, 0.4])
    log_p, log_q, error = loss.masses(edges)
    error = np.broadcast_to(error, log_p.shape)

    def mixture(weights, cdf):
        return lambda y: mp.fsum(w * cdf(y - m) for w, m in weights)

    def laplace(y):
        return mp.exp(y) / 2 if y < 0 else 1 - mp.exp(-y) / 2

    mirrored = isinstance(loss, FoldedLoss)
    if isinstance(loss, OpposedLaplaceLoss):
        rate, a = mpf(loss.rate), mpf(loss.a)
        p, q = mixture([(1 - rate, 0), (rate, a)], laplace), mixture([(1 - rate, 0), (rate, -a)], laplace)

        def density(weights, y):
            return mp.fsum(w * mp.exp(-abs(y - m)) / 2 for w, m in weights)

        def ratio(y):
            return mp.log(density([(1 - rate, 0), (rate, a)], y) / density([(1 - rate, 0), (rate, -a)], y))
    elif isinstance(loss, FoldedLoss):
        rate, m = mpf(loss.base.shape.rate), 1 / mpf(loss.base.shape.noise)
        p, q = mixture([(1 - rate, 0), (rate, m)], mp.ncdf), mp.ncdf

        def ratio(y):
            return mp.log(1 - rate + rate * mp.exp(m * y - m * m / 2))
    else:
        right = [(mp.exp(mpf(w)), mpf(m)) for w, m in zip(loss.right.log_weights, loss.right.moves, strict=True)]
        left = [(mp.exp(mpf(w)), -mpf(m)) for w, m in zip(loss.left.log_weights, loss.left.moves, strict=True)]
        right.append((1 - mp.fsum(w for w, _ in right), mpf(0)))
        left.append((1 - mp.fsum(w for w, _ in left), mpf(0)))
        p, q = mixture(right, mp.ncdf), mixture(left, mp.ncdf)

        def ratio(y):
            return mp.log(mp.fsum(w * mp.npdf(y - m) for w, m in right) / mp.fsum(w * mp.npdf(y - m) for w, m in left))

    def place(z):
        low, high = mpf(-30), mpf(30)
        for _ in range(110):
            middle_point = (low + high) / 2
            low, high = (middle_point, high) if ratio(middle_point) <= z else (low, middle_point)
        return low

    def below(z):
        """P and Q of Z <= z."""
        if not mirrored:
            y = place(mpf(float(z)))
            return p(y), q(y)
        y = place(abs(mpf(float(z))))
        return (p(y), q(y)) if z >= 0 else (1 - q(y), 1 - p(y))  # mirrored

    tops = [below(z) for z in edges]
    masses = [(b[0] - a[0], b[1] - a[1]) for a, b in zip([(mpf(0), mpf(0)), *tops], [*tops, (mpf(1), mpf(1))], strict=True)]
    for found_p, found_q, off, (true_p, true_q) in zip(log_p, log_q, error, masses, strict=True):
        for found, truth in ((found_p, true_p), (found_q, true_q)):
            if truth < mpf("1e-25"):
                assert found < -50.0
            else:  # the edges may have moved by the slip
                assert abs(mpf(float(found)) - mp.log(truth)) <= off + 1e-11


def test_contour_and_lattice_agree():
    for loss, count, delta in (
        (opposed(2.0, 0.01), 3000, 1e-6),
        (fold(2.0, 100, 10_000), 3000, 1e-6),
        (opposed(0.9, 0.1), 50, 1e-9),
    ):
        run = composed([(loss, count)])
        ends = lattice_epsilon(run, math.log(delta), 1e-14)
        from hockeystick.loss.engines.driver import by_contour

        low, high = by_contour(run, math.log(delta), (math.log(delta) - 1e-14, math.log(delta) + 1e-14))
        assert ends[0] <= high
        assert low <= ends[1]
        assert high - low < 1e-9 * high
        assert ends[1] - ends[0] < 1e-4 * high


def true_one(p_tail, q_tail, place):
    """P(Z > eps) - e^eps Q(Z > eps) from tails in the noise."""
    return lambda epsilon: p_tail(place(epsilon)) - mp.exp(epsilon) * q_tail(place(epsilon))


@pytest.mark.parametrize(("sigma", "rate"), [(1.0, 0.2), (0.6, 0.05), (2.5, 0.7)])
def test_two_steps_of_poisson_under_replace(sigma, rate):
    """The worst data set contributes C and -C: its exact delta is met to 1e-9."""
    mp.dps = 20
    q, m = mpf(rate), 1 / mpf(sigma)
    run = hs.Gaussian(sigma=sigma).poisson(rate=rate)

    def ratio(y):
        e = mp.exp(-m * m / 2)
        return mp.log((1 - q + q * e * mp.exp(m * y)) / (1 - q + q * e * mp.exp(-m * y)))

    def place(z):
        low, high = mpf(-60), mpf(60)
        for _ in range(70):
            half = (low + high) / 2
            low, high = (half, high) if ratio(half) <= z else (low, half)
        return low

    def tail(sign):
        return lambda y: (1 - q) * mp.ncdf(-y) + q * mp.ncdf(sign * m - y)

    one = true_one(tail(1), tail(-1), place)
    for epsilon in (mpf("0.3"), mpf("-0.2")):
        single = one(epsilon)
        bounds = run.delta_bounds(float(epsilon), neighbours="replace")
        assert bounds.lower <= single * (1 + mpf("1e-13"))
        assert single <= bounds.upper * (1 + mpf("1e-13"))
        assert bounds.tight
        assert bounds.width < 1e-9
    # two steps: a sum over small squares
    step = 1.0 / 800.0
    y = np.arange(-9.0, 9.0 + 1.0 / sigma, step) + 0.5 * step
    normal = np.exp(-0.5 * y * y)
    forth, back = (rate * np.exp(-0.5 * (y - sign / sigma) ** 2) + (1.0 - rate) * normal for sign in (1.0, -1.0))
    forth, back = forth * (step / math.sqrt(2.0 * math.pi)), back * (step / math.sqrt(2.0 * math.pi))
    truth = sum(float(np.maximum(p * forth - math.exp(0.4) * q * back, 0.0).sum()) for p, q in zip(forth, back, strict=True))
    bounds = (run * 2).delta_bounds(0.4, neighbours="replace")
    assert bounds.lower - 5e-9 <= truth <= bounds.upper + 5e-9
    assert bounds.width < 1e-6 * bounds.upper


# published values


@pytest.mark.parametrize(
    ("sigma", "sensitivity", "rate", "relation", "epsilon", "delta"),
    [  # dp_accounting's privacy_loss_mechanism_test.py, of a single step; its replace moves from one side to the other
        (1.0, 1.0, 0.8, "add", 1.0, 0.0231362104090899),
        (1.0, 3.0, 0.7, "add", 1.0, 0.1195051215523554),
        (2.0, 6.0, 0.4, "add", 1.0, 0.0),
        (1.0, 1.0, 0.8, "remove", 1.0, 0.0816951786585355),
        (1.0, 3.0, 0.7, "remove", 1.0, 0.5356298793262404),
        (2.0, 6.0, 0.4, "remove", 1.0, 0.2888308005139968),
        (1.0, 1.0, 0.3, "remove", 2.0, 0.0003341102928869332),
        (5.0, 5.0, 0.2, "remove", -0.25, 0.2211992169285951),
        (2.0, 1.0, 0.8, "replace", 1.0, 0.05808665654484252),
        (3.0, 2.0, 0.8, "replace", 1.0, 0.13711260900644096),
        (2.0, 3.0, 0.7, "replace", 1.0, 0.4013057526509164),
        (3.0, 6.0, 0.4, "replace", 1.0, 0.20752885274183325),
        (2.0, 1.0, 0.3, "replace", 2.0, 2.4770380148941894e-09),
        (10.0, 5.0, 0.2, "replace", -0.25, 0.22989794629827498),
    ],
)
def test_single_steps_of_gaussian_noise(sigma, sensitivity, rate, relation, epsilon, delta):
    run = hs.Gaussian(sigma=sigma, sensitivity=sensitivity).poisson(rate=rate)
    bounds = run.delta_bounds(epsilon, neighbours=relation)
    assert bounds.lower - 1e-12 <= delta <= bounds.upper + 1e-12
    assert bounds.width < 1e-10


def test_poisson_under_replace_to_all_digits():
    step = GAUSSIAN.poisson(rate=0.01)
    for count, delta, epsilon in ((10**4, 1e-6, "4.90739819"), (10**4, 1e-5, "4.39603066"), (10**5, 1e-6, "19.5138705")):
        bounds = (step * count).epsilon_bounds(delta, neighbours="replace")
        digits = len(epsilon.partition(".")[2])
        assert f"{bounds.lower:.{digits}f}" == epsilon == f"{bounds.upper:.{digits}f}"
        assert bounds.tight


def test_without_replacement_under_replace():
    step = GAUSSIAN.without_replacement(batch=100, examples=10_000)
    bounds = (step * 10_000).epsilon_bounds(1e-6, neighbours="replace")
    assert f"{bounds.lower:.5f} {bounds.upper:.5f}" == "6.90738 8.93844"
    assert not bounds.tight
    unsampled = hs.Gaussian(sigma=1.0)
    for epsilon in (0.0, 0.3, 1.0, 3.0):
        wanted = 0.01 * unsampled.delta(math.log1p(math.expm1(epsilon) / 0.01))
        found = step.delta_bounds(epsilon, neighbours="replace")
        assert abs(found.upper - wanted) < 1e-9 * wanted + 1e-300
        assert abs(found.lower - wanted) < 1e-9 * wanted + 1e-300


def test_the_pair_that_is_unsound_for_fixed_batches():
    """A null record displaces another: the mixture with C is far below the truth, our bound is above it."""
    step = hs.Gaussian(sigma=1.0).without_replacement(batch=1, examples=100)
    truth = hs.Gaussian(sigma=1.0, sensitivity=2.0).poisson(rate=0.01).delta(1.0, neighbours="remove")
    mixture = hs.Gaussian(sigma=1.0).poisson(rate=0.01).delta(1.0, neighbours="remove")
    assert 1e-9 < mixture < 1e-8
    assert mixture < 1e-4 * step.delta(1.0, neighbours="zero-out")
    assert step.delta(1.0, neighbours="zero-out") >= truth * (1.0 - 1e-12)


# reductions

BASES = [
    hs.Gaussian(sigma=1.5),
    hs.Laplace(scale=1.5),
    hs.DiscreteLaplace(scale=2.0),
    hs.DiscreteGaussian(sigma=2.0),
    hs.PureDP(epsilon=0.7),
    hs.ApproxDP(epsilon=0.7, delta=1e-6),
    hs.GDP(mu=0.8),
    hs.RandomizedResponse(epsilon=0.7, categories=3),
]


@pytest.mark.parametrize("base", BASES, ids=repr)
@pytest.mark.parametrize("relation", RELATIONS)
def test_nothing_sampled_and_all_sampled(base, relation):
    whole = (base * 3).delta_bounds(0.5, relation)
    for same in (base.poisson(rate=1.0), base.without_replacement(batch=9, examples=9)):
        assert (same * 3).delta_bounds(0.5, relation) == whole
    for free in (
        base.poisson(rate=0.0),
        base.without_replacement(batch=0, examples=9),
        base.with_replacement(draws=0, examples=9),
    ):
        assert (free * 3).delta_bounds(0.5, relation).upper == 0.0
        assert (free * 3).epsilon(0.0, relation) == 0.0


@pytest.mark.parametrize("base", BASES, ids=repr)
@pytest.mark.parametrize("relation", RELATIONS)
def test_one_draw_is_one_without_replacement(base, relation):
    one = (base.with_replacement(draws=1, examples=11) * 4).delta_bounds(0.3, relation)
    assert one == (base.without_replacement(batch=1, examples=11) * 4).delta_bounds(0.3, relation)


@pytest.mark.parametrize("base", BASES, ids=repr)
@pytest.mark.parametrize("relation", RELATIONS)
def test_sampling_never_costs(base, relation):
    """For batches of a fixed size the measure is a replacement, whatever the relation: a record displaces another."""
    for epsilon in (0.0, 0.4):
        drawn, whole = base.poisson(rate=0.3).delta_bounds(epsilon, relation), base.delta_bounds(epsilon, relation)
        assert drawn.lower <= whole.upper
        assert drawn.upper <= whole.upper * (1.0 + 1e-9)
        if drawn.tight:
            assert drawn.upper < whole.upper or whole.upper == 0.0
        fixed = base.without_replacement(batch=3, examples=10).delta(epsilon, relation)
        assert fixed <= base.delta(epsilon, "replace") * (1.0 + 1e-9)


@pytest.mark.parametrize("base", BASES, ids=repr)
def test_replacing_is_no_worse_than_two_removals(base):
    if isinstance(base, hs.RandomizedResponse):
        pytest.skip("its pair is the same for every relation")
    for step in (base.poisson(rate=0.2), base.poisson(rate=0.2) * 5):
        for epsilon in (0.2,):
            both = hs.conversion.group_approx(epsilon, step.delta(epsilon), 2)
            assert step.delta(both[0], neighbours="replace") <= both[1] * (1.0 + 1e-9)


def test_mixtures_of_one_component_are_the_sampled_step():
    for removal in (True, False):
        order = "remove" if removal else "add"
        mixture = Mixture((math.log(0.05),), (1.0 / 1.7,), math.log1p(-0.05))
        loss = MixtureLoss(mixture) if removal else MixtureLoss(Mixture(), mixture)
        from hockeystick.loss.engines.driver import epsilon_interval

        low, high = epsilon_interval(composed([(loss, 200)]), 1e-7)
        known = (hs.Gaussian(sigma=1.7).poisson(rate=0.05) * 200).epsilon_bounds(1e-7, neighbours=order)
        assert low <= known.upper
        assert known.lower <= high
        assert high - low < 1e-5 * high


def test_with_replacement_is_the_mixture_of_its_draws():
    """Against a sum over the number of draws in high precision, one step."""
    mp.dps = 30
    draws, examples, sigma, epsilon = 5, 20, mpf("1.5"), mpf("0.7")
    weights = [mp.binomial(draws, k) * mpf(1) / examples**k * (1 - mpf(1) / examples) ** (draws - k) for k in range(draws + 1)]
    step = hs.Gaussian(sigma=1.5).with_replacement(draws=draws, examples=examples)

    def ratio(y):
        return mp.log(mp.fsum(w * mp.exp(2 * k * y / sigma - 2 * k * k / sigma**2) for k, w in enumerate(weights)))

    y = mp.findroot(lambda y: ratio(y) - epsilon, 1.0)
    truth = mp.fsum(w * mp.ncdf(2 * k / sigma - y) for k, w in enumerate(weights)) - mp.exp(epsilon) * mp.ncdf(-y)
    bounds = step.delta_bounds(float(epsilon), neighbours="remove")
    assert bounds.lower <= truth * (1 + mpf("1e-12"))
    assert truth <= bounds.upper * (1 + mpf("1e-12"))
    assert bounds.tight
    assert bounds.width < 1e-9
    assert step.delta(float(epsilon), neighbours="replace") >= truth


# the adversary


def test_no_strategy_exceeds_the_bound():
    rng = random.Random(20)
    for _ in range(120):
        setting = random_setting(rng)
        assert violated(setting) is None, setting


@pytest.mark.parametrize("steps", [1, 2])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.9])
def test_claims_are_exact_where_the_table_says_so(steps, epsilon):
    """Three outputs, no noise: the adversary attains what is called exact."""
    for scheme, relation in (("poisson", "replace"), ("poisson", "remove"), ("without", "remove"), ("without", "add")):
        setting = Setting(scheme, relation, "worst", 1.0, 3, 1, 0.3, steps, epsilon)
        truth, bounds = true_delta(setting), setting.release.delta_bounds(epsilon, neighbours=relation)
        assert bounds.tight
        assert bounds.lower <= truth + 1e-12
        assert truth <= bounds.upper + 1e-12
        assert bounds.upper - truth < 1e-9


def test_the_adversary_is_strong_enough():
    """It refutes the pair +-C for batches of a fixed size, and Poisson's mixture for add and remove."""
    for relation in ("replace", "remove", "zero-out"):
        setting = Setting("without", relation, "gaussian", 1.0, 5, 1, 0.2, 1, 0.5)
        wrong = hs.Gaussian(sigma=1.0).poisson(rate=0.2).delta(0.5, neighbours=relation)
        assert wrong < true_delta(setting) <= setting.release.delta(0.5, neighbours=relation)


# passes


def test_a_pass_is_one_step():
    for by in ("shuffle", "position", "id"):
        run = GAUSSIAN.full_pass(by=by) * 5
        for relation in ("replace", "zero-out"):
            assert run.epsilon(1e-6, relation) == (GAUSSIAN * 5).epsilon(1e-6, relation)
            assert run.epsilon_bounds(1e-6, relation).tight is (by != "shuffle")
    assert (GAUSSIAN.full_pass(by="id") * 5).epsilon(1e-6) == (GAUSSIAN * 5).epsilon(1e-6)


@pytest.mark.parametrize("by", ["shuffle", "position"])
@pytest.mark.parametrize("relation", ["add-or-remove", "add", "remove"])
def test_a_pass_refuses_add_and_remove(by, relation):
    with pytest.raises(hs.Unsupported, match="zero-out"):
        GAUSSIAN.full_pass(by=by).epsilon(1e-6, neighbours=relation)


# refusals


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: GAUSSIAN.without_replacement(batch=11, examples=10), ["batch is 11", "with_replacement"]),
        (lambda: GAUSSIAN.without_replacement(batch=1, examples=0), ["examples", "0"]),
        (lambda: GAUSSIAN.with_replacement(draws=3, examples=1), ["examples is 1"]),
        (lambda: GAUSSIAN.full_pass(by="luck"), ["'luck'", "position"]),
        (lambda: GAUSSIAN.poisson(0.5).without_replacement(batch=1, examples=2), ["sample of a sample"]),
        (lambda: (GAUSSIAN + hs.Laplace(scale=1.0)).with_replacement(draws=1, examples=2), ["joint loss"]),
        (lambda: hs.Exponential(epsilon=1.0).with_replacement(draws=2, examples=9).delta(1.0), ["groups", "without replacement"]),
        (
            lambda: hs.Profile(lambda e: max(0.0, 0.5 - e)).poisson(rate=0.1).delta(1.0, neighbours="replace"),
            ["profiles", "add-or-remove"],
        ),
        (lambda: hs.GDP(mu=1.0, neighbours="replace").poisson(rate=0.1), ["add-or-remove"]),
    ],
)
def test_refusals_say_what_to_do(call, words):
    with pytest.raises((hs.BadValue, hs.Unsupported)) as raised:
        call()
    for word in words:
        assert word in str(raised.value)


def test_claims_for_replace_can_be_sampled_without_replacement():
    claim = hs.GDP(mu=1.0, neighbours="replace").without_replacement(batch=3, examples=100)
    noise = hs.Gaussian(sigma=2.0).without_replacement(batch=3, examples=100)
    for relation in ("remove", "add", "replace"):
        assert claim.delta(0.3, neighbours=relation) == pytest.approx(noise.delta(0.3, neighbours=relation), rel=1e-12)
    renyi = hs.ZCDP(rho=0.5, neighbours="replace").without_replacement(batch=3, examples=100)
    for relation in ("remove", "replace"):
        assert (renyi * 20).epsilon(1e-5, relation) >= (noise * 20).epsilon_bounds(1e-5, relation).lower


def test_replace_sensitivity_below_two():
    """The replacement is nearer than two removals: never above either of the two bounds, never below what is attained."""
    near = hs.Gaussian(sigma=1.0, replace_sensitivity=1.0).poisson(rate=0.1)
    far = hs.Gaussian(sigma=1.0).poisson(rate=0.1)
    for count in (1, 30):
        bounds = (near * count).epsilon_bounds(1e-6, neighbours="replace")
        assert (far * count).epsilon_bounds(1e-6, neighbours="remove").lower <= bounds.upper
        assert bounds.upper <= (far * count).epsilon(1e-6, neighbours="replace")
        assert bounds.lower <= bounds.upper


# dpsgd


def test_dpsgd_of_every_sampler():
    numbers = {"examples": 60_000, "batch": 256, "sigma": 1.1, "epochs": 15}
    step = hs.Gaussian(sigma=1.1)
    assert hs.dpsgd(**numbers, sampler="without-replacement") == step.without_replacement(batch=256, examples=60_000) * 3516
    assert hs.dpsgd(**numbers, sampler="with-replacement") == step.with_replacement(draws=256, examples=60_000) * 3516
    run = hs.dpsgd(**numbers, sampler="shuffle", neighbours="replace")
    assert run.parts == ((step.full_pass(by="shuffle"), 15),)
    assert run.epsilon(1e-5) == (step * 15).epsilon(1e-5, neighbours="replace")
    assert run.epsilon(1e-5, neighbours="zero-out") == (step * 15).epsilon(1e-5)
    steps = hs.dpsgd(examples=1000, batch=300, sigma=1.0, steps=7, sampler="cyclic", neighbours="replace")
    assert steps.parts[0][1] == 3  # three batches of 300 to a pass at least
    assert hs.dpsgd(examples=1000, batch=300, sigma=1.0, steps=7, sampler="hashed").parts[0][1] == 3


def test_dpsgd_keeps_its_relation():
    first = hs.dpsgd(rate=0.01, sigma=1.0, steps=10, sampler="poisson", neighbours="replace")
    second = hs.dpsgd(rate=0.02, sigma=2.0, steps=10, sampler="poisson", neighbours="replace")
    plain = hs.Gaussian(sigma=1.0).poisson(rate=0.01) * 10
    assert first.epsilon(1e-6) == plain.epsilon(1e-6, neighbours="replace") != plain.epsilon(1e-6)
    assert first.epsilon(1e-6, neighbours="add-or-remove") == plain.epsilon(1e-6)
    assert first != plain
    both = first + second
    assert both.stated == "replace"
    assert first.statement.splitlines()[0] in both.statement
    assert second.statement.splitlines()[1] in both.statement
    assert (hs.Laplace(scale=1.0) + first).stated == hs.compose([hs.Laplace(scale=1.0), first]).stated == "replace"
    assert sum([first, second]).stated == "replace"
    with pytest.raises(hs.BadValue, match="one relation"):
        first + hs.dpsgd(rate=0.01, sigma=1.0, steps=10, sampler="poisson")
    again = hs.from_json(first.to_json())
    assert (again, again.statement) == (first, first.statement)


def test_dpsgd_accumulation_is_one_larger_batch():
    run = hs.dpsgd(examples=60_000, batch=64, accumulation=4, sigma=1.1, epochs=15, sampler="poisson")
    assert run == hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=15, sampler="poisson")
    assert "Accumulation: 4" in run.statement


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"sampler": "shuffle", "examples": 10, "batch": 2, "epochs": 1}, hs.Unsupported, ["zero-out", "replace"]),
        ({"sampler": "without-replacement", "rate": 0.1, "steps": 1}, hs.BadValue, ["fixed size", "examples and batch"]),
        ({"sampler": "without-replacement", "examples": 10, "batch": 11, "steps": 1}, hs.BadValue, ["11", "10"]),
        ({"sampler": "poisson", "examples": 10, "batch": 6, "accumulation": 2, "steps": 1}, hs.BadValue, ["12", "10"]),
        ({"sampler": "poisson", "rate": 0.6, "accumulation": 2, "steps": 1}, hs.BadValue, ["1.2", "accumulation"]),
        ({"sampler": "truncated-poisson", "rate": 0.1, "steps": 1}, hs.Unsupported, ["truncated-poisson", "poisson"]),
        ({"sampler": "balls-in-bins", "rate": 0.1, "steps": 1}, hs.Unsupported, ["balls-in-bins", "shuffle"]),
        ({"sampler": "poisson", "rate": 0.1, "steps": 1, "neighbours": "swap"}, hs.BadValue, ["swap"]),
        ({"sampler": "poisson", "rate": 0.1, "steps": 1, "accumulation": 0}, hs.BadValue, ["accumulation"]),
    ],
)
def test_dpsgd_refuses_what_does_not_fit(given, error, words):
    with pytest.raises(error) as raised:
        hs.dpsgd(sigma=1.0, **given)
    for word in words:
        assert word in str(raised.value)


# the page


def test_the_table_is_what_the_code_says():
    page = (ROOT / "docs" / "sampling.md").read_text(encoding="utf-8")
    assert page.split("<!-- table -->\n")[1].split("\n<!-- end -->")[0] == support.table()


def test_the_examples_of_the_page():
    failed, tried = doctest.testfile(str(ROOT / "docs" / "sampling.md"), module_relative=False)
    assert tried > 8
    assert failed == 0


# groups


def test_a_group_of_one_changes_nothing():
    for run in (GAUSSIAN, GAUSSIAN.poisson(rate=0.1) * 5, hs.PureDP(epsilon=0.1) * 3):
        assert run.group(size=1) is run


@pytest.mark.parametrize("relation", ["remove", "replace"])
def test_groups_under_poisson_sampling(relation):
    """One step, against a sum over how many of the group are drawn."""
    mp.dps = 30
    size, rate, sigma, epsilon = 3, mpf("0.125"), mpf("1.5"), mpf("0.6")
    weights = [mp.binomial(size, k) * rate**k * (1 - rate) ** (size - k) for k in range(size + 1)]
    run = hs.Gaussian(sigma=1.5).poisson(rate=0.125).group(size=size)

    def density(y, sign):
        return mp.fsum(w * mp.npdf(y - sign * k / sigma) for k, w in enumerate(weights))

    def tail(y, sign):
        return mp.fsum(w * mp.ncdf(sign * k / sigma - y) for k, w in enumerate(weights))

    other = -1 if relation == "replace" else 0
    y = mp.findroot(lambda y: mp.log(density(y, 1) / density(y, other)) - epsilon, 1.0)
    truth = tail(y, 1) - mp.exp(epsilon) * tail(y, other)
    bounds = run.delta_bounds(float(epsilon), neighbours=relation)
    assert bounds.lower <= truth * (1 + mpf("1e-12"))
    assert truth <= bounds.upper * (1 + mpf("1e-12"))
    assert bounds.tight
    assert bounds.width < 1e-9


@pytest.mark.parametrize("relation", ["add-or-remove", "replace", "zero-out"])
def test_groups_are_never_weaker_than_the_generic_bound(relation):
    for run in (GAUSSIAN.poisson(rate=0.05) * 20, hs.Laplace(scale=3.0) * 4, GAUSSIAN * 3):
        generic = GroupedRun(run, 3)
        tight = run.group(size=3)
        assert not isinstance(tight, GroupedRun)
        assert tight.delta(1.5, relation) <= generic.delta(1.5, relation)
        assert tight.epsilon(1e-5, relation) <= generic.epsilon(1e-5, relation)


def test_groups_elsewhere():
    run = hs.PureDP(epsilon=0.1) * 10
    assert GAUSSIAN.without_replacement(batch=3, examples=100).group(size=2).delta(1.0) > 0.0
    group = run.group(size=2)
    wanted = hs.conversion.group_approx(0.5, run.delta(0.5), 2)
    assert group.delta(wanted[0]) == pytest.approx(wanted[1], rel=1e-12)
    epsilon = group.epsilon(1e-4)
    assert group.delta(epsilon) <= 1e-4
    assert hs.from_json(group.to_json()) == group
    for call in (lambda: group + GAUSSIAN, lambda: GAUSSIAN + group, lambda: group * 2, lambda: group.rdp(2.0)):
        with pytest.raises(hs.Unsupported, match="whole run"):
            call()
    assert group.epsilon([1e-4, 1e-3])[1] < epsilon


def test_groups_of_a_pair():
    """Two records of {-C, 0, C}, removed together from small data sets under Poisson sampling: no violation."""
    table = outputs("gaussian", 1.2)
    run = hs.Gaussian(sigma=1.2).poisson(rate=0.3).group(size=2)
    for epsilon in (0.0, 0.5, 1.5):
        bound = run.delta(epsilon, neighbours="remove")
        for others in itertools.product((-1, 0, 1), repeat=2):
            for pair in itertools.product((-1, 0, 1), repeat=2):
                with_them, without = (
                    sum(p * table[s + REACH] for s, p in sums("poisson", data, 1, 0.3)) for data in ((*others, *pair), others)
                )
                assert np.maximum(with_them - math.exp(epsilon) * without, 0.0).sum() <= bound + 1e-12


def test_hardly_any_noise_and_hardly_any_sample():
    run = hs.Gaussian(sigma=0.003468730778854009).poisson(rate=7.79447127313016e-08) * 5
    bounds = run.epsilon_bounds(3.363517280052557e-08, neighbours="zero-out")
    assert 0.0 <= bounds.lower <= bounds.upper


def test_what_is_made_of_a_stated_run_keeps_its_relation():
    run = hs.dpsgd(examples=6000, batch=60, sigma=2.0, steps=50, sampler="poisson", neighbours="replace")
    fixed = hs.dpsgd(examples=6000, batch=60, sigma=2.0, steps=50, sampler="without-replacement", neighbours="replace")
    whole = hs.dpsgd(examples=6000, batch=60, sigma=9.0, epochs=2, sampler="shuffle", neighbours="replace")
    other = hs.Gaussian(sigma=9.0)
    made = (whole + other, other + whole, hs.compose([other, whole]), whole * 2, whole.group(2), run * 2, fixed.group(2))
    for one in made:
        assert one.stated == "replace"
    for one in made[:5]:
        assert one.epsilon(1e-6) == one.epsilon(1e-6, neighbours="replace")
    for question in ("mu", "regret"):
        assert getattr(whole, question)(delta=1e-4) == getattr(whole, question)(delta=1e-4, neighbours="replace")
    assert whole.tpr(1e-3) == whole.tpr(1e-3, neighbours="replace")
    assert whole.bayes_risk(0.5) == whole.bayes_risk(0.5, neighbours="replace")
    assert hs.rounds(whole, epsilon=2.0, delta=1e-5) == hs.rounds(whole, epsilon=2.0, delta=1e-5, neighbours="replace")
    with pytest.raises(hs.BadValue, match="stated for neighbours='replace'"):
        hs.RDPAccountant().compose(run)


@pytest.mark.parametrize("scheme", ["without", "with"])
def test_zeroing_out_what_moves_farther_than_a_replacement(scheme):
    """All records contribute C, and one is zeroed out: a batch with it moves by C, however near two records are."""
    step = hs.Gaussian(sigma=1.0, sensitivity=1.0, replace_sensitivity=0.1)
    step = step.without_replacement(batch=5, examples=10) if scheme == "without" else step.with_replacement(draws=5, examples=10)
    mp.dps = 30
    epsilon = mpf("0.5")
    # without replacement: N(0) against half of it and half of N(-1), the batches of the others
    share = mpf(1) / 2 if scheme == "without" else None
    bounds = step.delta_bounds(0.5, neighbours="zero-out")
    if share is not None:
        y = mp.findroot(lambda y: mp.log(1 - share + share * mp.exp(y - mpf(1) / 2)) - epsilon, 1.0)
        truth = (1 - share) * mp.ncdf(-y) + share * mp.ncdf(1 - y) - mp.exp(epsilon) * mp.ncdf(-y)
        assert truth <= bounds.upper * (1 + mpf("1e-12"))
    assert bounds.upper > 0.0799
    for other in (
        hs.Laplace(scale=1.0, replace_sensitivity=0.1),
        hs.DiscreteLaplace(scale=1.0, sensitivity=10, replace_sensitivity=1),
        hs.DiscreteGaussian(sigma=1.0, sensitivity=10, replace_sensitivity=1),
    ):
        drawn = other.without_replacement(batch=5, examples=10)
        assert drawn.delta(0.5, neighbours="zero-out") >= other.poisson(rate=0.5).delta_bounds(0.5, neighbours="zero-out").lower


def test_lower_ends_of_what_nothing_is_known_to_attain():
    claims = hs.Profile.from_claims([(1.0, 0.0)])
    same = hs.PureDP(epsilon=1.0)
    for steps, epsilon in ((1, 0.0), (3, 1.0)):
        bounds = (claims * steps).delta_bounds(epsilon, neighbours="replace")
        assert bounds.lower <= (same * steps).delta_bounds(epsilon, neighbours="replace").upper <= bounds.upper
        assert not bounds.tight
    for drawn, other in ((claims.poisson(rate=0.3), same.poisson(rate=0.3)),):
        assert drawn.delta_bounds(0.1, neighbours="replace").lower <= other.delta(0.1, neighbours="replace")
    response = hs.RandomizedResponse(epsilon=1.0, null="uniform")
    truth = response.delta_bounds(0.1, neighbours="zero-out")
    for release in (
        *(hs.Shuffled(response, count=count) for count in (1, 2, 3)),
        response.poisson(rate=0.999),
        response.without_replacement(batch=9, examples=10),
    ):
        assert release.delta_bounds(0.1, neighbours="zero-out").lower <= truth.upper
    mixture = hs.GaussianMixture(sigma=3.0, moves=(0, 1, 3), weights=(0.5, 0.3, 0.2))
    inside = hs.GaussianMixture(sigma=3.0, moves=(0, 1, 3), weights=(0.95, 0.03, 0.02))  # the same coin
    bounds = mixture.poisson(rate=0.1).delta_bounds(1.55, neighbours="replace")
    assert bounds.lower <= inside.delta(1.55, neighbours="replace") <= bounds.upper
    for release in (mixture.poisson(rate=0.9), mixture.without_replacement(batch=9, examples=10)):
        bounds = release.delta_bounds(0.0, neighbours="zero-out")
        assert bounds.lower <= 0.9 * mixture.delta(0.0, neighbours="zero-out")
        assert bounds.upper <= mixture.delta(0.0, neighbours="zero-out")


def test_groups_of_different_sizes_do_not_join():
    a, b = (hs.dpsgd(rate=0.01, sigma=sigma, steps=100, sampler="poisson") for sigma in (1.1, 1.5))
    for join in (lambda: a.group(3) + b, lambda: a.group(3) + b.group(5), lambda: b.run + a.run.group(2)):
        with pytest.raises(hs.BadValue, match="one size"):
            join()
    assert "For groups of 3 records." in (a + b).group(3).statement


def test_joined_phases_are_told_one_by_one():
    a, b = (hs.dpsgd(rate=0.01, sigma=sigma, steps=100, sampler="poisson") for sigma in (1.1, 1.5))
    assert (a + a).statement.count("100 steps, as given.") == 2
    told = (a * 2 + b).notes
    assert [note for note in told if note.startswith("Phase")] == ["Phase 1:", "Phase 2:"]
    assert told.index("All of this 2 times.") < told.index("Phase 2:")
    assert told[-1].startswith("Neighbours:")
    assert ((a + b) * 2).statement.count("All of this 2 times.") == 2
    assert (a + hs.compose([])).notes == a.notes
    assert hs.from_json((a + b).to_json()).statement == (a + b).statement
    assert (a + b).parts == (b + a).parts[::-1]


def test_zeroing_out_several_parts_of_which_one_is_a_claim():
    """To leave the claim out is post-processing: what is left moves by C, however near two records are."""
    step = hs.Gaussian(sigma=1.0, replace_sensitivity=0.1) + hs.GDP(mu=0.01)
    truth = hs.Gaussian(sigma=1.0).poisson(rate=0.5).delta_bounds(0.5, neighbours="zero-out").lower
    for drawn in (
        step.poisson(rate=0.5),
        step.without_replacement(batch=5, examples=10),
        step.with_replacement(draws=5, examples=10),
    ):
        assert drawn.delta(0.5, neighbours="zero-out") >= truth


def test_groups_leave_enough_records_for_a_batch():
    run = hs.Gaussian(sigma=1.0).without_replacement(batch=9, examples=10).group(2)
    with pytest.raises(hs.Unsupported, match="8 records are left"):
        run.delta(0.5)
    assert 0.0 < run.delta(0.5, neighbours="replace") <= 1.0


def test_lower_ends_of_groups_and_of_several_parts():
    for step in (hs.GaussianMixture(sigma=1.0, moves=(1.0,), weights=(1.0,)), hs.Gaussian(sigma=1.0) + hs.GDP(mu=0.01)):
        bounds = step.poisson(rate=0.5).group(2).delta_bounds(0.5, neighbours="zero-out")
        assert bounds.lower <= 0.2465 <= bounds.upper
        assert not bounds.tight
    both = hs.Gaussian(sigma=1.0, replace_sensitivity=0.5) + hs.Gaussian(sigma=1.0, sensitivity=0.5)
    assert both.poisson(rate=0.5).delta_bounds(2.0, neighbours="replace").lower <= 0.0039


@pytest.mark.parametrize("rho", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("batch", [1, 20, 50, 90, 99])
def test_a_renyi_claim_in_a_batch_of_fixed_size(rho, batch):
    """Never above the claim itself, and never below two mixtures of Gaussian noise that obey it."""
    whole = hs.ZCDP(rho=rho, neighbours="replace")
    step = whole.without_replacement(batch=batch, examples=100)
    for count in (1, 30):
        assert (step * count).epsilon(1e-6, neighbours="replace") <= (whole * count).epsilon(1e-6, neighbours="replace")
    rate, far, z = batch / 100, math.sqrt(2.0 * rho), np.linspace(-30.0, 30.0, 120_001)

    def density(place):
        return np.exp(-0.5 * (z - place) ** 2) / math.sqrt(2.0 * math.pi)

    for ends in ((far, 0.0), (0.0, far), (0.5 * far, -0.5 * far)):
        one, two = ((1.0 - rate) * density(0.0) + rate * density(end) for end in ends)
        for order in (1.5, 2.0, 4.0, 8.0):
            true = math.log(float((one * (one / two) ** (order - 1.0)).sum()) * (z[1] - z[0])) / (order - 1.0)
            assert true <= step.rdp(order, neighbours="replace") * (1.0 + 1e-12)
