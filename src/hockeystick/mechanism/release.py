"""The algebra of releases (+ joins, * repeats) and the questions that can be asked of any of them."""

import math
import numbers
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from .. import checks
from .. import loss as losses
from ..bounds import Bounds
from ..errors import BadType, BadValue
from ..loss.engines.compiled import close
from ..neighbours import DEFAULT, STATED, Order, Stated, orders
from ..numerics.rounding import exp_ends
from .attack import Attacks
from .entries import each

if TYPE_CHECKING:
    from ..loss.composed import ComposedLoss
    from ..report.report import Report
    from ..sampling.fixed_size import WithoutReplacement, WithReplacement
    from ..sampling.full_pass import FullPass
    from ..sampling.poisson import Poisson


Ends = tuple[float, float]
Question = Callable[["ComposedLoss", list[float]], list[Ends]]


class Release(Attacks):
    """Anything that is released about the data: one mechanism, or several composed (also adaptively).

    Descriptions are values: frozen, hashable, comparable, picklable.  Asking a question changes nothing.
    """

    @property
    @abstractmethod
    def parts(self) -> "tuple[tuple[Mechanism, int], ...]":
        """The distinct mechanisms and how often each is used."""

    @property
    def stated(self) -> str:
        """The relation for which questions are answered unless they say otherwise."""
        return DEFAULT

    def _meant(self, neighbours: str) -> str:
        return self.stated if isinstance(neighbours, Stated) else neighbours

    # composition

    def __add__(self, other: Any) -> "Release":
        if not isinstance(other, Release) or type(other).__add__ is not Release.__add__:  # which keeps its relation
            return NotImplemented
        return joined([*self.parts, *other.parts])

    def __radd__(self, other: Any) -> "Release":
        return self if type(other) is int and other == 0 else NotImplemented  # so that sum() works

    def __mul__(self, count: Any) -> "Release":
        if type(count) is not int and isinstance(count, Release):
            return NotImplemented
        times, parts = checks.count("count", count), self.parts
        if len(parts) == 1:
            return _repeated(parts[0][0], parts[0][1] * times)
        return joined([(mechanism, used * times) for mechanism, used in parts])

    __rmul__ = __mul__

    def poisson(self, rate: float) -> "Poisson":
        """The same on a Poisson sample: every record takes part independently with probability `rate`.

        On a composition, one sample feeds all parts.

        >>> import hockeystick as hs
        >>> step = hs.Gaussian(sigma=1.1).poisson(rate=0.01)
        >>> round((step * 10_000).epsilon(delta=1e-5), 6)
        5.192583
        """
        from ..sampling.poisson import Poisson

        return Poisson(self, rate)

    def without_replacement(self, batch: int, examples: int) -> "WithoutReplacement":
        """The same on a batch of `batch` out of `examples` records, drawn anew and uniformly, without replacement.

        >>> import hockeystick as hs
        >>> run = hs.Gaussian(sigma=2.0).without_replacement(batch=100, examples=10_000) * 1000
        >>> round(run.epsilon(delta=1e-6, neighbours="remove"), 6)
        2.124515
        """
        from ..sampling.fixed_size import WithoutReplacement

        return WithoutReplacement(self, batch, examples)

    def with_replacement(self, draws: int, examples: int) -> "WithReplacement":
        """The same on `draws` records, each drawn uniformly from all `examples`, so that one may come several times.

        >>> import hockeystick as hs
        >>> run = hs.Gaussian(sigma=2.0).with_replacement(draws=100, examples=10_000) * 1000
        >>> round(run.epsilon(delta=1e-6, neighbours="remove"), 4)
        2.2419
        """
        from ..sampling.fixed_size import WithReplacement

        return WithReplacement(self, draws, examples)

    def full_pass(self, by: str) -> "FullPass":
        """The same on every batch of a pass in which each record comes once; `by` is "shuffle", "position" or "id".

        >>> import hockeystick as hs
        >>> epoch = hs.Gaussian(sigma=4.0).full_pass(by="shuffle")
        >>> round((epoch * 10).epsilon(delta=1e-5, neighbours="replace"), 6)
        7.511276
        """
        from ..sampling.full_pass import FullPass

        return FullPass(self, by)

    def group(self, size: int) -> "Release":
        """The same for groups: `size` records are added, removed, replaced or zeroed out together.

        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=6.0).group(size=3).epsilon(delta=1e-5), 6)
        1.993091
        """
        from ..sampling.group import grouped

        return grouped(self, size)

    # questions

    def epsilon(self, delta: Any, neighbours: str = STATED) -> Any:
        """The smallest epsilon >= 0 for which the release is (epsilon, delta)-DP: a certified upper bound.

        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=1.0).epsilon(delta=1e-5), 6)
        4.377178
        """
        return self.epsilon_bounds(delta, neighbours).upper

    def epsilon_bounds(self, delta: Any, neighbours: str = STATED) -> Bounds:
        """Both ends of `epsilon`.

        >>> import hockeystick as hs
        >>> bounds = hs.Gaussian(sigma=1.0).epsilon_bounds(delta=1e-5)
        >>> print(f"{bounds.lower:.10f} <= epsilon <= {bounds.upper:.10f}")
        4.3771780957 <= epsilon <= 4.3771780957
        """
        if type(delta) is float and 0.0 < delta < 1.0 and len(parts := self.parts) == 1:
            ((mechanism, count),) = parts
            if ends := close(mechanism._direct(orders(self._meant(neighbours)), count, delta)):
                return Bounds(*ends)
        return self._answered(losses.epsilon_intervals, neighbours, "delta", delta, checks.non_negative)

    def delta(self, epsilon: Any, neighbours: str = STATED) -> Any:
        """The smallest delta for which the release is (epsilon, delta)-DP: a certified upper bound.

        >>> import hockeystick as hs
        >>> round(hs.Laplace(scale=2.0).delta(epsilon=0.25), 6)
        0.117503
        """
        return self.delta_bounds(epsilon, neighbours).upper

    def delta_bounds(self, epsilon: Any, neighbours: str = STATED) -> Bounds:
        """Both ends of `delta`; epsilon may be negative (then delta >= 1 - e^epsilon)."""
        found = self.log_delta_bounds(epsilon, neighbours)
        return Bounds(*exp_ends(found.lower, found.upper), found.tight)

    def log_delta_bounds(self, epsilon: Any, neighbours: str = STATED) -> Bounds:
        """Both ends of log delta(epsilon), for deltas below the smallest double.

        >>> import hockeystick as hs
        >>> hs.Gaussian(sigma=1.0).log_delta_bounds(epsilon=100.0).upper < -4900
        True
        """
        return self._answered(losses.log_delta_intervals, neighbours, "epsilon", epsilon, _any_real)

    def profile(self, epsilons: Any, neighbours: str = STATED) -> Any:
        """The privacy profile: an array of upper bounds of delta, one for each epsilon."""
        import numpy as np

        return self.delta(np.atleast_1d(np.asarray(epsilons)), neighbours)

    def advantage(self, neighbours: str = STATED) -> float:
        """delta(0), the total variation distance: how far an attacker's true-positive rate can exceed the false-positive rate.

        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=1.0).advantage(), 6)
        0.382925
        """
        return float(self.delta(0.0, neighbours))

    def rdp(self, order: Any, neighbours: str = STATED) -> Any:
        """The Rényi divergence of any real order > 1, of order 1 (Kullback-Leibler) or inf (the largest loss), rounded up.

        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=2.0).rdp(order=2.5), 12)
        0.3125
        """

        def ask(run: "ComposedLoss", values: list[float]) -> list[Ends]:
            bounds = [min(losses.renyi_bound(one, value) for one in run.variants("covers")) for value in values]
            return [(bound, bound) for bound in bounds]

        return self._answered(ask, neighbours, "order", order, _renyi_order).upper

    def _answered(self, ask: Question, neighbours: str, name: str, value: Any, check: Callable[[str, Any], float]) -> Bounds:
        """Ask of a number, or of each entry of an array."""
        run = self._run(neighbours)
        low, high = each(name, value, check, lambda number: ask(run, [number])[0], lambda numbers: ask(run, numbers))
        return Bounds(low, high, run.tight)

    def report(self, delta: float, neighbours: str = STATED, mu_delta: float = 1e-10) -> "Report":
        """All answers at this delta, with what they rest on; prints, shows in notebooks, `.to_json()`, `.plot()`.

        >>> import hockeystick as hs
        >>> print(hs.Gaussian(sigma=2.0).report(delta=1e-6).statement.partition(" for ")[0])
        The release is (ε, δ)-differentially private with ε = 2.26 and δ = 1e-06
        """
        from ..report.report import report

        return report(self, delta, neighbours, mu_delta)

    def to_json(self) -> str:
        """The description as JSON text, with a version; `hockeystick.from_json` undoes it."""
        from ..portable import to_json

        return to_json(self)

    def _run(self, neighbours: str) -> "ComposedLoss":
        """The composed loss of the ordered pairs of the relation, made anew for every question.

        It keeps what it has worked out while it answers one, so that both ordered pairs, and the entries of an array, can share
        it; no answer depends on what was asked before.
        """
        from ..loss.composed import composed

        wanted = orders(self._meant(neighbours))
        return composed((loss, count) for mechanism, count in self.parts if (loss := mechanism._pair_loss(wanted)) is not None)


class Mechanism(Release):
    """One mechanism, used once; `_group_size` says of how large groups of records it speaks, if it can tell."""

    _group_size: ClassVar[int | None] = None

    def __init_subclass__(cls, **more: Any) -> None:
        """A class with a loss of its own does not inherit what is told directly of another."""
        super().__init_subclass__(**more)
        if {"_pair_loss", "_claimed_loss"} & vars(cls).keys() and "_direct" not in vars(cls):
            cls._direct = Mechanism._direct  # type: ignore[method-assign]

    @property
    def parts(self) -> "tuple[tuple[Mechanism, int], ...]":
        return ((self, 1),)

    @property
    def _claimed_for(self) -> str:
        """The relation for which it is stated what it does: a claim may be made for another than add-or-remove."""
        return DEFAULT

    @abstractmethod
    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        """The privacy loss for these ordered pairs (a `Loss`, or bounds of one); None where nothing is lost."""

    def _direct(self, wanted: tuple[Order, ...], count: int, delta: float) -> Ends | None:
        """Both ends of epsilon of so many uses, if that is told at once; some mechanism attains it."""
        return None

    def _parameters(self) -> dict[str, Any]:
        """The arguments that make it, those at their defaults left out."""
        return {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self._parameters().items())})"

    @property
    def _squared_mu(self) -> float | None:
        """If the release is dominated by N(mu, 1) against N(0, 1) under add-or-remove: mu squared."""
        return None


@dataclass(frozen=True, eq=False, repr=False)
class Composition(Release):
    """Several mechanisms with their counts.  The order does not matter, so it does not count for equality."""

    uses: tuple[tuple[Mechanism, int], ...]

    @property
    def parts(self) -> tuple[tuple[Mechanism, int], ...]:
        return self.uses

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Composition):
            return NotImplemented
        return frozenset(self.uses) == frozenset(other.uses)

    def __hash__(self) -> int:
        return hash(frozenset(self.uses))

    def __repr__(self) -> str:
        if not self.uses:
            return "compose([])"
        return " + ".join(f"{mechanism!r} * {count}" if count > 1 else repr(mechanism) for mechanism, count in self.uses)


def joined(uses: Iterable[tuple[Mechanism, int]]) -> Release:
    """One release from mechanisms and counts: equal ones merge, unused ones go."""
    used = [(mechanism, count) for mechanism, count in uses if count]
    if len(used) > 1:
        used = _merged(used)
    return _repeated(*used[0]) if len(used) == 1 else Composition(tuple(used))


def _repeated(mechanism: Mechanism, count: int) -> Release:
    if count == 1:
        return mechanism
    uses = ((mechanism, checks.count("count", count)),) if count else ()
    made: Release = type.__call__(Composition, uses)  # no argument is misspelt
    return made


def _merged(uses: list[tuple[Mechanism, int]]) -> list[tuple[Mechanism, int]]:
    counts: dict[Mechanism, int] = {}
    for mechanism, count in uses:
        counts[mechanism] = checks.count("count", counts.get(mechanism, 0) + count)
    sizes = sorted({mechanism._group_size for mechanism in counts if mechanism._group_size is not None})
    if len(sizes) > 1:
        raise BadValue(
            f"the parts speak of groups of {' and of '.join(map(str, sizes))} records; allowed: one size.  "
            "Join everything first and take the group of the whole run, as in (a + b).group(3)."
        )
    return list(counts.items())


def compose(releases: Iterable[Release]) -> Release:
    """Several releases together, adaptively or not; the same as joining them with +.

    >>> import hockeystick as hs
    >>> hs.compose([hs.Gaussian(sigma=2.0), hs.Laplace(scale=1.0), hs.Gaussian(sigma=2.0)])
    Gaussian(sigma=2.0) * 2 + Laplace(scale=1.0)
    """
    try:
        listed = list(releases)
    except TypeError:
        raise BadType(f"releases is {releases!r}; allowed: a sequence of releases, as in compose([a, b * 3]).") from None
    for release in listed:
        if not isinstance(release, Release):
            raise BadType(f"releases contains {release!r}; allowed: releases such as Gaussian(sigma=2.0).")
    plain = joined(part for release in listed if type(release).__add__ is Release.__add__ for part in release.parts)
    return sum((release for release in listed if type(release).__add__ is not Release.__add__), start=plain)


def _any_real(name: str, value: Any) -> float:
    return checks.real(name, value, "a finite number")


def _renyi_order(name: str, value: Any) -> float:
    allowed = "a number from 1 up, or inf"
    if isinstance(value, numbers.Real) and value == math.inf:
        return math.inf
    order = checks.real(name, value, allowed)
    if order < 1.0:
        raise BadValue(f"{name} is {order}; allowed: {allowed}.")
    return order
