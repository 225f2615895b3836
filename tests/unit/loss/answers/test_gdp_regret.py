"""How far a Gaussian DP curve is from a run, against the definition on a grid of tests."""

import math

import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.answers.gdp import profile_ends
from hockeystick.loss.answers.gdp_regret import regret_ends
from hockeystick.loss.pairs.gaussian import gaussian_log_delta

RUNS = {  # with a mu, and how many epsilons are asked
    "laplace": (hs.Laplace(scale=1.5), 1.0, 1201),
    "steps": (hs.Laplace(scale=4.0) * 20, 1.6, 301),
    "response": (hs.RandomizedResponse(epsilon=1.0), 1.2, 1201),
    "dp-sgd": (hs.Gaussian(sigma=1.0).poisson(rate=0.1) * 20, 0.9, 61),
}


def ends(run: hs.Gaussian, mu: float, tolerance: float = 1e-7) -> tuple[float, float]:
    forward, backward = (profile_ends(run._run(order)) for order in ("remove", "add"))
    return regret_ends(forward, backward, mu, tolerance)


@pytest.mark.parametrize("name", RUNS)
def test_it_is_the_supremum_of_its_quotient(name):
    """(delta_mu - delta)/(1 + e^eps) at many epsilons of both orders; its slope is at most 1/2."""
    run, mu, count = RUNS[name]
    low, high = ends(run, mu)
    epsilons = np.linspace(0.0, 6.0, count)
    gaussian = [math.exp(gaussian_log_delta(mu, epsilon).value) for epsilon in epsilons.tolist()]
    best = 0.0
    for order in ("remove", "add"):
        delta = np.array(run.delta(epsilons, neighbours=order))
        best = max(best, float(((gaussian - delta) / (1.0 + np.exp(epsilons))).max()))
    assert low - 0.5 * epsilons[1] <= best <= high + 1e-9
    assert high - low <= 1e-6


@pytest.mark.parametrize("name", ["laplace", "response"])
def test_the_curve_moved_by_it_lies_below(name):
    """f(x + k) - k <= G_mu(x) for every x, and for no k that is clearly smaller."""
    run, mu, _ = RUNS[name]
    _, high = ends(run, mu)
    alphas = np.linspace(1e-4, 1.0 - 1e-4, 400)
    gaussian = hs.conversion.gdp_tradeoff(mu, alphas)

    def above(k: float) -> float:
        moved = np.minimum(alphas + k, 1.0)
        return float((np.array(run.tradeoff(moved)) - k - gaussian).max())

    assert above(high) <= 1e-6
    assert high == 0.0 or above(0.9 * high) > 0.0


def test_gaussian_noise_has_none_of_its_own_mu():
    run = hs.Gaussian(sigma=2.0)
    low, high = ends(run, 0.5)
    assert low <= 1e-12
    assert high <= 1e-5
    assert ends(run, 0.0)[0] == 0.0


def test_it_grows_with_mu():
    run = RUNS["steps"][0]
    found = [ends(run, mu)[1] for mu in (0.8, 1.0, 1.3, 2.0, 5.0)]
    assert found == sorted(found)
