"""What a pair of distributions is by itself: its divergences, its best tests, its decomposition; all of p against q."""

from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ... import checks
from ...bounds import Bounds
from ...errors import BadType, BadValue
from ...numerics.rounding import LARGEST, exp_down
from .decomposition import BestTest, Decomposition, decomposed
from .masses import nearest_above, nearest_below

if TYPE_CHECKING:
    from ...loss.own.finite import FiniteLoss

_ORDERS = "a number above 1, or inf"
_LEVELS = "a number from 0 up: e^epsilon"


class PairValues:
    """Values of a pair of finite distributions, of p against q; of q against p ask `reverse`."""

    p: tuple[Fraction, ...]
    q: tuple[Fraction, ...]
    neighbours: Any
    outcomes: tuple[Hashable, ...]

    if TYPE_CHECKING:

        @cached_property
        def _finite(self) -> FiniteLoss: ...
        @property
        def _between(self) -> tuple[FiniteLoss, FiniteLoss]: ...
        @property
        def _alike(self) -> bool: ...

    @property
    def reverse(self) -> Any:
        """The pair (q, p).

        Returns
        -------
        Pair
            The same with p and q exchanged.
        """
        p, q = (dict(zip(self.outcomes, masses, strict=True)) for masses in (self.p, self.q))
        return type(self)(q, p, self.neighbours)  # type: ignore[call-arg]

    def hockey_stick(self, level: Any) -> Bounds[float]:
        """The hockey-stick divergence: the largest p(S) - level q(S) over events S, delta at the epsilon log(level).

        Parameters
        ----------
        level : real
            From 0 up; e^epsilon.  Fractions count exactly.

        Returns
        -------
        Bounds
            The doubles next to the exact value.

        Raises
        ------
        BadType
            If level is no real number.
        BadValue
            If it is negative or not finite.
        """
        wanted = _exactly("level", level, _LEVELS, Fraction(0))
        low, high = (_around(one.hockey_stick(wanted)) for one in self._between)
        return Bounds(low.lower, high.upper)

    def renyi(self, order: Any) -> Bounds[float]:
        """The Rényi divergence of an order; 1 is the Kullback-Leibler divergence, inf the largest loss.

        Parameters
        ----------
        order : real
            From 1 up; inf is allowed.

        Returns
        -------
        Bounds
            Both ends, next to each other; infinite where p has an outcome that q has not.

        Raises
        ------
        BadType
            If order is no real number.
        BadValue
            If it is below 1.
        """
        from ...loss.own.divergences import kl_ends, log_ends, renyi_ends

        if self._alike:
            return Bounds(0.0, 0.0)
        if order == float("inf"):
            return self._ends(lambda loss: log_ends(loss.ratios[-1]))
        wanted = _exactly("order", order, "a number from 1 up, or inf", Fraction(1))
        return self._ends(lambda loss: kl_ends(loss) if wanted == 1 else renyi_ends(loss, wanted))

    def _ends(self, ask: "Callable[[FiniteLoss], tuple[float, float]]") -> Bounds[float]:
        """Both ends of a divergence that is infinite where p has an outcome that q has not."""
        low, high = self._between
        first = (float("inf"),) * 2 if low.infinite_mass else ask(low)
        if high is low:
            return Bounds(*first)
        return Bounds(first[0], float("inf") if high.infinite_mass else ask(high)[1])

    def chi(self, order: Any) -> Bounds[float]:
        """The chi^order divergence, (E_q (p/q)^order - 1) / (order - 1), of which Rényi's is a function (Asoodeh et al. 2020).

        Parameters
        ----------
        order : real
            Above 1.

        Returns
        -------
        Bounds
            Both ends, next to each other; infinite where p has an outcome that q has not.

        Raises
        ------
        BadType
            If order is no real number.
        BadValue
            If it is not above 1, or not finite.
        """
        from ...loss.own.divergences import chi_ends

        wanted = _exactly("order", order, _ORDERS, Fraction(1))
        if wanted == 1:
            raise BadValue(f"order is 1; allowed: {_ORDERS} (at 1 it is the Kullback-Leibler divergence: renyi(1)).")
        return Bounds(0.0, 0.0) if self._alike else self._ends(lambda loss: chi_ends(loss, wanted))

    def f_divergence(
        self, function: Callable[[Fraction], Any], slope_at_infinity: Any = None, error: float = 1e-15
    ) -> Bounds[float]:
        """E_q f(p/q), with the slope of f at infinity times what p has where q has nothing.

        Parameters
        ----------
        function : callable
            f, convex with f(1) = 0; it is given p/q as a `Fraction`, from 0 up.
        slope_at_infinity : real, optional
            The limit of f(x)/x for large x; needed where p has an outcome that q has not, and may be inf.
        error : float, default 1e-15
            The relative error of what the function returns; exact numbers (`Fraction`, `int`) count as exact.

        Returns
        -------
        Bounds
            Both ends, as far apart as the stated error makes them.

        Raises
        ------
        BadType
            If function is no function, or returns no real number.
        BadValue
            If the slope at infinity is needed and missing, or a value is not finite.
        """
        if not callable(function):
            raise BadType(f"function is {function!r}; allowed: a convex function of p/q with f(1) = 0.")
        share = Fraction(checks.non_negative("error", error))
        low, high = self._between
        first = _f_ends(low, function, slope_at_infinity, share)
        return first if high is low else Bounds(first.lower, _f_ends(high, function, slope_at_infinity, share).upper)

    def best_test(self, fpr: Any = None, like: Mapping[Hashable, Any] | None = None) -> BestTest:
        """The most powerful test of a false-positive rate, or of that of a given test: no test beats it (Neyman and Pearson).

        Parameters
        ----------
        fpr : real, optional
            The false-positive rate, from 0 to 1: how often the test says p of what is drawn from q.
        like : mapping, optional
            Instead: any test, as the probability of saying p for each outcome; one that is as good or better is returned
            (Steinke 2022, Lemma 4).

        Returns
        -------
        BestTest
            Its threshold of p/q, its coin there, both rates and what it says of each outcome, exactly.

        Raises
        ------
        BadType
            If fpr, or a probability of the given test, is no real number.
        BadValue
            If both or neither are given, or a number is no probability.
        """
        if (fpr is None) == (like is None):
            raise BadValue("fpr and like are both given, or neither; give a false-positive rate, or a test.")
        if like is not None:
            chances = [_chance("a probability of like", like.get(one, 0)) for one in self.outcomes]
            level = sum((chance * q for chance, q in zip(chances, self.q, strict=True)), Fraction(0))
        else:
            level = _chance("fpr", fpr)
        ratios, left = self._finite.ratios, level
        threshold, coin = ratios[-1], Fraction(0)
        for ratio, (_, q) in zip(reversed(ratios), reversed(self._finite.masses_by_ratio), strict=True):
            threshold, coin = ratio, min(Fraction(1), left / q)
            left -= coin * q
            if not left:
                break
        if left:  # all that p has is said to be p already
            alone = self._finite.infinite_mass_under_q
            threshold, coin = Fraction(0), left / alone
        says = dict(zip(self.outcomes, self._said(threshold, coin), strict=True))
        tpr = sum((says[one] * p for one, p in zip(self.outcomes, self.p, strict=True)), Fraction(0))
        return BestTest(threshold, coin, says, level, tpr)

    def _said(self, threshold: Fraction, coin: Fraction) -> list[Fraction]:
        """The probability of saying p of each outcome."""
        found = []
        for p, q in zip(self.p, self.q, strict=True):
            if not q:
                found.append(Fraction(1 if p else 0))
            else:
                found.append(coin if p / q == threshold else Fraction(int(p / q > threshold)))
        return found

    def decomposition(self, epsilon: Any = None, delta: Any = 0, level: Any = None) -> Decomposition:
        """p and q as (1 - delta) times laws within e^epsilon of each other, and delta times a rest (Steinke 2022, Lemma 23).

        Everything is an exact fraction.  The laws keep within a level that is a fraction, at most e^epsilon.

        Parameters
        ----------
        epsilon : real, optional
            From 0 up.
        delta : real, default 0
            From 0 to 1.
        level : real, optional
            Instead of epsilon: e^epsilon, from 1 up.

        Returns
        -------
        Decomposition
            The laws and their weight; its `simulator()` is that of Corollary 24.

        Raises
        ------
        BadType
            If a number is no real one.
        BadValue
            If a number is out of its range, epsilon and level are both given or neither, or the pair is not (epsilon, delta)-DP
            in both orders.
        """
        from ...loss.own.divergences import at_most_exp

        if (epsilon is None) == (level is None):
            raise BadValue("epsilon and level are both given, or neither; give epsilon, or level = e^epsilon.")
        weight = _chance("delta", delta)
        both = self._finite, self._finite.reversed
        least = max(one.infinite_mass for one in both)
        share = max(least, min(weight, self._finite.hockey_stick(Fraction(1))))
        levels = tuple(max(Fraction(1), one.level_of(share)) for one in both)
        needed = max(levels)
        if level is not None:
            most = _exactly("level", level, "a number from 1 up: e^epsilon", Fraction(1))
            within = needed <= most
        else:
            exponent = _exactly("epsilon", epsilon, "a number from 0 to 600", Fraction(0))
            checks.at_most("epsilon", float(exponent), 600.0)
            most = max(needed, Fraction(exp_down(float(exponent)))) if exponent else Fraction(1)
            within = at_most_exp(needed, exponent)
            most = most if at_most_exp(most, exponent) else needed
        if least > weight or not within:
            asked = f"delta={float(weight):g} at a level of e^epsilon = {float(most if level is not None else needed):g}"
            raise BadValue(
                f"the pair is not so private: asked for {asked}; allowed: delta from {float(least):g} up, and at this delta a "
                f"level from {float(needed):.17g} up."
            )
        p, q = (dict(zip(self.outcomes, masses, strict=True)) for masses in (self.p, self.q))
        return decomposed(p, q, (levels[0], levels[1]), most, weight)


def _f_ends(loss: "FiniteLoss", function: Callable[[Fraction], Any], slope: Any, share: Fraction) -> Bounds[float]:
    """Both ends of the divergence of one finite pair; `share` is the relative error of the function."""
    total = off = Fraction(0)
    terms = [(q, function(p / q)) for p, q in loss.masses_by_ratio]
    if loss.infinite_mass_under_q:
        terms.append((loss.infinite_mass_under_q, function(Fraction(0))))
    if loss.infinite_mass:
        if slope is None:
            raise BadValue("p has, or may have, an outcome that q has not; give slope_at_infinity, the limit of f(x)/x.")
        if slope == float("inf"):
            return _infinite()
        terms.append((loss.infinite_mass, slope))
    for weight, value in terms:
        exact = isinstance(value, int | Fraction) and not isinstance(value, bool)
        number = Fraction(value) if exact else Fraction(checks.real("f", value, "a finite number"))
        total += weight * number
        off += 0 if exact else weight * abs(number) * share
    return Bounds(_around(total - off).lower, _around(total + off).upper)


def _around(value: Fraction) -> Bounds[float]:
    """The doubles next to a fraction."""
    low = -nearest_above(-value) if value < 0 else min(nearest_below(value), LARGEST)
    return Bounds(low, -nearest_below(-value) if value < 0 else nearest_above(value))


def _infinite() -> Bounds[float]:
    return Bounds(float("inf"), float("inf"))


def _exactly(name: str, value: Any, allowed: str, least: Fraction) -> Fraction:
    """A real number as a fraction, exactly, from `least` up."""
    number = value if isinstance(value, Fraction) else Fraction(value) if type(value) is int else None
    if number is None:
        number = Fraction(checks.real(name, value, allowed))
    if number < least:
        raise BadValue(f"{name} is {value}; allowed: {allowed}.")
    return number


def _chance(name: str, value: Any) -> Fraction:
    """A probability as a fraction, exactly."""
    number = _exactly(name, value, "a probability from 0 to 1", Fraction(0))
    if number > 1:
        raise BadValue(f"{name} is {value}; allowed: a probability from 0 to 1.")
    return number
