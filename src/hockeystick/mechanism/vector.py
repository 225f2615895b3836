"""Noise on vectors of whole numbers."""

from dataclasses import dataclass
from typing import Any

from .. import checks
from ..errors import BadValue
from ..neighbours import DEFAULT, Relation
from .claim import Claim

MOST = 10**12


@dataclass(frozen=True, repr=False)
class DiscreteGaussianVector(Claim):
    """Independent discrete Gaussian noise on each of several whole numbers, which one record moves together.

    `squared_norm` bounds the sum of the squares of the moves: the square of the 2-norm, a whole number.  How a norm is split
    over the numbers matters: of 4, one number moved by 2 is worst for some epsilons, and four numbers moved by 1 for others.
    What is composed is the pair whose profile is the largest of all splits (docs/mathematics/own.md, Lemma 34c), so `tight` is
    False from 4 on; up to 3 ones are the worst split.  Where there are too many splits to list, or sigma is large, it is the
    Rényi curve that bounds all splits (Canonne, Kamath and Steinke 2020).  If a record moves k numbers by at most 1 each, that is
    `DiscreteGaussian(sigma) * k`, which is tight.

    Parameters
    ----------
    sigma : float
        The parameter of the law of each noise, from 1e-100 to 1e100.
    squared_norm : int
        The most that the squares of the moves of one record add up to; from 1 to 1e12.
    neighbours : {"add-or-remove", "replace", "zero-out"}, default "add-or-remove"
        The relation for which that is the most.  Of add-or-remove, a replaced record moves the answer by up to twice the norm;
        for a histogram with one cell per record say 2 and "replace".

    Raises
    ------
    BadType
        If a number is no real one, or neighbours no text.
    BadValue
        If a number is out of its range, or neighbours is another relation.

    Examples
    --------
    >>> vector = DiscreteGaussianVector(sigma=0.7, squared_norm=4)
    >>> print(f"{vector.epsilon(delta=1e-6):.3f} {vector.epsilon_bounds(delta=1e-6).tight}")
    16.325 False
    """

    sigma: float
    squared_norm: int
    neighbours: Relation = DEFAULT

    def __post_init__(self) -> None:
        sigma = checks.positive("sigma", self.sigma)
        if not checks.fits(sigma):
            raise BadValue(f"sigma is {sigma}; allowed: a number from 1e-100 to 1e100.")
        self._set(sigma=sigma, squared_norm=checks.count("squared_norm", self.squared_norm, 1, MOST))

    def _claimed_loss(self, twice: bool) -> Any:
        from ..loss.pairs.moved_vector import vector_loss

        return vector_loss(self.sigma, self.squared_norm * (4 if twice else 1))
