"""Losses that take finitely many values, on no lattice, alone or with others: delta smeared out over epsilon.

The transform of such a loss does not fall, so no contour of it may be cut off.  But that of the run and one more release does, of
Gaussian noise with mu = h, however small h is.  Its delta is F(eps) = E f(eps + t), t of the law N(-h^2/2, h^2), f the run's own,
and since f is convex as a function of e^eps, which E e^t = 1 leaves in its place,

    F - D  <=  f  <=  F,        D(eps) = F'(eps) - e^{h^2} F'(eps - h^2),

on the right by Jensen's inequality.  On the left: a convex function lies above its tangents, so that for every y
f(eps) >= f(y) + f'(y) (e^{eps-y} - 1); averaged over y = eps + t, where e^{-t} moves the law of t by -h^2, of weight e^{h^2}.
D is the covariance of two increasing functions of t, so it is never negative, and has the transform of F times
w (e^{h^2 (1+w)} - 1): both ends come from one contour, about h^2 (F'' - F') apart.
"""

import math

import numpy as np

from ..numerics.cancellation_free import Array, ComplexArray
from ..numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ..numerics.trapezoid import Cells, added_terms, fourier_sums
from .composed import ComposedLoss, ComposedSlice
from .contour.contour import TUNING, Contour, Saddle
from .invert import certified_ends
from .pairs.atomic import AtomicLoss, AtomicSlice
from .pairs.gaussian import GaussianSlice
from .protocol import Inconclusive, Slice

_NODES, _FEWER = 1 << 17, 1 << 14  # the latter if there are other losses, too
_SHARE, _WORTH = 2e-7, 1e-4  # the width that is aimed at, relative to epsilon, and the one that is still worth it
_TRIES = 6
_LIGHT = 46.0  # -log of the share of a step that may be left out, times the count


class _AtomSlice(AtomicSlice):
    """phi as it stands: for many nodes, where relative accuracy of phi - 1 is not needed."""

    def __init__(self, loss: AtomicLoss, c: float, count: int) -> None:
        super().__init__(loss, c)
        self.count = count

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        """log of the sum of p e^{wz}, in units of its largest term, and bounds of log(1 + relative error).

        Where the sum is drowned by its error, it is taken to be of that size.
        """
        z, log_p, _, error, z_error = self.loss.atoms
        exponent = log_p + self.c * z
        top = float(exponent.max())
        kept = exponent > top - _LIGHT - math.log(self.count * z.size)
        weight = np.exp(exponent - top)
        dropped, weight, z = float(weight[~kept].sum()), weight[kept], z[kept]
        phi = fourier_sums(z, weight[None, :], step, nodes)[0]
        rounding = np.abs(exponent[kept]) + 2.0 * (np.abs(log_p[kept]) + abs(top))
        fixed = float(weight @ (UNIT * rounding + (added_terms(z.size, nodes) + 12.0) * UNIT + 4.0 * FUNCTION + error))
        size = np.hypot(self.c, step * np.arange(nodes))
        lost = size * (float(weight @ np.abs(z)) * (z_error + 6.0 * UNIT)) + (fixed + dropped)
        lost *= SECOND_ORDER
        found = np.abs(phi)
        magnitude = np.maximum(found, lost)
        value = 1j * np.angle(phi)
        value += np.log(magnitude) + top
        error = np.log1p((lost + (magnitude - found)) / magnitude) + (2.0 * UNIT * abs(top) + 2.0 * FUNCTION)
        return value[None, :], error[None, :]


class SmoothedContour:
    """A run of one ordered pair near one epsilon; every bound holds for all epsilons."""

    def __init__(self, run: ComposedLoss, saddle: Saddle) -> None:
        if not can_smooth(run) or not saddle.epsilon > 0.0:
            raise Inconclusive
        self.terms, self.log_truncated_mass = run.terms, run.log_truncated_mass
        self.nodes_allowed = _NODES if all(isinstance(loss, AtomicLoss) for loss, _ in run.terms) else _FEWER
        self.h = math.sqrt(_SHARE * saddle.epsilon / (1.0 + saddle.c))
        for _ in range(2):
            if not self.h * saddle.c < 0.5:
                raise Inconclusive
            self.contour = Contour(self, saddle)
            if self.contour.evaluate():
                self._rest = self._beyond()
                return
            if not self.contour.step:
                break
            # as narrow as the nodes allow
            self.h = max(self.h, 1.2 * math.sqrt(2.0 * TUNING.log_tolerance) / (self.nodes_allowed * self.contour.step))
            if not self.h * self.h * (1.0 + saddle.c) < _WORTH * saddle.epsilon:
                break
        raise Inconclusive

    def _beyond(self) -> float:
        """What the nodes left out would add to the sum of D: over w (w + 1) its factor is at most h^2 e^{h^2 |1 + w|}."""
        contour, square = self.contour, self.h * self.h
        cells = Cells(contour.saddle.width)
        left, right = cells.left, cells.right
        open_end = float(left[-1]) - 1.0  # from there on e^{h^2 u} completes the square
        if not open_end > 1.0:
            return math.inf
        with np.errstate(over="ignore"):  # then it proves nothing
            bounds = np.exp(square * (1.0 + contour.c + right[:-1]) - contour.used_slices.decay(cells)[:-1]) * (
                (right - left)[:-1] / contour.step + 1.0
            )
        inside = float(bounds[right[:-1] > contour.step * (contour.u.size - 1)].sum())
        tail = math.exp(square * (2.0 + contour.c - 0.5 * open_end**2 * (1.0 - 1e-9)))
        tail *= 1.0 + 1.0 / (square * open_end * contour.step)
        return contour.c * (contour.c + 1.0) * square * (inside + tail) * (1.0 + 1e-9)

    def slice(self, c: float, ahead: float) -> ComposedSlice:
        """Along the contour: the run, and Gaussian noise with mu = h."""
        slices: list[tuple[Slice, int]] = [(GaussianSlice(self.h * self.h, c), 1)]
        for loss, count in self.terms:
            own = _AtomSlice(loss, c, count) if isinstance(loss, AtomicLoss) else loss.slice(c, ahead, count)
            slices.append((own, count))
        return ComposedSlice(tuple(slices))

    def estimate(self, epsilon: float) -> tuple[float, float]:
        """log delta and its slope, uncertified."""
        return self.contour.estimate(epsilon)

    def upper(self, epsilon: float) -> float:
        """A certified upper bound of log delta(epsilon)."""
        found = self.contour.upper(epsilon)
        return (
            found
            if self.log_truncated_mass == -math.inf
            else float(np.logaddexp(found, self.log_truncated_mass)) + 4.0 * FUNCTION * abs(found)
        )

    def lower(self, epsilon: float) -> float:
        """A certified lower bound of log delta(epsilon)."""
        contour, square = self.contour, self.h * self.h
        whole = contour.lower(epsilon)
        if whole == -math.inf:
            return whole
        w = contour.c + 1j * contour.u
        bend, error = _sum_with_factor(contour, epsilon, w * np.expm1(square * (1.0 + w)))
        off = contour.height_error[0] + 8.0 * UNIT * (abs(contour.log_scale[0]) + 2.0 * abs(contour.c * epsilon))
        log_unit = contour.log_scale[0] - contour.c * epsilon + off
        taken = (max(bend, 0.0) + error + self._rest) * math.exp(min(log_unit - whole, 700.0)) * (1.0 + 1e-9)
        return whole + math.log1p(-taken) if taken < 1.0 else -math.inf


def _sum_with_factor(contour: Contour, epsilon: float, factor: ComplexArray) -> tuple[float, float]:
    """The contour's sum at this epsilon with every term times a factor, and a bound of the error that its terms bring in.

    Of the first ordered pair, in units of e^{log_scale - c epsilon}.
    """
    size = np.abs(factor)
    moved = abs(epsilon - contour.anchor) * 4.0 * UNIT
    off = float(contour.errors[0] @ size) + float(np.abs(contour.weights[0]) @ (size * contour.u)) * moved
    return float((contour.terms_at(epsilon)[0] * factor).real.sum()), off * (1.0 + 1e-9)


def can_smooth(run: ComposedLoss) -> bool:
    """Whether the run is of one ordered pair, and some of its losses take finitely many values."""
    atomic = any(isinstance(loss, AtomicLoss) for loss, _ in run.terms)
    return atomic and run.rows == 1 and all(loss.has_slice for loss, _ in run.terms)


def smoothed_epsilon(run: ComposedLoss, log_delta: float, slack: float) -> tuple[float, float]:
    """Both ends of epsilon, for log delta known up to slack."""
    saddle = Saddle.of_delta(run, log_delta)
    smeared = SmoothedContour(run, saddle)
    return certified_ends(smeared, log_delta, slack, saddle.epsilon, _TRIES)


def smoothed_log_delta(run: ComposedLoss, epsilon: float) -> tuple[float, float]:
    """Both ends of log delta(epsilon)."""
    smeared = SmoothedContour(run, Saddle.of_epsilon(run, epsilon))
    return smeared.lower(epsilon), min(0.0, smeared.upper(epsilon))
