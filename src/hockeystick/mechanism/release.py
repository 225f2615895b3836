"""The algebra of releases: + joins, * repeats, questions and samplers come from elsewhere."""

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

from .. import checks
from ..errors import BadType, BadValue, Unsupported
from ..neighbours import DEFAULT, ORDERS, STATED, Order, Relation, Stated, orders
from .questions.asked import Shown
from .questions.attacks import Attacks
from .questions.gaussian import GaussianQuestions
from .questions.law import LawQuestions
from .samplers import Samplers

if TYPE_CHECKING:
    from .. import loss as losses
    from ..draws.source import InsecureSeed
    from ..loss.composed import ComposedLoss
    from ..loss.engines.compiled import CoreAnswer
    from ..report.about import About
    from ..report.report import Report


class Release(Shown, LawQuestions, GaussianQuestions, Attacks, Samplers):
    """Anything that is released about the data: one mechanism, or several composed.

    They may be composed adaptively: which question each answers may depend on what was released before, and so may their order,
    and when to stop (the epsilon is that of all that was planned, docs/mathematics.md, Lemma 67).  Their noise, rates and counts
    are fixed in advance.  Where those are chosen in view of outputs, too, adding up what was chosen is no guarantee: draw from a
    budget, `hockeystick.filters` (Lemma 62, the basket and the reserve).

    Descriptions are values: frozen, hashable, comparable, picklable.  Asking a question changes nothing.
    """

    @property
    def stated(self) -> Relation:
        """The relation for which questions are answered unless they say otherwise.

        Returns
        -------
        Relation
            "add-or-remove", unless the release was made for another one.
        """
        return DEFAULT

    def _meant(self, neighbours: Relation) -> Relation:
        return self.stated if isinstance(neighbours, Stated) else neighbours

    def _orders(self, neighbours: Relation) -> tuple[Order, ...]:
        relation = self.stated if type(neighbours) is Stated else neighbours
        return ORDERS[relation] if type(relation) is str and relation in ORDERS else orders(relation)

    def _run(self, neighbours: Relation) -> "ComposedLoss":
        """The composed loss of the ordered pairs of the relation, made anew for every question.

        It keeps what it has worked out while it answers one, so that both ordered pairs, and the entries of an array, can share
        it; no answer depends on what was asked before.
        """
        from ..loss.composed import composed

        wanted = self._orders(neighbours)
        return composed(
            (loss, count * mechanism._rounds)
            for mechanism, count in self.parts
            if (loss := mechanism._pair_loss(wanted)) is not None
        )

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

    def report(
        self, delta: float, neighbours: Relation = STATED, mu_delta: float = 1e-10, about: "About | None" = None
    ) -> "Report":
        """All answers at this delta, with what they rest on; prints, shows in notebooks, `.to_json()`, `.plot()`.

        Parameters
        ----------
        delta : float
            The delta of the report, from 0 to below 1.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.
        mu_delta : float, default 1e-10
            The delta up to which mu is given; at most `delta` is used.
        about : About, optional
            What people say of the run: title, data set, unit of privacy, and the name and purpose of each release.

        Returns
        -------
        Report
            The answers; each is computed when it is first shown.

        Raises
        ------
        BadType
            If delta or mu_delta is no number, neighbours no text, or about no `About`.
        BadValue
            If delta or mu_delta is no probability, delta is 1, neighbours no relation, or about names other releases than these.
        Unsupported
            If no theorem covers a part of the release under this relation.

        Examples
        --------
        >>> import hockeystick as hs
        >>> print(hs.Gaussian(sigma=2.0).report(delta=1e-6).statement.partition(" for ")[0])
        The release is (ε, δ)-differentially private with ε = 2.26 and δ = 1e-06
        """
        from ..report.report import report

        return report(self, delta, neighbours, mu_delta, about)

    def release(self, value: Any, rng: "InsecureSeed | None" = None) -> Any:
        """The value with this mechanism's randomness, drawn exactly: what epsilon speaks of (docs/releasing.md).

        Parameters
        ----------
        value : number or array_like
            What is to be released, to the last bit; each mechanism describes what it takes.
        rng : InsecureSeed, optional
            Where the randomness comes from: the operating system, unless tests or figures need a seed.

        Returns
        -------
        number or ndarray
            What may be shown.

        Raises
        ------
        BadType
            If value is of a type that the mechanism does not take, or rng of another one.
        BadValue
            If value breaks what epsilon rests on: it is NaN or infinite, or no whole number where one is needed.
        Unsupported
            If nothing is run by this description: a claim, or a run of several releases, each of which is released by itself.

        Examples
        --------
        >>> import hockeystick as hs
        >>> abs(hs.Laplace(scale=2.0).release(10.0) - 10.0) < 200.0
        True
        """
        raise Unsupported(f"{self!r} is not released: {self._why_not_run}")

    @property
    def _why_not_run(self) -> str:
        """Why nothing is run by it, and what to do."""
        if not self.parts:
            return "it is empty, so there is nothing to release.  Release a mechanism, such as hs.Gaussian(sigma=2.0)."
        if len(self.parts) == 1 and self.parts[0][1] == 1:
            return "it says what holds, not what is done.  Release by the mechanism of which it speaks."
        return (
            "a run of several releases has an answer for each.  Release them one by one, `for mechanism, count in run.parts`, "
            "each `mechanism.release(value)` as often as it counts."
        )

    def to_json(self) -> str:
        """The description as JSON text, with a version; `hockeystick.from_json` undoes it.

        Returns
        -------
        str
            One line of JSON; docs/run.schema.json is the schema.

        Raises
        ------
        BadType
            If a part is of a class that is not of this library.
        Unsupported
            If a part was made from a function, which JSON cannot hold.
        """
        from ..portable import to_json

        return to_json(self)


class Mechanism(Release):
    """One mechanism, used once; `_group_size` says of how large groups of records it speaks, if it can tell."""

    _group_size: ClassVar[int | None] = None
    _rounds = 1  # how often its `_pair_loss` counts in one use
    _why_not_sampled: ClassVar[str | None] = None  # and what to do; None if a sampler may feed it

    @property
    def _own_records(self) -> int | None:
        """The number of records of the data, where the mechanism depends on it."""
        return None

    def __init_subclass__(cls, **more: Any) -> None:
        """A class with a loss of its own does not inherit the direct answers of another."""
        super().__init_subclass__(**more)
        if {"_pair_loss", "_claimed_loss"} & vars(cls).keys() and "_direct" not in vars(cls):
            cls._direct = Mechanism._direct  # type: ignore[method-assign]
            cls._direct_log_delta = Mechanism._direct_log_delta  # type: ignore[method-assign]

    @property
    def parts(self) -> "tuple[tuple[Mechanism, int], ...]":
        """The mechanism itself, once.

        Returns
        -------
        tuple of (Mechanism, int)
            One pair.
        """
        return ((self, 1),)

    @property
    def _claimed_for(self) -> Relation:
        """The relation for which it is stated what it does: a claim may be made for another than add-or-remove."""
        return DEFAULT

    @abstractmethod
    def _pair_loss(self, wanted: tuple[Order, ...]) -> "losses.Loss | None":
        """The privacy loss for these ordered pairs (a `Loss`, or bounds of one); None where nothing is lost."""

    def _direct(self, wanted: tuple[Order, ...], count: int, delta: float) -> "CoreAnswer":
        """Both ends of epsilon of so many uses, if the core or a closed form has them; some mechanism attains it."""
        return None

    def _direct_log_delta(self, wanted: tuple[Order, ...], count: int, epsilon: float) -> "CoreAnswer":
        """The same for log delta."""
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
        """The distinct mechanisms and how often each is used.

        Returns
        -------
        tuple of (Mechanism, int)
            Each mechanism with its count.
        """
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
    """Several releases together, the same as joining them with +; adaptively, with parameters that are fixed in advance.

    Which question a mechanism answers may depend on what was released before; its noise, its rate and how often it is used may
    not: fully adaptive composition needs a privacy filter, which this is not (`hockeystick.filters` has them).

    Parameters
    ----------
    releases : iterable of Release
        The parts; none gives the empty release.

    Returns
    -------
    Release
        Their composition: equal parts are merged, their counts added.

    Raises
    ------
    BadType
        If releases is no sequence, or holds something else.
    BadValue
        If parts speak of groups of different sizes, or runs are stated for different relations.

    Examples
    --------
    >>> import hockeystick as hs
    >>> hs.compose([hs.Gaussian(sigma=2.0), hs.Laplace(scale=1.0), hs.Gaussian(sigma=2.0)])
    Gaussian(sigma=2.0) * 2 + Laplace(scale=1.0)
    """
    listed = checks.listed("releases", releases, "a sequence of releases, as in compose([a, b * 3])")
    for release in listed:
        if not isinstance(release, Release):
            raise BadType(f"releases contains {release!r}; allowed: releases such as Gaussian(sigma=2.0).")
    plain = joined(part for release in listed if type(release).__add__ is Release.__add__ for part in release.parts)
    return sum((release for release in listed if type(release).__add__ is not Release.__add__), start=plain)
