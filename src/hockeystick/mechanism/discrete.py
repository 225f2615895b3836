"""Noise on the integers."""

from dataclasses import dataclass

from ..errors import BadValue, Unsupported
from ..loss.pairs.binned import WideDiscreteGaussianLoss
from ..loss.pairs.discrete import DiscreteGaussianLoss, DiscreteLaplaceLoss
from ..loss.protocol import Loss
from ..neighbours import Order
from .noise import AdditiveNoise

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
    at that distance.

    Parameters
    ----------
    sigma : float
        The parameter of the law; above 0.
    sensitivity : float, default 1.0
        How far adding or removing one record moves the answer at most; a whole number from 1 up.
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

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Loss:
        move = int(self._moved(wanted[0]))
        if move > _MOST_VALUES:
            raise Unsupported(
                f"{self!r} moves by {move} units; beyond {_MOST_VALUES} its values are not listed: rescale the answer."
            )
        return DiscreteLaplaceLoss(self.scale, move)
