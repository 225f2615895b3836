"""Proved decay of characteristic functions, against those of laws that are known: uniform, normal, of few values."""

import math

import numpy as np
import pytest

from hockeystick.numerics.decay import moment_gap, spread_gap, stretched_gap
from hockeystick.numerics.trapezoid import Cells

U = np.geomspace(1e-4, 1e5, 500)
CELLS = Cells(0.01)
LAWS = {  # values and probabilities
    "two": (np.array([-1.0, 1.0]), np.array([0.5, 0.5])),
    "lopsided": (np.array([0.0, 3.0]), np.array([0.99, 0.01])),
    "three": (np.array([-0.3, 0.1, 2.0]), np.array([0.2, 0.5, 0.3])),
    "lattice": (0.1 * np.arange(40), np.exp(-0.02 * (np.arange(40) - 15.0) ** 2)),
}
LAWS = {name: (values, masses / masses.sum()) for name, (values, masses) in LAWS.items()}


def least_gap(values: np.ndarray, masses: np.ndarray) -> np.ndarray:
    """The least 1 - |f(u)|^2 on each cell, at places within."""
    right = np.where(np.isfinite(CELLS.right), CELLS.right, 2.0 * CELLS.left)
    places = CELLS.left + np.linspace(0.0, 1.0, 9)[:, None] * (right - CELLS.left)
    f = np.exp(1j * places[..., None] * values) @ masses
    return (1.0 - np.abs(f) ** 2).min(axis=0)


@pytest.mark.parametrize("width", [0.2, 1.0, 30.0])
def test_a_uniform_law_falls_at_least_so_fast(width):
    """f(u) = sin(u w/2)/(u w/2) is at most 2/(w u)."""
    found = stretched_gap(U, 1.0, 2.0 / width)
    x = 0.5 * width * U
    assert (found <= 1.0 - np.abs(np.sinc(x / math.pi)) + 1e-12).all()
    assert (found[x > 30.0] > 0.9).all()
    near = (x > 1e-2) & (x < 0.3)
    assert (found[near] > 0.05 * x[near] ** 2).all()  # the true gap is x^2/6


def test_what_is_known_far_out_holds_far_out():
    """mass - variation/u itself, where n = 1 is best; less than nothing is never claimed."""
    assert stretched_gap(np.array([100.0]), 0.6, 3.0)[0] == pytest.approx(0.57, rel=1e-9)
    assert stretched_gap(U, 0.0, 1.0).tolist() == [0.0] * U.size


@pytest.mark.parametrize("name", LAWS)
def test_moments_bound_the_fall(name):
    values, masses = LAWS[name]
    mean = float(masses @ values)
    variance = float(masses @ (values - mean) ** 2)
    away = values[:, None] - values
    fourth = float(masses @ away**4 @ masses)
    found = moment_gap(CELLS, np.array([variance]), np.array([fourth]))[0]
    truth = least_gap(values, masses)
    assert (found <= truth + 1e-14).all()
    near = CELLS.right * np.abs(away).max() < 0.3
    assert near.sum() > 3
    assert (found[near] > 0.9 * truth[near]).all()


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("narrow", [1e-6, 0.04])
def test_spread_bounds_the_fall(name, narrow):
    """Each value in an interval of its own, with nothing between them."""
    values, masses = LAWS[name]
    edges = np.sort(np.concatenate((values - narrow, values + narrow)))
    each = np.zeros(edges.size - 1)
    each[0::2] = masses
    low = np.repeat(0.5 * (edges[:-1] + edges[1:])[None, :], 1, axis=0)
    low[0, 0::2] = values
    found = spread_gap(CELLS, each[None, :], edges[None, :], low, low)[0]
    truth = least_gap(values, masses)
    assert (found <= truth + 1e-12).all()
    near = CELLS.right * np.ptp(values) < 0.3
    assert (found[near] > 0.3 * truth[near]).all()


def test_two_laws_are_bounded_at_once():
    rows = [LAWS["two"], LAWS["lopsided"]]
    variance, fourth = [], []
    for values, masses in rows:
        variance.append(float(masses @ (values - masses @ values) ** 2))
        fourth.append(float(masses @ (values[:, None] - values) ** 4 @ masses))
    both = moment_gap(CELLS, np.array(variance), np.array(fourth))
    for row in range(2):
        alone = moment_gap(CELLS, np.array(variance[row : row + 1]), np.array(fourth[row : row + 1]))
        assert np.array_equal(both[row], alone[0])
