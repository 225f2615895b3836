"""Losses that take finitely many values: listed, smeared, large ones apart; against exact laws of few steps, and the lattice."""

import itertools
import math
import random
from fractions import Fraction

import pytest
from flint import arb, ctx
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.loss.bigjump.atoms import large_epsilon, large_log_delta
from hockeystick.loss.composed import composed
from hockeystick.loss.enumeration.meet_in_middle import listed_epsilon, listed_log_delta
from hockeystick.loss.invert import ends
from hockeystick.loss.lattice.refine import lattice_epsilon
from hockeystick.loss.pairs.discrete import ListedLoss
from hockeystick.loss.protocol import Inconclusive
from hockeystick.loss.smoothing import smeared_epsilon, smeared_log_delta

SLACK = 1e-15


def listed(rng: random.Random, atoms: int, infinite: float = 0.0) -> tuple[ListedLoss, list[tuple[mpf, mpf]]]:
    """A loss of so many values on no lattice, and the same as (log ratio, mass) under P, to forty digits."""
    p = [rng.uniform(0.1, 1.0) for _ in range(atoms)]
    q = [rng.uniform(0.1, 1.0) for _ in range(atoms)]
    mp.dps = 40
    p = [mpf(x) / sum(map(mpf, p)) * (1 - mpf(infinite)) for x in p]
    q = [mpf(x) / sum(map(mpf, q)) for x in q]
    exact = [(mp.log(x / y), x) for x, y in zip(p, q, strict=True)]
    values = tuple(sorted((float(z), float(mp.log(x)), float(mp.log(x) - z)) for z, x in exact))
    return ListedLoss(values, infinite=Fraction(infinite)), exact


def exact_delta(exact: list[tuple[mpf, mpf]], steps: int, epsilon: float) -> mpf:
    """The finite part of delta, summed over how often each value comes."""
    total = mpf(0)
    for counts in itertools.product(range(steps + 1), repeat=len(exact) - 1):
        rest = steps - sum(counts)
        if rest < 0:
            continue
        often = (*counts, rest)
        z = sum(n * value for n, (value, _) in zip(often, exact, strict=True))
        if z > epsilon:
            ways = math.factorial(steps) // math.prod(math.factorial(n) for n in often)
            mass = mp.fprod(p**n for n, (_, p) in zip(often, exact, strict=True))
            total += ways * mass * (1 - mp.exp(epsilon - z))
    return total


@pytest.mark.parametrize("seed", range(60))
def test_delta_of_a_few_steps_lies_within(seed: int) -> None:
    rng = random.Random(seed)
    loss, exact = listed(rng, rng.choice((2, 3, 4)), rng.choice((0.0, 0.0, 0.01)))
    steps = rng.randint(1, 12)
    run = composed([(loss, steps)])
    for _ in range(6):
        near = sum(rng.choice(exact)[0] for _ in range(steps))  # at a value, or somewhere
        epsilon = float(near) if rng.random() < 0.4 else rng.uniform(0.02, 1.0) * run.ceiling
        if not epsilon > 0.0:
            continue
        truth = exact_delta(exact, steps, epsilon)
        try:
            low, high = smeared_log_delta(run, epsilon)
        except Inconclusive:
            continue
        assert mp.exp(mpf(low)) <= truth <= mp.exp(mpf(high)), (epsilon, low, high, truth)
        if not truth:
            continue
        try:
            found = smeared_epsilon(run, math.log(truth), 1e-14 * abs(math.log(truth)))
        except Inconclusive:
            continue
        assert found[0] <= epsilon <= found[1]


@pytest.mark.parametrize("seed", range(40))
def test_sums_that_are_listed(seed: int) -> None:
    rng = random.Random(seed)
    loss, exact = listed(rng, rng.choice((2, 3, 4)), rng.choice((0.0, 0.01)))
    steps = rng.randint(1, 14)
    run = composed([(loss, steps)])
    for _ in range(5):
        near = sum(rng.choice(exact)[0] for _ in range(steps))
        epsilon = float(near) if rng.random() < 0.4 else rng.uniform(-0.5, 1.0) * run.ceiling
        truth = exact_delta(exact, steps, epsilon)
        if not truth > 1e-12:
            continue
        low, high = listed_log_delta(run, epsilon)
        assert mp.exp(mpf(low)) <= truth <= mp.exp(mpf(high))
        assert high - low < 1e-9
        if epsilon > 0.0:
            found = listed_epsilon(run, math.log(truth), 1e-14 * abs(math.log(truth)))
            assert found[0] <= epsilon <= found[1]
            assert found[1] - found[0] < 1e-9


@pytest.mark.parametrize(("sigma", "steps"), [(1.0, 10), (2.0, 5), (3.3, 5), (6.0, 4)])
def test_delta_at_zero_where_sums_cancel_is_exact(sigma: float, steps: int) -> None:
    """Of replaced discrete noise many sums are 0 but for rounding."""
    run = hs.DiscreteGaussian(sigma=sigma).poisson(rate=0.3) * steps
    bounds = run.delta_bounds(0.0, neighbours="replace")
    assert bounds.tight
    assert 0.0 < bounds.width < 1e-10


def test_different_losses_are_listed_together() -> None:
    one, first = listed(random.Random(1), 3)
    two, second = listed(random.Random(2), 2)
    run = composed([(one, 3), (two, 2)])
    total = mpf(0)
    for picks in itertools.product(*([first] * 3 + [second] * 2)):
        z, mass = sum(z for z, _ in picks), mp.fprod(p for _, p in picks)
        if z > 0.3:
            total += mass * (1 - mp.exp(mpf(0.3) - z))
    low, high = listed_log_delta(run, 0.3)
    assert mp.exp(mpf(low)) <= total <= mp.exp(mpf(high))
    assert high - low < 1e-9


def tosses(epsilon: float, infinite: float, rate: float, order: str) -> list[tuple[arb, arb]]:
    """(loss, mass under P) of each finite value of a claim's worst pair in a Poisson sample."""
    grown, lost, q = arb(epsilon).exp(), arb(infinite), arb(rate)
    yes, no = (1 - lost) * grown / (1 + grown), (1 - lost) / (1 + grown)  # under P, and exchanged under Q
    mixed = [(q * p + (1 - q) * other, other) for p, other in ((yes, no), (no, yes))]
    pairs = mixed if order == "remove" else [(other, p) for p, other in mixed]
    return [((p / other).log(), p) for p, other in pairs]


@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize(
    ("epsilon", "infinite", "rate", "steps", "delta"),
    [
        (0.2, 0.0, 0.01, 20000, 1e-7),
        (0.01, 0.0, 1.0, 5000, 1e-3),
        (1.0, 0.0, 2e-4, 30000, 1e-60),
        (3.0, 0.0, 1e-3, 100, 1e-12),
        (0.3, 1e-9, 1.0, 300, 1e-5),
    ],
)
def test_many_steps_of_two_values_against_the_binomial_sum(epsilon, infinite, rate, steps, delta, order) -> None:
    """In ball arithmetic; the interval is as narrow as on a native lattice it shall be."""
    claim = hs.ApproxDP(epsilon, infinite) if infinite else hs.PureDP(epsilon)
    found = (claim.poisson(rate=rate) * steps).epsilon_bounds(delta=delta, neighbours=order)
    assert found.width <= 1e-9 * found.upper + 1e-12
    old, ctx.prec = ctx.prec, 300
    try:
        (up, p), (down, q) = tosses(epsilon, infinite, rate, order)
        if up < down:
            (up, p), (down, q) = (down, q), (up, p)
        ratio, mass, total = p / q, q**steps, {end: arb(0) for end in (found.lower, found.upper)}
        for heads in range(steps + 1):
            loss = heads * up + (steps - heads) * down
            for end in total:
                if loss > end:
                    total[end] += mass * (1 - (arb(end) - loss).exp())
            mass *= ratio * (steps - heads) / (heads + 1)
        beyond = 1 - (1 - arb(infinite)) ** steps if order == "remove" or rate == 1.0 else arb(0)
        assert total[found.lower] + beyond >= delta >= total[found.upper] + beyond
    finally:
        ctx.prec = old


@pytest.mark.parametrize("steps", [2, 3, 5])
@pytest.mark.parametrize("order", ["remove", "add", "replace"])
@pytest.mark.parametrize(
    "step",
    [
        hs.Gaussian(sigma=1.0).poisson(rate=0.3),
        hs.Laplace(scale=1.0).poisson(rate=0.3),
        hs.DiscreteGaussian(sigma=1.0).poisson(rate=0.3),
        hs.DiscreteLaplace(scale=1.0).poisson(rate=0.3),
        hs.Laplace(scale=1.0),
    ],
)
def test_delta_of_few_steps_to_nine_digits(step: hs.Gaussian, order: str, steps: int) -> None:
    """Where a result is called exact; the truth lies inside."""
    bounds = (step * steps).delta_bounds(0.3, neighbours=order)
    assert bounds.width < 1e-9


def drawn(rng: random.Random) -> tuple[hs.RandomizedResponse, float, list[tuple[mpf, mpf]]]:
    """Sparsely sampled randomised response, and the values of a removal as above."""
    epsilon, categories, rate = rng.uniform(0.3, 3.0), rng.choice((3, 4, 7)), 10.0 ** rng.uniform(-4, -1)
    mp.dps = 40
    yes, q = mp.exp(mpf(epsilon)), mpf(rate)
    total = yes + categories - 1
    exact = []
    for p_mass, q_mass in ((yes / total, 1 / total), (1 / total, yes / total), ((categories - 2) / total,) * 2):
        mixed = (1 - q) * q_mass + q * p_mass
        exact.append((mp.log(mixed / q_mass), mixed))
    return hs.RandomizedResponse(epsilon=epsilon, categories=categories), rate, exact


@pytest.mark.parametrize("seed", range(40))
def test_large_values_counted_apart_are_right(seed: int) -> None:
    rng = random.Random(seed)
    response, rate, exact = drawn(rng)
    steps = rng.choice((1, 2, 5, 20, 60))
    run = (response.poisson(rate=rate) * steps)._run("remove")
    most = max(z for z, _ in exact)
    for _ in range(5):
        epsilon = float(most) * rng.choice((0.05, 0.3, 0.9, 1.0, 1.3, 1.999)) * (1.0 + rng.choice((0.0, 1e-9, -1e-9)))
        truth = exact_delta(exact, steps, epsilon)
        if not truth > 1e-200:
            continue
        try:
            low, high = large_log_delta(run, epsilon)
        except Inconclusive:
            continue
        assert mp.exp(mpf(low)) <= truth <= mp.exp(mpf(high)), (epsilon, low, high, truth)
        try:
            found = large_epsilon(run, math.log(truth), 1e-14 * abs(math.log(truth)))
        except Inconclusive:
            continue
        assert found[0] <= epsilon <= found[1]


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [
        (1.4218, 3.85e-4, 4373, 1.2e-13),
        (1.672, 6.5e-4, 1139, 1.4e-16),
        (0.8748, 1.6e-4, 5978, 6.9e-9),
        (19.65, 5e-4, 7368, 1e-60),
    ],
)
def test_large_values_apart_and_the_lattice_agree(sigma: float, rate: float, steps: int, delta: float) -> None:
    run = (hs.DiscreteGaussian(sigma=sigma).poisson(rate=rate) * steps)._run("remove")
    low, high = large_epsilon(run, math.log(delta), SLACK)
    other = lattice_epsilon(run, math.log(delta), SLACK)
    assert max(low, other[0]) <= min(high, other[1])
    assert high - low < 5e-6 * high


def test_it_answers_most_of_them() -> None:
    """Or the test above would say nothing."""
    answered = 0
    for seed in range(40):
        loss, _ = listed(random.Random(seed), 4)
        run = composed([(loss, 200)])
        low, high = smeared_epsilon(run, math.log(1e-5), SLACK)
        answered += high - low < 1e-6 * high
    assert answered >= 36


@pytest.mark.parametrize(
    "step",
    [
        hs.DiscreteGaussian(sigma=1.0).poisson(rate=0.1),
        hs.DiscreteGaussian(sigma=4.0, sensitivity=3).poisson(rate=0.02),
        hs.DiscreteLaplace(scale=2.0).poisson(rate=0.05),
        hs.RandomizedResponse(epsilon=1.0, categories=5).poisson(rate=0.1),
        hs.ApproxDP(epsilon=0.5, delta=1e-9).poisson(rate=0.3),
    ],
)
@pytest.mark.parametrize("order", ["remove", "add"])
@pytest.mark.parametrize("delta", [1e-3, 1e-9])
def test_the_lattice_agrees(step: hs.Gaussian, order: str, delta: float) -> None:
    run = (step * 300)._run(order)
    low, high = smeared_epsilon(run, math.log(delta), SLACK)
    other = lattice_epsilon(run, math.log(delta), SLACK)
    assert max(low, other[0]) <= min(high, other[1])
    assert high - low < 2e-6 * high


@pytest.mark.parametrize(
    ("step", "steps", "delta"),
    [
        (hs.DiscreteGaussian(sigma=2.4877273944535925, sensitivity=5).poisson(rate=0.00086655304214025), 59871, 1.17e-21),
        (hs.DiscreteGaussian(sigma=0.7151769404337159).poisson(rate=0.0009241156710848768), 143936, 2.58e-50),
        (hs.DiscreteGaussian(sigma=0.9092021528109812, sensitivity=5).poisson(rate=0.3019129668341936), 155483, 1.14e-26),
        (hs.DiscreteLaplace(scale=7.206093915306769, sensitivity=3).poisson(rate=0.4920232642985284), 511757, 9.67e-6),
        (hs.RandomizedResponse(epsilon=0.0158, categories=10).poisson(rate=0.00013903), 281889, 1.66e-6),
        (hs.RandomizedResponse(epsilon=0.0776314347836809).poisson(rate=0.0008010167095357711), 35, 2.15e-5),
    ],
)
def test_sampled_discrete_noise_is_narrow(step: hs.Gaussian, steps: int, delta: float) -> None:
    """What a lattice leaves 1e-5 to 1 wide."""
    bounds = (step * steps).epsilon_bounds(delta)
    assert bounds.width < 1e-6 * bounds.upper + 1e-9


def test_a_proof_that_does_not_fall_proves_nothing() -> None:
    """A search may be led astray where delta hardly depends on epsilon; it must not come back with an end."""

    class Flat:
        def estimate(self, epsilon: float) -> tuple[float, float]:
            return -1.0, 0.5

        def lower(self, epsilon: float) -> float:
            return -2.0

        upper = lower

    assert ends(Flat(), -1.5, 0.0, 1.0) == (-math.inf, math.inf)


def opposed(forms: list[tuple[mpf, mpf, mpf]], rate: float) -> list[tuple[mpf, mpf]]:
    """Sampled noise moved either way, as (log ratio, mass): from the masses of the noise moved forth, at rest and moved back."""
    q = mpf(rate)
    return [
        (mp.log(((1 - q) * rest + q * forth) / ((1 - q) * rest + q * back)), (1 - q) * rest + q * forth)
        for forth, rest, back in forms
    ]


def laplace_moved(scale: float, move: int) -> list[tuple[mpf, mpf, mpf]]:
    """Discrete Laplace noise from -move to move, all that lies beyond at the ends."""
    mp.dps = 60
    fall = 1 / mpf(scale)
    unit = (1 - mp.exp(-fall)) / (1 + mp.exp(-fall))

    def mass(y: int, centre: int) -> mpf:
        share = 1 / (1 + mp.exp(-fall)) if abs(y) == move else unit
        return share * mp.exp(-abs(y - centre) * fall)

    return [(mass(y, move), mass(y, 0), mass(y, -move)) for y in range(-move, move + 1)]


@pytest.mark.parametrize(
    ("scale", "move", "rate", "steps", "delta"),
    [(0.1, 5, 0.1, 3, 1e-6), (0.1, 5, 0.01, 1, 1e-9), (0.09, 5, 0.1, 2, 1e-6), (0.125, 6, 0.1, 4, 1e-8), (2.0, 3, 0.2, 4, 1e-3)],
)
def test_replaced_records_in_a_sample_with_little_discrete_noise(
    scale: float, move: int, rate: float, steps: int, delta: float
) -> None:
    """Where the difference of two logarithms once cancelled, and the error of small values was charged to large ones."""
    exact = opposed(laplace_moved(scale, move), rate)
    assert abs(sum(mass for _, mass in exact) - 1) < mpf("1e-50")
    bounds = (hs.DiscreteLaplace(scale=scale, sensitivity=move).poisson(rate=rate) * steps).epsilon_bounds(
        delta, neighbours="replace"
    )
    assert bounds.width < 1e-6 * bounds.upper

    def at(epsilon: float) -> mpf:
        law = {mpf(0): mpf(1)}
        for _ in range(steps):
            longer: dict[mpf, mpf] = {}
            for z, mass in law.items():
                for other, more in exact:
                    key = mp.mpf(mp.nstr(z + other, 40))
                    longer[key] = longer.get(key, mpf(0)) + mass * more
            law = longer
        return sum(mass * (1 - mp.exp(epsilon - z)) for z, mass in law.items() if z > epsilon)

    assert at(bounds.upper) <= mpf(delta) <= at(bounds.lower)


@pytest.mark.parametrize(("epsilon", "truth"), [(11.0, -1016.98889455725), (12.0, -1017.00784667279), (14.0, -1017.22275193758)])
def test_what_a_list_leaves_out_is_counted_however_small(epsilon: float, truth: float) -> None:
    run = hs.DiscreteGaussian(sigma=0.44).poisson(rate=1e-37) * 2
    bounds = run.log_delta_bounds(epsilon, neighbours="remove")
    assert bounds.lower <= truth <= bounds.upper


def test_a_contour_that_cannot_be_laid_is_no_crash() -> None:
    run = hs.ApproxDP(epsilon=0.5, delta=1e-43).poisson(rate=4e-6) * 3 + hs.Gaussian(sigma=28.0).poisson(rate=2e-4) * 29
    bounds = run.delta_bounds(0.0012, neighbours="replace")
    assert 0.0 <= bounds.lower <= bounds.upper < 1.0


@pytest.mark.parametrize("seed", range(25))
def test_epsilon_a_few_units_above_a_value(seed: int) -> None:
    """A value that is stored just below epsilon may lie above it in truth."""
    rng = random.Random(seed)
    response, rate, exact = drawn(rng)
    run = response.poisson(rate=rate)
    for z, _ in exact:
        for units in (-3, -1, 0, 1, 2, 3):
            epsilon = float(z) * (1.0 + units * 2.0**-52)
            bounds = run.delta_bounds(epsilon, neighbours="remove")
            assert mpf(bounds.lower) <= exact_delta(exact, 1, epsilon) <= mpf(bounds.upper)


@pytest.mark.parametrize("seed", range(25))
def test_the_largest_loss_from_both_sides(seed: int) -> None:
    response, rate, exact = drawn(random.Random(seed))
    bounds = response.poisson(rate=rate).epsilon_bounds(0.0, neighbours="remove")
    assert mpf(bounds.lower) <= max(z for z, _ in exact) <= mpf(bounds.upper)


def test_the_largest_loss_of_a_rare_sample() -> None:
    """log q + epsilon is rounded where both are large."""
    bounds = (
        hs.RandomizedResponse(epsilon=600.0, categories=3)
        .poisson(rate=3.4471245580918845e-262)
        .epsilon_bounds(0.0, neighbours="remove")
    )
    mp.dps = 60
    truth = mp.log1p(mpf(3.4471245580918845e-262) * mp.expm1(mpf(600)))
    assert mpf(bounds.lower) <= truth <= mpf(bounds.upper)


def test_just_below_the_largest_sum_of_large_losses() -> None:
    run = hs.DiscreteLaplace(scale=0.0036).poisson(rate=0.0037) * 2
    bounds = run.delta_bounds(544.3567106368753, neighbours="remove")
    assert bounds.lower <= 2.2419810844274808e-16 <= bounds.upper


@pytest.mark.parametrize("order", [1.5, 3.0, 40.0, 1e3, 1e5])
@pytest.mark.parametrize("delta", [0.0, 1e-17, 1e-6, 0.2])
@pytest.mark.parametrize("rate", [0.01, 0.126, 0.9])
def test_renyi_divergence_of_an_added_record_counts_what_only_the_other_output_has(
    rate: float, delta: float, order: float
) -> None:
    """An addition to a sample of an approximate claim has no infinite loss: what was infinite is -log(1 - rate)."""
    run = (hs.ApproxDP(epsilon=0.0165, delta=delta) if delta else hs.PureDP(epsilon=0.0165)).poisson(rate=rate)
    mp.dps = 40
    share, claimed = mp.exp(mpf(0.0165)) / (1 + mp.exp(mpf(0.0165))), mpf(delta)
    without = [claimed, mpf(0), (1 - claimed) * share, (1 - claimed) * (1 - share)]
    present = [mpf(0), claimed, (1 - claimed) * (1 - share), (1 - claimed) * share]
    mixed = [(1 - mpf(rate)) * q + mpf(rate) * p for q, p in zip(without, present, strict=True)]
    moment = sum(q**order * m ** (1 - order) for q, m in zip(without, mixed, strict=True) if q)
    truth = mp.log(moment) / (order - 1)
    assert truth <= mpf(run.rdp(order, neighbours="add")) <= truth * (1 + mpf(1e-6)) + mpf(1e-12)


def test_an_upper_end_from_the_best_order_of_an_added_record() -> None:
    run = (
        hs.DiscreteGaussian(sigma=0.5513379240547672, sensitivity=4).poisson(rate=0.0005562445724969443) * 5
        + hs.PureDP(epsilon=0.929511997504036).poisson(rate=0.7936157959310388) * 13
        + hs.ApproxDP(epsilon=0.016494289956527495, delta=3.097866545422453e-17).poisson(rate=0.12648544278153656) * 8
    )
    bounds = run.epsilon_bounds(1.1127974869556412e-33, neighbours="add")
    assert run.delta_bounds(bounds.upper, neighbours="add").lower <= 1.1127974869556412e-33


def test_delta_near_the_largest_loss_from_epsilons() -> None:
    run = hs.Gaussian(sigma=5.0).with_replacement(draws=2, examples=2) + hs.Laplace(scale=5.0).poisson(rate=0.2)
    bounds = run.log_delta_bounds(1.38, neighbours="add")
    assert bounds.width < 0.01
    assert run.epsilon_bounds(math.exp(bounds.lower), neighbours="add").upper >= 1.38
    assert run.epsilon_bounds(math.exp(bounds.upper), neighbours="add").lower <= 1.38


@pytest.mark.parametrize("delta", [1e-40, 1e-200])
def test_sums_of_more_steps_are_listed_where_all_else_fails(delta: float) -> None:
    """Three values, one of them of mass 1e-30: too rare for a lattice, too many steps to be listed at once."""
    steps, rate, claimed = 60, mpf(0.2), mpf(1e-30)
    mp.dps = 80
    share = mp.exp(mpf(0.3)) / (1 + mp.exp(mpf(0.3)))
    without = [claimed, (1 - claimed) * share, (1 - claimed) * (1 - share)]
    mixed = [(1 - rate) * q + rate * p for q, p in zip(without, [0, without[2], without[1]], strict=True)]
    exact = [(mp.log(q / m), q) for q, m in zip(without, mixed, strict=True)]
    bounds = (hs.ApproxDP(epsilon=0.3, delta=1e-30).poisson(rate=0.2) * steps).epsilon_bounds(delta, neighbours="add")
    assert exact_delta(exact, steps, mpf(bounds.upper)) <= mpf(delta) <= exact_delta(exact, steps, mpf(bounds.lower))
    assert bounds.width < 1e-9 * bounds.upper
