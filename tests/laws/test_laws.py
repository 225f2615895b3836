"""Laws that hold for every release, whatever answers it."""

import math
from itertools import pairwise

import numpy as np
import pytest

import hockeystick as hs
from samples import ALL, DELTAS, EPSILONS, FREE, INFINITE, SAMPLED, UNSAMPLED

SLACK = 1e-9  # the width promised for epsilon, relative
every = pytest.mark.parametrize("release", ALL.values(), ids=ALL)
costly = pytest.mark.parametrize("release", [*UNSAMPLED.values(), *SAMPLED.values()], ids=[*UNSAMPLED, *SAMPLED])


def answers(release: hs.Gaussian) -> list[float]:
    """All the floats that two equal releases must share."""
    found: list[float] = []
    for delta in (1e-3, 1e-9):
        found.extend(release.epsilon_bounds(delta=delta))
    for epsilon in (-0.5, 0.0, 0.7):
        found.extend(release.delta_bounds(epsilon=epsilon))
    return [*found, release.rdp(order=1.0), release.rdp(order=2.5)]


@every
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_repeating_is_composing(release, count):
    repeated = release * count
    composed = hs.compose([release] * count)
    assert repeated == composed == count * release == sum([release] * count, start=hs.compose([]))
    assert hash(repeated) == hash(composed)
    assert answers(repeated) == answers(composed)


@every
def test_counts_multiply_and_distribute(release):
    other = hs.Gaussian(sigma=7.0)
    assert (release * 2) * 3 == release * 6
    assert (release + other) * 3 == release * 3 + other * 3
    assert release * 4 == release * 4.0 == release * np.int64(4)


@every
@pytest.mark.parametrize("other", [UNSAMPLED["mixed"], SAMPLED["sampled"]], ids=["mixed", "sampled"])
def test_order_does_not_matter(release, other):
    one, two = release + other, other + release
    assert one == two
    assert hash(one) == hash(two)
    assert answers(one) == answers(two)


def test_order_does_not_matter_for_many_parts():
    parts = [hs.Gaussian(sigma=1.0 + 0.1 * i) for i in range(20)] + [hs.Laplace(scale=3.0 + i) for i in range(20)]
    one, two = hs.compose(parts), hs.compose(parts[::-1])
    assert one == two
    assert answers(one) == answers(two)


def test_order_does_not_matter_under_one_sample():
    a, b = hs.Gaussian(sigma=2.0), hs.Gaussian(sigma=3.0)
    one, two = (a + b).poisson(rate=0.1), (b + a).poisson(rate=0.1)
    assert one == two
    assert hash(one) == hash(two)
    assert answers(one * 5) == answers(two * 5)


@every
def test_nothing_changes_nothing(release):
    empty = hs.compose([])
    joined = release + empty
    assert joined == empty + release == hs.compose([empty, release, empty]) == release * 1
    assert answers(joined) == answers(release)


@every
def test_a_count_of_zero_is_free(release):
    none = release * 0
    assert none == hs.compose([])
    assert none.epsilon(delta=1e-9) == 0.0
    assert none.epsilon_bounds(delta=0.0) == hs.Bounds(0.0, 0.0)
    assert none.delta(epsilon=0.0) == 0.0
    assert none.rdp(order=2.0) == 0.0
    assert none + UNSAMPLED["laplace"] == UNSAMPLED["laplace"]


@pytest.mark.parametrize("release", FREE.values(), ids=FREE)
def test_what_is_free_costs_nothing(release):
    assert release.epsilon(delta=0.0) == 0.0
    assert release.advantage() == 0.0
    assert release.rdp(order=5.0) == 0.0
    joined = release + UNSAMPLED["mixed"]
    assert joined.epsilon_bounds(delta=1e-6) == UNSAMPLED["mixed"].epsilon_bounds(delta=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_the_ends_are_ordered_and_finite(name):
    release = ALL[name]
    for delta in DELTAS:
        low, high = release.epsilon_bounds(delta=delta)
        assert 0.0 <= low <= high
        assert high < math.inf or delta <= INFINITE.get(name, 0.0)
        assert release.epsilon(delta=delta) == high
    for epsilon in EPSILONS:
        low, high = release.delta_bounds(epsilon=epsilon)
        assert 0.0 <= low <= high <= 1.0
        assert release.delta(epsilon=epsilon) == high
        log_low, log_high = release.log_delta_bounds(epsilon=epsilon)
        assert log_low <= log_high <= 0.0
        assert math.exp(log_low) <= high * (1.0 + 1e-14)
        assert low <= math.exp(log_high) * (1.0 + 1e-14)


@every
def test_delta_falls_in_epsilon(release):
    found = [release.delta_bounds(epsilon=epsilon) for epsilon in EPSILONS]
    for before, after in pairwise(found):
        assert after.lower <= before.upper
        assert after.upper <= before.upper * (1.0 + SLACK)


@every
def test_epsilon_falls_in_delta(release):
    found = [release.epsilon_bounds(delta=delta) for delta in sorted(DELTAS)]
    for before, after in pairwise(found):
        assert after.lower <= before.upper
        assert after.upper <= before.upper * (1.0 + SLACK)


@every
def test_answers_rise_with_the_count(release):
    runs = [release * count for count in (1, 2, 5, 17)]
    for fewer, more in pairwise(runs):
        for epsilon in (0.0, 0.5, 2.0):
            assert fewer.delta_bounds(epsilon).lower <= more.delta_bounds(epsilon).upper
            assert fewer.delta(epsilon) <= more.delta(epsilon) * (1.0 + 1e-6)
        assert fewer.epsilon_bounds(1e-6).lower <= more.epsilon_bounds(1e-6).upper
        assert fewer.epsilon(1e-6) <= more.epsilon(1e-6) * (1.0 + SLACK)
        assert fewer.rdp(order=3.0) <= more.rdp(order=3.0) * (1.0 + 1e-12)


@every
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_and_delta_undo_each_other(release, delta):
    low, high = release.epsilon_bounds(delta=delta)
    if high == math.inf:  # a loss is infinite with more than this probability
        assert release.delta_bounds(epsilon=1e3).upper > delta
        return
    at_high = release.delta_bounds(epsilon=high)
    assert at_high.lower <= delta * (1.0 + 1e-15)  # the truth at the certified upper end is at most delta
    assert at_high.upper <= delta * 1.01  # and it is not much less well known from that side
    if low > 0.0:
        assert release.delta_bounds(epsilon=low).upper >= delta * (1.0 - 1e-15)
    for epsilon in (0.5 * low, 2.0 * high):
        back = release.epsilon_bounds(delta=release.delta_bounds(epsilon).upper)
        assert back.lower <= epsilon * (1.0 + 1e-12)


@costly
def test_add_or_remove_is_the_larger(release):
    for delta in (1e-3, 1e-8):
        both, add, remove = (release.epsilon_bounds(delta, n) for n in ("add-or-remove", "add", "remove"))
        assert both.lower <= max(add.upper, remove.upper)
        assert both.upper >= max(add.lower, remove.lower)
        if max(both.width, add.width, remove.width) <= 1e-9 * both.upper:  # else the proofs may differ
            assert both.lower == pytest.approx(max(add.lower, remove.lower), rel=1e-8)
            assert both.upper == pytest.approx(max(add.upper, remove.upper), rel=1e-8)
    for epsilon in (-0.4, 0.0, 0.6):
        both, add, remove = (release.delta_bounds(epsilon, n) for n in ("add-or-remove", "add", "remove"))
        assert both.lower <= max(add.upper, remove.upper)
        assert both.upper >= max(add.lower, remove.lower)
        if max(both.width, add.width, remove.width) <= 1e-9 * both.upper:
            assert both.upper == pytest.approx(max(add.upper, remove.upper), rel=1e-8)
    assert release.rdp(4.0) == max(release.rdp(4.0, "add"), release.rdp(4.0, "remove"))


@pytest.mark.parametrize("release", UNSAMPLED.values(), ids=UNSAMPLED)
def test_unsampled_noise_is_symmetric(release):
    assert release.epsilon_bounds(1e-6, "add") == release.epsilon_bounds(1e-6, "remove")
    assert release.delta_bounds(0.3, "add") == release.delta_bounds(0.3, "remove")
    assert release.rdp(2.0, "add") == release.rdp(2.0, "remove")


@costly
@pytest.mark.parametrize("epsilon", [0.0, 0.05, 0.4, 1.3, 4.0])
def test_the_reverse_pair_mirrors_the_profile(release, epsilon):
    """delta_PQ(eps) = 1 - e^eps + e^eps delta_QP(-eps), of which both sides are known to an interval."""
    here = release.delta_bounds(epsilon, "remove")
    there = release.delta_bounds(-epsilon, "add")
    grown = math.exp(epsilon)
    rounding = 1e-13 * grown
    assert 1.0 - grown + grown * there.lower <= here.upper + rounding
    assert 1.0 - grown + grown * there.upper >= here.lower - rounding


@every
@pytest.mark.parametrize("epsilon", [-1e-9, -0.1, -1.0, -30.0, -1e4])
def test_negative_epsilon(release, epsilon):
    low, high = release.delta_bounds(epsilon)
    least = -math.expm1(epsilon)
    assert high >= least
    assert least * (1.0 - 1e-13) <= low


@every
def test_the_renyi_curve_rises(release):
    orders = [1.0, 1.0 + 1e-6, 1.01, 1.5, 2.0, 3.5, 8.0, 33.3, 200.0, math.inf]
    curve = [release.rdp(order) for order in orders]
    assert curve[0] >= 0.0
    for before, after in pairwise(curve):
        assert before <= after * (1.0 + 1e-9)


@costly
@pytest.mark.parametrize("order", [1.3, 2.0, 4.7, 15.0])
def test_the_renyi_conversion_stays_above(release, order):
    """The conversion of one order by Asoodeh et al., log delta <= (a-1)(D - eps) + (a-1) log(1 - 1/a) - log a, is never below."""
    for epsilon in (0.1, 1.0, 5.0):
        bound = (order - 1.0) * (release.rdp(order) - epsilon + math.log1p(-1.0 / order)) - math.log(order)
        assert release.log_delta_bounds(epsilon).lower <= bound + 1e-9


@every
def test_advantage_is_delta_at_zero(release):
    assert release.advantage() == release.delta(epsilon=0.0)
    assert release.advantage("add") == release.delta(epsilon=0.0, neighbours="add")


@every
def test_the_profile_is_an_array_of_deltas(release):
    found = release.profile(EPSILONS)
    assert isinstance(found, np.ndarray)
    assert found.shape == (len(EPSILONS),)
    assert found.tolist() == pytest.approx([release.delta(epsilon) for epsilon in EPSILONS], rel=1e-6, abs=0.0)


@pytest.mark.parametrize("rate", [1e-9, 1e-3, 0.3, 0.999])
@pytest.mark.parametrize("base", [hs.Gaussian(sigma=1.0), hs.GDP(mu=0.3), hs.Gaussian(sigma=9.0) * 30])
def test_sampling_never_costs(base, rate):
    for count in (1, 100):
        sampled, whole = base.poisson(rate=rate) * count, base * count
        for epsilon in (0.0, 0.7):
            assert sampled.delta_bounds(epsilon).lower <= whole.delta_bounds(epsilon).upper
            assert sampled.delta(epsilon) <= whole.delta(epsilon) * (1.0 + 1e-9)
        assert sampled.epsilon(1e-6) <= whole.epsilon(1e-6) * (1.0 + SLACK)
        assert sampled.rdp(2.0) <= whole.rdp(2.0) * (1.0 + 1e-12)


def test_the_ends_of_the_rates():
    base = hs.Gaussian(sigma=3.0) + hs.GDP(mu=0.1)
    assert answers(base.poisson(rate=1.0) * 9) == answers(base * 9)
    assert (base.poisson(rate=0.0) * 9).epsilon(delta=0.0) == 0.0


def test_the_same_noise_in_other_words():
    one = hs.Gaussian(sigma=2.0)
    assert answers(one) == answers(hs.Gaussian(sigma=6.0, sensitivity=3.0)) == answers(hs.GDP(mu=0.5))
    assert answers(hs.Laplace(scale=2.0)) == answers(hs.Laplace(scale=4.0, sensitivity=2.0))
    # 1/mu is rounded, and that rounding counted, where sigma is not
    assert answers(one.poisson(0.1) * 9) == pytest.approx(answers(hs.GDP(mu=0.5).poisson(0.1) * 9), rel=1e-9)


@pytest.mark.parametrize("release", [hs.Gaussian(sigma=4.0) * 3, hs.Laplace(scale=4.0) * 3, hs.GDP(mu=0.25) * 3])
def test_replacing_moves_twice_as_far(release):
    doubled = {
        hs.Gaussian(sigma=4.0) * 3: hs.Gaussian(sigma=2.0) * 3,
        hs.Laplace(scale=4.0) * 3: hs.Laplace(scale=2.0) * 3,
        hs.GDP(mu=0.25) * 3: hs.GDP(mu=0.5) * 3,
    }[release]
    assert release.epsilon_bounds(1e-6, "replace") == doubled.epsilon_bounds(1e-6)
    assert release.delta_bounds(0.4, "replace") == doubled.delta_bounds(0.4)


def test_replace_sensitivity_overrides_the_factor_two():
    known = hs.Gaussian(sigma=4.0, replace_sensitivity=1.0)
    assert known.epsilon_bounds(1e-6, "replace") == hs.Gaussian(sigma=4.0).epsilon_bounds(1e-6)
    claimed = hs.GDP(mu=0.5, neighbours="replace")
    assert claimed.epsilon_bounds(1e-6, "replace") == hs.GDP(mu=0.5).epsilon_bounds(1e-6)
