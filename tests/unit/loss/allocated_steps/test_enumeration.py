import math
from fractions import Fraction

import numpy as np
import pytest

from hockeystick.loss.allocated_steps.enumeration import TUNING, compositions


def multinomial(counts, masses):
    ways = Fraction(math.factorial(sum(counts)))
    for count, mass in zip(counts, masses, strict=True):
        ways = ways / math.factorial(count) * mass**count
    return ways


@pytest.mark.parametrize("weights", [(1, 2), (5, 1), (3, 1, 2), (1, 1, 1, 5), (7,)])
def test_masses_are_multinomial(weights):
    masses = [Fraction(one, 10 if len(weights) == 2 else sum(weights)) for one in weights]  # they need not sum to 1
    found = compositions(tuple(math.log(one) for one in masses), 7, 1000)
    assert found.counts.shape[0] == math.comb(7 + len(weights) - 1, len(weights) - 1) == np.unique(found.counts, axis=0).shape[0]
    assert (found.counts.sum(axis=1) == 7).all()
    for row, log_mass in zip(found.counts.tolist(), found.log_mass.tolist(), strict=True):
        assert abs(log_mass - math.log(multinomial(row, masses))) <= found.error + 1e-14
    assert found.error < 1e-12
    assert found.log_omitted == -math.inf


def test_rare_ways_are_left_out_and_counted():
    log_mass = (math.log(0.5), math.log(0.5), -300.0)
    found = compositions(log_mass, 10, 1000)
    assert found.counts[:, 2].max() == 2
    left_out = math.log(math.comb(10, 3)) - 900.0
    assert left_out <= found.log_omitted <= math.log(1000.0) - TUNING.deep
    assert compositions(log_mass, 10, 1000, lift=1000.0).counts[:, 2].max() == 5


def test_too_many_ways_are_none():
    assert compositions((math.log(0.25),) * 4, 100, 1000) is None
    assert compositions((math.log(0.5),) * 2, 1000, 1000) is None
