"""Normal masses of cells, against ball arithmetic."""

import numpy as np
import pytest
from flint import arb, ctx

from hockeystick.numerics.normal import log_normal_cells


@pytest.fixture(autouse=True)
def bits():
    """Balls of many bits, for this file only."""
    before, ctx.prec = ctx.prec, 300
    yield
    ctx.prec = before


def test_normal_cells_against_balls():
    rng = np.random.default_rng(5)
    worst = 0.0
    for _ in range(400):
        left = rng.uniform(-38.0, 38.0)
        edges = np.array([left, left + 10.0 ** rng.uniform(-7.0, 1.5)])
        value, error = log_normal_cells(edges)
        a, b = (arb(float(edge)) / arb(2).sqrt() for edge in edges)
        tail = (a.erfc() - b.erfc()) if left > 0.0 else ((-b).erfc() - (-a).erfc())
        if tail.rel_accuracy_bits() < 60:
            continue
        worst = max(worst, abs(float(arb(float(value[1])) - (tail / 2).log())) / float(error[1]))
    assert worst <= 1.0


def test_a_shift_and_a_wobble_are_covered():
    edges = np.array([-3.0, -0.4, -0.399, 0.02, 2.0, 2.5, 9.0])
    value, error = log_normal_cells(edges, wobble=1e-9, shift=1e-9)
    moved, _ = log_normal_cells(edges * (1.0 + 1e-9) + 1e-9)
    assert (np.abs(moved - value) <= error).all()
