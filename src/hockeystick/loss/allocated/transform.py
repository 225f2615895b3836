"""M_n(s) = E[L^n e^{-sL}] on a ray, L the likelihood ratio of an allocation (docs/mathematics/allocation.md, Lemmas 41 and 44).

M_n(s) = T^-n n! [x^n] (sum of a_k(s/T) x^k/k!)^T with a_k(z) = E[Y^k e^{-zY}], Y = e^{tX - t^2/2}, by the trapezoidal rule
along X = x + i eta: there |e^{-zY}| is about what it is on average, so that nothing cancels.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...numerics.cancellation_free import BLOCK, Array, ComplexArray, expm1_complex, log1p_complex
from ...numerics.rounding import FUNCTION, UNIT
from ...numerics.trapezoid import exact_places
from ..protocol import Inconclusive
from .moments import AllocatedStep, power_coefficients, power_rounding, scale_of, unscaled


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    log_tolerance: float = 39.0
    """-log of the relative error of the rule that is aimed at."""
    reach: float = 9.0
    """Normal tails from here on are below the rounding."""
    turn: float = 1.5
    """How far the path is moved where nothing else asks for it: it costs a factor e^{turn^2/2} of rounding."""
    strip: float = 0.6
    """The share of the strip in which e^{-zY} falls that is used: more would leave the powers of Y without a bound."""
    most_nodes: int = 4000
    """Of x: more take longer than other engines."""
    block: int = 1 << 17
    """Entries of a table at a time."""
    samples: int = 24
    """Places of the ray at which the rule is tried before its step is fixed."""
    levels: int = 48
    """Places at which real moments are bounded; between two, the left one serves."""
    near_one: float = 0.5
    """z below which a_0 and a_1 are computed without cancellation."""
    degree: int = 19
    """Of the series of e^v where |v| <= 1/2: what follows is far below the rounding that is counted."""
    lift: float = 30.0
    """So far e^-z is taken out of a_k(z) before it is summed: T log a_0 would cancel against s."""


TUNING = Tuning()


class Ray:
    """M_n along s = r e^{i angle}, -pi/2 < angle <= 0, for r between two ends."""

    def __init__(self, step: AllocatedStep, n: int, angle: float, least: float, most: float) -> None:
        self.step, self.n, self.angle = step, n, angle
        t = step.tilt
        self._scale = scale_of(n)
        self._lowest, self._highest = least / step.steps, most / step.steps
        self._powers = np.arange(n + 2.0)
        samples = np.geomspace(least, most, TUNING.samples) if most > least else np.array([most])
        wanted = TUNING.log_tolerance + math.log(step.steps)  # for the power of T
        need, self._reach = wanted + 8.0, math.sqrt(TUNING.reach**2 + 2.0 * math.log(step.steps))
        for _ in range(5):
            self._place(need, samples / step.steps)
            lost = float(self._quadrature(samples / step.steps).max())
            if lost < 4.0 - wanted:
                break
            more = lost + wanted + 1.0
            need, self._reach = need + more, math.sqrt(self._reach**2 + 2.0 * more)
            if not need < 3000.0:
                raise Inconclusive
        else:
            raise Inconclusive
        if t * abs(self.angle) > 1e6:
            raise Inconclusive

    def _eta(self, z: Array) -> Array:
        """How far the path is moved up, so that the phase of zY shrinks."""
        t = self.step.tilt
        found: Array = np.minimum(-self.angle / t, np.maximum(TUNING.turn, np.log1p(z * (t * t)) / t)) * (1.0 - 1e-12)
        return found

    def _strip(self, eta: Array) -> tuple[Array, Array]:
        """How far the path may be moved further, and the least cosine of the phase of zY there."""
        t = self.step.tilt
        room = (0.5 * math.pi + self.angle) / t + eta
        b = TUNING.strip * room
        return b, np.sin((room - b) * t) * (1.0 - 1e-9)

    def _place(self, need: float, z: Array) -> None:
        t, n = self.step.tilt, self.n
        eta = self._eta(z)
        b, _ = self._strip(eta)
        # any narrower strip will do as well
        shares = np.linspace(0.1, 1.0, 19)
        wide = b[:, None] * shares
        h = float((2.0 * math.pi * wide / (need + 0.5 * (eta[:, None] + wide) ** 2)).max(axis=1).min())
        # e^{-zY} presses the noise to the left by about W(z t^2)/t
        pressed = math.log1p(float(z.max()) * t * t) / t
        low, high = -self._reach - 0.5 * float(eta.max()) - pressed, n * t + self._reach + 0.5 * float(eta.max())
        if not (high - low) < TUNING.most_nodes * h:
            raise Inconclusive
        low, self.h = exact_places(low, h)
        count = math.ceil((high - low) / self.h) + 1
        self.x = low + self.h * np.arange(count)
        self._log_y = t * self.x - 0.5 * t * t
        self._y = np.exp(self._log_y)
        # normal density times Y^k over its mean: a normal density again
        self._log_mean = 0.5 * self._powers * (self._powers - 1.0) * t * t
        away = self.x[:, None] - t * self._powers
        self._table = np.exp(-0.5 * away * away) * (self.h / math.sqrt(2.0 * math.pi))
        moved = (self.step.tilt_error + 2.0 * UNIT) * t * self._powers + UNIT * np.abs(self.x)[:, None]
        self._table_error = self._table * (np.abs(away) * (2.0 * moved + 2.0 * UNIT * np.abs(away)) + 8.0 * UNIT + FUNCTION)
        self._wide_table = self._table * (1.0 + np.abs(self.x))[:, None]

    def _sizes(self, z: Array) -> tuple[Array, Array, Array]:
        """The exponents of the terms; eta; z turned."""
        eta = self._eta(z)
        turned = z * np.exp(1j * (self.angle + self.step.tilt * eta))
        return eta, turned, np.cos(self.angle + self.step.tilt * eta) * z

    def _quadrature(self, z: Array) -> Array:
        """log of the largest error of the rule for a_k(z), k <= n, relative to the sum of its terms' moduli (Lemma 44)."""
        eta, _, real = self._sizes(z)
        moduli = np.exp(-real[:, None] * self._y)
        total = np.log(np.maximum(moduli @ self._table[:, : self.n + 1], 1e-300))  # over e^{eta^2/2}, and the means of Y^k
        found: Array = self._errors(z, eta, total).max(axis=1)
        return found

    def _errors(self, z: Array, eta: Array, total: Array) -> Array:
        """log of the errors of the rule for a_k(z), relative to sums of moduli of these sizes."""
        b, fall = self._strip(eta)
        shares = np.array([1.0, 0.6, 0.3])
        k = self._powers[: self.n + 1]
        best = np.full(total.shape, math.inf)
        for share in shares:
            wide = b * share
            room = (0.5 * math.pi + self.angle) / self.step.tilt + eta
            cosine = np.sin((room - wide) * self.step.tilt) * (1.0 - 1e-9)
            most = self._real_moments(z * np.maximum(np.minimum(cosine, fall if share == 1.0 else cosine), 0.0))
            decay = 2.0 * math.pi * wide / self.h
            grown = eta * wide + 0.5 * wide * wide
            # e^{(eta + b)^2/2} for one side and no more for the other, over e^{eta^2/2}
            one = math.log(2.0) + grown - decay - np.log(-np.expm1(-decay))
            best = np.minimum(best, one[:, None] + most - total)
        right = float(self.x[-1]) - k * self.step.tilt
        left = -float(self.x[0]) + k * self.step.tilt
        fallen = (np.cos(self.angle + self.step.tilt * eta) * z * (float(self._y[-1]) * (1.0 - 1e-9)))[:, None]
        tails = np.logaddexp(_log_tail(right, self.h) - fallen, _log_tail(left, self.h))
        found: Array = np.logaddexp(best, tails - total)
        return found

    def _real_moments(self, z: Array) -> Array:
        """Upper bounds of log(E[Y^k e^{-zY}]/E Y^k) for real z, k <= n: Y^m e^{-zY} <= (m/(e z))^m for every m <= k."""
        low, high = max(float(z.min()), 1e-300), max(float(z.max()), 1e-300)
        levels = np.geomspace(low, high, TUNING.levels) if high > low * 1.001 else np.array([low])
        k = self._powers[: self.n + 1]
        best = np.zeros((levels.size, self.n + 1))
        for m in range(1, self.n + 1):
            rest = k[m:] - m
            # the mean of Y^{k-m} over that of Y^k
            value = m * (math.log(m) - 1.0 - np.log(levels))[:, None] + (
                0.5 * rest * (rest - 1.0) * self.step.tilt**2 - self._log_mean[m : self.n + 1]
            )
            np.minimum(best[:, m:], value, out=best[:, m:])
        place = np.clip(np.searchsorted(levels, z, side="right") - 1, 0, levels.size - 1)
        found: Array = np.where((z >= levels[0])[:, None], best[place], 0.0) + 1e-9 * (1.0 + np.abs(best[place]))
        return found

    def values(self, r: Array) -> tuple[ComplexArray, Array]:
        """log(M_n(s) e^s) at these r, modulo 2 pi i, and bounds of the relative error of its exponential."""
        each = max(1, TUNING.block // self.x.size)
        parts = [self._block(r[start : start + each]) for start in range(0, r.size, each)]
        return np.concatenate([one for one, _ in parts]), np.concatenate([two for _, two in parts])

    def _block(self, r: Array) -> tuple[ComplexArray, Array]:
        step, n = self.step, self.n
        t, count = step.tilt, step.steps
        z = r * (1.0 / count)
        eta, turned, _ = self._sizes(z)
        full = z * math.cos(self.angle)
        lift = np.minimum(full, TUNING.lift)
        terms = np.empty((z.size, self.x.size), dtype=np.complex128)
        np.multiply(-turned[:, None], self._y, out=terms)
        terms.real += lift[:, None]
        terms.imag += (z * math.sin(self.angle))[:, None] - eta[:, None] * self.x
        terms.real += (0.5 * eta * eta)[:, None]
        np.exp(terms, out=terms)
        moduli = np.abs(terms)
        sums = self._summed(terms.real, n) + 1j * self._summed(terms.imag, n)
        sums *= np.exp(1j * t * (eta[:, None] * self._powers[: n + 1]))
        totals = moduli @ self._table[:, : n + 1]
        error = self._rounding(z, eta, totals, moduli)
        log_total = np.log(np.maximum(totals, 1e-300)) - (0.5 * eta * eta + lift)[:, None]
        rule = np.exp(np.minimum(self._errors(z, eta, log_total), 600.0)) * totals
        lost = error + rule
        if not np.abs(sums[:, 0]).min() > 1e-280:  # so far out that a double does not hold a_0
            raise Inconclusive
        log = np.log(sums[:, 0])
        off = FUNCTION * 4.0 + 4.0 * UNIT * (np.abs(log) + full - lift)
        if z[-1] < TUNING.near_one and eta.max() == eta.min():
            first, second = self._near_one(z, float(eta[0]), rule)
            sums[:, 0], lost[:, 0], log = 1.0 + first[0], first[1], log1p_complex(first[0])
            off = 8.0 * FUNCTION * np.abs(log)
            if n:
                better = second[1] < lost[:, 1]
                sums[better, 1], lost[better, 1] = 1.0 + second[0][better], second[1][better]
        return self._powered(sums, lost, log + (full - lift), off)

    def _summed(self, terms: Array, n: int) -> Array:
        """The sums against the powers of Y, block by block, so that the rounding error grows with the block."""
        found = terms[:, :BLOCK] @ self._table[:BLOCK, : n + 1]
        for start in range(BLOCK, self.x.size, BLOCK):
            found += terms[:, start : start + BLOCK] @ self._table[start : start + BLOCK, : n + 1]
        return found

    def _near_one(self, z: Array, eta: float, rule: Array) -> tuple[tuple[ComplexArray, Array], tuple[ComplexArray, Array]]:
        """a_0(z) e^z - 1 and a_1(z) e^z - 1 for small z without cancellation, and their errors (Lemma 45).

        With v = -z (Y - 1) they are E[e^v - 1 - v] and E[Y (e^v - 1)], as E Y = 1: a series in z where |v| <= 1/2.
        """
        t, h = self.step.tilt, self.h
        point = z * complex(math.cos(self.angle), math.sin(self.angle))
        path = (t * self.x - 0.5 * t * t) + 1j * (t * eta)
        away = expm1_complex(path)
        weight = self._table[:, 0] * np.exp(0.5 * eta * eta - 1j * eta * self.x)
        top = float(z[-1])  # powers are those of top * (Y - 1)
        near = np.abs(away) * top <= 0.5
        sums = [weight[near]]
        for _ in range(TUNING.degree + 1):
            sums.append(sums[-1] * (top * away[near]))
        places = np.arange(0, sums[0].size, BLOCK)
        moments = [complex(np.add.reduceat(one, places).sum()) if one.size else 0j for one in sums]
        first, second = np.zeros(z.shape, dtype=np.complex128), np.zeros(z.shape, dtype=np.complex128)
        factor = np.ones(z.shape, dtype=np.complex128)
        for m in range(1, TUNING.degree + 1):
            factor = factor * (-point / (top * m))
            second += factor * (moments[m] + moments[m + 1] / top)
            if m > 1:
                first += factor * moments[m]
        v = -point[:, None] * away[~near]
        grown = expm1_complex(v)
        first += (grown - v) @ weight[~near]
        second += grown @ (weight[~near] * (1.0 + away[~near]))
        bend, tilt = self._near_one_rounding(np.abs(away), np.abs(1.0 + away), np.abs(weight), near, eta)
        # of the rule for E 1 and E Y, at any width of its strip
        b = np.linspace(0.2, 2.0, 10) * (2.0 * math.pi / h)
        plain = float(np.exp(np.minimum(0.5 * (eta + b) ** 2 - 2.0 * math.pi * b / h, 0.0)).min()) * 4.0
        ends = np.array([-float(self.x[0]), float(self.x[-1]) - t])
        plain += float(np.exp(_log_tail(ends, h) + 0.5 * eta * eta).sum())
        return (
            (first, bend * z * z + rule[:, 0] + plain * (1.0 + 2.0 * z)),
            (second, tilt * z + (rule[:, 1] if self.n else 0.0) + plain),
        )

    def _near_one_rounding(
        self, away: Array, grown: Array, weight: Array, near: npt.NDArray[np.bool_], eta: float
    ) -> tuple[float, float]:
        """Bounds of the rounding errors of these, over z^2 and z: with |v| <= 1/2 near 1, and |e^v| <= e^{1/2} elsewhere."""
        t, size = self.step.tilt, np.abs(self.x)
        slip = (self.step.tilt_error + 3.0 * UNIT) * t * (1.0 + t)
        share = (BLOCK + self.x.size / BLOCK + 60.0) * UNIT + 16.0 * FUNCTION + 2.0 * UNIT * size * (size + 2.0 * eta)
        off = grown * (slip * (1.0 + size)) + 8.0 * UNIT * away
        first = np.where(near, 0.6, 12.6) * share * away * away + np.where(near, 1.3, 5.3) * away * off
        steep = np.where(near, 1.3, 5.3) * away
        second = grown * (share * steep + 1.65 * off) + steep * off
        return float(weight @ first) * (1.0 + 1e-9), float(weight @ second) * (1.0 + 1e-9)

    def _rounding(self, z: Array, eta: Array, totals: Array, moduli: Array) -> Array:
        """Bounds of the rounding errors of the sums over the means of Y^k (`totals`: those of the moduli)."""
        t, n = self.step.tilt, self.n
        k = self._powers[: n + 1]
        turned = float(eta.max())
        # of tx - t^2/2, over 1 + |x|
        slip = (self.step.tilt_error + 3.0 * UNIT) * t * (1.0 + t)
        constant = (BLOCK + self.x.size / BLOCK + 40.0) * UNIT + 8.0 * FUNCTION + 8.0 * UNIT * (eta * eta + z)
        own: Array = totals * (constant[:, None] + k * (8.0 * UNIT * t * (1.0 + turned)))
        own += moduli @ self._table_error[:, : n + 1]
        spread = moduli @ self._wide_table
        own += spread[:, : n + 1] * (4.0 * UNIT * (1.0 + turned))
        # of e^{-zY}: relative errors of zY, times zY
        grown = np.exp(self._log_mean[1 : n + 2] - self._log_mean[: n + 1])
        own += z[:, None] * (slip + FUNCTION + 6.0 * UNIT) * spread[:, 1 : n + 2] * grown
        return own * (1.0 + 1e-6)

    def _powered(self, sums: ComplexArray, lost: Array, log: ComplexArray, off: Array) -> tuple[ComplexArray, Array]:
        """The power series to the power of T, from sums over the means of Y^k, and their errors.

        `log` is log(a_0 e^z) as computed from the first sum, which errs by `off`.  If every b_k errs by at most d_k, the
        coefficient errs by at most T sum of d_k [x^{n-k}] (1 + sum of (|b_j| + d_j) x^j)^{T-1} (Lemma 41).
        """
        steps, n = self.step.steps, self.n
        size = np.maximum(np.abs(sums), 1e-300)
        own = lost[:, 0] / size[:, 0]
        value: ComplexArray = steps * log
        error = np.where(own < 0.5, steps * -np.log1p(-np.minimum(own, 0.5)), math.inf) + steps * off
        if not n:
            return value, np.expm1(np.minimum(error, 700.0))
        k = np.arange(1.0, n + 1.0)
        log_unit = self._log_mean[1 : n + 1] - np.add.accumulate(np.log(k)) + k * math.log(self._scale / steps)
        unit = np.exp(log_unit)
        unit[0] = self._scale / steps  # the one that counts most, rounded once
        b = sums[:, 1:] * (unit / sums[:, :1])
        parts = self._log_mean[1 : n + 1] + k * (math.log(n) + abs(math.log(self._scale / steps)))
        rounded = 16.0 * UNIT + np.where(k > 1.0, (n + 8.0) * UNIT * parts + 8.0 * FUNCTION, 0.0)
        rounded += self._log_mean[1 : n + 1] * (4.0 * self.step.tilt_error)
        slack = 1.0 / np.maximum(1.0 - own, 0.5)
        wrong = (lost[:, 1:] * unit / size[:, :1] + np.abs(b) * (own[:, None] + rounded)) * (slack * (1.0 + 1e-9))[:, None]
        cover = np.abs(b) + wrong
        powered = power_coefficients(b, steps)[:, n]
        rest = power_coefficients(cover, steps - 1)
        bound = rest[:, n] + np.einsum("ij,ij->i", cover, rest[:, n - 1 :: -1] if n > 1 else rest[:, :1])
        moved = steps * np.einsum("ij,ij->i", wrong, rest[:, n - 1 :: -1] if n > 1 else rest[:, :1])
        relative = (moved + 2.0 * power_rounding(n, steps) * bound) / np.maximum(np.abs(powered), 1e-300) * (1.0 + 1e-6)
        value = value + np.log(powered * unscaled(n))
        error = np.expm1(np.minimum(error, 700.0))
        return value, error + relative * (1.0 + error) + 16.0 * UNIT


def _log_tail(x: Array, h: float) -> Array:
    """log of a bound of the sum of h phi beyond x, and of the normal tail; 0 or more where x is not positive."""
    from scipy.special import log_ndtr

    density = -0.5 * x * x - 0.5 * math.log(2.0 * math.pi) + math.log(h)
    found: Array = np.where(x > 0.0, np.logaddexp(density, log_ndtr(-x)) + math.log(2.0) + 1e-9, math.log(4.0) + math.log1p(h))
    return found
