"""What an entry takes of a reserve and of its slack, and what is left of both, in whole units."""

from dataclasses import dataclass

from .. import checks
from ..errors import BadType


@dataclass(frozen=True)
class Price:
    """What an entry takes of the reserve and of its slack, in whole units, and what it was priced at.

    Parameters
    ----------
    amount : int
        Units of the reserve.
    slack : int
        Units of the slack.
    measure : float
        mu, epsilon or the Rényi divergence of the entry, rounded up.
    delta : float
        The delta up to which that holds: what the entry takes of the slack.
    """

    amount: int
    slack: int
    measure: float
    delta: float = 0.0


def _check_price(price: object) -> None:
    if not isinstance(price, Price):
        raise BadType(f"price is {price!r}; allowed: what `Reserve.price` gives.")


@dataclass(frozen=True)
class Left:
    """What is left of a reserve and of its slack, in whole units.

    Parameters
    ----------
    amount : int
        Units of the reserve.
    slack : int
        Units of the slack.
    """

    amount: int
    slack: int

    def holds(self, price: Price) -> bool:
        """Whether a price fits.

        Parameters
        ----------
        price : Price
            What an entry takes.

        Returns
        -------
        bool
            True if both parts of it are there.

        Raises
        ------
        BadType
            If price is no price.
        """
        _check_price(price)
        return price.amount <= self.amount and price.slack <= self.slack

    def without(self, price: Price) -> "Left":
        """What is left after an entry.

        Parameters
        ----------
        price : Price
            What it takes.

        Returns
        -------
        Left
            What is left; below 0 where it did not fit.

        Raises
        ------
        BadType
            If price is no price.
        """
        _check_price(price)
        return Left(self.amount - price.amount, self.slack - price.slack)

    def times(self, price: Price) -> int:
        """How often a price still fits.

        Parameters
        ----------
        price : Price
            What one entry takes.

        Returns
        -------
        int
            The largest count; 2^53 if it takes nothing.

        Raises
        ------
        BadType
            If price is no price.
        """
        _check_price(price)
        counts = [left // one for left, one in ((self.amount, price.amount), (self.slack, price.slack)) if one]
        return max(0, min([*counts, checks.MOST_STEPS]))
