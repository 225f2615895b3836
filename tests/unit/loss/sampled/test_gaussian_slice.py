"""K of a sampled Gaussian step along a vertical line, and its decay, against quadrature."""

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

from hockeystick.loss.sampled.gaussian import Guide, SampledGaussianLoss
from hockeystick.loss.sampled.gaussian_slice import SampledGaussianSlice
from hockeystick.loss.sampled.quadrature import SampledStep
from hockeystick.numerics.trapezoid import Cells

SHAPES = [SampledStep(1.1, 0.01), SampledStep(0.6, 0.3), SampledStep(4.0, 0.9)]


def line(shape, k, u):
    """E e^{(k + iu) L} by Gauss's rule on short panels."""
    place, weight = leggauss(16)
    edges = np.linspace(-13.0, 13.0 + 1.2 * k / shape.noise, 1500)
    half = 0.5 * np.diff(edges)
    z = (edges[:-1, None] + half[:, None] * (1.0 + place)).ravel()
    loss = np.log1p(shape.rate * np.expm1(z / shape.noise - 0.5 / shape.noise**2))
    density = (half[:, None] * weight).ravel() * np.exp(k * loss - 0.5 * z * z) / np.sqrt(2.0 * np.pi)
    return np.array([(density * np.exp(1j * one * loss)).sum() for one in u])


@pytest.mark.usefixtures("arithmetic")
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("c", [0.4, 3.0])
def test_values_and_decay_of_both_orders(shape, c):
    found = SampledGaussianLoss(shape, (True, False), Guide(shape)).slice(c, c + 1.0, 500)
    step, nodes = 0.8, 24
    u = step * np.arange(nodes)
    values, errors = found.values(step, nodes)
    cells = Cells(0.5)
    decay = found.decay(cells)
    for row, k in ((0, 1.0 + c), (1, -c)):
        truth = line(shape, k, u if row == 0 else -u)
        assert (np.abs(np.exp(values[row]) / truth - 1.0) <= errors[row] + 1e-12).all()
        points = cells.left[:28:3]  # beyond, the panels are too long for e^{iuL}
        size = np.abs(line(shape, k, points)) / truth[0].real
        assert (np.exp(-decay[row][:28:3]) >= size - 1e-9).all()
        assert decay[row].max() > 0.0


def test_rows_may_be_left_out():
    shape = SHAPES[0]
    both = SampledGaussianLoss(shape, (True, False), Guide(shape)).slice(1.0, 2.0, 500)
    assert isinstance(both, SampledGaussianSlice)
    assert both.keep([0, 1]) is both
    np.testing.assert_allclose(both.keep([1]).values(0.3, 5)[0], both.values(0.3, 5)[0][1:], rtol=1e-9)
