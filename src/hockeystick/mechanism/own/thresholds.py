"""The best tests of two densities, and their decomposition as functions."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ... import checks
from ...bounds import Bounds
from ...errors import BadValue
from .masses import nearest_above, nearest_below

if TYPE_CHECKING:
    from ...loss.own.density import DensityLoss
    from ...loss.own.lines import Density


@dataclass(frozen=True)
class ThresholdTest:
    """The most powerful test of its false-positive rate where p/q is monotone: it says P on one side of a point.

    Parameters
    ----------
    threshold : float
        The point.
    above : bool
        Whether the test says P above it, or below it.
    fpr : Bounds
        Q(says P), the false-positive rate.
    tpr : Bounds
        P(says P), the true-positive rate; no test of this false-positive rate has a larger one.
    """

    threshold: float
    above: bool
    fpr: Bounds[float]
    tpr: Bounds[float]

    def says(self, outcome: float) -> bool:
        """Whether the test says P of an outcome.

        Parameters
        ----------
        outcome : float
            A point of the line.

        Returns
        -------
        bool
            True for P.

        Raises
        ------
        BadType
            If outcome is no real number.
        BadValue
            If it is not finite.
        """
        point = checks.real("outcome", outcome, "a point of the line")
        return point > self.threshold if self.above else point < self.threshold


@dataclass(frozen=True)
class DensityDecomposition:
    """P = (1 - delta) P' + delta P'' and Q = (1 - delta) Q' + delta Q'', as densities; P'/Q' is between 1/level and level.

    Steinke 2022, Lemma 23, by its proof: P' is min(p, a q) and Q' is min(q, b p), scaled, with the levels a and b at which the
    hockey sticks of both orders are delta.  There is no simulator to draw from, as there is of finite pairs: draws of given
    densities would not be exact.

    Parameters
    ----------
    delta : float
        The weight of the rest.
    p_level, q_level : Bounds
        Both ends of a and of b; `level` is the larger.
    p, q : callable
        The densities.
    """

    delta: float
    p_level: Bounds[float]
    q_level: Bounds[float]
    p: Callable[[float], float]
    q: Callable[[float], float]

    @property
    def level(self) -> Bounds[float]:
        """The most that p_common/q_common and its inverse may be: at most e^epsilon.

        Returns
        -------
        Bounds
            Both ends.
        """
        return Bounds(max(self.p_level.lower, self.q_level.lower), max(self.p_level.upper, self.q_level.upper))

    def p_common(self, x: float) -> float:
        """The density of P', as accurate as the level is known.

        Parameters
        ----------
        x : float
            A point of the line.

        Returns
        -------
        float
            The density there.

        Raises
        ------
        BadType
            If x is no real number.
        BadValue
            If it is not finite.
        """
        return min(self.p(x), _middle(self.p_level) * self.q(x)) / (1.0 - self.delta)

    def q_common(self, x: float) -> float:
        """The density of Q', as accurate as the level is known.

        Parameters
        ----------
        x : float
            A point of the line.

        Returns
        -------
        float
            The density there.

        Raises
        ------
        BadType
            If x is no real number.
        BadValue
            If it is not finite.
        """
        return min(self.q(x), _middle(self.q_level) * self.p(x)) / (1.0 - self.delta)

    def p_rest(self, x: float) -> float:
        """The density of P'', as accurate as the level is known.

        Parameters
        ----------
        x : float
            A point of the line.

        Returns
        -------
        float
            The density there.

        Raises
        ------
        BadType
            If x is no real number.
        BadValue
            If it is not finite.
        """
        return max(0.0, self.p(x) - _middle(self.p_level) * self.q(x)) / self.delta

    def q_rest(self, x: float) -> float:
        """The density of Q'', as accurate as the level is known.

        Parameters
        ----------
        x : float
            A point of the line.

        Returns
        -------
        float
            The density there.

        Raises
        ------
        BadType
            If x is no real number.
        BadValue
            If it is not finite.
        """
        return max(0.0, self.q(x) - _middle(self.q_level) * self.p(x)) / self.delta


def _middle(ends: Bounds[float]) -> float:
    return 0.5 * (ends.lower + ends.upper)


def threshold_test(p: "Density", q: "Density", fpr: float, above: bool) -> ThresholdTest:
    """The test with the least threshold whose false-positive rate is surely at most so much, p/q growing along the line."""
    import numpy as np

    from ...loss.own.lines import last_where
    from ...loss.own.polygon import ONE

    def ends(one: "Density", x: float) -> Bounds[float]:
        low, high = one.tails(np.array([x])).above
        return Bounds(_share(low[0], ONE, nearest_below), _share(high[0], ONE, nearest_above))

    low, high = min(p.support[0], q.support[0]), max(p.support[1], q.support[1])
    place = low if fpr == 1.0 else high
    if 0.0 < fpr < 1.0:
        place = float(last_where(lambda x: q.guides(x)[1] > math.log(fpr), 1, low, high)[0])
        step = max(float(np.spacing(abs(place))), 1e-300)
        while place < high and ends(q, place).upper > fpr:  # but for the stated error of the tails
            place, step = min(high, place + step), 2.0 * step
    sure = Bounds(float(place == low), float(place == low))
    found_q, found_p = (ends(one, place) if math.isfinite(place) else sure for one in (q, p))
    return ThresholdTest(place if above else -place, above, found_q, found_p)


def _share(value: int, whole: int, rounded: Callable[[Any], float]) -> float:
    from fractions import Fraction

    return rounded(Fraction(value, whole))


def density_decomposition(
    loss: "DensityLoss", other: "DensityLoss", p: Any, q: Any, delta: float, most: float
) -> DensityDecomposition:
    """That of the weight delta, above 0, if it keeps within a level of `most`."""
    from fractions import Fraction

    levels = []
    for one in (loss, other):
        lower, upper = one.lower, one.upper
        least = max(float(lower.infinite_mass), float(upper.infinite_mass))
        if not least < delta:
            raise BadValue(f"delta is {delta:g}; allowed: above {least:g}, what one of p and q has alone.")
        found: list[Any] = [side.level_of(Fraction(delta)) for side in (lower, upper)]  # type: ignore[attr-defined]
        levels.append(Bounds(nearest_below(found[0]), nearest_above(found[1])))
    made = DensityDecomposition(delta, levels[0], levels[1], p, q)
    if made.level.upper > most:
        raise BadValue(
            f"the pair is not surely so private: asked for delta={delta:g} at a level of {most:.17g}; allowed: at this delta a "
            f"level from {made.level.upper:.17g} up."
        )
    return made
