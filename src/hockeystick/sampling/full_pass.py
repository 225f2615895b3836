"""A pass over the data in which every record comes into exactly one batch."""

import math
from dataclasses import dataclass
from typing import Any

from .. import checks
from .. import loss as losses
from ..errors import BadType, BadValue
from ..mechanism.release import Mechanism, Release
from ..neighbours import Order, same_size
from ..numerics.rounding import UNIT
from .base import Sampled

KINDS = ("shuffle", "position", "id")


@dataclass(frozen=True, repr=False)
class FullPass(Sampled):
    """`base` on each of the batches of one pass; `by` says what puts a record into its batch.

    "position": its place in the data (deterministic or cyclic batches).  "shuffle": its place after a random permutation.
    "id": something that other records have no part in, such as a hash of its name.  A record that is replaced keeps its place.

    Whatever the batches are, they do not depend on what the record says, and it takes part in one of them only: the other
    steps of the pass are post-processing, so the pass costs no more than one step of `base` on all the data (parallel
    composition; for a random permutation by joint convexity).  For places it is attained; a shuffled pass has no tight bound
    yet, and no amplification is claimed for it.  With `steps` its answers have a lower end for Gaussian noise: what is learnt
    where all others contribute the opposite, from the largest of the noisy sums of each pass (Chua, Ghazi, Kamath, Kumar,
    Manurangsi, Sinha and Zhang 2024, arXiv:2411.04205; docs/mathematics/truncated.md, Lemma 56).  It may be far above the
    epsilon of Poisson sampling: `poisson_claim`.

    Parameters
    ----------
    base : Release
        What sees the sample.
    by : {"shuffle", "position", "id"}
        What puts a record into its batch.
    steps : int, optional
        Into how many batches a shuffled pass is cut, from 1 up: for the lower end.

    Raises
    ------
    BadType
        If base is no release, by no text, or steps no number.
    BadValue
        If by is another text, or steps no whole number from 1 up or given with another `by`.
    Unsupported
        If several parts other than Gaussian noise would share one sample, or a part is sampled already.

    Examples
    --------
    >>> from hockeystick.mechanism.gaussian import Gaussian
    >>> round((FullPass(Gaussian(sigma=4.0), "shuffle") * 10).epsilon(delta=1e-5, neighbours="zero-out"), 6)
    3.341409
    """

    base: Release
    by: str
    steps: int | None = None

    _scheme = "A full pass"

    def __post_init__(self) -> None:
        if not isinstance(self.by, str):
            raise BadType(f"by is {self.by!r}; allowed: one of {', '.join(KINDS)}.")
        if self.by not in KINDS:
            raise BadValue(f"by is {self.by!r}; allowed: one of {', '.join(KINDS)}.")
        if self.steps is not None:
            object.__setattr__(self, "steps", checks.count("steps", self.steps, least=1))
            if self.by != "shuffle":
                raise BadValue(
                    f"steps is given with by={self.by!r}; allowed: for a shuffled pass, of which it gives a lower end."
                )
        self._check_base()

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        if self.by != "id" and not same_size(wanted):
            raise self._refuse(
                f"{self.base!r} in batches by {self.by} under add or remove",
                "a record that comes or goes moves the others into other batches, and no theorem bounds that.  Ask for "
                "neighbours='zero-out' or 'replace', put records into batches by something that others have no part in "
                "(by='id'), let every record draw its own step (sampler='balls-and-bins' of dpsgd, .allocated of a step), or "
                "use Poisson sampling.",
            )
        loss = self._whole(wanted)
        if self.by != "shuffle" or loss is None:
            return loss
        reached = self._reached(wanted) if isinstance(loss, losses.GaussianLoss) else ()
        return losses.BracketedLoss(loss.dominating, reached, slow_members=True)

    @property
    def _shuffled(self) -> bool:
        return self.by == "shuffle"

    def _reached(self, wanted: tuple[Order, ...]) -> tuple[Any, ...]:
        """Lemma 56: what the largest of the noisy sums tells, where all others contribute the same."""
        if self.steps is None:
            return ()
        from ..loss.pairs.ordered import ordered_pairs

        once, twice = self._whole(("erase",)).square, self._whole(("replace",)).square
        if self.steps == 1:
            return (losses.GaussianLoss(twice if "replace" in wanted else once),)
        far = math.sqrt(twice / once)
        near = 0.0 if "replace" in wanted else min(1.0, 0.5 * far)
        noise = 1.0 / math.sqrt(once)
        rows = [losses.LargestLoss(self.steps, noise, 8.0 * UNIT, far, near, order in ("add", "restore")) for order in wanted]
        return (ordered_pairs(list(rows)),)

    def __repr__(self) -> str:
        base = repr(self.base)
        steps = "" if self.steps is None else f", steps={self.steps}"
        return f"{base if isinstance(self.base, Mechanism) else f'({base})'}.full_pass(by={self.by!r}{steps})"
