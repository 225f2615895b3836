"""Nodes left out of a long grid: bounds of what they would add, against the sums themselves."""

import math

import numpy as np
import pytest

from hockeystick.loss.sampled.quadrature import SampledStep
from hockeystick.loss.sampled.skipped_nodes import Stretches

STEP, SIZE = 0.05, 10


@pytest.mark.parametrize(("noise", "rate"), [(0.3, 1e-6), (1.0, 0.01), (2.0, 0.5)])
def test_the_sums_over_each_stretch_are_below_the_bound(noise, rate):
    shape, k = SampledStep(noise, rate), np.array([3.0, 1.0, 0.0, -0.7])
    edges = -9.0 + STEP * (SIZE * np.arange(41) - 0.5)
    stretches = Stretches(edges, *shape.ratios(edges), noise, math.log(SIZE * STEP))
    z = -9.0 + STEP * np.arange(400)
    terms = np.exp(k[:, None] * shape.ratios(z)[0] - 0.5 * z * z) * STEP
    sums = terms.reshape(k.size, 40, SIZE).sum(axis=2)
    assert (np.log(sums) <= stretches.heights(k) + 1e-12).all()
    skipped = stretches.skipped(k, -20.0)
    assert skipped.light.any()
    assert not skipped.light.all()
    assert (np.log(sums[:, skipped.light].sum(axis=1)) <= skipped.log_sums(k) + 1e-12).all()
    assert (stretches.skipped(k, -1e9).log_sums(k) == -math.inf).all()
