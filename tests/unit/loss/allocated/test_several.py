import pytest

import hockeystick as hs
from hockeystick.loss.allocated.several import SeveralLosses


def test_blocks_are_composed():
    step = hs.Gaussian(sigma=1.5)
    bound = step.allocated(steps=20, times=3)
    blocks = step.allocated(steps=6) + step.allocated(steps=7) * 2
    assert not bound.epsilon_bounds(1e-6).tight
    assert bound.epsilon(1e-6) == pytest.approx(blocks.epsilon(1e-6), rel=1e-8)
    loss = bound._pair_loss(("remove", "add")).dominating[0]
    assert isinstance(loss, SeveralLosses)
    assert loss.rows == 2
    assert loss.cumulant_bound(1.0) >= float(loss.ordered_pair(0).slice(1.0, 1.0, 1).values(1.0, 1)[0][0, 0].real)
