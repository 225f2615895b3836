"""Every scheme and relation: published values, reductions, an adversary."""

import math
import random

import pytest

import hockeystick as hs
from adversary import Setting, random_setting, true_delta, violated
from hockeystick.loss.composed import composed
from hockeystick.loss.sampled.gaussian_mixture import Mixture, MixtureLoss
from hockeystick.neighbours import RELATIONS
from sampled_cases import BASES


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
        from hockeystick.loss.engines.driver import epsilon_proof

        low, high = epsilon_proof(composed([(loss, 200)]), 1e-7).ends
        known = (hs.Gaussian(sigma=1.7).poisson(rate=0.05) * 200).epsilon_bounds(1e-7, neighbours=order)
        assert low <= known.upper
        assert known.lower <= high
        assert high - low < 1e-5 * high


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


def test_replace_sensitivity_below_two():
    """The replacement is nearer than two removals: never above either of the two bounds, never below what is attained."""
    near = hs.Gaussian(sigma=1.0, replace_sensitivity=1.0).poisson(rate=0.1)
    far = hs.Gaussian(sigma=1.0).poisson(rate=0.1)
    for count in (1, 30):
        bounds = (near * count).epsilon_bounds(1e-6, neighbours="replace")
        assert (far * count).epsilon_bounds(1e-6, neighbours="remove").lower <= bounds.upper
        assert bounds.upper <= (far * count).epsilon(1e-6, neighbours="replace")
        assert bounds.lower <= bounds.upper


def test_hardly_any_noise_and_hardly_any_sample():
    run = hs.Gaussian(sigma=0.003468730778854009).poisson(rate=7.79447127313016e-08) * 5
    bounds = run.epsilon_bounds(3.363517280052557e-08, neighbours="zero-out")
    assert 0.0 <= bounds.lower <= bounds.upper


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
