import numpy as np

from hockeystick.loss.allocated.beyond import LaplaceBound
from hockeystick.loss.allocated.moments import AllocatedStep
from hockeystick.loss.allocated.transform import Ray


def test_the_laplace_bound_is_above_the_transform():
    step = AllocatedStep(1.0, 12, 0.0)
    places = np.array([0.5, 4.0, 20.0])
    for n in (0, 3):
        value, _ = Ray(step, n, 0.0, 0.1, 30.0).values(places)
        assert np.all(LaplaceBound(step).log_above(places, n) >= value.real - places - 1e-9)
