"""Poisson sampling: every record takes part in a step independently with the same probability."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .. import checks
from .. import loss as losses
from ..loss.engines import compiled
from ..mechanism.gaussian import Gaussian
from ..mechanism.release import Mechanism, Release
from ..neighbours import DEFAULT, RECORD_IN_P, Order, same_size
from ..numerics.rounding import FUNCTION, UNIT
from .base import Sampled, how_far, members

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..draws.source import InsecureSeed
    from .drawn import Query


@dataclass(frozen=True, repr=False)
class Poisson(Sampled):
    """`base` on a Poisson sample of rate `rate`; rate 0 is free, rate 1 is the base itself.

    If (P, Q) dominates when a record is removed, ((1-q) Q + q P, Q) dominates on a sample; when one is added, (Q, (1-q) Q + q P)
    (Zhu, Dong and Wang 2022, Theorem 11 and Proposition 30).  Each is composed by itself over the whole run.  Zeroing out a
    record whose null contributes nothing is the same.  Rényi-only claims go by Steinke 2022, Theorem 34 and 35.

    Replacing a record: both outputs are mixtures with the same part Q, the output without it.  An event of Q-mass s has mass
    at most T(s) with the record and at least t(s) with the other, T and t from the pair of a removal; noise of a
    logarithmically concave density attains both together, at the contributions C and -C, so the pair ((1-q) N(0) + q N(C),
    (1-q) N(0) + q N(-C)) is exact (see `gaussian_mixture.py` and `replace_one.py` of `loss/sampled`).  Elsewhere (Balle, Barthe
    and Gaboardi 2018, advanced joint convexity) delta is at most q delta_replace(log(1 + (e^eps - 1)/q)) in both orders,
    which goes into one symmetric pair.

    Parameters
    ----------
    base : Release
        What sees the sample.
    rate : float
        The probability that a record takes part, from 0 to 1.

    Raises
    ------
    BadType
        If base is no release, or rate no real number.
    BadValue
        If rate is outside [0, 1].
    Unsupported
        If several parts other than Gaussian noise would share one sample, a part is sampled already, or a claim is made for
        another relation than add-or-remove.
    """

    base: Release
    rate: float

    _scheme = "Poisson sampling"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checks.rate("rate", self.rate))
        self._check_base()
        for mechanism, _ in self.base.parts:
            if mechanism._claimed_for != DEFAULT:
                raise self._refuse(
                    repr(mechanism), "the theorems are about adding or removing a record.  Make the claim for add-or-remove."
                )

    def release(
        self, value: Any, rng: "InsecureSeed | None" = None, query: "Query | None" = None, expected: float | None = None
    ) -> Any:
        """A Poisson sample of the records is drawn, and released by the base, exactly as epsilon counts it.

        Parameters
        ----------
        value : array_like or sequence
            The records: numbers, rows of an array, or anything that the query takes.
        rng : InsecureSeed, optional
            Where the randomness comes from: the operating system, unless tests or figures need a seed.
        query : callable, optional
            What the base releases, a function of the sample (an array of an array, a table of a table, else a list), which one
            record moves as the base says; for `RandomizedResponse` one category.  By default the sum of the sampled records,
            numbers or rows: each is clipped to the sensitivity of the noise (Gaussian: 2-norm, Laplace: 1-norm) and rounded
            towards 0, far below the noise, and added up exactly.
        expected : float, optional
            A public number by which the noisy sum is divided, such as the size that a sample is expected to have: the
            subsampled mean.

        Returns
        -------
        number or ndarray
            The release: which records were drawn stays unsaid.

        Raises
        ------
        BadType
            If value is no sequence, holds something else than the base takes, or query is no function.
        BadValue
            If a number is not finite, or both query and expected are given.
        Unsupported
            If the base has several parts, or needs a query.

        Examples
        --------
        >>> import hockeystick as hs
        >>> hs.Gaussian(sigma=4.0).poisson(rate=0.5).release([[0.6, 0.8]] * 100, expected=50).shape
        (2,)
        """
        from .drawn import length_of, release_of

        return release_of(self.base, value, self.sample(length_of(value), rng), rng, query, expected)

    def sample(self, examples: int, rng: "InsecureSeed | None" = None) -> "npt.NDArray[np.int64]":
        """Which of so many records take part: each by itself with probability `rate`, exactly.

        Parameters
        ----------
        examples : int
            How many records there are.
        rng : InsecureSeed, optional
            Where the randomness comes from: the operating system, unless tests or figures need a seed.

        Returns
        -------
        ndarray of int
            Places from 0, in increasing order.

        Raises
        ------
        BadType
            If examples is no number, or rng is no InsecureSeed.
        BadValue
            If examples is no whole number from 0 up.

        Examples
        --------
        >>> import hockeystick as hs
        >>> bool((hs.Gaussian(sigma=1.0).poisson(rate=0.5).sample(100) < 100).all())
        True
        """
        from ..draws.choices import poisson_sample
        from ..draws.source import words_of

        return poisson_sample(self.rate, checks.count("examples", examples), words_of(rng))

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        if (given := self._gaussian_shape(wanted)) is not None:
            shape = losses.SampledStep(*given)
            return losses.SampledGaussianLoss(shape, _removals(wanted), losses.Guide(shape))
        if self.rate == 0.0:
            return None
        if self.rate == 1.0:
            return self._whole(wanted)
        if same_size(wanted) and not (self._additive and "replace" not in wanted):
            found = self._replaced(zeroed="replace" not in wanted)
            if found is None or "replace" in wanted or isinstance(found, losses.RenyiLoss) or self._zeroing_is_replacing(wanted):
                return found
            # nothing is known to attain it
            return losses.BracketedLoss((*found.dominating, *self._undrawn(wanted)), ())
        return self._drawn("remove", self.rate, _removals(wanted))

    def _direct(self, wanted: tuple[Order, ...], count: int, delta: float) -> compiled.CoreAnswer:
        if compiled.core is None or (shape := self._gaussian_shape(wanted)) is None:
            return None
        pairs = _removals(wanted)
        if count == 1:
            return compiled.once_epsilon(shape, pairs, delta)
        return compiled.sampled_epsilon(shape, count, pairs, math.log(delta))

    def _direct_log_delta(self, wanted: tuple[Order, ...], count: int, epsilon: float) -> compiled.CoreAnswer:
        shape = self._gaussian_shape(wanted)
        if compiled.core is None or shape is None or count == 1:
            return None
        return compiled.sampled_log_deltas(shape, count, _removals(wanted), [epsilon])[0] or compiled.UNKNOWN

    def _gaussian_shape(self, wanted: tuple[Order, ...]) -> compiled.Shape | None:
        """What the core needs to know of a sampled step of one Gaussian mechanism; None for others."""
        if "replace" in wanted or type(self.base) is not Gaussian or self.rate in (0.0, 1.0):
            return None
        moved = self.base.sensitivity
        return self.base.sigma / moved, self.rate, 0.0 if math.frexp(moved)[0] == 0.5 else UNIT

    def _replaced(self, zeroed: bool = False) -> Any:
        """By another record, or by a null record that is as far from none as another may be."""
        once = self._whole(("remove",))
        if once is None:
            return None
        mechanism = self.base.parts[0][0]
        if isinstance(once, losses.RenyiLoss):
            return replace(once, rate=self.rate, both=True)
        if isinstance(once, losses.ProfileLoss):
            raise self._refuse(
                f"{mechanism!r} under replace-one",
                "the pair of two opposed removals is not offered for profiles.  Ask for add-or-remove, or claim ApproxDP.",
            )
        pair = self._replace_one(mechanism, once)
        if pair is None:
            bound = self._both_orders("replace", self.rate, self.rate)
            if once == self._whole(("replace",)) or self._attained("replace") == "remove":
                return bound
            return losses.BracketedLoss(
                bound.dominating, members(self._drawn("remove", self.rate, (True,)))
            )  # the other contributes nothing
        if zeroed or all(_doubles(mechanism) for mechanism, _ in self.base.parts):
            return pair
        # the replacement is nearer than two removals: both bounds hold
        nearer = how_far(self._whole(("replace",))) <= how_far(once)
        near: Order = "replace" if nearer else "remove"
        far: Order = "remove" if nearer else "replace"
        bound = self._both_orders(far, self.rate, self.rate)
        covers = pair, *bound.dominating, *self._undrawn(("replace",))
        return losses.BracketedLoss(covers, (self._drawn(near, self.rate, (True,)),) if len(self.base.parts) == 1 else ())

    def _replace_one(self, mechanism: Mechanism, once: Any) -> Any:
        from ..mechanism.claim import Claim
        from ..mechanism.discrete import DiscreteGaussian, DiscreteLaplace

        rate = self.rate
        if isinstance(once, losses.GaussianLoss):
            shape = self._shape("remove", rate)
            assert shape is not None
            moves = losses.Mixture(
                (math.log(rate),), (1.0 / shape.noise,), math.log1p(-rate), shape.noise_error + 2.0 * UNIT, _log_error(rate)
            )
            return losses.MixtureLoss(moves, moves, symmetric=losses.SymmetricPair(shape, True))
        if isinstance(once, losses.LaplaceLoss):
            return losses.ReplaceOneLaplaceLoss(once.a, rate)
        if isinstance(mechanism, DiscreteGaussian | DiscreteLaplace):
            return losses.ReplaceOneAtoms(once, rate)
        if isinstance(mechanism, Claim) and isinstance(once, losses.ResponseLoss):
            return losses.replace_one_response(once, rate)
        return None

    def __repr__(self) -> str:
        base = repr(self.base)
        return f"{base if isinstance(self.base, Mechanism) else f'({base})'}.poisson(rate={self.rate!r})"


def _removals(wanted: tuple[Order, ...]) -> tuple[bool, ...]:
    """Of which of the orders the mixture is P: those where P has the record."""
    return tuple(order in RECORD_IN_P for order in wanted)


def _log_error(rate: float) -> float:
    return FUNCTION * (1.0 + abs(math.log(rate)) + abs(math.log1p(-rate)))


def _doubles(mechanism: Mechanism) -> bool:
    """Whether a replacement may move the answer twice as far as a removal."""
    replaced = getattr(mechanism, "replace_sensitivity", None)
    return replaced is None or replaced == 2.0 * getattr(mechanism, "sensitivity", 0.0)
