"""The tail of the privacy profile, beyond every epsilon that can be evaluated: is a run GDP, and what is the limit of its mu?

It is decided from the kinds of its losses, never from values ([GDPT], Theorems 4.3 and 4.4; docs/mathematics.md, Lemma 22: the
tail, Lemma 23: sampled Gaussian noise).
For an ordered pair of which no part has infinite losses

    K(c) <= (M^2/2) c (c + 1) + (A + C) c + A        for every c >= c0,

where M^2 sums mu^2 of the parts with Gaussian tails, C the largest losses of the bounded parts, and A <= 0 is what sampling takes
off: Minkowski's inequality for 1 - q + q e^Z gives a sampled removal K(c) <= (1 + c) log(1 - q + q e^{K0(c)/(1+c)}), which is
K0(c) + (1 + c) (log q + log(1 + e^{-K0(c)/(1+c)} (1-q)/q)).  By Lemma 4 of docs/mathematics.md delta falls like
e^{-eps^2/(2 M^2)}, so the transform tends to at most M, and to M itself where the Gaussian tails are those of the pair.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.rounding import FUNCTION, SQUARE_ERROR, UNIT, up
from ..allocated.gaussian import AllocatedGaussianLoss
from ..composed import ComposedLoss
from ..pairs.binned import WideDiscreteGaussianLoss
from ..pairs.discrete import DiscreteGaussianLoss, SampledAtoms
from ..pairs.gaussian import GaussianLoss
from ..pairs.profile import ProfileLoss
from ..pairs.renyi import RenyiLoss
from ..sampled.binned import SampledLoss
from ..sampled.gaussian import SampledGaussianLoss
from ..sampled.gaussian_mixture import MixtureLoss
from ..sampled.symmetrised import SymmetrisedLoss


@dataclass(frozen=True)
class Tuning:
    """Where a proof of the tail is looked for; nothing here enters it."""

    max_epsilon: float = 1e13
    """A search that doubles epsilon ends there: a larger one is no answer that anyone waits for, a smaller one leaves mu unproved
    where it is little above its limit."""

    bisections: int = 6
    """Towards the first epsilon from which the tail is proved: each more halves the way that is
    left for the head, and costs one evaluation of the bound."""


TUNING = Tuning()

UNKNOWN_TAIL = (
    "the tail of a function of epsilon cannot be inferred from its values (Liu et al. 2021, Theorem 4.3): give it with the "
    "claim, as in Profile(function, tail=(epsilon, mu)); head_mu(epsilon) measures what comes before"
)


@dataclass(frozen=True)
class Tail:
    """The tail of one ordered pair: `square` is M^2 (rounded up), `top_loss` is C; or why it is not known to be GDP."""

    square: float
    top_loss: float
    sampled: tuple[tuple[int, float, float], ...] = ()  # count, rate and mu^2 of the sampled parts
    attained: bool = True  # the Gaussian tails are those of the pair, not bounds of them
    only_gaussian: bool = True  # nothing but Gaussian noise, sampled or not: mu is M
    reason: str = ""  # why there is no mu, where there is none

    @property
    def limit(self) -> float:
        """M, rounded up."""
        return up(math.sqrt(self.square) * (1.0 + 2.0 * UNIT))

    def sampling_gain(self, c: float) -> float:
        """A for every exponent from c on, rounded up: what sampling takes off."""
        total = 0.0
        for count, rate, square in self.sampled:
            odds = math.log1p(-rate) - math.log(rate)
            total += count * (math.log(rate) + float(np.logaddexp(0.0, odds - 0.5 * c * square)))
        return min(0.0, total + 1e-12 * abs(total))

    def log_bound(self, epsilon: float) -> float:
        """An upper bound of log delta(epsilon): Lemma 4 at s = (epsilon - S)/M^2, as in Lemma 22."""
        if self.square == 0.0:
            return -math.inf if epsilon > self.top_loss else 0.0
        c = (epsilon - 0.5 * self.square - self.top_loss) / self.square
        if c <= 0.0:
            return 0.0
        a = self.sampling_gain(c)
        t = (epsilon - 0.5 * self.square - self.top_loss - a) / self.square
        value = a - 0.5 * t * t * self.square - math.log1p(t) - t * math.log1p(1.0 / t)
        rounding = 8.0 * UNIT * ((1.0 + t) * (epsilon + self.top_loss + self.square - a) + abs(value)) + 1e-12 * abs(a) + 1e-14
        return min(0.0, up(value, rounding))

    def dominated_at(self, epsilon: float, mu: float) -> bool:
        """Whether delta is at most delta_mu from epsilon on, by proof (docs/mathematics.md, Lemma 22: the tail)."""
        if self.square == 0.0:
            return epsilon >= self.top_loss
        if not mu >= self.limit:
            return False
        c = (epsilon - 0.5 * self.square - self.top_loss) / self.square
        b = epsilon / mu + 0.5 * mu
        if not (c > 0.0 and b >= 2.0):
            return False
        a = self.sampling_gain(c)
        shift, root = 0.5 * self.square + self.top_loss + a, math.sqrt(self.square)
        far, near = epsilon - shift, epsilon / mu - 0.5 * mu
        # the difference of the two exponents, (far/M - near)(far/M + near)/2, without cancellation where mu is nearly M
        gap = epsilon * (mu - root) / (root * mu) + 0.5 * mu - shift / root
        total = 0.5 * gap * (far / root + near)
        rest = math.log(mu) - 0.5 * math.log(2.0 * math.pi) - math.log(b * b + 3.0) + math.log1p(far / self.square) - a
        size = (epsilon + self.top_loss + self.square - a) / root + mu
        rounding = 1e-12 * (1.0 - a) + 32.0 * UNIT * size * (far / root + abs(near) + 1.0)
        pace = far / self.square - near / mu - 2.0 * b / (mu * (b * b + 3.0))
        return total + rest >= rounding and pace >= 1e-12 * far / self.square

    def dominated_from(self, mu: float, start: float) -> float:
        """An epsilon from which on delta is at most delta_mu, or inf if no proof is found."""
        if self.square == 0.0:
            return self.top_loss
        far = max(start, 1e-6)
        while not self.dominated_at(far, mu):
            far *= 2.0
            if far > TUNING.max_epsilon:
                return math.inf
        near = 0.5 * far if far > start else start
        for _ in range(TUNING.bisections):
            middle = 0.5 * (near + far)
            near, far = (near, middle) if self.dominated_at(middle, mu) else (middle, far)
        return far


_Found = tuple[float, float, tuple[float, ...], bool] | str


def tails(run: ComposedLoss) -> list[Tail]:
    """That of each ordered pair; of a run that is only known by bounds, that of its first upper bound."""
    return [_of_pair(single) for single in run.ordered_pairs()]


def _of_pair(run: ComposedLoss) -> Tail:
    if run.infinite_mass():
        return Tail(
            math.inf,
            0.0,
            reason="with a positive probability the loss is infinite, so delta(epsilon) does not tend to 0 and no mu holds "
            "(Liu et al. 2021, Theorem 4.3)",
        )
    square = top_loss = 0.0
    sampled: list[tuple[int, float, float]] = []
    attained = only_gaussian = True
    for loss, count in run.terms:
        found = _of_one_loss(loss)
        if isinstance(found, str):
            return Tail(math.inf, 0.0, reason=found)
        one, top, rates, attained_here = found
        square, top_loss, attained = square + count * one, top_loss + count * top, attained and attained_here
        only_gaussian = only_gaussian and _gaussian_tailed(loss) and one > 0.0
        sampled += [(count, rate, one * (1.0 - 1e-12)) for rate in rates]
    rounding = (len(run.terms) + 8.0) * UNIT
    return Tail(square * (1.0 + SQUARE_ERROR + rounding), top_loss * (1.0 + rounding), tuple(sampled), attained, only_gaussian)


def _gaussian_tailed(loss: Any) -> bool:
    """Whether it is dominated by Gaussian noise at the farthest distance, whose tail it has."""
    if isinstance(loss, MixtureLoss):
        return not loss.left.moves  # mixtures against one normal law
    plain = GaussianLoss | SampledGaussianLoss | AllocatedGaussianLoss
    return isinstance(loss.base if isinstance(loss, SymmetrisedLoss) else loss, plain)


def _of_one_loss(loss: Any) -> _Found:
    """mu^2 of the tail, the largest loss where there is no such tail, the sampling rates, and whether the tail is attained; or
    why it is not known."""
    if isinstance(loss, RenyiLoss):
        return _of_renyi(loss)
    if isinstance(loss, ProfileLoss):
        return UNKNOWN_TAIL
    if loss.ceiling < math.inf:
        return 0.0, max(0.0, loss.ceiling), (), True
    if isinstance(loss, GaussianLoss):
        return loss.square, 0.0, (), True
    if isinstance(loss, SampledGaussianLoss):
        return loss.shape.noise**-2 * (1.0 + 4.0 * loss.shape.noise_error), 0.0, (loss.shape.rate,), True
    if isinstance(loss, AllocatedGaussianLoss):  # docs/mathematics/allocation.md, Lemma 46
        return loss.step.tilt**2 * (1.0 + 4.0 * loss.step.tilt_error), 0.0, (), loss.removal
    if isinstance(loss, DiscreteGaussianLoss | WideDiscreteGaussianLoss):
        return (loss.move / loss.sigma) ** 2, 0.0, (), True
    if isinstance(loss, SymmetrisedLoss):  # dominated by the unsampled pair in both orders, as that is symmetric
        found = _of_one_loss(loss.base)
        return found if isinstance(found, str) else (found[0], found[1], (), found[3])
    if isinstance(loss, MixtureLoss) and loss.log_truncated_mass == -math.inf and loss.left.log_rest > -math.inf:
        return _of_mixture(loss)
    if isinstance(loss, SampledAtoms | SampledLoss):
        found = _of_one_loss(loss.base)
        return found if isinstance(found, str) else (found[0], found[1], (*found[2], loss.rate), found[3])
    return f"the tail of {type(loss).__name__} is not known"


def _of_renyi(loss: RenyiLoss) -> _Found:
    """Likewise, of a loss that is known by its Rényi curve."""
    if loss.kind == "exponential":
        return 0.0, loss.parameters[0] * (2.0 if loss.both else 1.0), (), True
    if loss.kind == "zcdp":
        # K(c) <= rho c (c+1) + xi c, a sample's too; of two mixtures Q is at least 1-q times the common part
        rest = math.inf if loss.rate >= 1.0 else -math.log1p(-loss.rate)
        top_loss = math.fsum(loss.parameters[1:]) + (rest if loss.both else 0.0)
        if top_loss == math.inf:
            return "the tail of a replaced record in a full sample is not known"
        return 2.0 * loss.parameters[0], up(top_loss * (1.0 + 4.0 * FUNCTION)) if top_loss else 0.0, (), loss.rate == 1.0
    return (
        "Rényi divergences of listed orders, or of a curve that is known by its values only, allow losses whose tail is "
        "heavier than that of Gaussian noise, so no mu follows (Liu et al. 2021, Theorem 4.3); claim zCDP or GDP instead"
    )


def _of_mixture(loss: MixtureLoss) -> _Found:
    """Likewise, of two mixtures of normal laws."""
    # Q is at least its part that is not moved, so Z <= log(P/N(0)) - log of that; P is a mixture, and divergences are convex
    farthest = max(loss.right.moves) * (1.0 + 2.0 * loss.right.move_error)
    rest = -loss.left.log_rest + loss.left.weight_error
    rate = math.exp(loss.right.log_weights[0]) * (1.0 + 4.0 * FUNCTION) if len(loss.right.moves) == 1 else 1.0
    rates = (rate,) if rate < 1.0 else ()
    return farthest * farthest, rest * (1.0 + 4.0 * FUNCTION) if loss.left.moves else 0.0, rates, True
