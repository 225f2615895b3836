"""An event that only happens with the record, such as a partition that is published for one person alone."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ... import checks
from ...loss.pairs.bracketed import BracketedLoss
from ...neighbours import Order
from ..release import Mechanism
from .pair import Pair


@dataclass(frozen=True, repr=False)
class Published(Mechanism):
    """Something that is seen with at most this probability with the record, and never without it: a bound.

    It is dominated by the pair ((probability, 1 - probability), (0, 1)) when the record is removed, by the reverse when one is
    added (docs/mathematics/matrix.md, Lemma 60a); `hockeystick.recipes.thresholded` composes it with noise.

    Parameters
    ----------
    probability : float
        The probability, from 0 to 1.

    Raises
    ------
    BadType
        If probability is no real number.
    BadValue
        If it is outside [0, 1].

    Examples
    --------
    >>> bounds = Published(probability=1e-6).delta_bounds(epsilon=1.0)
    >>> round(bounds.upper, 12), bounds.tight
    (1e-06, False)
    """

    probability: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "probability", checks.probability("probability", self.probability))

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        seen = Fraction(self.probability)
        loss: Any = Pair((seen, 1 - seen), (0, 1))._pair_loss(wanted)
        return BracketedLoss(tuple(loss.dominating), ())
