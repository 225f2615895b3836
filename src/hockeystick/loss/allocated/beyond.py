"""M_n(s) for real s from above: for what is cut off of the integral (docs/mathematics/allocation.md, Lemma 42)."""

import math

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.normal import log_normal_cells
from .moments import AllocatedStep


class LaplaceBound:
    """Upper bounds of log M_n(s) for real s, from sums of cells of X over which e^{-zY} falls: for what is cut off."""

    def __init__(self, step: AllocatedStep) -> None:
        self.step = step
        t = step.tilt * (1.0 + 2.0 * step.tilt_error)
        edges = np.arange(-12.0, 12.0, min(0.04, 0.04 / t)) if t < 40.0 else np.array([-12.0])
        log_mass, error = log_normal_cells(edges)
        self._log_mass = log_mass + error
        # at the left end of each cell Y is least
        self._least = np.concatenate(([0.0], np.exp(t * edges - 0.5 * t * t) * (1.0 - 1e-9 * (1.0 + t))))

    def log_above(self, s: Array, n: int) -> Array:
        """log M_n(s) from above: L^n <= (n/(e d))^n e^{dL}."""
        if not n:
            return self._plain(s)
        best = np.full(s.shape, math.inf)
        for share in (0.02, 0.1, 0.3):
            d = share * s
            best = np.minimum(best, n * (math.log(n) - 1.0 - np.log(d)) + self._plain(s - d))
        found: Array = best + 1e-9 * (1.0 + np.abs(best))
        return found

    def _plain(self, s: Array) -> Array:
        count = self.step.steps
        exponent = self._log_mass - (s * (1.0 / count))[:, None] * self._least
        value = count * np.log(np.exp(exponent).sum(axis=1))
        found: Array = np.minimum(value + count * 1e-12 + 1e-9 * np.abs(value), 0.0)
        return found
