"""A random choice among symmetric pairs, the choice being known."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics.rounding import FUNCTION, UNIT
from ..numerics.series import Array
from .cumulant import Closed
from .divided import DividedLoss
from .masses import Masses


@dataclass(frozen=True)
class RevealedLoss(DividedLoss):
    """Loss i with probability e^{log_weights_i}: masses and hockey sticks add up.  The weights err by `weight_error`."""

    losses: tuple[Any, ...]
    log_weights: tuple[float, ...]
    weight_error: float = 8.0 * UNIT
    stray: float = -math.inf

    @property
    def ceiling(self) -> float:
        return float(max(loss.ceiling for loss in self.losses))

    def slip(self, largest: float) -> float:
        return float(max(loss.slip(largest) for loss in self.losses))

    def masses(self, edges: Array) -> Masses:
        found = [loss.masses(edges) for loss in self.losses]
        log_p = np.logaddexp.reduce([w + one.log_p for w, one in zip(self.log_weights, found, strict=True)], axis=0)
        log_q = np.logaddexp.reduce([w + one.log_q for w, one in zip(self.log_weights, found, strict=True)], axis=0)
        error = np.max([np.broadcast_to(one.error, log_p.shape) for one in found], axis=0)
        return Masses(log_p, log_q, error + self.weight_error + FUNCTION * (2.0 + len(found)))

    def closed(self, epsilon: float) -> Closed | None:
        found = [loss.closed(epsilon) for loss in self.losses]
        if any(one is None or not one.error < 1.0 for one in found):
            return None
        logs = np.array([w + one.value for w, one in zip(self.log_weights, found, strict=True)])
        top = float(logs.max())
        if top == -math.inf:
            return None
        share = np.exp(logs - top)
        value = top + math.log(float(share.sum()))
        slope = float(sum(s * one.slope for s, one in zip(share, found, strict=True) if s > 0.0)) / float(share.sum())
        error = max(one.error for one in found) + self.weight_error + FUNCTION * (4.0 + len(found) + abs(value))
        return Closed(value, error, slope)

    def bound(self, c: float) -> float:
        logs = [w + loss.bound(c) for w, loss in zip(self.log_weights, self.losses, strict=True)]
        value = float(np.logaddexp.reduce(logs))
        return float(value + self.weight_error + FUNCTION * (4.0 + abs(value) + max(map(abs, logs))))
