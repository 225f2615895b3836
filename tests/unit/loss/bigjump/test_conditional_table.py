"""The integral over the large step: its table of cells against quadrature, and the bounds of the threshold between the edges."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from scipy.special import ndtr

import hockeystick as hs
from hockeystick.loss.bigjump.conditional_table import OtherStepsTable, _threshold_at
from hockeystick.loss.composed import ComposedLoss
from hockeystick.loss.protocol import Inconclusive
from truth_sparse import single


@pytest.mark.parametrize(("threshold", "width"), [(0.5, 0.1), (3.0, 1.0), (40.0, 2.0)])
@pytest.mark.parametrize("factor", [1.0, 1.0 + 1e-9])
def test_the_threshold_lies_within_its_bend_of_the_chord(threshold, width, factor):
    v = 1.0 + threshold * np.geomspace(0.01, 5.0, 300)
    nu, bend, start = _threshold_at(v, threshold, width, factor)
    place, wide = (1.0 + threshold) * factor, width * factor
    assert nu == pytest.approx(ndtr((v - place) / wide), rel=1e-9, abs=1e-300)
    for share in (0.1, 0.5, 0.9):
        x = v[:-1] + share * np.diff(v)
        chord = nu[:-1] + share * np.diff(nu)
        assert (np.abs(ndtr((x - place) / wide) - chord) <= bend + 1e-15).all()
    assert start >= math.log(max(float(ndtr((v[0] - place) / wide)), 1e-300)) or start == 0.0


def table(noise: float, rate: float, others: int, epsilon: float, cells: int = 12_000) -> tuple[OtherStepsTable, float]:
    """With the losses of a large step from 2% of epsilon's x to twice as far."""
    run = (hs.Gaussian(sigma=noise).poisson(rate=rate) * (others + 1))._run("remove")
    ((loss, _),) = run.terms
    x = math.expm1(epsilon)
    losses = np.log1p(x * np.linspace(0.02, 2.0, cells))
    return OtherStepsTable(ComposedLoss(((loss, others + 1),)), loss, epsilon, epsilon - losses), x


def exact(noise: float, rate: float, others: int, epsilon: float, threshold: float, width: float) -> float:
    """E_Q[nu (1 + x) delta'(epsilon - log(1 + x))] over the noise, delta' of none or one other step in closed form."""
    with mp.workdps(25):
        q, s = mpf(rate), mpf(noise)

        def term(z):
            grown = q * mp.expm1(z / s - 1 / (2 * s * s))
            left = epsilon - mp.log1p(grown)
            delta = single(q, s, left) if others else max(-mp.expm1(left), mpf(0))
            return mp.npdf(z) * (1 + grown) * delta * mp.ncdf((grown - threshold) / width)

        places = [
            s * mp.log1p(mpf(x) / q) + 1 / (2 * s * s) for x in (1e-3 * threshold, 0.3 * threshold, threshold, 2 * threshold)
        ]
        edge = s * mp.log((mp.exp(mpf(epsilon)) - 1 + q) / q) + 1 / (2 * s * s)
        return float(mp.quad(term, sorted([-12, *places, edge, edge + 1, edge + 4, edge + 12, edge + 25])))


@pytest.mark.parametrize(("noise", "rate"), [(0.6, 1e-3), (0.4, 1e-2)])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
@pytest.mark.parametrize("others", [0, 1])
def test_both_ends_hold_what_the_integral_is(noise, rate, epsilon, others):
    """Alone, of what is left only delta' <= 1 is used from above; with another step its delta is looked at."""
    rest, x = table(noise, rate, others, epsilon)
    threshold, width = 0.3 * x, 0.03 * x
    while rest.refine(threshold, width, epsilon, 0.0):
        pass
    low, high = rest.integral(threshold, width, epsilon, 0.0)
    truth = exact(noise, rate, others, epsilon, threshold, width)
    assert low <= truth * (1.0 + 1e-9)
    assert truth * (1.0 - 1e-9) <= high
    if others:  # of a single one neither contour nor lattice tells delta closely
        assert 0.1 * truth < low
        assert high < 1.5 * truth


def test_the_table_falls_in_epsilon_and_its_ends_are_in_order():
    rest, _ = table(0.5, 1e-3, 200, 2.0, 2000)
    assert (np.diff(rest.y) < 0.0).all()
    assert (np.diff(rest.high) >= 0.0).all()
    assert (np.diff(np.maximum(rest.low, -1e4)) >= 0.0).all()
    assert (rest.low <= rest.high + 1e-12).all()
    assert (rest.high_none_large <= rest.high).all()
    run = (hs.Gaussian(sigma=0.5).poisson(rate=1e-3) * 200)._run("remove")
    release = hs.Gaussian(sigma=0.5).poisson(rate=1e-3) * 200
    assert run.terms[0][1] == 200
    for place in (0, 700, 1300, 1900):
        truth = release.log_delta_bounds(float(rest.y[place]), neighbours="remove")
        assert rest.low[place] <= truth.upper + 1e-9
        assert truth.lower - 1e-9 <= rest.high[place]


def test_losses_that_the_table_was_not_made_for_are_refused():
    rest, x = table(0.6, 1e-3, 0, 1.0, 500)
    with pytest.raises(Inconclusive):
        rest.integral(0.3 * x, 0.03 * x, 9.0, 0.0)
