"""Large values of a finite loss counted apart: against exact laws of few steps, and the lattice."""

import math
import random

import pytest
from mpmath import mp, mpf

import hockeystick as hs
from finite_losses import SLACK, drawn, exact_delta
from hockeystick.loss.bigjump.atoms import atoms_epsilon, atoms_log_delta
from hockeystick.loss.lattice.refine import lattice_epsilon
from hockeystick.loss.protocol import Inconclusive


@pytest.mark.parametrize("seed", range(40))
def test_large_values_counted_apart_are_right(seed: int) -> None:
    rng = random.Random(seed)
    response, rate, exact = drawn(rng)
    steps = rng.choice((1, 2, 5, 20, 60))
    run = (response.poisson(rate=rate) * steps)._run("remove")
    most = max(z for z, _ in exact)
    for _ in range(5):
        epsilon = float(most) * rng.choice((0.05, 0.3, 0.9, 1.0, 1.3, 1.999)) * (1.0 + rng.choice((0.0, 1e-9, -1e-9)))
        truth = exact_delta(exact, steps, epsilon)
        if not truth > 1e-200:
            continue
        try:
            low, high = atoms_log_delta(run, epsilon)
        except Inconclusive:
            continue
        assert mp.exp(mpf(low)) <= truth <= mp.exp(mpf(high)), (epsilon, low, high, truth)
        try:
            found = atoms_epsilon(run, math.log(truth), 1e-14 * abs(math.log(truth)))
        except Inconclusive:
            continue
        assert found[0] <= epsilon <= found[1]


@pytest.mark.parametrize(
    ("sigma", "rate", "steps", "delta"),
    [
        (1.4218, 3.85e-4, 4373, 1.2e-13),
        (1.672, 6.5e-4, 1139, 1.4e-16),
        (0.8748, 1.6e-4, 5978, 6.9e-9),
        (19.65, 5e-4, 7368, 1e-60),
    ],
)
def test_large_values_apart_and_the_lattice_agree(sigma: float, rate: float, steps: int, delta: float) -> None:
    run = (hs.DiscreteGaussian(sigma=sigma).poisson(rate=rate) * steps)._run("remove")
    low, high = atoms_epsilon(run, math.log(delta), SLACK)
    other = lattice_epsilon(run, math.log(delta), SLACK)
    assert max(low, other[0]) <= min(high, other[1])
    assert high - low < 5e-6 * high


def test_just_below_the_largest_sum_of_large_losses() -> None:
    run = hs.DiscreteLaplace(scale=0.0036).poisson(rate=0.0037) * 2
    bounds = run.delta_bounds(544.3567106368753, neighbours="remove")
    assert bounds.lower <= 2.2419810844274808e-16 <= bounds.upper
