"""Fourier sums in pieces, against the sums themselves."""

import numpy as np

from hockeystick.numerics import rounding
from hockeystick.numerics.trapezoid import added_terms, fourier_sums


def test_fourier_sums_in_pieces() -> None:
    """More values than fit into one table, against the sums themselves."""
    random = np.random.default_rng(4)
    ratio, weight = np.sort(random.normal(size=9001)), random.random((2, 9001))
    found = fourier_sums(ratio, weight, 0.3, 40)
    turned = np.exp(1j * np.outer(0.3 * np.arange(40), ratio))
    bound = (added_terms(ratio.size, 40) + 40.0) * rounding.UNIT * weight.sum(axis=1)
    assert (np.abs(found - weight @ turned.T) <= 2.0 * bound[:, None]).all()
