"""What a plan must stay within: one object for every notion, shared by all that plan."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from .. import checks
from ..checks import given as shown
from ..checks import probability
from ..conversion._kernels.normals import mu_bounds
from ..errors import BadValue, Unreachable
from ..mechanism.release import Release
from ..neighbours import STATED, Relation, Stated, checked
from .concentrated import rho_of


class Others(TypedDict, total=False):
    """All words for a target but epsilon and delta."""

    mu: float
    rho: float
    advantage: float
    tpr: float
    fpr: float
    bayes_risk: float
    prior: float
    neighbours: Relation


class Wanted(Others, total=False):
    """The words for a target: `epsilon, delta` | `mu` (and `delta`) | `rho` | `advantage` | `tpr, fpr` | `bayes_risk, prior`."""

    epsilon: float
    delta: float


_KINDS = {
    "epsilon": ("delta",),
    "mu": ("delta",),
    "rho": (),
    "advantage": (),
    "tpr": ("fpr",),
    "bayes_risk": ("prior",),
}
_CERTAIN = 0.9  # true-positive rates from which it matters how close to 1 they are
_SMALL = 0.3
"""Below this epsilon the search looks at delta(epsilon), since epsilon(delta) falls to 0 at a finite noise."""


@dataclass(frozen=True)
class Target:
    """A limit of one measure of privacy: `holds` says whether a release is certainly within it.

    >>> import hockeystick as hs
    >>> target = Target.of(epsilon=2.0, delta=1e-5)
    >>> print(target), target.holds(hs.Gaussian(sigma=2.0)), target.holds(hs.Gaussian(sigma=1.0))
    epsilon <= 2 at delta = 1e-05
    (None, True, False)
    """

    kind: str
    limit: float
    at: float | None = None
    neighbours: Relation = STATED

    @staticmethod
    def of(neighbours: Relation = STATED, **given: Any) -> "Target":
        """The target that the words name; exactly one."""
        relation: Any = neighbours if isinstance(neighbours, Stated) else checked(neighbours)
        unknown = sorted(set(given) - set(_KINDS) - {"delta", "fpr", "prior"})
        if unknown:
            raise BadValue(f"{', '.join(unknown)} is no part of a target; allowed: {_choices()}.")
        named = {name: value for name, value in given.items() if value is not None}
        kinds = [kind for kind in _KINDS if kind in named]
        if len(kinds) != 1:
            said = f"both {' and '.join(kinds)} are given" if kinds else "no target is given"
            raise BadValue(f"{said}; give one of: {_choices()}.")
        kind = kinds[0]
        stray = sorted(set(named) - {kind, *_KINDS[kind]})
        if stray:
            raise BadValue(f"{', '.join(stray)} does not go with {kind}; give one of: {_choices()}.")
        for name in _KINDS[kind]:
            if name not in named and kind != "mu":
                raise BadValue(f"{kind} is given without {name}; give one of: {_choices()}.")
        limit, at = _checked(kind, named)
        return Target(kind, limit, at, relation)

    def __str__(self) -> str:
        if self.kind == "bayes_risk":
            return f"bayes_risk >= {shown(self.limit)} at prior = {shown(self._at)}"
        beside = f" at {_KINDS[self.kind][0]} = {shown(self.at)}" if self.at is not None else ""
        return f"{self.kind} <= {shown(self.limit)}{beside}"

    @property
    def words(self) -> dict[str, float]:
        """What `of` takes."""
        beside = {_KINDS[self.kind][0]: self.at} if self.at is not None else {}
        return {self.kind: self.limit, **beside}

    @property
    def direct(self) -> bool:
        """Whether `gap` always looks at the measure itself."""
        return not (self.kind == "epsilon" and self.limit < _SMALL and self.at)

    @property
    def _at(self) -> float:
        """Where it is asked, for the measures that are asked somewhere."""
        assert self.at is not None
        return self.at

    def measure(self, release: Release) -> float:
        """The certified end of the measure: never better than the truth."""
        relation = release.stated if isinstance(self.neighbours, Stated) else self.neighbours
        if self.kind == "epsilon":
            return release.epsilon(self._at, relation)
        if self.kind == "mu":
            tolerance = min(1e-9, 1e-10 * self.limit) if self.limit > 0.0 else 1e-9
            return float(release.mu_bounds(self.at, max(tolerance, 1e-14), relation).upper)
        if self.kind == "rho":
            return rho_of(release, relation)
        if self.kind == "advantage":
            return release.advantage(relation)
        if self.kind == "tpr" and self.at is not None:
            return float(release.tpr(self.at, relation)) if self.limit > _CERTAIN else release._rough_tpr(self.at, relation)
        return release.bayes_risk(self._at, relation)

    def within(self, value: float) -> bool:
        """Whether a measured value is within the limit."""
        return value >= self.limit if self.kind == "bayes_risk" else value <= self.limit

    def holds(self, release: Release) -> bool:
        """Whether the release is certainly within the limit."""
        return self.within(self.measure(release))

    def gap(self, release: Release, direct: bool = False) -> float:
        """At most 0 if and only if the limit holds; about linear in the logarithm of a noise, so that searches are short.

        Unless it must be the measure itself (`direct`), a small epsilon is looked at by way of delta(epsilon).
        """
        if not (direct or self.direct) and self.at:
            relation = release.stated if isinstance(self.neighbours, Stated) else self.neighbours
            found, wanted = float(release._log_deltas(self.limit, relation, upper_only=True).upper), _log_down(self.at)
            return _signed(found <= wanted, _ratio(_mu(self.limit, found), _mu(self.limit, wanted)))
        value = self.measure(release)
        if self.kind == "epsilon" and self.at and not math.isinf(value):
            wanted = math.log(self.at)
            return _signed(self.within(value), _ratio(_mu(value, wanted), _mu(self.limit, wanted)))
        return _signed(self.within(value), _ratio(self._cost(value), self._cost(self.limit)))

    def spent(self, release: Release) -> float:
        """The measure over its limit, at most 1 if and only if the limit holds."""
        value = self.measure(release)
        ratio = math.exp(min(_ratio(self._cost(value), self._cost(self.limit)), 700.0))
        return min(ratio, 1.0) if self.within(value) else max(ratio, math.nextafter(1.0, 2.0))

    def over(self, release: Release) -> Unreachable:
        """The error of a release that is beyond the limit by itself."""
        return Unreachable(
            f"{release!r} has {self.kind} {shown(self.measure(release))} by itself, beyond {self}: nothing remains.  "
            f"Ask for a larger budget than that, or count fewer of its parts."
        )

    def _cost(self, value: float) -> float:
        """Zero for a release that gives nothing away, growing without a bound."""
        if self.kind == "advantage":
            return value / (1.0 - value) if value < 1.0 else math.inf
        if self.kind == "tpr":
            assert self.at is not None
            return max(0.0, value - self.at) / (1.0 - value) if value < 1.0 else math.inf
        if self.kind == "bayes_risk":
            assert self.at is not None
            return max(0.0, min(self.at, 1.0 - self.at) - value) / value if value > 0.0 else math.inf
        return value


def _log_down(value: float) -> float:
    return math.log(value) - 1e-15 * abs(math.log(value)) if value < 1.0 else 0.0


@functools.lru_cache(maxsize=64)
def _mu(epsilon: float, log_delta: float) -> float:
    """The mu of Gaussian noise that has this epsilon and delta: a guide, no part of an answer."""
    if log_delta >= 0.0:
        return math.inf
    return math.fsum(mu_bounds(epsilon, log_delta, log_delta)) / 2.0 if log_delta > -math.inf else 0.0


def _ratio(above: float, below: float) -> float:
    if above == below:
        return 0.0
    if above == 0.0 or math.isinf(below):
        return -math.inf
    return math.inf if below == 0.0 or math.isinf(above) else math.log(above / below)


def _signed(within: bool, gap: float) -> float:
    return min(gap, 0.0) if within else max(gap, math.ulp(0.0))


def _choices() -> str:
    return "epsilon and delta | mu (and delta) | rho | advantage | tpr and fpr | bayes_risk and prior"


def _checked(kind: str, named: dict[str, Any]) -> tuple[float, float | None]:
    check: Callable[[str, Any], float] = checks.non_negative if kind in ("epsilon", "mu", "rho") else probability
    limit = check(kind, named[kind])
    beside = next(iter(_KINDS[kind]), None)
    if beside is None or beside not in named:
        return limit, None
    at = probability(beside, named[beside])
    if kind == "mu" and at >= 1.0:
        raise BadValue("delta is 1.0; allowed: a probability from 0 to below 1.")
    if kind == "tpr" and limit < at:
        raise BadValue(f"tpr is {limit}, below fpr, {at}; allowed: from fpr up, which guessing reaches.")
    if kind == "bayes_risk" and limit > min(at, 1.0 - at):
        raise BadValue(
            f"bayes_risk is {limit}; allowed: at most {shown(min(at, 1.0 - at))}, the error of who guesses from "
            f"prior = {shown(at)} alone."
        )
    return limit, at
