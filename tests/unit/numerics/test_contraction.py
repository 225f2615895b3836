"""The least sum of squares against quadratic losses in whole fractions; what a run makes of it: tests/unit/test_recipes.py."""

import math
from fractions import Fraction

import pytest

from hockeystick.numerics.contraction import ROOM, least_energy


@pytest.mark.parametrize("contraction", [0.0, 2.0**-30, 0.5, 0.75, 1.0 - 2.0**-40, 1.0])
@pytest.mark.parametrize("steps", [1, 2, 9])
def test_all_data_in_each_step_is_a_quadratic_loss(contraction, steps):
    powers = [Fraction(contraction) ** k for k in range(steps)]
    truth = sum(powers) ** 2 / sum(power**2 for power in powers)
    assert math.isclose(least_energy(contraction, steps, 1), truth, rel_tol=ROOM / 4.0)


@pytest.mark.parametrize("contraction", [0.5, 0.75, 1.0 - 2.0**-20, 1.0])
@pytest.mark.parametrize(("batches", "epochs"), [(2, 1), (2, 4), (5, 3)])
def test_batches_in_turn_are_a_last_step_and_what_came_before(contraction, batches, epochs):
    c = Fraction(contraction)
    needed = sum(c ** (batches * e + batches - 1) for e in range(epochs - 1))
    spread = sum(c ** (2 * k) for k in range(batches * (epochs - 1))) or 1
    truth = 1 + needed**2 / spread
    assert math.isclose(least_energy(contraction, batches * epochs, batches), truth, rel_tol=ROOM / 4.0)
