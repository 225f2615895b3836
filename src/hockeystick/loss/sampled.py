"""Poisson-sampled Gaussian noise: the loss of (1-q) N(0) + q N(1) against N(0), or of the reverse order.

With noise multiplier s and y = s z normal under N(0), the log ratio is L(z) = log(1 + x), x = q (e^t - 1),
t = z/s - 1/(2 s^2).  Both orders are values of one function, M(k) = E exp(k L(z)) over a standard normal z:

    remove (the mixture is P):  phi(w) = M(1 + w)         add (the mixture is Q):  phi(w) = M(-w)

M is found by the trapezoidal rule in z.  Since E x = 0, M(k) - 1 = E[e^{kL} - 1 - k x]: no cancellation between
nodes, so M - 1 has relative accuracy for tiny q (NUMERICS section 3; SciPy-free).  Every source of error is bounded:

* the rule on the whole line: with z moved to z + i a, a = s * angle, |phi_normal| grows by e^{a^2/2} and
  |arg(1 + x)| <= angle, |1 + x| lies between cos(angle/2) and 1 times its real value, so the error is at most
  2 e^{a^2/2 + |Im k| angle} cos(angle/2)^{min(Re k, 0)} M(Re k) / (e^{2 pi a / step} - 1)   (angle < pi);
* the nodes left out: L is increasing, convex, of slope at most 1/s, so e^{kL} lies below a Gaussian to the right
  of any point and below its value there to the left;
* rounding: a first-order bound, summed along with the nodes.
"""

import math
from dataclasses import dataclass

import numpy as np

from ..numerics.normal import log_tail_bound
from ..numerics.rounding import FUNCTION, SECOND_ORDER, UNIT, up
from ..numerics.series import Array, ComplexArray, exp_remainder, log1p_complex, power_sums, series_degree
from .gaussian import gaussian_log_delta
from .laplace import stretched_gap

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_SMALL = 0.5  # |k L| below which a node goes into the power sums
MAX_NOISE_NODES = 40_000


class TooFine(Exception):
    """The noise variable would need more nodes than are worth their cost."""


@dataclass(frozen=True)
class SampledGaussianLoss:
    """One Poisson-sampled Gaussian step; `noise` is sigma / sensitivity, `removal` the order of the pair."""

    noise: float
    rate: float
    removal: bool

    nodes_allowed = 1 << 12

    @property
    def ceiling(self) -> float:
        return math.inf if self.removal else up(-math.log1p(-self.rate), -math.log1p(-self.rate) * FUNCTION)

    def exponent(self, c: float) -> float:
        """The k with phi(c) = M(k)."""
        return 1.0 + c if self.removal else -c

    def log_ratio(self, z: float) -> float:
        """L(z) for one z."""
        t = (z - 0.5 / self.noise) / self.noise
        if t > 30.0:
            return t + math.log(self.rate) + math.log1p((1.0 - self.rate) / self.rate * math.exp(-t))
        return math.log1p(self.rate * math.expm1(t)) if self.rate < 0.5 else math.log((1.0 - self.rate) + self.rate * math.exp(t))

    def right_tail(self, k: float, z: float) -> float:
        """log of a bound of the integral of e^{kL} over the normal law right of z, for k > 0."""
        shift = k / self.noise
        return k * (self.log_ratio(z) - z / self.noise) + 0.5 * shift * shift + log_tail_bound(z - shift)

    def right_edge(self, k: float, target: float) -> float:
        """A z whose right tail is below e^target, at most about 1 too far."""
        z = max(0.5 / self.noise, math.sqrt(max(2.0, -2.0 * target)))
        excess = self.right_tail(k, z) - target
        while excess > 0.0:
            z += max(0.5, 0.7 * (math.sqrt(z * z + 2.0 * excess) - z))
            excess = self.right_tail(k, z) - target
        return z

    def log_ratios(self, z: Array) -> tuple[Array, Array, Array]:
        """L, the share r = q e^t / (1 + x) of the sampled component, and t."""
        t = (z - 0.5 / self.noise) / self.noise
        capped = np.minimum(t, 600.0)
        grown = self.rate * np.exp(capped)
        total = (1.0 - self.rate) + grown
        excess = self.rate * np.expm1(capped)
        ratio = np.log1p(excess)
        if excess[0] < -0.5:
            ratio = np.where(excess < -0.5, np.log(total), ratio)
        if t[-1] > 600.0:
            ratio = np.where(t > 600.0, t + math.log(self.rate), ratio)
        return ratio, grown / total, t

    def expand(self, c: float) -> tuple[float, float, float]:
        k = self.exponent(c)
        span, step = 7.0, min(0.45, 0.6 * self.noise)
        if k > 0.0:
            low, high = -span, self.right_edge(max(k, 1.0), -0.5 * span * span)
        else:
            low, high = -math.sqrt(span * span + 2.0 * min(-k * self.ceiling, 1e6)), span + 1.0 / self.noise
        if high - low > MAX_NOISE_NODES * step:
            raise TooFine
        z = np.arange(low, high, step)
        ratio, _, _ = self.log_ratios(z)
        base = -0.5 * z * z + (math.log(step) - _LOG_ROOT_TWO_PI)
        sign = 1.0 if self.removal else -1.0
        log_weight = base + k * ratio
        top = float(log_weight.max())
        if top > 2.0 or float(ratio[-1]) > 300.0:
            weight = np.exp(log_weight - top)
            total = float(weight.sum())
            first = float(weight @ ratio) / total
            second = float(weight @ (ratio * ratio)) / total
            return top + math.log(total), sign * first, max(second - first * first, 1e-300)
        weight = np.exp(base)
        bent = exp_remainder(ratio)
        scaled = k * ratio
        excess = float(weight @ (exp_remainder(scaled) - k * bent))
        tilted = weight * ratio
        growth = np.expm1(scaled)
        total = 1.0 + excess
        first = float(tilted @ growth - weight @ bent) / total
        second = float((tilted * ratio) @ (1.0 + growth)) / total
        return math.log1p(max(excess, -0.999999)), sign * first, max(second - first * first, 1e-300)

    def mean(self) -> tuple[float, float]:
        return SampledGaussianSlice(self, 0.0, 0.0, 45.0 - 2.0 * math.log(self.rate)).mean()

    def slice(self, c: float, reach: float, drop: float) -> "SampledGaussianSlice":
        return SampledGaussianSlice(self, c, reach, drop)

    def step_log_delta(self, epsilon: float) -> tuple[float, float] | None:
        """One step in closed form (Zhu, Dong and Wang 2022, Proposition 30; Li, Qardaji and Su 2012).

        remove: q delta_mu(log((e^eps - 1 + q)/q)) if e^eps > 1 - q, else 1 - e^eps;
        add:    (1 - (1-q) e^eps) delta_mu(log(q e^eps / (1 - (1-q) e^eps))) if that weight is positive, else 0.
        """
        q, mu = self.rate, 1.0 / self.noise
        if epsilon > 650.0:
            if not self.removal:
                return -math.inf, 0.0
            inner, outer, inner_error, outer_error = epsilon - math.log(q), math.log(q), 0.0, 0.0
        elif self.removal:
            ratio = math.expm1(epsilon) / q
            if ratio <= -1.0:
                return _log1m_exp(epsilon)
            inner, outer = math.log1p(ratio), math.log(q)
            inner_error = abs(ratio / (1.0 + ratio)) * (FUNCTION + 2.0 * UNIT)
            outer_error = FUNCTION * abs(outer)
        else:
            excess = math.expm1(epsilon)
            weight = q - (1.0 - q) * excess  # 1 - (1-q) e^eps
            lost = (q + abs(excess)) * (FUNCTION + 4.0 * UNIT)
            if weight <= -lost:
                return -math.inf, 0.0
            if weight <= 4.0 * lost:
                return None
            inner = epsilon + math.log(q / weight)
            outer = math.log(weight)
            outer_error = inner_error = lost / weight * 1.4 + FUNCTION * (1.0 + abs(outer))
        inner_error += (FUNCTION + 4.0 * UNIT) * (1.0 + abs(inner) + abs(epsilon))
        value, error, slope = gaussian_log_delta(mu, inner)
        if math.isinf(value):
            return None
        nearby = gaussian_log_delta(mu, inner + inner_error)[2]  # log delta is concave: the steepest slope at hand
        error += inner_error * max(abs(slope), abs(nearby)) * SECOND_ORDER + outer_error
        total = value + outer
        return total, error + 4.0 * UNIT * (abs(value) + abs(outer)) + FUNCTION * abs(outer)


def _log1m_exp(epsilon: float) -> tuple[float, float]:
    """log(1 - e^epsilon) for epsilon < 0, and a bound of its error."""
    value = math.log(-math.expm1(epsilon))
    return value, 2.0 * FUNCTION + UNIT * abs(value)


class SampledGaussianSlice:
    """Nodes in the noise variable for one real part of the exponent."""

    def __init__(self, loss: SampledGaussianLoss, c: float, reach: float, drop: float) -> None:
        self.loss, self.c, self.drop = loss, c, drop
        self.k = loss.exponent(c)
        self.level = loss.expand(c)[0]
        self._lay(reach)

    def _lay(self, reach: float) -> None:
        loss, k, noise = self.loss, self.k, self.loss.noise
        self.reach = reach
        lead = self.drop + math.log(2.0 + abs(k) + reach)
        if k > 0.0:
            self.angle = min(math.sqrt(2.0 * lead) / noise, 3.0)
            self._fold = 0.0
        else:
            self.angle = min(math.sqrt(2.0 * lead / (noise * noise - 0.25 * k)), 2.5)
            self._fold = k * math.log(math.cos(0.5 * self.angle))
        a = self.angle * noise
        self._growth = 0.5 * a * a
        step = 2.0 * math.pi * a / (lead + self._growth + self._fold + reach * self.angle)
        self._alias = 2.0 * math.pi * a / step
        self.plain = self.level > 1.0
        span = math.sqrt(2.0 * lead)
        if k > 0.0:
            low, high = -span, loss.right_edge(max(k, 1.0), min(0.0, self.level) - lead)
            if self.plain:
                low, high = self._left_edge(lead), loss.right_edge(k, self.level - lead)
        else:
            low = -math.sqrt(2.0 * (lead - k * loss.ceiling))
            high = span + 1.0 / noise
        count = int((high - low) / step) + 2
        if count > MAX_NOISE_NODES:
            raise TooFine
        self.z = low + step * np.arange(count)
        self.low, self.high, self.step = low, float(self.z[-1]), step
        self.ratio, self.share, t = loss.log_ratios(self.z)
        self.base = (math.log(step) - _LOG_ROOT_TWO_PI) - 0.5 * self.z * self.z
        log_weight = self.k * self.ratio + self.base
        self.shift = float(log_weight.max()) if self.plain else 0.0
        self.tilted = np.exp(log_weight - self.shift)
        self.total = float(self.tilted.sum())  # M(k) e^{-shift}, to a few digits more than needed below
        self.t_error = 3.0 * UNIT * (np.abs(self.z) / noise + 0.5 / (noise * noise))
        self.ratio_error = self.share * self.t_error + (FUNCTION + 4.0 * UNIT) * np.abs(self.ratio)
        if t[-1] > 600.0:
            self.ratio_error = self.ratio_error + 4.0 * UNIT * np.abs(t)

    def _left_edge(self, lead: float) -> float:
        """A z left of which k L + log P(N < z) is below level - lead (both grow with z)."""
        low, high = -math.sqrt(2.0 * lead), self.k / self.loss.noise
        while high - low > 0.5:
            z = 0.5 * (low + high)
            if self.k * self.loss.log_ratio(z) + log_tail_bound(-z) < self.level - lead:
                low = z
            else:
                high = z
        return low

    def _outside(self, k: float, size: float | None = None) -> float:
        """log of a bound of what the nodes beyond both ends would add to e^{kL}; given size, to the excess, |k| <= size."""
        loss = self.loss
        pieces = []
        if k > 0.0:
            pieces.append(0.5 + k * loss.log_ratio(self.low) + log_tail_bound(-self.low))
            pieces.append(0.5 + loss.right_tail(k, self.high))
        else:
            pieces.append(0.5 - k * loss.ceiling + log_tail_bound(-self.low))
            pieces.append(0.5 + log_tail_bound(self.high))
        if size is not None:  # the terms 1 + k x of the excess
            pieces.append(0.5 + math.log(1.0 + size) + log_tail_bound(-self.low))
            pieces.append(0.5 + math.log(1.0 + size) + loss.right_tail(1.0, self.high))
        top = max(pieces)
        return top + math.log(len(pieces)) + 1e-9

    def _quadrature(self, frequency: float) -> float:
        """log of the relative error of the rule for e^{kL} at |Im k| = frequency."""
        exponent = self._growth + self._fold + frequency * self.angle
        return math.log(2.0) + exponent - self._alias - math.log1p(-math.exp(-self._alias)) + 1e-9

    def above(self, points: Array) -> Array:
        out = np.empty(points.shape)
        rounding = (self.z.size + 60.0) * UNIT
        for i, c in enumerate(points):
            k = self.loss.exponent(float(c))
            log_weight = k * self.ratio + self.base
            top = float(log_weight.max())
            weight = np.exp(log_weight - top)
            spread = float(weight @ (abs(k) * self.ratio_error + UNIT * (2.0 * np.abs(log_weight) + self.z * self.z)))
            fold = 0.0 if k > 0.0 else k * math.log(math.cos(0.5 * self.angle))
            rule = self._growth + fold + math.log(2.0) - self._alias + 1e-9
            if rule > -1.0:
                out[i] = math.inf
                continue
            inside = float(weight.sum()) * (1.0 + rounding) + spread
            outside = math.exp(min(700.0, self._outside(k) - top))
            out[i] = top + math.log(inside + outside) - math.log1p(-math.exp(rule)) + 1e-15 * (1.0 + abs(top))
        if self.loss.removal is False:
            out = np.minimum(out, points * self.loss.ceiling * (1.0 + 4.0 * UNIT))
        return out

    def decay(self, left: Array, right: Array) -> Array:
        """Integration by parts against a soft cut r/(r + r0) of the flat part of L (see `docs/mathematics`).

        With h the tilted density of y and L' = r/s^2, h r/((r + r0) L') = s^2 h/(r + r0) has total variation
        E|psi|, psi = [k r - y - r(1-r)/(r+r0)]/(r+r0), so |phi(c+iu)/phi(c)| <= 1 - E[r/(r+r0)] + sqrt(E psi^2)/u.
        """
        cuts = self.loss.rate * np.array([0.0625, 0.5, 4.0, 32.0, 256.0, 2048.0, 16384.0])
        cuts = cuts[cuts < 2.0]
        share = self.share[None, :]
        inverse = 1.0 / (share + cuts[:, None])
        kept = share * inverse
        slope = (self.k * share - self.loss.noise * self.z[None, :] - kept * (1.0 - share)) * inverse
        mass = kept @ self.tilted / self.total
        variation = (slope * slope) @ self.tilted / self.total
        # the rule's own error on these integrals: on the strip of half-angle pi/2, |r/(r+r0)| <= 1 and
        # |psi| <= (|k| + |y| + a + 1)/r0
        half = min(self.angle, 0.5 * math.pi)
        a = half * self.loss.noise
        fold = 0.0 if self.k > 0.0 else self.k * math.log(math.cos(0.5 * half))
        rule = math.exp(min(0.0, math.log(4.0) + 0.5 * a * a + fold - self._alias * half / self.angle))
        rule += math.exp(min(0.0, self._outside(self.k) - self.shift - math.log(self.total)))
        rule += 1e-12
        reach = abs(self.k) + 1.0 + a + 2.0 * self.loss.noise * max(abs(self.low), abs(self.high))
        mass = np.maximum(mass * (1.0 - rule) - rule, 0.0)
        variation = np.sqrt(variation * (1.0 + rule) + rule * (reach / cuts) ** 2)
        gap = stretched_gap(left[None, :], mass[:, None], variation[:, None]).max(axis=0)
        return -np.log1p(-np.minimum(gap, 1.0 - 1e-15)) * (1.0 - 1e-12)

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        if step * (nodes - 1) > self.reach:
            self._lay(step * (nodes - 1))
        frequency = step * (nodes - 1)
        size = math.hypot(self.k, frequency)
        rule = np.exp(
            np.minimum(self._quadrature(0.0) + self.angle * step * np.arange(nodes), 0.0)
        )  # relative to M(Re k)
        if self.plain:
            phi = self._transform(0, self.z.size, step, nodes)
            lost = self._transform_error(slice(None), frequency) + self.total * rule
            lost = lost + math.exp(min(0.0, self._outside(self.k) - self.shift))
            magnitude = np.maximum(np.abs(phi), 1e-290)
            value = np.log(magnitude) + 1j * np.angle(phi)
            value.real += self.shift
            return self._oriented(value), lost / magnitude * SECOND_ORDER + 2.0 * UNIT * abs(self.shift)
        # |k L| small: M - 1 - ... is k (k - 1) times a polynomial in k; the rest by its transform
        bound = _SMALL / size
        first, last = (int(i) for i in np.searchsorted(self.ratio, (-bound, bound)))
        k = np.empty(nodes, dtype=np.complex128)
        k.real = self.k
        k.imag = step * np.arange(nodes)
        excess, lost_small = self._power_part(first, last, k, size)
        far = np.r_[0:first, last : self.z.size]
        lost = (self.total + 2.0 + 2.0 * size) * rule + lost_small
        lost = lost + math.exp(min(0.0, self._outside(self.k, size)))
        if far.size:
            z = self.z[far]
            weight = np.exp(self.base[far])
            shifted = np.exp(self.base[far] + (z - 0.5 / self.loss.noise) / self.loss.noise)
            linear = self.loss.rate * (shifted - weight)  # weight * x
            excess = excess + self._transform(first, last, step, nodes)
            excess = excess - (float(weight.sum()) + k * float(linear.sum()))
            lost = lost + self._transform_error(far, frequency)
            both = weight + (size * self.loss.rate) * (shifted + weight)
            lost = lost + float(both @ (UNIT * (far.size + 40.0 + z * z) + self.t_error[far]))
        value = log1p_complex(excess)
        magnitude = np.maximum(np.abs(1.0 + excess), 1e-290)
        return self._oriented(value), (lost + 8.0 * UNIT * np.abs(excess)) / magnitude * SECOND_ORDER

    def _oriented(self, value: ComplexArray) -> ComplexArray:
        return value if self.loss.removal else np.conj(value)

    def _power_part(self, first: int, last: int, k: ComplexArray, size: float) -> tuple[ComplexArray, Array]:
        ratio, weight = self.ratio[first:last], np.exp(self.base[first:last])
        if first == last:
            return np.zeros(k.shape, dtype=np.complex128), np.zeros(k.shape)
        widest = size * max(abs(float(ratio[0])), abs(float(ratio[-1])))
        degree, remainder = series_degree(max(widest, 1e-300))
        sums = power_sums(ratio, weight, degree)
        # sum_m sums_m (k^m - k) = k (k-1) sum_i tail_i k^i with tail_i = sum of sums_m over m >= i + 2
        tails = np.cumsum(sums[::-1])[::-1]
        powers = np.empty((degree - 1, k.size), dtype=np.complex128)
        powers[:] = k
        powers[0] = 1.0
        factor = k * (k - 1.0)
        value = factor * (tails @ np.multiply.accumulate(powers, axis=0))
        reach = np.abs(factor)
        square = float(weight @ (ratio * ratio))
        spread = float(weight @ (np.abs(ratio) * self.ratio_error[first:last]))
        spread += UNIT * float((weight * ratio * ratio) @ (self.z[first:last] ** 2))
        rounding = (last - first + 4.0 * degree + 30.0) * UNIT + remainder
        # |sum| <= e^{1/2}/2 square |k (k-1)|, and its derivative in L is at most e^{1/2} |L| |k (k-1)|
        return value, reach * (0.83 * square * rounding + 1.66 * spread)

    def _transform(self, first: int, last: int, step: float, nodes: int) -> ComplexArray:
        """sum_j tilted_j e^{i u L_j} over the nodes outside [first, last), or over all of them if plain.

        u = (p R + r) step: exp(i u L) is a product of two small tables, and the sum a matrix product.
        """
        if self.plain:
            ratio, weight = self.ratio, self.tilted
        else:
            ratio = np.concatenate((self.ratio[:first], self.ratio[last:]))
            weight = np.concatenate((self.tilted[:first], self.tilted[last:]))
        inner = max(1, math.isqrt(nodes))
        outer = -(-nodes // inner)
        fine = np.exp(1j * (np.arange(inner)[:, None] * (step * ratio)))
        coarse = np.exp(1j * (np.arange(outer)[:, None] * (step * inner * ratio))) * weight
        return (coarse @ fine.T).ravel()[:nodes]

    def _transform_error(self, nodes: "slice | Array", frequency: float) -> float:
        weight, z = self.tilted[nodes], self.z[nodes]
        size = abs(self.k) + frequency
        per_node = size * (self.ratio_error[nodes] + 6.0 * UNIT * np.abs(self.ratio[nodes])) + 3.0 * UNIT * z * z
        return float(weight @ (per_node + ((weight.size + 40.0) * UNIT + 3.0 * FUNCTION)))

    def mean(self) -> tuple[float, float]:
        """E Z: E[L e^L - x] if the mixture is P, else E[x - L]; both integrands are non-negative."""
        bent = exp_remainder(self.ratio)  # x - L
        weight = np.exp(self.base)
        density = weight * bent
        if self.loss.removal:
            density = weight * (self.ratio * np.expm1(self.ratio) - bent)
        value = float(density.sum())
        rounding = float(np.exp(self.base + np.maximum(self.ratio, 0.0)) @ (self.ratio_error * np.abs(self.ratio)))
        rounding += value * (self.z.size + 80.0) * UNIT
        rule = math.exp(self._quadrature(0.0)) + math.exp(self._outside(max(self.k, 1.0), 2.0))
        return value, 4.0 * rounding + rule * (10.0 + abs(self.high) / self.loss.noise)
