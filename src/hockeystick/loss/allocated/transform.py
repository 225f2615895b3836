"""M_n(s) = E[L^n e^{-sL}] on a ray, L the likelihood ratio of an allocation (docs/mathematics/allocation.md, Lemmas 41 and 44).

M_n(s) = T^-n n! [x^n] (sum of a_k(s/T) x^k/k!)^T with a_k(z) = E[Y^k e^{-zY}], Y = e^{tX - t^2/2}, by the trapezoidal rule
along X = x + i eta: there |e^{-zY}| is about what it is on average, so that nothing cancels.
"""

import math
from dataclasses import dataclass

import numpy as np

from ...numerics.cancellation_free import BLOCK, Array, ComplexArray
from ...numerics.rounding import FUNCTION, UNIT
from ...numerics.trapezoid import exact_places
from ..protocol import Inconclusive
from .moments import AllocatedStep, power_coefficients, power_rounding, scale_of


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
        need, self._reach = TUNING.log_tolerance + 8.0, TUNING.reach
        for _ in range(5):
            self._place(need, samples / step.steps)
            lost = float(self._quadrature(samples / step.steps).max())
            if lost < -TUNING.log_tolerance + 4.0:
                break
            more = lost + TUNING.log_tolerance + 1.0
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
        self._log_weight = -0.5 * self.x * self.x + (math.log(self.h) - 0.5 * math.log(2.0 * math.pi))
        # Y^k over its mean, so that nothing overflows
        self._log_mean = 0.5 * self._powers * (self._powers - 1.0) * t * t
        exponent = self._powers * self._log_y[:, None] - self._log_mean
        if float(exponent.max()) > 650.0:
            raise Inconclusive
        self._table = np.exp(exponent)
        self._wide_table = self._table * (1.0 + np.abs(self.x))[:, None]

    def _sizes(self, z: Array) -> tuple[Array, Array, Array]:
        """The exponents of the terms; eta; z turned."""
        eta = self._eta(z)
        turned = z * np.exp(1j * (self.angle + self.step.tilt * eta))
        return eta, turned, np.cos(self.angle + self.step.tilt * eta) * z

    def _quadrature(self, z: Array) -> Array:
        """log of the largest error of the rule for a_k(z), k <= n, relative to the sum of its terms' moduli (Lemma 44)."""
        eta, _, real = self._sizes(z)
        moduli = np.exp(np.minimum(self._log_weight - real[:, None] * self._y, 0.0))
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
        terms += self._log_weight
        terms.real += lift[:, None]
        terms.imag += (z * math.sin(self.angle))[:, None] - eta[:, None] * self.x
        terms.real += (0.5 * eta * eta)[:, None]
        np.exp(terms, out=terms)
        moduli = np.abs(terms)
        sums = self._summed(terms.real, n) + 1j * self._summed(terms.imag, n)
        sums *= np.exp(1j * t * (eta[:, None] * self._powers[: n + 1]))
        totals = moduli @ self._table[:, : n + 1]
        spread = moduli @ self._wide_table
        error = self._rounding(z, eta, totals, spread)
        log_total = np.log(np.maximum(totals, 1e-300)) - (0.5 * eta * eta + lift)[:, None]
        rule = np.exp(np.minimum(self._errors(z, eta, log_total), 600.0)) * totals
        return self._powered(sums, error + rule, full - lift)

    def _summed(self, terms: Array, n: int) -> Array:
        """The sums against the powers of Y, block by block, so that the rounding error grows with the block."""
        found = terms[:, :BLOCK] @ self._table[:BLOCK, : n + 1]
        for start in range(BLOCK, self.x.size, BLOCK):
            found += terms[:, start : start + BLOCK] @ self._table[start : start + BLOCK, : n + 1]
        return found

    def _rounding(self, z: Array, eta: Array, totals: Array, spread: Array) -> Array:
        """Bounds of the rounding errors of the sums over the means of Y^k (`totals`: of moduli; `spread`: times 1 + |x|)."""
        t, n = self.step.tilt, self.n
        k = self._powers[: n + 1]
        far = max(abs(float(self.x[0])), abs(float(self.x[-1])))
        # of tx - t^2/2, over 1 + |x|
        slip = (self.step.tilt_error + 3.0 * UNIT) * t * (1.0 + t)
        constant = (BLOCK + self.x.size / BLOCK + 40.0) * UNIT + 8.0 * FUNCTION + 8.0 * UNIT * (eta * eta + z)
        means = self._log_mean[: n + 1] * (4.0 * self.step.tilt_error + 4.0 * UNIT)
        own: Array = totals * (constant[:, None] + means + k * (FUNCTION + 4.0 * UNIT * t * (1.0 + float(eta.max()))))
        own += spread[:, : n + 1] * (k * (2.0 * slip) + UNIT * (far + 4.0 * float(eta.max()) + 2.0))
        # of e^{-zY}: relative errors of zY, times zY
        grown = np.exp(self._log_mean[1 : n + 2] - self._log_mean[: n + 1])
        own += z[:, None] * (slip + FUNCTION + 6.0 * UNIT) * spread[:, 1 : n + 2] * grown
        return own * (1.0 + 1e-6)

    def _powered(self, sums: ComplexArray, lost: Array, more: Array) -> tuple[ComplexArray, Array]:
        """The power series to the power of T, from sums over the means of Y^k, and their errors; each wants a factor e^more."""
        steps, n = self.step.steps, self.n
        size = np.maximum(np.abs(sums), 1e-300)
        if not size[:, 0].min() > 1e-280:  # so far out that a double does not hold a_0
            raise Inconclusive
        first, own = sums[:, 0], lost[:, 0] / size[:, 0]
        log: ComplexArray = np.log(first)
        value: ComplexArray = steps * (log + more)
        error = np.where(own < 0.5, steps * -np.log1p(-np.minimum(own, 0.5)), math.inf)
        error += steps * (FUNCTION * 4.0 + 4.0 * UNIT * (np.abs(log) + more))
        if not n:
            return value, np.expm1(np.minimum(error, 700.0))
        k = np.arange(1.0, n + 1.0)
        log_unit = self._log_mean[1 : n + 1] - np.add.accumulate(np.log(k)) + k * math.log(self._scale / steps)
        unit = np.exp(log_unit)
        b = sums[:, 1:] * (unit / first[:, None])
        # moduli of which every error is at most the same share: those of the b_k, but for ones next to 0
        off = lost[:, 1:] / size[:, 1:]
        share = off[:, 0] + off[:, -1] + own
        cover = np.maximum(np.abs(b), lost[:, 1:] * (unit / (size[:, :1] * share[:, None]))) * (1.0 + 1e-9)
        parts = self._log_mean[1 : n + 1] + k * (math.log(n) + abs(math.log(self._scale / steps)))
        share = 1.01 * (share + own) + UNIT * (16.0 + (n + 8.0) * float(parts.max())) + 12.0 * FUNCTION
        powered = power_coefficients(b, steps)[:, n]
        bound = power_coefficients(cover, steps)[:, n]
        grown = np.expm1(np.minimum(min(n, steps) * share, 600.0)) + power_rounding(n, steps)
        relative = grown * (bound / np.maximum(np.abs(powered), 1e-300)) * (1.0 + 1e-6)
        value = value + np.log(powered) + (math.lgamma(n + 1.0) - n * math.log(self._scale))
        error = np.expm1(np.minimum(error, 700.0))
        return value, error + relative * (1.0 + error) + 16.0 * UNIT * (1.0 + n * math.log(n + 2.0))


class LaplaceBound:
    """Upper bounds of log M_n(s) for real s, from sums of cells of X over which e^{-zY} falls: for what is cut off."""

    def __init__(self, step: AllocatedStep) -> None:
        from ...numerics.normal import log_normal_cells

        self.step = step
        t = step.tilt * (1.0 + 2.0 * step.tilt_error)
        edges = np.arange(-12.0, 12.0, min(0.04, 0.04 / t)) if t < 40.0 else np.array([-12.0])
        log_mass, error = log_normal_cells(edges)
        self._log_mass = log_mass + error
        # at the left end of each cell Y is least
        self._least = np.concatenate(([0.0], np.exp(t * edges - 0.5 * t * t) * (1.0 - 1e-9 * (1.0 + t))))

    def log_above(self, s: Array, n: int) -> Array:
        """log M_n(s) from above: L^n <= (n/(e d))^n e^{dL}."""
        if not n:
            return self._plain(s)
        best = np.full(s.shape, math.inf)
        for share in (0.02, 0.1, 0.3):
            d = share * s
            best = np.minimum(best, n * (math.log(n) - 1.0 - np.log(d)) + self._plain(s - d))
        found: Array = best + 1e-9 * (1.0 + np.abs(best))
        return found

    def _plain(self, s: Array) -> Array:
        count = self.step.steps
        exponent = self._log_mass - (s * (1.0 / count))[:, None] * self._least
        value = count * np.log(np.exp(exponent).sum(axis=1))
        found: Array = np.minimum(value + count * 1e-12 + 1e-9 * np.abs(value), 0.0)
        return found


def _log_tail(x: Array, h: float) -> Array:
    """log of a bound of the sum of h phi beyond x, and of the normal tail; 0 or more where x is not positive."""
    from scipy.special import log_ndtr

    density = -0.5 * x * x - 0.5 * math.log(2.0 * math.pi) + math.log(h)
    found: Array = np.where(x > 0.0, np.logaddexp(density, log_ndtr(-x)) + math.log(2.0) + 1e-9, math.log(4.0) + math.log1p(h))
    return found
