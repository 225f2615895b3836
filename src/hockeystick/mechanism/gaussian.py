"""Gaussian noise."""

from dataclasses import dataclass

from .. import checks
from .. import loss as losses
from ..loss.engines.compiled import UNKNOWN, CoreAnswer, gaussian_epsilon, gaussian_log_deltas
from ..neighbours import Order
from .noise import AdditiveNoise


@dataclass(frozen=True, repr=False)
class Gaussian(AdditiveNoise):
    """Normal noise of standard deviation `sigma` on an answer that one record moves by at most `sensitivity` (2-norm).

    The pair is N(sensitivity, sigma^2) against N(0, sigma^2) (paper S, Corollary 8, 10; tight).  Replacing a record moves
    the answer by `replace_sensitivity`, by default twice the sensitivity.

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
