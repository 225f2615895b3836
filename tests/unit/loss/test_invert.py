"""Epsilon from bounds of log delta."""

import math

from hockeystick.loss.invert import certified_ends


def test_a_proof_that_does_not_fall_proves_nothing() -> None:
    """A search may be led astray where delta hardly depends on epsilon; it must not come back with an end."""

    class Flat:
        def estimate(self, epsilon: float) -> tuple[float, float]:
            return -1.0, 0.5

        def lower(self, epsilon: float) -> float:
            return -2.0

        upper = lower

    assert certified_ends(Flat(), -1.5, 0.0, 1.0) == (-math.inf, math.inf)
