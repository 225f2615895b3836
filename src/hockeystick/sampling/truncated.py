"""Poisson sampling with a cap: batches that would be larger are cut at random, so that shapes are static."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import checks
from .. import loss as losses
from ..errors import BadValue
from ..loss.pairs.bracketed import BracketedLoss
from ..loss.pairs.ordered import ordered_pairs
from ..loss.sampled.gaussian_mixture import Mixture, MixtureLoss
from ..loss.sampled.revealed import RevealedLoss
from ..mechanism.release import Mechanism, Release
from ..neighbours import DEFAULT, RECORD_IN_P, Order, same_size
from ..numerics.rounding import UNIT
from ..numerics.truncation import Part, Shares, truncation
from .base import members, removals
from .drawn import Batches
from .fixed_size import WithoutReplacement
from .poisson import Poisson, _log_error

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MOST = 10**9


@dataclass(frozen=True, repr=False)
class TruncatedPoisson(Batches):
    """`base` on a Poisson sample of rate `rate`, of which at most `cap` records are kept, drawn uniformly.

    What a batch of a static shape needs (JAX).  A record's part depends on how many others are drawn.  Zero-out and replace-one:
    the record keeps its index, so the others are drawn alike in both data sets.  Given those that are kept, it is in with
    probability `rate` if they are at most cap - 2, with another one if they are cap - 1, and surely not if they are cap: a step
    says which of two Poisson samples it was, or that it was none (docs/mathematics/truncated.md, Lemma 53).  For Gaussian noise
    the pair of Ganesh 2025 (arXiv:2508.15089; Lemma 55) holds as well: each bounds the whole run, and the smaller answer counts.
    Add-or-remove: fewer than `cap` others, a Poisson sample; else the record displaces one of them, as in batches of a fixed
    size (Lemma 55).  From below: the Poisson sample of the probability that the record is kept, where all others contribute
    nothing.

    Parameters
    ----------
    base : Release
        What sees the sample.
    rate : float
        The probability that a record is drawn, from 0 to 1.
    cap : int
        How many records are kept at most, from 0 up.
    examples : int
        The number of records (of the larger data set), from 1 to 1e9.

    Raises
    ------
    BadType
        If base is no release, or a number is of another type.
    BadValue
        If rate is outside [0, 1], or cap or examples is no whole number in its range.
    Unsupported
        If several parts other than Gaussian noise would share one sample, a part is sampled already, or a claim is made for
        another relation than add-or-remove, or by its Rényi curve or profile.

    Examples
    --------
    >>> from hockeystick.mechanism.gaussian import Gaussian
    >>> step = TruncatedPoisson(Gaussian(sigma=1.1), rate=256 / 60_000, cap=300, examples=60_000)
    >>> round((step * 3510).epsilon(delta=1e-5, neighbours="zero-out"), 5)
    1.16255
    """

    base: Release
    rate: float
    cap: int
    examples: int

    _scheme = "Truncated Poisson sampling"
    _counts_records = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checks.rate("rate", self.rate))
        object.__setattr__(self, "cap", checks.count("cap", self.cap))
        object.__setattr__(self, "examples", checks.count("examples", self.examples, least=1))
        if self.examples > MOST:
            raise BadValue(f"examples is {self.examples}; allowed: at most {MOST}.")
        self._check_base()
        for mechanism, _ in self.base.parts:
            if mechanism._claimed_for != DEFAULT:
                raise self._refuse(
                    repr(mechanism), "the theorems are about adding or removing a record.  Make the claim for add-or-remove."
                )
        whole = self._whole(("remove",))
        if isinstance(whole, losses.RenyiLoss | losses.ProfileLoss):
            raise self._refuse(
                repr(self.base), "its pair is not known, and the theorem mixes pairs.  Claim ApproxDP, or use Poisson sampling."
            )

    @property
    def _own_records(self) -> int:
        return self.examples

    def _drawn_places(self, words: Any) -> "npt.NDArray[np.int64]":
        from ..draws.choices import poisson_sample, subset

        drawn = poisson_sample(self.rate, self.examples, words)
        return drawn if drawn.size <= self.cap else drawn[subset(self.cap, int(drawn.size), words)]

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        if not (self.rate and self.cap):
            return None
        if self.cap >= self.examples:
            return Poisson(self.base, self.rate)._pair_loss(wanted)
        if self.rate == 1.0:
            return WithoutReplacement(self.base, self.cap, self.examples)._pair_loss(wanted)
        shares = truncation(self.examples, self.rate, self.cap)
        kept = Poisson(self.base, shares.rate)._pair_loss(wanted)
        if not same_size(wanted):
            covers = self._displacing(wanted, shares)
            return BracketedLoss(covers, members(kept)) if covers else None
        covers = self._revealing(wanted, shares)
        others = self._displacing_others(wanted, shares)
        # whose pair dominates that of a record that comes or goes, as it is apart on both sides
        one_order: tuple[Order, ...] = ("remove",) if "replace" in wanted else ("remove", "add")
        quick = self._displacing(one_order, shares) if others else ()
        return BracketedLoss((*covers, *others), members(kept), sooner=(*(None for _ in covers), *quick)) if covers else None

    def _revealing(self, wanted: tuple[Order, ...], shares: Shares) -> tuple[Any, ...]:
        """Lemma 53: of which rate the sample is, or that it is none."""
        pairs = [(Poisson(self.base, part.rate)._pair_loss(wanted), part) for part in (shares.small, shares.edge)]
        return _mixed(pairs, 4.0 * UNIT)

    def _displacing(self, wanted: tuple[Order, ...], shares: Shares) -> tuple[Any, ...]:
        """Lemma 55: a Poisson sample, or a batch of a fixed size."""
        full = self._drawn("replace", shares.full.rate, removals(wanted))
        return _mixed([(Poisson(self.base, self.rate)._pair_loss(wanted), shares.whole), (full, shares.full)], shares.error)

    def _displacing_others(self, wanted: tuple[Order, ...], shares: Shares) -> tuple[Any, ...]:
        """Lemma 55 for neighbours of the same size, Gaussian noise: the other of a full batch that makes room counts in both."""
        own, far = self._shape("remove", shares.full.rate), self._shape("replace", shares.full.rate)
        if own is None or far is None:
            return ()
        rate = shares.full.rate
        error = _log_error(rate)

        def moved(shape: losses.SampledStep) -> Mixture:
            return Mixture((math.log(rate),), (1.0 / shape.noise,), math.log1p(-rate), shape.noise_error + 2.0 * UNIT, error)

        if "replace" in wanted:
            pairs: list[Any] = [MixtureLoss(moved(far), moved(far), symmetric=losses.SymmetricPair(far, True))]
        else:
            ends = moved(far), moved(own)
            pairs = [MixtureLoss(*(ends if order in RECORD_IN_P else ends[::-1])) for order in wanted]
        whole = Poisson(self.base, self.rate)._pair_loss(wanted)
        return _mixed([(whole, shares.whole), (ordered_pairs(pairs), shares.full)], shares.error)[:1]

    def __repr__(self) -> str:
        base = repr(self.base)
        shown = base if isinstance(self.base, Mechanism) else f"({base})"
        return f"{shown}.truncated_poisson(rate={self.rate!r}, cap={self.cap}, examples={self.examples})"


def _mixed(pairs: list[tuple[Any, Part]], weight_error: float) -> tuple[Any, ...]:
    """Public mixtures, one for each way in which the pairs are dominated."""
    used = [(loss, part.weight) for loss, part in pairs if loss is not None and part.weight > 0.0]
    if not used:
        return ()
    found = []
    for place in range(max(len(loss.dominating) for loss, _ in used)):
        each = [(loss.dominating[min(place, len(loss.dominating) - 1)], weight) for loss, weight in used]
        weights = tuple(weight for _, weight in each)
        rows = [
            RevealedLoss.of(tuple(loss.ordered_pair(row) if loss.rows > 1 else loss for loss, _ in each), weights, weight_error)
            for row in range(max(loss.rows for loss, _ in each))
        ]
        found.append(ordered_pairs(list(rows)))
    return tuple(found)
