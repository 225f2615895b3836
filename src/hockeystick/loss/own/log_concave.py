"""Tails of a logarithmically concave density, integrated from its values alone, with certified ends.

docs/mathematics/densities.md: Lemma 70 (integrals of log-concave densities).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from ...errors import BadValue, Unsupported
from ...numerics.cancellation_free import Array
from ...numerics.rounding import FUNCTION
from .lines import Function, Tails, evaluated, last_where, ordered, unordered
from .polygon import ONE, units


@dataclass(frozen=True)
class Tuning:
    """None of it enters a proof: every bound holds whatever is chosen here."""

    scanned: int = 1 << 14
    """Doubles of all sizes among which one with mass is sought, and as many evenly spaced ones."""
    rounds: int = 40
    """Of narrowing around the largest value."""
    deepest: int = 148
    """The logarithm of the density is followed down by (k/4)^2/2 for k up to this."""
    pieces: int = 300
    """Between two such depths."""


TUNING = Tuning()


@dataclass(frozen=True, eq=False)
class LogConcave:
    """A density, by its logarithm, stated to be logarithmically concave and to integrate to 1."""

    name: str
    log_density: Function
    support: tuple[float, float]
    accuracy: float

    def logs(self, x: Array) -> tuple[Array, Array]:
        inside = (x >= self.support[0]) & (x <= self.support[1])
        found = np.full(x.shape, -math.inf)
        found[inside] = evaluated(self.name, self.log_density, x[inside], "the density")
        if (found == math.inf).any():
            raise BadValue(f"the density of {self.name} is infinite somewhere; allowed: finite values.")
        return found, self.accuracy * (1.0 + np.where(np.isfinite(found), np.abs(found), 0.0)) + 4.0 * FUNCTION

    @cached_property
    def _mode(self) -> float:
        """About where the density is largest."""
        low, high = (min(max(end, -1e300), 1e300) for end in self.support)
        ends = ordered(np.array([low, high])).astype(np.float64)
        share = np.arange(TUNING.scanned + 1) / TUNING.scanned
        even = low * (1.0 - share) + high * share
        x = np.unique(
            np.concatenate((unordered((ends[0] * (1.0 - share) + ends[1] * share).astype(np.int64)), even, [low, high]))
        )
        x = x[(x >= low) & (x <= high)]
        for _ in range(TUNING.rounds):
            logs, _ = self.logs(x)
            if not logs.max() > -math.inf:
                raise Unsupported(
                    f"no point is found at which {self.name} is above 0; give a support that is finite, and near its mass."
                )
            best = int(logs.argmax())
            left, right = float(x[max(best - 1, 0)]), float(x[min(best + 1, x.size - 1)])
            if right - left <= 1e-9 * max(abs(left), abs(right)):
                break
            x = np.unique(np.append(left + (right - left) * np.arange(65) / 64, x[best]))
        return float(x[best])

    def places(self) -> Array:
        middle, (low, high) = self._mode, self.support
        top = float(self.logs(np.array([middle]))[0][0])
        depths = top - 0.5 * (np.arange(1, TUNING.deepest + 1) / 4.0) ** 2
        left = -last_where(lambda x: self.logs(-x)[0] >= depths, depths.size, -middle, -low)
        right = last_where(lambda x: self.logs(x)[0] >= depths, depths.size, middle, high)
        found = np.unique(np.concatenate((left, [middle], right)))
        apart: Array = found[np.diff(found, prepend=-math.inf) > 1e-12 * (found[-1] - found[0])]
        return apart

    @cached_property
    def _nodes(self) -> Array:
        places = self.places()
        share = np.arange(TUNING.pieces) / TUNING.pieces
        between = places[:-1, None] + np.diff(places)[:, None] * share
        return np.unique(np.append(between.ravel(), places[-1]))

    def guides(self, x: Array) -> tuple[Array, Array]:
        nodes, below, above = self._rough
        place = np.clip(np.searchsorted(nodes, x), 0, nodes.size - 1)
        return below[place], above[place]

    @cached_property
    def _rough(self) -> tuple[Array, Array, Array]:
        """The nodes, and about the logarithms of both tails there."""
        nodes = self._nodes
        mass = np.exp(self.logs(nodes)[0])
        cells = 0.5 * (mass[1:] + mass[:-1]) * np.diff(nodes)
        with np.errstate(divide="ignore"):
            below = np.log(np.append(0.0, np.cumsum(cells)))
            above = np.log(np.append(np.cumsum(cells[::-1])[::-1], 0.0))
        return nodes, np.minimum(below, 0.0), np.minimum(above, 0.0)

    def tails(self, x: Array) -> Tails:
        """At increasing points: sums of the integrals of the cells."""
        nodes = self._around(x)
        low, high = self._integrals(nodes)
        place = np.searchsorted(nodes, x)
        least, most = ([units(value) for value in one.tolist()] for one in (low, high))
        most = [value + 1 for value in most]
        below = [[0, *accumulate(one)] for one in (least, most)]
        total = below[0][-1], below[1][-1]
        if not total[0] <= ONE <= total[1]:
            raise BadValue(
                f"{self.name} integrates to between {total[0] / ONE!r} and {total[1] / ONE!r}; allowed: a density, which "
                "integrates to 1."
            )
        above = [[*[*accumulate(reversed(one))][::-1], 0] for one in (least, most)]
        picked = place.tolist()
        # the first and the last of the cells are the tails beyond the nodes
        sums = [[one[i + 1] for i in picked] for one in below], [[one[i + 1] for i in picked] for one in above]
        (low_b, high_b), (low_a, high_a) = sums
        return Tails(
            (
                [max(a, ONE - b) for a, b in zip(low_b, high_a, strict=True)],
                [min(a, ONE - b) for a, b in zip(high_b, low_a, strict=True)],
            ),
            (
                [max(a, ONE - b) for a, b in zip(low_a, high_b, strict=True)],
                [min(a, ONE - b) for a, b in zip(high_a, low_b, strict=True)],
            ),
        )

    def _around(self, x: Array) -> Array:
        """The points and the nodes that are not much nearer to one of them than to other nodes."""
        nodes = self._nodes
        gap = np.minimum(np.diff(nodes, prepend=-math.inf), np.diff(nodes, append=math.inf))
        place = np.searchsorted(x, nodes)
        away = np.minimum(np.abs(nodes - x[np.clip(place, 0, x.size - 1)]), np.abs(nodes - x[np.clip(place - 1, 0, x.size - 1)]))
        found: Array = np.unique(np.concatenate((x, nodes[away > 0.3 * gap])))
        return found

    def _integrals(self, x: Array) -> tuple[Array, Array]:
        """Both ends of the integrals to the left of the nodes, between them, and to their right (Lemma 70)."""
        logs, _ = self.logs(x)
        known = np.flatnonzero(logs > -math.inf)
        if known.size < 4 or known[-1] - known[0] + 1 != known.size:
            raise Unsupported(f"{self.name} is 0 between points where it is not, or nearly everywhere: it is not log-concave.")
        first, last = int(known[0]), int(known[-1])
        inner_low, inner_high, left, right = self._inside(x[first : last + 1])
        # beyond the last point where it is no underflow each cell has at most all of that tail, and none beyond the support
        low, high = np.zeros(x.size + 1), np.zeros(x.size + 1)
        low[first + 1 : last + 1], high[first + 1 : last + 1] = inner_low, inner_high
        high[: first + 1] = np.where(np.append(x[0], x)[: first + 1] > self.support[0], left, 0.0)
        high[0] = left if x[0] > self.support[0] else 0.0
        high[first] = left if x[first] > self.support[0] else 0.0
        high[last + 1 :] = np.where(x[last:] < self.support[1], right, 0.0)
        return low, high

    def _inside(self, x: Array) -> tuple[Array, Array, float, float]:
        """Of the cells between points where it is above 0, and upper ends of what is to their left and right."""
        logs, error = self.logs(x)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            width = np.diff(x)
            slope, off = np.diff(logs) / width, (error[1:] + error[:-1]) / width
            self._check(x, slope, off)
            # the extension of the chord before from the left end, of the chord behind from the right end
            ahead = np.append(math.inf, (slope + off)[:-1])
            back = np.append((slope - off)[1:], -math.inf)
            cross = np.clip((np.diff(logs) - back * width) / (ahead - back), 0.0, width)
            most = np.full(width.size, math.inf)
            for place in (cross, np.zeros(width.size), width):  # wherever the one is taken up to, and the other from
                both = np.exp(logs[:-1]) * _grown(ahead, place) + np.exp(logs[1:]) * _grown(-back, width - place)
                most = np.minimum(most, np.where(np.isnan(both), math.inf, both))
            least = np.exp(logs[:-1]) * _grown(slope, width)
            slack = 4.0 * (error[1:] + error[:-1]) + 64.0 * FUNCTION
            most, least = most * (1.0 + slack), least * (1.0 - slack)
        left = self._beyond(float(logs[0]), float((slope - off)[0]), float(x[0]) - self.support[0])
        right = self._beyond(float(logs[-1]), -float((slope + off)[-1]), self.support[1] - float(x[-1]))
        if not (np.isfinite(most).all() and max(left, right) < math.inf):
            raise Unsupported(f"the integral of {self.name} is not bounded from its values; give a distribution with cdf and sf.")
        return least, most, left, right

    @staticmethod
    def _beyond(log_value: float, fall: float, room: float) -> float:
        """What is beyond the last point, with this much room to the end of the support: at most an exponential."""
        if room <= 0.0:
            return 0.0
        if fall > 0.0 and fall * room > 1.0:
            return math.exp(log_value) / fall * (1.0 + 1e-6) + 1e-300
        if not room < math.inf or -fall * room > 600.0:
            return math.inf
        return math.exp(log_value) * float(_grown(np.array([-fall]), np.array([room]))[0]) * (1.0 + 1e-6) + 1e-300

    def _check(self, x: Array, slope: Array, off: Array) -> None:
        grown = (slope[1:] - off[1:]) - (slope[:-1] + off[:-1])
        wrong = grown > 1e-9 * np.abs(slope[1:])
        if wrong.any():
            place = int(wrong.argmax()) + 1
            raise Unsupported(
                f"{self.name} is not logarithmically concave as stated: the slope of its logarithm grows from "
                f"{slope[place - 1]:.9g} to {slope[place]:.9g} at {x[place]:.9g}.  Give a distribution with cdf and sf."
            )


def _grown(slope: Array, width: Array) -> Array:
    """The integral of e^{slope t} from 0 to a width."""
    size = slope * width
    found: Array = np.where(width == 0.0, 0.0, width * np.where(np.abs(size) < 1e-8, 1.0 + 0.5 * size, np.expm1(size) / size))
    return found
