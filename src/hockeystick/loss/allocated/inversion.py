"""F(q) = E L^q along a vertical line: an integral of M_n over a ray, by the trapezoidal rule in log s.

docs/mathematics/allocation.md, Lemma 41 (the integral), Lemma 42 (its error terms).  Gamma(p) is taken from the same nodes, of
L = 1, so that its errors cancel, and F - 1 keeps its digits where it is small.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...numerics.cancellation_free import Array, ComplexArray, expm1_complex
from ...numerics.rounding import FUNCTION, SECOND_ORDER, UNIT
from ...numerics.trapezoid import added_terms, exact_places, fourier_sums
from ..protocol import Inconclusive
from .beyond import LaplaceBound
from .moments import AllocatedStep, Moments, largest_order
from .transform import Ray


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    log_tolerance: float = 36.0
    """-log of the relative size allowed to the rule's error and to what is cut off."""
    log_loss: float = 3.0
    """log of the digits that may cancel within a group of u that shares a ray."""
    exponent: float = 6.0
    """About Re p = n - Re q: more needs more moments, less more nodes."""
    most_nodes: int = 1 << 17
    """Of y: more take longer than other engines."""
    most_terms: int = 10**8
    """Of the power series at all nodes: more take longer than a second or two."""
    shares: tuple[float, ...] = (0.15, 0.3, 0.45, 0.6, 0.72, 0.82, 0.9, 0.95)
    """Of the strip, tried for the rule's error."""
    near: float = 0.25
    """How far from an order moments are taken to bound the slope there, where the order is rounded."""
    cell: float = 0.05
    """Width in y of the cells in which what is cut off is bounded."""
    most_cells: int = 250
    """Of these: each costs a sum over the noise.  Wider ones bound a little less closely."""
    excesses: tuple[float, ...] = tuple(0.5 * 1.5**k for k in range(22))
    """m - c of Lemma 42, of which the best is taken."""


TUNING = Tuning()


class Inversion:
    """F(a + iu) at one real part a: `values` at equally spaced u."""

    def __init__(self, step: AllocatedStep, moments: Moments, a: float) -> None:
        self.step, self.moments, self.a = step, moments, a
        self.bound = LaplaceBound(step)
        most = largest_order(step)
        more = 2.0 if a < 0.0 else min(TUNING.exponent, 2.0 + 0.5 * a)
        self.n = max(0 if a < 0.0 else 1, min(math.ceil(a + more), most)) if a < most else 0
        self.c = self.n - a
        if not self.c > 0.1:
            raise Inconclusive
        exact = self.n - self.c == a
        # |E L^q log L| <= (F(a + d) + F(a - d))/(e d): by so much a change of a counts
        off = max(moments.above(a + TUNING.near), moments.above(a - TUNING.near))
        self._moved = 0.0 if exact else 2.0 * UNIT * (a + self.c) * math.exp(min(off, 700.0)) / TUNING.near

    @cached_property
    def log_above(self) -> float:
        """An upper bound of log F(a)."""
        if self.a >= 0.0:
            return self.moments.above(self.a)
        value, error = self.values(0.0, 1)
        known = float(value[0].real) - math.log1p(-min(float(error[0]), 0.5)) if error[0] < 0.5 else math.inf
        return min(self.step.log_moment_bound(self.a), known + 8.0 * UNIT * (1.0 + abs(known)))

    def values(self, spacing: float, nodes: int) -> tuple[ComplexArray, Array]:
        """log F(a + iu) at u = 0, spacing, ..., and bounds of the relative error of F there."""
        value = np.empty(nodes, dtype=np.complex128)
        error = np.full(nodes, math.inf)
        for start, end, angle in _groups(self.c, spacing, nodes):
            value[start:end], error[start:end] = self._group(spacing, start, end, angle)
        return value, error

    def _group(self, spacing: float, start: int, end: int, angle: float) -> tuple[ComplexArray, Array]:
        c, n = self.c, self.n
        u = spacing * np.arange(start, end)
        fall = math.cos(angle)
        low, high, right = self._range(angle)
        if not -600.0 < low < high < 600.0:
            raise Inconclusive
        h = self._spacing(angle, float(u[0]), float(u[-1]))
        low, h = exact_places(low, h)
        count = math.ceil((high - low) / h) + 1
        if not 0 < count <= TUNING.most_nodes or count * n * n > TUNING.most_terms:
            raise Inconclusive
        y = low + h * np.arange(count)
        centre = low + h * round((math.log(c / fall) - low) / h)
        r = np.exp(y)
        found, own = Ray(self.step, n, angle, float(r[0]), float(r[-1])).values(r)
        s = r * complex(math.cos(angle), math.sin(angle))
        log_weight = c * (y - centre) + c  # about |s| at the centre, so that nothing underflows
        weight = np.exp(log_weight - s)
        exponent = log_weight + found - s
        if not float(exponent.real.max()) < 690.0:
            raise Inconclusive
        both = np.exp(exponent)
        close = np.abs(found) < 0.5
        gain = np.where(close, weight * expm1_complex(np.where(close, found, 0.0)), both - weight)
        sums = self._sums(y - centre, np.stack((gain, weight)), u[0], spacing, end - start)
        unit = 1.0 / h
        # what rounding makes of the weights it makes of both sums: of their quotient, only what G is off its mean
        size = np.abs(both)
        slip = (8.0 * r + 4.0 * np.abs(log_weight) + 24.0) * UNIT + 8.0 * FUNCTION
        moved = 8.0 * UNIT * np.abs(y - centre)
        heavy = np.abs(gain)
        plain = np.abs(weight)
        # of the values themselves
        errors = float((size * np.minimum(own + 8.0 * UNIT * np.abs(found), 1e300)).sum())
        terms = (added_terms(y.size, end - start) + 40.0) * UNIT + 8.0 * FUNCTION
        lost_gain = float(heavy @ (slip + terms)) + u * float(heavy @ moved) + errors
        lost_plain = float(plain @ (slip + terms)) + u * float(plain @ moved)
        # the rule, and both cuts
        rule, cut = self._rule(angle, u, h, centre), self._cuts(angle, float(y[0]), float(y[-1]), right, centre)
        return self._quotient(sums, (lost_gain, lost_plain), rule * unit, [one * unit for one in cut], u)

    def _quotient(
        self, sums: ComplexArray, lost: tuple[Array, Array], rule: Array, cut: list[float], u: Array
    ) -> tuple[ComplexArray, Array]:
        """log(1 + gain/plain), and its error: `rule` is that of L = 1; F(a) times that, the one of L."""
        plain = np.abs(sums[1])
        if not plain.min() > 0.0:
            raise Inconclusive
        excess = sums[0] / sums[1]
        ratio = 1.0 + excess
        whole = np.maximum(np.abs(ratio), 1e-300)
        size = plain - lost[1] - rule - cut[1]
        known = size > 0.5 * plain
        size = np.where(known, size, 0.5 * plain)
        fixed = lost[0] + cut[0] + cut[1] + rule + np.abs(excess) * (lost[1] + rule + cut[1])
        if self.a >= 0.0:
            log_most = self.moments.above(self.a)
        elif u[0] == 0.0:  # the rule's error is at most so much of F(a) itself
            share = float(rule[0] / size[0])
            first = (float(whole[0]) + float(fixed[0] / size[0])) / max(1.0 - share, 1e-9) * (1.0 + 1e-9)
            log_most = min(self.step.log_moment_bound(self.a), math.log(first) if share < 0.5 and known[0] else math.inf)
        else:
            log_most = self.log_above
        fixed = fixed + rule * math.exp(min(log_most, 700.0))
        error = np.where(known, fixed, math.inf)
        error = (error / size + self._moved) / whole * SECOND_ORDER + 8.0 * UNIT * (1.0 + np.abs(excess)) / whole
        value = np.empty_like(ratio)
        small = np.abs(excess) < 0.5
        few = np.where(small, excess, 0.0)
        inner = few.real * (2.0 + few.real) + few.imag**2
        value.real = np.where(small, 0.5 * np.log1p(inner), np.log(whole))
        value.imag = np.arctan2(ratio.imag, ratio.real)
        lost_all = ~(error < 0.5)  # only how large it may be is known: then that stands for it
        decay = self.step.decay(u)
        most = np.minimum(np.log(whole + np.minimum(error * whole, 1e300)), log_most - decay)
        value[lost_all] = most[lost_all]
        return value, np.where(lost_all, 2.0, error)

    def _sums(self, y: Array, terms: ComplexArray, first: float, spacing: float, nodes: int) -> ComplexArray:
        """sum of terms e^{-iuy} at u = first, first + spacing, ..."""
        turned = terms * np.exp((-1j * first) * y)
        rows = np.concatenate((turned.real, turned.imag))
        found = fourier_sums(-y, rows, spacing, nodes)
        return found[:2] + 1j * found[2:]

    def _range(self, angle: float) -> tuple[float, float, float]:
        """Where the integrand of L is: left of it e^{cy} is small, right of it M_n; and log of what is cut off there."""
        c, fall = self.c, math.cos(angle)
        extra = TUNING.log_tolerance + 2.0 * TUNING.log_loss
        peak = math.log(c / fall)
        low = peak - 1.0 - (0.5 * math.log(c + 1.0) + extra + (self.moments.above(float(self.n)) if self.n else 0.0)) / c
        level = math.lgamma(c) - c * math.log(fall) - extra
        far = peak
        while self._log_beyond(angle, far) > level:
            far += 0.1 + 0.02 * (far - peak)
            if far > peak + 600.0:
                raise Inconclusive
        cells = min(TUNING.most_cells, max(8, math.ceil((far - peak) / TUNING.cell)))
        y = np.linspace(peak, far, cells + 1)
        width = (far - peak) / cells + 1.0  # no step is longer than 1
        above = self.bound.log_above(np.exp(y[:-1]) * fall, self.n)
        rest = np.logaddexp.accumulate(np.append(self._log_beyond(angle, far), (above + c * y[1:] + math.log(width))[::-1]))[::-1]
        place = int((rest > level).sum())
        return low, float(y[place]), float(rest[place]) + 1e-9 * (1.0 + abs(float(rest[place])))

    def _log_beyond(self, angle: float, y: float) -> float:
        """log of a bound of the sum of step e^{cy} |M_n| right of y, steps up to 1 (Lemma 42)."""
        c, n, fall = self.c, self.n, math.cos(angle)
        best = math.inf
        for extra in TUNING.excesses:
            m = c + extra
            value = m * (math.log(m / fall) - 1.0) + self.moments.above(n - m) + (c - m) * y + math.log1p(1.0 / extra)
            best = min(best, value)
        return best + 1e-9 * (1.0 + abs(best))

    def _log_right_cut_plain(self, angle: float, y: float) -> float:
        """The same for L = 1."""
        c, fall = self.c, math.cos(angle)
        x = math.exp(min(y, 600.0)) * fall  # the integral of e^{cy - e^y fall} right of y
        if x <= c + 1.0:
            return math.inf
        return c * y - x - math.log(x - c) + 1e-9 * (abs(c * y) + x)

    def _cuts(self, angle: float, first: float, last: float, right: float, centre: float) -> list[float]:
        """Bounds of what is cut off of the integrals of e^{c(y - centre)} M_n and e^{c(y - centre) - s}."""
        left = self.c * (first - centre) + self.c - math.log(self.c)
        grown = self.moments.above(float(self.n)) if self.n else 0.0
        shift = self.c * centre - self.c
        plain = self._log_right_cut_plain(angle, last) - shift
        slack = 1.0 + 1e-9
        return [(_exp(left + grown) + _exp(right - shift)) * slack, (_exp(left) + _exp(plain)) * slack]

    def _rule(self, angle: float, u: Array, h: float, centre: float) -> Array:
        """Bounds of the rule's error for L = 1, with e^{u angle} and e^{c centre} taken out; times F(a) that for L."""
        best = np.full(u.shape, math.inf)
        room = 0.5 * math.pi + angle
        for share in TUNING.shares:
            b = share * room
            best = np.minimum(best, self._log_rule(angle, u, b) - _log_expm1(2.0 * math.pi * b / h))
        shift = math.lgamma(self.c) - self.c * centre + self.c
        slack = 1e-9 + 32.0 * UNIT * (abs(shift) + self.c * abs(centre) + u * 2.0)
        found: Array = np.exp(np.minimum(best + shift + slack, 700.0))
        return found

    def _log_rule(self, angle: float, u: Array, b: float) -> Array:
        """log of e^{ub} cos(angle + b)^-c + e^{-ub} cos(angle - b)^-c."""
        one = u * b - self.c * math.log(math.cos(angle + b))
        two = -u * b - self.c * math.log(math.cos(angle - b))
        found: Array = np.logaddexp(one, two)
        return found

    def _spacing(self, angle: float, first: float, last: float) -> float:
        """The longest step whose rule's error is small beside Gamma(p), for all u of the group."""
        room = 0.5 * math.pi + angle
        ends = np.array([first, 0.5 * (first + last), last])
        # e^{-u angle} |Gamma(c - iu)| / Gamma(c)
        goal = _log_gamma_ratio(self.c, ends) - ends * angle
        grown = max(0.0, min(self.log_guess, 50.0))
        best = 0.0
        for share in TUNING.shares:
            b = share * room
            need = float((self._log_rule(angle, ends, b) - goal).max()) + TUNING.log_tolerance + grown
            best = max(best, 2.0 * math.pi * b / max(need, 1.0))
        return min(best, 1.0)

    @cached_property
    def log_guess(self) -> float:
        """About log F(a), where it is large."""
        return self.moments.above(self.a) if self.a >= 0.0 else 0.0


def _groups(c: float, spacing: float, nodes: int) -> list[tuple[int, int, float]]:
    """Ranges of u that share a ray, from the last to the first: the loss of digits within each is bounded."""
    found = []
    end = nodes
    while end > 0:
        top = spacing * (end - 1)
        angle, start = 0.0, 0
        if top > 0.0:
            # a ray for somewhat less than the largest u, so that this one loses what is allowed
            low, high = 0.0, top
            for _ in range(40):
                middle = 0.5 * (low + high)
                if _loss(c, math.atan(middle / c), top) > TUNING.log_loss:
                    low = middle
                else:
                    high = middle
            angle = -math.atan(high / c)
            if high > 0.0 and _loss(c, -angle, 0.0) > TUNING.log_loss:
                low, high = 0.0, high
                for _ in range(40):
                    middle = 0.5 * (low + high)
                    if _loss(c, -angle, middle) > TUNING.log_loss:
                        low = middle
                    else:
                        high = middle
                start = min(math.ceil(high / spacing), end - 1)
        found.append((start, end, angle))
        end = start
    return found


def _loss(c: float, angle: float, u: float) -> float:
    """log of the digits lost at u on a ray of -angle, beside the best ray for it."""
    best = math.atan(u / c)
    return u * (best - angle) - c * (math.log(math.cos(angle)) - math.log(math.cos(best)))


def _log_gamma_ratio(c: float, u: Array) -> Array:
    """About log |Gamma(c - iu)| - log Gamma(c)."""
    from scipy.special import loggamma

    found: Array = loggamma(c - 1j * u).real - math.lgamma(c)
    return found


def _log_expm1(x: float) -> float:
    return x + math.log(-math.expm1(-x))


def _exp(x: float) -> float:
    return math.exp(min(x, 700.0))
