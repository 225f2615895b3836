"""Mechanisms known only by their guarantee."""

from dataclasses import dataclass

from .. import checks
from ..errors import BadValue, Unsupported
from ..loss.cumulant import Loss
from ..loss.gaussian import GaussianLoss
from ..neighbours import DEFAULT, Order, checked
from .release import Mechanism


@dataclass(frozen=True, repr=False)
class GDP(Mechanism):
    """Anything that is mu-GDP: no easier to attack than N(mu, 1) against N(0, 1) (Dong, Roth and Su 2022, Definition 4).

    The claim holds for `neighbours` ("add-or-remove", or "replace").  From add-or-remove it is carried to replace-one by group
    privacy of two, 2 mu-GDP (Dong, Roth and Su 2022, Theorem 3); the way back needs a null record and is refused.

    >>> round(GDP(mu=1.0).delta(epsilon=1.0), 6)
    0.126937
    """

    mu: float
    neighbours: str = DEFAULT

    def __post_init__(self) -> None:
        mu = checks.non_negative("mu", self.mu)
        if mu > 0.0:
            checks.ratio("mu", mu, 1.0)
        object.__setattr__(self, "mu", mu)
        if checked(self.neighbours) not in (DEFAULT, "replace"):
            raise BadValue(f"neighbours is {self.neighbours!r}; allowed for a claim: 'add-or-remove' or 'replace'.")

    @property
    def squared_mu(self) -> float | None:
        return self.mu**2 if self.neighbours == DEFAULT else None

    def loss(self, wanted: tuple[Order, ...]) -> Loss | None:
        if self.neighbours == "replace" and "replace" not in wanted:
            raise Unsupported(
                f"{self!r} is claimed for replace-one; carried to add or remove it needs a null record that the mechanism "
                "accepts, which a claim does not say.  Ask with neighbours='replace', or make the claim for add-or-remove."
            )
        factor = 2.0 if "replace" in wanted and self.neighbours == DEFAULT else 1.0
        return GaussianLoss((factor * self.mu) ** 2) if self.mu else None

    def __repr__(self) -> str:
        return f"GDP(mu={self.mu!r})" if self.neighbours == DEFAULT else f"GDP(mu={self.mu!r}, neighbours={self.neighbours!r})"
