"""Your own pair of distributions."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...errors import Unsupported
from ...neighbours import DEFAULT, Order, Relation
from ..claim import Claim
from .masses import check_ratios, distribution, shared_outcomes
from .values import PairValues

if TYPE_CHECKING:
    from ...loss.own.finite import FiniteLoss

_FEW = 12  # outcomes that are shown one by one


@dataclass(frozen=True, repr=False, init=False)
class Pair(PairValues, Claim):
    """Your own pair: `p` is the output with the record, `q` the output without it, and the two are all that is ever released.

    You state that no neighbouring data sets are easier to tell apart than these two (that the pair dominates), as the laws of
    the two outputs do where there are no others.  Under add-or-remove "remove" is (p, q) and "add" is (q, p); under zero-out q
    is the output with a null record.  Of a replacement either may come first, at every step anew, so the pair of the larger of
    both curves is composed (docs/mathematics.md, Lemma 34); the lower end is what p against q, or q against p, attains.  A pair
    that is stated for one relation says nothing of another, but replace-one covers zero-out.

    Masses are exact: whole numbers, fractions, decimals, texts such as "1/3"; doubles are taken as they are and scaled to sum
    to 1 if they do so but for rounding.

    Parameters
    ----------
    p : dict or sequence
        The masses of the output with the record: by outcome, or in the order of those of q.
    q : dict or sequence
        The same without it.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation that the pair is stated for.

    Raises
    ------
    BadType
        If p and q are neither two dicts nor two sequences of numbers, or neighbours is no text.
    BadValue
        If the masses do not sum to 1, one is negative, the sequences differ in length, or the pair is stated for another
        relation.
    Unsupported
        If p and q share no outcome.

    Examples
    --------
    >>> coin = Pair({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    >>> round((coin * 10).epsilon(delta=1e-3), 6)
    10.968206
    >>> coin.hockey_stick(2)
    Bounds(lower=0.25, upper=0.25, tight=True)
    """

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    neighbours: Relation
    outcomes: tuple[Hashable, ...] = field(compare=False)

    def __init__(self, p: Any, q: Any, neighbours: Relation = DEFAULT) -> None:
        outcomes, first, second = shared_outcomes(p, q)
        given = distribution("p", first), distribution("q", second)
        check_ratios(*given)
        if not any(one and other for one, other in zip(*given, strict=True)):
            raise Unsupported(
                "p and q share no outcome, so every output tells which it was: delta is 1 at every epsilon, and there is nothing "
                "to account for.  Of a sample of rate r, give the mixture itself: p' = (1 - r) q + r p."
            )
        self._set(p=given[0], q=given[1], outcomes=outcomes, neighbours=neighbours)

    def _parameters(self) -> dict[str, Any]:
        return {**self._written(), **self._relation()}

    def _written(self) -> dict[str, Any]:
        """p and q as they can be given again."""
        texts = [str(mass) for mass in self.p], [str(mass) for mass in self.q]
        if self.outcomes == tuple(range(len(self.p))) or not all(isinstance(one, str) for one in self.outcomes):
            return {"p": texts[0], "q": texts[1]}
        return {name: dict(zip(self.outcomes, masses, strict=True)) for name, masses in zip("pq", texts, strict=True)}

    def __repr__(self) -> str:
        if len(self.p) <= _FEW:
            return super().__repr__()
        relation = "".join(f", {name}={value!r}" for name, value in self._relation().items())
        return f"Pair(p=<{len(self.p):,} masses>, q=<as many>{relation})"

    @cached_property
    def _finite(self) -> "FiniteLoss":
        from ...loss.own.finite import finite_loss

        return finite_loss(zip(self.p, self.q, strict=True))

    @cached_property
    def _either(self) -> Any:
        """p against q or q against p, whichever is worse at each epsilon."""
        from ...loss.own.finite import both_orders

        return both_orders(self._finite)

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        from ...loss.pairs.ordered import ordered_pairs

        if self._twice(wanted):
            raise Unsupported(
                f"{self!r} is stated for add-or-remove; of a replacement the two outputs are those with either record, which it "
                "does not say.  Make the pair of these two with neighbours='replace', or ask for add-or-remove."
            )
        if self.p == self.q:
            return None
        if self.neighbours == "replace":
            return self._either
        found = [self._finite if order in ("remove", "erase") else self._finite.reversed for order in wanted]
        return ordered_pairs(list(found))

    def _claimed_loss(self, twice: bool) -> Any:
        return self._finite
