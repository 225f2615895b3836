"""Masses that another library has stored, as an upper claim."""

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ... import checks
from ... import loss as losses
from ...errors import BadType, BadValue, Unsupported
from ...neighbours import DEFAULT, Order, Relation
from ..claim import Claim

if TYPE_CHECKING:
    import numpy.typing as npt

    from ...loss.own.stored import StoredLoss


class Stored(NamedTuple):
    """One order: masses of the losses (first + i) step, and the probability of an infinite one."""

    step: float
    first: int
    masses: "npt.NDArray[np.float64]"
    infinite: float


@dataclass(frozen=True, repr=False, init=False)
class StoredMasses(Claim):
    """What another library computed from above, as masses of the privacy loss: it composes and is sampled like anything else.

    An upper claim without a lower end: the lower end of every answer is trivial.  It is as true as what was stored: the
    rounding of that library is not certified, and reports say so.  `hockeystick.interop.dp_accounting.from_pld` makes it.

    Parameters
    ----------
    remove : Stored
        The law of the loss of the output with the record against that without it, under the former.
    add : Stored or None
        That of the other order; without it the other order is that of the same pair.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation that the masses speak of.
    source : str
        The library.
    symmetric : bool, default False
        Whether `remove` holds for both orders.

    Raises
    ------
    BadType
        If neighbours is no text.
    BadValue
        If the masses are no probabilities, or the relation is another one.
    Unsupported
        If the relation is symmetric and the masses of both orders differ, or all of the mass is at an infinite loss.
    """

    laws: tuple[Any, Any] = field(repr=False)
    neighbours: Relation
    source: str

    def __init__(
        self,
        remove: Stored,
        add: Stored | None = None,
        neighbours: Relation = DEFAULT,
        source: str = "another library",
        symmetric: bool = False,
    ) -> None:
        first = _law("remove", remove)
        second = first if symmetric else None if add is None else _law("add", add)
        self._set(laws=(first, second), neighbours=neighbours, source=str(source))
        if neighbours != DEFAULT and second != first:
            raise Unsupported(
                f"the masses of both orders differ; under {neighbours!r} either may come first at every step, which is accounted "
                "for where they are equal only.  State them for add-or-remove."
            )

    def _parameters(self) -> dict[str, Any]:
        shown = {"masses": int(self.laws[0].log_p.size), "step": self.laws[0].step}
        return {**shown, "source": self.source, **self._relation()}

    @cached_property
    def _other_order(self) -> Any:
        """The other order of the same pair."""
        atoms = self.laws[0].atoms
        values = zip((-atoms.z).tolist(), atoms.log_q.tolist(), atoms.log_p.tolist(), strict=True)
        law = self.laws[0]
        return losses.TabulatedLoss(tuple(values), law.infinite_mass_under_q, law.infinite_mass, atoms.error)

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        from ...loss.pairs.ordered import ordered_pairs

        if self._twice(wanted):
            raise Unsupported(
                f"{self!r} speaks of add-or-remove; of a replacement it says nothing that is offered here.  Ask for "
                "add-or-remove, or store the masses of a replacement."
            )
        found = [self._of(order in ("remove", "erase", "replace")) for order in wanted]
        return losses.BracketedLoss((ordered_pairs(found),), ())

    def _of(self, removal: bool) -> Any:
        return self.laws[0] if removal else self.laws[1] or self._other_order

    def _claimed_loss(self, twice: bool) -> Any:
        return self.laws[0]

    @property
    def _assumed(self) -> tuple[str, ...]:
        return (f"The masses of {self.source} bound the release from above as stored; that library's rounding is not certified.",)


def _law(name: str, given: Stored) -> "StoredLoss":
    from ...loss.own.stored import stored_loss

    if not isinstance(given, Stored):
        raise BadType(f"{name} is {given!r}; allowed: Stored(step, first, masses, infinite).")
    step, infinite = checks.positive("step", given.step), checks.probability("infinite", given.infinite)
    masses = np.asarray(given.masses, dtype=np.float64)
    if masses.ndim != 1 or not np.isfinite(masses).all() or masses.max(initial=0.0) > 1.0 + 1e-6:
        raise BadValue(f"the masses of {name} are no list of probabilities.")
    if not abs(math.fsum(masses.tolist()) + infinite - 1.0) < 1e-3:
        total = math.fsum(masses.tolist()) + infinite
        raise BadValue(f"the masses of {name} and the probability of an infinite loss sum to {total!r}; allowed: about 1.")
    return stored_loss(step, int(given.first), masses, infinite)
