"""A Poisson-sampled Gaussian step in the order "remove", its outcomes marked as small, middle or large: bounds by cells.

With x = e^L - 1 = q (e^t - 1) and g the normal distribution function, an outcome is large with probability
nu = g((x - high)/high_width), and not small with probability kappa, the same of `low` < `high`.  Of e^{kL}, k = 1 + w,

    what is not large:  phi = E (1 - nu) e^{kL},
    what is middle:     mid = E (kappa - nu) e^{kL},
    what is small:      phi - mid

are wanted: here from above on the real axis, and how they fall off it, from cells of the noise z on each of which every factor is
bounded at an end.  On the line z + ia, a = noise * angle, x becomes (x + q) e^{i angle} - q (docs/mathematics.md, section 7a).
"""

import math
from typing import NamedTuple

import numpy as np

from ...native import loops
from ...native.loops import loop
from ...numerics.cancellation_free import Array
from ...numerics.decay import spread_gap
from ...numerics.normal import LOG_ROOT_TWO_PI, log_tail_bound
from ...numerics.rounding import FUNCTION, exp_up
from ...numerics.trapezoid import Cells
from ..protocol import Inconclusive
from ..sampled.quadrature import SampledStep

LOW = -11.5  # where the noise begins
SLACK = 1e-9  # relative, of bounds by cells: far more than their rounding
_JOINED, _BROAD = 8, 4  # cells that make one in the proof of decay, and in that of the rule
_FAINT = 300.0  # log of how much less is not summed cell by cell
_TURNS = np.array([0.08, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.74])[:, None]  # angles of the lines
LEVELS = 0.74 * 0.8 ** np.arange(32.0)[:, None]
_STARTS = math.log(0.01), math.log(1e-5)  # of the step, over the noise


class Marks(NamedTuple):
    """The x from which an outcome counts as not small (0: none is small), and as large; how wide the transitions are."""

    low: float
    high: float
    low_width: float
    high_width: float


def place(shape: SampledStep, x: float) -> float:
    """The z of an x."""
    return shape.noise * math.log1p(x / shape.rate) + 0.5 / shape.noise


def log_g(y: Array) -> Array:
    """log of the normal distribution function."""
    from scipy.special import log_ndtr

    found: Array = log_ndtr(y)
    return found


@loop(loops.bent)
def _bent_over(ratio: Array, x: Array, weight: Array, k: float) -> float:
    """A bound of the sum over cells of e^weight times e^{kL} - 1 - k x, the largest at an end of each; inf: of no use."""
    ratio, x = ratio[: weight.size + 1], x[: weight.size + 1]
    y = k * ratio
    most = np.maximum(y[:-1], y[1:])
    with np.errstate(over="ignore"):
        grown = np.exp(most + weight)  # where that is large, the rest is not positive
        value = np.expm1(np.minimum(y, 10.0)) - k * x
        value += 4.0 * FUNCTION * (np.abs(value) + abs(k) * np.abs(x))
    small = np.abs(ratio) * max(abs(k), 1.0) < 1e-3
    value = np.where(small, 0.5 * k * (k - 1.0) * ratio * ratio * (1.0 + 1e-3), value)
    near = np.maximum(value[:-1], value[1:]) * np.exp(weight)
    astride = (ratio[:-1] < 0.0) & (ratio[1:] > 0.0)  # there the other end may be the larger one
    each = np.where(most > 9.0, np.minimum(grown, 1e300) + np.where(astride, np.maximum(near, 0.0), 0.0), near)
    return float(each.sum()) if float(grown.max()) < 1e300 else math.inf


class PartedCells:
    """One step with its marks, for real exponents up to `most`."""

    def __init__(self, shape: SampledStep, marks: Marks, most: float) -> None:
        self.shape, self.marks, self.parted = shape, marks, marks.low > 0.0
        wide, narrow = marks.high_width * (shape.rate + marks.low), marks.low_width * (shape.rate + marks.high)
        if self.parted and not (marks.low_width <= marks.high_width and marks.low < marks.high and wide <= narrow):
            raise Inconclusive  # what is large might be small: Lemma 19b
        noise, high, width = shape.noise, marks.high, marks.high_width
        # (1 - nu) e^{kL} falls from `end` on, since the hazard of g is at least its argument
        end = place(shape, high + 60.0 * width + 1.5 * most * width**2 / (1.0 + high))
        far = 1.0 / noise + math.hypot(max(place(shape, high) - 1.0 / noise, 0.0), 13.0)  # beyond it P has e^-80 of what is large
        last = max(end, far)
        if not (last / noise < 300.0 and last - LOW < 300.0 * min(noise, 1.0)):
            raise Inconclusive
        count = int((last - LOW) / (0.025 * min(noise, 1.0)) / _JOINED + 2) * _JOINED
        self.edges = np.linspace(LOW, last, count + 1)
        self.width = float(self.edges[1] - self.edges[0])
        self.ratio, self.share = shape.ratios(self.edges)
        self.x = np.expm1(self.ratio)
        self.floor = math.log1p(-shape.rate)
        self.kept = min(int(np.searchsorted(self.edges, end)) + 1, count)  # the cells before `end`
        self.log_mass = self._log_masses(self.edges)
        y = (self.x - high) / width
        self.log_kept, self.log_large = log_g(-y), log_g(y)
        if self.parted:
            self.log_not_small = log_g((self.x - marks.low) / marks.low_width)
        self.left = math.exp(log_tail_bound(-LOW))

    @staticmethod
    def _log_masses(edges: Array) -> Array:
        """log of bounds of the normal masses between edges."""
        near = np.where(edges[:-1] > 0.0, edges[:-1], np.minimum(edges[1:], 0.0))
        found: Array = -0.5 * near * near + (math.log(float(edges[1] - edges[0])) - LOG_ROOT_TWO_PI + SLACK)
        return found

    def bent_above(self, k: float, large: bool) -> float:
        """An upper bound of E (1 - nu) (e^{kL} - 1 - k x), or with what is large, left of the end of the cells; k >= 1 or k < 0.

        e^{kL} - 1 - k x is convex in L and smallest at L = 0, where it is 0.
        """
        inside = self._bent(k, large)
        if not inside < math.inf:
            return math.inf
        left = self.left * (max(1.0, exp_up(k * self.floor)) + abs(k) * self.shape.rate)
        return (inside + left) * (1.0 + SLACK)

    def _bent(self, k: float, large: bool) -> float:
        stop = self.edges.size - 1 if large else self.kept
        weight = self.log_mass[:stop] + (0.0 if large else self.log_kept[:stop])
        return _bent_over(self.ratio, self.x, weight, k)

    def reverse_above(self, k: float) -> float:
        """An upper bound of E e^{-kL} - 1, k > 0."""
        return self.bent_above(-k, True) + k * math.exp(self.shape.right_tail(1.0, float(self.edges[-1]))) * (1.0 + SLACK)

    def beyond(self, k: float) -> float:
        """A bound of E[(1 - nu) e^{kL}; z > end]: it falls there if k/(1 + x) is at most the hazard of g over its width."""
        x = float(self.x[self.kept])
        if not k * self.marks.high_width**2 < (x - self.marks.high) * (1.0 + x):
            return math.inf
        log = float(self.log_kept[self.kept]) + k * float(self.ratio[self.kept]) + log_tail_bound(float(self.edges[self.kept]))
        return exp_up(max(log, -700.0)) * (1.0 + SLACK)

    def mid_above(self, k: float) -> float:
        """An upper bound of mid at a real k >= 1."""
        part = slice(0, self.kept)
        share = np.minimum(self.log_not_small[1:][part], self.log_kept[part])
        inside = float(np.exp(np.minimum(k * self.ratio[1:][part] + self.log_mass[part] + share, 600.0)).sum())
        if not inside < math.exp(600.0):
            return math.inf
        return (inside + self.left * math.exp(float(self.log_not_small[0]))) * (1.0 + SLACK) + self.beyond(k)

    def large_above(self, k: float, pivot: float, lift: float) -> tuple[Array, Array]:
        """Upper bounds of E[nu; z < edge] and E[nu e^{-k(L - pivot)}; z > edge] for every edge, k > 0, times e^lift."""
        mass = self.log_mass + self.log_large[1:] + lift
        raised = k * (pivot - self.ratio)
        light = np.insert(np.exp(mass), 0, self.left * math.exp(float(self.log_large[0]) + lift))
        with np.errstate(over="ignore"):
            heavy = np.exp(np.append(mass + raised[:-1], log_tail_bound(float(self.edges[-1])) + raised[-1] + lift)) + 1e-300
            heavy = np.add.accumulate(heavy[::-1])[::-1] * (1.0 + 2.0 * SLACK)
        return np.add.accumulate(light) * (1.0 + 2.0 * SLACK), heavy

    def fall(self, k: float, phi: float, cells: Cells) -> Array:
        """Lower bounds of -log |phi(k + iu)/phi(k)| on cells of u, by the spread of the tilted law; phi is at least phi(k)."""
        last = -(-self.kept // _JOINED) * _JOINED + 1
        edges, ratio = self.edges[:last:_JOINED], self.ratio[:last:_JOINED]
        far = np.maximum(np.abs(edges[:-1]), np.abs(edges[1:]))
        log_mass = -0.5 * far * far + (math.log(_JOINED * self.width) - LOG_ROOT_TWO_PI - SLACK)
        masses = np.exp(log_mass + k * ratio[:-1] + self.log_kept[:last:_JOINED][1:]) * (1.0 / phi)
        gap = spread_gap(cells, masses[None, :], ratio[None, :], ratio[None, :-1], ratio[None, 1:]) * (1.0 - SLACK)
        found: Array = -0.5 * np.log1p(-np.minimum(gap, 1.0 - 1e-15))
        return found

    def far_off(self, k: float, u: Array) -> Array:
        """Bounds of log |mid(k + iu)| (of log |phi| if none is small) for each u and beyond.

        The line of integration is moved up, where |e^{iuL}| <= e^{-u arg}.
        """
        part = self.broad(False)
        return self._far_off(part, k * self.ratio[part][1:], k, float(self.x[part][-1]), u)

    @loop(loops.far_off)
    def _far_off(self, part: slice, tilt: Array, k: float, last_x: float, u: Array) -> Array:
        edges = self.edges[part]
        arg = np.arctan2(self.share[part][:-1] * np.sin(_TURNS), 1.0 - self.share[part][:-1] * (1.0 - np.cos(_TURNS)))
        heights = self.shape.noise * _TURNS
        modulus = self.lifted(_TURNS, False)[1] + tilt + 0.5 * heights * heights
        log_f = modulus + self._log_masses(edges)
        found = np.full(u.size, math.inf)
        for row, turn in enumerate(_TURNS[:, 0].tolist()):
            hazard = (last_x * math.cos(2.0 * turn) - self.marks.high - self.shape.rate) / self.marks.high_width**2
            if not 0.9 * hazard > k / (1.0 + last_x) + 1.0 / last_x:  # or it may grow beyond the cells
                continue
            live = log_f[row] > log_f[row].max() - _FAINT
            exponent = log_f[row][live][:, None] - np.multiply.outer(arg[row][live], u)
            top = exponent.max(axis=0)
            inside = top + np.log(np.exp(exponent - top).sum(axis=0))
            rest = np.append(log_f[row][~live] - float(arg[row][~live].min(initial=9.0)) * u[0], -700.0)
            ends = max(float(modulus[row, -1]) + log_tail_bound(float(edges[-1])), math.log(self.left) + float(modulus[row, 0]))
            dim = np.logaddexp(float(rest.max()) + math.log(rest.size), max(ends, -700.0) + math.log(2.0))
            found = np.minimum(found, np.logaddexp(inside, dim))
        return found + SLACK

    def broad(self, large: bool) -> slice:
        """The edges of fewer, broader cells, up to `end` or to the last."""
        return slice(0, (self.edges.size - 1 if large else -(-self.kept // _BROAD) * _BROAD) + 1, _BROAD)

    def lifted(self, turns: Array, large: bool) -> tuple[Array, Array]:
        """log of bounds of |1 - nu| and |kappa - nu| (of |nu| twice) on the broad cells, on the lines z + i noise turn.

        There (x - X)/W = a + ib with a = ((x + q) cos - q - X)/W, b = (x + q) sin/W, and |g(a + ib)| <= g(a) + b e^{b^2/2} g'(a).
        """
        grown = self.x[self.broad(large)] + self.shape.rate
        cosine, sine = np.cos(turns), np.sin(turns)

        def bounds(high: float, width: float) -> tuple[Array, Array]:
            """Of 1 - g, and of g."""
            a = (grown * cosine - (self.shape.rate + high)) * (1.0 / width)
            b = grown[1:] * sine * (1.0 / width)
            near = np.where(a[:, :-1] > 0.0, a[:, :-1], np.minimum(a[:, 1:], 0.0))
            bulge = np.log(np.maximum(b, 1e-300)) + 0.5 * (b - near) * (b + near) - LOG_ROOT_TWO_PI
            below: Array = np.logaddexp(log_g(-a[:, :-1]), bulge)
            above: Array = np.logaddexp(log_g(a[:, 1:]), bulge)
            return below, above

        rest, heavy = bounds(self.marks.high, self.marks.high_width)
        if large:
            return heavy, heavy
        if not self.parted:
            return rest, rest
        small, not_small = bounds(self.marks.low, self.marks.low_width)
        return rest, np.minimum(np.logaddexp(not_small, heavy), np.logaddexp(small, rest))

    def spaced(
        self, large: bool, tilt: Array, log_goal: float, plain: Array | None = None, reach: float = 0.0, beyond: float = -math.inf
    ) -> tuple[float, float]:
        """About the longest step at which the rule errs by at most e^log_goal, and a bound of its error: for nu if `large`, else
        for 1 - nu and kappa - nu together; times e^tilt or, if `plain` is given, e^{tilt + reach arg} + e^plain on the broad
        cells.

        Beyond the cells the integral on the lowest line is below e^beyond, or falls.
        """
        step, error = self._spaced(large, self.broad(large), tilt, log_goal, plain, reach, beyond)
        if not step > 0.0:
            raise Inconclusive
        return step, error

    @loop(loops.rule)
    def _spaced(
        self, large: bool, part: slice, tilt: Array, log_goal: float, plain: Array | None, reach: float, beyond: float
    ) -> tuple[float, float]:
        modulus = self.lifted(LEVELS, True)[0] if large else np.logaddexp(*self.lifted(LEVELS, False))
        if plain is None:
            modulus = modulus + tilt
        else:
            share = self.share[part][1:]
            arg = np.arctan2(share * np.sin(LEVELS), 1.0 - share * (1.0 - np.cos(LEVELS)))
            modulus = modulus + np.logaddexp(tilt + reach * arg, plain)
        if beyond == -math.inf:
            beyond = float(modulus[-1, -1]) + log_tail_bound(float(self.edges[part][-1]))
        return self._rule(modulus, log_goal, beyond)

    def _rule(self, log_modulus: Array, log_goal: float, beyond: float) -> tuple[float, float]:
        """The same from the modulus; 0 if there is no such step.

        `log_modulus` bounds log of the integrand without the normal density, on each of the LEVELS and broad cells; `beyond`
        bounds log of its integral right of the cells on the lowest line.  The rule errs by at most the integral of the modulus
        over 1/(e^{2 pi a/step} - 1) along any two paths z + ia and z - ia, a > 0 depending on z: each cell takes its best a
        (the last one the lowest) or a lower one, and at an edge between two heights the path goes straight up or down.
        """
        edges = self.edges[::_BROAD][: log_modulus.shape[1] + 1]
        width = float(edges[1] - edges[0])
        near = np.where(edges[:-1] > 0.0, edges[:-1], np.minimum(edges[1:], 0.0))
        heights = self.shape.noise * LEVELS
        log_f = log_modulus + (0.5 * heights * heights - 0.5 * near * near - LOG_ROOT_TWO_PI)
        # straight up: what bounds every lower height, too, and between the heights
        marks, rate = self.marks, self.shape.rate
        sharpest = min(marks.high_width / (marks.high + rate), marks.low_width / (marks.low + rate) if self.parted else 1.0)
        between = np.diff(np.cos(LEVELS[:, 0]), append=1.0) * (0.75 / sharpest)
        upright_f = np.maximum.accumulate(log_f[::-1], axis=0)[::-1] + (between * between + math.log(2.0))[:, None]
        cells = np.arange(near.size)

        def error(step: float) -> float:
            rise = 2.0 * math.pi / step * heights
            kernel = rise + np.log(-np.expm1(-rise))
            best = (log_f - kernel).argmin(axis=0)
            best[-1] = heights.size - 1
            # by no more than two heights from cell to cell, the lower the better; heights fall with their number
            best = np.maximum.accumulate(best + 2 * cells) - 2 * cells
            best = (np.maximum.accumulate(best[::-1] + 2 * cells) - 2 * cells)[::-1]
            along = np.exp(np.minimum(log_f[best, cells] - kernel[best, 0], 700.0))
            down, over = np.maximum(best[:-1], best[1:]), np.minimum(best[:-1], best[1:])
            upright = np.minimum(upright_f[over, cells[:-1]], upright_f[over, cells[1:]]) - kernel[down, 0]
            steps = float(np.exp(np.minimum(upright, 700.0)) @ (heights[over, 0] - heights[down, 0]))
            # left of the cells the density falls (its integral is below its value at the edge) and nothing else grows
            right = math.exp(min(beyond + 0.5 * float(heights[-1, 0]) ** 2 - float(kernel[-1, 0]), 700.0))
            return 2.0 * (float(along.sum()) * width + float(along[0]) + steps + right) * (1.0 + SLACK)

        goal, high = math.exp(log_goal), math.log(self.shape.noise)
        low = next((high + start for start in _STARTS if error(math.exp(high + start)) < goal), math.inf)
        if low == math.inf:
            return 0.0, 0.0
        while high - low > 0.05:
            middle = 0.5 * (low + high)
            if error(math.exp(middle)) < goal:
                low = middle
            else:
                high = middle
        return math.exp(low), error(math.exp(low))
