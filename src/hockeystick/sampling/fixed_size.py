"""Batches of a fixed size, drawn without or with replacement.

`examples` is the number of records of the larger data set.  When a record leaves, another takes its place in the batch: what
counts is how far a batch moves when one of its records is replaced (2C, or `replace_sensitivity`), also under add-or-remove.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

from .. import checks
from ..errors import BadValue
from ..loss.pairs.bracketed import BracketedLoss
from ..loss.pairs.discrete import ResponseLoss
from ..loss.pairs.gaussian import GaussianLoss
from ..loss.pairs.laplace import LaplaceLoss
from ..loss.pairs.ordered import ordered_pairs
from ..loss.pairs.profile import ProfileLoss
from ..loss.pairs.public_mixture import PublicMixtureLoss
from ..loss.pairs.renyi import RenyiLoss
from ..loss.sampled.binned import SampledLoss
from ..loss.sampled.gaussian_mixture import NORMAL, Mixture, MixtureLoss
from ..loss.sampled.symmetrised import symmetrised
from ..mechanism.claim import PureDP
from ..mechanism.release import Mechanism, Release
from ..neighbours import Order, same_size
from ..numerics.rounding import FUNCTION, UNIT
from .base import between_doubles, members, removals, rounded
from .drawn import Batches

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


_DEEP = 800.0  # -log of the probability of being drawn so often that it is left out: below every double
_MOST = 1000


class FixedSize(Batches):
    """What both have in common."""

    _counts_records = True

    def _check_sizes(self, drawn: str, most: int | None) -> None:
        examples = checks.count("examples", self.examples, least=1)
        size = checks.count(drawn, getattr(self, drawn))
        if most is not None and size > examples:
            raise BadValue(
                f"{drawn} is {size}; allowed: at most examples, {examples}, since no record is drawn twice.  "
                "For larger batches use with_replacement."
            )
        object.__setattr__(self, "examples", examples)
        object.__setattr__(self, drawn, size)

    @property
    def _own_records(self) -> int:
        return self.examples

    def _shown(self, call: str) -> str:
        base = repr(self.base)
        return f"{base if isinstance(self.base, Mechanism) else f'({base})'}.{call}"


@dataclass(frozen=True, repr=False)
class WithoutReplacement(FixedSize):
    """`base` on a batch of `batch` records, all subsets of that size being equally likely; g = batch / examples.

    Add and remove: with (P, Q) the pair of a replacement, ((1-g) Q + g P, Q) and its reverse, each by itself (Zhu, Dong and
    Wang 2022, Theorem 11, the neighbours in the batch being a replacement; attained where all other records contribute the
    opposite). Replace: in both orders delta is at most g delta(log(1 + (e^eps - 1)/g)) (Balle, Barthe and Gaboardi 2018,
    section 4; docs/mathematics.md, Lemma 26); the worse order may change from step to step, so one symmetric pair of that
    profile is composed.  The removal is attained and is the lower end. Zero-out: the same with the larger of a replacement and
    of a removal, since a batch with the record is compared with one with the null record, and with one with another record in
    its place.
    `batch` = `examples` is no sample at all: every record is taken, whichever the data set.

    Parameters
    ----------
    base : Release
        What sees the sample.
    batch : int
        The size of the batch, from 0 to `examples`.
    examples : int
        The number of records of the larger data set, from 1 up.

    Raises
    ------
    BadType
        If base is no release, or a size no number.
    BadValue
        If a size is no whole number in its range.
    Unsupported
        If several parts other than Gaussian noise would share one sample, or a part is sampled already.
    """

    base: Release
    batch: int
    examples: int

    _scheme = "Sampling without replacement"

    def __post_init__(self) -> None:
        self._check_sizes("batch", self.examples)
        self._check_base()

    def _drawn_places(self, words: Any) -> "npt.NDArray[np.int64]":
        from ..draws.choices import subset

        return subset(self.batch, self.examples, words)

    @property
    def _rates(self) -> tuple[float, float]:
        """batch / examples, rounded down and up."""
        return between_doubles(Fraction(self.batch, self.examples))

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        if self.batch == 0:
            return None
        if self.batch == self.examples:
            return self._whole(wanted)
        low, high = self._rates
        if not same_size(wanted):
            moved = self._whole(("replace",))
            if isinstance(moved, ProfileLoss):
                pairs: list[Any] = [replace(moved, rate=high, removal=one, low=low) for one in removals(wanted)]
                return ordered_pairs(pairs)
            top, bottom = (
                self._drawn("replace", high, removals(wanted)),
                self._drawn(self._attained("replace"), low, removals(wanted)),
            )
            if self._attained("replace") == "remove" and top is not None and top.exact:
                return BracketedLoss((top,), (bottom,))
            return rounded(top, bottom)
        found = self._both_orders(self._farther(wanted), high, low)
        if found is None or "replace" in wanted or self._zeroing_is_replacing(wanted):
            return found
        if isinstance(found, RenyiLoss | ProfileLoss):
            return found
        covers = *found.dominating, *self._undrawn(wanted)
        if not self._additive:
            return BracketedLoss(covers, ())
        return BracketedLoss(covers, members(self._drawn("remove", low, removals(wanted))))  # the others contribute nothing

    def __repr__(self) -> str:
        return self._shown(f"without_replacement(batch={self.batch}, examples={self.examples})")


@dataclass(frozen=True, repr=False)
class WithReplacement(FixedSize):
    """`base` on `draws` records, each drawn from all `examples` by itself; a record comes k times with probability
    Bin(draws, 1/n)(k).

    Gaussian noise, add and remove: (sum of Bin(k) N(2kC), N(0)) and its reverse.  An event of N(0)-mass s has mass at most
    Phi(Phi^-1(s) + 2kC/sigma) where k draws are displaced, and half-lines attain all of them; so does the data set in which
    all other records contribute the opposite: exact.
    Replace, and other mechanisms: with eta = 1 - Bin(0), delta is at most the sum over k >= 1 of
    Bin(k) delta_k(log(1 + (e^eps - 1)/eta)), delta_k that of k replaced records (Balle, Barthe and Gaboardi 2018,
    section 4; docs/mathematics.md, Lemma 26): the pair of a sample of rate eta of a pair that shows k.

    Parameters
    ----------
    base : Release
        What sees the sample.
    draws : int
        The number of draws, from 0 up.
    examples : int
        The number of records of the larger data set, from 2 up.

    Raises
    ------
    BadType
        If base is no release, or a size no number.
    BadValue
        If a size is no whole number in its range.
    Unsupported
        If several parts other than Gaussian noise would share one sample, or a part is sampled already.
    """

    base: Release
    draws: int
    examples: int

    _scheme = "Sampling with replacement"

    def __post_init__(self) -> None:
        self._check_sizes("draws", None)
        if self.examples < 2:
            raise BadValue("examples is 1; allowed: a whole number from 2 up (a draw from one record is no sample).")
        self._check_base()

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        if self.draws == 0:
            return None
        if self.draws == 1:
            return WithoutReplacement(self.base, 1, self.examples)._pair_loss(wanted)
        moved = self._whole(("replace",))
        if moved is None:
            return None
        if not same_size(wanted):
            if isinstance(moved, GaussianLoss):
                return self._mixtures("replace", wanted)
            high = self._rate[1]
            return BracketedLoss(
                (ordered_pairs([SampledLoss(self._public_mixture("replace"), high, one) for one in removals(wanted)]),), ()
            )
        cover = symmetrised(SampledLoss(self._public_mixture(self._farther(wanted)), self._rate[1], True), self._rate[1])
        found: tuple[Any, ...] = ()
        if isinstance(moved, GaussianLoss) and ("replace" in wanted or self._additive):
            erased = self._additive and "replace" not in wanted
            found = (self._mixtures("remove", wanted) if erased else self._mixtures("replace", ("remove",)),)
        return BracketedLoss((cover,), found)

    def _drawn_places(self, words: Any) -> "npt.NDArray[np.int64]":
        from ..draws.choices import draws_of

        return draws_of(self.draws, self.examples, words)

    @cached_property
    def _rate(self) -> tuple[float, float]:
        """1 - (1 - 1/n)^draws, rounded down and up."""
        value = -math.expm1(self.draws * math.log1p(-1.0 / self.examples))
        off = 4.0 * FUNCTION * value * (1.0 + self.draws / self.examples) + 4.0 * UNIT * value
        return value - off, min(value + off, 1.0 - UNIT)

    @cached_property
    def _weights(self) -> tuple[tuple[float, ...], float, float]:
        """log Bin(draws, 1/n)(k) for k = 1, 2, ...; a bound of their errors; log of what is left out."""
        odds = -math.log(self.examples - 1.0)
        found: list[float] = []
        log_weight = self.draws * math.log1p(-1.0 / self.examples)
        size = abs(log_weight)
        for k in range(1, self.draws + 1):
            log_weight += math.log((self.draws - k + 1.0) / k) + odds
            size += abs(odds) + 1.0
            falling = k > 2.0 * self.draws / self.examples + 1.0
            if falling and log_weight < -_DEEP - 10.0:
                return tuple(found), 4.0 * FUNCTION * (size + 1.0), log_weight + 2.0
            if k > _MOST:
                raise self._refuse(
                    f"{self.draws} draws from {self.examples} records",
                    f"a record would come more than {_MOST} times.  Take fewer draws, or Poisson sampling.",
                )
            found.append(log_weight)
        return tuple(found), 4.0 * FUNCTION * (size + 1.0), -math.inf

    def _mixtures(self, moved: Order, wanted: tuple[Order, ...]) -> Any:
        shape = self._shape(moved, 0.5)
        assert shape is not None
        weights, error, stray = self._weights
        moves = tuple(k / shape.noise for k in range(1, len(weights) + 1))
        rest = self.draws * math.log1p(-1.0 / self.examples)
        mixture = Mixture(weights, moves, rest, shape.noise_error + 4.0 * UNIT, error)
        pairs = [MixtureLoss(mixture, NORMAL, stray) if one else MixtureLoss(NORMAL, mixture, stray) for one in removals(wanted)]
        return ordered_pairs(list(pairs))

    def _public_mixture(self, moved: Order) -> PublicMixtureLoss:
        weights, error, stray = self._weights
        eta = math.log(-math.expm1(self.draws * math.log1p(-1.0 / self.examples)))
        losses = tuple(self._several(k, moved) for k in range(1, len(weights) + 1))
        off = error + 4.0 * FUNCTION * (2.0 + abs(eta) + self.draws / self.examples)
        return PublicMixtureLoss(losses, tuple(weight - eta for weight in weights), off, stray)

    def _several(self, count: int, moved: Order) -> Any:
        """The pair of so many replaced (or removed) records."""
        loss = self._whole((moved,))
        if isinstance(loss, GaussianLoss):
            return GaussianLoss(loss.square * count * count)
        if isinstance(loss, LaplaceLoss):
            return LaplaceLoss(loss.a * count)
        if isinstance(self.base, PureDP):
            return ResponseLoss(loss.ceiling * count)
        raise self._refuse(
            repr(self.base),
            "the profiles of groups are known for Gaussian and Laplace noise and pure claims.  Use sampling without replacement.",
        )

    def __repr__(self) -> str:
        return self._shown(f"with_replacement(draws={self.draws}, examples={self.examples})")
