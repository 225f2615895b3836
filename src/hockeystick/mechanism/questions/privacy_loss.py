"""The law of the privacy loss of a dominating pair: tails, moments, atoms, quantiles."""

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ... import checks
from ...bounds import Bounds
from ...errors import BadValue, Unsupported
from ...neighbours import REVERSED, Relation
from .entries import each

if TYPE_CHECKING:
    from ...loss.composed import ComposedLoss
    from .law import LawQuestions


class Atom(NamedTuple):
    """One value of the loss, and both ends of its probability."""

    loss: float
    mass: Bounds[float]


class NormalApproximation(NamedTuple):
    """A normal law with the mean and the standard deviation of the loss: no guarantee, off by about 1/sqrt(steps)."""

    mean: float
    deviation: float

    def tail(self, epsilon: float) -> float:
        """About P(Z > epsilon), by the central limit theorem: no guarantee, in either direction.

        Parameters
        ----------
        epsilon : float
            Any number.

        Returns
        -------
        float
            An approximation that proves nothing.
        """
        away = epsilon - self.mean
        return 0.5 * math.erfc(away / (self.deviation * math.sqrt(2.0))) if self.deviation else float(away < 0.0)


class PrivacyLoss:
    """The law of Z = log(P(Y)/Q(Y)), Y drawn from P, of the dominating pair of a release in one order.

    Every hockey stick of the release is at most that of this pair.  Its tails, its variance and its quantiles are those of the
    pair alone: they bound nothing for a mechanism that the pair dominates.  What holds for the mechanism is `epsilon` and
    `delta` of the release.

    Parameters
    ----------
    release : Release
        Whose law it is; `release.loss(neighbours)` makes it.
    neighbours : Relation
        The order.
    run : ComposedLoss
        The composed loss of the order.
    opposite : ComposedLoss or None
        That of the other order, where there is one.
    """

    def __init__(
        self, release: "LawQuestions", neighbours: Relation, run: "ComposedLoss", opposite: "ComposedLoss | None"
    ) -> None:
        from ...loss.answers.law import Law
        from ...loss.answers.law_between import LawBetween

        self.neighbours = neighbours
        self._release = release
        self._law: Law = Law(run, opposite) if run.exact else LawBetween(run, opposite)

    def __repr__(self) -> str:
        shown = repr(self._release)
        single = sum(count for _, count in self._release.parts) == 1
        return f"{shown if single else f'({shown})'}.loss(neighbours={self.neighbours!r})"

    def tail(self, epsilon: Any) -> Bounds[Any]:
        """P(Z > epsilon), with infinite losses counted: at least delta(epsilon).

        Parameters
        ----------
        epsilon : float or array_like
            Any finite number.

        Returns
        -------
        Bounds
            The certified ends, floats or arrays as epsilon is; for many steps they are some 1e-6 of the probability apart, or
            include what sits next to epsilon.

        Raises
        ------
        BadType
            If epsilon is no number and no array of numbers.
        BadValue
            If epsilon is not finite.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=1.0).loss("remove").tail(1.0).upper, 6)
        0.308538
        """
        return self._asked(epsilon, self._law.tail_ends)

    def cdf(self, epsilon: Any) -> Bounds[Any]:
        """P(Z <= epsilon).

        Parameters
        ----------
        epsilon : float or array_like
            Any finite number.

        Returns
        -------
        Bounds
            The certified ends, floats or arrays as epsilon is.

        Raises
        ------
        BadType
            If epsilon is no number and no array of numbers.
        BadValue
            If epsilon is not finite.
        """
        return self._asked(epsilon, self._law.cdf_ends)

    def _asked(self, epsilon: Any, ends: Any) -> Bounds[Any]:
        def real(name: str, value: Any) -> float:
            return checks.real(name, value, "a finite number")

        return Bounds(*each("epsilon", epsilon, real, lambda one: ends([one])[0], ends))

    def mean(self) -> Bounds[float]:
        """E Z, the Kullback-Leibler divergence.

        Returns
        -------
        Bounds
            The certified ends; infinite if the loss is infinite with positive probability.

        Raises
        ------
        Unsupported
            If the moments of a part are not bounded.
        """
        return self._moment(self._law.mean)

    def variance(self) -> Bounds[float]:
        """The variance of Z: the sum of those of the steps.

        Returns
        -------
        Bounds
            The certified ends.

        Raises
        ------
        Unsupported
            If the loss is infinite with positive probability, or the moments of a part are not bounded.
        """
        if self._law.infinite:
            raise Unsupported(
                f"{self!r} is infinite with probability {float(self._law.infinite)}, so it has no variance; ask for tails or "
                "quantiles."
            )
        return self._moment(self._law.variance)

    def _moment(self, ask: Any) -> Bounds[float]:
        from ...loss.protocol import Inconclusive

        try:
            return Bounds(*ask())
        except Inconclusive:
            raise Unsupported(
                f"the moments of {self!r} are not bounded: a part has losses that no bound of ours covers."
            ) from None

    def quantile(self, level: float) -> Bounds[float]:
        """The least z with P(Z <= z) >= level.

        Parameters
        ----------
        level : float
            A probability, above 0 and below 1.

        Returns
        -------
        Bounds
            The certified ends; infinite where the loss is infinite with more than probability 1 - level.

        Raises
        ------
        BadType
            If level is no real number.
        BadValue
            If level is not above 0 and below 1.

        Examples
        --------
        >>> import hockeystick as hs
        >>> round(hs.Gaussian(sigma=1.0).loss("remove").quantile(0.5).lower, 6)
        0.5
        """
        share = checks.real("level", level, "a probability above 0 and below 1")
        if not 0.0 < share < 1.0:
            raise BadValue(f"level is {share}; allowed: a probability above 0 and below 1.")
        return Bounds(*self._law.quantile(share))

    @property
    def support(self) -> tuple[float, float]:
        """An interval that has all finite losses.

        Returns
        -------
        tuple of (float, float)
            Its ends, rounded outwards; infinite where there is no least or no largest loss, or none is known.
        """
        return self._law.span()

    @property
    def infinite_mass(self) -> Bounds[float]:
        """P(Z = infinity), below which no delta comes at any epsilon.

        Returns
        -------
        Bounds
            The doubles next to it.
        """
        least, most = self._law.infinite, self._law.infinite_above
        low, high = float(least), float(most)
        return Bounds(
            low if low <= least else math.nextafter(low, -math.inf),
            high if high >= most else math.nextafter(high, math.inf),
        )

    def atoms(self) -> list[Atom]:
        """All finite values of the loss with their probabilities, increasing, of a run of few steps with few values each.

        Returns
        -------
        list of Atom
            Each value and both ends of its probability; values that are within rounding of each other are one.

        Raises
        ------
        Unsupported
            If a part has a density, or the values are too many to be listed.
        """
        found = self._law.atoms()
        if found is None:
            raise Unsupported(
                f"{self!r} has a density, or too many values to be listed one by one; ask for `tail` or `cdf` at some epsilons."
            )
        return [Atom(loss, Bounds(low, high)) for loss, low, high in found.joined()]

    @property
    def costly(self) -> bool:
        """Whether a tail takes several deltas, and is not known by itself.

        Returns
        -------
        bool
            False for one step, for Gaussian noise however often, and where all values are listed.
        """
        return self._law._direct is None

    def reverse(self) -> "PrivacyLoss":
        """The law of the loss of the other order, log(Q/P) under Q: minus it is the law of log(P/Q) under Q.

        Steinke 2022, Remark 5.

        Returns
        -------
        PrivacyLoss
            That of "add" for "remove", and of "remove" for "add".

        Raises
        ------
        Unsupported
            If the relation has no other order by itself.
        """
        other = REVERSED.get(self.neighbours)
        if other is None:
            raise Unsupported(f"neighbours={self.neighbours!r} has no other order; ask with neighbours='remove' or 'add'.")
        return self._release.loss(other)

    def normal_approximation(self) -> NormalApproximation:
        """The normal law of the same mean and variance, as by the central limit theorem: an approximation, no guarantee.

        Returns
        -------
        NormalApproximation
            Its mean, its standard deviation and its tail.

        Raises
        ------
        Unsupported
            As `variance`.
        """
        spread = self.variance()
        mean = self.mean()
        return NormalApproximation(0.5 * (mean.lower + mean.upper), math.sqrt(max(0.5 * (spread.lower + spread.upper), 0.0)))

    def plot(self, axes: Any = None) -> Any:
        """P(Z > epsilon) against epsilon with delta(epsilon) below it, and the normal approximation as what it is (extra "plot").

        Parameters
        ----------
        axes : matplotlib.axes.Axes, optional
            Where to draw; by default on a figure of its own.

        Returns
        -------
        matplotlib.figure.Figure
            The figure.

        Raises
        ------
        MissingExtra
            If matplotlib is not installed.
        """
        from ...report.law import law

        return law(self, self._release, axes)
