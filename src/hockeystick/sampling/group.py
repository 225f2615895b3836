"""Groups: all of `size` records are added, or removed, or replaced, or zeroed out together (one user's, for example)."""

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..bounds import Bounds
from ..conversion.group import group_approx
from ..errors import Unsupported
from ..loss.pairs.bracketed import BracketedLoss
from ..loss.pairs.gaussian import GaussianLoss
from ..loss.pairs.ordered import ordered_pairs
from ..loss.sampled.gaussian_mixture import NORMAL, Mixture, MixtureLoss
from ..mechanism.claim import GDP
from ..mechanism.noise import AdditiveNoise
from ..mechanism.release import Mechanism, Release, joined
from ..mechanism.training import Training
from ..neighbours import DEFAULT, Order, Relation
from ..numerics.rounding import FUNCTION, UNIT, down, up
from .base import Sampled, removals
from .fixed_size import WithoutReplacement
from .poisson import Poisson

if TYPE_CHECKING:
    from ..loss.engines.engine import Proof

_MOST = 400
GROUP_PRIVACY = "group privacy"


def grouped(run: Release, size: Any) -> Release:
    """The run for groups of `size` records: a tight analysis where all parts have one, else group privacy.

    Noise moves `size` times as far.  Under Poisson sampling of Gaussian noise the number of the group's records in a batch is
    Bin(size, q): mixtures of normal laws (Ganesh 2024; `loss/sampled/gaussian_mixture.py`), which are attained.

    >>> from hockeystick.mechanism.gaussian import Gaussian
    >>> run = Gaussian(sigma=4.0).poisson(rate=0.01) * 1000
    >>> print(f"{grouped(run, 4).epsilon(delta=1e-6):.4f} {run.epsilon(delta=1e-6):.4f}")
    1.4163 0.3191
    """
    count = checks.count("size", size, least=1)
    if count == 1:
        return run
    moved = [(_moved(mechanism, count), used) for mechanism, used in run.parts]
    if not all(one is not None for one, _ in moved):
        return GroupedRun(run, count)
    found = joined((one, used) for one, used in moved if one is not None)
    if isinstance(run, Training):
        return run._renamed(found, f"For groups of {count} records.")
    return found


def _moved(mechanism: Mechanism, size: int) -> Mechanism | None:
    if isinstance(mechanism, AdditiveNoise):
        far = mechanism.replace_sensitivity
        more = {"sensitivity": size * mechanism.sensitivity, "replace_sensitivity": None if far is None else size * far}
        return replace(mechanism, **more)  # type: ignore[type-var]
    if isinstance(mechanism, GDP):
        return GDP(mu=size * mechanism.claimed_mu, neighbours=mechanism.neighbours)
    if isinstance(mechanism, Poisson) and isinstance(mechanism._whole(("remove",)), GaussianLoss | None):
        noises = [one for one, _ in mechanism.base.parts]
        if all(getattr(one, "replace_sensitivity", None) is None for one in noises):
            return GroupedPoisson(mechanism.base, mechanism.rate, size)
    return None


@dataclass(frozen=True, repr=False)
class GroupedPoisson(Sampled):
    """Gaussian noise on a Poisson sample, for a group of `size` records.

    Parameters
    ----------
    base : Release
        What sees the sample.
    rate : float
        The probability that a record takes part, from 0 to 1.
    size : int
        The number of records of a group, from 1 to 400.

    Raises
    ------
    BadType
        If base is no release, or a number no real one.
    BadValue
        If a number is out of its range.
    Unsupported
        If the group is larger than 400 records, or as for `Poisson`.
    """

    base: Release
    rate: float
    size: int

    _scheme = "Poisson sampling of groups"

    @property
    def _group_size(self) -> int:  # type: ignore[override]
        return self.size

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checks.rate("rate", self.rate))
        object.__setattr__(self, "size", checks.count("size", self.size, least=1))
        if self.size > _MOST:
            raise self._refuse(f"{self.size} records", f"so many components are too many; allowed: at most {_MOST}.")
        self._check_base()

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        once = self._whole(("remove",))
        if once is None or self.rate == 0.0:
            return None
        if self.rate == 1.0:
            return GaussianLoss(self._whole(wanted).square * self.size**2)
        shape = self._shape("remove", self.rate)
        assert shape is not None
        odds, log_weight = math.log(self.rate) - math.log1p(-self.rate), self.size * math.log1p(-self.rate)
        rest, weights = log_weight, []
        for k in range(1, self.size + 1):
            log_weight += math.log((self.size - k + 1.0) / k) + odds
            weights.append(log_weight)
        error = 4.0 * FUNCTION * (abs(rest) + self.size * (abs(odds) + 1.0))
        moves = tuple(k / shape.noise for k in range(1, self.size + 1))
        mixture = Mixture(tuple(weights), moves, rest, shape.noise_error + 4.0 * UNIT, error)
        if "replace" in wanted:
            return MixtureLoss(mixture, mixture)
        if not self._additive and wanted[0] == "erase":  # nothing is known to attain it
            return BracketedLoss((MixtureLoss(mixture, mixture),), ())
        return ordered_pairs([MixtureLoss(mixture) if one else MixtureLoss(NORMAL, mixture) for one in removals(wanted)])

    def __repr__(self) -> str:
        return f"{Poisson(self.base, self.rate)!r}.group(size={self.size})"


@dataclass(frozen=True, repr=False)
class GroupedRun(Mechanism):
    """A whole run for groups, by the group privacy of Steinke 2022, (section 6.2): (size eps, (1 + e^eps + ... ) delta).

    It is the end of a description: nothing can be added to it.

    Parameters
    ----------
    run : Release
        The run for one record.
    size : int
        The number of records of a group, from 1 up.
    """

    run: Release
    size: int

    @property
    def stated(self) -> Relation:
        """The relation that the run states.

        Returns
        -------
        Relation
            That of `run`.
        """
        return self.run.stated

    @property
    def statement(self) -> str:
        """What was counted.

        Returns
        -------
        str
            The notes of the run, and the size of the groups.
        """
        return f"{getattr(self.run, 'statement', f'{self.run!r}.')}\nFor groups of {self.size} records."

    @property
    def _own_records(self) -> int | None:
        return self.run._records

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        raise self._refuse()

    def _refuse(self) -> Unsupported:
        return Unsupported(
            f"{self!r} is known by its profile only and cannot be joined, repeated, sampled or asked for Rényi divergences.  "
            "Join everything first and take the group of the whole run."
        )

    def __add__(self, other: Any) -> Release:
        raise self._refuse()

    def __radd__(self, other: Any) -> Release:
        if type(other) is int and other == 0:
            return self
        raise self._refuse()

    def __mul__(self, count: Any) -> Release:
        raise self._refuse()

    __rmul__ = __mul__

    def _meant(self, neighbours: Relation) -> Relation:
        """The steps from one data set to the other go one way, but both ways must be known to turn them around."""
        relation = super()._meant(neighbours)
        if relation not in ("replace", "zero-out"):
            self._check_left()
        return DEFAULT if relation in ("add", "remove") else relation

    def _check_left(self) -> None:
        """Without the group there must be enough records for a batch."""
        for one, _ in self.run.parts:
            if isinstance(one, WithoutReplacement) and 0 < one.batch < one.examples and one.examples - self.size < one.batch:
                left = one.examples - self.size
                raise Unsupported(
                    f"{self!r} under add or remove is not accounted for: without it {left} records are left, too few for a "
                    f"batch of {one.batch}.  Ask for neighbours='replace', or for smaller groups."
                )

    def _deltas(self, epsilon: Any, neighbours: Relation, upper_only: bool = False) -> Bounds[Any]:
        if isinstance(epsilon, list | tuple | np.ndarray):
            found = [self._deltas(float(one), neighbours).upper for one in np.ravel(epsilon)]
            return Bounds(np.zeros(np.shape(epsilon)), np.reshape(found, np.shape(epsilon)), False)
        value = checks.real("epsilon", epsilon, "a finite number")
        share = max(down(max(value, 0.0) / self.size), 0.0)
        _, delta = group_approx(share, self.run.delta(share, self._meant(neighbours)), self.size)
        if value < 0.0:  # delta(-x) <= 1 - e^-x (1 - delta(0)) holds for every pair
            delta = min(1.0, up(1.0 - math.exp(value) * (1.0 - delta), 8.0 * FUNCTION))
        return Bounds(0.0, delta, False)

    def _log_deltas(self, epsilon: Any, neighbours: Relation, upper_only: bool = False) -> Bounds[Any]:
        delta = self._deltas(epsilon, neighbours).upper
        return Bounds(-math.inf, up(math.log(delta), FUNCTION * abs(math.log(delta))) if delta else -math.inf, False)

    def _epsilon_proof(self, delta: float, neighbours: Relation) -> "tuple[Bounds[float], Proof]":
        from ..loss.engines.engine import Proof

        found = self._epsilons(delta, neighbours)
        return found, Proof(found.lower, found.upper, (), (GROUP_PRIVACY,))

    def _epsilons(self, delta: Any, neighbours: Relation, upper_only: bool = False) -> Bounds[Any]:
        if isinstance(delta, list | tuple | np.ndarray):
            found = [self._epsilons(float(one), neighbours).upper for one in np.ravel(delta)]
            return Bounds(np.zeros(np.shape(delta)), np.reshape(found, np.shape(delta)), False)
        target, relation = checks.probability("delta", delta), self._meant(neighbours)

        def reached(share: float) -> bool:
            return bool(group_approx(share, self.run.delta(share, relation), self.size)[1] <= target)

        low, high = 0.0, max(float(self.run.epsilon(target, relation)), 1e-9)
        if target >= 1.0 or reached(0.0):
            return Bounds(0.0, 0.0, False)
        while high < 1e6 and not reached(high):
            low, high = high, 2.0 * high
        if not reached(high):
            return Bounds(0.0, math.inf, False)
        while high - low > 1e-9 * high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if reached(middle) else (middle, high)
        return Bounds(0.0, up(self.size * high), False)

    def __repr__(self) -> str:
        return f"({self.run!r}).group(size={self.size})"
