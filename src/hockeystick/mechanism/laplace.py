"""Laplace noise."""

from dataclasses import dataclass

from .. import checks
from ..loss.cumulant import Loss
from ..loss.laplace import LaplaceLoss
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

    def loss(self, wanted: tuple[Order, ...]) -> Loss:
        return LaplaceLoss(checks.ratio("sensitivity / scale", self.moved(wanted[0]), self.scale))
