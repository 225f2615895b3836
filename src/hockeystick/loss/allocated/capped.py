"""E L^q with large steps weighed down, at large orders: an integral along a vertical line, by the trapezoidal rule.

With chi(x) = exp(-e^{sharpness (x - cap)}) the product of chi(X_j) is nearly 1 unless a step is nearly `cap` or more, and L has
exponential moments under it.  docs/mathematics/allocation.md, Lemma 47 (what the weight takes off), Lemma 48 (the integral, its
errors, and decay).
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...numerics.cancellation_free import BLOCK, Array, ComplexArray, expm1_complex
from ...numerics.normal import log_normal_cells
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ...numerics.trapezoid import exact_places
from ..protocol import Inconclusive
from .moments import AllocatedStep


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    log_tolerance: float = 38.0
    """-log of the relative size allowed to the rules' errors and to what is cut off."""
    coarse: float = 15.0
    """The same for bounds on the real axis, which need few digits."""
    turn: float = 1.2
    """Of the phase of the weight at the edge of the strip of the rule over the noise; pi/2 would be the most."""
    far: float = 60.0
    """-log of the weight where the noise is cut off."""
    shares: tuple[float, ...] = (0.1, 0.2, 0.3, 0.45, 0.6, 0.75, 0.9)
    """Of the distance from the line to 0, tried for the width of the strip."""
    most_nodes: int = 4000
    """Of either rule."""
    most_coarse: int = 150
    """Of the rule along the line, for bounds on the real axis."""
    block: int = 1 << 17
    """Entries of a table at a time."""


TUNING = Tuning()


class Cap(NamedTuple):
    """Where the weight of a step falls, and how steeply."""

    place: float
    sharpness: float

    def eased(self, share: float) -> "Cap":
        """The weight to the power of `share` < 1, or a larger one."""
        return Cap(math.nextafter(self.place - math.log(share) / self.sharpness * (1.0 + 1e-14), math.inf), self.sharpness)


class CappedTransform:
    """m(z) = E[chi(X) e^{z (Y - 1)}] of one step for Re z >= 0, up to a largest Re z and |Im z|."""

    def __init__(self, step: AllocatedStep, cap: Cap, most: float, turned: float, coarse: bool = False) -> None:
        self.step, self.cap, self.most = step, cap, most
        self.coarse, self.log_tolerance = coarse, TUNING.coarse if coarse else TUNING.log_tolerance
        t, r = step.tilt, cap.sharpness
        need = self.log_tolerance + math.log(step.steps)
        # a narrow strip where z turns much
        self._b = min(TUNING.turn / r, 1.2 / t, 3.0, 2.0 / t * max(most, 0.02) / max(turned, 1e-300))
        grown = most + turned * math.sin(t * self._b)
        reach = math.sqrt(2.0 * need + 4.0)
        self._low, high = -reach, max(cap.place + math.log(TUNING.far) / r, reach + t)
        while grown * t * math.exp(min(t * high, 600.0)) * 1.01 > math.exp(min(r * (high - cap.place), 600.0)) * self._share * r:
            high += 0.05
            if r * (high - cap.place) > 30.0:
                raise Inconclusive
        # how much the moduli grow on the strip decides the step
        self._cells(high)
        growth = float(self._log_above(np.array([grown]), self._share)[0]) + 0.5 * self._b**2
        if not growth < 200.0:
            raise Inconclusive
        h = 2.0 * math.pi * self._b / (need + growth)
        low, self.h = exact_places(self._low, h)
        count = math.ceil((high - low) / self.h) + 1
        if not 0 < count <= (TUNING.most_nodes // 3 if coarse else TUNING.most_nodes):
            raise Inconclusive
        x = self.x = low + self.h * np.arange(count)
        self._away = np.expm1(t * x - 0.5 * t * t)
        self._steep = np.exp(np.minimum(r * (x - cap.place), 700.0))
        plain = np.exp(-0.5 * x * x) * (self.h / math.sqrt(2.0 * math.pi))
        self._weight = plain * np.exp(-self._steep)
        rest = plain * -np.expm1(-self._steep)
        self._rest = float(rest.sum()), float(rest @ self._away)
        grown_y = 1.0 + self._away
        slip = (step.tilt_error + 3.0 * UNIT) * t * (1.0 + t + np.abs(x))
        added = (BLOCK + count / BLOCK + 24.0) * UNIT
        # relative errors of the weights, and of Y times Y
        size = UNIT * (x * x + 8.0) + 4.0 * FUNCTION
        self._weight_slip = size + self._steep * (4.0 * UNIT * r * (np.abs(x) + abs(cap.place)) + FUNCTION) + added
        self._y_slip = grown_y * (slip + FUNCTION) + 2.0 * UNIT * np.abs(self._away)
        rest_slip = rest * (size + 4.0 * UNIT * r * (np.abs(x) + abs(cap.place)) + 4.0 * FUNCTION + added)
        self._rest_error = float(rest_slip.sum()), float(rest_slip @ np.abs(self._away) + rest @ self._y_slip)
        # of the rule, for 1 and for Y - 1, at any width of its strip; and the tails of both
        b = np.linspace(0.2, 2.0, 10) * (2.0 * math.pi / self.h)
        log_plain = float(np.minimum(0.5 * b * b - 2.0 * math.pi * b / self.h, 0.0).min())
        self._plain = 8.0 * math.exp(log_plain) + math.exp(_log_tail(-float(x[0]), self.h))
        self._plain += 2.0 * math.exp(_log_tail(float(x[-1]) - t, self.h))

    @property
    def _share(self) -> float:
        """The least cosine of the weight's phase in the strip."""
        return math.cos(self.cap.sharpness * self._b) * (1.0 - 1e-12)

    def _cells(self, high: float) -> None:
        """Normal masses of cells; the largest Y in each, and the least exponent of the weight."""
        t, r = self.step.tilt * (1.0 + 2.0 * self.step.tilt_error), self.cap.sharpness
        edges = np.arange(self._low, high + 0.04, 0.04)
        log_mass, error = log_normal_cells(edges)
        self._log_mass = log_mass + error
        right = np.append(edges, edges[-1])
        slack = 1e-9 * (1.0 + t * (1.0 + np.abs(right)))
        self._most = np.exp(t * right - 0.5 * t * t) * (1.0 + slack)
        least = np.exp(np.minimum(r * (np.append(-math.inf, edges) - self.cap.place), 600.0))
        self._least = least * (1.0 - 1e-9 * (1.0 + r))
        self._edge = float(edges[-1])

    def _log_above(self, z: Array, share: float) -> Array:
        """log E[chi^share e^{z (Y - 1)}] from above for real z: beyond the last cell the exponent falls."""
        t, r = self.step.tilt, self.cap.sharpness
        falls = z * (t * self._most[-1]) <= share * r * self._least[-1]
        if not (falls.all() and r > t):
            raise Inconclusive
        exponent = self._log_mass + z[:, None] * (self._most - 1.0) - share * self._least
        top = exponent.max(axis=1)
        found: Array = top + np.log(np.exp(exponent - top[:, None]).sum(axis=1)) + 1e-9 * (1.0 + np.abs(top))
        return found

    def values(self, z: ComplexArray) -> tuple[ComplexArray, Array]:
        """m(z) - 1, and bounds of its error."""
        each = max(1, TUNING.block // self.x.size)
        parts = [self._block(z[start : start + each]) for start in range(0, z.size, each)]
        return np.concatenate([one for one, _ in parts]), np.concatenate([two for _, two in parts])

    def _block(self, z: ComplexArray) -> tuple[ComplexArray, Array]:
        v = z[:, None] * self._away
        if float(z.real.max()) * float(self._away[-1]) > 690.0:
            if float(z.real.max()) * float(self._away[self._weight > 0.0][-1]) > 690.0:
                raise Inconclusive
            np.minimum(v.real, 690.0, out=v.real)  # where the weight is 0
        grown = expm1_complex(v)
        terms = grown - v
        value = _summed(terms, self._weight) - self._rest[0] - z * self._rest[1]
        size, steep = np.abs(terms), np.abs(grown)
        modulus = np.abs(z)
        error = size @ (self._weight * self._weight_slip)
        # of e^v - 1 - v as computed, and what an error of Y makes of it
        error += (steep @ self._weight) * (2.0 * FUNCTION + 4.0 * UNIT)
        error += modulus * (steep @ (self._weight * self._y_slip) + 4.0 * UNIT * (steep @ (self._weight * np.abs(self._away))))
        error += modulus * (4.0 * UNIT * float(self._weight @ np.abs(self._away)))
        error += self._rest_error[0] + modulus * self._rest_error[1] + 4.0 * UNIT * (abs(value) + self._rest[0])
        error = error * SECOND_ORDER + self._rule(z) + self._plain * (1.0 + modulus)
        return value, error

    def _rule(self, z: ComplexArray) -> Array:
        """Bounds of the rule's error for E chi e^{z (Y - 1)}, and of what lies beyond its nodes."""
        b, t, r = self._b, self.step.tilt, self.cap.sharpness
        lift = np.abs(z.imag) * (math.sin(t * b) * (1.0 + 1e-12))
        grown = z.real + lift
        log_most = self._log_above(grown, self._share) + lift + 0.5 * b * b
        rule = np.exp(np.minimum(log_most + math.log(2.0) - log_expm1(2.0 * math.pi * b / self.h), 700.0))
        first, last = float(self.x[0]), float(self.x[-1])
        most = math.exp(t * last - 0.5 * t * t) * (1.0 + 1e-9 * (1.0 + t))
        steep = float(self._steep[-1]) * (1.0 - 1e-9 * (1.0 + r))
        if not (z.real.max() * t * most <= r * steep and r > t):
            raise Inconclusive
        right = np.exp(np.minimum(z.real * most - steep + _log_tail(last, self.h), 700.0))
        left = np.exp(np.minimum(z.real * max(0.0, math.expm1(t * first) + 1e-9), 700.0) + _log_tail(-first, self.h))
        found: Array = (rule + left + right) * (1.0 + 1e-6)
        return found


def _summed(terms: ComplexArray, weight: Array) -> ComplexArray:
    """terms @ weight, block by block, so that the rounding error grows with the block."""
    found = terms[:, :BLOCK] @ weight[:BLOCK]
    for start in range(BLOCK, weight.size, BLOCK):
        found += terms[:, start : start + BLOCK] @ weight[start : start + BLOCK]
    return found


def log_expm1(x: float) -> float:
    """log(e^x - 1)."""
    return x + math.log(-math.expm1(-x))


def _log_tail(x: float, h: float) -> float:
    """log of a bound of the sum of h phi beyond x > 0, or of the normal tail."""
    from scipy.special import log_ndtr

    if x <= 0.0:
        return math.log(4.0)
    density = -0.5 * x * x - 0.5 * math.log(2.0 * math.pi) + math.log(h)
    return float(np.logaddexp(density, float(log_ndtr(-x)))) + math.log(2.0) + 1e-9
