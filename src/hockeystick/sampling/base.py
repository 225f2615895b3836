"""What all samplers share: the mechanism that sees the sample, and the losses of its sampled step."""

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from .. import loss as losses
from ..errors import BadType, Unsupported
from ..mechanism.gaussian import Gaussian
from ..mechanism.noise import AdditiveNoise
from ..mechanism.release import Mechanism, Release
from ..neighbours import DEFAULT, RECORD_IN_P, Order
from ..numerics.rounding import UNIT

if TYPE_CHECKING:
    from fractions import Fraction


class Sampled(Mechanism):
    """A release that sees a sample of the data instead of all of it."""

    base: Release
    _scheme = "Sampling"
    _group_size: ClassVar[int | None] = 1

    def _check_base(self) -> None:
        if not isinstance(self.base, Release):
            raise BadType(f"base is {self.base!r}; allowed: a release such as Gaussian(sigma=1.0).")
        for mechanism, _ in self.base.parts:
            if mechanism._why_not_sampled is not None:
                raise self._refuse(repr(mechanism), mechanism._why_not_sampled)
            if isinstance(mechanism, Sampled):
                raise self._refuse(
                    repr(mechanism), "a sample of a sample has no pair of its own.  Sample once, with the product of the rates."
                )
        self._check_one()

    def _check_one(self) -> None:
        parts = self.base.parts
        if len(parts) == 1 and parts[0][1] == 1:
            return
        if all(_is_gaussian(mechanism) for mechanism, _ in parts):
            return
        raise self._refuse(
            repr(self.base),
            "one sample that feeds several parts needs their joint loss, which is known for Gaussian noise only.  "
            "Sample a single mechanism, or the Gaussian parts.",
        )

    def _refuse(self, what: str, why: str) -> Unsupported:
        return Unsupported(f"{self._scheme} of {what} is not accounted for: {why}")

    @property
    def _assumed(self) -> tuple[str, ...]:
        return self.base._assumed

    @property
    def _why_not_run(self) -> str:
        return "its batches are not drawn by this library.  Release the base for each batch that you drew."

    @property
    def _additive(self) -> bool:
        """Whether a null record contributes nothing: noise on a sum."""
        return all(isinstance(mechanism, AdditiveNoise) for mechanism, _ in self.base.parts)

    def _whole(self, wanted: tuple[Order, ...]) -> Any:
        """The loss of the base itself, without a sample; Gaussian parts are one."""
        parts: list[tuple[Any, int]] = [(mechanism._pair_loss(wanted), count) for mechanism, count in self.base.parts]
        found = [(loss, count) for loss, count in parts if loss is not None]
        if not found:
            return None
        if len(found) == 1 and found[0][1] == 1:
            return found[0][0]
        return losses.GaussianLoss(math.fsum(count * loss.square for loss, count in found))

    def _shape(self, order: Order, rate: float) -> "losses.SampledStep | None":
        """The sampled step of Gaussian noise; None for other mechanisms."""
        loss = self._whole((order,))
        if not isinstance(loss, losses.GaussianLoss):
            return None
        if isinstance(self.base, Gaussian):
            return losses.SampledStep(*self._plain(self.base, order, rate))
        return losses.SampledStep(1.0 / math.sqrt(loss.square), rate, 8.0 * UNIT)

    def _plain(self, base: Gaussian, order: Order, rate: float) -> tuple[float, float, float]:
        """The noise, the rate, and the relative error of the noise."""
        moved = base._moved(order)
        return base.sigma / moved, rate, 0.0 if math.frexp(moved)[0] == 0.5 else UNIT

    def _drawn(self, moved: Order, rate: float, removals: tuple[bool, ...]) -> Any:
        """The loss of mixtures with the pair of the order `moved`, which is symmetric or one of a removal: in a removal the
        mixture is P."""
        shape = self._shape(moved, rate)
        if shape is not None:
            return losses.SampledGaussianLoss(shape, removals, losses.Guide(shape))
        from ..loss.pairs.ordered import ordered_pairs

        found: list[Any] = []
        loose = False
        for removal in removals:
            whole = self._whole((moved if moved == "replace" else "remove" if removal else "add",))
            if whole is None:
                return None
            loose = loose or (isinstance(whole, losses.BracketedLoss) and not whole.tight)
            if isinstance(whole, losses.DensityLoss):
                found.append(whole.drawn(rate, removal))
            else:
                found.append(_sampled(_cover(whole), rate, removal))
        if isinstance(found[0], losses.RenyiLoss):
            return found[0]
        # nothing is known to attain a sample of what only dominates
        return losses.BracketedLoss((ordered_pairs(found),), ()) if loose else ordered_pairs(found)

    def _farther(self, wanted: tuple[Order, ...]) -> Order:
        """The order that moves a batch of a fixed size the most: a replacement, or in zero-out a removal if that is farther."""
        if "replace" in wanted:
            return "replace"
        zeroed, replaced = self._whole(wanted[:1]), self._whole(("replace",))
        if type(zeroed) is not type(replaced) or not isinstance(zeroed, _moved_noise()):
            return "replace"
        return "replace" if how_far(zeroed) <= how_far(replaced) else wanted[0]

    def _zeroing_is_replacing(self, wanted: tuple[Order, ...]) -> bool:
        """Whether the pair of a null record is that of a replacement, as for claims."""
        return not self._additive and self._whole(wanted) == self._whole(("replace",))

    def _undrawn(self, wanted: tuple[Order, ...]) -> tuple[Any, ...]:
        """What bounds the step without a sample, for neighbours of the same size.

        It bounds the sampled step, too: a sample without the record tells nothing.
        """
        loss = self._whole(wanted)
        return () if loss is None or isinstance(loss, losses.RenyiLoss | losses.ProfileLoss) else tuple(loss.dominating)

    def _attained(self, moved: Order) -> Order:
        """The order whose pair some mechanism surely attains: group privacy of two carries a claim to replace-one not tightly."""
        from ..mechanism.claim import ZCDP
        from ..mechanism.profile import Profile

        loose = any(isinstance(one, ZCDP | Profile) and one.neighbours == DEFAULT for one, _ in self.base.parts)
        return "remove" if loose else moved

    def _both_orders(self, moved: Order, high: float, low: float) -> Any:
        """A certified bound for both orders at once from the pair of the order `moved`: the symmetric pair of the upper half
        of a removal from above, the removal itself from below (docs/mathematics.md, Lemmas 26 and 27)."""
        from ..loss.sampled.symmetrised import symmetrised

        loss = _cover(self._whole((moved,)))
        if loss is None:
            return None
        if isinstance(loss, losses.RenyiLoss):
            return replace(loss, rate=high, both=True, mutual=True)
        if isinstance(loss, losses.ProfileLoss):
            return replace(loss, rate=high, both=True, low=low)
        top, bottom = _cover(self._drawn(moved, high, (True,))), self._drawn(self._attained(moved), low, (True,))
        if not isinstance(top, losses.AtomicLoss) and top.closed(0.0) is None:
            raise self._refuse(
                repr(self.base), "the masses of so wide a discrete noise are known between edges only.  Use Gaussian noise."
            )
        return losses.BracketedLoss((symmetrised(top, high),), members(bottom))


def _moved_noise() -> tuple[type, ...]:
    """The losses of noise that a record moves, whose distances can be compared."""
    discrete = losses.DiscreteGaussianLoss, losses.WideDiscreteGaussianLoss, losses.DiscreteLaplaceLoss
    return losses.GaussianLoss, losses.LaplaceLoss, *discrete


def how_far(loss: Any) -> float:
    """How far the pair of a noise is moved, in its own units."""
    if isinstance(loss, losses.GaussianLoss):
        return loss.square
    return float(loss.a if isinstance(loss, losses.LaplaceLoss) else loss.move)


def members(loss: Any) -> tuple[Any, ...]:
    """What it may be."""
    return tuple(loss.members)


def _cover(loss: Any) -> Any:
    """What bounds it from above."""
    return loss.dominating[0] if isinstance(loss, losses.BracketedLoss | losses.DensityLoss) else loss


def _is_gaussian(mechanism: Mechanism) -> bool:
    return mechanism._squared_mu is not None or (type(mechanism).__name__ == "GDP")


def _sampled(loss: Any, rate: float, removal: bool) -> Any:
    """The loss of one ordered pair of the sampled step."""
    if isinstance(loss, losses.RenyiLoss):
        return replace(loss, rate=rate)
    if isinstance(loss, losses.AtomicLoss):
        return losses.SampledAtoms(loss, rate, removal)
    if isinstance(loss, losses.BoundedRangeLoss):
        return losses.SampledBoundedRangeLoss(loss, rate, removal)
    if isinstance(loss, losses.ProfileLoss):
        return replace(loss, rate=rate, removal=removal)
    if isinstance(loss, losses.LaplaceLoss):
        return losses.SampledLaplaceLoss(loss, rate, removal)
    return losses.SampledLoss(loss, rate, removal)


def removals(wanted: tuple[Order, ...]) -> tuple[bool, ...]:
    """Which of the orders have the record in P."""
    return tuple(order in RECORD_IN_P for order in wanted)


def between_doubles(value: "Fraction") -> tuple[float, float]:
    """The doubles next to a probability, from below and above."""
    near = float(value)
    if near == value:
        return near, near
    return (near, math.nextafter(near, 2.0)) if near < value else (math.nextafter(near, -1.0), near)


def rounded(high: Any, low: Any) -> Any:
    """The loss between two that differ by the rounding of a rate only."""
    if high is None or high == low:
        return high
    exact = high.exact
    return losses.BracketedLoss(high.dominating, low.members, tight=exact)
