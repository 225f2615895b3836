"""Laplace noise."""

from dataclasses import dataclass

from .. import checks
from .. import loss as losses
from ..loss.engines.compiled import UNKNOWN, CoreAnswer, laplace_epsilon, laplace_log_deltas
from ..neighbours import Order
from .noise import AdditiveNoise


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

    def _pair_loss(self, wanted: tuple[Order, ...]) -> "losses.Loss":
        return losses.LaplaceLoss(self._shift(wanted))

    def _direct(self, wanted: tuple[Order, ...], count: int, delta: float) -> CoreAnswer:
        return laplace_epsilon(self._shift(wanted), count, delta)

    def _direct_log_delta(self, wanted: tuple[Order, ...], count: int, epsilon: float) -> CoreAnswer:
        return laplace_log_deltas(self._shift(wanted), count, [epsilon])[0] or UNKNOWN

    def _shift(self, wanted: tuple[Order, ...]) -> float:
        return checks.ratio("sensitivity / scale", self._moved(wanted[0]), self.scale)
