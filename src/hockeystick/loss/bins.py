"""Binned losses: their masses in many cells, and a coarse scale as a guide.  Used by docs/mathematics/lattice.md, section 7."""

import math

import numpy as np

from ..numerics.cancellation_free import Array
from .protocol import Binned, Masses

_SCALES = np.concatenate((np.geomspace(1e-13, 1e-6, 60), np.geomspace(1e-6, 1e3, 480)[1:], np.geomspace(1e3, 1e7, 40)[1:]))
SCALES = _SCALES[::5]
_MAX_EDGES = 1 << 16
_FINER = np.arange(1, 2048) / 2048.0
_EDGES = np.concatenate((-_SCALES[::-1], [0.0], _SCALES))


def masses_by_blocks(loss: Binned, edges: Array) -> Masses:
    """The masses between many edges, a block of them at a time: they take several times the room of their edges."""
    if edges.size <= _MAX_EDGES:
        return loss.masses(edges)
    found = [loss.masses(edges[start : start + _MAX_EDGES + 1]) for start in range(0, edges.size - 1, _MAX_EDGES)]
    last = len(found) - 1
    keep = [slice(min(place, 1), None if place == last else -1) for place in range(last + 1)]
    whole = (
        [np.broadcast_to(one, found[place].log_p.shape)[keep[place]] for place, one in enumerate(each)]
        for each in zip(*found, strict=True)
    )
    log_p, log_q, error = (np.concatenate(pieces) for pieces in whole)
    return Masses(log_p, log_q, error)


class CoarseLoss:
    """A loss on a coarse scale: a guide to where its mass lies; never part of an answer.

    Where `near` is given the scale is finer up to twice that, for steep tilts.
    """

    def __init__(self, loss: Binned, near: float = 0.0) -> None:
        atoms = np.array([x for x in (loss.anchor, loss.anchor - loss.atom_spacing, loss.ceiling) if 0.0 < abs(x) < _SCALES[-1]])
        finer = 2.0 * near * _FINER if near else _FINER[:0]
        edges = np.sort(np.concatenate((_EDGES, atoms - 1e-12 * np.abs(atoms), atoms + 1e-12 * np.abs(atoms), finer)))
        log_p, log_q, _ = loss.masses(edges)
        keep = log_p > -1e7
        self.log_p = log_p[keep]
        low, high = np.append(-math.inf, edges)[keep], np.append(edges, math.inf)[keep]
        with np.errstate(invalid="ignore"):
            inside = np.where(log_q[keep] > -math.inf, self.log_p - log_q[keep], high)
        low, high = np.maximum(low, -2.0 * _SCALES[-1]), np.minimum(high, 2.0 * _SCALES[-1])
        self.z = np.minimum(np.maximum(inside, low), high)
        self.low, self.high, self.reach = low, high, float(np.abs(self.z).max(initial=0.0))
        self._found: dict[tuple[float, float], tuple[float, float, float]] = {}

    def expand(self, c: float, cap: float = math.inf) -> tuple[float, float, float]:
        """K, K', K'' at a real c, with the losses above `cap` lowered to it."""
        if (c, cap) not in self._found:
            z = self.z if cap == math.inf else np.minimum(self.z, cap)
            reach = max(self.reach, -cap)
            grown = c * z if c * reach < 1e300 else np.clip(z, -1e300 / c, 1e300 / c) * c
            exponent = self.log_p + grown
            top = float(exponent.max())
            weight = np.exp(exponent - top)
            total = float(weight.sum())
            mean = float(weight @ z) / total
            away = z - mean if reach < 1e150 else np.clip(z - mean, -1e150, 1e150)
            spread = float(weight @ away**2) / total
            self._found[c, cap] = top + math.log(total), mean, max(spread, 1e-300)
        return self._found[c, cap]

    def log_delta(self, epsilons: Array) -> Array:
        """About log delta of a single step."""
        with np.errstate(divide="ignore", under="ignore"):
            gain = np.log(-np.expm1(np.minimum(epsilons[:, None] - self.z, 0.0)))
            found: Array = np.logaddexp.reduce(gain + self.log_p, axis=1)
        return found

    def range(self, log_level: float) -> tuple[float, float]:
        """Values beyond which Z lies with less than about this probability, on either side."""
        above = np.logaddexp.accumulate(self.log_p[::-1])[::-1] > log_level
        below = np.logaddexp.accumulate(self.log_p) > log_level
        last, first = int(np.nonzero(above)[0][-1]) if above.any() else 0, int(below.argmax())
        return float(self.low[min(first, last)]), float(self.high[last])
