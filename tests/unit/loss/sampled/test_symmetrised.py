"""Symmetrised samples: their laws, and replaced records with little discrete noise against the law of the sum in sixty digits."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf

import hockeystick as hs
from hockeystick.loss.pairs.discrete import ResponseLoss, SampledAtoms
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.pairs.symmetrised_atoms import SymmetrisedAtoms
from hockeystick.loss.sampled.binned import SampledLoss
from hockeystick.loss.sampled.symmetrised import SymmetrisedLoss, symmetrised
from sampled_cases import fold


def replace_one(forms: list[tuple[mpf, mpf, mpf]], rate: float) -> list[tuple[mpf, mpf]]:
    """Sampled noise moved either way, as (log ratio, mass): from the masses of the noise moved forth, at rest and moved back."""
    q = mpf(rate)
    return [
        (mp.log(((1 - q) * rest + q * forth) / ((1 - q) * rest + q * back)), (1 - q) * rest + q * forth)
        for forth, rest, back in forms
    ]


def laplace_moved(scale: float, move: int) -> list[tuple[mpf, mpf, mpf]]:
    """Discrete Laplace noise from -move to move, all that lies beyond at the ends."""
    mp.dps = 60
    fall = 1 / mpf(scale)
    unit = (1 - mp.exp(-fall)) / (1 + mp.exp(-fall))

    def mass(y: int, centre: int) -> mpf:
        share = 1 / (1 + mp.exp(-fall)) if abs(y) == move else unit
        return share * mp.exp(-abs(y - centre) * fall)

    return [(mass(y, move), mass(y, 0), mass(y, -move)) for y in range(-move, move + 1)]


@pytest.mark.parametrize(
    ("scale", "move", "rate", "steps", "delta"),
    [(0.1, 5, 0.1, 3, 1e-6), (0.1, 5, 0.01, 1, 1e-9), (0.09, 5, 0.1, 2, 1e-6), (0.125, 6, 0.1, 4, 1e-8), (2.0, 3, 0.2, 4, 1e-3)],
)
def test_replaced_records_in_a_sample_with_little_discrete_noise(
    scale: float, move: int, rate: float, steps: int, delta: float
) -> None:
    """Where the difference of two logarithms once cancelled, and the error of small values was charged to large ones."""
    exact = replace_one(laplace_moved(scale, move), rate)
    assert abs(sum(mass for _, mass in exact) - 1) < mpf("1e-50")
    bounds = (hs.DiscreteLaplace(scale=scale, sensitivity=move).poisson(rate=rate) * steps).epsilon_bounds(
        delta, neighbours="replace"
    )
    assert bounds.width < 1e-6 * bounds.upper

    def at(epsilon: float) -> mpf:
        law = {mpf(0): mpf(1)}
        for _ in range(steps):
            longer: dict[mpf, mpf] = {}
            for z, mass in law.items():
                for other, more in exact:
                    key = mp.mpf(mp.nstr(z + other, 40))
                    longer[key] = longer.get(key, mpf(0)) + mass * more
            law = longer
        return sum(mass * (1 - mp.exp(epsilon - z)) for z, mass in law.items() if z > epsilon)

    assert at(bounds.upper) <= mpf(delta) <= at(bounds.lower)


FOLDED = [fold(2.0, 100, 10_000), fold(0.8, 3, 7), symmetrised(SampledLoss(LaplaceLoss(0.7), 0.2, True), 0.2)]


def test_atoms_stay_atoms():
    assert isinstance(symmetrised(SampledAtoms(ResponseLoss(0.4), 0.1, True), 0.1), SymmetrisedAtoms)
    assert all(isinstance(loss, SymmetrisedLoss) for loss in FOLDED)
    assert [loss.has_slice for loss in FOLDED] == [True, True, False]


@pytest.mark.parametrize("loss", FOLDED, ids=lambda loss: type(loss.base).__name__)
def test_it_is_symmetric_and_whole(loss):
    """P of a cell is Q of its mirror image."""
    edges = np.array([-0.21, -0.08, -0.011, 0.011, 0.08, 0.21]) * min(1.0, loss.ceiling)
    log_p, log_q, error = loss.masses(edges)
    off = 2.0 * np.broadcast_to(error, log_p.shape)
    seen = log_p > -60.0
    assert (np.abs(log_p - log_q[::-1])[seen] <= (off + off[::-1] + 1e-12)[seen]).all()
    for log in (log_p, log_q):
        assert abs(math.fsum(np.exp(log).tolist()) - 1.0) <= 1e-12 + float((np.exp(log) * off).sum())


@pytest.mark.parametrize("loss", FOLDED, ids=lambda loss: type(loss.base).__name__)
def test_from_zero_up_it_is_the_removal(loss):
    for share in (0.0, 0.02, 0.1):
        epsilon = share * min(1.0, loss.ceiling)
        assert loss.closed(epsilon) == loss.base.closed(epsilon)
        ahead = math.exp(loss.base.closed(epsilon).value)
        back = loss.closed(-epsilon)
        assert math.exp(back.value) == pytest.approx(-math.expm1(-epsilon) + math.exp(-epsilon) * ahead, rel=1e-10)
    assert loss.ceiling == loss.base.ceiling
    for c in (0.5, 3.0):
        assert loss.cumulant_bound(c) >= loss.expand(c)[0] - 1e-3 * abs(loss.expand(c)[0])
