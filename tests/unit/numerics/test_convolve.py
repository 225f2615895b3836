"""Sums of laws by Fourier transforms: what is assumed of the transform, and exact convolution."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx, fmpz_poly

from hockeystick.numerics.cancellation_free import log_fraction
from hockeystick.numerics.convolve import Law, Sum
from hockeystick.numerics.rounding import FFT, UNIT


@pytest.fixture(autouse=True)
def bits():
    """Balls of many bits, for this file only."""
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


@pytest.mark.parametrize("size", [64, 512, 2048])
@pytest.mark.parametrize("kind", ["flat", "atom", "bump", "wild"])
def test_the_fourier_transform_errs_less_than_half_of_what_is_assumed(size, kind):
    rng = np.random.default_rng(size)
    masses = {
        "flat": np.full(size, 1.0 / size),
        "atom": np.eye(1, size, 3)[0] * 0.9 + 0.1 / size,
        "bump": np.exp(-0.5 * ((np.arange(size) - 20.3) / 7.0) ** 2),
        "wild": rng.random(size) ** 40,
    }[kind]
    angle = (
        8.0
        * np.arctan(np.longdouble(1.0))
        * ((np.arange(size)[:, None] * np.arange(size // 2 + 1)) % size).astype(np.longdouble)
        / size
    )
    long = masses.astype(np.longdouble)
    real, imaginary = long @ np.cos(angle), -(long @ np.sin(angle))
    found = np.fft.rfft(masses)
    error = np.hypot((found.real - real).astype(float), (found.imag - imaginary).astype(float))
    claimed = FFT * math.log2(size) * UNIT
    assert error.max() <= 0.5 * claimed * masses.sum()
    assert np.linalg.norm(error) <= 0.5 * claimed * np.linalg.norm(found)


@pytest.mark.parametrize("theta", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("counts", [(1, 1), (3, 2), (40, 7), (400, 1)])
@pytest.mark.parametrize("peaked", [(), (0,), (1,), (0, 1)])
def test_sums_of_laws_against_exact_convolution(theta, counts, peaked):
    """The tilted sum in one window, against integers convolved exactly."""
    rng = np.random.default_rng(11)
    size, step = 1 << 13, 0.01
    laws, exact = [], fmpz_poly([1])
    for i, count in enumerate(counts):
        weights = rng.integers(1, 1000, size=4).tolist()
        if i in peaked:
            weights[1] = 10**8
        z = step * np.arange(4)
        laws.append((Law(0, z, np.log(np.array(weights, dtype=float)), theta), count))
        exact *= fmpz_poly(weights) ** count
    found = Sum(laws, size, 0)
    assert found.masses.sum() == pytest.approx(1.0, rel=1e-9)
    logs = np.array([log_fraction(Fraction(int(mass))) for mass in exact.coeffs()]) + theta * step * np.arange(len(exact))
    truth = np.exp(logs - found.log_scale)
    off = found.masses[: truth.size] - truth
    assert np.linalg.norm(off) <= found.error + found.rounding * np.linalg.norm(truth)
    assert found.error < 1e-10


def test_many_laws_with_heavy_peaks_cost_no_accuracy():
    """A million of them beside a few without: the transform's error is that of the few."""
    z = 0.01 * np.arange(3)
    light = Law(0, z, np.log(np.array([1e-9, 1.0, 1e-9])), 0.5)
    few = (Law(0, z, np.log(np.array([0.3, 0.3, 0.4])), 0.5), 4)
    assert Sum([few, (light, 10**6)], 1 << 10, 0).error < 2.0 * Sum([few], 1 << 10, 0).error
