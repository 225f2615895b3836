"""Mechanisms known only by their guarantee.

A claim holds for `neighbours` ("add-or-remove", "replace" or "zero-out").  From add-or-remove it is carried to replace-one, and
so to zero-out, where the null record is a replacement: (epsilon, delta)-DP by the worst two laws on either side of a common one,
which are attained (docs/mathematics.md, Lemma 24 at rate 1; at most group privacy of two); GDP and zCDP by group privacy.  A
claim for replace-one holds for zero-out, too.  All other ways need what a claim does not say and are refused.
"""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import checks
from .. import loss as losses
from ..errors import BadType, BadValue, Unsupported
from ..loss.engines.compiled import CoreAnswer, response_epsilon
from ..neighbours import DEFAULT, Order, Relation, checked, same_size
from .release import Mechanism
from .response import epsilon_at_most


class Claim(Mechanism):
    """What all claims share: the relation they are made for."""

    neighbours: Relation

    @property
    def _claimed_for(self) -> Relation:
        return self.neighbours

    def _check_relation(self) -> None:
        if checked(self.neighbours) not in (DEFAULT, "replace", "zero-out"):
            raise BadValue(f"neighbours is {self.neighbours!r}; allowed for a claim: 'add-or-remove', 'replace' or 'zero-out'.")

    def _relation(self) -> dict[str, str]:
        return {} if self.neighbours == DEFAULT else {"neighbours": self.neighbours}

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check_relation()

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        return self._claimed_loss(self._twice(wanted))

    def _twice(self, wanted: tuple[Order, ...]) -> bool:
        """Whether the question is about two changes of the claimed kind."""
        if self.neighbours == "replace" and not same_size(wanted):
            raise Unsupported(
                f"{self!r} is claimed for replace-one; carried to add or remove it needs a null record that the mechanism "
                "accepts, which a claim does not say.  Ask with neighbours='replace', or make the claim for add-or-remove."
            )
        if self.neighbours == "zero-out" and wanted[0] not in ("erase", "restore"):
            raise Unsupported(
                f"{self!r} is claimed for a record replaced by a null one; of other changes it says nothing.  Ask with "
                "neighbours='zero-out', or make the claim for replace-one or add-or-remove."
            )
        return same_size(wanted) and self.neighbours == DEFAULT

    @abstractmethod
    def _claimed_loss(self, twice: bool) -> Any:
        """The loss of the claim, or of the claim for groups of two."""

    def _refuse_twice(self) -> Unsupported:
        return Unsupported(
            f"{self!r} is claimed for add-or-remove; carried to replace-one it needs group privacy, for which no bound of this "
            "kind of claim is offered.  Make the claim with neighbours='replace', or ask for add-or-remove."
        )


@dataclass(frozen=True, repr=False, init=False)
class GDP(Claim):
    """Anything that is mu-GDP: no easier to attack than N(mu, 1) against N(0, 1).

    Dong, Roth and Su 2022, Definition 4; groups by their Theorem 3.

    Parameters
    ----------
    mu : float
        The claimed mu, 0 or from 1e-100 to 1e100.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation that the claim is made for.

    Raises
    ------
    BadType
        If a number is no real one, or neighbours no text.
    BadValue
        If a number is out of its range, or the claim is made for another relation.

    Examples
    --------
    >>> round(GDP(mu=1.0).delta(epsilon=1.0), 6)
    0.126937
    """

    claimed_mu: float  # `mu` is the question
    neighbours: Relation

    def __init__(self, mu: float, neighbours: Relation = DEFAULT) -> None:
        number = checks.non_negative("mu", mu)
        if number > 0.0:
            checks.ratio("mu", number, 1.0)
        self._set(claimed_mu=number, neighbours=neighbours)

    def _parameters(self) -> dict[str, Any]:
        return {"mu": self.claimed_mu, **self._relation()}

    @property
    def _squared_mu(self) -> float | None:
        return self.claimed_mu**2 if self.neighbours == DEFAULT else None

    def _claimed_loss(self, twice: bool) -> "losses.Loss | None":
        return losses.GaussianLoss(((2.0 if twice else 1.0) * self.claimed_mu) ** 2) if self.claimed_mu else None


@dataclass(frozen=True, repr=False, init=False)
class PureDP(Claim):
    """Anything that is epsilon-DP.  The worst pair is that of randomised response, and is attained (Kairouz, Oh, Viswanath 2015).

    Parameters
    ----------
    epsilon : float
        The claimed epsilon, from 0 to 600.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation that the claim is made for.

    Raises
    ------
    BadType
        If a number is no real one, or neighbours no text.
    BadValue
        If a number is out of its range, or the claim is made for another relation.

    Examples
    --------
    >>> round((PureDP(epsilon=1.0) * 100).epsilon(delta=1e-5), 5)
    79.84132
    """

    claimed_epsilon: float  # `epsilon` and `delta` are the questions
    neighbours: Relation

    def __init__(self, epsilon: float, neighbours: Relation = DEFAULT) -> None:
        self._set(claimed_epsilon=epsilon_at_most("epsilon", epsilon), neighbours=neighbours)

    def _parameters(self) -> dict[str, Any]:
        return {"epsilon": self.claimed_epsilon, **self._relation()}

    def _claimed_loss(self, twice: bool) -> "losses.Loss | None":
        return _response(self.claimed_epsilon, 0.0, twice)

    def _direct(self, wanted: tuple[Order, ...], count: int, delta: float) -> CoreAnswer:
        return None if self._twice(wanted) else response_epsilon(self.claimed_epsilon, count, delta)


@dataclass(frozen=True, repr=False, init=False)
class ApproxDP(Claim):
    """Anything that is (epsilon, delta)-DP.  The worst pair has the losses -epsilon, epsilon and infinity, and is attained.

    A delta that lies below the probability of an infinite loss by no more than the rounding of decimals to doubles (2^-51 of
    it: `ApproxDP(1, 1e-6).poisson(0.1)` at 1e-7) is read as that probability if that is no double; reports say so.

    Parameters
    ----------
    epsilon : float
        The claimed epsilon, from 0 to 600.
    delta : float
        The claimed delta, from 0 to below 1.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation that the claim is made for.

    Raises
    ------
    BadType
        If a number is no real one, or neighbours no text.
    BadValue
        If a number is out of its range, or the claim is made for another relation.

    Examples
    --------
    >>> ApproxDP(epsilon=0.1, delta=1e-8).epsilon(delta=1e-8)
    0.1
    """

    claimed_epsilon: float
    claimed_delta: float
    neighbours: Relation

    def __init__(self, epsilon: float, delta: float, neighbours: Relation = DEFAULT) -> None:
        number = checks.real("delta", delta, "a probability from 0 to below 1")
        if not 0.0 <= number < 1.0:
            raise BadValue(f"delta is {number}; allowed: a probability from 0 to below 1 (a delta of 1 promises nothing).")
        self._set(claimed_epsilon=epsilon_at_most("epsilon", epsilon), claimed_delta=number, neighbours=neighbours)

    def _parameters(self) -> dict[str, Any]:
        return {"epsilon": self.claimed_epsilon, "delta": self.claimed_delta, **self._relation()}

    def _claimed_loss(self, twice: bool) -> "losses.Loss | None":
        found = _response(self.claimed_epsilon, self.claimed_delta, twice)
        if found is not None and found.infinite_mass >= 1:
            raise self._refuse_twice()
        return found


@dataclass(frozen=True, repr=False, init=False)
class ZCDP(Claim):
    """Anything that is rho-zCDP: Rényi divergences of every order a at most rho a; or (xi, rho)-zCDP: at most xi + rho a (Bun and
    Steinke 2016, Definition 1.1).

    Known on the real axis only: the upper end is the optimal conversion (Asoodeh et al. 2020, Theorem 3) at the best order, the
    lower end what Gaussian noise of the same rho attains.

    Parameters
    ----------
    rho : float
        The claimed rho, 0 or from 1e-100 to 1e100.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation that the claim is made for.
    xi : float, default 0.0
        The offset of the divergences: 0, or from 1e-100 to 1e100 (to 600 where rho is 0).

    Raises
    ------
    BadType
        If a number is no real one, or neighbours no text.
    BadValue
        If a number is out of its range, or the claim is made for another relation.

    Examples
    --------
    >>> bounds = ZCDP(rho=0.5).epsilon_bounds(delta=1e-5)
    >>> print(f"{bounds.lower:.6f} {bounds.upper:.6f} {bounds.tight}")
    4.377178 4.728386 False
    """

    claimed_rho: float  # `rho` is the question
    neighbours: Relation
    xi: float

    def __init__(self, rho: float, neighbours: Relation = DEFAULT, xi: float = 0.0) -> None:
        rho, xi = checks.non_negative("rho", rho), checks.non_negative("xi", xi)
        checks.ratio("rho", rho or 1.0, 1.0), checks.ratio("xi", xi or 1.0, 1.0)
        self._set(claimed_rho=rho, neighbours=neighbours, xi=xi if rho else epsilon_at_most("xi, where rho is 0,", xi))

    def _parameters(self) -> dict[str, Any]:
        return {"rho": self.claimed_rho, **self._relation(), **({"xi": self.xi} if self.xi else {})}

    def _claimed_loss(self, twice: bool) -> Any:
        rho = self.claimed_rho
        if self.xi and not rho:  # Rényi divergences of every order at most xi: pure DP
            return _response(self.xi, 0.0, twice)
        if self.xi and twice:
            raise self._refuse_twice()
        if self.xi:
            return losses.RenyiLoss("zcdp", (rho, self.xi))
        if twice:
            from ..conversion.group import group_zcdp

            rho = group_zcdp(rho, rho)
        return losses.RenyiLoss("zcdp", (rho,)) if rho else None


@dataclass(frozen=True, repr=False)
class RDP(Claim):
    """Anything with Rényi divergences of these `orders` at most these `values`; or of every order at most `curve(order)`.

    Between listed orders the chords of (order - 1) * value hold, since that is convex and 0 at order 1.

    Parameters
    ----------
    orders : sequence of float, optional
        The listed Rényi orders, above 1.
    values : sequence of float, optional
        The divergence claimed for each order, from 0 up.
    curve : callable, optional
        Instead of the lists: maps an order to its divergence, from 0 up or inf.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation that the claim is made for.

    Raises
    ------
    BadType
        If orders or values are no sequence of real numbers, curve no function, or neighbours no text.
    BadValue
        If there are not as many values as orders, a number is out of its range, lists and a curve are both given, or the claim
        is made for another relation.

    Examples
    --------
    >>> round(RDP(orders=(2.0, 8.0, 32.0), values=(0.01, 0.04, 0.16)).epsilon(delta=1e-6), 6)
    0.461888
    """

    orders: tuple[float, ...] = ()
    values: tuple[float, ...] = ()
    curve: Callable[[float], float] | None = None
    neighbours: Relation = DEFAULT

    def __post_init__(self) -> None:
        if self.curve is not None:
            if len(checks.listed("orders", self.orders)) or len(checks.listed("values", self.values)):
                raise BadValue("orders or values are given with curve; give orders and values, or curve alone.")
            if not callable(self.curve):
                raise BadType(f"curve is {self.curve!r}; allowed: a function of the order.")
            self._set(orders=(), values=())
            return
        orders, values = checks.listed("orders", self.orders), checks.listed("values", self.values)
        if not orders or len(orders) != len(values):
            raise BadValue(f"{len(orders)} orders and {len(values)} values are given; allowed: as many of each, at least one.")
        known: dict[float, float] = {}
        for order, value in zip(orders, values, strict=True):
            order = checks.real("an order", order, "a number above 1")
            if order <= 1.0:
                raise BadValue(f"an order is {order}; allowed: a number above 1.")
            known[order] = min(known.get(order, float("inf")), checks.non_negative("a value", value))
        self._set(orders=tuple(sorted(known)), values=tuple(known[order] for order in sorted(known)))

    def _claimed_loss(self, twice: bool) -> Any:
        if twice:
            raise self._refuse_twice()
        if self.curve is not None:
            return losses.RenyiLoss("curve", (), self._checked_curve)
        return losses.RenyiLoss("listed", (*self.orders, *self.values))

    def _checked_curve(self, order: float) -> float:
        assert self.curve is not None
        value = self.curve(order)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if not number >= 0.0:
            raise BadValue(f"curve({order!r}) is {value!r}; allowed: a number from 0 up, or inf.")
        return number


def _response(epsilon: float, delta: float, twice: bool) -> "losses.ResponseLoss | losses.TabulatedLoss | None":
    """The worst pair of (epsilon, delta)-DP, or of a replacement as a removal and an addition."""
    if not epsilon and not delta:
        return None
    once = losses.ResponseLoss(epsilon, 2, delta)
    if not twice:
        return once
    if not epsilon:
        return losses.ResponseLoss(0.0, 2, 2.0 * delta)
    from ..loss.sampled.replace_one import replace_one_response

    return replace_one_response(once)
