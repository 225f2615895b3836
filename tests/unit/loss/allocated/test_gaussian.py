import pytest

from hockeystick.loss.allocated.gaussian import AllocatedGaussianLoss
from hockeystick.loss.allocated.moments import AllocatedStep, Moments


@pytest.mark.parametrize("removal", [True, False])
@pytest.mark.parametrize("c", [0.4, 2.5, 12.0])
def test_the_guide_is_near_the_truth(removal, c):
    step = AllocatedStep(0.8, 40)
    loss = AllocatedGaussianLoss(step, (removal,), Moments(step))
    value, first, second = loss.expand(c)
    found = [float(loss.slice(c + d, c, 1).values(1.0, 1)[0][0, 0].real) for d in (-0.01, 0.0, 0.01)]
    assert value == pytest.approx(found[1], rel=0.05)
    assert first == pytest.approx((found[2] - found[0]) / 0.02, rel=0.05)
    assert second == pytest.approx((found[2] - 2.0 * found[1] + found[0]) / 1e-4, rel=0.2)
