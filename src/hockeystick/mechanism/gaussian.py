"""Gaussian noise."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import checks
from .. import loss as losses
from ..loss.engines.compiled import UNKNOWN, CoreAnswer, gaussian_epsilon, gaussian_log_deltas
from ..neighbours import Order
from .noise import AdditiveNoise

if TYPE_CHECKING:
    from ..draws.source import InsecureSeed


@dataclass(frozen=True, repr=False)
class Gaussian(AdditiveNoise):
    """Normal noise of standard deviation `sigma` on an answer that one record moves by at most `sensitivity` (2-norm).

    The pair is N(sensitivity, sigma^2) against N(0, sigma^2) (Steinke 2022, Corollaries 8 and 10; tight).  It is rho-zCDP
    for rho = sensitivity^2 / (2 sigma^2); two papers forget the square (errata A-E3, S-E4).  Replacing a record moves the answer
    by `replace_sensitivity`, by default twice the sensitivity.

    Parameters
    ----------
    sigma : float
        The standard deviation of the noise, in the unit of the answer; above 0.
    sensitivity : float, default 1.0
        How far adding or removing one record moves the answer at most, in the 2-norm; above 0.
    replace_sensitivity : float, optional
        How far replacing a record moves it; by default, and at most, twice the sensitivity.

    Raises
    ------
    BadType
        If a parameter is no real number.
    BadValue
        If one is not above 0 and finite, replace_sensitivity exceeds twice the sensitivity, or a quotient of sensitivity and
        noise is beyond 1e-100 to 1e100.

    Examples
    --------
    >>> Gaussian(sigma=2.0)
    Gaussian(sigma=2.0)
    >>> round(Gaussian(sigma=2.0).epsilon(delta=1e-6, neighbours="replace"), 6)
    4.886554
    """

    sigma: float
    sensitivity: float = 1.0
    replace_sensitivity: float | None = None

    def __post_init__(self) -> None:
        self._check("sigma")

    def release(self, value: Any, rng: "InsecureSeed | None" = None) -> Any:
        """value + N(0, sigma^2), for each number of an array, exactly; the sum is rounded to a grid 2^40 times finer than sigma.

        Parameters
        ----------
        value : float or array_like
            The answer, which one record moves by at most `sensitivity`: an array by the 2-norm of all its numbers together.
        rng : InsecureSeed, optional
            Where the randomness comes from: the operating system, unless tests or figures need a seed.

        Returns
        -------
        float or ndarray
            The noisy answer, in the shape of value; infinite where the sum is beyond the largest double.

        Raises
        ------
        BadType
            If value holds something else than real numbers, or rng is no InsecureSeed.
        BadValue
            If a number is NaN or infinite, or no double.

        Examples
        --------
        >>> Gaussian(sigma=2.0).release([1.0, 2.0]).shape
        (2,)
        """
        from ..draws.noise import gaussians
        from ..draws.source import words_of
        from ..draws.values import reals, shaped

        numbers, shape = reals("value", value)
        return shaped(gaussians(numbers, self.sigma, words_of(rng)), shape)

    @property
    def _squared_mu(self) -> float:
        return (self.sensitivity / self.sigma) ** 2

    def _pair_loss(self, wanted: tuple[Order, ...]) -> "losses.Loss":
        return losses.GaussianLoss(self._square(wanted))

    def _direct(self, wanted: tuple[Order, ...], count: int, delta: float) -> CoreAnswer:
        return gaussian_epsilon(count * self._square(wanted), delta)

    def _direct_log_delta(self, wanted: tuple[Order, ...], count: int, epsilon: float) -> CoreAnswer:
        return gaussian_log_deltas(count * self._square(wanted), [epsilon])[0] or UNKNOWN

    def _square(self, wanted: tuple[Order, ...]) -> float:
        return checks.ratio("sensitivity / sigma", self._moved(wanted[0]), self.sigma) ** 2
