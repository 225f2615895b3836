"""Banded noise against the run itself, integrated over a grid, and what is refused."""

import itertools
import math

import numpy as np
import pytest

import hockeystick as hs

STEP = hs.Gaussian(sigma=2.0)
RATE = 0.3


def _exact(matrix: np.ndarray, sigma: float, rate: float, epsilon: float) -> tuple[float, float]:
    """delta of C B + z for the record of the first group, remove and add, over a grid of three rows."""
    axis = np.linspace(-7.0 * sigma, 7.0 * sigma + 3.0, 121)
    y = np.stack(np.meshgrid(axis, axis, axis, indexing="ij"), axis=-1)
    cell = (axis[1] - axis[0]) ** 3

    def density(mean: np.ndarray) -> np.ndarray:
        return np.exp(-((y - mean) ** 2).sum(axis=-1) / (2.0 * sigma**2)) / (2.0 * math.pi * sigma**2) ** 1.5

    without, present = density(np.zeros(3)), np.zeros(y.shape[:3])
    for first, second in itertools.product((0, 1), repeat=2):  # steps 0 and 2; step 1 is the other group's
        weight = (rate if first else 1.0 - rate) * (rate if second else 1.0 - rate)
        present += weight * density(first * matrix[:, 0] + second * matrix[:, 2])
    grown = math.exp(epsilon)
    return tuple(float(np.maximum(a - grown * b, 0.0).sum() * cell) for a, b in ((present, without), (without, present)))


@pytest.mark.parametrize("epsilon", [0.1, 0.5])
def test_the_run_itself_over_a_grid(epsilon):
    signed = np.array([[0.6, 0.0, 0.0], [-0.8, 0.5, 0.0], [0.0, 0.5, 1.0]])  # columns 0 and 2 have norm 1
    shorter = np.array([[0.6, 0.0, 0.0], [0.3, 1.0, 0.0], [0.0, 0.0, 0.7]])
    run = hs.Gaussian(sigma=1.0).poisson(rate=RATE).banded(bands=2, iterations=3)
    bounds = [run.delta_bounds(epsilon, order) for order in ("remove", "add")]
    for bound, found in zip(bounds, _exact(signed, 1.0, RATE, epsilon), strict=True):
        assert found == pytest.approx(bound.upper, rel=3e-3)
    for bound, found in zip(bounds, _exact(shorter, 1.0, RATE, epsilon), strict=True):
        assert found < bound.upper


def test_it_is_so_many_steps_whatever_is_asked():
    run, same = STEP.poisson(rate=RATE).banded(bands=4, iterations=1001), STEP.poisson(rate=RATE) * 251
    assert run.epsilon_bounds(1e-6) == same.epsilon_bounds(1e-6)
    assert run.delta_bounds(2.0, "replace") == same.delta_bounds(2.0, "replace")
    assert run.rdp(3.5) == same.rdp(3.5)
    assert run.rho() == pytest.approx(same.rho(), rel=1e-13)
    assert (run * 2 + hs.Laplace(4.0)).epsilon(1e-6) == (same * 2 + hs.Laplace(4.0)).epsilon(1e-6)
    assert STEP.banded(bands=4, iterations=8).epsilon(1e-6) == (STEP * 2).epsilon(1e-6)
    fixed = STEP.without_replacement(batch=2, examples=10)
    assert fixed.banded(bands=2, iterations=5).epsilon(1e-2, "replace") == (fixed * 3).epsilon(1e-2, "replace")


def test_epochs_of_an_allocation_that_are_begun_count():
    epoch = STEP.allocated(steps=5)
    whole = epoch.banded(bands=3, iterations=30)
    assert whole.epsilon_bounds(1e-6) == (epoch * 2).epsilon_bounds(1e-6)
    cut = epoch.banded(bands=3, iterations=16)
    assert cut.epsilon(1e-6) == whole.epsilon(1e-6)
    assert whole.epsilon_bounds(1e-6).tight
    assert not cut.epsilon_bounds(1e-6).tight
    assert STEP.allocated(steps=5, kept=2).banded(bands=3, iterations=30)._rounds == 1


def test_groups_of_records_go_by_group_privacy():
    """Two records may be in different groups, whose columns overlap: binomial mixtures would be wrong."""
    run = STEP.poisson(rate=0.1).banded(bands=4, iterations=40)
    assert run.group(2).epsilon(1e-6) > (STEP.poisson(rate=0.1) * 10).group(2).epsilon(1e-6)


def test_it_is_written_and_read_and_said():
    run = STEP.poisson(rate=0.1).banded(bands=4, iterations=40)
    assert hs.from_json(run.to_json()) == run
    assert repr(run) == "Gaussian(sigma=2.0).poisson(rate=0.1).banded(bands=4, iterations=40)"
    report = run.report(1e-6).to_text()
    assert "a matrix of 4 bands" in report.replace("\n", " ")
    assert "[CC23]" in report
    assert "relative to the largest column norm" in " ".join(report.split())
    with pytest.warns(hs.LargeDelta):
        STEP.without_replacement(batch=2, examples=10).banded(bands=2, iterations=4).epsilon(0.1)


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: STEP.banded(bands=0, iterations=3), hs.BadValue, "bands"),
        (lambda: STEP.banded(bands=4, iterations=3), hs.BadValue, "at most iterations"),
        (lambda: STEP.banded(bands=2, iterations=math.nan), hs.BadValue, "iterations"),
        (lambda: STEP.banded(bands=True, iterations=3), hs.BadType, "bands"),
        (lambda: hs.Laplace(2.0).banded(bands=2, iterations=4), hs.Unsupported, "Gaussian noise bears"),
        (lambda: hs.GDP(1.0).banded(bands=2, iterations=4), hs.Unsupported, "Gaussian noise bears"),
        (lambda: (STEP * 2).banded(bands=2, iterations=4), hs.Unsupported, "Use one step"),
        (lambda: STEP.full_pass(by="id").banded(bands=2, iterations=4), hs.Unsupported, "Use one step"),
        (lambda: STEP.banded(bands=2, iterations=4).poisson(rate=0.1), hs.Unsupported, "batches already"),
        (lambda: STEP.banded(bands=2, iterations=4).release(1.0), hs.Unsupported, "not drawn"),
        (lambda: STEP.allocated(steps=3).banded(bands=2, iterations=6).epsilon(1e-5, "replace"), hs.Unsupported, "no theorem"),
        (lambda: hs.Banded(1.0, 2, 4), hs.BadType, "base"),
    ],
)
def test_what_is_refused_is_said(make, error, words):
    with pytest.raises(error, match=words):
        make()
