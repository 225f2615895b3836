"""What is proved of an answer, and by which engines: intervals are intersected in one place."""

import math
import os
from typing import NamedTuple

from ..protocol import Interval

STRICT = os.environ.get("HOCKEYSTICK_STRICT", "0") not in ("", "0")
"""Whether proofs that contradict each other raise (under test), or leave the safe side only (in use)."""

_ROUNDING = 1e-6  # relative to the ends: what contradicts by more is no matter of rounding

By = tuple[str, ...]
"""The name of the engine that proved an end; after it the names of those whose answers it used."""


class Contradiction(Exception):
    """Two proofs cannot both hold: one of the engines has a bug."""


class Proof(NamedTuple):
    """low <= truth <= high, and which engine proved either end; the truth is an epsilon, or the logarithm of a delta.

    >>> known = Proof(0.0, 2.0, high_by=("contour",)).meet(Proof(1.0, 3.0, ("lattice",), ("lattice",)))
    >>> known.low, known.high, known.low_by, known.high_by
    (1.0, 2.0, ('lattice',), ('contour',))
    """

    low: float
    high: float
    low_by: By = ()
    high_by: By = ()
    sound: bool = True  # False once proofs contradicted each other

    @property
    def ends(self) -> Interval:
        """Both ends, without who proved them."""
        return self.low, self.high

    def meet(self, other: "Proof") -> "Proof":
        """What both prove together.

        If they contradict each other, the larger upper end is kept and no lower one, and nothing that is found later lowers it.
        """
        low, low_by = (other.low, other.low_by) if other.low > self.low else (self.low, self.low_by)
        high, high_by = (other.high, other.high_by) if other.high < self.high else (self.high, self.high_by)
        if self.sound and other.sound:
            if low <= high:
                return Proof(low, high, low_by, high_by)
            if not contradict(low, high):
                return Proof(high, low, high_by, low_by)  # as wide as rounding makes them
            if STRICT:
                raise Contradiction(f"{other} cannot hold beside {self}")
        top = self if self.high > other.high else other
        return Proof(-math.inf, top.high, (), top.high_by, sound=False)

    def used_by(self, name: str) -> "Proof":
        """The same as an engine's own, which asked others for it."""
        return self._replace(low_by=(name, *self.low_by), high_by=(name, *self.high_by))


def contradict(low: float, high: float) -> bool:
    """Whether two proved ends cannot both be right, however they were rounded.

    >>> contradict(1.0, 1.0 - 1e-9), contradict(1.0, 0.9), contradict(-60.0, -math.inf)
    (False, True, True)
    """
    return low > high + (_ROUNDING * (1.0 + abs(high)) if math.isfinite(high) else 0.0)


def largest_of(proofs: "list[Proof]") -> Proof:
    """The proof of the largest of several unknowns: each end is the largest of theirs."""
    low = max(proofs, key=lambda one: one.low)
    high = max(proofs, key=lambda one: one.high)
    return Proof(low.low, high.high, low.low_by, high.high_by, all(one.sound for one in proofs))
