"""Random allocation, also called balls and bins: every record takes part in one step of an epoch, drawn uniformly."""

import math
from dataclasses import dataclass
from typing import Any

from .. import checks
from .. import loss as losses
from ..errors import BadValue
from ..mechanism.release import Mechanism, Release
from ..neighbours import DEFAULT, Order
from ..numerics.rounding import UNIT
from .base import Sampled
from .base import removals as removed

MOST = 10**6


@dataclass(frozen=True, repr=False)
class Allocated(Sampled):
    """`base` at each of `steps` steps, of which every record takes part in `times`, drawn uniformly by itself: one epoch.

    Batches vary in size, as in Poisson sampling; a shuffled pass is another scheme.  Repeated (`* E`), every epoch draws afresh;
    with `kept`, one draw serves so many epochs.

    With A the law without the record and B the mean over the steps of the laws where the record takes part in that step, (B, A)
    dominates when a record is removed, (A, B) when one is added, also for batches and queries chosen from what was released
    (Chua et al. 2024, arXiv:2412.16802, Theorem 3.1; Feldman and Shenfeld 2025, arXiv:2502.08202, Theorem 3.1), and is attained.
    Zeroing out a record of noise is the same; of a null record that is not the same as none nothing is proved.  An assignment
    kept for E epochs is one epoch of the step E times over: of a noise smaller by the root of E.  Of several `times`, the steps
    are split into that many blocks at random, and a record draws one step in each: a bound.  Proofs:
    docs/mathematics/allocation.md and allocation-steps.md.

    Parameters
    ----------
    base : Release
        What every step does: Gaussian noise, or one mechanism with Laplace noise or with finitely many values of the loss.
    steps : int
        The number of steps of an epoch, from 1 up.
    kept : int, default 1
        For how many epochs one draw serves.
    times : int, default 1
        In how many steps of an epoch a record takes part.

    Raises
    ------
    BadType
        If base is no release, or steps, kept or times no number.
    BadValue
        If steps, kept or times is no whole number in its range, or times exceeds steps.
    Unsupported
        If base is none of these, or sampled already.

    Examples
    --------
    >>> from hockeystick.mechanism.gaussian import Gaussian
    >>> epoch = Allocated(Gaussian(sigma=1.0), steps=64)
    >>> round(epoch.epsilon(delta=1e-8), 6)
    1.798662
    """

    base: Release
    steps: int
    kept: int = 1
    times: int = 1

    _scheme = "Random allocation"

    def __post_init__(self) -> None:
        for name in ("steps", "kept", "times"):
            given = checks.count(name, getattr(self, name), least=1)
            if given > MOST:
                raise BadValue(f"{name} is {given}; allowed: at most {MOST}.")
            object.__setattr__(self, name, given)
        if self.times > self.steps:
            raise BadValue(f"times is {self.times}; allowed: at most steps, {self.steps}.")
        self._check_base()
        for mechanism, _ in self.base.parts:
            if mechanism._claimed_for != DEFAULT:
                raise self._refuse(
                    repr(mechanism), "the theorems are about adding or removing a record.  Make the claim for add-or-remove."
                )
            if mechanism._squared_mu is None:
                self._whole_steps()

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        if "replace" in wanted:
            raise self._refuse(
                f"{self.base!r} under replace-one",
                "no theorem gives a pair that dominates it.  Ask for add-or-remove or zero-out, or use Poisson sampling.",
            )
        if not self._additive and not {"erase", "restore"}.isdisjoint(wanted):
            raise self._refuse(
                f"{self.base!r} under zero-out",
                "a step without the record and one with a null record differ, and no theorem gives a pair for that.  Ask for "
                "add-or-remove, or use Poisson sampling.",
            )
        whole = self._whole(("remove",))
        if whole is None:
            return None
        if not isinstance(whole, losses.GaussianLoss):
            return self._of_steps(whole, wanted)
        square = whole.square * self.kept
        if self.times == 1:  # Lemma 40, also for a draw that is kept
            return _epoch(square, self.steps, wanted)
        if self.times == self.steps:
            return losses.GaussianLoss(square * self.times)
        short, more = divmod(self.steps, self.times)
        # docs/mathematics/allocation.md, Lemma 40a
        blocks = (short, self.times - more), (short + 1, more)
        each = tuple((_epoch(square, size, wanted), count) for size, count in blocks if count)
        return losses.BracketedLoss((losses.SeveralLosses(each),), ())

    def _whole_steps(self) -> Any:
        """The loss of a step that is no Gaussian noise, where its epochs can be accounted for."""
        whole = self._whole(("remove",))
        if isinstance(whole, losses.LaplaceLoss) and self.kept > 1:
            raise self._refuse(
                f"{self.base!r} with kept={self.kept}",
                "the loss of several Laplace steps together has no short form.  Let every epoch draw afresh (`* epochs`).",
            )
        if whole is None or isinstance(whole, losses.LaplaceLoss) or losses.is_listed(whole):
            return whole
        raise self._refuse(
            repr(self.base),
            "its pair is computed for Gaussian and Laplace noise and for steps of finitely many values.  Use one of these, or "
            "Poisson sampling.",
        )

    def _of_steps(self, whole: Any, wanted: tuple[Order, ...]) -> Any:
        """The loss of an epoch of steps that are no Gaussian noise (docs/mathematics/allocation-steps.md, Lemma 50)."""
        from ..loss.pairs.ordered import ordered_pairs

        if self.times > 1:
            raise self._refuse(repr(self.base), "several steps of an epoch are composed for Gaussian noise only.  Take times=1.")
        if isinstance(whole, losses.LaplaceLoss):
            return whole if self.steps == 1 else losses.laplace_epoch(whole, self.steps, removed(wanted))
        found = [losses.finite_epoch(whole, self.steps, self.kept, removal) for removal in removed(wanted)]
        if None in found:
            raise self._refuse(
                repr(self),
                "its epoch takes too many values to list them.  Take fewer steps, Gaussian noise, or Poisson sampling.",
            )
        return ordered_pairs([one for one in found if one is not None])

    def __repr__(self) -> str:
        base = repr(self.base)
        more = "".join(f", {name}={getattr(self, name)}" for name in ("kept", "times") if getattr(self, name) > 1)
        return f"{base if isinstance(self.base, Mechanism) else f'({base})'}.allocated(steps={self.steps}{more})"


def _epoch(square: float, steps: int, wanted: tuple[Order, ...]) -> Any:
    """The loss of one epoch in which a record takes part in one step, of this squared distance over the noise."""
    if steps == 1:
        return losses.GaussianLoss(square)
    step = losses.AllocatedStep(math.sqrt(square), steps, 8.0 * UNIT)
    return losses.AllocatedGaussianLoss(step, removed(wanted), losses.Moments(step))
