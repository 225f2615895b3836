"""Laws of finitely many values above and below that of a sum on a grid, in convex order, so that both ends are known.

Above: the mass between two points moves to both, its mean kept.  Below: the mass of a cell moves to its mean, and all of it some
way towards 1.  docs/mathematics/allocation-steps.md, Lemma 52.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, UNIT
from .grid import StepGrid, SumGrid


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    points: int = 8000
    """Of a law: fewer are farther apart."""
    share: float = 0.015
    """Points are as dense as this power of the density, so that there are some in the tails."""
    even: float = 0.1
    """This share of the points is evenly spread."""
    given: tuple[float, ...] = (0.0, 1e-4, 0.02)
    """Parts of a mass above that may be spread over its neighbours."""
    close: float = 1e-7
    """Relative error of masses that asks for no more of that."""
    merged: float = 2e-7
    """Relative error of a value next to 0 from which its cell is merged."""
    margin: float = 1e9
    """What is mixed in, or merged, weighs so many times as much as what is not known."""


TUNING = Tuning()


class Law(NamedTuple):
    """Increasing values of log L, log of their masses under A, bounds of the errors of these (of the first: relative), and log
    of a bound of the A- and of the B-mass that is left out."""

    z: Array
    log_a: Array
    error: float
    z_error: float
    log_omitted: float


class _Cells(NamedTuple):
    """Of each cell: its left end (of L - 1) and width; its mass that stays there and that moves to the right end, its mean kept;
    bounds of the absolute errors of these from transforms, and of relative ones."""

    left: Array
    width: Array
    stays: Array
    moves: Array
    stays_noise: Array
    moves_noise: Array
    error: float

    @property
    def mass(self) -> Array:
        return self.stays + self.moves

    @property
    def noise(self) -> Array:
        return self.stays_noise + self.moves_noise


def _places(found: SumGrid) -> npt.NDArray[np.intp]:
    """Some of the known points, both outermost ones among them, denser where there is more mass."""
    known = slice(found.first, found.last)
    z, log_mass = np.log1p(found.away[known]), found.log_mass[known]
    steps = np.diff(z)
    weight = np.exp(TUNING.share * np.maximum(log_mass[1:], log_mass[:-1])) * steps
    total = np.append(0.0, np.add.accumulate(weight / weight.sum() + TUNING.even * steps / steps.sum()))
    places = np.searchsorted(total, np.linspace(0.0, float(total[-1]), TUNING.points))
    return np.unique(np.clip(np.append(places, z.size - 1), 0, z.size - 1)) + found.first


def _edges(found: SumGrid, ends: tuple[float, float], between: bool) -> Array:
    """Values of log L: those of some points, or next to them between points, and 0."""
    away = found.away[_places(found)]
    if between:
        half = 0.5 * float(found.away[1] - found.away[0])
        edges = np.log1p(np.concatenate((away[:1], away[1:] - half, away[-1:] + half)))
        edges = np.unique(np.append(edges, 0.0))
    else:
        edges = np.log1p(away)
    if found.first == 0:
        edges[0] = ends[0]
    if found.last == found.away.size:
        edges[-1] = max(ends[1], edges[-2]) if between else ends[1]
    return edges


def _cells(found: SumGrid, edges: Array) -> _Cells:
    known = slice(found.first, found.last)
    left = np.expm1(edges)
    away, mass = found.away[known], np.exp(found.log_mass[known])
    place: npt.NDArray[np.intp] = np.clip(np.searchsorted(left, away, side="right") - 1, 0, edges.size - 2)
    count = edges.size - 1
    width = np.exp(edges[:-1]) * np.expm1(np.diff(edges))
    share = np.clip((away - left[place]) / width[place], 0.0, 1.0)
    parts = mass * (1.0 - share), mass * share
    noise = [np.sqrt(found.tilts * np.bincount(place, (part * found.noise[known]) ** 2, count)) for part in parts]
    most = float(np.bincount(place, minlength=count).max())
    error = found.error + (most + 16.0) * UNIT + 4.0 * FUNCTION
    stays, moves = (np.asarray(np.bincount(place, part, count), dtype=float) for part in parts)
    return _Cells(left[:-1], width, stays, moves, noise[0], noise[1], error)


def _slip(found: SumGrid, left: Array) -> Array:
    """A bound of the errors of L - 1 next to these values."""
    slip: Array = 16.0 * UNIT * (abs(float(found.away[0])) + np.abs(left)) + 2.0 * FUNCTION * np.abs(left)
    return slip


def law_above(step: StepGrid, found: SumGrid, ends: tuple[float, float]) -> Law | None:
    """A law above in convex order; `ends` are the least and the largest value of log L.

    What is not known lies between the ends, and is moved to them; a law on the ends that weighs much more is mixed in.
    """
    edges = _edges(found, ends, between=False)
    cells, left = _cells(found, edges), np.expm1(edges)
    mass, off = np.zeros(edges.size), np.zeros(edges.size)
    mass[:-1] += cells.stays
    mass[1:] += cells.moves
    moved = cells.mass * ((_slip(found, cells.left) + _slip(found, cells.left + cells.width)) / cells.width + 8.0 * UNIT)
    off[:-1] += cells.stays_noise + moved
    off[1:] += cells.moves_noise + moved
    for given in TUNING.given:  # the less the better, if masses next to large ones are known
        spread, slipped = _spread(left, mass, given), _spread(left, off, given)
        kept = spread > 0.0
        error = float((slipped[kept] / spread[kept]).max()) * 1.001 + cells.error
        if error < TUNING.close:
            break
    log_mass, z = np.log(spread[kept]), edges[kept]
    unknown = float(np.logaddexp(found.log_below, found.log_above))
    if unknown > -math.inf:
        high = -float(step.away[0]) / float(step.away[-1] - step.away[0])
        mixed = unknown + math.log(TUNING.margin) - math.log(min(high, 1.0 - high))
        if mixed > -1.0:
            return None
        log_mass += math.log1p(-math.exp(mixed))
        z, log_mass = _with(z, log_mass, ends, (mixed + math.log1p(-high), mixed + math.log(high)))
        error += 2.0 / TUNING.margin + 8.0 * FUNCTION * (1.0 + abs(mixed))
    return Law(z, log_mass, error, 0.0, -math.inf) if error < 1e-3 else None


def _spread(left: Array, mass: Array, part: float) -> Array:
    """A small part of every mass on the points around it, its mean kept, so that none is much smaller than its neighbours."""
    given = part * mass[1:-1]
    share = (left[1:-1] - left[:-2]) / (left[2:] - left[:-2])
    found = mass.copy()
    found[1:-1] -= given
    found[:-2] += given * (1.0 - share)
    found[2:] += given * share
    return found


def _with(z: Array, log_mass: Array, ends: tuple[float, float], more: tuple[float, float]) -> tuple[Array, Array]:
    """A law with masses at both ends added."""
    if z[0] > ends[0]:
        z, log_mass = np.append(ends[0], z), np.append(more[0], log_mass)
    else:
        log_mass[0] = np.logaddexp(log_mass[0], more[0])
    if z[-1] < ends[1]:
        z, log_mass = np.append(z, ends[1]), np.append(log_mass, more[1])
    else:
        log_mass[-1] = np.logaddexp(log_mass[-1], more[1])
    return z, log_mass


def law_below(step: StepGrid, found: SumGrid, ends: tuple[float, float], shrink: float) -> Law | None:
    """A law below in convex order: means of cells, L - 1 shrunk by this share.

    What is not known is part of the outermost cells, which weigh much more.
    """
    if not shrink < 0.5:
        return None
    edges = _merged(found, _edges(found, ends, between=True))
    if edges is None:
        return None
    for _ in range(20):
        cells = _cells(found, edges)
        full = cells.mass > 0.0
        mass = cells.mass[full]
        mean = cells.left[full] + cells.width[full] * cells.moves[full] / mass
        off = _slip(found, np.abs(mean)) + cells.width[full] * (2.0 * cells.noise[full] / mass + cells.error)
        reach = float(step.away[-1] - step.away[0])
        off[0] += reach * 2.0 * _share(found.log_below, float(mass[0]))
        off[-1] += reach * 2.0 * _share(found.log_above, float(mass[-1]))
        mean, off = mean * (1.0 - shrink), off + np.abs(mean) * 4.0 * UNIT
        with np.errstate(divide="ignore"):
            relative = off / np.minimum(np.abs(mean), 1.0 + mean)
        error = float((cells.noise[full] / mass).max()) + cells.error + 1e-300
        error += 2.0 * max(_share(found.log_below, float(mass[0])), _share(found.log_above, float(mass[-1])))
        z = np.log1p(mean)
        beside = (edges[:-1] == 0.0) | (edges[1:] == 0.0)
        near = int(np.where(beside[full], relative, 0.0).argmax())
        place = int(np.nonzero(full)[0][near]) + (1 if mean[near] > 0.0 else 0)
        if relative[near] < TUNING.merged or not 0 < place < edges.size - 1:
            break
        edges = np.delete(edges, place)  # so near to 1 that log L is hardly known: merged with what lies farther out
    z_error = float(relative.max()) * 2.0 + 2.0 * FUNCTION
    return Law(z, np.log(mass), error * 1.001, z_error, -math.inf) if z_error < 1e-3 and error < 1e-3 else None


def _share(log_unknown: float, mass: float) -> float:
    return math.exp(min(log_unknown, 700.0)) / mass if log_unknown > -math.inf else 0.0


def _merged(found: SumGrid, edges: Array) -> Array | None:
    """Without the outer edges beyond which there is not much more than what is not known."""
    mass = _cells(found, edges).mass
    above, below = np.add.accumulate(mass[::-1])[::-1], np.add.accumulate(mass)
    last, first = mass.size - 1, 0
    if found.log_above > -math.inf:
        heavy = np.nonzero(above > TUNING.margin * math.exp(min(found.log_above, 700.0)))[0]
        last = int(heavy[-1]) if heavy.size else -1
    if found.log_below > -math.inf:
        heavy = np.nonzero(below > TUNING.margin * math.exp(min(found.log_below, 700.0)))[0]
        first = int(heavy[0]) if heavy.size else mass.size
    if last - first < 2:
        return None
    return np.concatenate((edges[:1], edges[first + 1 : last + 1], edges[-1:]))
