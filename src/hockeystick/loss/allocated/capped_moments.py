"""E L^q of the weighed law at large orders: an integral along a vertical line, by the trapezoidal rule.

docs/mathematics/allocation.md, Lemma 48: the integral and its errors.
"""

import math
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import BLOCK, Array, ComplexArray, log1p_complex
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ...numerics.trapezoid import exact_places
from ..protocol import Inconclusive
from .capped import TUNING, CappedTransform, log_expm1


class CappedMoments:
    """F(q) = E[L^q times the product of chi(X_j)] at Re q = a, from the line Re s = place."""

    def __init__(self, transform: CappedTransform, a: float, place: float) -> None:
        if not (a >= 4.0 and 0.0 < place / transform.step.steps <= transform.most):
            raise Inconclusive
        self.transform, self.a, self.place = transform, a, place
        self._steps, self._log_tolerance, self._coarse = transform.step.steps, transform.log_tolerance, transform.coarse

    def values(self, u: Array) -> tuple[ComplexArray, Array]:
        """log F(a + iu), modulo 2 pi i, and bounds of the relative error of F; u >= 0 grows."""
        base = self.a + 1.0
        above, above_error = self._line(u, self.place, plain=False)
        below, below_error = self._line(u, base, plain=True)
        size = np.abs(above), np.abs(below)
        if not (size[1] > 2.0 * below_error).all():
            raise Inconclusive
        found = np.maximum(size[0], 1e-300)
        # place - (a + 1) - (a + 1) log(place/(a + 1)): what the two lines differ by
        moved = self.place - base
        log_moved = math.log1p(moved / base)
        gap = moved - base * log_moved + self._top
        value = np.empty(u.shape, dtype=np.complex128)
        value.real = np.log(found / size[1]) + gap
        value.imag = np.angle(above / below) - u * log_moved
        share = below_error / size[1]
        error = (above_error / found + share * (1.0 + above_error / found)) * (1.0 + 4.0 * share)
        error += (16.0 * UNIT) * ((base + u) * abs(log_moved) + abs(moved) + abs(self._top)) + 16.0 * FUNCTION
        lost = ~(error < 0.5)  # only how large it may be is known: then that stands for it
        most = np.log((size[0] + above_error) / size[1]) + gap + 2.0 * share
        value.real[lost] = (most + 1e-9 * (1.0 + np.abs(most)))[lost]
        return value, np.where(lost, 2.0, error)

    def log_ends(self) -> tuple[float, float]:
        """Both ends of log F(a)."""
        value, error = self.values(np.zeros(1))
        if not error[0] < 0.5:
            return -math.inf, float(value[0].real)
        slack = -math.log1p(-float(error[0])) + 8.0 * UNIT * (1.0 + abs(float(value[0].real)))
        return float(value[0].real) - slack, float(value[0].real) + slack

    def log_above(self) -> float:
        """An upper bound of log F(a) from one real point: x^a <= (a/(es))^a e^{sx}."""
        value = self.a * math.log(self.a / self.place) + (self.place - self.a) + self._top
        return value + 1e-12 * (abs(value) + self.a + self.place)

    @cached_property
    def _top(self) -> float:
        """log E e^{s (L - 1)} at the place of the line, from above."""
        return float(self._log_power(np.array([self.place]))[0])

    def _log_power(self, places: Array) -> Array:
        """log E e^{s (L - 1)} at real s, from above."""
        value, error = self.transform.values((places * (1.0 / self._steps)).astype(np.complex128))
        found: Array = self._steps * np.log1p(value.real + error)
        return found + 1e-12 * (1.0 + np.abs(found)) + 4.0 * UNIT * self._steps * np.abs(value.real)

    def _line(self, u: Array, place: float, plain: bool) -> tuple[ComplexArray, Array]:
        """The integral over v of E e^{sL} s^{-q-1}, s = place + iv (of e^s s^{-q-1} if `plain`), and bounds of its errors.

        place^{-q-1} and E e^{place L} are taken out, and what depends on u alone, so that the integrand is about 1 at most.
        """
        a = self.a
        h, low, nodes = self._places(u, place, plain)
        v = low + h * np.arange(nodes)
        mirrored = low == 0.0  # at u = 0 the terms at -v are the conjugates
        w = v * (1.0 / place)
        log: ComplexArray = np.zeros(nodes, dtype=np.complex128)
        error: Array = np.zeros(nodes)
        if not plain:
            log, error = self._powers(v)
        log_round, angle = 0.5 * np.log1p(w * w), np.arctan(w)
        peak = np.arctan(u / (a + 1.0))
        highest = (a + 1.0) * np.log(np.cos(peak)) + u * peak
        real = u[:, None] * angle + (log.real - (a + 1.0) * log_round) - highest[:, None]
        imag = (v - (a + 1.0) * angle + log.imag) - u[:, None] * log_round
        sizes = np.exp(np.minimum(real, 690.0))
        if mirrored:
            sizes[:, 1:] *= 2.0
        terms = np.empty(sizes.shape, dtype=np.complex128)
        terms.real, terms.imag = sizes * np.cos(imag), sizes * np.sin(imag)
        value: ComplexArray = np.add.reduceat(terms, np.arange(0, nodes, BLOCK), axis=1).sum(axis=1) * h
        value.imag = np.where(mirrored, 0.0, value.imag)
        slip = (BLOCK + nodes / BLOCK + 16.0) * UNIT + 8.0 * FUNCTION
        spread = np.abs(angle) + log_round
        each = error + 6.0 * UNIT * (np.abs(v) + (a + 1.0) * spread + np.abs(log)) + slip
        total = sizes @ each + (sizes @ spread) * (u * 6.0 * UNIT) + np.abs(highest) * (8.0 * UNIT) * sizes.sum(axis=1)
        total = total * (h * SECOND_ORDER)
        return value, total + self._rule(u, place, h, highest, plain) + self._cut(
            u, place, (-float(v[-1]) if mirrored else low, float(v[-1])), highest
        )

    def _powers(self, v: Array) -> tuple[ComplexArray, Array]:
        """log E e^{s (L - 1)} along the line, less its value at v = 0, and bounds of the relative error of the power."""
        count = self._steps
        value, lost = self.transform.values((self.place + 1j * v) * (1.0 / count))
        size = np.abs(1.0 + value)
        if not size.min() > 1e-100:
            raise Inconclusive
        log = count * log1p_complex(value)
        off = lost / size
        # where a factor is not known to half of it, the power is as large as it may be
        error = np.where(off < 0.5, -count * np.log1p(-np.minimum(off, 0.5)), count * np.log1p(off) + 2.0)
        error = error + count * (8.0 * FUNCTION) * np.abs(value / (1.0 + value)) + 4.0 * UNIT * np.abs(log)
        log = log - self._top
        # |E e^{sL}| <= E e^{L Re s}, however little is known of it
        most = 2.0 + 1.0001 * np.exp(np.minimum(-log.real, 600.0))
        return log, np.minimum(np.expm1(np.minimum(error, 600.0)), most)

    @cached_property
    def _sides(self) -> tuple[Array, Array]:
        """log E e^{s (L - 1)} to both sides of the line."""
        shares = np.array(TUNING.shares)
        left, right = self.place * (1.0 - shares), self.place * (1.0 + shares)
        known = right <= self.transform.most * self._steps
        found = np.full(shares.shape, math.inf)
        if known.any():
            found[known] = self._log_power(right[known])
        return self._log_power(left), found

    def _growth(self, place: float, plain: bool) -> tuple[Array, Array]:
        """b, and log of how much more the integrand may be at a distance of b from the line (Lemma 48)."""
        shares = np.array(TUNING.shares)
        b = shares * place
        left, right = -b - self.a * np.log1p(-shares), b - self.a * np.log1p(shares)
        if not plain:
            left, right = left + self._sides[0] - self._top, right + self._sides[1] - self._top
        return b, np.maximum(left, right)

    def _places(self, u: Array, place: float, plain: bool) -> tuple[float, float, int]:
        """The step, the first node, and how many."""
        b, growth = self._growth(place, plain)
        need = self._log_tolerance + 3.0 + 0.5 * math.log(self.a) + np.maximum(growth, 0.0)
        h = float((2.0 * math.pi * b / need).max())
        high = line_end(self.a, float(u[-1]), place, 1.0, self._log_tolerance)
        low = line_end(self.a, float(u[0]), place, -1.0, self._log_tolerance) if u[-1] > 0.0 else 0.0
        low, h = exact_places(low, h)
        if not 0.0 < high - low < (TUNING.most_coarse if self._coarse else TUNING.most_nodes) * h:
            raise Inconclusive
        return h, low, math.ceil((high - low) / h) + 1

    def _rule(self, u: Array, place: float, h: float, highest: Array, plain: bool) -> Array:
        """Bounds of the rule's errors: |E e^{sL}| <= E e^{L Re s}, and the integral of cos^{a-1} e^{u angle} (Lemma 48)."""
        a = self.a
        b, growth = self._growth(place, plain)
        best = min(one - log_expm1(2.0 * math.pi * two / h) for one, two in zip(growth.tolist(), b.tolist(), strict=True))
        peak = np.arctan(u / (a - 1.0))
        most = (a - 1.0) * np.log(np.cos(peak)) + u * peak + math.log(math.pi * place)
        found: Array = 2.0 * np.exp(np.minimum(best + most - highest + 1e-9 * (1.0 + np.abs(highest)), 700.0))
        return found

    def _cut(self, u: Array, place: float, ends: tuple[float, float], highest: Array) -> Array:
        """Bounds of what is beyond the nodes: there cos^{a-1} e^{u angle} falls."""
        a = self.a
        total = np.zeros(u.shape)
        peak = np.arctan(u / (a - 1.0))
        for end, side in zip(ends, (-1.0, 1.0), strict=True):
            angle = math.atan(end / place)
            if not (side * (angle - peak) >= 0.0).all():
                raise Inconclusive
            log = (a - 1.0) * math.log(math.cos(angle)) + u * angle - highest + math.log(place * math.pi)
            total += np.exp(np.minimum(log + 1e-9 * (1.0 + np.abs(highest)), 700.0))
        return total


def line_end(a: float, u: float, place: float, side: float, log_tolerance: float = TUNING.log_tolerance) -> float:
    """Where the integrand along the line at a + iu is as small as wanted."""
    peak = math.atan(u / (a - 1.0))
    goal = (a + 1.0) * math.log(math.cos(peak)) + u * peak - log_tolerance - math.log(10.0 + a)
    near, far = peak, side * 0.5 * math.pi
    for _ in range(40):
        middle = 0.5 * (near + far)
        if (a - 1.0) * math.log(max(math.cos(middle), 1e-300)) + u * middle > goal:
            near = middle
        else:
            far = middle
    return place * math.tan(far)
