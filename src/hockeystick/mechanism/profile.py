"""Privacy profiles as values: delta as a function of epsilon, however it is known."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import checks
from ..bounds import Bounds
from ..errors import BadType, BadValue
from ..loss.pairs.bracketed import BracketedLoss
from ..loss.pairs.profile import ProfileLoss, claims_loss
from ..neighbours import DEFAULT, STATED, Relation, orders
from .claim import Claim
from .questions.gaussian_dp import GaussianDP, HeadGDP
from .release import Release
from .response import epsilon_at_most

_FIRST = (0.0, *(2.0**k for k in range(-7, 7)))  # where a function is asked when the claim is made


@dataclass(frozen=True, repr=False)
class Profile(Claim):
    """Anything whose delta(epsilon) is at most `function(epsilon)` for every epsilon >= 0, in both directions.

    The function is asked at many epsilons; the chords of its greatest convex minorant in e^epsilon give the dominating pair of
    the upper end (Zhu, Dong and Wang 2022, Proposition 8), its tangents that of the lower one, if it is convex in e^epsilon as
    every profile is (else only that it falls is used).  `Profile(run.delta)` is the
    profile of a run, `Profile.from_claims` the best one that several (epsilon, delta) imply together, `Profile.from_rule` that of
    a rule which says how much noise an (epsilon, delta) needs.

    A function cannot tell its own tail, so for `mu()` give `tail=(epsilon, mu)`: your proof that from that epsilon on the
    function is at most delta_mu (Liu et al. 2021, Definition 3.2), or mu = inf if no mu holds.

    Parameters
    ----------
    function : callable, optional
        Maps one epsilon from 0 up to a delta; it must not increase.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation that the claim is made for.
    claims : sequence of (epsilon, delta), optional
        Instead of a function: guarantees of one mechanism, epsilon from 0 to 600, some delta below 1.
    tail : (epsilon, mu), optional
        From which epsilon on which mu holds, by proof; epsilon above 0, mu from 0 up or inf.

    Raises
    ------
    BadType
        If function is no function of one number, claims no list of pairs, or tail no pair.
    BadValue
        If function and claims are both given or neither, the function returns no probability or increases, a number is out of
        its range, or the claim is made for another relation.

    Examples
    --------
    >>> laplace = Profile(lambda epsilon: max(0.0, 1.0 - 2.718281828459045 ** ((epsilon - 1.0) / 2.0)))
    >>> round((laplace * 2).epsilon(delta=1e-3), 3)
    1.996
    >>> round(laplace.mu(), 6)
    1.030064
    """

    function: Callable[[float], float] | None = None
    neighbours: Relation = DEFAULT
    claims: tuple[tuple[float, float], ...] = ()
    tail: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if (self.function is None) == (not checks.listed("claims", self.claims)):
            raise BadValue("function and claims are both given, or neither; give a function of epsilon, or a list of claims.")
        if self.function is not None and not callable(self.function):
            raise BadType(f"function is {self.function!r}; allowed: a function of epsilon that returns delta.")
        self._set(claims=_pairs(self.claims), tail=None if self.tail is None else _tail(self.tail))
        last = 1.0
        for epsilon in _FIRST if self.function is not None else ():
            last = falling(epsilon, self._checked(epsilon), last)

    @classmethod
    def from_claims(cls, claims: Iterable[tuple[float, float]], neighbours: Relation = DEFAULT) -> "Profile":
        """The best profile that several (epsilon, delta) guarantees of one mechanism imply together.

        The lower convex hull of the points (e^epsilon, delta), of (0, 1), and of what each says of the other order; beyond the
        last epsilon its delta.  It is attained: every piecewise linear convex curve is the profile of a pair.

        Parameters
        ----------
        claims : iterable of (epsilon, delta)
            The guarantees, epsilon from 0 to 600, some delta below 1.
        neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
            The relation that the claim is made for.

        Returns
        -------
        Profile
            The profile that they imply together.

        Raises
        ------
        BadType
            If claims is no list of pairs of real numbers.
        BadValue
            If it is empty, a number is out of its range, or the claim is made for another relation.

        Examples
        --------
        >>> both = Profile.from_claims([(1.0, 1e-6), (0.5, 1e-3)])
        >>> print(f"{both.delta(epsilon=0.7):.6f} {both.epsilon(delta=1e-6):.6f}")
        0.000659 1.000000
        """
        return cls(None, neighbours, tuple(checks.listed("claims", claims)))

    @classmethod
    def from_rule(
        cls,
        rule: Callable[[float, float], float],
        sigma: float,
        refined: bool = True,
        neighbours: Relation = DEFAULT,
        **more: Any,
    ) -> "Profile":
        """The profile of noise `sigma` where (epsilon, delta)-DP needs the noise `rule(epsilon, delta)`.

        The naive profile is the smallest delta with rule(epsilon, delta) <= sigma, found by bisection; refined, it is the best
        that all these pairs imply through the partial order (Liu et al. 2021, Theorem 3.1 and appendix B).

        Parameters
        ----------
        rule : callable
            Maps (epsilon, delta) to the noise that suffices, from 0 up or inf; it must not increase in delta.
        sigma : float
            The noise, above 0, in the unit of the rule.
        refined : bool, default True
            Whether to take all that the pairs imply, rather than each pair for itself.
        neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
            The relation that the claim is made for.
        **more : object
            Further arguments of `Profile`, such as `tail`.

        Returns
        -------
        Profile
            The profile of this noise.

        Raises
        ------
        BadType
            If rule is no function, or sigma no real number.
        BadValue
            If sigma is not above 0, or the rule returns a value that is not allowed.

        Examples
        --------
        >>> sgd = Profile.from_rule(lambda e, d: 2.0 * math.sqrt(-math.log(d)) / e if e else math.inf, sigma=2.0)
        >>> round(sgd.function(0.0), 6)
        0.646685
        """
        from ..conversion._kernels.profiles import inverted_rule
        from ..conversion.partial_order import refined_profile

        naive = inverted_rule(rule, checks.positive("sigma", sigma))
        return cls(refined_profile(naive) if refined else naive, neighbours, **more)

    def _parameters(self) -> dict[str, Any]:
        known = {"function": self.function} if self.claims == () else {"claims": self.claims}
        return {**known, **({} if self.tail is None else {"tail": self.tail}), **self._relation()}

    def _claimed_loss(self, twice: bool) -> Any:
        if not self.claims:
            if twice:
                raise self._refuse_twice()
            return self._sampled_function
        claims = self.claims
        if twice:
            from ..conversion.group import replace_from_add_remove

            claims = tuple(replace_from_add_remove(*claim) for claim in claims)
            if min(delta for _, delta in claims) >= 1.0:
                raise self._refuse_twice()
            # attained if the other record contributes nothing
            return BracketedLoss((claims_loss(claims),), (claims_loss(self.claims),))
        return claims_loss(claims)

    @cached_property
    def _sampled_function(self) -> ProfileLoss:
        """Made once: the function is asked at many points."""
        return ProfileLoss(self._checked_all)

    def _checked(self, epsilon: float) -> float:
        assert self.function is not None
        try:
            value: Any = self.function(epsilon)
        except TypeError as error:
            raise BadType(f"function({epsilon!r}) fails ({error}); allowed: a function of one number, epsilon.") from None
        except ArithmeticError as error:
            raise BadValue(
                f"function({epsilon!r}) fails ({error}); allowed: a probability for every epsilon from 0 up."
            ) from None
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = math.nan
        if not 0.0 <= number <= 1.0:
            raise BadValue(f"function({epsilon!r}) is {value!r}; allowed: a probability.")
        return number

    def _checked_all(self, epsilons: list[float]) -> list[float]:
        """At many epsilons, at once if it is the delta of a run."""
        owner = getattr(self.function, "__self__", None)
        if isinstance(owner, Release) and self.function == owner.delta:
            found: list[float] = owner.profile(epsilons).tolist()
            return found
        return [self._checked(epsilon) for epsilon in epsilons]

    def gdp(self, delta: float | None = None, tolerance: float = 1e-9, neighbours: Relation = STATED) -> GaussianDP:
        """Both ends of mu, and why: the head is measured on the function itself, the tail is what was given.

        Parameters
        ----------
        delta : float, optional
            From 0 to below 1; by default 0, that is mu-GDP at every epsilon.
        tolerance : float, default 1e-9
            The width to reach, above 0.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        GaussianDP
            Both ends of mu, where the supremum is reached, and the reason.

        Raises
        ------
        BadType
            If delta or tolerance is no number, or neighbours no text.
        BadValue
            If delta is outside [0, 1), tolerance not above 0, or neighbours no relation.
        Unsupported
            If the claim says nothing of this relation.
        """
        carried = self._carried(neighbours)
        end, beyond = self._end()
        if delta is not None or self.claims or end is None or carried:
            return super().gdp(delta, tolerance, neighbours)
        if beyond == math.inf:
            reason = "the tail is given as heavier than that of any Gaussian noise, so no mu holds (Liu et al. 2021, Theorem 4.3)"
            return GaussianDP(Bounds(math.inf, math.inf), 0.0, math.inf, reason, 0)
        from ..conversion.gdp_supremum import head_mu

        asked: list[float] = []
        found = head_mu(lambda epsilon: asked.append(epsilon) or self._checked(epsilon), end, tolerance)  # type: ignore[func-returns-value]
        reason = f"measured up to epsilon {checks.given(end)}, beyond it " + (
            "delta is 0" if self.tail is None else "by the tail that is given"
        )
        return GaussianDP(Bounds(found.lower, max(found.upper, beyond)), 0.0, math.nan, reason, len(asked))

    def head_mu(self, epsilon: float, tolerance: float = 1e-9, neighbours: Relation = STATED) -> HeadGDP:
        """The mu of the epsilons up to `epsilon` alone, measured on the function itself.

        Parameters
        ----------
        epsilon : float
            The end of the head, above 0.
        tolerance : float, default 1e-9
            The width to reach, above 0.
        neighbours : Relation, optional
            The neighbouring relation; by default the one that the release states.

        Returns
        -------
        HeadGDP
            Both ends of that mu, and the delta that is left at `epsilon`, rounded up.

        Raises
        ------
        BadType
            If epsilon or tolerance is no number, or neighbours no text.
        BadValue
            If epsilon or tolerance is not above 0, or neighbours no relation.
        Unsupported
            If the claim says nothing of this relation, or the tolerance is not reached.
        """
        if self._carried(neighbours) or self.claims:
            return super().head_mu(epsilon, tolerance, neighbours)
        from ..conversion.gdp_supremum import head_mu

        point = checks.positive("epsilon", epsilon)
        return HeadGDP(head_mu(self._checked, point, checks.positive("tolerance", tolerance)), point, self._checked(point))

    def _carried(self, neighbours: Relation) -> bool:
        """Whether the question is about two changes of the claimed kind, so that the function does not answer it as it is."""
        return self._twice(orders(self._meant(neighbours)))

    def _end(self) -> tuple[float | None, float]:
        """Where the head ends, and mu beyond it: where the function is 0, it stays 0."""
        if self.tail is not None:
            return self.tail
        if self.function is None or self._checked(_FIRST[-1]) > 0.0:
            return None, math.inf
        low, high = 0.0, _FIRST[-1]
        while low < (middle := 0.5 * (low + high)) < high and high > 1e-300:
            low, high = (low, middle) if self._checked(middle) == 0.0 else (middle, high)
        if 0.0 < self._checked(low) < 1e-290:  # an underflow is no proof
            return None, math.inf
        return max(high, 2.0**-7), 0.0


def falling(epsilon: float, delta: float, last: float) -> float:
    """delta, if it is not above the one before but for rounding."""
    if delta > last * (1.0 + 1e-9) + 1e-15:
        raise BadValue(
            f"function({epsilon!r}) is {delta!r}, above function at a smaller epsilon; allowed: a function that never grows."
        )
    return delta


def _pairs(claims: Any) -> tuple[tuple[float, float], ...]:
    try:
        listed = [tuple(claim) for claim in claims]
    except TypeError:
        raise BadType(f"claims is {claims!r}; allowed: a list of (epsilon, delta).") from None
    found = []
    for claim in listed:
        if len(claim) != 2:
            raise BadValue(f"a claim is {claim!r}; allowed: (epsilon, delta).")
        delta = checks.real("delta", claim[1], "a probability from 0 to 1")
        if not 0.0 <= delta <= 1.0:
            raise BadValue(f"delta is {delta}; allowed: a probability from 0 to 1.")
        found.append((epsilon_at_most("epsilon", claim[0]), delta))
    if found and min(delta for _, delta in found) == 1.0:
        raise BadValue("every claim has delta 1, which promises nothing; allowed: at least one delta below 1.")
    return tuple(sorted(found))


def _tail(tail: Any) -> tuple[float, float]:
    if not isinstance(tail, tuple | list) or len(tail) != 2:
        raise BadType(f"tail is {tail!r}; allowed: (epsilon, mu), from which epsilon on the profile is below delta_mu.")
    mu = tail[1] if isinstance(tail[1], float) and tail[1] == math.inf else checks.non_negative("mu of tail", tail[1])
    return checks.positive("epsilon of tail", tail[0]), mu
