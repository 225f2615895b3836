"""Your own pair of densities on the line."""

import math
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ... import checks
from ... import loss as losses
from ...errors import BadValue, Unsupported
from ...neighbours import DEFAULT, Order, Relation
from .given import Unquoted, family, key, line, named, range_of, supports
from .pair import Pair
from .thresholds import DensityDecomposition, ThresholdTest, density_decomposition, threshold_test

if TYPE_CHECKING:
    from ...loss.own.density import DensityLoss
    from ...loss.own.finite import FiniteLoss
    from ...loss.own.lines import Density

ACCURACY = 1e-12
_RATIOS = ("increasing", "decreasing")


@dataclass(frozen=True, repr=False, init=False, eq=False)
class DensityPair(Pair):
    """A pair of densities; see `Pair`, which makes it."""

    ratio: str | None = None
    log_concave: bool = False
    support: Any = None
    losses: Any = None
    accuracy: float = ACCURACY
    _same: tuple[Any, ...] = field(default=(), compare=False)

    def __init__(
        self,
        p: Any,
        q: Any,
        neighbours: Relation = DEFAULT,
        ratio: str | None = None,
        log_concave: bool = False,
        support: Any = None,
        losses: Any = None,
        accuracy: float = ACCURACY,
    ) -> None:
        if ratio is not None and ratio not in _RATIOS:
            raise BadValue(f"ratio is {ratio!r}; allowed: 'increasing' or 'decreasing', as p/q is along the line.")
        log_concave = checks.flag("log_concave", log_concave)
        accuracy = checks.positive("accuracy", accuracy)
        if not 1e-16 <= accuracy <= 1e-6:
            raise BadValue(f"accuracy is {accuracy}; allowed: a relative error from 1e-16 to 1e-6.")
        shared = family(p), family(q)
        moved = shared[0] is not None and shared[1] is not None and shared[0][0] == shared[1][0] and shared[0][2] == shared[1][2]
        if moved:
            assert shared[0] is not None
            assert shared[1] is not None
            found = "increasing" if shared[0][1] >= shared[1][1] else "decreasing"
            if ratio not in (None, found) and shared[0][1] != shared[1][1]:
                raise BadValue(f"ratio is {ratio!r}, but p/q is {found} along the line for these two.")
            ratio = found
        if ratio is None:
            raise Unsupported(
                f"{named(p)} against {named(q)}: a stated property is missing under which bounds are proved, a monotone "
                "likelihood ratio.  State ratio='increasing' if p/q grows along the line, as for a log-concave noise and the "
                "same moved to the right, or 'decreasing'; where it is neither, give the pair of a statistic in which it is "
                "monotone, such as the distance from the centre."
            )
        self._set(
            p=p,
            q=q,
            neighbours=neighbours,
            outcomes=(),
            ratio=ratio,
            log_concave=log_concave,
            support=support,
            losses=range_of(losses),
            accuracy=accuracy,
            _same=(key(p), key(q)),
        )
        assert self._lines  # what is wrong with what is given is said here

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DensityPair):
            return NotImplemented
        return self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    @property
    def _identity(self) -> tuple[Any, ...]:
        return *self._same, self.neighbours, self.ratio, self.log_concave, repr(self.support), self.losses, self.accuracy

    def _parameters(self) -> dict[str, Any]:
        known = {"p": Unquoted(named(self.p)), "q": Unquoted(named(self.q)), **self._relation(), "ratio": self.ratio}
        optional = {"log_concave": False, "support": None, "losses": None, "accuracy": ACCURACY}
        return {**known, **{name: getattr(self, name) for name, least in optional.items() if getattr(self, name) != least}}

    def __repr__(self) -> str:
        return f"Pair({', '.join(f'{name}={value!r}' for name, value in self._parameters().items())})"

    @property
    def reverse(self) -> "DensityPair":
        """The pair (q, p).

        Returns
        -------
        Pair
            The same with p and q exchanged.
        """
        other = _RATIOS[1 - _RATIOS.index(self.ratio or "")]
        stated = None if self.losses is None else (-self.losses[1], -self.losses[0])
        support = supports(self.support)[::-1] if self.support is not None else None
        return DensityPair(self.q, self.p, self.neighbours, other, self.log_concave, support, stated, self.accuracy)

    def best_test(self, fpr: Any = None, like: Any = None) -> ThresholdTest:  # type: ignore[override]
        """The most powerful test of a false-positive rate: a threshold along the line, since p/q is monotone.

        Parameters
        ----------
        fpr : real
            The false-positive rate, from 0 to 1; that of the test is at most this, and next to it.
        like : None
            Of finite pairs only.

        Returns
        -------
        ThresholdTest
            Its threshold, and both rates.

        Raises
        ------
        BadType
            If fpr is no real number.
        BadValue
            If it is no probability, or a test to be compared with is given.
        """
        if fpr is None or like is not None:
            raise BadValue("of densities give fpr; a test to be compared with (like) is of finite pairs.")
        return threshold_test(*self._lines, checks.probability("fpr", fpr), self.ratio == "increasing")

    def decomposition(  # type: ignore[override]
        self, epsilon: Any = None, delta: Any = None, level: Any = None
    ) -> DensityDecomposition:
        """p and q as (1 - delta) times densities within e^epsilon of each other, and delta times a rest (Lemma 23), as functions.

        Parameters
        ----------
        epsilon : real, optional
            From 0 to 600; by default the least that this delta allows.
        delta : real
            Above 0 and below 1.
        level : real, optional
            Instead of epsilon: e^epsilon, from 1 up.

        Returns
        -------
        DensityDecomposition
            The densities, the levels at which they are cut, and the weight of the rest.

        Raises
        ------
        BadType
            If a number is no real one.
        BadValue
            If a number is out of its range, epsilon and level are both given, or the pair is not surely (epsilon, delta)-DP in
            both orders.
        """
        if delta is None or (epsilon is not None and level is not None):
            raise BadValue("give delta, above 0 and below 1, and at most one of epsilon and level.")
        weight = checks.probability("delta", delta)
        if not 0.0 < weight < 1.0:
            raise BadValue(f"delta is {weight}; allowed: a number above 0 and below 1.")
        most = math.inf if level is None else checks.real("level", level, "a number from 1 up: e^epsilon")
        if epsilon is not None:
            most = math.exp(checks.at_most("epsilon", checks.non_negative("epsilon", epsilon), 600.0))
        from ...loss.own.density import reversed_order

        both = self._bracket, self._turned(reversed_order)
        first, second = (self._plain(one) for one in self._lines)
        return density_decomposition(*both, first, second, weight, most)

    def _plain(self, line: "Density") -> Any:
        """A density as a function of one number."""
        import numpy as np

        sign = -1.0 if self.ratio == "decreasing" else 1.0
        return lambda x: math.exp(float(line.logs(np.array([sign * checks.real("x", x, "a point of the line")]))[0][0]))

    @property
    def _alike(self) -> bool:
        return bool(self._same[0] == self._same[1])

    @cached_property
    def _lines(self) -> "tuple[Density, Density]":
        """Both densities, so turned that p/q grows."""
        from ...loss.own.lines import Flipped

        ends = supports(self.support)
        found = [
            line(name, one, support, self.log_concave, self.accuracy)
            for name, one, support in (("p", self.p, ends[0]), ("q", self.q, ends[1]))
        ]
        if self.ratio == "decreasing":
            return Flipped(found[0]), Flipped(found[1])
        return found[0], found[1]

    @cached_property
    def _exact(self) -> Any:
        """The loss of two places of normal or Laplace noise of one scale, which is known exactly."""
        first, second = family(self.p), family(self.q)
        if first is None or second is None or first[0] != second[0] or first[2] != second[2]:
            return None
        away = abs(first[1] - second[1]) / first[2]
        exact = Fraction(first[1]) - Fraction(second[1]) == Fraction(first[1] - second[1])  # no rounding but that of a quotient
        if not exact or not 1e-100 < away < 1e100:
            return None
        return losses.GaussianLoss(away * away) if first[0] == "norm" else losses.LaplaceLoss(away)

    @cached_property
    def _bracket(self) -> "DensityLoss":
        from ...loss.own.cells import Range, bracketed

        sign = -1.0 if self.ratio == "decreasing" else 1.0
        return bracketed(*self._lines, Range(*(self.losses or (-math.inf, math.inf))), sign)

    @property
    def _between(self) -> "tuple[FiniteLoss, FiniteLoss]":
        found: Any = self._bracket
        return found.lower, found.upper

    @cached_property
    def _either(self) -> Any:
        from ...loss.own.density import either_order

        return self._exact or either_order(self._bracket)

    def _in_order(self, first: bool) -> Any:
        from ...loss.own.density import reversed_order

        if self._exact is not None:
            return self._exact
        return self._bracket if first else self._turned(reversed_order)

    def _turned(self, turn: Any) -> Any:
        if "_backwards" not in self.__dict__:
            self.__dict__["_backwards"] = turn(self._bracket)
        return self.__dict__["_backwards"]

    @property
    def _squared_mu(self) -> float | None:
        if self.neighbours != DEFAULT or self._alike or not isinstance(self._exact, losses.GaussianLoss):
            return None
        return self._exact.square

    @property
    def _assumed(self) -> tuple[str, ...]:
        more = ", both densities are logarithmically concave" if self.log_concave else ""
        more += f", losses lie in {list(self.losses)}" if self.losses else ""
        if self._exact is not None:
            return ()
        return (
            f"Of {self!r}: p/q is {self.ratio} along the line{more}; its functions err by at most {self.accuracy:g} of "
            "themselves.",
        )

    def _claimed_loss(self, twice: bool) -> Any:
        return self._in_order(True)

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        return super()._pair_loss(wanted)
