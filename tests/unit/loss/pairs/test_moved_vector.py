"""Discrete Gaussian noise on vectors: the largest profile of all splits, against sums over all outputs."""

import itertools
import math

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.loss.composed import composed
from hockeystick.loss.engines.driver import log_delta_proof
from hockeystick.loss.pairs.moved_vector import TUNING, MovedVectorLoss, splits, vector_loss, worst_of


def law(sigma, moves):
    """(x of the noises, P-mass, Q-mass) of every output of as many numbers, in sixty digits, by name of their sum only."""
    reach = math.ceil(18.0 * sigma) + 3 * max(moves)
    weight = {x: mp.exp(-(mpf(x) ** 2) / (2 * mpf(sigma) ** 2)) for x in range(-reach, reach + 1)}
    total = sum(weight.values())
    found = {(): (mpf(1), mpf(1))}
    for move in moves:
        step = {}
        for y in range(-reach, reach + move + 1):
            step[y] = (weight.get(y - move, mpf(0)) / total, weight.get(y, mpf(0)) / total)
        joined = {}
        for (key, (p, q)), (y, (a, b)) in itertools.product(found.items(), step.items()):
            name = (key[0] if key else 0) + move * y
            old = joined.get((name,), (mpf(0), mpf(0)))
            joined[name,] = (old[0] + p * a, old[1] + q * b)
        found = joined
    return list(found.values())


def delta(pairs, epsilon):
    grown = mp.exp(mpf(epsilon))
    return sum(max(p - grown * q, mpf(0)) for p, q in pairs)


@pytest.fixture(autouse=True, scope="module")
def _digits():
    with mp.workdps(60):
        yield


@pytest.mark.parametrize("sigma", [0.4, 0.7, 1.5])
@pytest.mark.parametrize("square", [2, 3, 4, 5, 6])
def test_one_step_is_the_largest_of_all_splits_at_every_epsilon(sigma, square):
    every = [law(sigma, moves) for moves in splits(square, 100)]
    run = composed([(vector_loss(sigma, square), 1)])
    for epsilon in np.linspace(-3.0, 12.0, 31):
        truth = max(delta(one, epsilon) for one in every)
        proof = log_delta_proof(run, float(epsilon))
        assert mp.exp(mpf(proof.low)) <= truth * (1 + mpf(10) ** -25), epsilon  # what is cut off of the sum
        assert truth <= mp.exp(mpf(proof.high)) * (1 + mpf(10) ** -25), epsilon
        if truth > mpf(10) ** -20:
            assert mp.exp(mpf(proof.high)) <= truth * (1 + mpf(10) ** -8)


def test_a_norm_of_two_is_not_one_number_moved_by_two():
    """8.161 was answered, 10.005 is true."""
    vector = hs.DiscreteGaussianVector(sigma=0.7, squared_norm=4)
    with mp.workdps(60):
        ones = law(0.7, (1, 1, 1, 1))
        epsilon = mp.findroot(lambda x: mp.log(delta(ones, x)) - mp.log(mpf(0.01)), (9.9, 10.1), solver="bisect", tol=1e-25)
    bounds = vector.epsilon_bounds(0.01)
    assert bounds.lower <= float(epsilon) * (1.0 + 1e-12)
    assert float(epsilon) * (1.0 - 1e-12) <= bounds.upper <= float(epsilon) + 1e-9
    assert not bounds.tight
    assert hs.DiscreteGaussian(sigma=0.7, sensitivity=2).epsilon(0.01) == pytest.approx(8.1609, abs=1e-4)
    assert f"{bounds.upper:.3f}" == "10.005"


@pytest.mark.parametrize(("first", "second"), [((2,), (1, 1, 1, 1)), ((1, 1, 1, 1), (2,))])
def test_adaptive_steps_stay_within(first, second):
    """One step by one split, the next by the other: the largest of the composed profiles of single splits is no bound of it."""
    with mp.workdps(40):
        pairs = [(p * a, q * b) for (p, q), (a, b) in itertools.product(law(0.7, first), law(0.7, second))]
        vector = hs.DiscreteGaussianVector(sigma=0.7, squared_norm=4) * 2
        for epsilon in (2.0, 6.0, 12.0, 17.0):
            assert delta(pairs, epsilon) <= mpf(vector.delta(epsilon)) * (1 + mpf(10) ** -12)


@pytest.mark.parametrize(("sigma", "square"), [(0.7, 4), (3.0, 9), (20.0, 8), (30.0, 5), (0.05, 4)])
def test_the_maximum_is_above_every_split(sigma, square):
    each = [MovedVectorLoss(sigma, one) for one in splits(square, 64)]
    worst = composed([(worst_of(tuple(each)), 1)])
    for epsilon in (-1.0, 0.0, 0.3, 1.0, 3.0, 9.0):
        high = log_delta_proof(worst, epsilon).high
        assert high >= max(log_delta_proof(composed([(one, 1)]), epsilon).low for one in each)


def test_splits_are_all_sums_of_squares():
    for square in range(1, 30):
        found = splits(square, 10**6)
        assert len(set(found)) == len(found)
        assert all(sum(one * one for one in moves) == square and list(moves) == sorted(moves)[::-1] for moves in found)
    count = [1] + [0] * 40  # partitions into squares, by their generating function
    for part in (1, 4, 9, 16, 25, 36):
        for total in range(part, 41):
            count[total] += count[total - part]
    assert [len(splits(square, 10**6)) for square in range(1, 41)] == count[1:]
    assert splits(100, 10) is None


@pytest.mark.parametrize("square", [1, 2, 3])
def test_up_to_three_ones_are_worst(square):
    vector = hs.DiscreteGaussianVector(sigma=2.0, squared_norm=square) * 4
    ones = hs.DiscreteGaussian(sigma=2.0) * (4 * square)
    assert vector.epsilon_bounds(1e-6).tight
    assert vector.epsilon(1e-6) == pytest.approx(ones.epsilon(1e-6), rel=1e-9)
    assert vector.epsilon_bounds(1e-6).lower <= ones.epsilon(1e-6)
    assert vector.epsilon(1e-6) >= ones.epsilon_bounds(1e-6).lower


def test_too_many_splits_are_bounded_by_the_renyi_curve():
    many = hs.DiscreteGaussianVector(sigma=50.0, squared_norm=10**4)
    bounds = many.epsilon_bounds(1e-6)
    assert bounds.upper == pytest.approx(hs.ZCDP(rho=2.0).epsilon(1e-6), rel=1e-9)
    assert bounds.lower <= hs.DiscreteGaussian(sigma=50.0, sensitivity=100).epsilon(1e-6) <= bounds.upper
    assert not bounds.tight
    assert splits(10**4, TUNING.max_splits) is None
    huge = hs.DiscreteGaussianVector(sigma=1e6, squared_norm=4).epsilon_bounds(1e-6)
    assert 0.0 <= huge.lower <= huge.upper < 1e-4


def test_relations_samples_and_files():
    vector = hs.DiscreteGaussianVector(sigma=4.0, squared_norm=4)
    replaced = hs.DiscreteGaussianVector(sigma=4.0, squared_norm=16, neighbours="replace")
    assert vector.epsilon(1e-6, "replace") == replaced.epsilon(1e-6, "replace")
    assert vector.epsilon(1e-6, "remove") == vector.epsilon(1e-6, "add") == vector.epsilon(1e-6)
    assert hs.from_json((vector * 3).to_json()) == vector * 3
    sampled = (vector.poisson(rate=0.1) * 10).epsilon_bounds(1e-6)
    for part in (hs.DiscreteGaussian(sigma=4.0, sensitivity=2), hs.DiscreteGaussian(sigma=4.0, sensitivity=1)):
        assert (part.poisson(rate=0.1) * 10).epsilon_bounds(1e-6).lower <= sampled.upper < vector.epsilon(1e-6) * 10
    with pytest.raises(hs.BadValue, match=r"squared_norm is 2.5"):
        hs.DiscreteGaussianVector(sigma=1.0, squared_norm=2.5)
    with pytest.raises(hs.Unsupported, match="null record"):
        replaced.epsilon(1e-6)
