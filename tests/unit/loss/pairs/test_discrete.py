"""The Rényi curve of discrete noise, in ball arithmetic."""

import pytest
from flint import arb, ctx

import hockeystick as hs


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
