"""Laplace noise."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import checks
from .. import loss as losses
from ..loss.engines.compiled import UNKNOWN, CoreAnswer, laplace_epsilon, laplace_log_deltas
from ..neighbours import Order
from .noise import AdditiveNoise

if TYPE_CHECKING:
    from ..draws.source import InsecureSeed


@dataclass(frozen=True, repr=False)
class Laplace(AdditiveNoise):
    """Laplace noise of the given scale on a scalar that one record moves by at most `sensitivity`.

    sensitivity/scale-DP; the pair is the noise at distance `sensitivity` (tight).  Vectors of 1-norm sensitivity are covered
    too: the worst case moves one coordinate (docs/mathematics.md, section 5).

    Parameters
    ----------
    scale : float
        The scale b of the density e^(-|x|/b) / (2b), in the unit of the answer; above 0.
    sensitivity : float, default 1.0
        How far adding or removing one record moves the answer at most, in the 1-norm; above 0.
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
    >>> round((Laplace(scale=10.0) * 1000).epsilon(delta=1e-6), 6)
    18.950287
    """

    scale: float
    sensitivity: float = 1.0
    replace_sensitivity: float | None = None

    def __post_init__(self) -> None:
        self._check("scale")

    def release(self, value: Any, rng: "InsecureSeed | None" = None) -> Any:
        """value plus Laplace noise, for each number of an array, exactly; the sum is rounded to a grid 2^40 times finer.

        Parameters
        ----------
        value : float or array_like
            The answer, which one record moves by at most `sensitivity`: an array by the 1-norm of all its numbers together.
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
        >>> (Laplace(scale=2.0).release(0.1) * 2.0**39).is_integer()
        True
        """
        from ..draws.noise import laplaces
        from ..draws.source import words_of
        from ..draws.values import reals, shaped

        numbers, shape = reals("value", value)
        return shaped(laplaces(numbers, self.scale, words_of(rng)), shape)

    def _pair_loss(self, wanted: tuple[Order, ...]) -> "losses.Loss":
        return losses.LaplaceLoss(self._shift(wanted))

    def _direct(self, wanted: tuple[Order, ...], count: int, delta: float) -> CoreAnswer:
        return laplace_epsilon(self._shift(wanted), count, delta)

    def _direct_log_delta(self, wanted: tuple[Order, ...], count: int, epsilon: float) -> CoreAnswer:
        return laplace_log_deltas(self._shift(wanted), count, [epsilon])[0] or UNKNOWN

    def _shift(self, wanted: tuple[Order, ...]) -> float:
        return checks.ratio("sensitivity / scale", self._moved(wanted[0]), self.scale)
