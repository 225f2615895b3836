"""Poisson sampling: every record takes part in a step independently with the same probability."""

import math
from dataclasses import dataclass, replace
from typing import Any

from .. import checks
from ..errors import BadType, Unsupported
from ..loss.atomic import AtomicLoss
from ..loss.cumulant import Loss
from ..loss.discrete import SampledAtoms
from ..loss.divided import SampledLoss
from ..loss.exponential import ExponentialLoss, SampledExponentialLoss
from ..loss.gaussian import GaussianLoss
from ..loss.noise import Shape
from ..loss.paired import paired
from ..loss.profile import ProfileLoss
from ..loss.renyi import RenyiLoss
from ..loss.sampled import Guide, SampledGaussianLoss
from ..mechanism.claim import Claim
from ..mechanism.gaussian import Gaussian
from ..mechanism.release import Mechanism, Release, unsupported_sampling
from ..neighbours import DEFAULT, Order
from ..numerics.rounding import UNIT


@dataclass(frozen=True, repr=False)
class Poisson(Mechanism):
    """`base` on a Poisson sample of rate `rate`; rate 0 is free, rate 1 is the base itself.

    If (P, Q) dominates when a record is removed, ((1-q) Q + q P, Q) dominates on a sample; when one is added, (Q, (1-q) Q + q P)
    (Zhu, Dong and Wang 2022, Theorem 11 and Proposition 30).  Each is composed by itself over the whole run.  Rényi-only
    claims go by paper S, Theorem 34 and 35.
    """

    base: Release
    rate: float

    def __post_init__(self) -> None:
        if not isinstance(self.base, Release):
            raise BadType(f"base is {self.base!r}; allowed: a release such as Gaussian(sigma=1.0).")
        object.__setattr__(self, "rate", checks.rate("rate", self.rate))
        parts = self.base.parts
        if all(mechanism.squared_mu is not None for mechanism, _ in parts):
            return
        if len(parts) > 1 or parts[0][1] > 1:
            raise unsupported_sampling(
                repr(self.base),
                "one sample that feeds several parts needs their joint loss, which is known for Gaussian noise only.  "
                "Sample a single mechanism, or the Gaussian parts.",
            )
        mechanism = parts[0][0]
        if isinstance(mechanism, Poisson):
            raise unsupported_sampling(
                repr(mechanism), "a sample of a sample has no pair of its own.  Sample once, with the product of the rates."
            )
        if isinstance(mechanism, Claim) and mechanism.neighbours != DEFAULT:
            raise unsupported_sampling(
                repr(mechanism), "the theorems are about adding or removing a record.  Make the claim for add-or-remove."
            )

    def loss(self, wanted: tuple[Order, ...]) -> Any:
        if self.rate == 0.0:
            return None
        parts = self.base.parts
        gaussian = all(mechanism.squared_mu is not None for mechanism, _ in parts)
        if self.rate == 1.0:
            if not gaussian:
                return parts[0][0].loss(wanted)
            found = [(mechanism.loss(wanted), count) for mechanism, count in parts]  # one Gaussian stands for all parts
            squares = [count * loss.square for loss, count in found if isinstance(loss, GaussianLoss)]
            return GaussianLoss(math.fsum(squares)) if squares else None
        if "replace" in wanted:
            raise Unsupported(
                f"{self!r} under replace-one is not accounted for yet: its symmetric pair of two mixtures is missing.  "
                "Ask for add-or-remove, or for replace-one of the unsampled noise."
            )
        return self._gaussian(wanted) if gaussian else self._general(parts[0][0], wanted)

    def _gaussian(self, wanted: tuple[Order, ...]) -> Loss | None:
        square = math.fsum(count * (mechanism.squared_mu or 0.0) for mechanism, count in self.base.parts)
        if square == 0.0:
            return None
        if isinstance(self.base, Gaussian):
            exact = self.base.sensitivity == 1.0
            shape = Shape(self.base.sigma / self.base.sensitivity, self.rate, 0.0 if exact else UNIT)
        else:
            shape = Shape(1.0 / math.sqrt(square), self.rate, 8.0 * UNIT)
        return SampledGaussianLoss(shape, tuple(order == "remove" for order in wanted), Guide(shape))

    def _general(self, mechanism: Mechanism, wanted: tuple[Order, ...]) -> Any:
        losses = []
        for order in wanted:
            loss = mechanism.loss((order,))
            if loss is None:
                return None
            losses.append(_sampled(loss, self.rate, order == "remove"))
        return losses[0] if isinstance(losses[0], RenyiLoss) else paired(losses)

    def __repr__(self) -> str:
        base = repr(self.base)
        return f"{base if isinstance(self.base, Mechanism) else f'({base})'}.poisson(rate={self.rate!r})"


def _sampled(loss: Any, rate: float, removal: bool) -> Any:
    """The loss of one ordered pair of the sampled step."""
    if isinstance(loss, RenyiLoss):
        return replace(loss, rate=rate)
    if isinstance(loss, AtomicLoss):
        return SampledAtoms(loss, rate, removal)
    if isinstance(loss, ExponentialLoss):
        return SampledExponentialLoss(loss, rate, removal)
    if isinstance(loss, ProfileLoss):
        return replace(loss, rate=rate, removal=removal)
    return SampledLoss(loss, rate, removal)
