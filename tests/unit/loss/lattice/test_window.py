"""The window of the tilted lattice: its sums against themselves."""

import math

import numpy as np
import pytest
from flint import ctx

from hockeystick.loss.lattice.plan import Plan
from hockeystick.loss.lattice.window import Window


@pytest.fixture(autouse=True)
def bits():
    """Balls of many bits, for this file only."""
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


@pytest.mark.parametrize("step", [0.51, 1.7, 12.0, 39.0])
def test_the_stick_of_long_steps_against_its_sum(step):
    plan = Plan(theta=1.0 / step, centre=0.0, period=64 * step, order_ahead=0.5 / step, margin=1.0, ranges=[])
    heads = np.exp(-0.1 * np.arange(64.0))
    window = Window(plan, 0.0, step, heads.size)
    for place in range(heads.size - 1):
        rest = heads[place + 1 :].tolist()
        truth = math.fsum(math.exp(-k * step) * head for k, head in enumerate(rest)) * -math.expm1(-step)
        assert window.hockey_stick(heads, -1.0)[place] <= truth * (1.0 + 1e-15)
        assert window.hockey_stick(heads, 1.0)[place] >= truth * (1.0 - 1e-15)
        assert window.hockey_stick(heads, 1.0)[place] <= truth * (1.0 + 1e-13)
