"""Epsilon of one mechanism repeated more and more often, as a training loop asks after every step."""

import math

import numpy as np

from ..loss.answers.batch import Runs, sampled_epsilons
from ..neighbours import Relation
from .many import sampled
from .release import Release

_MOST = 256  # runs that are answered ahead


class Growing:
    """Once two questions have followed each other, some more runs are answered at once, and share what they can: the more of
    them, the longer this goes on.  Each answer is that of the run by itself, to the last bit.

    >>> import hockeystick as hs
    >>> step = hs.Gaussian(sigma=1.0).poisson(rate=0.01)
    >>> growing = Growing(step, 1e-6, "add-or-remove")
    >>> found = [growing.epsilon(count) for count in range(1000, 1010)]
    >>> all(one in (None, (step * count).epsilon(1e-6)) for count, one in zip(range(1000, 1010), found, strict=True))
    True
    """

    def __init__(self, step: Release, delta: float, neighbours: Relation) -> None:
        self._loss, _ = sampled(step * 2, neighbours)
        self._log_delta = math.log(delta) if 0.0 < delta < 1.0 else 0.0
        self._ahead, self._last = 1, 0
        self._known: dict[int, float] = {}  # NaN: not answered
        # (a run that has a largest loss is asked for that, too)
        self._serves = self._log_delta < 0.0 and self._loss is not None and self._loss.ceiling == math.inf

    def epsilon(self, count: int) -> float | None:
        """The upper end for so many steps; none if that is to be asked by itself."""
        if not self._serves or count < 2:
            return None
        if count not in self._known:
            follows = count == self._last + 1
            self._ahead = min(2 * self._ahead, _MOST) if follows else 1
            self._known = self._answered(count) if follows else {}
        self._last = count
        found = self._known.get(count, math.nan)
        return None if math.isnan(found) else found

    def _answered(self, first: int) -> dict[int, float]:
        loss, size = self._loss, self._ahead
        assert loss is not None
        shape, counts = loss.shape, np.arange(first, first + size)
        noise, error, rate, log_delta = (
            np.full(size, one) for one in (shape.noise, shape.noise_error, shape.rate, self._log_delta)
        )
        _, high = sampled_epsilons(Runs(noise, error, rate, counts.astype(float), log_delta), loss.removals)
        return dict(zip(counts.tolist(), high.tolist(), strict=True))
