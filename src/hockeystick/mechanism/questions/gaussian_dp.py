"""What is told of a release that is compared with Gaussian noise."""

from dataclasses import dataclass

from ...bounds import Bounds


@dataclass(frozen=True)
class GaussianDP:
    """The smallest mu of a release, and what must be said with it.

    `delta` is 0 for the mu that holds at every epsilon; else the release is mu-GDP up to delta: delta(eps) <=
    max(delta_mu(eps), delta).  `epsilon` is where the supremum is reached (inf: in the limit, NaN: not told), `reason` says what
    it rests on, or why there is no mu.  `evaluations` counts how often delta(eps) was asked.
    """

    mu: Bounds[float]
    delta: float
    epsilon: float
    reason: str
    evaluations: int


@dataclass(frozen=True)
class HeadGDP:
    """mu of the epsilons up to `epsilon` alone, and `residual`, the delta that is left there: beyond it nothing is said."""

    mu: Bounds[float]
    epsilon: float
    residual: float
