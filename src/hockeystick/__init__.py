"""hockeystick: exact, certified differential-privacy accounting.

>>> import hockeystick as hs
>>> run = hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3510
>>> bounds = run.epsilon_bounds(delta=1e-5)
>>> print(f"{bounds.lower:.9f} <= epsilon <= {bounds.upper:.9f}")
1.132863322 <= epsilon <= 1.132863322
"""

from typing import Any

from .bounds import Bounds
from .errors import BadType, BadValue, HockeystickError, MissingExtra, Unreachable, Unsupported
from .mechanism.claim import GDP, RDP, ZCDP, ApproxDP, Profile, PureDP
from .mechanism.discrete import DiscreteGaussian, DiscreteLaplace
from .mechanism.gaussian import Gaussian
from .mechanism.laplace import Laplace
from .mechanism.release import compose
from .mechanism.response import Exponential, RandomizedResponse
from .planning.dpsgd import dpsgd
from .portable import from_json

__version__ = "0.1.0"

__all__ = [
    "GDP",
    "RDP",
    "ZCDP",
    "ApproxDP",
    "BadType",
    "BadValue",
    "Bounds",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Gaussian",
    "HockeystickError",
    "Laplace",
    "MissingExtra",
    "Profile",
    "PureDP",
    "RandomizedResponse",
    "Unreachable",
    "Unsupported",
    "compose",
    "dpsgd",
    "from_json",
]


def __getattr__(name: str) -> Any:
    """`hockeystick.conversion`, on first use."""
    if name != "conversion":
        raise AttributeError(f"module 'hockeystick' has no attribute {name!r}")
    from importlib import import_module

    return import_module(".conversion", __name__)
