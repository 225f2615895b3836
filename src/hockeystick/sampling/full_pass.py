"""A pass over the data in which every record comes into exactly one batch."""

from dataclasses import dataclass
from typing import Any

from ..errors import BadType, BadValue
from ..loss.pairs.bracketed import BracketedLoss
from ..mechanism.release import Mechanism, Release
from ..neighbours import Order, same_size
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
    yet, and no amplification is claimed for it (Chua, Ghazi, Kamath, Kumar, Manurangsi, Sinha and Zhang 2024 show that it
    may be far worse than Poisson sampling).

    Parameters
    ----------
    base : Release
        What sees the sample.
    by : {"shuffle", "position", "id"}
        What puts a record into its batch.

    Raises
    ------
    BadType
        If base is no release, or by no text.
    BadValue
        If by is another text.
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

    _scheme = "A full pass"

    def __post_init__(self) -> None:
        if not isinstance(self.by, str):
            raise BadType(f"by is {self.by!r}; allowed: one of {', '.join(KINDS)}.")
        if self.by not in KINDS:
            raise BadValue(f"by is {self.by!r}; allowed: one of {', '.join(KINDS)}.")
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
        return BracketedLoss(loss.dominating, ())

    def __repr__(self) -> str:
        base = repr(self.base)
        return f"{base if isinstance(self.base, Mechanism) else f'({base})'}.full_pass(by={self.by!r})"
