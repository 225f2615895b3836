"""The mean and the variance of the loss of one step, from closed forms, its values, or its masses in cells.

docs/mathematics/own.md, section 16a: Lemma 34b (moments from cells).
"""

import math
from dataclasses import dataclass

import numpy as np

from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION, SECOND_ORDER, SQUARE_ERROR, UNIT, exp_up
from ..bins import CoarseLoss, masses_by_blocks
from ..bounds.renyi import cumulant_above
from ..composed import composed
from ..pairs.atomic import AtomicLoss
from ..pairs.binned import WideDiscreteGaussianLoss
from ..pairs.gaussian import GaussianLoss
from ..protocol import Inconclusive, Loss


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    cells: int = 10_000
    """Of each of three kinds, evenly and geometrically spaced: more bound the moments closer, and take longer."""
    log_left_out: float = -110.0
    """The logarithm of the P-mass beyond the cells."""
    log_faint: float = -600.0
    """That of a cell which counts as left out."""


TUNING = Tuning()


def moments(loss: Loss) -> tuple[float, float, float, float]:
    """Both ends of the mean, and of the variance, of the finite losses of one step of one ordered pair."""
    if isinstance(loss, GaussianLoss):
        middle, error = loss.mean()
        return middle - error, middle + error, loss.square * (1.0 - SQUARE_ERROR), loss.square * (1.0 + SQUARE_ERROR)
    if isinstance(loss, WideDiscreteGaussianLoss):  # those of the continuous noise, but for less than 1e-300 (section 16a)
        square = (loss.move / loss.sigma) ** 2
        low, high = square * (1.0 - 2.0 * SQUARE_ERROR), square * (1.0 + 2.0 * SQUARE_ERROR)
        return 0.5 * low, 0.5 * high, low, high
    z, p, cell, slip, off, left_out = _values(loss) if isinstance(loss, AtomicLoss) else _cells(loss)
    relative: Array = off + (z.size + 8.0) * UNIT
    # within a cell of width d the mean of Z - z is from 0 to `rise`, and of its square at most `spread` (Lemma 34b)
    rise = np.exp(cell) * cell * cell / 2.0 * SECOND_ORDER
    spread = (cell * cell / 4.0 + rise * rise) * SECOND_ORDER
    rise = np.minimum(rise, np.exp(cell) * spread / 2.0 * SECOND_ORDER)
    centre = float(p @ z) / float(p.sum())
    away = z - centre
    lost_mean, lost_square = _left_out(loss, left_out)
    slack = float((relative * p) @ np.abs(z)) + float(p @ slip) + lost_mean
    mean_low, mean_high = float(p @ z) - slack, float(p @ (z + rise)) + slack
    square = float(p @ (away * away))
    lost_square = 2.0 * lost_square + 2.0 * centre * centre * exp_up(left_out)
    slack = float((relative * p) @ (away * away)) + float(p @ (2.0 * np.abs(away) * slip + slip * slip)) + lost_square
    high = square + float(p @ (2.0 * np.maximum(away, 0.0) * rise + spread)) + slack
    low = square - float(p @ (2.0 * np.maximum(-away, 0.0) * rise)) - slack
    shift = max(abs(mean_high - centre), abs(mean_low - centre)) + 4.0 * UNIT * abs(centre)
    return mean_low, mean_high, max(low - shift * shift, 0.0), high


def _values(loss: AtomicLoss) -> tuple[Array, Array, Array, Array, Array, float]:
    """The same of a loss of finitely many values, which have no width."""
    z, log_p, _, error, relative = loss.atoms
    slip: Array = (relative + 2.0 * UNIT) * np.abs(z)
    return z, np.exp(log_p), np.zeros(z.size), slip, np.full(z.size, error + 2.0 * FUNCTION), loss.log_truncated_mass


def _cells(loss: Loss) -> tuple[Array, Array, Array, Array, Array, float]:
    """log(p/q) of the cells of one step, their masses, widths and errors, and the logarithm of what they leave out."""
    low, high = CoarseLoss(loss).range(TUNING.log_left_out)
    reach = max(abs(low), abs(min(high, loss.ceiling)))
    top = loss.ceiling + 4.0 * loss.edge_error(reach) + 1e-12 * reach  # surely above an atom at the ceiling
    bounded, high = high >= loss.ceiling, min(high, top)
    if not 0.0 < reach < 1e6:
        raise Inconclusive
    fine = np.geomspace(1e-9 * reach, reach, TUNING.cells)
    edges = np.unique(np.concatenate((np.linspace(low, high, TUNING.cells), fine, -fine)))
    edges = edges[(edges >= low) & (edges <= high)]
    log_p, log_q, error = masses_by_blocks(loss, edges)
    error = np.broadcast_to(error, log_p.shape)
    outside = [loss.log_truncated_mass, float(log_p[0] + error[0]), float(log_p[-1] + error[-1])]
    if bounded:
        outside.pop()
    outside.append(TUNING.log_faint + math.log(edges.size))
    left_out = float(np.logaddexp.reduce(outside)) + 4.0 * FUNCTION
    slip = loss.edge_error(reach)
    width = np.diff(edges) + 2.0 * slip
    log_p, log_q, error = log_p[1:-1], log_q[1:-1], error[1:-1]
    there = log_p > TUNING.log_faint
    if not np.all(log_q[there] > -math.inf):
        raise Inconclusive
    z, off = log_p[there] - log_q[there], 2.0 * error[there] + 4.0 * UNIT * np.abs(log_p[there] + log_q[there])
    return z, np.exp(log_p[there]), width[there], off, error[there] + 2.0 * FUNCTION, left_out


def _left_out(loss: Loss, log_mass: float) -> tuple[float, float]:
    """What values of this P-mass add at most to E |Z| and to E Z^2: by Cauchy and Schwarz, E Z^4 <= 5 + 24 E e^Z."""
    if log_mass == -math.inf:
        return 0.0, 0.0
    growth = cumulant_above(composed([(loss, 1)]), 1.0)
    fourth = math.log(5.0) + float(np.logaddexp(0.0, math.log(24.0 / 5.0) + growth))
    square = 0.5 * (log_mass + fourth) + 1e-9
    if not square < -20.0:
        raise Inconclusive
    return exp_up(0.5 * (log_mass + square)), exp_up(square)
