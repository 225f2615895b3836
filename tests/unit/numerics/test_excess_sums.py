"""E[e^{kL} - 1 - kx] to relative accuracy, by power sums where k L is small, against the same sums in many digits."""

import numpy as np
import pytest
from mpmath import mp, mpc, mpf

from hockeystick.loss.sampled.quadrature import Grid, SampledStep
from hockeystick.numerics.cancellation_free import ExcessSums, power_tails


@pytest.mark.parametrize("scale", [1e-12, 1e-5, 0.02, 0.3])
@pytest.mark.parametrize("k", [2.0, 0.5, -1.0, 1.0 + 3.0j, 1e-9])
def test_the_polynomial_is_the_sum(scale, k):
    """sum_m S_m (k^m - k) = sum of weight (e^{kL} - 1 - k (e^L - 1)), however small."""
    rng = np.random.default_rng(7)
    ratio, weight = np.sort(rng.uniform(-scale, scale, 200)), rng.random(200) / 200.0
    size = 3.2
    tails, error = power_tails(ratio, weight, np.zeros(200), np.zeros(200), size)
    with mp.workdps(80):
        kk = mpc(k)
        truth = mp.fsum(
            mpf(w) * (mp.exp(kk * mpf(x)) - 1 - kk * mp.expm1(mpf(x)))
            for w, x in zip(weight.tolist(), ratio.tolist(), strict=True)
        )
        polynomial = mpc(complex(np.polynomial.polynomial.polyval(k, tails))) * kk * (kk - 1)
        assert abs(polynomial - truth) <= mpf(error + 1e-15 * float(np.abs(tails).max())) * abs(kk * (kk - 1))
        assert error < 1e-11 * float(np.abs(tails).max())


def test_no_nodes_are_no_sum():
    tails, error = power_tails(np.empty(0), np.empty(0), np.empty(0), np.empty(0), 2.0)
    assert tails.tolist() == [0.0]
    assert error == 0.0


@pytest.mark.parametrize(("noise", "rate"), [(1.0, 0.01), (4.0, 0.3), (0.6, 1e-6)])
@pytest.mark.parametrize("size", [1.0, 8.0, 1e3])
def test_the_nodes_are_split_by_their_size(noise, rate, size):
    grid = Grid(SampledStep(noise, rate), 2.0, 0.0, 40.0, 1.0)
    split = ExcessSums(grid, size)
    far = np.abs(grid.ratio) * size > 1.0
    assert split.far == bool(far.any())
    if split.far:
        assert np.array_equal(split.ratio, grid.ratio[far])
        weight = np.exp(grid.base)
        assert split.mass == pytest.approx(float(weight[far].sum()), rel=1e-12)
        assert split.drift == pytest.approx(float(weight[far] @ np.expm1(grid.ratio[far])), rel=1e-9, abs=1e-16)
