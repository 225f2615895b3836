"""What is asked, what an engine is, and what is proved: the types that the driver and the engines share."""

import math
from collections.abc import Callable
from typing import ClassVar, Literal, NamedTuple

from ..composed import ComposedLoss
from ..protocol import Care, Inconclusive, Interval

By = tuple[str, ...]
"""The name of the engine that proved an end; of the compiled core also that of the engine that is compiled there."""


class Question(NamedTuple):
    """What is asked of the finite losses of a run."""

    asks: Literal["epsilon", "log delta"]
    at: float
    """log delta, or epsilon."""
    slack: float = 0.0
    """A bound of the rounding of log delta."""
    care: Care = Care.ONE
    delta: float | None = None
    """The delta of which `at` is the logarithm, if nothing was taken from it for infinite losses."""
    floor: float = 0.0
    """Ends of epsilon below it need not be close."""
    most: float = math.inf
    """An upper end of epsilon that is proved already."""
    evaluated: bool = False
    """Whether contours were evaluated for this ordered pair already, together with the others."""


class Proof(NamedTuple):
    """low <= truth <= high, and which engine proved either end; the truth is an epsilon, or the logarithm of a delta."""

    low: float
    high: float
    low_by: By = ()
    high_by: By = ()
    sound: bool = True
    """False once proofs contradicted each other."""

    @property
    def ends(self) -> Interval:
        """Both ends, without who proved them."""
        return self.low, self.high


Ask = Callable[[ComposedLoss, Question], Proof]
"""The driver itself, for an engine that goes by the answer for another run."""


class Engine:
    """One way to prove both ends, or one, of epsilon or of log delta for the finite losses of a run.

    An engine answers with both ends, or with a `Proof` where it says more of who proved them; with None if it leaves the question
    to others; and raises `Inconclusive` where it would have to spend too much.
    """

    name: ClassVar[str]
    method: ClassVar[str]  # as a report words it, with the keys of docs/bibliography.md in brackets
    needs: ClassVar[str] = "it proves nothing here"  # which runs it is for, where it is asked for another
    joint: ClassVar[bool] = False  # whether it takes all ordered pairs at once
    instead: ClassVar[bool] = False  # whether it is asked only where an engine before it was inconclusive

    def applies(self, run: ComposedLoss, question: Question) -> bool:
        """Whether it is worth asking."""
        return True

    def epsilon(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | Interval | None:
        """Both ends of the smallest epsilon >= 0 at which delta is at most this."""
        raise Inconclusive

    def log_delta(self, run: ComposedLoss, question: Question, known: Proof, ask: Ask) -> Proof | Interval | None:
        """Both ends of log delta."""
        raise Inconclusive
