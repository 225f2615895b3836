"""Representations of a composed privacy loss that answer delta(epsilon) and epsilon(delta).

Descriptions of mechanisms name the losses through this door, `losses.GaussianLoss`, behind which each is imported on first use:
a description is made, and some questions are answered (`direct.py`), without NumPy.
"""

from typing import TYPE_CHECKING

from ..later import later

if TYPE_CHECKING:
    from .atomic import AtomicLoss as AtomicLoss
    from .between import BetweenLoss as BetweenLoss
    from .cumulant import Loss as Loss
    from .discrete import DiscreteGaussianLoss as DiscreteGaussianLoss
    from .discrete import DiscreteLaplaceLoss as DiscreteLaplaceLoss
    from .discrete import ListedLoss as ListedLoss
    from .discrete import ResponseLoss as ResponseLoss
    from .discrete import SampledAtoms as SampledAtoms
    from .discrete import UniformResponseLoss as UniformResponseLoss
    from .divided import SampledLoss as SampledLoss
    from .divided import WideDiscreteGaussianLoss as WideDiscreteGaussianLoss
    from .engine import renyi_bound as renyi_bound
    from .exponential import ExponentialLoss as ExponentialLoss
    from .exponential import SampledExponentialLoss as SampledExponentialLoss
    from .gaussian import GaussianLoss as GaussianLoss
    from .half_line import HalfLine as HalfLine
    from .laplace import LaplaceLoss as LaplaceLoss
    from .mixture import Mixture as Mixture
    from .mixture import MixtureLoss as MixtureLoss
    from .noise import Shape as Shape
    from .opposed import OpposedAtoms as OpposedAtoms
    from .opposed import OpposedLaplaceLoss as OpposedLaplaceLoss
    from .opposed import opposed_response as opposed_response
    from .profile import ProfileLoss as ProfileLoss
    from .renyi import RenyiLoss as RenyiLoss
    from .sampled import Guide as Guide
    from .sampled import SampledGaussianLoss as SampledGaussianLoss
    from .sampled_laplace import SampledLaplaceLoss as SampledLaplaceLoss
    from .shared import epsilon_intervals as epsilon_intervals
    from .shared import log_delta_intervals as log_delta_intervals

__getattr__ = later(
    __name__,
    {
        "atomic": ("AtomicLoss",),
        "between": ("BetweenLoss",),
        "cumulant": ("Loss",),
        "discrete": (
            "DiscreteGaussianLoss",
            "DiscreteLaplaceLoss",
            "ListedLoss",
            "ResponseLoss",
            "SampledAtoms",
            "UniformResponseLoss",
        ),
        "divided": ("SampledLoss", "WideDiscreteGaussianLoss"),
        "engine": ("renyi_bound",),
        "exponential": ("ExponentialLoss", "SampledExponentialLoss"),
        "gaussian": ("GaussianLoss",),
        "half_line": ("HalfLine",),
        "laplace": ("LaplaceLoss",),
        "mixture": ("Mixture", "MixtureLoss"),
        "noise": ("Shape",),
        "opposed": ("OpposedAtoms", "OpposedLaplaceLoss", "opposed_response"),
        "profile": ("ProfileLoss",),
        "renyi": ("RenyiLoss",),
        "sampled": ("Guide", "SampledGaussianLoss"),
        "sampled_laplace": ("SampledLaplaceLoss",),
        "shared": ("epsilon_intervals", "log_delta_intervals"),
    },
)
