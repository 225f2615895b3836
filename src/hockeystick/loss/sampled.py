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

from ..numerics.cells import Cells
from ..numerics.normal import log_tail_bound
from ..numerics.rounding import FUNCTION, SECOND_ORDER, UNIT, up
from ..numerics.series import Array, ComplexArray, exp_remainder, log1p_complex, power_sums, series_degree
from ..numerics.transform import BINS, exponential_offset, spread_gap, stretched_gap
from .gaussian import gaussian_log_delta

_LOG_ROOT_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_SMALL = 0.5  # |k L| below which a node goes into the power sums
MAX_NOISE_NODES = 40_000


class TooFine(Exception):
    """The noise variable would need more nodes than are worth their cost."""


@dataclass(frozen=True)
class _Shape:
    """L as a function of z."""

    noise: float
    rate: float

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


class Guide:
    """log M and its derivatives at real k to a few digits, from a coarse rule that both orders share."""

    def __init__(self, noise: float, rate: float) -> None:
        self.noise, self.rate = noise, rate
        self._range = (math.inf, -math.inf)

    def _lay(self, k: float) -> None:
        reach = max(abs(k), 1.0)
        step, span = min(0.45, 0.6 * self.noise), 7.0
        shape = _Shape(self.noise, self.rate)
        low, high = -span, shape.right_edge(2.0 * reach, -0.5 * span * span)
        if k < 0.0:
            low = -math.sqrt(span * span - 4.0 * reach * math.log1p(-self.rate))
        if high - low > MAX_NOISE_NODES * step:
            raise TooFine
        z = np.arange(low, high, step)
        self.ratio, _, t = shape.log_ratios(z)
        self.base = (math.log(step) - _LOG_ROOT_TWO_PI) - 0.5 * z * z
        self.square = self.ratio * self.ratio
        weight = np.exp(self.base)
        self.mass = float(weight.sum())
        self.drift = self.rate * (float(np.exp(self.base + t).sum()) - self.mass)  # E x = 0, as this rule has it
        self.variance = float(weight @ self.square)
        self.top = max(float(self.ratio[-1]), -float(self.ratio[0]))
        self._range = (-2.0 * reach, 0.0) if k < 0.0 else (0.0, 2.0 * reach)

    def expand(self, k: float) -> tuple[float, float, float]:
        if not self._range[0] <= k <= self._range[1]:
            self._lay(k)
        if abs(k) * self.top < 1e-5:
            return 0.5 * k * (k - 1.0) * self.variance, (k - 0.5) * self.variance, self.variance
        exponent = k * self.ratio + self.base
        shift = float(exponent.max()) if abs(k) * self.top > 300.0 else 0.0
        weight = np.exp(exponent - shift)
        total, first, second = float(weight.sum()), float(weight @ self.ratio), float(weight @ self.square)
        if shift > 0.0 or total > 2.0:
            value, lean = shift + math.log(total), first / total
        else:
            excess = total - self.mass - k * self.drift
            value = math.log1p(max(excess, -0.999999))
            total = 1.0 + excess
            lean = (first - self.drift) / total
        return value, lean, max(second / total - lean * lean, 1e-300)


@dataclass(frozen=True)
class SampledGaussianLoss:
    """One Poisson-sampled Gaussian step; `noise` is sigma / sensitivity, `removal` the order of the pair."""

    noise: float
    rate: float
    removal: bool
    guide: "Guide"

    nodes_allowed = 1 << 12

    @property
    def shape(self) -> _Shape:
        return _Shape(self.noise, self.rate)

    @property
    def ceiling(self) -> float:
        return math.inf if self.removal else up(-math.log1p(-self.rate), -math.log1p(-self.rate) * FUNCTION)

    def exponent(self, c: float) -> float:
        """The k with phi(c) = M(k)."""
        return 1.0 + c if self.removal else -c

    def expand(self, c: float) -> tuple[float, float, float]:
        sign = 1.0 if self.removal else -1.0
        value, first, second = self.guide.expand(self.exponent(c))
        return value, sign * first, second

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
        self.shape = loss.shape
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
            low, high = -span, self.shape.right_edge(max(k, 1.0), min(0.0, self.level) - lead)
            if self.plain:
                low, high = self._left_edge(lead), self.shape.right_edge(k, self.level - lead)
        else:
            low = -math.sqrt(2.0 * (lead - k * loss.ceiling))
            high = span + 1.0 / noise
        count = int((high - low) / step) + 2
        if count > MAX_NOISE_NODES:
            raise TooFine
        self.z = low + step * np.arange(count)
        self.low, self.high, self.step = low, float(self.z[-1]), step
        self.ratio, self.share, t = self.shape.log_ratios(self.z)
        self.base = (math.log(step) - _LOG_ROOT_TWO_PI) - 0.5 * self.z * self.z
        self.log_weight = log_weight = self.k * self.ratio + self.base
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
            if self.k * self.shape.log_ratio(z) + log_tail_bound(-z) < self.level - lead:
                low = z
            else:
                high = z
        return low

    def _outside(self, k: float, size: float | None = None) -> float:
        """log of a bound of what the nodes beyond both ends would add to e^{kL}; given size, to the excess, |k| <= size."""
        loss = self.loss
        pieces = []
        if k > 0.0:
            pieces.append(0.5 + k * self.shape.log_ratio(self.low) + log_tail_bound(-self.low))
            pieces.append(0.5 + self.shape.right_tail(k, self.high))
        else:
            pieces.append(0.5 - k * loss.ceiling + log_tail_bound(-self.low))
            pieces.append(0.5 + log_tail_bound(self.high))
        if size is not None:  # the terms 1 + k x of the excess
            pieces.append(0.5 + math.log(1.0 + size) + log_tail_bound(-self.low))
            pieces.append(0.5 + math.log(1.0 + size) + self.shape.right_tail(1.0, self.high))
        top = max(pieces)
        return top + math.log(len(pieces)) + 1e-9

    def _quadrature(self, frequency: float) -> float:
        """log of the relative error of the rule for e^{kL} at |Im k| = frequency."""
        exponent = self._growth + self._fold + frequency * self.angle
        return math.log(2.0) + exponent - self._alias - math.log1p(-math.exp(-self._alias)) + 1e-9

    def above(self, points: Array) -> Array:
        k = 1.0 + points if self.loss.removal else -points
        log_weight = k[:, None] * self.ratio + self.base
        top = log_weight.max(axis=1)
        weight = np.exp(log_weight - top[:, None])
        parts = weight @ np.stack((np.ones(self.z.size), self.ratio_error + 2.0 * UNIT * np.abs(self.ratio), self.z**2), axis=1)
        inside = parts[:, 0] * (1.0 + (self.z.size + 60.0) * UNIT) + np.abs(k) * parts[:, 1] + 3.0 * UNIT * parts[:, 2]
        outside = np.array([math.exp(min(700.0, self._outside(float(x)) - float(y))) for x, y in zip(k, top, strict=True)])
        fold = np.minimum(k, 0.0) * math.log(math.cos(0.5 * self.angle))
        rule = np.minimum(self._growth + fold + (math.log(2.0) - self._alias + 1e-9), -1e-3)
        out = top + np.log(inside + outside) - np.log1p(-np.exp(rule)) + 1e-15 * (1.0 + np.abs(top))
        out = np.where(rule < -1.0, out, math.inf)
        return out if self.loss.removal else np.minimum(out, points * (self.loss.ceiling * (1.0 + 4.0 * UNIT)))

    def decay(self, cells: Cells) -> Array:
        """The better of two proofs: the spread of the tilted law near in, its smoothness far out."""
        total = self.total * (1.0 + 1e-9) + math.exp(min(0.0, self._outside(self.k) - self.shift))
        gap = spread_gap(cells, *self._binned(total))
        near = -0.5 * np.log1p(-np.minimum(gap, 1.0 - 1e-15))
        far = -np.log1p(-np.minimum(self._smooth_gap(cells.left), 1.0 - 1e-15))
        return np.maximum(near, far) * (1.0 - 1e-12)

    def _binned(self, total: float) -> tuple[Array, Array, Array, Array]:
        """The tilted law between equally spaced z: lower bounds of masses, L at the ends, bounds of the means of L.

        f, the logarithm of the tilted density, has f' = k r/s - z with r growing and f'' = k L'' - 1, 0 <= L'' <=
        1/(4 s^2).  By Jensen's inequality an interval of width b holds at least b e^{-b^2 |f''|/24} times the
        density at its middle; the mean of z in it lies between those of the exponential laws with the extreme f';
        L being convex, the mean of L lies between the tangent at the middle and the chord there.
        """
        loss, k = self.loss, self.k
        heavy = np.nonzero(self.log_weight > float(self.log_weight.max()) - max(self.drop - 24.0, 12.0))[0]
        points = np.linspace(float(self.z[heavy[0]]), float(self.z[heavy[-1]]), 2 * BINS + 1)
        ratio, share, _ = self.shape.log_ratios(points)
        width = float(points[2] - points[0])
        bend = 1.0 + max(0.0, -k) / (4.0 * loss.noise**2)
        middle, bound = points[1::2], math.log(width) - _LOG_ROOT_TWO_PI - width * width * bend / 24.0 - self.shift
        masses = np.exp(k * ratio[1::2] - 0.5 * middle * middle + bound)
        pull = (k / loss.noise) * share[::2]
        least, most = np.minimum(pull[:-1], pull[1:]) - points[2::2], np.maximum(pull[:-1], pull[1:]) - points[:-2:2]
        edges = ratio[::2]
        low = ratio[1::2] + share[1::2] / loss.noise * exponential_offset(least, width)
        high = 0.5 * (edges[1:] + edges[:-1]) + (edges[1:] - edges[:-1]) / width * exponential_offset(most, width)
        return masses * ((1.0 - 1e-9) / total), edges, low, high

    def _smooth_gap(self, u: Array) -> Array:
        """Integration by parts against a soft cut r/(r + r0) of the flat part of L.

        With h the tilted density of y and L' = r/s^2, h r/((r + r0) L') = s^2 h/(r + r0) has total variation
        E|psi|, psi = [k r - y - r(1-r)/(r+r0)]/(r+r0), so |phi(c+iu)/phi(c)| <= 1 - E[r/(r+r0)] + sqrt(E psi^2)/u.
        """
        cuts = self.loss.rate * np.array([0.25, 4.0, 64.0, 1024.0])
        cuts = cuts[cuts < 4.0]
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
        return np.asarray(stretched_gap(u[None, :], mass[:, None], variation[:, None]).max(axis=0))

    def values(self, step: float, nodes: int) -> tuple[ComplexArray, Array]:
        if step * (nodes - 1) > self.reach:
            self._lay(step * (nodes - 1))
        frequency = step * (nodes - 1)
        size = math.hypot(self.k, frequency)
        rule = np.exp(
            np.minimum(self._quadrature(0.0) + self.angle * step * np.arange(nodes), 0.0)
        )  # relative to M(Re k)
        if self.plain:
            phi = self._transform(0, 0, step, nodes)
            lost = self._transform_error(0, 0, frequency) + self.total * rule
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
        lost = (self.total + 2.0 + 2.0 * size) * rule + lost_small
        lost = lost + math.exp(min(0.0, self._outside(self.k, size)))
        if last - first < self.z.size:
            base, z, t_error = (self._without(x, first, last) for x in (self.base, self.z, self.t_error))
            weight = np.exp(base)
            shifted = np.exp(base + (z - 0.5 / self.loss.noise) / self.loss.noise)
            linear = self.loss.rate * (shifted - weight)  # weight * x
            excess = excess + self._transform(first, last, step, nodes)
            excess = excess - (float(weight.sum()) + k * float(linear.sum()))
            lost = lost + self._transform_error(first, last, frequency)
            both = weight + (size * self.loss.rate) * (shifted + weight)
            lost = lost + float(both @ (UNIT * (z.size + 40.0 + z * z) + t_error))
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
        """sum_j tilted_j e^{i u L_j} over the nodes outside [first, last).

        u = (p R + r) step: exp(i u L) is a product of two small tables, and the sum a matrix product.
        """
        ratio, weight = self._without(self.ratio, first, last), self._without(self.tilted, first, last)
        inner = max(1, math.isqrt(nodes))
        outer = -(-nodes // inner)
        fine = np.exp(1j * (np.arange(inner)[:, None] * (step * ratio)))
        coarse = np.exp(1j * (np.arange(outer)[:, None] * (step * inner * ratio))) * weight
        return (coarse @ fine.T).ravel()[:nodes]

    def _transform_error(self, first: int, last: int, frequency: float) -> float:
        size = abs(self.k) + frequency
        per_node = size * (self.ratio_error + 6.0 * UNIT * np.abs(self.ratio)) + 3.0 * UNIT * self.z * self.z
        count = self.z.size - (last - first)
        lost = self.tilted * (per_node + ((count + 40.0) * UNIT + 3.0 * FUNCTION))
        return float(lost[:first].sum() + lost[last:].sum())

    @staticmethod
    def _without(values: Array, first: int, last: int) -> Array:
        return np.concatenate((values[:first], values[last:])) if last > first else values

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
