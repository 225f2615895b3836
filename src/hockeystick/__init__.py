"""hockeystick: exact, certified differential-privacy accounting.

>>> import hockeystick as hs
>>> run = hs.Gaussian(sigma=1.1).poisson(rate=256 / 60_000) * 3510
>>> bounds = run.epsilon_bounds(delta=1e-5)
>>> print(f"{bounds.lower:.9f} <= epsilon <= {bounds.upper:.9f}")
1.132863322 <= epsilon <= 1.132863322
"""

from typing import TYPE_CHECKING

from .bounds import Bounds
from .errors import (
    BadType,
    BadValue,
    EdgeOrder,
    HockeystickError,
    LargeDelta,
    MissingExtra,
    NotRead,
    OverBudget,
    Tampered,
    Unavailable,
    Unreachable,
    Unsupported,
)
from .later import later as _later

if TYPE_CHECKING:
    from . import conversion, filters, recipes
    from .draws.source import InsecureSeed
    from .installation import about
    from .ledger.ledger import Ledger
    from .mechanism.claim import GDP, RDP, ZCDP, ApproxDP, PureDP
    from .mechanism.discrete import DiscreteGaussian, DiscreteLaplace
    from .mechanism.gaussian import Gaussian
    from .mechanism.laplace import Laplace
    from .mechanism.matrix.release import MatrixMechanism
    from .mechanism.matrix.strategy import Strategy
    from .mechanism.mixture import GaussianMixture
    from .mechanism.own.pair import Pair
    from .mechanism.profile import Profile
    from .mechanism.release import compose
    from .mechanism.response import Exponential, RandomizedResponse, permute_and_flip
    from .mechanism.vector import DiscreteGaussianVector
    from .planning.calibrate import calibrate
    from .planning.dpsgd import dpsgd
    from .planning.poisson_claim import poisson_claim
    from .planning.rdp_accountant import RDPAccountant
    from .planning.rounds import remaining, rounds
    from .planning.split import split
    from .planning.sweep import sweep
    from .portable import from_json
    from .report.about import About, Entry
    from .sampling.allocation import Allocated
    from .sampling.banded import Banded
    from .sampling.fixed_size import WithoutReplacement, WithReplacement
    from .sampling.full_pass import FullPass
    from .sampling.poisson import Poisson
    from .sampling.shuffled import Shuffled
    from .sampling.truncated import TruncatedPoisson

__version__ = "0.1.0"

__all__ = [
    "GDP",
    "RDP",
    "ZCDP",
    "About",
    "Allocated",
    "ApproxDP",
    "BadType",
    "BadValue",
    "Banded",
    "Bounds",
    "DiscreteGaussian",
    "DiscreteGaussianVector",
    "DiscreteLaplace",
    "EdgeOrder",
    "Entry",
    "Exponential",
    "FullPass",
    "Gaussian",
    "GaussianMixture",
    "HockeystickError",
    "InsecureSeed",
    "Laplace",
    "LargeDelta",
    "Ledger",
    "MatrixMechanism",
    "MissingExtra",
    "NotRead",
    "OverBudget",
    "Pair",
    "Poisson",
    "Profile",
    "PureDP",
    "RDPAccountant",
    "RandomizedResponse",
    "Shuffled",
    "Strategy",
    "Tampered",
    "TruncatedPoisson",
    "Unavailable",
    "Unreachable",
    "Unsupported",
    "WithReplacement",
    "WithoutReplacement",
    "about",
    "calibrate",
    "compose",
    "conversion",
    "dpsgd",
    "filters",
    "from_json",
    "permute_and_flip",
    "poisson_claim",
    "recipes",
    "remaining",
    "rounds",
    "split",
    "sweep",
]

__getattr__ = _later(
    __name__,
    {
        "conversion": (),
        "recipes": (),
        "filters": (),
        "draws.source": ("InsecureSeed",),
        "installation": ("about",),
        "ledger.ledger": ("Ledger",),
        "mechanism.claim": ("GDP", "RDP", "ZCDP", "ApproxDP", "PureDP"),
        "mechanism.discrete": ("DiscreteGaussian", "DiscreteLaplace"),
        "mechanism.gaussian": ("Gaussian",),
        "mechanism.laplace": ("Laplace",),
        "mechanism.matrix.release": ("MatrixMechanism",),
        "mechanism.matrix.strategy": ("Strategy",),
        "mechanism.mixture": ("GaussianMixture",),
        "mechanism.own.pair": ("Pair",),
        "mechanism.profile": ("Profile",),
        "mechanism.release": ("compose",),
        "mechanism.response": ("Exponential", "RandomizedResponse", "permute_and_flip"),
        "mechanism.vector": ("DiscreteGaussianVector",),
        "planning.calibrate": ("calibrate",),
        "planning.dpsgd": ("dpsgd",),
        "planning.rdp_accountant": ("RDPAccountant",),
        "planning.rounds": ("remaining", "rounds"),
        "planning.split": ("split",),
        "planning.sweep": ("sweep",),
        "portable": ("from_json",),
        "report.about": ("About", "Entry"),
        "planning.poisson_claim": ("poisson_claim",),
        "sampling.fixed_size": ("WithReplacement", "WithoutReplacement"),
        "sampling.allocation": ("Allocated",),
        "sampling.banded": ("Banded",),
        "sampling.full_pass": ("FullPass",),
        "sampling.poisson": ("Poisson",),
        "sampling.shuffled": ("Shuffled",),
        "sampling.truncated": ("TruncatedPoisson",),
    },
)


def __dir__() -> list[str]:
    return sorted((*__all__, "__version__"))
