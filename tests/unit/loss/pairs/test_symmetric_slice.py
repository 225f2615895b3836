"""Slices of symmetric pairs whose phi is in closed form, against their integrals in many digits."""

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from hockeystick.loss.pairs.bounded_range import BoundedRangeLoss
from hockeystick.loss.pairs.laplace import LaplaceLoss
from hockeystick.loss.pairs.symmetric_slice import SymmetricSlice
from hockeystick.numerics.trapezoid import Cells


def exponential(a: float, w: mpc) -> mpc:
    """A density proportional to e^{z/2} on [-a, a]."""
    v = w + mpf(1) / 2
    return mp.sinh(v * a) / (2 * v * mp.sinh(mpf(a) / 2)) if v else mpf(a) / (2 * mp.sinh(mpf(a) / 2))


def laplace(a: float, w: mpc) -> mpc:
    """Atoms of 1/2 at a and e^-a/2 at -a, and the density e^{(z - a)/2}/4 between."""
    v = w + mpf(1) / 2
    inner = mp.sinh(v * a) / v if v else mpf(a)
    return mp.exp(mpf(a) * w) / 2 + mp.exp(-mpf(a) * (1 + w)) / 2 + mp.exp(-mpf(a) / 2) * inner / 2


FORMS = {"exponential": (BoundedRangeLoss, exponential), "laplace": (LaplaceLoss, laplace)}


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("a", [1e-9, 1e-4, 0.05, 0.9, 1.1, 7.0, 90.0])
@pytest.mark.parametrize("c", [-0.9, -0.5, -0.2, 1e-7, 0.3, 2.0, 50.0])
def test_values_within_their_errors(name, a, c):
    """log phi, near w = 0 as a series and far from it in closed form, to relative accuracy where it is next to nothing."""
    make, phi = FORMS[name]
    one = make(a).slice(c, c, 10)
    assert isinstance(one, SymmetricSlice)
    assert one.keep([0]) is one
    values, errors = one.values(3.1, 8)
    with mp.workdps(60):
        for place in range(8):
            w = mpc(mpf(c), mpf(3.1 * place))
            truth = phi(a, w)
            found, error = mpc(complex(values[0, place])), float(errors[0, place])
            assert abs(mp.expm1(found - mp.log(truth))) <= mpf(error) * (1 + mpf(error))
        if c != -0.5:  # where v = 0 the closed form says nothing
            assert float(errors[0, 0]) <= max(1e-13 * (1.0 + a * (1.0 + abs(c))), 1e-10 * abs(complex(values[0, 0])))


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("a", [1e-4, 0.9, 7.0])
def test_bounds_on_the_real_axis(name, a):
    make, phi = FORMS[name]
    points = np.array([1e-6, 0.3, 2.0, 30.0])
    found = make(a).slice(0.3, 2.0, 10).cumulant_above(points)[0]
    with mp.workdps(60):
        for bound, point in zip(found.tolist(), points.tolist(), strict=True):
            truth = mp.log(phi(a, mpf(point)))
            assert truth <= bound <= truth + mpf(1e-13) * (1 + abs(truth) + a)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("a", [1e-2, 0.9, 7.0])
@pytest.mark.parametrize("c", [0.2, 3.0])
def test_the_decay_holds_on_every_cell(name, a, c):
    make, phi = FORMS[name]
    cells = Cells(0.1 / a)
    found = make(a).slice(c, c, 10).decay(cells)[0]
    with mp.workdps(40):
        top = mp.log(phi(a, mpf(c)))
        for place in range(0, 60, 3):
            left = float(cells.left[place])
            for share in (1.0, 1.1, 1.25):
                truth = top - mp.log(abs(phi(a, mpc(c, left * share))))
                assert found[place] <= truth + mpf(1e-12)
    if a > 0.5:  # of small Laplace losses the atoms hold nearly all mass
        assert found[20:].max() > 0.1
