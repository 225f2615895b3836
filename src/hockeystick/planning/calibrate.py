"""The one parameter that just meets a target: noise, rate, steps, sensitivity, anything monotone."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Unpack, overload

from .. import checks
from ..errors import BadType, BadValue, Unreachable
from ..mechanism.release import Release
from .rounds import MOST
from .target import Target, Wanted

WIDTH = 8e-10
"""The bracket at the end, relative."""
_FARTHEST = math.log(1e60)
_EVALUATIONS = 200
_ELSEWHERE = (1.0, 0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 10.0, 100.0, 1e4)


@overload
def calibrate(make: Callable[[int], Release], start: int, **target: Unpack[Wanted]) -> int: ...
@overload
def calibrate(make: Callable[[float], Release], start: float | None = None, **target: Unpack[Wanted]) -> float: ...
def calibrate(make: Callable[[Any], Release], start: float | None = None, **target: Unpack[Wanted]) -> Any:
    """The value of one parameter for which `make(value)` just meets a target: the smallest noise, the largest rate or count.

    `make` may be monotone either way in its parameter, a positive number; a whole-number `start` (or `start=1`) means whole
    numbers, and one near the answer saves time.  Values that `make` refuses with `BadValue` bound the search.  The target is
    one of `epsilon, delta` | `mu` (and `delta`) | `rho` | `advantage` | `tpr, fpr` | `bayes_risk, prior`, for `neighbours` if
    given.

    The answer was evaluated and certainly meets the target; a value within 1e-9 of it (relative; for whole numbers the next
    one) was evaluated too and does not, as far as a certified end can tell.  If no value reaches the target, or all do,
    `Unreachable` says so and gives the limit.

    Parameters
    ----------
    make : callable
        Maps the parameter to a release; monotone either way.
    start : float or int, optional
        Where to begin, above 0; a whole number of type int looks for whole numbers.
    **target : float
        A limit: `epsilon` and `delta`, `mu` (and `delta`), `rho`, `advantage`, `tpr` and `fpr`, or `bayes_risk` and `prior`;
        with `neighbours` if it is for another relation than the release states.

    Returns
    -------
    float or int
        The value, which certainly meets the target.

    Raises
    ------
    BadType
        If make is no function or makes no release, or a limit is no real number.
    BadValue
        If not exactly one target is given, a limit is out of its range, or neighbours no relation, or start is not above 0.
    Unreachable
        If no value reaches the target, or every value does.
    Unsupported
        If no theorem covers what make makes under this relation.

    Examples
    --------
    >>> import hockeystick as hs
    >>> sigma = calibrate(lambda s: hs.Gaussian(sigma=s).poisson(rate=0.01) * 10_000, epsilon=1.0, delta=1e-6)
    >>> round(sigma, 8)
    4.30210647
    >>> calibrate(lambda n: hs.Gaussian(sigma=20.0) * n, start=1, epsilon=6.0, delta=1e-5)
    685
    """
    if not callable(make):
        raise BadType(f"make is {make!r}; allowed: a function of one number that makes a release.")
    goal = Target.of(**target)
    if start is not None and (type(start) is int or type(start).__name__.startswith(("int", "uint"))):
        return _Search(make, goal, whole=True).run(float(checks.count("start", start, least=1)))
    return _Search(make, goal, whole=False).run(None if start is None else checks.positive("start", start))


@dataclass
class _Search:
    """A bracket (in logarithms) with its gaps: `good` meets the target, `bad` does not."""

    make: Callable[[Any], Release]
    target: Target
    whole: bool
    direct: bool = False
    width: float = WIDTH
    seen: dict[float, float] = field(default_factory=dict)

    def run(self, start: float | None) -> Any:
        x = self._begin(start)
        gap = self._gap(x)
        toward = self._direction(x, gap)
        good = self._narrow(*self._bracket(x, toward))
        if self.target.direct:
            return self._value(good)
        # the search looked at another certified end: the measure itself must hold too
        self.direct, self.seen = True, {}
        if self._gap(good) > 0.0:
            first = good
            good, bad = self._bracket(first, toward, stride=1e-9)
            self.width = max(WIDTH, 0.05 * abs(good - first))  # this far apart are the ends
            good = self._narrow(good, bad)
        return self._value(good)

    # values

    def _value(self, x: float) -> Any:
        return round(math.exp(x)) if self.whole else math.exp(x)

    def _place(self, x: float) -> float:
        """The nearest place that can be asked."""
        return math.log(min(max(1, round(math.exp(min(x, 40.0)))), MOST)) if self.whole else x

    def _release(self, x: float) -> Release | None:
        """None where `make` refuses the value."""
        try:
            release = self.make(self._value(x))
        except BadValue:
            return None
        if not isinstance(release, Release):
            raise BadType(f"make({self._value(x)!r}) is {release!r}; allowed: a release such as Gaussian(sigma=2.0).")
        return release

    def _made(self, x: float) -> Release:
        release = self._release(x)
        assert release is not None
        return release

    def _gap(self, x: float) -> float:
        if x not in self.seen:
            self.seen[x] = self.target.gap(self._made(x), self.direct)
            if len(self.seen) > _EVALUATIONS:
                raise Unreachable(f"no value was found in {_EVALUATIONS} evaluations; is make monotone?  Give another start.")
        return self.seen[x]

    # the bracket

    def _begin(self, start: float | None) -> float:
        tried = _ELSEWHERE if start is None else (start, *(start * one for one in _ELSEWHERE))
        for value in tried:
            x = self._place(math.log(value))
            if self._release(x) is not None:
                return x
        self.make(self._value(self._place(math.log(tried[0]))))  # raises its own words
        raise AssertionError

    def _direction(self, x: float, gap: float) -> int:
        """+1 if larger values give less away."""
        stride = 0.25 if not math.isfinite(gap) else min(max(abs(gap), 1e-3), 2.0)
        alone = True
        for size in (stride, 0.7, 3.0, 9.0, 27.0, 81.0):
            # as if it were a noise: toward the target
            for side in (1.0, -1.0) if gap > 0.0 else (-1.0, 1.0):
                y = self._place(x + side * size)
                if y == x or self._release(y) is None:
                    continue
                alone, other = False, self._gap(y)
                if other != gap:
                    return 1 if (other < gap) == (y > x) else -1
        if alone:
            raise Unreachable(self._lonely(x))
        if gap > 0.0:
            raise Unreachable(self._never(x))
        raise Unreachable(self._always(x))

    def _bracket(self, x: float, toward: int, stride: float = 0.5) -> tuple[float, float]:
        """A place that meets the target and one that does not."""
        known = sorted(self.seen)
        goods = [y for y in known if self.seen[y] <= 0.0]
        bads = [y for y in known if self.seen[y] > 0.0]
        if goods and bads:
            return min(goods, key=lambda y: toward * y), max(bads, key=lambda y: toward * y)
        side = float(toward if bads else -toward)
        y = max(known, key=lambda y: side * y)
        last = False  # whether y is the last value that make takes
        while not last:
            following = self._place(y + side * self._stride(side, stride))
            if self.whole and following == y:
                following = math.log(min(max(1, self._value(y) + int(side)), MOST))
            if following == y or abs(following - x) > _FARTHEST:
                last = self.whole and side < 0.0
                break
            if self._release(following) is None:
                following, last = self._edge(y, following), True
            if (self._gap(following) <= 0.0) == bool(bads):
                return (following, y) if bads else (y, following)
            y, stride = following, stride * 2.0
        if bads:
            raise Unreachable(self._never(y))
        if last:
            return y, y
        raise Unreachable(self._always(y))

    def _stride(self, side: float, stride: float) -> float:
        """How far to look: by the line through the last two places, a little beyond."""
        near = sorted(self.seen, key=lambda y: -side * y)[:2]
        if len(near) == 2:
            a, b = near
            slope = (self.seen[a] - self.seen[b]) / (a - b)
            if math.isfinite(slope) and slope != 0.0 and -self.seen[a] / slope * side > 0.0:
                return min(1.1 * abs(self.seen[a] / slope) + 1e-3, max(8.0 * stride, 4.0))
        return stride

    def _edge(self, inside: float, outside: float) -> float:
        """The last place that `make` takes, toward one that it refuses."""
        for _ in range(80):
            middle = self._place(0.5 * (inside + outside))
            if middle in (inside, outside):
                break
            if self._release(middle) is None:
                outside = middle
            else:
                inside = middle
        return inside

    # the end

    def _narrow(self, good: float, bad: float) -> float:
        """The end of the bracket that meets the target, when the other is next to it."""
        stuck = 0
        while not self._close(good, bad):
            width = abs(good - bad)
            x = self._guess(good, bad, stuck)
            if self._gap(x) <= 0.0:
                good = x
            else:
                bad = x
            stuck = stuck + 1 if abs(good - bad) > 0.5 * width else 0
        return good

    def _close(self, good: float, bad: float) -> bool:
        if good == bad:
            return True
        if self.whole:
            return abs(int(self._value(good)) - int(self._value(bad))) <= 1
        return abs(good - bad) <= self.width

    def _guess(self, good: float, bad: float, stuck: int) -> float:
        """A place strictly between."""
        at_good, at_bad = self.seen[good], self.seen[bad]
        x = math.nan
        if stuck < 3 and math.isfinite(at_good) and math.isfinite(at_bad):
            x = self._interpolated(good, bad)
        if not min(good, bad) <= x <= max(good, bad):
            x = 0.5 * (good + bad)
        if self.whole:
            low, high = sorted((int(self._value(good)), int(self._value(bad))))
            count = min(max(math.floor(math.exp(x)) + (stuck & 1), low + 1), high - 1)
            if stuck >= 3 and high < 4 * low:
                count = (low + high) // 2
            return math.log(count)
        width = abs(bad - good)
        if stuck < 3:
            # a little beyond the root, toward the end that is farther off: so both ends come near
            nearest = min(abs(x - good), abs(x - bad))
            toward_good = abs(good - x) > abs(bad - x)
            push = min(max(1e-12, 0.1 * nearest * nearest) * 4.0**stuck if toward_good else 0.5 * WIDTH, 0.25 * width)
            x += math.copysign(push, good - x if toward_good else bad - x)
        margin = min(1e-12, 0.25 * width)
        return min(max(x, min(good, bad) + margin), max(good, bad) - margin)

    def _interpolated(self, good: float, bad: float) -> float:
        """The root by inverse interpolation through the nearest places, else by the line."""
        near = sorted((y for y in self.seen if math.isfinite(self.seen[y])), key=lambda y: abs(self.seen[y]))[:4]
        gaps = [self.seen[y] for y in near]
        falls = self.seen[good] < self.seen[bad]
        ordered = sorted(zip(near, gaps, strict=True))
        signs = {(b[1] - a[1]) * (good - bad) < 0.0 for a, b in itertools.pairwise(ordered)}
        if falls and len(set(gaps)) == len(gaps) >= 3 and signs == {True}:
            root = 0.0
            for i, y in enumerate(near):
                share = 1.0
                for j, gap in enumerate(gaps):
                    if j != i:
                        share *= gap / (gap - gaps[i])
                root += share * y
            if min(good, bad) < root < max(good, bad):
                return root
        return bad + (good - bad) * self.seen[bad] / (self.seen[bad] - self.seen[good])

    # words

    def _measured(self, x: float) -> str:
        return f"{self.target.kind} is {checks.given(self.target.measure(self._made(x)))} at {checks.given(self._value(x))}"

    def _lonely(self, x: float) -> str:
        return (
            f"of the values tried, make takes {checks.given(self._value(x))} alone, so nothing is known of others.  "
            "Of whole numbers give start as one (start=1); in the shell name the argument, as in group(size=?)."
        )

    def _never(self, x: float) -> str:
        ends = [x, min(self.seen), max(self.seen)]
        best = min(ends, key=lambda y: self.target.measure(self._made(y)) * (-1 if self.target.kind == "bayes_risk" else 1))
        return f"no value reaches {self.target}: {self._measured(best)}, the limit of what was found.  {self._advice(best)}"

    def _advice(self, best: float) -> str:
        limit = self.target.measure(self._made(best))
        if self.target.kind == "epsilon" and math.isinf(limit):
            return "Allow a larger delta, or leave out the part that has no finite epsilon there."
        if math.isinf(limit):
            return f"No {self.target.kind} is proved for this run; ask for another target, such as epsilon and delta."
        most = f"{self.target.kind} {'below' if self.target.kind == 'bayes_risk' else 'above'} {checks.given(limit)}"
        return f"Ask for {most}, or change the rest of the run: this parameter alone cannot do more."

    def _always(self, x: float) -> str:
        return (
            f"every value meets {self.target}: {self._measured(x)}, the limit of what was found; there is nothing to calibrate.  "
            "Ask for less loss, or look whether the run depends on this parameter."
        )
