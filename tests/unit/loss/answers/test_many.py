"""Many questions of one run: what a shared contour says is what the questions one by one say."""

import math

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.answers import many as shared
from hockeystick.loss.contour.contour import Contour

RUNS = {
    "dpsgd": hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10_000,
    "remove": hs.Gaussian(sigma=0.8).poisson(rate=0.003) * 3_000,
    "huge": hs.Gaussian(sigma=300.0).poisson(rate=0.01) * 10**9,
    "laplace": hs.Laplace(scale=10.0) * 1000,
    "mixed": hs.Gaussian(sigma=2.0).poisson(rate=0.02) * 2000 + hs.Laplace(scale=5.0) * 3 + hs.Gaussian(sigma=9.0),
    "gaussian": hs.Gaussian(sigma=2.0) * 3,  # a closed form: nothing is shared
    "claim": hs.ApproxDP(epsilon=0.1, delta=1e-6) * 5 + hs.Laplace(scale=4.0) * 40,
}


def _relation(name: str) -> str:
    return "remove" if name == "remove" else "add-or-remove"


@pytest.mark.parametrize("name", RUNS)
def test_an_array_of_epsilons_agrees_with_single_questions(name: str) -> None:
    run, relation = RUNS[name], _relation(name)
    epsilons = np.concatenate(([-3.0, -0.5, 0.0], np.linspace(0.01, 9.0, 60), [40.0, 1e4]))
    low, high = run.log_delta_bounds(epsilons, relation)
    for place in range(0, epsilons.size, 4):
        one = run.log_delta_bounds(float(epsilons[place]), relation)
        assert low[place] <= one.upper
        assert one.lower <= high[place]
        # a lattice serves the epsilons near it, too, as long as it is within its goal of 1e-6
        slack = 1e-6 if name == "claim" else 1e-9
        assert high[place] == low[place] or high[place] - low[place] <= one.upper - one.lower + slack
    assert not np.isnan(low).any()
    assert not np.isnan(high).any()
    finite = high[np.isfinite(high)]
    assert (np.diff(finite) <= 1e-9 * (1.0 + np.abs(finite[1:]))).all()


@pytest.mark.parametrize("name", RUNS)
def test_an_array_of_deltas_agrees_with_single_questions(name: str) -> None:
    run, relation = RUNS[name], _relation(name)
    deltas = np.concatenate(([0.0, 1.0, 0.9, 0.3], np.logspace(-1, -30, 50), [1e-200]))
    low, high = run.epsilon_bounds(deltas, relation)
    for place in range(0, deltas.size, 3):
        one = run.epsilon_bounds(float(deltas[place]), relation)
        assert low[place] <= one.upper
        assert one.lower <= high[place]
        if math.isfinite(one.upper):
            assert high[place] - low[place] <= one.upper - one.lower + 1e-9 * one.upper


def test_contours_are_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Counted(Contour):
        def __init__(self, *given) -> None:
            made.append(given)
            super().__init__(*given)

    monkeypatch.setattr(shared, "Contour", Counted)
    monkeypatch.setattr(shared, "log_delta_proof", lambda run, epsilon, *more: pytest.fail(f"asked by itself: {epsilon}"))
    RUNS["dpsgd"].profile(np.linspace(0.5, 10.0, 1000))
    assert len(made) < 12


def test_a_contour_whose_ends_contradict_each_other_answers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The questions are asked by themselves then, where the driver decides."""
    run, epsilons = RUNS["mixed"], np.linspace(1.0, 6.0, 8)
    truth = [run.log_delta_bounds(float(one)) for one in epsilons]

    def wrong(contour: Contour, wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.full(wanted.shape, -1.0), np.full(wanted.shape, -50.0)

    monkeypatch.setattr(shared, "contour_ends", wrong)
    found = run.log_delta_bounds(epsilons)
    for low, high, one in zip(*found, truth, strict=True):
        assert max(low, one.lower) <= min(high, one.upper)
        assert high - low < 1e-9
