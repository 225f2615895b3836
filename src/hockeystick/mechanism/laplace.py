"""Laplace noise."""

from dataclasses import dataclass

from .. import checks
from .. import loss as losses
from ..loss.engines.compiled import laplace_epsilon, laplace_log_deltas
from ..neighbours import Order
from .noise import AdditiveNoise


@dataclass(frozen=True, repr=False)
class Laplace(AdditiveNoise):
    """Laplace noise of the given scale on a scalar that one record moves by at most `sensitivity`.

    sensitivity/scale-DP; the pair is the noise at distance `sensitivity` (tight).  Vectors of 1-norm sensitivity are covered
    too: the worst case moves one coordinate (docs/mathematics.md, section 5).

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

    def _direct(self, wanted: tuple[Order, ...], count: int, delta: float) -> tuple[float, float] | None:
        return laplace_epsilon(self._shift(wanted), count, delta)

    def _direct_log_delta(self, wanted: tuple[Order, ...], count: int, epsilon: float) -> tuple[float, float] | None:
        return laplace_log_deltas(self._shift(wanted), count, [epsilon])[0]

    def _shift(self, wanted: tuple[Order, ...]) -> float:
        return checks.ratio("sensitivity / scale", self._moved(wanted[0]), self.scale)
