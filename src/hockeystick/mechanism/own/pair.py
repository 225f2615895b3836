"""Your own pair of distributions."""

from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...errors import BadValue, Unsupported
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

    Densities lie between two finite pairs, which answer from both sides (docs/mathematics/densities.md, Lemmas 68 to 70), by what
    you state of them: that p/q is monotone along the line (checked where it is evaluated), and either their tails (cdf and sf) or
    that they are logarithmically concave, so that their values bound their integrals.  Two normal or two Laplace distributions of
    one scale are answered as that noise, exactly.  What is not proved from what is stated is refused.

    Parameters
    ----------
    p : dict, sequence, or distribution on the line
        The output with the record: masses by outcome, or in the order of those of q; or a frozen SciPy distribution (any object
        with logpdf or pdf, cdf, sf and support), or a density, a function of a number or of an array.
    q : dict, sequence, or distribution on the line
        The same without it.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation that the pair is stated for.
    ratio : {"increasing", "decreasing"}, optional
        Of densities: how p/q goes along the line.
    log_concave : bool, default False
        Of densities: that both are logarithmically concave and integrate to 1; their tails are then integrated, with bounds.
    support : tuple, optional
        Of densities that do not say it themselves: (low, high), or one such pair for p and one for q.
    losses : tuple of float, optional
        Of densities: (low, high), between which every log p/q lies; closer where many losses are next to an end, and finite
        Rényi divergences.
    accuracy : float, default 1e-12
        Of densities: the relative error of the given functions (of a logarithm relative to 1 and its size), which is counted.
        SciPy's normal, logistic, Gumbel, exponential, beta and gamma distributions stay below a fifth of the default.

    Raises
    ------
    BadType
        If p and q are neither two dicts nor two sequences of numbers nor two densities, or neighbours is no text.
    BadValue
        If the masses do not sum to 1, one is negative, the sequences differ in length, the pair is stated for another
        relation, or what is stated of densities is seen to be false.
    Unsupported
        If p and q share no outcome, or nothing is stated of densities from which bounds follow.

    Examples
    --------
    >>> coin = Pair({"yes": "3/4", "no": "1/4"}, {"yes": "1/4", "no": "3/4"})
    >>> round((coin * 10).epsilon(delta=1e-3), 6)
    10.968206
    >>> coin.hockey_stick(2)
    Bounds(lower=0.25, upper=0.25, tight=True)

    >>> from scipy.stats import logistic
    >>> moved = Pair(logistic(loc=1), logistic(loc=0), ratio="increasing", losses=(-1, 1))
    >>> round((moved * 10).epsilon(delta=1e-6), 4)
    8.1159
    """

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    neighbours: Relation
    outcomes: tuple[Hashable, ...] = field(compare=False)

    def __new__(cls, p: Any = None, q: Any = None, *more: Any, **named: Any) -> "Pair":
        """Of densities a `DensityPair`."""
        from .densities import DensityPair
        from .given import is_density

        return object.__new__(DensityPair if cls is Pair and (is_density(p) or is_density(q)) else cls)

    def __init__(
        self,
        p: Any,
        q: Any,
        neighbours: Relation = DEFAULT,
        ratio: str | None = None,
        log_concave: bool = False,
        support: Any = None,
        losses: Any = None,
        accuracy: float | None = None,
    ) -> None:
        stated = {"ratio": ratio, "log_concave": log_concave or None, "support": support, "losses": losses, "accuracy": accuracy}
        for name, value in stated.items():
            if value is not None:
                raise BadValue(f"{name} is {value!r}, which is stated of densities; of masses allowed: p, q and neighbours.")
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

    @property
    def _between(self) -> "tuple[FiniteLoss, FiniteLoss]":
        return self._finite, self._finite

    @property
    def _alike(self) -> bool:
        return self.p == self.q

    def _in_order(self, first: bool) -> Any:
        """The loss of p against q, or of q against p."""
        return self._finite if first else self._finite.reversed

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
        if self._alike:
            return None
        if self.neighbours == "replace":
            return self._either
        return ordered_pairs([self._in_order(order in ("remove", "erase")) for order in wanted])

    def _claimed_loss(self, twice: bool) -> Any:
        return self._finite
