"""Matrix mechanisms: one Gaussian step; strategies, what they are read from, and what is refused."""

import math

import numpy as np
import pytest

import hockeystick as hs

TREE = hs.Strategy.tree(1024)
DENSE = np.array([[1.0, 0.0, 0.0], [-0.5, 1.0, 0.0], [0.25, -0.5, 2.0]])


def test_a_tree_of_one_epoch_is_so_many_gaussian_steps():
    run = hs.MatrixMechanism(TREE, sigma=10.0, participations=1)
    assert run.epsilon_bounds(1e-6) == (hs.Gaussian(sigma=10.0) * 11).epsilon_bounds(1e-6)
    assert run.epsilon(1e-6, "replace") == pytest.approx((hs.Gaussian(sigma=5.0) * 11).epsilon(1e-6), rel=1e-12)
    assert (run * 3).epsilon(1e-6) == (hs.Gaussian(sigma=10.0) * 33).epsilon(1e-6)
    both = run + hs.Gaussian(sigma=3.0).poisson(rate=0.1) * 5
    assert both.epsilon(1e-6) == ((hs.Gaussian(sigma=10.0) * 11) + hs.Gaussian(sigma=3.0).poisson(rate=0.1) * 5).epsilon(1e-6)


def test_clipping_norm_and_groups_move_it_farther():
    run = hs.MatrixMechanism(DENSE, sigma=4.0, participations=1, sensitivity=3.0)
    column = 2.0  # the last column's norm, the largest
    assert run.epsilon(1e-6) == pytest.approx(hs.Gaussian(sigma=4.0, sensitivity=3.0 * column).epsilon(1e-6), rel=1e-9)
    assert run.group(2).epsilon(1e-6) == pytest.approx(hs.Gaussian(sigma=4.0, sensitivity=12.0).epsilon(1e-6), rel=1e-9)
    assert run.epsilon_bounds(1e-6).tight


def test_where_the_sensitivity_is_between_two_ends_so_is_epsilon():
    matrix = np.tril(np.random.default_rng(4).normal(size=(60, 60)))
    run = hs.MatrixMechanism(matrix, sigma=40.0, participations=5, separation=4)
    moved, found = run.strategy.sensitivity(5, 4), run.epsilon_bounds(1e-6)
    assert not moved.tight
    assert not found.tight
    for end, epsilon in zip(moved, found, strict=True):
        assert epsilon == pytest.approx(hs.Gaussian(sigma=40.0, sensitivity=end).epsilon(1e-6), rel=1e-9)


def test_a_banded_matrix_with_separate_participations_is_so_many_steps():
    strategy = hs.Strategy.square_root(iterations=100, bands=10)
    norm = math.sqrt(sum(one * one for one in strategy.numbers))
    run = hs.MatrixMechanism(strategy, sigma=5.0, participations=4, separation=20)
    assert run.epsilon(1e-6) == pytest.approx((hs.Gaussian(sigma=5.0 / norm) * 4).epsilon(1e-6), rel=1e-9)
    assert run.epsilon_bounds(1e-6).tight


def test_strategies_are_what_they_are_called():
    root = hs.Strategy.square_root(iterations=6).matrix()
    np.testing.assert_allclose(root @ root, np.tril(np.ones((6, 6))), rtol=1e-14)
    blt = hs.Strategy.blt(decays=(0.9, 0.5), scales=(0.3, 0.2), iterations=5)
    assert blt.numbers == pytest.approx((1.0, 0.5, 0.27 + 0.1, 0.243 + 0.05, 0.2187 + 0.025))
    tree = hs.Strategy.tree(5).matrix()
    assert tree.tolist() == [
        [1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 0, 1, 0],
        [0, 0, 1, 1, 0],
        [1, 1, 1, 1, 0],
        [0, 0, 0, 0, 1],
    ]
    np.testing.assert_array_equal(hs.Strategy.dense(DENSE).matrix(), DENSE)
    assert hs.Strategy.of(DENSE) == hs.Strategy.dense(DENSE)
    assert hs.Strategy.of([1.0, 0.5], iterations=4) == hs.Strategy.toeplitz((1.0, 0.5), 4)
    assert hs.Strategy.of(TREE, iterations=1024) is TREE


def test_it_is_written_and_read_and_said():
    run = hs.MatrixMechanism(hs.Strategy.square_root(12, bands=3), sigma=2.0, participations=2, separation=4, exactly=True)
    assert hs.from_json(run.to_json()) == run
    text = " ".join(run.report(1e-6).to_text().split())
    assert "at most 2 of 12 steps, exactly 4 apart" in text
    assert "[D22b]" in text
    assert "depends neither on others nor on what was released" in text
    assert repr(hs.Strategy.toeplitz(range(20, 0, -1), 30)).endswith("... 20 in all))")


def test_expressions_of_the_shell():
    from hockeystick.cli.expression import release

    for run in (
        hs.MatrixMechanism(TREE, sigma=10.0, participations=4, separation=100),
        hs.MatrixMechanism(hs.Strategy.square_root(64, bands=16), sigma=2.0, participations=1),
        hs.MatrixMechanism(DENSE, sigma=2.0, participations=2, exactly=True),
    ):
        assert release(repr(run)) == run


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: hs.MatrixMechanism([[1, 2], [0, 1]], 1.0, 1), hs.BadValue, "lower triangular"),
        (lambda: hs.MatrixMechanism([[1, 0]], 1.0, 1), hs.BadValue, "as many rows"),
        (lambda: hs.MatrixMechanism([1, 0.5], 1.0, 1), hs.BadValue, "Strategy.toeplitz"),
        (lambda: hs.MatrixMechanism("tree", 1.0, 1), hs.BadType, "strategy"),
        (lambda: hs.MatrixMechanism(TREE, 0.0, 1), hs.BadValue, "sigma"),
        (lambda: hs.MatrixMechanism(TREE, 1.0, 0), hs.BadValue, "participations"),
        (lambda: hs.MatrixMechanism(TREE, 1.0, 2, separation=1.5), hs.BadValue, "separation"),
        (lambda: hs.MatrixMechanism(TREE, 1.0, 2, exactly="no"), hs.BadType, "exactly"),
        (lambda: hs.MatrixMechanism(TREE, 1.0), hs.BadType, "participations"),
        (lambda: hs.MatrixMechanism(TREE, 1.0, 1).poisson(rate=0.1), hs.Unsupported, "Monte Carlo"),
        (lambda: hs.MatrixMechanism(TREE, 1.0, 1).allocated(steps=3), hs.Unsupported, "Monte Carlo"),
        (lambda: hs.MatrixMechanism(TREE, 1.0, 1).banded(bands=2, iterations=4), hs.Unsupported, "Use one step"),
        (lambda: hs.MatrixMechanism(TREE, 1.0, 1).release(1.0), hs.Unsupported, "correlated"),
        (lambda: hs.Strategy("forest", 3), hs.BadValue, "form"),
        (lambda: hs.Strategy("dense", 3, (1.0,)), hs.BadValue, "6 to 6"),
        (lambda: hs.Strategy.toeplitz((math.nan,), 3), hs.BadValue, "entry"),
        (lambda: hs.Strategy.toeplitz((1.0, 1e-200), 3), hs.BadValue, "entry"),
        (lambda: hs.Strategy.toeplitz((0.0, 0.0), 3), hs.BadValue, "nothing is released"),
        (lambda: hs.Strategy.blt((0.5,), (0.1, 0.2), 3), hs.BadValue, "as many"),
        (lambda: hs.Strategy.square_root(4, bands=5), hs.BadValue, "bands"),
        (lambda: hs.Strategy.tree(10**7), hs.BadValue, "iterations"),
        (lambda: hs.Strategy.tree(4096).matrix(), hs.Unsupported, "too many"),
        (lambda: hs.Strategy.of(TREE, iterations=5), hs.BadValue, "the same"),
        (lambda: hs.Strategy.of([[1j]]), hs.BadType, "real numbers"),
    ],
)
def test_what_is_refused_is_said(make, error, words):
    with pytest.raises(error, match=words):
        make()
