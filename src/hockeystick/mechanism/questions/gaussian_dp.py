"""What a comparison of a release with Gaussian noise gives."""

from dataclasses import dataclass

from ...bounds import Bounds


@dataclass(frozen=True)
class GaussianDP:
    """The smallest mu of a release, and what must be said with it.

    With delta 0 the release is mu-GDP; else it is mu-GDP up to delta: delta(eps) <= max(delta_mu(eps), delta).

    Parameters
    ----------
    mu : Bounds
        Both ends of mu; inf where no mu holds.
    delta : float
        The delta up to which it holds, 0 for every epsilon.
    epsilon : float
        Where the supremum is reached: inf in the limit, NaN if it is not known.
    reason : str
        What it rests on, or why there is no mu.
    evaluations : int
        How often delta(eps) was asked.
    """

    mu: Bounds[float]
    delta: float
    epsilon: float
    reason: str
    evaluations: int


@dataclass(frozen=True)
class HeadGDP:
    """The mu of the epsilons up to `epsilon` alone.

    Parameters
    ----------
    mu : Bounds
        Both ends of that mu.
    epsilon : float
        The end of the head.
    residual : float
        The delta that is left there, rounded up: beyond it nothing is said (erratum G-E6).
    """

    mu: Bounds[float]
    epsilon: float
    residual: float
