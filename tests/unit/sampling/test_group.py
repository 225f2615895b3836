"""Groups of records under every scheme."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from adversary import REACH, outputs, sums
from hockeystick.sampling.group import GroupedRun
from sampled_cases import GAUSSIAN


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


def test_groups_of_different_sizes_do_not_join():
    a, b = (hs.dpsgd(rate=0.01, sigma=sigma, steps=100, sampler="poisson") for sigma in (1.1, 1.5))
    for join in (lambda: a.group(3) + b, lambda: a.group(3) + b.group(5), lambda: b.run + a.run.group(2)):
        with pytest.raises(hs.BadValue, match="one size"):
            join()
    assert "For groups of 3 records." in (a + b).group(3).statement


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
