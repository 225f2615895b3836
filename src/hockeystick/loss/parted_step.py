"""A Poisson-sampled Gaussian step in the order "remove", each outcome marked by chance as small, middle or large.

With x = e^L - 1 = q (e^t - 1) and g the normal distribution function, an outcome is large with probability
nu = g((x - high)/high_width), and not small with probability kappa, the same of `low` < `high`.  Of e^{kL}, k = 1 + w,

    what is not large:  phi = E (1 - nu) e^{kL} = 1 - E nu - k E nu x + E (1 - nu) (e^{kL} - 1 - k x)     (E x = 0),
    what is middle:     mid = E (kappa - nu) e^{kL},
    what is small:      phi - mid

are found on the real axis from above, from cells of z on each of which every factor is bounded at an end; and along a vertical
line by the trapezoidal rule, whose error is bounded off the real line (docs/mathematics.md, section 7a).
"""

import math
from typing import NamedTuple

import numpy as np

from ..numerics.cells import Cells
from ..numerics.fourier import added_terms, fourier_sums
from ..numerics.normal import log_tail_bound
from ..numerics.rounding import FUNCTION, LOG_NDTR, UNIT
from ..numerics.series import Array, ComplexArray
from ..numerics.transform import spread_gap
from .noise import LOG_ROOT_TWO_PI, Nodes, Shape, TooFine, power_tails

_LOW = -11.5  # where the noise begins
_SLACK = 1e-9  # relative, of bounds by cells: far more than their rounding
_JOINED, _BROAD = 8, 4  # cells that make one in the proof of decay, and in that of the rule
_TURNS = np.array([0.08, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.74])[:, None]  # angles of the lines
_LEVELS = 0.74 * 0.8 ** np.arange(32.0)[:, None]
_WORK = 4e7
_CHUNK = 128


class Marks(NamedTuple):
    """The x from which an outcome counts as not small (0: none is small), and as large; how wide the transitions are."""

    low: float
    high: float
    low_width: float
    high_width: float


class Parts(NamedTuple):
    """phi - 1 and mid along a line, and bounds of their errors."""

    excess: ComplexArray
    mid: ComplexArray | None
    excess_error: Array
    mid_error: Array | None


def place(shape: Shape, x: float) -> float:
    """The z of an x."""
    return shape.noise * math.log1p(x / shape.rate) + 0.5 / shape.noise


def _log_g(y: Array) -> Array:
    from scipy.special import log_ndtr

    found: Array = log_ndtr(y)
    return found


class PartedStep:
    """One step with its marks, for real exponents up to `most`."""

    def __init__(self, shape: Shape, marks: Marks, most: float) -> None:
        self.shape, self.marks, self.parted = shape, marks, marks.low > 0.0
        noise, rate = shape.noise, shape.rate
        # (1 - nu) e^{kL} falls from `end` on, since the hazard of g is at least its argument
        end = marks.high + 60.0 * marks.high_width + 1.5 * most * marks.high_width**2 / (1.0 + marks.high)
        self.end = place(shape, end)
        start = place(shape, marks.high) - 1.0 / noise
        far = 1.0 / noise + math.hypot(max(start, 0.0), 13.0)  # beyond it P has e^-80 of what is large
        last = max(self.end, far)
        if not (last / noise < 300.0 and last - _LOW < 300.0 * min(noise, 1.0)):
            raise TooFine
        count = int((last - _LOW) / (0.025 * min(noise, 1.0)) / _JOINED + 2) * _JOINED
        self.edges = np.linspace(_LOW, last, count + 1)
        self.width = float(self.edges[1] - self.edges[0])
        self.ratio, self.share = shape.ratios(self.edges)
        self.x = np.expm1(self.ratio)
        self.floor = math.log1p(-rate)
        self.kept = min(int(np.searchsorted(self.edges, self.end)) + 1, count)  # the cells before `end`
        inner = self.edges[:-1], self.edges[1:]
        self.near = np.where(inner[0] > 0.0, inner[0], np.minimum(inner[1], 0.0))
        self.far = np.maximum(np.abs(inner[0]), np.abs(inner[1]))
        self.log_mass = -0.5 * self.near * self.near + (math.log(self.width) - LOG_ROOT_TWO_PI + _SLACK)  # at least
        y = (self.x - marks.high) / marks.high_width
        self.log_kept = _log_g(-y)
        self.not_large, self.large = np.exp(self.log_kept), np.exp(_log_g(y))
        if self.parted:
            y = (self.x - marks.low) / marks.low_width
            self.log_not_small = _log_g(y)
        self.left = math.exp(log_tail_bound(-_LOW))
        self.q, self.drift, self.error = self._marked_large()

    # real exponents, by cells

    def above(self, k: float) -> float:
        """An upper bound of phi - 1 at a real k >= 1: e^{kL} - 1 - k x is convex in L, 0 at L = 0."""
        inside = self._bent_above(k, self.kept, self.log_kept)
        left = self.left * (1.0 + k * self.shape.rate)
        q, drift = self.q * (1.0 - self.error), self.drift * (1.0 - self.error)
        return (inside + left) * (1.0 + _SLACK) + self._beyond(k) - q - k * drift * (1.0 - _SLACK)

    def _bent_above(self, k: float, stop: int, log_weight: Array) -> float:
        """An upper bound of the integral of e^{kL} - 1 - k x, times a weight that falls, over the first cells; |k| >= 1 or k < 0."""
        y, x = k * self.ratio[: stop + 1], self.x[: stop + 1]
        weight = self.log_mass[:stop] + log_weight[:stop]
        large = np.maximum(y[:-1], y[1:])
        with np.errstate(over="ignore"):
            grown = np.exp(large + weight)  # all of it, where that is large: the rest is not positive
            value = np.expm1(np.minimum(y, 10.0)) - k * x
            value += 4.0 * FUNCTION * (np.abs(value) + abs(k) * np.abs(x))
        value = np.where(np.abs(y) < 1e-3, 0.5 * k * (k - 1.0) * self.ratio[: stop + 1] ** 2 * (1.0 + 1e-3), value)
        each = np.where(large > 9.0, grown, np.maximum(value[:-1], value[1:]) * np.exp(weight))
        return float(each.sum())

    def _beyond(self, k: float) -> float:
        """A bound of E[(1 - nu) e^{kL}; z > end]: it falls there if k is at most the hazard of g over its width."""
        x = float(self.x[self.kept])
        if not k * self.marks.high_width**2 < (x - self.marks.high) * (1.0 + x):
            return math.inf
        log = math.log(float(self.not_large[self.kept]) + 1e-300) + k * float(self.ratio[self.kept])
        return math.exp(min(log + log_tail_bound(float(self.edges[self.kept])), 700.0)) * (1.0 + _SLACK)

    def reverse_above(self, k: float) -> float:
        """An upper bound of E e^{-kL} - 1, k > 0."""
        inside = self._bent_above(-k, self.edges.size - 1, np.zeros(self.edges.size))
        left = self.left * (math.exp(min(-k * self.floor, 700.0)) + k * self.shape.rate)
        return (inside + left + k * math.exp(self.shape.right_tail(1.0, float(self.edges[-1])))) * (1.0 + _SLACK)

    def mid_above(self, k: float) -> float:
        """An upper bound of mid at a real k >= 1."""
        part = slice(0, self.kept)
        with np.errstate(over="ignore"):
            share = np.minimum(self.log_not_small[1:][part], self.log_kept[part])
            most = np.exp(k * self.ratio[1:][part] + self.log_mass[part] + share)
        left = self.left * math.exp(float(self.log_not_small[0]))
        return (float(most.sum()) + left) * (1.0 + _SLACK) + self._beyond(k)

    def large_above(self, k: float, pivot: float) -> tuple[Array, Array]:
        """Upper bounds of E[nu; z < edge] and E[nu e^{-k(L - pivot)}; z > edge] for every edge, k > 0."""
        mass = np.exp(self.log_mass) * self.large[1:]
        lift = k * (pivot - self.ratio)
        right = math.exp(log_tail_bound(float(self.edges[-1])) + float(lift[-1]))
        with np.errstate(over="ignore", invalid="ignore"):
            heavy = np.append(np.where(mass > 0.0, mass * np.exp(lift[:-1]), 1e-300), right)
        light = np.insert(mass, 0, self.left * float(self.large[0]))
        slack = 1.0 + 2.0 * _SLACK
        return np.add.accumulate(light) * slack, np.add.accumulate(heavy[::-1])[::-1] * slack

    def fall(self, k: float, phi: float, cells: Cells) -> Array:
        """Lower bounds of -log |phi(k + iu)/phi(k)| on cells of u, by the spread of the tilted law; phi is at least phi(k)."""
        last = -(-self.kept // _JOINED) * _JOINED + 1
        edges, ratio = self.edges[:last:_JOINED], self.ratio[:last:_JOINED]
        far = np.maximum(np.abs(edges[:-1]), np.abs(edges[1:]))
        log_mass = -0.5 * far * far + (math.log(_JOINED * self.width) - LOG_ROOT_TWO_PI - _SLACK)
        masses = np.exp(log_mass + k * ratio[:-1]) * self.not_large[:last:_JOINED][1:] * (1.0 / phi)
        gap = spread_gap(cells, masses[None, :], ratio[None, :], ratio[None, :-1], ratio[None, 1:]) * (1.0 - _SLACK)
        found: Array = -0.5 * np.log1p(-np.minimum(gap, 1.0 - 1e-15))
        return found

    # off the real line

    def far_off(self, k: float, u: Array) -> Array:
        """Bounds of log |mid(k + iu)| (of |phi| if none is small), u > 0: the line of integration moved up, |e^{iuL}| <= e^{-u arg}."""
        part, log_mass = self._broad(self.kept)
        share = self.share[part][:-1]
        arg = np.arctan2(share * np.sin(_TURNS), 1.0 - share * (1.0 - np.cos(_TURNS)))
        heights = self.shape.noise * _TURNS
        log_f = self._lifted(_TURNS, self.kept)[1] + k * self.ratio[part][1:] + log_mass + 0.5 * heights * heights
        found = np.full(u.size, math.inf)
        for row in range(_TURNS.size):
            live = log_f[row] > log_f[row].max() - 120.0
            exponent = log_f[row][live][:, None] - np.multiply.outer(arg[row][live], u)
            top = exponent.max(axis=0)
            inside = top + np.log(np.exp(exponent - top).sum(axis=0))
            rest = log_f[row][~live]
            if rest.size:
                dim = float(rest.max()) + math.log(rest.size) - float(arg[row][~live].min()) * u
                inside = np.logaddexp(inside, dim)
            found = np.minimum(found, inside)
        edge = math.log(self.left) + (self._log_left(self.marks.low, self.marks.low_width) if self.parted else 1.0)
        return np.logaddexp(found, math.log(math.exp(edge) + self._beyond(k) + 1e-300)) + _SLACK

    def _log_left(self, high: float, width: float, x: float = 0.0) -> float:
        """log of a bound of the mark at x <= high and to the left of it."""
        return log_tail_bound((high - x) / width) + _SLACK

    def _broad(self, stop: int) -> tuple[slice, Array]:
        """Fewer, broader cells: their edges, and bounds of log of their normal masses."""
        last = -(-stop // _BROAD) * _BROAD
        log_mass: Array = self.log_mass[:last].reshape(-1, _BROAD).max(axis=1) + math.log(_BROAD)
        return slice(0, last + 1, _BROAD), log_mass

    def _lifted(self, turns: Array, stop: int) -> tuple[Array, Array, Array]:
        """log of bounds of |1 - nu|, |kappa - nu| and |nu| on the broad cells, on the lines z + i noise turn.

        There (x - X)/W = a + ib with a = ((x + q) cos - q - X)/W, b = (x + q) sin/W, and |g(a + ib)| <= g(a) + b e^{b^2/2} g'(a).
        """
        part, _ = self._broad(stop)
        grown = self.x[part] + self.shape.rate
        cosine, sine = np.cos(turns), np.sin(turns)

        def bounds(high: float, width: float) -> tuple[Array, Array]:
            """Of 1 - g, and of g."""
            scale = 1.0 / width
            a = (grown * cosine - (self.shape.rate + high)) * scale
            b = grown[1:] * sine * scale
            near = np.where(a[:, :-1] > 0.0, a[:, :-1], np.minimum(a[:, 1:], 0.0))
            bulge = np.log(b) + 0.5 * (b - near) * (b + near) - LOG_ROOT_TWO_PI
            below: Array = np.logaddexp(_log_g(-a[:, :-1]), bulge)
            above: Array = np.logaddexp(_log_g(a[:, 1:]), bulge)
            return below, above

        rest, large = bounds(self.marks.high, self.marks.high_width)
        if not self.parted:
            return rest, rest, large
        small, not_small = bounds(self.marks.low, self.marks.low_width)
        return rest, np.minimum(np.logaddexp(not_small, large), np.logaddexp(small, rest)), large

    def _rule(self, log_modulus: Array, log_goal: float, beyond: float) -> tuple[float, float]:
        """About the longest step at which the rule errs by at most e^log_goal, and a bound of its error.

        `log_modulus` bounds log of the integrand without the normal density, on each line and broad cell; `beyond` bounds log of
        its integral right of the cells on the lowest line.  The rule errs by at most the integral of the modulus over
        1/(e^{2 pi a/step} - 1) along any two paths z + ia and z - ia, a > 0 depending on z: each cell takes its best a (the last
        one the lowest) or a lower one, and at an edge between two heights the path goes straight up or down.
        """
        edges = self.edges[::_BROAD][: log_modulus.shape[1] + 1]
        width = float(edges[1] - edges[0])
        near = np.where(edges[:-1] > 0.0, edges[:-1], np.minimum(edges[1:], 0.0))
        heights = self.shape.noise * _LEVELS
        log_f = log_modulus + (0.5 * heights * heights - 0.5 * near * near - LOG_ROOT_TWO_PI)
        cells = np.arange(near.size)

        def error(step: float) -> float:
            rise = 2.0 * math.pi / step * heights
            kernel = rise + np.log(-np.expm1(-rise))
            best = (log_f - kernel).argmin(axis=0)
            best[-1] = heights.size - 1
            # by no more than two heights from cell to cell, the lower the better
            best = np.maximum.accumulate(best + 2 * cells) - 2 * cells
            best = (np.maximum.accumulate(best[::-1] + 2 * cells) - 2 * cells)[::-1]
            along = np.exp(np.minimum(log_f[best, cells] - kernel[best, 0], 700.0))
            down, over = np.maximum(best[:-1], best[1:]), np.minimum(best[:-1], best[1:])  # heights fall with their number
            upright = np.minimum(log_f[over, cells[:-1]], log_f[over, cells[1:]]) - kernel[down, 0]
            steps = float(np.exp(np.minimum(upright, 700.0)) @ (heights[over, 0] - heights[down, 0]))
            # left of the cells the density falls (its integral is below its value at the edge) and nothing else grows
            right = math.exp(min(beyond + 0.5 * float(heights[-1, 0]) ** 2 - float(kernel[-1, 0]), 700.0))
            return 2.0 * (float(along.sum()) * width + float(along[0]) + steps + right) * (1.0 + _SLACK)

        low, high = math.log(self.shape.noise * 1e-5), math.log(self.shape.noise)
        if not error(math.exp(low)) < math.exp(log_goal):
            raise TooFine
        while high - low > 0.03:
            middle = 0.5 * (low + high)
            if error(math.exp(middle)) < math.exp(log_goal):
                low = middle
            else:
                high = middle
        return math.exp(low), error(math.exp(low))

    def _marked_large(self) -> tuple[float, float, float]:
        """E nu and E nu x, and a bound of the relative error of both; nu (1 + x) bounds either."""
        part, _ = self._broad(self.edges.size - 1)
        guess = math.log(float(np.exp(self.log_mass) @ self.large[:-1]) + 1e-300)
        if guess < -650.0:
            raise TooFine
        modulus = self._lifted(_LEVELS, self.edges.size - 1)[2] + np.log(2.0 * self.shape.rate + 1.0 + self.x[part][1:])
        right = self.shape.right_tail(1.0, float(self.edges[-1])) + math.log(4.0)
        spacing, rule = self._rule(modulus, guess - 38.0, right)
        count = int((float(self.edges[-1]) - _LOW) / spacing) + 2
        if count > _WORK / 64.0:
            raise TooFine
        grid = Nodes(self.shape, _LOW + spacing * np.arange(count), spacing)
        slip = grid.ratio_errors()[0]
        x = np.expm1(grid.ratio)
        mark, off = _marked(x, slip, self.marks.high, self.marks.high_width)
        weight = np.exp(grid.base)
        q, drift = math.fsum((weight * mark).tolist()), math.fsum((weight * mark * x).tolist())
        relative = (3.0 * UNIT) * grid.z * grid.z + 4.0 * FUNCTION + 2.0 * slip
        lost = float(weight @ (mark * relative + off)), float((weight * (np.abs(x) + self.shape.rate)) @ (mark * relative + off))
        beyond = math.exp(right) + self.left * float(self.large[0]) * 2.0 + rule
        if not (drift > 0.0 and lost[1] + beyond < 0.5 * drift and lost[0] + beyond < 0.5 * q):
            raise TooFine
        return q, drift, max((lost[0] + beyond) / q, (lost[1] + beyond) / drift) * (1.0 + _SLACK) + 8.0 * UNIT

    def values(self, k: float, step: float, nodes: int, log_goal: float) -> Parts:
        """phi - 1 and mid at k + i step j for j < nodes."""
        shape, marks, reach = self.shape, self.marks, step * (nodes - 1)
        line = k + 1j * (step * np.arange(nodes))
        reaches = np.abs(line)
        size = max(1.0, float(reaches[-1]))
        part, _ = self._broad(self.kept)
        last_x = float(self.x[part][-1])
        # from there on the integrand falls on the lowest line, whose angle is below 1e-3
        if not (k + 2e-3 * reach) / (1.0 + last_x) + 2.0 / last_x < 0.9 * (last_x - marks.high) / marks.high_width**2:
            raise TooFine
        share, ratio = self.share[part][1:], self.ratio[part][1:]
        arg = np.arctan2(share * np.sin(_LEVELS), 1.0 - share * (1.0 - np.cos(_LEVELS)))
        plain = np.log1p(size * (2.0 * shape.rate + self.x[part][1:]))
        rest, middle, _ = self._lifted(_LEVELS, self.kept)
        modulus = np.logaddexp(rest, middle) + np.logaddexp(k * ratio + reach * arg, plain)
        spacing, rule = self._rule(modulus, log_goal, float(modulus[-1, -1]) + log_tail_bound(float(self.edges[part][-1])))
        begin = float(self.edges[0])
        count = int((float(self.edges[part][-1]) - begin) / spacing) + 2
        if count > _WORK / 64.0:
            raise TooFine
        grid = Nodes(shape, begin + spacing * np.arange(count), spacing)
        t_error, ratio_error = grid.ratio_errors()
        first, last = int(grid.ratio.searchsorted(-1.0 / size)), int(grid.ratio.searchsorted(1.0 / size))
        weight = np.exp(grid.base)
        tails, small_error = np.zeros(1), 0.0
        for start in range(first, last, _CHUNK):  # the rounding of a sum grows with its length
            near = slice(start, min(start + _CHUNK, last))
            some, off = power_tails(grid.ratio[near], weight[near], grid.z[near], ratio_error[near], size)
            longer, shorter = (some, tails) if some.size > tails.size else (tails, some)
            tails = longer.copy()
            tails[: shorter.size] += shorter
            small_error += off
        small_error += (last - first) / _CHUNK * UNIT * float(np.abs(tails).sum())
        powers = np.empty((tails.size, nodes), dtype=np.complex128)
        powers[:], powers[0] = line, 1.0
        factor = line * (line - 1.0)
        excess = factor * (tails @ np.multiply.accumulate(powers, axis=0))
        excess_error = np.abs(factor) * small_error
        pick = np.concatenate((np.arange(first), np.arange(last, count)))
        if pick.size * (nodes + 64.0) > _WORK:
            raise TooFine
        z, own, slip = grid.z[pick], weight[pick], t_error[pick]
        ratio, moved = grid.ratio[pick], ratio_error[pick] + 6.0 * UNIT * np.abs(grid.ratio[pick])
        x = np.expm1(ratio)
        kept, kept_off = _marked(x, slip, marks.high, -marks.high_width)
        tilted = own * np.exp(k * ratio)
        rows = [tilted * kept]
        if self.parted:
            large, large_off = _marked(x, slip, marks.high, marks.high_width)
            small, small_off = _marked(x, slip, marks.low, -marks.low_width)
            not_small, not_small_off = _marked(x, slip, marks.low, marks.low_width)
            before = x < 0.5 * (marks.low + marks.high)  # behind it the difference of the complements is the better one
            middle = np.maximum(np.where(before, not_small - large, kept - small), 0.0)
            middle_off = np.where(before, not_small_off + large_off, kept_off + small_off)
            rows.append(tilted * middle)
        sums = fourier_sums(ratio, np.stack(rows), step, nodes)
        light = own * kept
        excess += sums[0] - math.fsum(light.tolist()) - line * math.fsum((light * x).tolist()) - (self.q + line * self.drift)
        # rounding: of the transform and its weights, of L, of the marks; then of the masses taken out
        relative = (3.0 * UNIT) * z * z + ((added_terms(ratio.size) + 10.0) * UNIT + 4.0 * FUNCTION)
        excess_error += rows[0] @ relative + tilted @ kept_off + light @ relative + own @ kept_off
        pulled = np.abs(x) + shape.rate
        excess_error += reaches * (rows[0] @ moved + (light * pulled) @ (relative + 2.0 * slip) + (own * pulled) @ kept_off)
        excess_error += (self.q + reaches * self.drift) * (self.error + 4.0 * UNIT) + 8.0 * UNIT * np.abs(excess)
        # what the marks say of the nodes summed as a series, and what lies beyond the ends
        edge = self._log_left(marks.high, marks.high_width, min(1.01 / size, marks.high))
        lost = 3.0 * (size + 2.0) * math.exp(edge) + self.left * (3.0 + size) + self._beyond(k) * (2.0 + size)
        if not self.parted:
            return Parts(excess, None, excess_error + (lost + rule), None)
        mid_error = reaches * (rows[1] @ moved) + rows[1] @ relative + tilted @ middle_off
        lost_mid = 3.0 * math.exp(self._log_left(marks.low, marks.low_width, min(1.01 / size, marks.low))) + self._beyond(k)
        return Parts(excess, sums[1], excess_error + (lost + rule), mid_error + (lost_mid + rule))


def _marked(x: Array, slip: Array, high: float, width: float) -> tuple[Array, Array]:
    """g((x - high)/width), and bounds of its error, where 1 + x/q errs by the share `slip`; of 1 - g if the width is negative."""
    scale = 1.0 / width
    y = (x - high) * scale
    value = np.maximum(_log_g(y), -740.0)
    found = np.exp(value)
    off = (np.abs(x) + high) * abs(scale) * (slip + (FUNCTION + 8.0 * UNIT))
    lean = np.where(y > 0.0, np.exp(-0.49 * np.minimum(y * y, 1400.0)), 1.0 - y)  # at least (log g)' nearby
    lost = LOG_NDTR * (2.0 - value) + off * lean
    return found, found * np.expm1(np.minimum(lost, 1.0)) + 1e-320
