"""Representations of a composed privacy loss that answer delta(epsilon) and epsilon(delta).

Descriptions of mechanisms name the losses through this door, `losses.GaussianLoss`, behind which each is imported on first use:
a description is made, and some questions are answered (`direct.py`), without NumPy.
"""

from typing import TYPE_CHECKING

from ..later import later

if TYPE_CHECKING:
    from .allocated.gaussian import AllocatedGaussianLoss as AllocatedGaussianLoss
    from .allocated.moments import AllocatedStep as AllocatedStep
    from .allocated.moments import Moments as Moments
    from .allocated.several import SeveralLosses as SeveralLosses
    from .allocated_steps.finite import finite_epoch as finite_epoch
    from .allocated_steps.laplace import laplace_epoch as laplace_epoch
    from .allocated_steps.ratios import is_listed as is_listed
    from .answers.many import epsilon_intervals as epsilon_intervals
    from .answers.many import log_delta_intervals as log_delta_intervals
    from .bounds.renyi import renyi_bound as renyi_bound
    from .own.density import DensityLoss as DensityLoss
    from .pairs.atomic import AtomicLoss as AtomicLoss
    from .pairs.binned import WideDiscreteGaussianLoss as WideDiscreteGaussianLoss
    from .pairs.bounded_range import BoundedRangeLoss as BoundedRangeLoss
    from .pairs.bracketed import BracketedLoss as BracketedLoss
    from .pairs.discrete import DiscreteGaussianLoss as DiscreteGaussianLoss
    from .pairs.discrete import DiscreteLaplaceLoss as DiscreteLaplaceLoss
    from .pairs.discrete import ResponseLoss as ResponseLoss
    from .pairs.discrete import SampledAtoms as SampledAtoms
    from .pairs.discrete import TabulatedLoss as TabulatedLoss
    from .pairs.discrete import UniformResponseLoss as UniformResponseLoss
    from .pairs.gaussian import GaussianLoss as GaussianLoss
    from .pairs.laplace import LaplaceLoss as LaplaceLoss
    from .pairs.profile import ProfileLoss as ProfileLoss
    from .pairs.renyi import RenyiLoss as RenyiLoss
    from .protocol import Loss as Loss
    from .sampled.binned import SampledLoss as SampledLoss
    from .sampled.bounded_range import SampledBoundedRangeLoss as SampledBoundedRangeLoss
    from .sampled.gaussian import Guide as Guide
    from .sampled.gaussian import SampledGaussianLoss as SampledGaussianLoss
    from .sampled.gaussian_mixture import Mixture as Mixture
    from .sampled.gaussian_mixture import MixtureLoss as MixtureLoss
    from .sampled.laplace import SampledLaplaceLoss as SampledLaplaceLoss
    from .sampled.largest import LargestLoss as LargestLoss
    from .sampled.quadrature import SampledStep as SampledStep
    from .sampled.replace_one import ReplaceOneAtoms as ReplaceOneAtoms
    from .sampled.replace_one import ReplaceOneLaplaceLoss as ReplaceOneLaplaceLoss
    from .sampled.replace_one import replace_one_response as replace_one_response
    from .sampled.symmetric_quadrature import SymmetricPair as SymmetricPair

__getattr__ = later(
    __name__,
    {
        "allocated_steps.finite": ("finite_epoch",),
        "allocated.gaussian": ("AllocatedGaussianLoss",),
        "allocated_steps.laplace": ("laplace_epoch",),
        "allocated.moments": ("AllocatedStep", "Moments"),
        "allocated_steps.ratios": ("is_listed",),
        "allocated.several": ("SeveralLosses",),
        "own.density": ("DensityLoss",),
        "pairs.atomic": ("AtomicLoss",),
        "pairs.bracketed": ("BracketedLoss",),
        "protocol": ("Loss",),
        "pairs.discrete": (
            "DiscreteGaussianLoss",
            "DiscreteLaplaceLoss",
            "TabulatedLoss",
            "ResponseLoss",
            "SampledAtoms",
            "UniformResponseLoss",
        ),
        "pairs.binned": ("WideDiscreteGaussianLoss",),
        "sampled.binned": ("SampledLoss",),
        "bounds.renyi": ("renyi_bound",),
        "pairs.bounded_range": ("BoundedRangeLoss",),
        "sampled.bounded_range": ("SampledBoundedRangeLoss",),
        "pairs.gaussian": ("GaussianLoss",),
        "sampled.symmetric_quadrature": ("SymmetricPair",),
        "pairs.laplace": ("LaplaceLoss",),
        "sampled.gaussian_mixture": ("Mixture", "MixtureLoss"),
        "sampled.quadrature": ("SampledStep",),
        "sampled.replace_one": ("ReplaceOneAtoms", "ReplaceOneLaplaceLoss", "replace_one_response"),
        "pairs.profile": ("ProfileLoss",),
        "pairs.renyi": ("RenyiLoss",),
        "sampled.gaussian": ("Guide", "SampledGaussianLoss"),
        "sampled.laplace": ("SampledLaplaceLoss",),
        "sampled.largest": ("LargestLoss",),
        "answers.many": ("epsilon_intervals", "log_delta_intervals"),
    },
)
