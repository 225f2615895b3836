"""Discrete noise, responses and claims: their laws by definition, and the Rényi curve of discrete noise in ball arithmetic."""

import math

import numpy as np
import pytest
from flint import arb, ctx

import hockeystick as hs
from hockeystick.loss.pairs.discrete import (
    DiscreteGaussianLoss,
    DiscreteLaplaceLoss,
    ResponseLoss,
    SampledAtoms,
    ShiftLoss,
    UniformResponseLoss,
)


@pytest.fixture(autouse=True)
def bits():
    """Balls of many bits, for this file only."""
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


@pytest.mark.parametrize(
    ("sigma", "move", "order"), [(3.0, 2, 1e4), (3.0, 2, 50.0), (0.6, 1, 200.3), (0.4, 1, 2.37), (0.3, 4, 1e3)]
)
def test_the_renyi_curve_of_discrete_noise(sigma, move, order):
    """K is that of continuous noise plus log theta((1+c) move) - log theta(0); once values left out made it far too small."""
    variance, c = arb(sigma) ** 2, arb(order) - 1

    def theta(shift: arb) -> arb:
        return sum((-((arb(x) - shift) ** 2) / (2 * variance)).exp() for x in range(-60, 61))

    whole = (c + 1) * move
    truth = (move**2 / (2 * variance) * c * (c + 1) + (theta(whole - whole.floor()) / theta(arb(0))).log()) / c
    found = hs.DiscreteGaussian(sigma, sensitivity=move).rdp(order)
    assert truth <= found
    assert found <= float(truth) * (1.0 + 1e-7)


def noise(weight, move: int) -> dict[float, float]:
    """Loss and mass of integer noise moved by `move`; values that agree to twelve digits are one."""
    span = range(-4000, 4001)
    total = math.fsum(math.exp(weight(y)) for y in span)
    found: dict[float, float] = {}
    for y in span:
        if weight(y - move) > -700.0:
            z = round(weight(y - move) - weight(y), 12)
            found[z] = found.get(z, 0.0) + math.exp(weight(y - move)) / total
    return found


def responses(epsilon: float, categories: int, truthful: bool) -> dict[float, float]:
    """A truthful answer against a uniform one, or the reverse."""
    total = math.exp(epsilon) + categories - 1
    true, other = math.exp(epsilon) / total, 1.0 / total
    rows = [(true, 1.0 / categories, 1), (other, 1.0 / categories, categories - 1)]
    return {math.log(p / q if truthful else q / p): (p if truthful else q) * ways for p, q, ways in rows}


def shifted(epsilon: float, shift: float) -> dict[float, float]:
    """Losses t and t - epsilon: masses that make both laws whole."""
    q = -math.expm1(-shift) / -math.expm1(-epsilon)
    return {shift: (1.0 - q) * math.exp(shift), shift - epsilon: q * math.exp(shift - epsilon)}


def sampled(epsilon: float, rate: float, removal: bool) -> dict[float, float]:
    """A claim's worst pair in a Poisson sample."""
    yes = 1.0 / (1.0 + math.exp(-epsilon))
    rows = [(yes, 1.0 - yes), (1.0 - yes, yes)]
    pairs = [(rate * p + (1.0 - rate) * q, q) if removal else (q, rate * p + (1.0 - rate) * q) for p, q in rows]
    return {math.log(p / q): p for p, q in pairs}


LAWS = {
    "response": (ResponseLoss(0.7), {0.7: 1.0 / (1.0 + math.exp(-0.7)), -0.7: 1.0 / (1.0 + math.exp(0.7))}),
    "uniform": (UniformResponseLoss(0.8, 4, True), responses(0.8, 4, True)),
    "uniform-reversed": (UniformResponseLoss(0.8, 4, False), responses(0.8, 4, False)),
    "shift": (ShiftLoss(1.0, 0.3), shifted(1.0, 0.3)),
    "laplace": (DiscreteLaplaceLoss(3.0, 2), noise(lambda y: -abs(y) / 3.0, 2)),
    "gaussian": (DiscreteGaussianLoss(1.7, 3), noise(lambda y: -y * y / (2.0 * 1.7**2), 3)),
    "removal": (SampledAtoms(ResponseLoss(0.5), 0.2, True), sampled(0.5, 0.2, True)),
    "addition": (SampledAtoms(ResponseLoss(0.5), 0.2, False), sampled(0.5, 0.2, False)),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_atoms_are_those_of_the_definition(name):
    loss, truth = LAWS[name]
    z, log_p, log_q, error, _ = loss.atoms
    assert (np.diff(z) > 0.0).all()
    assert log_p - log_q == pytest.approx(z, abs=4.0 * error + 1e-12)
    for log in (log_p, log_q):
        assert math.fsum(np.exp(log).tolist()) == pytest.approx(1.0, abs=1e-10)
    likely = {value: mass for value, mass in truth.items() if mass > 1e-12}
    assert len(likely) <= z.size
    for value, mass in likely.items():
        place = int(np.abs(z - value).argmin())
        assert z[place] == pytest.approx(value, abs=1e-9)
        assert math.exp(log_p[place]) == pytest.approx(mass, rel=1e-9)


@pytest.mark.parametrize("name", LAWS)
def test_delta_is_the_sum_over_the_definition(name):
    loss, truth = LAWS[name]
    for epsilon in (-0.5, 0.0, 0.11, 0.29):
        total = math.fsum(mass * -math.expm1(epsilon - z) for z, mass in truth.items() if z > epsilon)
        found = loss.closed(epsilon)
        if total > 0.0:
            assert math.exp(found.value) == pytest.approx(total, rel=1e-9)
        else:
            assert found.high == -math.inf
