"""Noise on the integers."""

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .. import checks
from ..errors import BadValue, Unsupported
from ..loss.pairs.binned import WideDiscreteGaussianLoss
from ..loss.pairs.discrete import DiscreteGaussianLoss, DiscreteLaplaceLoss
from ..loss.protocol import Loss
from ..neighbours import Order
from .noise import AdditiveNoise

if TYPE_CHECKING:
    from ..draws.source import InsecureSeed

_LISTED = 4096.0  # the largest sigma whose values are listed one by one
_MOST_VALUES = 200_000


class _IntegerNoise(AdditiveNoise):
    """Noise on a whole number that one record moves by at most a whole `sensitivity`."""

    def _check_whole(self, spread: str) -> None:
        self._check(spread)
        for name in ("sensitivity", "replace_sensitivity"):
            value = getattr(self, name)
            if value is not None and value != int(value):
                raise BadValue(f"{name} is {value}; allowed for noise on the integers: a whole number from 1 up.")


@dataclass(frozen=True, repr=False)
class DiscreteGaussian(_IntegerNoise):
    """Discrete Gaussian noise: P(x) proportional to e^{-x^2 / (2 sigma^2)} on the integers (Canonne, Kamath and Steinke 2020).

    `sigma` is the parameter of that law, close to its standard deviation.  Sensitivity is a whole number; the pair is the noise
    at that distance.  It is the move of one number, not the norm of a vector: for the 2-norm of several numbers that a record
    moves together take `DiscreteGaussianVector`, or `* k` where it moves k numbers by at most the sensitivity each.

    Parameters
    ----------
    sigma : float
        The parameter of the law; above 0.
    sensitivity : float, default 1.0
        How far adding or removing one record moves the one number that is released at most; a whole number from 1 up.
    replace_sensitivity : float, optional
        How far replacing a record moves it; by default, and at most, twice the sensitivity.

    Raises
    ------
    BadType
        If a parameter is no real number.
    BadValue
        If one is not above 0 and finite, a sensitivity is no whole number, or replace_sensitivity exceeds twice the sensitivity.

    Examples
    --------
    >>> round((DiscreteGaussian(sigma=4.0) * 10).epsilon(delta=1e-6), 6)
    3.745924
    """

    sigma: float
    sensitivity: float = 1.0
    replace_sensitivity: float | None = None

    def __post_init__(self) -> None:
        self._check_whole("sigma")

    def release(self, value: Any, rng: "InsecureSeed | None" = None, disjoint: bool = False) -> Any:
        """value plus discrete Gaussian noise, exactly.

        Parameters
        ----------
        value : int or array_like
            The answer, which one record moves by at most `sensitivity`.
        rng : InsecureSeed, optional
            Where the randomness comes from: the operating system, unless tests or figures need a seed.
        disjoint : bool, default False
            Say True for an array of which adding or removing one record moves one number only, such as a histogram.  A record
            that is replaced moves two of them: that is `* 2` under add-or-remove.

        Returns
        -------
        int or ndarray
            The noisy answer, in the shape of value.

        Raises
        ------
        BadType
            If value holds something else than numbers, disjoint is no bool, or rng no InsecureSeed.
        BadValue
            If a number is no whole number.
        Unsupported
            If value is an array of several numbers, and disjoint is False.

        Examples
        --------
        >>> DiscreteGaussian(sigma=2.0).release([10, 20], disjoint=True).dtype
        dtype('int64')
        """
        from ..draws.noise import discrete_gaussians
        from ..draws.source import words_of
        from ..draws.values import shaped, sums, wholes

        numbers, shape = wholes("value", value)
        if not checks.flag("disjoint", disjoint) and len(numbers) > 1:
            raise Unsupported(
                f"an array of {len(numbers)} numbers is not released by one {self!r}: its epsilon is that of one number.  "
                "Release the numbers one by one and count each, or say disjoint=True if a record moves only one of them."
            )
        return shaped(sums(numbers, discrete_gaussians(self.sigma, len(numbers), words_of(rng))), shape)

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Loss:
        move = int(self._moved(wanted[0]))
        if self.sigma > _LISTED:
            return WideDiscreteGaussianLoss(self.sigma, move)
        if move > _MOST_VALUES:
            raise Unsupported(
                f"{self!r} moves by {move} units; beyond {_MOST_VALUES} its values are not listed: rescale the answer."
            )
        return DiscreteGaussianLoss(self.sigma, move)


@dataclass(frozen=True, repr=False)
class DiscreteLaplace(_IntegerNoise):
    """Discrete Laplace (two-sided geometric) noise: P(x) proportional to e^{-|x| / scale} on the integers.

    sensitivity/scale-DP; the pair is the noise at distance `sensitivity`, a whole number.  Vectors of 1-norm sensitivity are
    covered too: the worst case moves one coordinate (docs/mathematics.md, section 5).

    Parameters
    ----------
    scale : float
        The parameter of the law; above 0.
    sensitivity : float, default 1.0
        How far adding or removing one record moves the answer at most, in the 1-norm; a whole number from 1 up.
    replace_sensitivity : float, optional
        How far replacing a record moves it; by default, and at most, twice the sensitivity.

    Raises
    ------
    BadType
        If a parameter is no real number.
    BadValue
        If one is not above 0 and finite, a sensitivity is no whole number, or replace_sensitivity exceeds twice the sensitivity.

    Examples
    --------
    >>> round((DiscreteLaplace(scale=10.0) * 100).epsilon(delta=1e-6), 6)
    4.774568
    """

    scale: float
    sensitivity: float = 1.0
    replace_sensitivity: float | None = None

    def __post_init__(self) -> None:
        self._check_whole("scale")

    def release(self, value: Any, rng: "InsecureSeed | None" = None) -> Any:
        """value plus discrete Laplace noise, for each number of an array, exactly.

        Parameters
        ----------
        value : int or array_like
            The answer, which one record moves by at most `sensitivity`: an array by the 1-norm of all its numbers together.
        rng : InsecureSeed, optional
            Where the randomness comes from: the operating system, unless tests or figures need a seed.

        Returns
        -------
        int or ndarray
            The noisy answer, in the shape of value.

        Raises
        ------
        BadType
            If value holds something else than numbers, or rng is no InsecureSeed.
        BadValue
            If a number is no whole number.

        Examples
        --------
        >>> type(DiscreteLaplace(scale=2.0).release(10))
        <class 'int'>
        """
        from ..draws.noise import discrete_laplaces
        from ..draws.source import words_of
        from ..draws.values import shaped, sums, wholes

        numbers, shape = wholes("value", value)
        return shaped(sums(numbers, discrete_laplaces(Fraction(self.scale), len(numbers), words_of(rng))), shape)

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Loss:
        move = int(self._moved(wanted[0]))
        if move > _MOST_VALUES:
            raise Unsupported(
                f"{self!r} moves by {move} units; beyond {_MOST_VALUES} its values are not listed: rescale the answer."
            )
        return DiscreteLaplaceLoss(self.scale, move)
