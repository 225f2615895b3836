"""Poisson sampling: every record takes part in a step independently with the same probability."""

import math
from dataclasses import dataclass

from .. import checks
from ..errors import BadType, Unsupported
from ..loss.cumulant import Loss
from ..loss.gaussian import GaussianLoss
from ..loss.noise import Shape
from ..loss.sampled import Guide, SampledGaussianLoss
from ..mechanism.gaussian import Gaussian
from ..mechanism.release import Mechanism, Release, unsupported_sampling
from ..neighbours import Order
from ..numerics.rounding import UNIT


@dataclass(frozen=True, repr=False)
class Poisson(Mechanism):
    """`base` on a Poisson sample of rate `rate`; rate 0 is free, rate 1 is the base itself.

    Removing a record: ((1-q) N(0) + q N(mu), N(0)) dominates; adding one: the reverse (Zhu, Dong and Wang 2022, Theorem 11 and
    Proposition 30).  Each is composed by itself over the whole run.  Both are attained.
    """

    base: Release
    rate: float

    def __post_init__(self) -> None:
        if not isinstance(self.base, Release):
            raise BadType(f"base is {self.base!r}; allowed: a release such as Gaussian(sigma=1.0).")
        object.__setattr__(self, "rate", checks.rate("rate", self.rate))
        for mechanism, _ in self.base.parts:
            if mechanism.squared_mu is None:
                raise unsupported_sampling(repr(mechanism))

    def loss(self, wanted: tuple[Order, ...]) -> Loss | None:
        if self.rate == 0.0:
            return None
        if self.rate == 1.0:  # one Gaussian stands for all parts
            found = [(mechanism.loss(wanted), count) for mechanism, count in self.base.parts]
            squares = [count * loss.square for loss, count in found if isinstance(loss, GaussianLoss)]
            return GaussianLoss(math.fsum(squares)) if squares else None
        square = math.fsum(count * (mechanism.squared_mu or 0.0) for mechanism, count in self.base.parts)
        if square == 0.0:
            return None
        if "replace" in wanted:
            raise Unsupported(
                f"{self!r} under replace-one is not accounted for yet: its symmetric pair of two mixtures is missing.  "
                "Ask for add-or-remove, or for replace-one of the unsampled noise."
            )
        if isinstance(self.base, Gaussian):
            exact = self.base.sensitivity == 1.0
            shape = Shape(self.base.sigma / self.base.sensitivity, self.rate, 0.0 if exact else UNIT)
        else:
            shape = Shape(1.0 / math.sqrt(square), self.rate, 8.0 * UNIT)
        return SampledGaussianLoss(shape, tuple(order == "remove" for order in wanted), Guide(shape))

    def __repr__(self) -> str:
        base = repr(self.base)
        return f"{base if isinstance(self.base, Mechanism) else f'({base})'}.poisson(rate={self.rate!r})"
