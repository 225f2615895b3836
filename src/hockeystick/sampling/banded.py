"""Correlated noise from a banded matrix (banded matrix factorisation), with sampling inside groups of records."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import checks
from ..errors import BadType, BadValue
from ..loss.pairs.bracketed import BracketedLoss
from ..mechanism.gaussian import Gaussian
from ..mechanism.release import Mechanism, Release
from ..neighbours import Order
from .allocation import Allocated
from .base import Sampled
from .fixed_size import WithoutReplacement, WithReplacement
from .poisson import Poisson
from .truncated import TruncatedPoisson

if TYPE_CHECKING:
    from ..loss.engines.compiled import CoreAnswer

SAMPLERS = (Poisson, TruncatedPoisson, Allocated, WithoutReplacement, WithReplacement)
"""What may draw the batches inside a group."""


@dataclass(frozen=True, repr=False)
class Banded(Sampled):
    """A run of `iterations` steps whose noise is correlated by a lower triangular matrix C of `bands` bands.

    The records are split into `bands` groups, each record by something that others have no part in (its id; a record that is
    replaced or zeroed out keeps its group).  Step i draws its batch from group i mod `bands`, as `base` says, and C x + z is
    released, or what is computed from it, such as x + C^-1 z: x the sums over the batches, z independent Gaussian noise.  The
    noise multiplier of `base` is that of z relative to the largest column norm of C, times the clipping norm; rates and sizes
    are those within a group; batches of a fixed or capped size need groups of one size.

    A column of C ends before the next one of the same group begins.  So the run is as private as ceil(iterations / bands)
    steps of `base`, whatever C is (Choquette-Choo et al. 2023, arXiv:2306.08153, Theorem 1, formally 4 and 5, for Poisson
    sampling; proof for the samplers here: docs/mathematics/matrix.md, Lemma 57); with random allocation, as so many epochs of it
    as are begun.

    Parameters
    ----------
    base : Release
        What a step does: Gaussian noise, on a sample of a group or on all of it.
    bands : int
        The bands of the matrix, the diagonal counted: row i is zero but for columns i - bands + 1 to i.
    iterations : int
        The steps of the run, at least as many as bands.

    Raises
    ------
    BadType
        If base is no release, or bands or iterations no number.
    BadValue
        If bands or iterations is no whole number in its range.
    Unsupported
        If base is anything else than Gaussian noise, sampled or not.

    Examples
    --------
    >>> run = Banded(Poisson(Gaussian(sigma=2.0), rate=0.1), bands=3, iterations=100)
    >>> run.epsilon(delta=1e-6) == (run.base * 34).epsilon(delta=1e-6)
    True
    """

    base: Release
    bands: int
    iterations: int

    _scheme = "Banded noise"
    _why_not_sampled = "its steps draw their batches already.  Sample the step, and correlate the noise then."

    def __post_init__(self) -> None:
        object.__setattr__(self, "iterations", checks.count("iterations", self.iterations, least=1))
        object.__setattr__(self, "bands", checks.count("bands", self.bands, least=1))
        if self.bands > self.iterations:
            raise BadValue(f"bands is {self.bands}; allowed: at most iterations, {self.iterations}.")
        self._check_base()
        object.__setattr__(self, "_counts_records", self.base.parts[0][0]._counts_records)

    def _check_base(self) -> None:
        if not isinstance(self.base, Release):
            raise BadType(f"base is {self.base!r}; allowed: a release such as Gaussian(sigma=1.0).poisson(rate=0.1).")
        step: Any = self.base
        inner: Any = step.base if isinstance(step, SAMPLERS) else step
        if not isinstance(inner, Gaussian):
            raise self._refuse(
                repr(self.base),
                "the proof turns the noise of several steps into one direction, which Gaussian noise bears and no other.  Use "
                "one step, Gaussian(sigma) or that with .poisson, .truncated_poisson, .allocated, .without_replacement or "
                ".with_replacement; the bands say how often it comes.",
            )

    @property
    def _own_records(self) -> int | None:
        known = self.base._records
        return None if known is None else known * self.bands

    @property
    def _rounds(self) -> int:  # type: ignore[override]
        """How often the base's loss counts: Lemma 57."""
        each = self.bands
        if isinstance(self.base, Allocated):
            each *= self.base.steps * self.base.kept
        return -(-self.iterations // each)

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        assert isinstance(self.base, Mechanism)
        loss = self.base._pair_loss(wanted)
        if loss is None or not isinstance(self.base, Allocated):
            return loss
        cut = self.iterations % (self.bands * self.base.steps * self.base.kept)
        return BracketedLoss(loss.dominating, ()) if cut else loss  # a cut epoch is less than what bounds it

    def _direct(self, wanted: tuple[Order, ...], count: int, delta: float) -> "CoreAnswer":
        assert isinstance(self.base, Mechanism)
        return self.base._direct(wanted, count * self._rounds, delta)

    def _direct_log_delta(self, wanted: tuple[Order, ...], count: int, epsilon: float) -> "CoreAnswer":
        assert isinstance(self.base, Mechanism)
        return self.base._direct_log_delta(wanted, count * self._rounds, epsilon)

    def __repr__(self) -> str:
        return f"{self.base!r}.banded(bands={self.bands}, iterations={self.iterations})"
