"""A matrix mechanism without sampling: one Gaussian step at the sensitivity of its strategy."""

import math
from dataclasses import dataclass
from typing import Any

from ... import checks
from ...loss.pairs.bracketed import BracketedLoss
from ...loss.pairs.gaussian import GaussianLoss
from ...neighbours import Order
from ..noise import AdditiveNoise
from .strategy import SAME, Strategy


@dataclass(frozen=True, repr=False)
class MatrixMechanism(AdditiveNoise):
    """A run that releases C x + z row by row: x the sums of the steps, z normal noise of standard deviation `sigma`.

    C is the `strategy`; x + C^-1 z and whatever else is computed from it cost nothing (DP-FTRL with a tree, banded and
    buffered Toeplitz matrices).  Every record takes part in at most `participations` steps, any two of them at least
    `separation` apart, with a contribution of norm at most `sensitivity` (the clipping norm), chosen in sight of what was
    released before.  In which steps must not depend on other records, nor on what was released.  Nothing is sampled: no
    amplification is claimed.

    All of it together is one Gaussian step at the strategy's sensitivity (docs/mathematics/matrix.md, Lemma 58, also for
    contributions that are chosen adaptively; Denisov et al. 2022, arXiv:2202.08312, Theorem 2.1), which is the largest |sum of
    c_i x_i| over all patterns (Lemmas 59 and 60).  Where its ends are not the same, the answer is known between them only.

    Parameters
    ----------
    strategy : Strategy or array_like
        The matrix C: a `Strategy`, a lower triangular array, or what `Strategy.of` reads.
    sigma : float
        The standard deviation of z, in the unit of the contributions; above 0.
    participations : int
        In how many steps a record takes part at most.
    separation : int, default 1
        How many steps lie between two of them at least, the second counted; 1 allows any.
    exactly : bool, default False
        Whether each next one comes exactly so many steps later.
    sensitivity : float, default 1.0
        The largest norm of one contribution.
    replace_sensitivity : float, optional
        How far replacing a record moves its contribution to a step; by default, and at most, twice the sensitivity.

    Raises
    ------
    BadType
        If strategy is no strategy, a number no real one, or exactly no bool.
    BadValue
        If a number is out of its range, or the matrix is not lower triangular.

    Examples
    --------
    >>> run = MatrixMechanism(Strategy.tree(iterations=1024), sigma=10.0, participations=1)
    >>> round(run.epsilon(delta=1e-6), 6)  # eleven levels
    1.440113
    """

    strategy: Strategy
    sigma: float
    participations: int
    separation: int = 1
    exactly: bool = False
    sensitivity: float = 1.0
    replace_sensitivity: float | None = None

    _why_not_sampled = (
        "for a matrix and sampling together only Monte Carlo estimates are known, and no pair that factorises.  A banded matrix "
        "with sampling inside groups of records is .banded(bands, iterations) of the sampled step."
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "strategy", Strategy.of(self.strategy))
        self._check("sigma")
        for name in ("participations", "separation"):
            object.__setattr__(self, name, checks.count(name, getattr(self, name), least=1))
        object.__setattr__(self, "exactly", checks.flag("exactly", self.exactly))

    @property
    def _why_not_run(self) -> str:
        return "its noise is correlated over a whole run.  Add it where the training is."

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        moved = checks.ratio("sensitivity / sigma", self._moved(wanted[0]), self.sigma)
        low, high = self.strategy._squares(self.participations, self.separation, self.exactly)
        for square in (low, high):
            if square:
                checks.ratio("sensitivity of the strategy / sigma", math.sqrt(square) * moved, 1.0)
        if low == high:  # a whole number, exactly
            return GaussianLoss(low * moved**2)
        least = (GaussianLoss(low * moved**2),) if low else ()
        return BracketedLoss((GaussianLoss(high * moved**2),), least, high <= low * (1.0 + SAME))
