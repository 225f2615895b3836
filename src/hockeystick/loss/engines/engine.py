"""What an engine is: one way to prove an interval, with its name, its sources and the runs that it is for."""

from collections.abc import Callable
from typing import ClassVar

from ..composed import ComposedLoss
from ..protocol import Inconclusive, Interval, Question
from .proof import Proof

Ask = Callable[[ComposedLoss, Question], Proof]
"""The driver itself, for an engine that goes by the answer for another run."""


class Engine:
    """One way to prove both ends, or one, of epsilon or of log delta for the finite losses of a run."""

    name: ClassVar[str]
    method: ClassVar[str]  # as a report words it, with the keys of docs/bibliography.md in brackets
    needs: ClassVar[str] = "it proves nothing here"  # which runs it is for, where it is asked for another
    joint: ClassVar[bool] = False  # whether it takes all ordered pairs at once
    instead: ClassVar[bool] = False  # whether it is asked only where an engine before it was inconclusive

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        """Whether it is worth asking."""
        return True

    def prove(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | None:
        """What it proves; None if it leaves the question to others.

        Raises Inconclusive where it would have to spend too much.
        """
        found = (
            self.epsilon(run, question, known, ask) if question.asks == "epsilon" else self.log_delta(run, question, known, ask)
        )
        return Proof(*found, (self.name,), (self.name,)) if found is not None and not isinstance(found, Proof) else found

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | Interval | None:
        """Both ends of the smallest epsilon >= 0 at which delta is at most this."""
        raise Inconclusive

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | Interval | None:
        """Both ends of log delta."""
        raise Inconclusive
