"""What the compiled core answers whole: against ball arithmetic, against the engine, and without NumPy."""

import math
import os
import random
import subprocess
import sys

import pytest
from flint import arb, ctx

import hockeystick as hs
from hockeystick.loss import direct
from hockeystick.loss.engine import epsilon_interval
from hockeystick.native import core
from hockeystick.numerics.rounding import SQUARE_ERROR

pytestmark = pytest.mark.skipif(core is None, reason="the core was not compiled: there was no C compiler")


def exceeds(mu: arb, epsilon: float, log_delta: float) -> bool | None:
    """Whether delta of N(mu, 1) against N(0, 1) is above (Balle and Wang 2018, Theorem 8); None: not decided."""
    epsilon = arb(epsilon)
    a = epsilon / mu - mu / 2
    delta = ((a / arb(2).sqrt()).erfc() - epsilon.exp() * ((a + mu) / arb(2).sqrt()).erfc()) / 2
    above, below = delta > arb(log_delta).exp(), delta < arb(log_delta).exp()
    return True if above else False if below else None


@pytest.mark.parametrize("seed", range(8))
def test_gaussian_noise(seed: int) -> None:
    rng, widths = random.Random(seed), []
    ctx.prec = 200
    for _ in range(60):
        square, log_delta = 10.0 ** rng.uniform(-2.0, 3.0), -(10.0 ** rng.uniform(-0.5, 2.6))
        ends = direct.gaussian_epsilon(square, log_delta)
        if ends is None:
            continue
        for off in (-SQUARE_ERROR, 0.0, SQUARE_ERROR):  # of the square, which is rounded
            mu = (arb(square) * (1 + arb(off))).sqrt()
            assert exceeds(mu, ends[0], log_delta) is True
            assert exceeds(mu, ends[1], log_delta) is False
        widths.append(ends[1] / ends[0] - 1.0)
    assert len(widths) > 20
    assert max(widths) < 1e-10
    assert sorted(widths)[len(widths) // 2] < 1e-13


def test_the_engine_tells_the_same() -> None:
    rng = random.Random(5)
    for _ in range(40):
        noise = hs.Gaussian(sigma=10.0 ** rng.uniform(-0.3, 1.3), sensitivity=rng.choice((1.0, 0.7)))
        step = rng.choice((noise, noise.poisson(rate=10.0 ** rng.uniform(-4.0, -0.1))))
        run, delta = step * rng.randrange(1, 10_000), 10.0 ** rng.uniform(-15.0, -2.0)
        for neighbours in ("add-or-remove", "add", "remove", "zero-out", "replace"):
            if neighbours != "replace" or step is noise:
                assert tuple(run.epsilon_bounds(delta, neighbours)) == epsilon_interval(run._run(neighbours), delta)


@pytest.mark.parametrize(
    "run",
    [
        "hs.Gaussian(sigma=1.0)",
        "hs.Gaussian(sigma=20.0) * 1000",
        "hs.Gaussian(sigma=1.1).poisson(rate=0.01) * 10_000",
        "hs.dpsgd(examples=60_000, batch=256, sigma=1.1, epochs=15, sampler='poisson')",
    ],
)
def test_without_numpy(run: str) -> None:
    code = f"import sys, hockeystick as hs; run = {run}; print(run.epsilon(delta=1e-5), 'numpy' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ}).stdout
    epsilon, loaded = told.split()
    assert loaded == "False"
    assert math.isfinite(float(epsilon))


def test_what_is_not_told_directly() -> None:
    assert direct.gaussian_epsilon(1e-8, -11.5) is None  # Mills' ratios lie close
    assert direct.gaussian_epsilon(1.0, -900.0) is None  # a far tail
    assert direct.gaussian_epsilon(1.0, math.log(0.5)) is None  # epsilon is 0
    assert hs.Gaussian(sigma=1.0).epsilon(0.5) == 0.0
    assert hs.Gaussian(sigma=1e4).epsilon_bounds(1e-5).width < 1e-12
    assert hs.Gaussian(sigma=1.0).epsilon_bounds(1e-300).width < 1e-10
