"""The saddle point for 1 - delta: in the strip left of 0, and where the bound by one real point is least."""

import math

import pytest

import hockeystick as hs
from hockeystick.loss.contour.complement import complement_saddle

RUNS = {
    "gaussian": hs.Gaussian(sigma=0.05),
    "laplace": hs.Laplace(scale=0.1) * 30,
    "dp-sgd": hs.Gaussian(sigma=0.4).poisson(rate=0.5) * 100,
}


@pytest.mark.parametrize("name", RUNS)
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 20.0])
def test_it_minimises_the_bound_by_one_real_point(name, epsilon):
    run = RUNS[name]._run("remove")
    saddle = complement_saddle(run, epsilon)
    assert -1.0 < saddle.c < 0.0

    def height(c):
        return run.expand(c)[0] - c * epsilon - math.log(-c * (1.0 + c))

    around = [saddle.c * 0.8, saddle.c + 0.2 * (-1.0 - saddle.c)]
    assert height(saddle.c) <= min(map(height, around)) + 1e-3
    assert saddle.log_delta <= 0.0
    assert saddle.epsilon == epsilon
