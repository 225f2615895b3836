"""A run with the relation it is meant for and the words that say what was assumed."""

from typing import Any

from ..errors import BadValue
from ..neighbours import Relation
from .release import Mechanism, Release, joined

_PHASE, _RELATION = "Phase ", "Neighbours:"


class Training(Release):
    """A run of training: `neighbours` is what its questions are answered for unless they say otherwise; `statement` says the
    rest.

    Runs join with + if they are meant for the same relation; then `notes` tell of one phase after the other.  It equals the
    plain release of the same parts and relation.
    `repr` shows the relation, `print` the statement, too; `run` is the plain release.

    Parameters
    ----------
    run : Release
        The plain release.
    neighbours : Relation
        The relation that it is meant for.
    notes : tuple of str
        What was counted and assumed, a sentence each.
    examples : int, optional
        The number of records, if it is known: a delta above one over it is warned of.
    """

    def __init__(self, run: Release, neighbours: Relation, notes: tuple[str, ...], examples: int | None = None) -> None:
        self.run, self.neighbours, self.notes, self.examples = run, neighbours, notes, examples
        self._counts_records = examples is not None

    @property
    def _records(self) -> int | None:
        return max((known for known in (self.examples, super()._records) if known is not None), default=None)

    @property
    def parts(self) -> tuple[tuple[Mechanism, int], ...]:
        """The distinct mechanisms and how often each is used.

        Returns
        -------
        tuple of (Mechanism, int)
            Each mechanism with its count.
        """
        return self.run.parts

    @property
    def stated(self) -> Relation:
        """The relation that the run is meant for.

        Returns
        -------
        Relation
            That of `neighbours`.
        """
        return self.neighbours

    @property
    def statement(self) -> str:
        """What was counted, how numbers were rounded, what the noise is relative to, the sampling scheme and the relation.

        Returns
        -------
        str
            The notes, a line each.
        """
        return "\n".join(self.notes)

    def _notes_for(self, neighbours: Relation) -> tuple[str, ...]:
        """The notes, without that of the relation if another one is asked for."""
        return self.notes if neighbours == self.neighbours else _written(_phases(self.notes), ())

    def __add__(self, other: Any) -> "Training":
        if not isinstance(other, Release):
            return NotImplemented
        if other.stated != self.neighbours and isinstance(other, Training):
            raise BadValue(
                f"one run is stated for neighbours={self.neighbours!r}, the other for {other.stated!r}; "
                "allowed: runs for one relation."
            )
        both = joined([*self.parts, *other.parts])
        known = [one.examples for one in (self, other) if isinstance(one, Training) and one.examples is not None]
        examples = max(known, default=None)
        if not other.parts:
            return Training(both, self.neighbours, self.notes, examples)
        more = other.notes if isinstance(other, Training) else (f"{other!r}.",)
        return Training(both, self.neighbours, _written([*_phases(self.notes), *_phases(more)], self.notes), examples)

    def __radd__(self, other: Any) -> "Training":
        if type(other) is int and other == 0:
            return self
        return self + other if isinstance(other, Release) else NotImplemented

    def __mul__(self, count: Any) -> "Training":
        if isinstance(count, Release):
            return NotImplemented
        run = self.run * count
        return self if run == self.run else self._renamed(run, f"All of this {count} times.")

    def _renamed(self, run: Release, note: str) -> "Training":
        """Another run with the notes of this one, and one more in each phase."""
        phases = [[*phase, note] for phase in _phases(self.notes)]
        return Training(run, self.neighbours, _written(phases, self.notes), self.examples)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Release):
            return NotImplemented
        return frozenset(self.parts) == frozenset(other.parts) and self.stated == other.stated

    def __hash__(self) -> int:
        return hash(self.run)

    def __repr__(self) -> str:
        return f"Training({self.run!r}, neighbours={self.neighbours!r})"

    def __str__(self) -> str:
        return f"{self.run!r}\n{self.statement}"


def _phases(notes: tuple[str, ...]) -> list[list[str]]:
    """The notes of each phase, without that of the relation."""
    phases: list[list[str]] = [[]]
    for note in notes:
        if note.startswith(_PHASE) and note.endswith(":"):
            phases.append([])
        elif not note.startswith(_RELATION):
            phases[-1].append(note)
    return [phase for phase in phases if phase]


def _written(phases: list[list[str]], notes: tuple[str, ...]) -> tuple[str, ...]:
    """The notes of these phases, numbered if there are several, and that of the relation."""
    found: list[str] = []
    for place, phase in enumerate(phases, 1):
        found += [f"{_PHASE}{place}:", *phase] if len(phases) > 1 else phase
    return (*found, *(note for note in notes if note.startswith(_RELATION)))
