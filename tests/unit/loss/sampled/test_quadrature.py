"""The sums over the noise of a sampled Gaussian step: claimed against observed errors, and the proof of the decay."""

import math

import mpmath
import numpy as np
import pytest

import hockeystick as hs
from hockeystick.loss.protocol import Inconclusive
from hockeystick.loss.sampled.gaussian_slice import cut_step, sampled_gap
from hockeystick.loss.sampled.quadrature import Grid, SampledStep
from hockeystick.numerics.trapezoid import RATIO, Cells

pytestmark = pytest.mark.usefixtures("arithmetic")


def _draws(count, seed):
    random = np.random.default_rng(seed)
    for _ in range(count):
        noise = math.exp(random.uniform(math.log(0.3), math.log(30.0)))
        rate = min(math.exp(random.uniform(math.log(1e-6), 0.3)), 0.999)
        c = math.exp(random.uniform(math.log(1e-2), math.log(60.0)))
        yield noise, rate, c, random


def _dense(shape, k, step=2e-3, ends=45.0):
    """The law of z tilted by e^{kL} on very many nodes."""
    z = np.arange(-ends, ends + max(k, 0.0) / shape.noise, step)
    ratio, _ = shape.ratios(z)
    exponent = k * ratio - 0.5 * z * z
    weight = np.exp(exponent - exponent.max())
    return ratio, weight / weight.sum(), exponent.max() + math.log(weight.sum() * step / math.sqrt(2.0 * math.pi))


@pytest.mark.parametrize("case", list(_draws(40, 1)), ids=lambda case: f"{case[0]:.2g}-{case[1]:.2g}-{case[2]:.2g}")
def test_the_error_of_the_rule_is_below_its_bound(case):
    """The bounds are for sums that a double can still tell apart: a lead of 12."""
    noise, rate, c, random = case
    shape = SampledStep(noise, rate)
    for k in (1.0 + c, -c):
        ratio, weight, level = _dense(shape, k)
        if abs(level) > 1.0:
            continue
        reach = random.uniform(0.0, 0.3) / max(float(np.sqrt(weight @ ratio**2)), 1e-9)
        try:
            grid = Grid(shape, k, level, 12.0, reach)
        except Inconclusive:
            continue
        for u in (0.0, 0.5 * reach, reach):
            truth = np.exp(level) * (weight @ np.exp(1j * u * ratio))
            found = np.exp(grid.base) @ np.exp((k + 1j * u) * grid.ratio)
            claimed = math.exp(grid.log_rule) + math.exp(grid.outside(k))
            assert abs(found - truth) <= claimed + 1e-12
            assert claimed < 1e-3


@pytest.mark.parametrize("case", list(_draws(60, 2)), ids=lambda case: f"{case[0]:.2g}-{case[1]:.2g}-{case[2]:.2g}")
def test_the_decay_is_below_the_truth_and_not_far_below(case):
    noise, rate, c, random = case
    shape = SampledStep(noise, rate)
    steps = math.exp(random.uniform(0.0, math.log(1e7)))
    for k in (1.0 + c, -c):
        ratio, weight, level = _dense(shape, k)
        lead = math.log(steps) + 14.0 + math.log(2.0 + abs(k))
        try:
            grid = Grid(shape, k, level, lead, 0.0, 0.0, cut_step(shape, min(-k, 1.0 - k, 0.0), lead))
        except Inconclusive:
            continue
        spread = math.sqrt(weight @ ratio**2 - (weight @ ratio) ** 2)
        cells = Cells(0.3 / (spread * math.sqrt(steps)))
        tilted = np.exp(k * grid.ratio + grid.base - level)
        gap = sampled_gap(grid, np.array([k]), tilted[None, :] / tilted.sum(), 1e-12, cells)[0]
        assert gap.shape == cells.left.shape
        for place in range(0, len(gap) - 1, 2):
            left = cells.left[place]
            if left * np.abs(np.diff(ratio)).max() > 0.5:  # the dense law itself is too coarse
                break
            for u in left * np.array([1.0, 1.07, 1.15, RATIO]):
                size = abs(weight @ np.exp(1j * u * ratio))
                assert size <= 1.0 - gap[place] + 1e-12
            if 30.0 < -steps * math.log(max(size, 1e-300)) < 60.0 and steps > 1000.0:
                assert -steps * math.log1p(-gap[place]) > 2.0


@pytest.mark.parametrize("steps", [10**6, 10**9, 10**12])
@pytest.mark.parametrize("rate", [0.05, 0.001])
def test_many_steps_of_much_noise_keep_a_narrow_interval(steps, rate):
    """sigma grows with the root of the steps: the proof of the decay must follow L down to any size."""
    run = hs.Gaussian(sigma=2.0 * math.sqrt(steps / 1000)).poisson(rate=rate) * steps
    bounds = run.epsilon_bounds(1e-6)
    assert bounds.upper - bounds.lower <= 1e-9 * bounds.upper


@pytest.mark.parametrize(
    ("sigma", "rate", "c"), [(0.44, 0.48, 1e-5), (0.7, 0.93, 3e-6), (2.0, 0.9, 1e-7), (1.1, 0.01, 2e-4), (9.0, 0.3, 1e-3)]
)
def test_tiny_exponents_are_told_relative_to_themselves(sigma, rate, c):
    """K(w) for w next to 0, of both orders, against integrals of thirty digits."""
    run = (hs.Gaussian(sigma=sigma).poisson(rate=rate) * 10**9)._run("add-or-remove")
    (loss, count) = run.terms[0]
    values, errors = loss.slice(c, 0.0, count).values(c, 3)
    mpmath.mp.dps = 30
    edges = [-40, -20, -10, -5, 0, 5, 10, 20, 40, 60]
    for row, removal in enumerate(loss.removals):
        for node in range(3):
            w = mpmath.mpc(c, node * c)

            def density(z, w=w, removal=removal):
                ratio = mpmath.log(
                    1 - mpmath.mpf(rate) + mpmath.mpf(rate) * mpmath.exp(z / mpmath.mpf(sigma) - 0.5 / mpmath.mpf(sigma) ** 2)
                )
                return mpmath.npdf(z) * (mpmath.exp(ratio) * mpmath.expm1(w * ratio) if removal else mpmath.expm1(-w * ratio))

            truth = mpmath.log(1 + mpmath.quad(density, edges))
            off = abs(mpmath.mpc(complex(values[row, node])) - truth)
            assert off <= errors[row, node]
        assert errors[row].max() < 2e-13 * c * (1.0 + 10.0 / sigma**2)
