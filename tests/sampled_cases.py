"""Sampled pairs and bases that several tests of sampling ask."""

import hockeystick as hs
from hockeystick.loss.sampled.gaussian_mixture import MixtureLoss
from hockeystick.loss.sampled.symmetrised import SymmetrisedLoss

GAUSSIAN = hs.Gaussian(sigma=2.0)


def replace_one(sigma: float, rate: float) -> MixtureLoss:
    return hs.Gaussian(sigma=sigma).poisson(rate=rate)._pair_loss(("replace",))


def fold(sigma: float, batch: int, examples: int) -> SymmetrisedLoss:
    return hs.Gaussian(sigma=sigma).without_replacement(batch=batch, examples=examples)._pair_loss(("replace",)).dominating[0]


BASES = [
    hs.Gaussian(sigma=1.5),
    hs.Laplace(scale=1.5),
    hs.DiscreteLaplace(scale=2.0),
    hs.DiscreteGaussian(sigma=2.0),
    hs.PureDP(epsilon=0.7),
    hs.ApproxDP(epsilon=0.7, delta=1e-6),
    hs.GDP(mu=0.8),
    hs.RandomizedResponse(epsilon=0.7, categories=3),
]
