"""Binned losses: masses by blocks, and the coarse scale that guides searches, against laws that are known."""

import math

import numpy as np
import pytest

from hockeystick.loss import bins
from hockeystick.loss.bins import CoarseLoss, masses_by_blocks
from hockeystick.loss.pairs.discrete import ResponseLoss
from hockeystick.loss.pairs.gaussian import GaussianLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss

RESPONSE = ResponseLoss(0.9, 5)


def law(loss: ResponseLoss) -> tuple[np.ndarray, np.ndarray]:
    """The values of randomised response and their probabilities, by its definition."""
    total = math.exp(loss.epsilon) + loss.categories - 1
    return np.array([-loss.epsilon, 0.0, loss.epsilon]), np.array([1, loss.categories - 2, math.exp(loss.epsilon)]) / total


@pytest.mark.parametrize("size", [2, 7, 50, 51, 64])
@pytest.mark.parametrize("loss", [LaplaceLoss(0.7), GaussianLoss(0.25), RESPONSE], ids=lambda loss: type(loss).__name__)
def test_blocks_join_to_the_same_masses(loss, size, monkeypatch):
    edges = np.linspace(-1.5, 1.2, 51)
    whole = loss.masses(edges)
    monkeypatch.setattr(bins, "_MAX_EDGES", size)
    joined = masses_by_blocks(loss, edges)
    assert np.array_equal(joined.log_p, whole.log_p)
    assert np.array_equal(joined.log_q, whole.log_q)
    assert np.array_equal(np.broadcast_to(joined.error, whole.log_p.shape), np.broadcast_to(whole.error, whole.log_p.shape))


@pytest.mark.parametrize("loss", [LaplaceLoss(0.7), GaussianLoss(0.25), RESPONSE], ids=lambda loss: type(loss).__name__)
def test_both_laws_are_whole(loss):
    """P and Q have mass 1, and no cell's log ratio lies outside the cell."""
    edges = np.linspace(-1.5, 1.2, 51)
    log_p, log_q, error = loss.masses(edges)
    off = np.broadcast_to(error, log_p.shape)
    for log in (log_p, log_q):
        assert abs(math.fsum(np.exp(log).tolist()) - 1.0) <= 1e-15 + float((np.exp(log) * off).sum())
    inner = slice(1, -1)
    with np.errstate(invalid="ignore"):
        ratio = (log_p - log_q)[inner]
    seen, slack = log_p[inner] > -700.0, 2.0 * off[inner] + loss.edge_error(1.5)
    assert (ratio >= edges[:-1] - slack)[seen].all()
    assert (ratio <= edges[1:] + slack)[seen].all()


@pytest.mark.parametrize("c", [-0.7, 0.0, 0.4, 3.0, 40.0])
def test_the_coarse_scale_knows_atoms(c):
    z, p = law(RESPONSE)
    weight = p * np.exp(c * z)
    mean = float(weight @ z / weight.sum())
    value, slope, bend = CoarseLoss(RESPONSE).expand(c)
    assert value == pytest.approx(math.log(weight.sum()), abs=1e-9)
    assert slope == pytest.approx(mean, abs=1e-9)
    assert bend == pytest.approx(float(weight @ (z - mean) ** 2 / weight.sum()), abs=1e-9)


@pytest.mark.parametrize("mu", [0.03, 0.5, 4.0])
def test_the_coarse_scale_guides_along_a_density(mu):
    """K = mu^2/2 c (c + 1), to the fineness of the scale (some 5% of a loss); a cap lowers it."""
    coarse = CoarseLoss(GaussianLoss(mu * mu))
    for c in (0.0, 1.0, 5.0):
        value, slope, bend = coarse.expand(c)
        assert value == pytest.approx(0.5 * mu * mu * c * (c + 1.0), rel=0.05, abs=1e-9)
        assert slope == pytest.approx(mu * mu * (c + 0.5), rel=0.02)
        assert bend == pytest.approx(mu * mu, rel=0.1)
    capped = coarse.expand(2.0, mu)
    assert capped[0] < coarse.expand(2.0)[0]
    assert capped[1] <= mu


def test_the_coarse_delta_and_range():
    coarse, (z, p) = CoarseLoss(RESPONSE), law(RESPONSE)
    epsilons = np.array([0.0, 0.3, 0.8])
    truth = [math.log(float(p @ np.maximum(-np.expm1(epsilon - z), 0.0))) for epsilon in epsilons.tolist()]
    assert coarse.log_delta(epsilons) == pytest.approx(truth, abs=1e-9)
    low, high = coarse.range(-5.0)
    assert low <= -0.9 <= low + 0.05
    assert high - 0.05 <= 0.9 <= high
    assert coarse.range(math.log(0.2))[0] > -0.05  # the lowest value is rarer than that
