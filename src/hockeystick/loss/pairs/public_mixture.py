"""Mixture of pairs with a public mixing variable: hockey-stick divergences average.

docs/mathematics.md, Lemma 26 (fixed size, replace-one).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT
from ..protocol import ClosedForm, Masses
from .binned import BinnedLoss

_FAINT = 40.0  # -log of a share of a mass that is below its rounding


@dataclass(frozen=True)
class PublicMixtureLoss(BinnedLoss):
    """Loss i with probability e^{log_weights_i}: masses and hockey sticks add up.  The weights err by `weight_error`."""

    losses: tuple[Any, ...]
    log_weights: tuple[float, ...]
    weight_error: float = 8.0 * UNIT
    log_truncated_mass: float = -math.inf

    @property
    def ceiling(self) -> float:
        return float(max(loss.ceiling for loss in self.losses))

    def edge_error(self, largest: float) -> float:
        return float(max(loss.edge_error(largest) for loss in self.losses))

    def masses(self, edges: Array) -> Masses:
        """Loss by loss, the likeliest first, each where it may matter.

        On left < Z <= right the P-mass is at most e^right times the Q-mass, hence at most e^{min(0, right)}; likewise Q's.
        """
        most_p = np.append(np.minimum(edges, 0.0), 0.0)
        most_q = np.append(0.0, np.minimum(-edges, 0.0))
        log_p, log_q = np.full(edges.size + 1, -math.inf), np.full(edges.size + 1, -math.inf)
        error: Array = np.zeros(edges.size + 1)
        for loss, weight in sorted(zip(self.losses, self.log_weights, strict=True), key=lambda pair: -pair[1]):
            level = weight + _FAINT
            cells = np.nonzero((log_p < most_p + level) | (log_q < most_q + level))[0]
            if not cells.size:
                continue
            first, last = int(cells[0]), int(cells[-1])
            begin, kept = max(first - 1, 0), slice(first, last + 1)
            found = loss.masses(edges[begin : last + 1])
            inner = slice(first - begin, last - begin + 1)
            log_p[kept] = np.logaddexp(log_p[kept], weight + found.log_p[inner])
            log_q[kept] = np.logaddexp(log_q[kept], weight + found.log_q[inner])
            error[kept] = np.maximum(error[kept], found.error if isinstance(found.error, float) else found.error[inner])
        return Masses(log_p, log_q, error + self.weight_error + FUNCTION * (2.0 + len(self.losses)))

    def closed(self, epsilon: float) -> ClosedForm | None:
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
        return ClosedForm(value, error, slope)

    def cumulant_bound(self, c: float) -> float:
        logs = [w + loss.cumulant_bound(c) for w, loss in zip(self.log_weights, self.losses, strict=True)]
        value = float(np.logaddexp.reduce(logs))
        return float(value + self.weight_error + FUNCTION * (4.0 + abs(value) + max(map(abs, logs))))
