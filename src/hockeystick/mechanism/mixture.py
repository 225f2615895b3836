"""Gaussian noise on an answer that a record moves by a random distance."""

import math
from dataclasses import dataclass
from typing import Any

from .. import checks
from ..errors import BadValue, Unsupported
from ..loss.pairs.gaussian import GaussianLoss
from ..loss.pairs.ordered import ordered_pairs
from ..loss.sampled.gaussian_mixture import NORMAL, Mixture, MixtureLoss
from ..neighbours import RECORD_IN_P, Order
from ..numerics.rounding import FUNCTION, UNIT
from .release import Mechanism

MOST = 1000
FARTHEST = 1e4
_NEAR = 1e-9


@dataclass(frozen=True, repr=False)
class GaussianMixture(Mechanism):
    """Normal noise of standard deviation `sigma`; the record moves the answer by moves[i] (2-norm) with probability weights[i].

    Remove: (sum of weights[i] N(moves[i], sigma^2), N(0, sigma^2)), and add the reverse, each by itself (Choquette-Choo, Ganesh,
    Steinke and Thakurta 2024, arXiv:2310.15526, Corollary 4.7; proof: docs/mathematics.md, Lemma 25); a record that is zeroed out
    contributes nothing, which is the same.  Replace: both records move the answer from where it is without them, in opposite
    directions in the worst case.  A move of 0 is the answer without the record, and must have a weight.  Weights add up to 1
    within a part in 1e9 and count relative to their sum.

    Parameters
    ----------
    sigma : float
        The standard deviation of the noise, in the unit of the answer; above 0.
    moves : sequence of float
        How far the record moves the answer, in the 2-norm; from 0 up, at most 1000 of them, each at most 10 000 sigma.
    weights : sequence of float
        The probability of each move; they add up to 1.

    Raises
    ------
    BadType
        If sigma is no real number, or moves or weights no sequence of them.
    BadValue
        If a number is out of its range, there are not as many weights as moves, or the weights do not add up to 1.
    Unsupported
        If there are several moves, none of which is 0.

    Examples
    --------
    >>> round((GaussianMixture(sigma=2.0, moves=(0, 1, 2), weights=(0.81, 0.18, 0.01)) * 10).epsilon(delta=1e-6), 5)
    2.05457
    """

    sigma: float
    moves: tuple[float, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        sigma = checks.positive("sigma", self.sigma)
        moves = [checks.non_negative("a move", one) for one in checks.listed("moves", self.moves)]
        weights = [checks.rate("a weight", one) for one in checks.listed("weights", self.weights)]
        if not moves or len(moves) != len(weights):
            raise BadValue(f"{len(moves)} moves and {len(weights)} weights are given; allowed: as many of each, at least one.")
        if len(moves) > MOST:
            raise BadValue(f"{len(moves)} moves are given; allowed: at most {MOST}.")
        total = math.fsum(weights)
        if not abs(total - 1.0) <= _NEAR:
            raise BadValue(f"the weights add up to {total}; allowed: probabilities that add up to 1.")
        joined: dict[float, list[float]] = {}
        for move, weight in zip(moves, weights, strict=True):
            if weight:
                joined.setdefault(move, []).append(weight)
                if move:
                    checks.at_most("a move / sigma", checks.ratio("a move / sigma", move, sigma), FARTHEST)
        for name, value in (
            ("sigma", sigma),
            ("moves", tuple(sorted(joined))),
            ("weights", tuple(math.fsum(joined[move]) for move in sorted(joined))),
        ):
            object.__setattr__(self, name, value)
        if 0.0 not in joined and len(joined) > 1:
            raise Unsupported(
                f"{self!r} moves the answer surely, by one of several distances; the loss of such a mixture is not offered.  "
                f"Use the largest distance, Gaussian(sigma, sensitivity={self.moves[-1]!r}), which bounds it from above."
            )

    def _pair_loss(self, wanted: tuple[Order, ...]) -> Any:
        if self.moves == (0.0,):
            return None
        if len(self.moves) == 1:
            far = 2.0 if wanted[0] == "replace" else 1.0
            return GaussianLoss(checks.ratio("a move / sigma", far * self.moves[0], self.sigma) ** 2)
        total = math.log(math.fsum(self.weights))
        logs = tuple(math.log(weight) - total for weight in self.weights)
        steps = tuple(move / self.sigma for move in self.moves[1:])
        error = 4.0 * FUNCTION * (1.0 + max(map(abs, logs)))
        mixture = Mixture(logs[1:], steps, logs[0], 4.0 * UNIT, error)
        if wanted[0] == "replace":
            return MixtureLoss(mixture, mixture)
        return ordered_pairs([MixtureLoss(mixture) if one in RECORD_IN_P else MixtureLoss(NORMAL, mixture) for one in wanted])
