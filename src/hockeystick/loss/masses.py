"""Losses as masses between edges: what a lattice needs to know of them."""

import math
from typing import NamedTuple, Protocol

import numpy as np

from ..numerics.rounding import FUNCTION, UNIT
from ..numerics.series import Array

_SCALES = np.concatenate((np.geomspace(1e-13, 1e-6, 60), np.geomspace(1e-6, 1e3, 480)[1:], np.geomspace(1e3, 1e7, 40)[1:]))
SCALES = _SCALES[::5]
_EDGES = np.concatenate((-_SCALES[::-1], [0.0], _SCALES))


class Masses(NamedTuple):
    """Logarithms of the P- and Q-masses of Z <= edge_0, edge_0 < Z <= edge_1, ..., Z > edge_n (finite Z only).

    `error` bounds the errors of both.  The cells are those of edges which differ from the given ones by at most the loss's
    `slip`; P and Q are taken of the very same ones.
    """

    log_p: Array
    log_q: Array
    error: Array | float


class Divisible(Protocol):
    """A loss of one ordered pair that can be divided into cells."""

    @property
    def ceiling(self) -> float: ...

    @property
    def anchor(self) -> float:
        """A value that a lattice should contain, because much mass sits there."""
        ...

    @property
    def grain(self) -> float:
        """The distance from the anchor to the next such value, 0 if there is none."""
        ...

    def slip(self, largest: float) -> float:
        """A bound of the error of the edges, for edges up to this size."""
        ...

    def masses(self, edges: Array) -> Masses:
        """The masses between increasing edges."""
        ...


class Coarse:
    """A loss on a coarse scale: a guide to where its mass lies; never part of an answer."""

    def __init__(self, loss: Divisible) -> None:
        atoms = np.array([x for x in (loss.anchor, loss.anchor - loss.grain, loss.ceiling) if 0.0 < abs(x) < _SCALES[-1]])
        edges = np.sort(np.concatenate((_EDGES, atoms - 1e-12 * np.abs(atoms), atoms + 1e-12 * np.abs(atoms))))
        log_p, log_q, _ = loss.masses(edges)
        keep = log_p > -1e5
        self.log_p = log_p[keep]
        low, high = np.append(-math.inf, edges)[keep], np.append(edges, math.inf)[keep]
        with np.errstate(invalid="ignore"):
            inside = np.where(log_q[keep] > -math.inf, self.log_p - log_q[keep], high)
        low, high = np.maximum(low, -2.0 * _SCALES[-1]), np.minimum(high, 2.0 * _SCALES[-1])
        self.z = np.minimum(np.maximum(inside, low), high)
        self.low, self.high = low, high
        self._found: dict[tuple[float, float], tuple[float, float, float]] = {}

    def expand(self, c: float, cap: float = math.inf) -> tuple[float, float, float]:
        """K, K', K'' at a real c, with the losses above `cap` lowered to it."""
        if (c, cap) not in self._found:
            z = self.z if cap == math.inf else np.minimum(self.z, cap)
            exponent = self.log_p + c * z
            top = float(exponent.max())
            weight = np.exp(exponent - top)
            total = float(weight.sum())
            mean = float(weight @ z) / total
            spread = float(weight @ (z - mean) ** 2) / total
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


def sampled_masses(base: Divisible, rate: float, removal: bool, edges: Array, lone: float = 0.0) -> Masses:
    """The masses of a Poisson-sampled step, in terms of those of the step itself, P against Q.

    Removal: (1-q) Q + q P against Q, Z' = log(1 - q + q e^Z); a Q-mass `lone` where P has none goes to log(1-q).
    Addition, P being the output without the record: P against (1-q) P + q Q, Z' = -log(1 - q + q e^-Z); a P-mass `lone`
    where Q has none goes to -log(1-q).  (Zhu, Dong and Wang 2022, Theorem 11.)
    """
    sign = 1.0 if removal else -1.0
    x = sign * edges
    rest = math.log1p(-rate)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        shifted = np.where(
            x > 30.0,
            x - math.log(rate) + np.log1p(-(1.0 - rate) * np.exp(-np.maximum(x, 0.0))),
            np.log1p(np.expm1(np.minimum(x, 30.0)) / rate),
        )
    inner = sign * np.where(x > rest, np.maximum(shifted, -1e300), -math.inf)
    inner = np.maximum.accumulate(inner)  # rounding must not undo the order
    log_p, log_q, error = base.masses(inner)
    mixed = np.logaddexp(rest + (log_q if removal else log_p), math.log(rate) + (log_p if removal else log_q))
    if lone > 0.0:
        place = int(np.searchsorted(edges, sign * rest))
        share = math.log(lone)
        mixed[place] = np.logaddexp(mixed[place], rest + share)
        pure = (log_q if removal else log_p).copy()
        pure[place] = np.logaddexp(pure[place], share)
        log_p, log_q = (log_p, pure) if removal else (pure, log_q)
    off = error + 4.0 * FUNCTION + 4.0 * UNIT * np.abs(np.maximum(mixed, -1e6))
    return Masses(mixed, log_q, off) if removal else Masses(log_p, mixed, off)


def sampled_slip(rate: float, largest: float) -> float:
    """A bound of the error of the edges of `sampled_masses`: of expm1, a quotient, log1p and their inverses."""
    return 8.0 * FUNCTION * (largest + rate) + 4.0 * UNIT
